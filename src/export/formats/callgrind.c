/* SPDX-License-Identifier: MIT
 *
 * callgrind.c - Callgrind's profile format, version 1 (Valgrind's manual, "Callgrind Format Specification"),
 * as callgrind_annotate and KCachegrind read it.
 *
 * An event is a figure of a level: "L1dReadMisses"; the misses of all levels come first, so that readers open
 * on them. What is derived of events that are there stands in the header as an `event:` line with its
 * formula, for KCachegrind to compute. Where the profile has single instructions, and no call chains, costs
 * have addresses and lines.
 *
 * With objects, each data object is a function in the file and at the line where it is declared or
 * allocated, in the "ELF object" of its kind (heap, global, ...); the code has none of the costs itself but
 * calls the objects that it touches, as often as it references them. So the lists of callers and callees
 * tell who uses what.
 *
 * Where the profile knows call chains, each line stands in the function that was called, as Callgrind has it,
 * also when it is another's that was inlined (then with its file, `fi=`), and each function calls those that
 * it called, with all that these cost. Recursion is folded (calls.h).
 *
 * Several processes and threads are added up, or are files of their own: callgrind_annotate reads one part
 * to a file. Names are compressed: "(1) name" the first time, "(1)" after that.
 */
#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export_priv.h"
#include "selection.h"

static const char unknown[] = "???"; /* by both readers */

/* Where an object comes from, and what it cost. */
struct touched {
	const char *name, *kind, *file;
	int64_t line;
	int64_t *costs; /* NULL: not touched yet */
};

struct grind {
	struct nm_export *x;
	FILE *out;
	struct nm_events events;
	int by_instruction; /* positions are addresses and lines */
	const char *module; /* of the lines that are written now, where addresses are written */
	struct nm_map files, functions, kinds, object_of;
	struct nm_vec(struct touched) objects;
	const char *file, *function; /* of the lines that are written now */
	const char *inside;          /* the file of the latest line, which inlining may make another */
	int64_t line;                /* -1: none yet */
	struct nm_map file_of;       /* function -> its file; only for call chains */
	int64_t *chain_costs;        /* [of chains][of events] */
	int64_t *totals, *zeros;
};

/* Where all levels are, the misses of each come first, so that readers open on them. */
static int take_events(struct grind *g)
{
	for (size_t i = 0; i < g->x->events.count; i++)
		if (nm_vec_push(&g->events, g->x->events.at[i]))
			return NM_ENOMEM;
	return 0;
}

/* Instructions that were executed are what the first level of code is asked for. */
static int is_instructions(const char *level, const char *name)
{
	return !strcmp(level, "L1i") && !strcmp(name, "reads");
}

/* "L1d" and "read_misses": "L1dReadMisses". */
static void event_name(const char *level, const char *name, FILE *out)
{
	int capital = 1;

	if (is_instructions(level, name)) { /* as Callgrind calls them */
		fputs("Ir", out);
		return;
	}
	for (; *level; level++)
		if (isalnum((unsigned char)*level))
			fputc(*level, out);
	for (; *name; name++) {
		if (*name != '_')
			fputc(capital ? toupper((unsigned char)*name) : *name, out);
		capital = *name == '_';
	}
}

/* "L1d read misses", behind a name and perhaps a formula. */
static void long_name(const char *level, const char *name, FILE *out)
{
	fprintf(out, " : %s ", level);
	for (; *name; name++)
		fputc(*name == '_' ? ' ' : *name, out);
	fputc('\n', out);
}

static int has_event(const struct grind *g, const char *level, const char *name)
{
	for (size_t i = 0; i < g->events.count; i++)
		if (g->events.at[i].level == level && !strcmp(g->events.at[i].name, name))
			return 1;
	return 0;
}

static void write_derived(const struct grind *g, const char *level, const struct nm_metric *m)
{
	if (has_event(g, level, m->name) || !has_event(g, level, m->left) || !has_event(g, level, m->right))
		return;
	fputs("event: ", g->out);
	event_name(level, m->name, g->out);
	fputs(" = ", g->out);
	event_name(level, m->left, g->out);
	fprintf(g->out, " %c ", m->sign);
	event_name(level, m->right, g->out);
	long_name(level, m->name, g->out);
}

static void write_events(const struct grind *g)
{
	for (size_t i = 0; i < g->events.count; i++) {
		fputs("event: ", g->out);
		event_name(g->events.at[i].level, g->events.at[i].name, g->out);
		long_name(g->events.at[i].level, g->events.at[i].name, g->out);
	}
	for (size_t i = 0; i < g->x->levels.count; i++)
		for (unsigned d = 0; nm_derived_at(d); d++)
			write_derived(g, g->x->levels.at[i], nm_derived_at(d));
	fputs("events:", g->out);
	for (size_t i = 0; i < g->events.count; i++) {
		fputc(' ', g->out);
		event_name(g->events.at[i].level, g->events.at[i].name, g->out);
	}
	fputs("\n\n", g->out);
}

/* The entry of the view info as a header line, if there is one. */
static int write_entry(struct grind *g, const char *line, const char *key, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	const char *value;
	int status = nm_profile_query(g->x->profile, "SELECT value FROM info WHERE key = ?1", &rows, err);

	if (status)
		return status;
	nm_rows_bind_text(rows, 1, key);
	status = nm_rows_next(rows, err);
	if (status > 0) {
		status = nm_export_text(g->x, nm_rows_text(rows, 0), &value) ? nm_fail_memory(err) : 0;
		if (!status && value)
			fprintf(g->out, "%s %s\n", line, value);
	}
	nm_rows_free(rows);
	return status;
}

static int write_header(struct grind *g, struct nm_error *err)
{
	const struct nm_export *e = g->x;
	int status;

	fputs("# callgrind format\nversion: 1\ncreator: nearmiss-" NM_VERSION "\n", g->out);
	status = write_entry(g, "cmd:", "command", err);
	if (e->part)
		fprintf(g->out, "part: %u\nthread: %" PRId64 "\n", e->part, e->thread);
	if (!status)
		status = write_entry(g, "desc: Caches:", "machine_spec", err);
	if (e->process)
		fprintf(g->out, "desc: Process: %s\n", e->process);
	if (e->thread)
		fprintf(g->out, "desc: Thread: %" PRId64 "\n", e->thread);
	fputs(g->by_instruction ? "positions: instr line\n" : "positions: line\n", g->out);
	write_events(g);
	return status;
}

/* "fn=(3) name" or "fn=(3)". key distinguishes what `name` alone does not. */
static int write_name(struct grind *g, const char *what, struct nm_map *ids, const char *key,
		      const char *name)
{
	uint64_t id;
	int is_new;

	key = nm_intern(&g->x->pool, key);
	if (!key || nm_export_id(ids, key, &id, &is_new))
		return NM_ENOMEM;
	fprintf(g->out, is_new ? "%s=(%" PRIu64 ") %s\n" : "%s=(%" PRIu64 ")\n", what, id, name);
	return 0;
}

/* One function in two files, as inlining makes them, is two for the readers; so are an object and a
 * function of the same name. */
static int write_function(struct grind *g, const char *what, const char *file, const char *name,
			  const char *kind)
{
	char *key = NULL;
	int status = asprintf(&key, "%s\n%s\n%s", name, file, kind) < 0 ? NM_ENOMEM : 0;

	if (!status)
		status = write_name(g, what, &g->functions, key, name);
	free(key);
	return status;
}

/* All of them: the format lets zeros at the end be left out, but callgrind_annotate warns then. */
static void write_costs_at(const struct grind *g, int64_t address, int64_t line, const int64_t *costs)
{
	if (g->by_instruction)
		fprintf(g->out, "0x%" PRIx64 " ", (uint64_t)address);
	fprintf(g->out, "%" PRId64, line);
	for (size_t i = 0; i < g->events.count; i++)
		fprintf(g->out, " %" PRId64, costs[i]);
	fputc('\n', g->out);
}

static void write_costs(const struct grind *g, int64_t line, const int64_t *costs)
{
	write_costs_at(g, 0, line, costs);
}

/* "tree.cc:88" into *t; what has no line is no place. */
static int parse_place(struct grind *g, const char *place, struct touched *t)
{
	const char *colon = place ? strrchr(place, ':') : NULL;
	char *end = NULL;
	long line = colon ? strtol(colon + 1, &end, 10) : 0;

	if (!colon || end == colon + 1 || *end || line < 0)
		return 0;
	t->line = line;
	t->file = nm_intern_n(&g->x->pool, place, (size_t)(colon - place));
	return t->file ? 0 : NM_ENOMEM;
}

/* The entry of an object, new or not. */
static int object_entry(struct grind *g, struct touched t, struct touched **ret_entry)
{
	uint64_t id;
	int is_new;

	if (nm_export_id(&g->object_of, t.name, &id, &is_new) || (is_new && nm_vec_push(&g->objects, t)))
		return NM_ENOMEM;
	assert(id <= g->objects.count);
	*ret_entry = &g->objects.at[id - 1];
	return 0;
}

static int load_object(struct grind *g, struct nm_rows *rows)
{
	struct touched t = {.file = unknown}, *entry; /* several processes may have one: the first counts */
	const char *place;

	if (!nm_rows_text(rows, 0))
		return 0;
	return nm_export_text(g->x, nm_rows_text(rows, 0), &t.name) ||
	       nm_export_text(g->x, nm_rows_text(rows, 1), &t.kind) ||
	       nm_export_text(g->x, nm_rows_text(rows, 2), &place) || parse_place(g, place, &t) ||
	       object_entry(g, t, &entry);
}

static int load_objects(struct grind *g, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_facts_query(g->x, "SELECT object, kind, allocated_at FROM objects", NM_BY_PROCESS, "",
				    &rows, err);

	while (!status && (status = nm_rows_next(rows, err)) > 0)
		status = load_object(g, rows) ? nm_fail_memory(err) : 0;
	nm_rows_free(rows);
	return status;
}

/* The line touches an object: a call, with what it cost. */
static int write_touch(struct grind *g, const struct nm_fact *fact)
{
	struct touched *t;
	const int64_t *costs = fact->values;
	size_t n = g->events.count;

	if (object_entry(g, (struct touched){fact->object, "unknown", unknown, 0, NULL}, &t))
		return NM_ENOMEM;
	if (!t->costs)
		t->costs = nm_arena_alloc(&g->x->pool.arena, (n + 1) * sizeof *t->costs);
	if (g->line != fact->line) /* callgrind_annotate --inclusive warns of lines that only call */
		write_costs(g, fact->line, g->zeros);
	g->line = fact->line;
	if (!t->costs || write_name(g, "cob", &g->kinds, t->kind, t->kind) ||
	    write_name(g, "cfi", &g->files, t->file, t->file) ||
	    write_function(g, "cfn", t->file, t->name, t->kind))
		return NM_ENOMEM;
	fprintf(g->out, "calls=%" PRId64 " %s%" PRId64 "\n", costs[n] > 0 ? costs[n] : 1,
		g->by_instruction ? "0x0 " : "", t->line);
	write_costs_at(g, fact->address, fact->line, costs);
	for (size_t i = 0; i < n; i++)
		t->costs[i] += costs[i];
	return 0;
}

/* Lines that follow are of this function. */
static int begin_function(struct grind *g, const char *file, const char *function)
{
	int is_new = file != g->file || function != g->function;

	if ((file != g->file || file != g->inside) && write_name(g, "fl", &g->files, file, file))
		return NM_ENOMEM;
	if ((is_new || file != g->inside) && write_function(g, "fn", file, function, "code"))
		return NM_ENOMEM;
	if (is_new)
		g->line = -1;
	g->file = g->inside = file;
	g->function = function;
	return 0;
}

/* Lines that follow are of this file, which is not the function's if it was inlined. */
static int begin_file(struct grind *g, const char *file)
{
	if (file == g->inside)
		return 0;
	g->inside = file;
	g->line = -1;
	return write_name(g, "fi", &g->files, file, file);
}

static const char *file_of(const struct grind *g, const char *function)
{
	uint64_t file = nm_map_get(&g->file_of, (uintptr_t)function, 0);

	return file ? (const char *)(uintptr_t)file : unknown;
}

/* The function whose block a fact belongs to, and the file of that. */
static int begin_fact(struct grind *g, const struct nm_fact *fact)
{
	const char *file = fact->file ? fact->file : unknown;

	if (!fact->chain || !fact->chain->function)
		return begin_function(g, file, fact->function ? fact->function : unknown);
	if (fact->file && file_of(g, fact->chain->function) == unknown && /* its lines name it otherwise */
	    nm_map_put(&g->file_of, (uintptr_t)fact->chain->function, (uintptr_t)file))
		return NM_ENOMEM;
	if (begin_function(g, file_of(g, fact->chain->function), fact->chain->function))
		return NM_ENOMEM;
	return begin_file(g, file);
}

/* Addresses are those of a module; with objects, code is distinguished from them instead. */
static int begin_module(struct grind *g, const struct nm_fact *fact)
{
	const char *module = fact->module ? fact->module : unknown;

	if (!g->by_instruction || g->x->objects || g->module == module)
		return 0;
	g->module = module;
	g->file = g->inside = NULL; /* a function is named again behind it */
	return write_name(g, "ob", &g->kinds, module, module);
}

static int write_fact(struct grind *g, const struct nm_fact *fact)
{
	size_t n = g->events.count;

	if (begin_module(g, fact) || begin_fact(g, fact))
		return NM_ENOMEM;
	for (size_t i = 0; i < n; i++) {
		g->totals[i] += fact->values[i];
		if (fact->chain)
			g->chain_costs[(size_t)(fact->chain - g->x->chains.at) * n + i] += fact->values[i];
	}
	if (g->x->objects)
		return write_touch(g, fact);
	write_costs_at(g, fact->address, fact->line, fact->values);
	return 0;
}

/* ---- calls ---- */

/* Functions and the files that most of their lines are of (the last row counts), and room for the costs of
 * chains. */
static int prepare_chains(struct grind *g, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	const char *function, *file;
	int status = nm_profile_query(
	    g->x->profile,
	    "SELECT function, file FROM counts WHERE function IS NOT NULL AND file IS NOT NULL "
	    "GROUP BY 1, 2 ORDER BY count(DISTINCT line), 2",
	    &rows, err);

	while (!status && (status = nm_rows_next(rows, err)) > 0)
		status = nm_export_text(g->x, nm_rows_text(rows, 0), &function) ||
				 nm_export_text(g->x, nm_rows_text(rows, 1), &file) ||
				 nm_map_put(&g->file_of, (uintptr_t)function, (uintptr_t)file)
			     ? nm_fail_memory(err)
			     : 0;
	nm_rows_free(rows);
	g->chain_costs = calloc(g->x->chains.count * g->events.count + 1, sizeof *g->chain_costs);
	return status ? status : g->chain_costs ? 0 : nm_fail_memory(err);
}

static int write_call(struct grind *g, const struct nm_export_chain *c, const int64_t *costs)
{
	const struct nm_export_chain *in = &g->x->chains.at[c->parent];
	const char *caller = in->function ? in->function : c->caller;
	const char *callee = c->function ? c->function : unknown;

	if (!caller) /* a signal */
		return 0;
	if (begin_function(g, file_of(g, caller), caller) || begin_file(g, c->file ? c->file : unknown))
		return NM_ENOMEM;
	if (g->line != c->line) /* as in write_touch() */
		write_costs(g, c->line, g->zeros);
	g->line = c->line;
	if (g->x->objects && write_name(g, "cob", &g->kinds, "code", "code"))
		return NM_ENOMEM;
	if (write_name(g, "cfi", &g->files, file_of(g, callee), file_of(g, callee)) ||
	    write_function(g, "cfn", file_of(g, callee), callee, "code"))
		return NM_ENOMEM;
	fprintf(g->out, "calls=%" PRId64 " 0\n", c->calls > 0 ? c->calls : 1);
	write_costs(g, c->line, costs);
	return 0;
}

/* Callers come before what they call, so one pass backwards adds up. */
static int write_calls(struct grind *g)
{
	size_t n = g->events.count;

	for (size_t c = g->x->chains.count; c-- > 0;) {
		const struct nm_export_chain *chain = &g->x->chains.at[c];
		const int64_t *costs = g->chain_costs + c * n;
		int64_t any = 0;

		for (size_t i = 0; chain->parent != c && i < n; i++) {
			g->chain_costs[chain->parent * n + i] += costs[i];
			any |= costs[i];
		}
		if (any && write_call(g, chain, costs))
			return NM_ENOMEM;
	}
	return 0;
}

/* ---- all ---- */

/* The costs of the objects themselves. */
static int write_objects(struct grind *g)
{
	for (size_t i = 0; i < g->objects.count; i++) {
		const struct touched *t = &g->objects.at[i];

		if (!t->costs)
			continue;
		fputc('\n', g->out);
		if (write_name(g, "ob", &g->kinds, t->kind, t->kind) ||
		    write_name(g, "fl", &g->files, t->file, t->file) ||
		    write_function(g, "fn", t->file, t->name, t->kind))
			return NM_ENOMEM;
		write_costs(g, t->line, t->costs);
	}
	return 0;
}

static int write_body(struct grind *g, struct nm_error *err)
{
	struct nm_export_event references = {
	    .level = g->x->levels.at[0], .name = "references", .derived = nm_derived_at(0)};
	unsigned by =
	    NM_BY_CHAIN | (g->x->objects ? NM_BY_OBJECT : 0) | (g->by_instruction ? NM_BY_INSTRUCTION : 0);
	size_t n = g->events.count;
	struct nm_export_facts facts;
	int status;

	if (g->x->objects && nm_vec_push(&g->events, references)) /* one more, for calls= */
		return nm_fail_memory(err);
	status = nm_facts_open(&facts, g->x, by, g->events.at, g->events.count, err);
	g->events.count = n;
	if (!status && g->x->objects && write_name(g, "ob", &g->kinds, "code", "code"))
		status = nm_fail_memory(err);
	while (!status && (status = nm_facts_next(&facts, err)) > 0)
		status = write_fact(g, &facts.fact) ? nm_fail_memory(err) : 0;
	nm_facts_close(&facts);
	if (!status && g->x->chains.count && write_calls(g))
		status = nm_fail_memory(err);
	return status;
}

static int write_callgrind(struct nm_export *e, FILE *out, struct nm_error *err)
{
	struct grind g = {.x = e, .out = out, .line = -1};
	int there = e->chains.count ? 0 : nm_profile_has_rows(e->profile, "instructions", err);
	int status = there < 0 ? there : take_events(&g) ? nm_fail_memory(err) : 0;

	g.by_instruction = there > 0;

	g.totals = calloc(g.events.count + 1, sizeof *g.totals);
	g.zeros = calloc(g.events.count + 1, sizeof *g.zeros);
	if (!g.totals || !g.zeros)
		status = nm_fail_memory(err);
	if (!status)
		status = write_header(&g, err);
	if (!status && e->objects)
		status = load_objects(&g, err);
	if (!status && e->chains.count)
		status = prepare_chains(&g, err);
	if (!status)
		status = write_body(&g, err);
	if (!status && write_objects(&g))
		status = nm_fail_memory(err);
	if (!status) {
		fputs("\ntotals:", out);
		for (size_t i = 0; i < g.events.count; i++)
			fprintf(out, " %" PRId64, g.totals[i]);
		fputc('\n', out);
	}
	nm_vec_free(&g.events);
	nm_map_done(&g.files);
	nm_map_done(&g.functions);
	nm_map_done(&g.kinds);
	nm_map_done(&g.object_of);
	nm_vec_free(&g.objects);
	nm_map_done(&g.file_of);
	free(g.chain_costs);
	free(g.totals);
	free(g.zeros);
	return status;
}

const struct nm_exporter nm_exporter_callgrind = {
    .name = "callgrind",
    .summary = "a file for KCachegrind and callgrind_annotate",
    .flags = NM_EXPORTER_OBJECTS | NM_EXPORTER_ALL_LEVELS,
    .opens_on = "misses",
    .write = write_callgrind,
};
