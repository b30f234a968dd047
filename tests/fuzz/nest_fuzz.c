/* SPDX-License-Identifier: MIT
 *
 * nest_fuzz.c - libFuzzer over loop nests.
 *
 * The input is the text of a nest. What is accepted is executed for a while, and its stream must pass the
 * checker; a fault must lie within the line that is shown with it. Texts that name files are left out: what
 * lies on this machine is no input.
 *
 *     build-fuzz/tests/fuzz/nest_fuzz -dict=tests/fuzz/nest_fuzz.dict CORPUS tests/fuzz/corpus/nest_fuzz
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "nest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CALLS = 6 }; /* of the sink, before the run is stopped */

struct sink {
	struct nm_wire_check *check;
	unsigned calls;
};

static void demand(int holds)
{
	if (!holds)
		abort();
}

static int take(void *self, const uint64_t *words, size_t count, struct nm_error *err)
{
	struct sink *s = self;

	demand(!wire_check_feed(s->check, words, count, err));
	return ++s->calls > CALLS ? nm_fail(err, NM_EIO, "enough") : 0;
}

static void expect_place(const struct nm_error *err)
{
	demand(err->text[0] && strlen(err->text) < sizeof err->text);
	if (err->column >= 0)
		demand((size_t)err->column <= strlen(err->subject));
}

static void look(const struct nm_nest *nest)
{
	struct nm_nest_reference_info r;
	struct nm_nest_array_info a;
	char text[64];

	for (size_t i = 0; nm_nest_array_at(nest, i, &a); i++)
		demand(a.address && a.bytes && a.name[0]);
	for (size_t i = 0; nm_nest_reference_at(nest, i, &r); i++) {
		demand(r.name[0] && r.line && r.column && r.bytes);
		demand(nm_nest_reference_address(nest, i, text, sizeof text) > 0);
	}
}

static int see(void *self, const struct nm_nest_step *step, struct nm_error *err)
{
	uint64_t *next = self;

	(void)err;
	demand(step->number == (*next)++ && step->address);
	return 0;
}

/* The loops may turn for ever without a reference: only a nest whose run came to its end is walked. */
static void walk(struct nm_nest *nest)
{
	uint64_t next = 3;
	struct nm_nest_visitor visitor = {see, &next};

	demand(!nm_nest_walk(nest, next, 400, &visitor, NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *argv[] = {"fuzz.nest", NULL}, *settings[] = {"N=3", NULL};
	struct sink sink = {0};
	struct nm_nest_sink to = {take, &sink};
	struct nm_nest *nest;
	struct nm_error err;
	int code;

	if (memmem(data, size, "file", 4))
		return 0;
	code = nm_nest_parse(&nest, (const char *)data, size, "fuzz.nest",
			     memmem(data, size, "parameter N", 11) ? settings : NULL, &err);
	if (code) {
		demand(code == NM_EINVAL);
		expect_place(&err);
		return 0;
	}
	look(nest);
	demand(!wire_check_new(&sink.check, NULL));
	code = nm_nest_run(nest, argv, &to, &err);
	if (code == NM_EINVAL) {
		expect_place(&err);
	} else if (code) {
		demand(code == NM_EIO);
	} else {
		demand(!wire_check_finish(sink.check, 1, NULL));
		walk(nest);
	}
	wire_check_free(sink.check);
	nm_nest_free(nest);
	return 0;
}
