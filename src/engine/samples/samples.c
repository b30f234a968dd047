/* SPDX-License-Identifier: MIT
 *
 * Each process has an address space (space.h) and attribution keys (attribution.h) as in a recording; its
 * mappings come from the file. perf records mappings of data only if asked to (-d). Without them, the
 * segments of a module are known from its file once its code is mapped. A fork copies the mappings, an exec
 * forgets them.
 */
#include "samples.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bins.h"
#include "samples_priv.h"

static const uint32_t KERNEL = UINT32_MAX; /* the process of the kernel's own mappings */

int nm_samples_new(struct nm_samples **ret, struct nm_symbols *symbols, const char *user_folders,
		   struct nm_error *err)
{
	struct nm_samples *samples = calloc(1, sizeof *samples);

	if (!samples)
		return nm_fail_memory(err);
	samples->symbols = symbols;
	samples->user_folders = user_folders;
	*ret = samples;
	return 0;
}

void nm_samples_join(struct nm_samples *samples, struct nm_exact *exact) { samples->exact = exact; }

static void image_free(struct image *image)
{
	nm_space_done(&image->space);
	nm_attributions_done(&image->attrs);
	nm_map_done(&image->threads);
	nm_map_done(&image->context_of);
	nm_contexts_done(&image->contexts);
	nm_namer_done(&image->namer);
	nm_map_done(&image->cell_of);
	nm_vec_free(&image->cells);
	nm_result_free(&image->result);
	free(image);
}

void nm_samples_free(struct nm_samples *samples)
{
	if (!samples)
		return;
	for (size_t i = 0; i < samples->images.count; i++)
		image_free(samples->images.at[i]);
	nm_vec_free(&samples->images);
	nm_vec_free(&samples->results);
	nm_map_done(&samples->image_of);
	nm_map_done(&samples->function_of);
	free(samples);
}

uint64_t nm_samples_count(const struct nm_samples *samples) { return samples->count; }
uint64_t nm_samples_lost(const struct nm_samples *samples) { return samples->lost; }

/* ---- processes ---------------------------------------------------------------------------------- */

/* The name of a place in the tree: "0", "1" of processes whose parent is not known, "0.0" of their children,
 * "0x" of what they execute. */
static const char *tree_path(struct nm_samples *samples, struct image *parent, const char *exec)
{
	if (exec)
		return nm_symbols_format(samples->symbols, "%sx", exec);
	if (parent)
		return nm_symbols_format(samples->symbols, "%s.%u", parent->path, parent->forks++);
	return nm_symbols_format(samples->symbols, "%" PRIu64, samples->roots++);
}

static int add_object(struct image *image, enum nm_object_kind kind, const char *name, uint32_t *ret_object)
{
	*ret_object = (uint32_t)image->space.objects.count;
	return nm_vec_push(&image->space.objects, (struct nm_object){.kind = kind, .name = name});
}

/* A new image, with the mappings of `parent` if it is not NULL. */
static struct image *image_new(struct nm_samples *samples, uint32_t pid, const char *path,
			       const struct image *parent)
{
	struct image *image = calloc(1, sizeof *image);
	int status;

	if (!image)
		return NULL;
	image->pid = pid;
	image->path = path;
	image->name = parent ? parent->name : pid == KERNEL ? "kernel" : "?";
	status = parent ? nm_space_copy(&image->space, &parent->space)
			: nm_space_init(&image->space, samples->symbols);
	if (!status)
		status = nm_attributions_init(&image->attrs);
	if (!status)
		status = parent ? nm_contexts_copy(&image->contexts, &parent->contexts)
				: nm_contexts_init(&image->contexts);
	image->attrs.symbols = samples->symbols;
	image->attrs.user_folders = samples->user_folders;
	image->namer = (struct nm_namer){.symbols = samples->symbols,
					 .space = &image->space,
					 .contexts = &image->contexts,
					 .attrs = &image->attrs};
	if (!status)
		status = add_object(image, NM_OBJECT_UNKNOWN, "<no data>", &image->no_data);
	if (!status)
		status = add_object(image, NM_OBJECT_UNKNOWN, "<kernel data>", &image->kernel);
	if (status || !path || nm_vec_push(&samples->images, image) ||
	    nm_map_put(&samples->image_of, pid, samples->images.count - 1)) {
		if (samples->images.count && samples->images.at[samples->images.count - 1] == image)
			samples->images.count--;
		image_free(image);
		return NULL;
	}
	return image;
}

static struct image *image_at(const struct nm_samples *samples, uint32_t pid)
{
	const uint64_t i = nm_map_get(&samples->image_of, pid, UINT64_MAX - 1);

	return i < samples->images.count ? samples->images.at[i] : NULL;
}

struct image *samples_image_of(struct nm_samples *samples, uint32_t pid)
{
	struct image *image = image_at(samples, pid);

	return image ? image : image_new(samples, pid, tree_path(samples, NULL, NULL), NULL);
}

static int take_comm(struct nm_samples *samples, const struct nm_perf_record *r)
{
	struct image *image = samples_image_of(samples, r->pid);

	if (!image)
		return NM_ENOMEM;
	if (r->comm.is_exec && r->pid == r->tid) {
		image = image_new(samples, r->pid, tree_path(samples, NULL, image->path), NULL);
		if (!image)
			return NM_ENOMEM;
	}
	if (r->pid == r->tid)
		image->name = nm_symbols_intern(samples->symbols, r->comm.name);
	return image->name ? 0 : NM_ENOMEM;
}

/* A thread of a process is a fork with the same process. */
static int take_fork(struct nm_samples *samples, const struct nm_perf_record *r)
{
	struct image *parent;

	if (r->pid == r->fork.parent_pid)
		return 0;
	parent = samples_image_of(samples, r->fork.parent_pid);
	if (!parent)
		return NM_ENOMEM;
	return image_new(samples, r->pid, tree_path(samples, parent, NULL), parent) ? 0 : NM_ENOMEM;
}

/* ---- mappings ----------------------------------------------------------------------------------- */

/* The segments of a module that was just placed, where the file has told of no mapping. */
static int map_segments(struct image *image, const struct nm_mapping *of)
{
	const uint64_t page = 4096;
	struct nm_module_segment s;

	for (size_t i = 0; nm_module_segment_at(of->module, i, &s); i++) {
		struct nm_mapping m = *of;

		m.address = (s.vaddr & ~(page - 1)) + of->bias;
		m.end = ((s.vaddr + s.bytes + page - 1) & ~(page - 1)) + of->bias;
		m.offset = s.offset & ~(page - 1);
		m.executable = s.executable != 0;
		m.object = 0;
		if (s.bytes && !nm_space_mapping(&image->space, m.address) && nm_space_map(&image->space, &m))
			return NM_ENOMEM;
	}
	return 0;
}

static int take_map(struct nm_samples *samples, const struct nm_perf_record *r, struct nm_error *err)
{
	const struct nm_perf_mapping *map = &r->map;
	struct image *image = samples_image_of(samples, r->pid);
	struct nm_mapping m = {
	    .address = map->address, .end = map->address + map->bytes, .offset = map->offset};
	const struct nm_mapping *placed;
	uint64_t low, end;
	int status = 0;

	if (!image || m.end < m.address)
		return image ? 0 : NM_ENOMEM;
	m.executable = map->is_executable != 0;
	m.path = !strcmp(map->path, "//anon") ? ""
		 : !strcmp(map->path, "[stack]")
		     ? nm_symbols_intern(samples->symbols, "[first thread's stack]")
		     : nm_symbols_intern(samples->symbols, map->path);
	if (m.path && m.path[0] == '/' && r->pid != KERNEL)
		status =
		    nm_symbols_module(samples->symbols, m.path, map->build_id_bytes ? map->build_id : NULL,
				      map->build_id_bytes, &m.file, err);
	if (m.file && !nm_module_extent(m.file, &low, &end))
		m.file = NULL;
	if (status || !m.path || nm_space_map(&image->space, &m))
		return status ? status : NM_ENOMEM;
	nm_space_forget(&image->space);
	if (m.executable)
		nm_attributions_forget_code(&image->attrs, m.address, m.end);
	placed = nm_space_mapping(&image->space, m.address);
	if (!placed || !placed->module || !m.executable)
		return 0;
	m = *placed;
	return map_segments(image, &m);
}

/* ---- samples ------------------------------------------------------------------------------------ */

static int thread_of(struct image *image, uint32_t tid, uint32_t *ret)
{
	*ret = (uint32_t)nm_map_get(&image->threads, tid, 0);
	if (*ret)
		return 0;
	*ret = ++image->thread_count;
	return nm_map_put(&image->threads, tid, *ret);
}

/* Code without a module has a site for each file, and the kernel has one, by an address that nothing else has. */
static int foreign_site(struct nm_samples *samples, struct image *image, const struct nm_perf_sample *s,
			const struct nm_mapping *m, uint64_t *ret_pc)
{
	static const uint64_t kernel = 1ull << 63;
	const char *path = m && m->path[0] ? m->path : "unknown code", *slash = strrchr(path, '/');
	struct nm_result_site site = {.is_library = 1};
	char text[256];

	*ret_pc = s->mode == NM_PERF_KERNEL ? kernel : kernel | (uintptr_t)path;
	if (nm_map_get(&image->attrs.instruction_of_pc, *ret_pc, UINT64_MAX - 1) != UINT64_MAX - 1)
		return 0;
	snprintf(text, sizeof text, "<%s>", s->mode == NM_PERF_KERNEL ? "kernel" : slash ? slash + 1 : path);
	site.function = nm_symbols_intern(samples->symbols, text);
	return site.function ? nm_attributions_name_site(&image->attrs, *ret_pc, site) : NM_ENOMEM;
}

static int site_of(struct nm_samples *samples, struct image *image, const struct nm_perf_sample *s,
		   uint32_t *ret)
{
	const struct nm_mapping *m = nm_space_mapping(&image->space, s->ip);
	uint64_t ip = s->ip;
	uint32_t instruction;

	if ((s->mode == NM_PERF_KERNEL || !m || !m->module) && foreign_site(samples, image, s, m, &ip))
		return NM_ENOMEM;
	if (nm_attributions_instruction(&image->attrs, ip, m ? m->module : NULL, m ? m->bias : 0,
					&instruction))
		return NM_ENOMEM;
	*ret = image->attrs.instructions.at[instruction].site;
	return 0;
}

static int object_of(struct image *image, const struct nm_perf_sample *s, uint32_t *ret)
{
	static const uint64_t kernel_half = 1ull << 63;
	struct nm_location location;
	uint32_t owner;

	*ret = s->has_address ? image->kernel : image->no_data;
	if (!s->has_address || s->address >= kernel_half)
		return 0;
	owner = nm_blocks_owner(&image->space.heap, s->address);
	if (owner) {
		*ret = nm_blocks_object(&image->space.heap, owner);
		return 0;
	}
	if (nm_space_recent(&image->space, s->address, &location)) {
		*ret = location.object;
		return 0;
	}
	if (nm_space_find(&image->space, s->address, &location))
		return NM_ENOMEM;
	nm_space_remember(&image->space, s->address, &location);
	*ret = location.object;
	return 0;
}

/* Bins of latencies hold a 32nd of an octave, at most. */
static unsigned latency_bin(uint64_t latency) { return latency ? nm_bin_of(latency) : 0; }

static uint64_t key_of(const struct nm_result_sample *s)
{
	return (uint64_t)s->attr << 32 | (uint64_t)(s->event & 15) << 28 | (uint64_t)s->operation << 25 |
	       (uint64_t)s->level << 21 | (uint64_t)s->snoop << 18 | (uint64_t)s->tlb << 15 |
	       (uint64_t)(s->is_locked != 0) << 14 | (uint64_t)(s->is_miss != 0) << 13 |
	       (s->latency_bin & 0x1fff);
}

static int add_cell(struct image *image, const struct nm_result_sample *s, uint64_t latency)
{
	const uint64_t key = key_of(s), i = nm_map_get(&image->cell_of, key, image->cells.count);

	if (i == image->cells.count &&
	    (nm_vec_push(&image->cells, *s) || nm_map_put(&image->cell_of, key, i)))
		return NM_ENOMEM;
	image->cells.at[i].count++;
	image->cells.at[i].latency += latency;
	return 0;
}

static int take_sample(struct nm_samples *samples, const struct nm_perf_record *r)
{
	const struct nm_perf_sample *s = &r->sample;
	struct image *image = samples_image_of(samples, r->pid);
	struct nm_result_sample c = {.event = (uint8_t)s->event,
				     .operation = (uint8_t)s->source.operation,
				     .level = (uint8_t)s->source.level,
				     .snoop = (uint8_t)s->source.snoop,
				     .tlb = (uint8_t)s->source.tlb,
				     .is_locked = (uint8_t)s->source.is_locked,
				     .is_miss = (uint8_t)s->source.is_miss,
				     .latency_bin = (uint16_t)latency_bin(s->latency)};
	uint32_t thread, site, object;

	samples->count++;
	if (!image || thread_of(image, r->tid, &thread) || object_of(image, s, &object) ||
	    site_of(samples, image, s, &site) || (samples->exact && samples_join(samples, image, s, &object)))
		return NM_ENOMEM;
	c.attr = nm_attributions_get(&image->attrs, thread, site, object);
	return c.attr ? add_cell(image, &c, s->latency) : NM_ENOMEM;
}

int nm_samples_take(struct nm_samples *samples, const struct nm_perf_record *r, struct nm_error *err)
{
	int status = 0;

	switch (r->kind) {
	case NM_PERF_MAP: status = take_map(samples, r, err); break;
	case NM_PERF_COMM: status = take_comm(samples, r); break;
	case NM_PERF_FORK: status = take_fork(samples, r); break;
	case NM_PERF_SAMPLE: status = take_sample(samples, r); break;
	case NM_PERF_LOST: samples->lost += r->lost; break;
	case NM_PERF_EXIT: break; /* a later fork or exec with its number says what runs then */
	}
	return status == NM_ENOMEM ? nm_fail_memory(err) : status;
}

/* ---- results ------------------------------------------------------------------------------------ */

/* Blocks of the heap have names by the calls that allocate them. What the kernel names in brackets is no file:
 * "[heap]". */
static void set_name(struct nm_object *o)
{
	static const char mapped[] = "mapped ";

	if (o->name && !strncmp(o->name, mapped, strlen(mapped)) && o->name[strlen(mapped)] == '[')
		o->name += strlen(mapped);
	else if (!o->name && o->kind != NM_OBJECT_HEAP)
		o->name = o->kind == NM_OBJECT_ANONYMOUS ? "anonymous memory" : "<unknown>";
}

/* Whether the file of a module is another build than the one that was sampled. */
static int is_replaced(struct nm_samples *samples, const struct nm_perf *perf, const char *path)
{
	struct nm_module *module = NULL;
	const uint8_t *id;
	const size_t bytes = perf && path[0] == '/' ? nm_perf_build_id(perf, path, &id) : 0;

	if (!bytes || nm_symbols_module(samples->symbols, path, id, bytes, &module, NULL))
		return 0;
	return !nm_module_modified(module);
}

/* Forgets the names of a module whose file is another build now. */
static void forget_module(struct image *image, const char *module)
{
	for (size_t i = 1; i < image->attrs.list.count; i++) {
		struct nm_attribution *a = &image->attrs.list.at[i];

		if (a->object >= JOINED && image->attrs.sites.at[a->site].module == module)
			a->object = image->no_data;
	}
	for (size_t i = 0; i < image->attrs.sites.count; i++) {
		struct nm_result_site *site = &image->attrs.sites.at[i];

		if (site->module == module)
			*site = (struct nm_result_site){.module = module, .is_library = 1};
	}
	for (size_t i = 0; i < image->space.objects.count; i++) {
		struct nm_object *o = &image->space.objects.at[i];

		if (o->kind == NM_OBJECT_GLOBAL || o->kind == NM_OBJECT_STATIC)
			*o = (struct nm_object){.kind = NM_OBJECT_LIBRARY_DATA,
						.name = "<data of another build>"};
	}
}

static void forget_replaced(struct nm_samples *samples, struct image *image, const struct nm_perf *perf)
{
	for (size_t i = 0; i < image->space.mappings.count; i++) {
		const struct nm_mapping *m = &image->space.mappings.at[i];

		if (m->module && is_replaced(samples, perf, m->path))
			forget_module(image, nm_module_name(m->module));
	}
}

/* *ret_index: of each object, as nm_namer_objects gives it. */
static int list_objects(struct image *image, uint32_t **ret_index)
{
	struct nm_result *r = &image->result;
	int status;

	for (size_t i = 0; i < image->space.objects.count; i++)
		set_name(&image->space.objects.at[i]);
	status = nm_namer_objects(&image->namer, r, ret_index);
	for (size_t i = 0; i < image->space.objects.count && !status; i++) {
		const struct nm_object *o = &image->space.objects.at[i];
		struct nm_result_object *into = &r->objects[(*ret_index)[i]];

		into->type = o->type;
		into->blocks += o->blocks;
		into->bytes += o->bytes;
		into->largest = o->largest > into->largest ? o->largest : into->largest;
	}
	return status;
}

/* The index of a joined object: the recording's name for it may be one that the samples have too. */
static int joined_object(struct nm_result *r, const struct nm_exact_datum *d, struct nm_map *index_of,
			 uint32_t *ret)
{
	struct nm_result_object *more;

	if (!index_of->count)
		for (size_t i = 0; i < r->object_count; i++)
			if (nm_map_put(index_of, (uintptr_t)r->objects[i].name, i))
				return NM_ENOMEM;
	*ret = (uint32_t)nm_map_get(index_of, (uintptr_t)d->object, r->object_count);
	if (*ret < r->object_count)
		return 0;
	more = realloc(r->objects, (r->object_count + 1) * sizeof *more);
	if (!more)
		return NM_ENOMEM;
	r->objects = more;
	more[r->object_count++] = (struct nm_result_object){
	    .name = d->object, .kind = d->kind, .type = d->field ? NULL : d->type, .allocated_at = d->at};
	return nm_map_put(index_of, (uintptr_t)d->object, *ret);
}

static int list_attrs(const struct nm_samples *samples, struct image *image, const uint32_t *objects)
{
	const size_t count = image->attrs.list.count;
	struct nm_result *r = &image->result;
	struct nm_map index_of = {0};
	int status = 0;

	r->attrs = calloc(count, sizeof *r->attrs);
	r->sites = calloc(image->attrs.sites.count + 1, sizeof *r->sites);
	if (!r->attrs || !r->sites)
		return NM_ENOMEM;
	r->site_count = image->attrs.sites.count;
	if (r->site_count)
		memcpy(r->sites, image->attrs.sites.at, r->site_count * sizeof *r->sites);
	for (size_t i = 1; i < count && !status; i++) {
		const struct nm_attribution *a = &image->attrs.list.at[i];
		const struct nm_exact_datum *d = samples_datum(samples->exact, a->object);
		uint32_t object;

		if (d)
			status = joined_object(r, d, &index_of, &object);
		else
			object = objects[a->object];
		if (!status)
			r->attrs[r->attr_count++] =
			    (struct nm_result_attribution){a->lane, a->site, object, 0};
	}
	nm_map_done(&index_of);
	return status;
}

/* What the recording says of the data of a cell. */
static void set_joined(const struct nm_samples *samples, const struct image *image,
		       struct nm_result_sample *cell)
{
	const uint32_t object = image->attrs.list.at[cell->attr].object;
	const struct nm_exact_datum *d = samples_datum(samples->exact, object);

	if (!d)
		return;
	cell->type = d->type;
	cell->field = d->field;
	cell->is_shared = object & 1;
}

static int make_result(struct nm_samples *samples, struct image *image, const struct nm_perf *perf)
{
	struct nm_result *r = &image->result;
	uint32_t *objects;
	int status;

	forget_replaced(samples, image, perf);
	status = list_objects(image, &objects);
	if (status)
		return status;
	status = list_attrs(samples, image, objects);
	free(objects);
	r->samples = calloc(image->cells.count, sizeof *r->samples);
	if (status || !r->samples)
		return NM_ENOMEM;
	for (size_t i = 0; i < image->cells.count; i++) {
		r->samples[i] = image->cells.at[i];
		set_joined(samples, image, &r->samples[i]);
		r->samples[i].attr--; /* key 0 is unused */
	}
	r->sample_count = image->cells.count;
	r->process = image->name;
	r->command = image->name;
	r->path = image->path;
	return 0;
}

static void list_events(struct nm_result *r, const struct nm_perf *perf)
{
	const struct nm_perf_event *event;

	while (perf && r->event_count < NM_RESULT_EVENTS &&
	       (event = nm_perf_event_at(perf, (unsigned)r->event_count)))
		r->sample_events[r->event_count++] = event->name;
}

int nm_samples_results(struct nm_samples *samples, const struct nm_perf *perf,
		       struct nm_result *const **ret_results, size_t *ret_count, struct nm_error *err)
{
	for (size_t i = 0; i < samples->images.count; i++) {
		struct image *image = samples->images.at[i];

		if (!image->cells.count)
			continue;
		list_events(&image->result, perf);
		if (make_result(samples, image, perf) || nm_vec_push(&samples->results, &image->result))
			return nm_fail_memory(err);
	}
	*ret_results = samples->results.at;
	*ret_count = samples->results.count;
	return 0;
}
