/* SPDX-License-Identifier: MIT
 *
 * folded.c - folded stacks, the input of flame graphs: "function;line;object N", a line for each, with the
 * callers before the function if the profile knows them. Where several processes are exported, the process is
 * the first frame.
 *
 * A semicolon in a name would be the end of a frame: it becomes a comma.
 */
#include <inttypes.h>

#include "export_priv.h"

static void write_frame(const char *name, FILE *out)
{
	for (; *name; name++)
		fputc(*name == ';' ? ',' : *name, out);
}

static int has_several_processes(const struct nm_export *e)
{
	return !e->process && e->parts.count &&
	       e->parts.at[0].process != e->parts.at[e->parts.count - 1].process;
}

static int write_folded(struct nm_export *e, FILE *out, struct nm_error *err)
{
	unsigned by = NM_BY_OBJECT | NM_BY_CHAIN | (has_several_processes(e) ? NM_BY_PROCESS : 0);
	struct nm_chain_frames frames = {0};
	struct nm_export_facts facts;
	const char *line;
	int status = nm_facts_open(&facts, e, by, e->events.at, 1, err);

	while (!status && (status = nm_facts_next(&facts, err)) > 0) {
		status = nm_fact_line(e, &facts.fact, &line) || nm_chain_frames(e, &facts.fact, &frames)
			     ? nm_fail_memory(err)
			     : 0;
		if (status)
			break;
		if (facts.fact.process) {
			write_frame(facts.fact.process, out);
			fputc(';', out);
		}
		for (size_t i = 0; i < frames.count; i++) {
			write_frame(frames.at[i].function, out);
			fputc(';', out);
		}
		write_frame(line, out);
		fputc(';', out);
		write_frame(facts.fact.object, out);
		fprintf(out, " %" PRId64 "\n", *facts.fact.values);
	}
	nm_facts_close(&facts);
	nm_vec_free(&frames);
	return status;
}

const struct nm_exporter nm_exporter_folded = {
    .name = "folded",
    .summary = "folded stacks for flame graphs: function;line;object misses",
    .flags = NM_EXPORTER_ONE_EVENT,
    .events = "misses",
    .write = write_folded,
};
