/* SPDX-License-Identifier: MIT
 *
 * wire_fuzz.c - libFuzzer over the walker, the decoders and the checker.
 *
 * The input is a stream as it lies in a file. It is fed in two halves, so that records are cut at
 * chunk borders too; its second half also goes to the checker of a child, if the first half forked one.
 * The checker's own figures are held against the input: what it counts must be there.
 *
 *     meson setup build-fuzz -Dfuzz=true (with CC=clang), then
 *     build-fuzz/tests/fuzz/wire_fuzz CORPUS tests/data
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int holds)
{
	if (!holds)
		abort();
}

static void expect_sane(const struct nm_wire_stats *s, size_t words)
{
	demand(s->reads + s->writes + s->prefetches + s->skipped >= s->addresses); /* groups send one */
	demand(s->addresses <= words);
	demand(s->records[NM_WIRE_BLOCK] <= words);
	demand(s->side_exits <= s->records[NM_WIRE_BLOCK]);
	demand(s->live_blocks <= s->records[NM_WIRE_ALLOC] + s->records[NM_WIRE_REALLOC]);
	demand(s->unmatched_returns <= s->returns);
	demand(s->max_depth <= s->calls);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t count = size / sizeof(uint64_t), half = count / 2;
	uint64_t *words = malloc(count * sizeof *words + 1);
	struct nm_wire_check *check, *child;
	struct nm_error err;
	int status;

	demand(words != NULL);
	memcpy(words, data, count * sizeof *words);
	demand(!wire_check_new(&check, &err));
	status = wire_check_feed(check, words, half, &err);
	if (!status) {
		if (wire_check_of_child(&child, check, 1)) {
			wire_check_feed(child, words + half, count - half, &err);
			wire_check_free(child);
		}
		status = wire_check_feed(check, words + half, count - half, &err);
	} else { /* what is wrong in the first half may be right as one chunk */
		wire_check_free(check);
		demand(!wire_check_new(&check, &err));
		status = wire_check_feed(check, words, count, &err);
	}
	demand(status <= 0);
	expect_sane(wire_check_stats(check), count);
	wire_check_finish(check, size & 1, &err);
	wire_check_free(check);
	free(words);
	return 0;
}
