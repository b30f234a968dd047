/* SPDX-License-Identifier: MIT
 *
 * inputs.c - the traces and loop nests of a plan: whether they are there, and about how many references they have.
 *
 * An index tells it of our traces. For those of other tools a byte of the file counts as a reference, which is right
 * to about a factor of ten: enough to begin with the largest.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "nest.h"
#include "plan_priv.h"
#include "trace.h"
#include "words.h"

/* Names travel in lines of text, with tabs between them. */
static int is_text(const char *name) { return !strpbrk(name, "\t\n\r"); }

static int look_at_file(const struct nm_sweep_reading *r, const char *list, size_t i,
			struct nm_sweep_task *input)
{
	struct stat st;

	if (!is_text(input->input))
		return nm_sweep_fault(r, list, i, "a name of a file has no tab and no line end");
	if (stat(input->input, &st))
		return nm_sweep_fault(r, list, i, "cannot read %s: %s", input->input, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return nm_sweep_fault(r, list, i, "%s is not a regular file", input->input);
	input->bytes = st.st_size;
	input->modified = st.st_mtim.tv_sec * 1000000000ll + st.st_mtim.tv_nsec;
	return 0;
}

/* The references that the chunks of one of our traces have; 0: it is none, or damaged, which its task will tell. */
static double count_trace(const char *path)
{
	struct nm_peeked_input peeked;
	struct nm_trace_chunk chunk;
	struct nm_trace *trace;
	double sum = 0;

	if (nm_peek_input(&peeked, path, NULL))
		return 0;
	if (!nm_trace_probe(peeked.bytes, peeked.count)) {
		close(peeked.fd);
		return 0;
	}
	if (nm_trace_take(&trace, &peeked, path, NULL))
		return 0;
	for (size_t i = 0; nm_trace_chunk(trace, i, &chunk, NULL) > 0; i++)
		if (chunk.kind == NM_TRACE_WORDS)
			sum += (double)chunk.references;
	nm_trace_free(trace);
	return sum;
}

static int add_trace(const struct nm_sweep_reading *r, size_t i, struct nm_sweep_halves *inputs)
{
	struct nm_sweep_task input = {
	    .kind = "trace", .settings = "", .input = nm_sweep_path(r, r->document->traces[i])};
	int status = input.input ? look_at_file(r, "traces", i, &input) : nm_fail_memory(r->err);

	assert(i < r->document->traces_count);
	if (status)
		return status;
	input.work = count_trace(input.input);
	if (!(input.work > 0))
		input.work = (double)input.bytes;
	return nm_vec_push(inputs, input) ? nm_fail_memory(r->err) : 0;
}

/* ---- nests ---- */

static int load_nest(struct nm_nest **ret_nest, const char *path, const char *text, struct nm_error *err)
{
	struct nm_sweep_settings settings = {0};
	int status = nm_sweep_split_settings(text, &settings);

	status = status ? nm_fail_memory(err) : nm_nest_load(ret_nest, path, settings.list.at, err);
	nm_sweep_settings_done(&settings);
	return status;
}

static int add_nest(const struct nm_sweep_reading *r, size_t i, const char *settings,
		    struct nm_sweep_halves *inputs)
{
	struct nm_sweep_task input = {.kind = "nest",
				      .settings = nm_intern(&r->plan->pool, settings),
				      .input = nm_sweep_path(r, r->document->nests[i].file)};
	struct nm_error fault;
	struct nm_nest *nest;
	int status =
	    input.input && input.settings ? look_at_file(r, "nests", i, &input) : nm_fail_memory(r->err);

	assert(i < r->document->nests_count);
	if (status)
		return status;
	if (!is_text(settings))
		return nm_sweep_fault(r, "nests", i, "a setting has no tab and no line end");
	status = load_nest(&nest, input.input, settings, &fault);
	if (status == NM_ENOMEM)
		return nm_fail_memory(r->err);
	if (status)
		return nm_sweep_fault(r, "nests", i, "%s", fault.text);
	input.work = nm_nest_estimate(nest);
	nm_nest_free(nest);
	return nm_vec_push(inputs, input) ? nm_fail_memory(r->err) : 0;
}

int nm_sweep_inputs(const struct nm_sweep_reading *r, struct nm_sweep_halves *inputs)
{
	const struct nm_sweep_document *d = r->document;
	int status = 0;

	for (unsigned i = 0; i < d->traces_count && !status; i++)
		status = add_trace(r, i, inputs);
	for (unsigned i = 0; i < d->nests_count && !status; i++) {
		const struct nm_sweep_nest_entry *nest = &d->nests[i];

		for (unsigned k = 0; k < (nest->set_count ? nest->set_count : 1) && !status; k++)
			status = add_nest(r, i, nest->set_count ? nest->set[k] : "", inputs);
	}
	return status;
}
