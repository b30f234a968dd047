/* SPDX-License-Identifier: MIT
 *
 * program_trace.c - the references of a trace, as a program to debug.
 *
 * The trace is replayed, with a pass (pass.h) that keeps what nearmiss-replay(1) would feed to the memory
 * hierarchy: the same references in the same order with the same keys, and all other input of the models.
 * Each process image is a program; one of them is debugged.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "debug_program.h"
#include "debugger.h"
#include "files.h"
#include "import.h"
#include "map.h"
#include "pass.h"
#include "replayer.h"
#include "session.h"
#include "trace.h"

/* Bytes that a key's references touched. */
struct span {
	uint64_t low, end;
};

/* A process image. */
struct image {
	struct nm_debug_program program;
	struct loading *loading;
	const struct nm_coalesced_table *coalesced;
	struct nm_vec(struct span) spans; /* by key */
	uint64_t seen;                    /* references, also those outside of the part that is kept */
};

struct loading {
	const struct nm_debugger_source *source;
	struct nm_vec(struct image *) images;
};

/* ---- the pass: simulation thread ---- */

static int make_pass(void **ret_self, const struct nm_pass_setup *setup, struct nm_error *err)
{
	struct loading *l = setup->options->pass_arg;
	struct image *image = calloc(1, sizeof *image);

	if (!image || nm_vec_push(&l->images, image)) {
		free(image);
		return nm_fail_memory(err);
	}
	image->loading = l;
	image->coalesced = setup->coalesced;
	*ret_self = image;
	return 0;
}

static int widen_image(struct image *i, const struct nm_ref *r)
{
	struct span *s;

	if (nm_vec_reach(&i->spans, (size_t)r->attr + 1))
		return NM_ENOMEM;
	s = &i->spans.at[r->attr];
	if (!s->end || r->address < s->low)
		s->low = r->address;
	if (r->address + r->size > s->end)
		s->end = r->address + r->size;
	return 0;
}

static int take_reference(struct image *i, const struct nm_ref *r, int synchronised)
{
	const struct nm_debugger_source *source = i->loading->source;
	const struct nm_reference reference = {.address = r->address,
					       .attr = r->attr,
					       .size = r->size,
					       .is_write = r->kind == NM_REF_WRITE,
					       .synchronised = synchronised & 1,
					       .uncounted = !r->weight};

	assert(r->kind != NM_REF_FETCH);
	if (++i->seen < source->from || (source->to && i->seen > source->to))
		return 0;
	i->program.has_uncounted |= reference.uncounted;
	return widen_image(i, r) ? NM_ENOMEM : nm_references_append(&i->program.references, &reference);
}

static int take_batch(void *self, const struct nm_pass_batch *b)
{
	struct image *m = self;
	const struct nm_time_slice *turn = b->time_slices;
	struct nm_ref single[NM_COALESCED_MAX];
	int status = 0, synchronised = turn && turn->synchronised;

	for (size_t i = 0; i < b->count && !status; i++) {
		const unsigned count = nm_pass_expand(m->coalesced, &b->refs[i], single);

		for (; turn && i == turn->end; synchronised = turn->synchronised)
			turn++;
		for (unsigned k = 0; k < count && !status; k++, synchronised = 0)
			status = take_reference(m, &single[k], synchronised);
	}
	return status;
}

static int note_memory(void *self, const struct nm_range *ranges, size_t count)
{
	struct image *i = self;
	struct nm_memory_change change = {.position = i->program.references.count, .count = count};

	change.ranges = malloc((count + 1) * sizeof *ranges);
	if (!change.ranges || nm_vec_push(&i->program.memory, change)) {
		free(change.ranges);
		return NM_ENOMEM;
	}
	memcpy(change.ranges, ranges, count * sizeof *ranges);
	return 0;
}

static int note_keys(void *self, const struct nm_attribution *attributions, size_t count)
{
	struct image *m = self;

	for (size_t i = 0; i < count; i++)
		if (nm_vec_push(&m->program.instructions, attributions[i].site))
			return NM_ENOMEM;
	return 0;
}

static unsigned pass_needs(const struct nm_engine_options *options) { return nm_pass_cache.needs(options); }

/* ---- names: when the image has ended ---- */

/* NULL stays NULL. */
static int intern_name(struct nm_debug_program *p, const char *text, const char **ret)
{
	*ret = text ? nm_intern(&p->names, text) : NULL;
	return text && !*ret ? NM_ENOMEM : 0;
}

/* Functions and lines are those of the user's code that reports show; without debug information the module
 * has to do. */
static int name_site(struct image *i, uint32_t key, const struct nm_pass_merge *merge,
		     const struct nm_result *r, const uint32_t *objects)
{
	const struct nm_result_attribution *a = &r->attrs[merge->keys[key]];
	const struct nm_result_site *s = &r->sites[a->site];
	struct nm_debug_site *site = &i->program.sites.at[key];

	assert(key < i->program.sites.count);
	site->row = key;
	site->is_uncounted = !nm_pass_counts_key(merge, r, key);
	site->line = s->user_line;
	site->object = objects[a->object];
	site->thread = a->thread;
	site->core = (uint16_t)nm_machine_core(i->loading->source->machine, a->thread);
	return intern_name(&i->program, s->user_function ? s->user_function : s->module, &site->function) ||
		       intern_name(&i->program, s->user_file, &site->file)
		   ? NM_ENOMEM
		   : 0;
}

/* Strings are interned: the same text is at the same address. */
static int by_what_they_show(const void *left, const void *right)
{
	const struct nm_debug_site *s = left, *b = right;

	if (s->function != b->function)
		return s->function < b->function ? -1 : 1;
	if (s->file != b->file)
		return s->file < b->file ? -1 : 1;
	if (s->line != b->line)
		return s->line < b->line ? -1 : 1;
	if (s->object != b->object)
		return s->object < b->object ? -1 : 1;
	return s->thread != b->thread ? (s->thread < b->thread ? -1 : 1) : 0;
}

/* Keys that come to the same line, object and thread are one row of sums. */
static int join_rows(struct nm_debug_program *p)
{
	const size_t count = p->sites.count;
	struct nm_debug_site *sorted = malloc((count + 1) * sizeof *sorted);

	if (!sorted)
		return NM_ENOMEM;
	memcpy(sorted, p->sites.at, count * sizeof *sorted);
	qsort(sorted, count, sizeof *sorted, by_what_they_show);
	for (size_t i = 1, first = 0; i < count; i++) {
		if (by_what_they_show(&sorted[i], &sorted[first]))
			first = i;
		p->sites.at[sorted[i].row].row = sorted[first].row;
	}
	free(sorted);
	return 0;
}

static int name_sites(struct image *i, const struct nm_pass_merge *merge, const struct nm_result *r,
		      const uint32_t *objects)
{
	const size_t count = merge->key_count;
	int status = nm_vec_reach(&i->program.sites, count ? count : 1);

	for (uint32_t key = 1; key < count && !status; key++)
		status = name_site(i, key, merge, r, objects);
	return status ? status : join_rows(&i->program);
}

/* Whether objects of a kind may have one name and lie apart: blocks of the heap and what lies between them,
 * frames of several calls, a variable of several threads, all that has no name. */
static int is_scattered(enum nm_object_kind kind)
{
	return kind == NM_OBJECT_HEAP || kind == NM_OBJECT_STACK || kind == NM_OBJECT_LOCAL ||
	       kind == NM_OBJECT_THREAD_LOCAL || kind == NM_OBJECT_ANONYMOUS || kind == NM_OBJECT_UNKNOWN ||
	       kind == NM_OBJECT_UNMEASURED;
}

/* The objects of the result; those of one name, such as the bookkeeping of several heaps, are one:
 * ret_objects[index in the result]. */
static int name_objects(struct nm_debug_program *p, const struct nm_result *r, uint32_t *ret_objects)
{
	struct nm_map index_of = {0};
	int status = 0;

	for (size_t i = 0; i < r->object_count && !status; i++) {
		struct nm_debug_object object = {.is_scattered = is_scattered(r->objects[i].kind)};

		status = intern_name(p, r->objects[i].name, &object.name);
		ret_objects[i] = (uint32_t)nm_map_get(&index_of, (uintptr_t)object.name, NM_NO_OBJECT);
		if (status || ret_objects[i] != NM_NO_OBJECT)
			continue;
		ret_objects[i] = (uint32_t)p->objects.count;
		status = nm_vec_push(&p->objects, object) ||
				 nm_map_put(&index_of, (uintptr_t)object.name, ret_objects[i])
			     ? NM_ENOMEM
			     : 0;
	}
	nm_map_done(&index_of);
	return status;
}

/* Where the bytes of objects lie. */
static void place_objects(struct image *i)
{
	for (size_t key = 1; key < i->spans.count; key++) {
		const struct span *s = &i->spans.at[key];
		struct nm_debug_object *o = &i->program.objects.at[i->program.sites.at[key].object];

		if (s->end && (!o->end || s->low < o->low))
			o->low = s->low;
		if (s->end > o->end)
			o->end = s->end;
	}
}

static int finish_pass(void *self, const struct nm_pass_merge *merge, struct nm_result *result)
{
	struct image *i = self;
	uint32_t *objects = calloc(result->object_count + 1, sizeof *objects);
	int status = objects ? nm_references_close(&i->program.references) : NM_ENOMEM;

	if (!status)
		status = name_objects(&i->program, result, objects);
	if (!status)
		status = name_sites(i, merge, result, objects);
	if (!status)
		place_objects(i);
	free(objects);
	return status;
}

/* Images belong to the loading. */
static void release_pass(void *self) { (void)self; }

static const struct nm_pass pass = {.name = "references",
				    .needs = pass_needs,
				    .make = make_pass,
				    .batch = take_batch,
				    .memory = note_memory,
				    .keys = note_keys,
				    .finish = finish_pass,
				    .free = release_pass};

/* ---- loading ---- */

/* Whether a file begins like a trace. */
static int is_trace(const char *path)
{
	struct nm_peeked_input peeked;
	struct nm_import *import;
	int is_ours;

	if (!strcmp(path, "-") || nm_peek_input(&peeked, path, NULL))
		return 0;
	is_ours = nm_trace_probe(peeked.bytes, peeked.count);
	close(peeked.fd);
	if (is_ours || nm_import_open(&import, path, NULL, NULL))
		return is_ours;
	nm_import_free(import);
	return 1;
}

/* Ends what the trace has left open: then all images have their names. */
static int receive_results(void *self, struct nm_session *session, struct nm_error *err)
{
	struct nm_result *const *results;
	size_t count;

	(void)self;
	return nm_session_results(session, &results, &count, err);
}

static int replay_trace(struct loading *l, struct nm_error *err)
{
	const struct nm_result_receiver receiver = {receive_results, NULL};
	const struct nm_debugger_source *source = l->source;
	struct nm_run_replay_request request = {.input = source->path,
						.run = {.engine = {.machine = source->machine,
								   .threads = 2,
								   .order = source->order,
								   .pass = &pass,
								   .pass_arg = l},
							.receiver = &receiver,
							.feedback = source->feedback}};
	int has_result;
	const int status = nm_run_replay(&request, &has_result, err);

	if (!has_result || !status)
		return status ? (int)err->code : 0;
	source->feedback.warn("%s", err->text);
	return 0;
}

static struct image *choose_process(const struct loading *l)
{
	struct image *chosen = NULL;

	if (l->source->process)
		return l->source->process <= l->images.count ? l->images.at[l->source->process - 1] : NULL;
	for (size_t i = 0; i < l->images.count; i++)
		if (!chosen || l->images.at[i]->program.references.count > chosen->program.references.count)
			chosen = l->images.at[i];
	return chosen;
}

static int load_trace(struct nm_debug_program *p, const struct nm_debugger_source *source,
		      struct nm_error *err)
{
	struct loading l = {.source = source};
	int status = replay_trace(&l, err);
	struct image *chosen = choose_process(&l);

	if (!status && !chosen)
		status = nm_fail(err, NM_EINVAL, "%s has %zu processes", source->path, l.images.count);
	if (!status) {
		*p = chosen->program;
		memset(&chosen->program, 0, sizeof chosen->program);
		p->first = source->from ? source->from : 1;
		p->path = nm_intern(&p->names, source->path);
		status = p->path ? 0 : nm_fail_memory(err);
	}
	for (size_t i = 0; i < l.images.count; i++) {
		nm_debug_program_done(&l.images.at[i]->program);
		nm_vec_free(&l.images.at[i]->spans);
		free(l.images.at[i]);
	}
	nm_vec_free(&l.images);
	return status;
}

int nm_debug_load(struct nm_debug_program *p, const struct nm_debugger_source *source, struct nm_error *err)
{
	return is_trace(source->path) ? load_trace(p, source, err) : nm_debug_load_nest(p, source, err);
}
