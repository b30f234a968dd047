/* SPDX-License-Identifier: MIT */
#include "exact.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samples_priv.h"

enum { NAME_BYTES = 15 /* of a program, that the kernel keeps */ };

struct share {
	uint32_t datum;
	double accesses;
	uint64_t given; /* samples */
};

/* An instruction: its shares are [first, first + count). */
struct entry {
	const char *program, *build_id;
	uint64_t address;
	size_t first;
	uint32_t count;
};

/* A module that the recording has, for what it refuses. */
struct known_build {
	const char *program, *module, *build_id;
	int is_refused;
};

struct nm_exact {
	struct nm_symbols *symbols;
	const char *path;
	struct nm_vec(struct nm_exact_datum) data;
	struct nm_map datum_of; /* hash -> index; equal hashes take the next key */
	struct nm_vec(struct share) shares;
	struct nm_vec(struct entry) entries;
	struct nm_map entry_of; /* as datum_of */
	struct nm_vec(struct known_build) builds;
	struct nm_vec(const char *) refusals;
	uint64_t joined;
};

int nm_exact_new(struct nm_exact **ret, struct nm_symbols *symbols, const char *path, struct nm_error *err)
{
	struct nm_exact *e = calloc(1, sizeof *e);

	if (!e)
		return nm_fail_memory(err);
	e->symbols = symbols;
	e->path = path;
	*ret = e;
	return 0;
}

void nm_exact_free(struct nm_exact *e)
{
	if (!e)
		return;
	nm_vec_free(&e->data);
	nm_map_done(&e->datum_of);
	nm_vec_free(&e->shares);
	nm_vec_free(&e->entries);
	nm_map_done(&e->entry_of);
	nm_vec_free(&e->builds);
	nm_vec_free(&e->refusals);
	free(e);
}

const char *nm_exact_path(const struct nm_exact *e) { return e->path; }
uint64_t nm_exact_joined(const struct nm_exact *e) { return e->joined; }

const char *nm_exact_refusal(const struct nm_exact *e, size_t i)
{
	return i < e->refusals.count ? e->refusals.at[i] : NULL;
}

const struct nm_exact_datum *samples_datum(const struct nm_exact *e, uint32_t object)
{
	if (object < JOINED)
		return NULL;
	assert((object - JOINED) >> 1 < e->data.count);
	return &e->data.at[(object - JOINED) >> 1];
}

/* ---- the recording ------------------------------------------------------------------------------ */

static const char *intern_name(struct nm_exact *e, const char *text)
{
	return text ? nm_symbols_intern(e->symbols, text) : NULL;
}

static enum nm_object_kind kind_named(const char *name)
{
	for (int kind = 0; kind <= NM_OBJECT_LOCAL; kind++)
		if (!strcmp(nm_object_kind_name((enum nm_object_kind)kind), name))
			return (enum nm_object_kind)kind;
	return NM_OBJECT_UNKNOWN;
}

static int datum_of(struct nm_exact *e, const struct nm_exact_row *row, uint32_t *ret)
{
	const struct nm_exact_datum d = {.object = intern_name(e, row->object),
					 .type = intern_name(e, row->type),
					 .at = intern_name(e, row->allocated_at),
					 .field = intern_name(e, row->field),
					 .kind = kind_named(row->kind)};
	uint64_t key = nm_mix64((uintptr_t)d.object ^
				nm_mix64((uintptr_t)d.type ^ nm_mix64((uintptr_t)d.field))),
		 at;

	if (!d.object || !d.type != !row->type || !d.field != !row->field)
		return NM_ENOMEM;
	for (; (at = nm_map_get(&e->datum_of, key, UINT64_MAX)) != UINT64_MAX; key++) {
		const struct nm_exact_datum *known = &e->data.at[at];

		*ret = (uint32_t)at;
		if (known->object == d.object && known->type == d.type && known->field == d.field)
			return 0;
	}
	*ret = (uint32_t)e->data.count;
	return nm_vec_push(&e->data, d) || nm_map_put(&e->datum_of, key, *ret) ? NM_ENOMEM : 0;
}

/* The entry of an instruction; *ret_key: where it is, or would be. NULL: there is none. */
static struct entry *find_entry(const struct nm_exact *e, const char *program, const char *build_id,
				uint64_t address, uint64_t *ret_key)
{
	uint64_t at;

	*ret_key = nm_mix64((uintptr_t)program ^ nm_mix64((uintptr_t)build_id ^ nm_mix64(address)));
	for (; (at = nm_map_get(&e->entry_of, *ret_key, UINT64_MAX)) != UINT64_MAX; ++*ret_key) {
		struct entry *known = &e->entries.at[at];

		if (known->program == program && known->build_id == build_id && known->address == address)
			return known;
	}
	return NULL;
}

static int note_build(struct nm_exact *e, const char *program, const char *module, const char *build_id)
{
	for (size_t i = e->builds.count; i-- > 0;)
		if (e->builds.at[i].program == program && e->builds.at[i].build_id == build_id)
			return 0;
	return nm_vec_push(&e->builds, (struct known_build){program, module, build_id, 0});
}

int nm_exact_add(struct nm_exact *e, const struct nm_exact_row *row)
{
	const char *program = intern_name(e, row->program), *build_id = intern_name(e, row->build_id),
		   *module = intern_name(e, row->module);
	struct entry *entry;
	uint32_t datum;
	uint64_t key;

	if (!program || !build_id || !module || datum_of(e, row, &datum) ||
	    note_build(e, program, module, build_id))
		return NM_ENOMEM;
	entry = find_entry(e, program, build_id, row->address, &key);
	if (!entry) {
		if (nm_map_put(&e->entry_of, key, e->entries.count) ||
		    nm_vec_push(&e->entries,
				(struct entry){program, build_id, row->address, e->shares.count, 0}))
			return NM_ENOMEM;
		entry = &e->entries.at[e->entries.count - 1];
	}
	assert(entry->first + entry->count == e->shares.count);
	entry->count++;
	return nm_vec_push(&e->shares, (struct share){datum, row->accesses, 0});
}

/* ---- samples ------------------------------------------------------------------------------------ */

/* Data that have no place of their own in a file: only where they lie in a run tells what they are. */
static int is_unplaced(enum nm_object_kind kind)
{
	return kind != NM_OBJECT_GLOBAL && kind != NM_OBJECT_STATIC && kind != NM_OBJECT_LIBRARY_DATA &&
	       kind != NM_OBJECT_MAPPED;
}

/* Whether a sample accesses data, and it is not known which; *ret_unplaced: only that they are unplaced ones. */
static int needs_data(const struct image *image, const struct nm_perf_sample *s, uint32_t object,
		      int *ret_unplaced)
{
	static const char heap[] = "mapped [heap]";
	const struct nm_object *o = &image->space.objects.at[object];

	assert(object < image->space.objects.count);
	if (s->source.operation == NM_OPERATION_NONE || s->mode == NM_PERF_KERNEL || object == image->kernel)
		return 0;
	*ret_unplaced = object != image->no_data;
	return object == image->no_data || object == NM_OBJECT_NONE || o->kind == NM_OBJECT_ANONYMOUS ||
	       (o->kind == NM_OBJECT_MAPPED && o->name && !strcmp(o->name, heap));
}

static int share_fits(const struct nm_exact *e, const struct share *share, int only_unplaced)
{
	return !only_unplaced || is_unplaced(e->data.at[share->datum].kind);
}

/* The share that lags the most behind its part of the samples; NULL: none fits. */
static struct share *choose_share(struct nm_exact *e, const struct entry *entry, int only_unplaced,
				  int *ret_is_shared)
{
	struct share *shares = &e->shares.at[entry->first], *best = NULL;
	double all = 0, most = -1;
	uint64_t given = 0;
	unsigned fitting = 0;

	for (uint32_t i = 0; i < entry->count; i++) {
		if (!share_fits(e, &shares[i], only_unplaced))
			continue;
		all += shares[i].accesses;
		given += shares[i].given;
		fitting++;
	}
	for (uint32_t i = 0; i < entry->count; i++) {
		const double due = shares[i].accesses / all * (double)(given + 1) - (double)shares[i].given;

		if (!share_fits(e, &shares[i], only_unplaced) || due <= most)
			continue;
		most = due;
		best = &shares[i];
	}
	*ret_is_shared = fitting > 1;
	return best;
}

static int refuse_build(struct nm_exact *e, struct known_build *build, const char *build_id)
{
	const char *text;

	if (build->is_refused)
		return 0;
	build->is_refused = 1;
	text = nm_symbols_format(
	    e->symbols,
	    *build_id
		? "samples of %s get no data from %s, which has another build of it (%.8s, sampled: %.8s)"
		: "samples of %s get no data from %s: the sampled file has no build-id",
	    build->module, e->path, build->build_id, build_id);
	return text ? nm_vec_push(&e->refusals, text) : NM_ENOMEM;
}

/* The module's build-id as the recording has it; *ret NULL: the recording has no such build. */
static int build_of(struct nm_exact *e, const char *program, struct nm_module *module, const char **ret)
{
	const char *id = nm_module_build_id(module);
	struct known_build *other = NULL;

	*ret = NULL;
	if (!id)
		return NM_ENOMEM;
	for (size_t i = 0; i < e->builds.count; i++) {
		struct known_build *b = &e->builds.at[i];

		if (b->program != program)
			continue;
		if (b->build_id == id) {
			*ret = id;
			return 0;
		}
		if (b->module == nm_module_name(module))
			other = b;
	}
	return other ? refuse_build(e, other, id) : 0;
}

int samples_join(struct nm_samples *samples, struct image *image, const struct nm_perf_sample *s,
		 uint32_t *object)
{
	struct nm_exact *e = samples->exact;
	const struct nm_mapping *m = nm_space_mapping(&image->space, s->ip);
	const char *build_id, *program;
	const struct entry *entry;
	struct share *share;
	int only_unplaced, is_shared;
	char name[NAME_BYTES + 1];
	uint64_t key;

	if (!m || !m->module || !needs_data(image, s, *object, &only_unplaced))
		return 0;
	snprintf(name, sizeof name, "%s", image->name);
	program = nm_symbols_intern(samples->symbols, name);
	if (!program || build_of(e, program, m->module, &build_id))
		return NM_ENOMEM;
	entry = build_id ? find_entry(e, program, build_id, s->ip - m->bias, &key) : NULL;
	share = entry ? choose_share(e, entry, only_unplaced, &is_shared) : NULL;
	if (!share)
		return 0;
	share->given++;
	e->joined++;
	*object = JOINED | share->datum << 1 | (uint32_t)is_shared;
	return 0;
}
