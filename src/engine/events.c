/* SPDX-License-Identifier: MIT
 *
 * events.c - every record but blocks: processes, threads, heap, address space, the program's own marks.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "engine_priv.h"
#include "layouts.h"
#include "one_machine.h"
#include "schedules.h"
#include "visits.h"

/* ---- process and threads ---- */

/* argv joined by blanks, interned. */
static const char *join_arguments(struct nm_engine *e, const struct nm_wire_process *p)
{
	size_t n = 1;
	char *text, *at;
	const char *s = p->arguments, *stored;

	for (uint32_t i = 0; i < p->argc; i++, s = nm_wire_string_after(s))
		n += strlen(s) + 1;
	text = malloc(n);
	if (!text)
		return NULL;
	at = text;
	s = p->arguments;
	for (uint32_t i = 0; i < p->argc; i++, s = nm_wire_string_after(s)) {
		if (i)
			*at++ = ' ';
		at = stpcpy(at, s);
	}
	*at = '\0';
	stored = nm_symbols_intern(e->symbols, text);
	free(text);
	return stored;
}

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* As it was called, and its file where that has another name: "sh (dash)". A program may have several names, of which
 * each does another thing. Interned. */
static const char *name_process(struct nm_engine *e, const struct nm_wire_process *p)
{
	const char *file = last_component(p->executable);
	const char *called = p->argc && *p->arguments ? last_component(p->arguments) : file;

	if (!*file || !strcmp(called, file))
		return nm_symbols_intern(e->symbols, *called ? called : "<unknown>");
	return nm_symbols_format(e->symbols, "%s (%s)", called, file);
}

static int on_process(struct nm_engine *e, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_process p;
	int status = nm_wire_process_decode(r, &p, err);

	if (status)
		return status;
	if (e->started)
		return nm_fail(err, NM_EFORMAT, "a second process in one stream");
	e->command = join_arguments(e, &p);
	e->name = name_process(e, &p);
	e->process = p;
	e->process.arguments = NULL;
	e->process.executable = nm_symbols_intern(e->symbols, p.executable);
	e->process.directory = nm_symbols_intern(e->symbols, p.directory);
	if (!e->command || !e->name || !e->process.executable || !e->process.directory)
		return nm_fail_memory(err);
	e->started = 1;
	return 0;
}

static struct nm_thread *find_thread(struct nm_engine *e, uint32_t wire)
{
	for (size_t i = e->threads.count; i-- > 0;)
		if (e->threads.at[i]->wire == wire && e->threads.at[i]->live)
			return e->threads.at[i];
	return NULL;
}

/* Drops a thread that has ended: its number stays taken, its frames own nothing any more. */
static void retire_thread(struct nm_engine *e, struct nm_thread *t)
{
	for (size_t i = 0; i < e->threads.count; i++)
		if (e->threads.at[i] == t)
			e->threads.at[i] = e->threads.at[--e->threads.count];
	nm_engine_free_thread(t);
	nm_resolver_forget_mappings(&e->replay.resolver);
}

static int synchronise_thread(struct nm_engine *e, struct nm_sync sync, struct nm_error *err)
{
	return nm_replay_synchronise(&e->replay, sync) ? nm_fail_memory(err) : 0;
}

static int on_thread_start(struct nm_engine *e, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_thread_start s;
	int status = nm_wire_thread_start_decode(r, &s, err);
	struct nm_thread *t, *parent;

	if (status)
		return status;
	parent = find_thread(e, s.parent);
	t = nm_arena_alloc(&e->replay.decoder.arena, sizeof *t);
	if (!t || nm_frames_init(&t->frames, s.stack_low, s.stack_end) || nm_vec_push(&e->threads, t))
		return nm_fail_memory(err);
	nm_resolver_forget_mappings(&e->replay.resolver); /* what was anonymous may be its stack */
	t->wire = s.thread;
	t->number = ++e->threads_started;
	t->live = 1;
	if (nm_replay_start_lanes(&e->replay, t))
		return nm_fail_memory(err);
	return synchronise_thread(e,
				  (struct nm_sync){.kind = NM_SYNC_START,
						   .object = s.thread,
						   .thread = t->number,
						   .parent = parent ? parent->number : 0},
				  err);
}

static int on_thread(struct nm_engine *e, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_thread n;
	int status = nm_wire_thread_decode(r, &n, err);
	struct nm_thread *t, *before = e->replay.running.thread;

	if (status)
		return status;
	t = find_thread(e, n.thread);
	if (!t)
		return nm_fail(err, NM_EFORMAT, "thread %u runs before it starts", n.thread);
	if (r->kind == NM_WIRE_THREAD_EXIT) {
		t->live = 0;
		status =
		    synchronise_thread(e, (struct nm_sync){.kind = NM_SYNC_EXIT, .object = t->number}, err);
		if (t != before)
			retire_thread(e, t);
		return status;
	}
	nm_replay_switch_thread(&e->replay, t);
	if (before && !before->live)
		retire_thread(e, before);
	return synchronise_thread(e, (struct nm_sync){.kind = NM_SYNC_THREAD, .object = t->number}, err);
}

static int on_sync(struct nm_engine *e, const struct nm_wire_record *r, struct nm_error *err)
{
	static const uint8_t kinds[NM_WIRE_SYNCS] = {
	    [NM_WIRE_SYNC_CREATE] = NM_SYNC_CREATE,
	    [NM_WIRE_SYNC_JOIN] = NM_SYNC_JOIN,
	    [NM_WIRE_SYNC_CALL] = NM_SYNC_CALL,
	    [NM_WIRE_SYNC_RESUME] = NM_SYNC_RESUME,
	    [NM_WIRE_SYNC_ENTER] = NM_SYNC_ENTER,
	    [NM_WIRE_SYNC_LEAVE] = NM_SYNC_LEAVE,
	    [NM_WIRE_SYNC_LOCK] = NM_SYNC_LOCK,
	    [NM_WIRE_SYNC_SHARE] = NM_SYNC_SHARE,
	    [NM_WIRE_SYNC_UNLOCK] = NM_SYNC_UNLOCK,
	    [NM_WIRE_SYNC_FUTEX_WAIT] = NM_SYNC_FUTEX_WAIT,
	    [NM_WIRE_SYNC_FUTEX_WAKE] = NM_SYNC_FUTEX_WAKE,
	};
	struct nm_wire_sync_event s;
	int status = nm_wire_sync_event_decode(r, &s, err);

	return status
		   ? status
		   : synchronise_thread(e, (struct nm_sync){.kind = kinds[s.what], .object = s.object}, err);
}

static int on_thread_pointer(struct nm_engine *e, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_thread_pointer p;
	int status = nm_wire_thread_pointer_decode(r, &p, err);

	if (status)
		return status;
	nm_resolver_forget_mappings(&e->replay.resolver);
	return p.value && nm_space_thread(&e->space, p.value) ? nm_fail_memory(err) : 0;
}

/* A handler begins, perhaps on another stack. */
static int on_signal(struct nm_engine *e, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_signal s;
	int status = nm_wire_signal_decode(r, &s, err);
	struct nm_frames *frames;
	size_t from;

	if (status || !e->replay.running.thread)
		return status;
	frames = &e->replay.running.thread->frames;
	from = nm_signals_resume(&e->replay.running.thread->signals, frames);
	if (nm_replay_run_stack(&e->replay, from) ||
	    (!nm_stack_holds(e->replay.running.stack, s.stack_pointer) &&
	     nm_replay_switch_stack(&e->replay, s.stack_pointer)))
		return nm_fail_memory(err);
	if ((e->calls || frames->current != from) &&
	    nm_signals_enter(&e->replay.running.thread->signals, e->calls, frames, from, s.stack_pointer,
			     s.number))
		return nm_fail_memory(err);
	nm_stack_window_own(&e->replay.running.window, nm_stack_top(e->replay.running.stack));
	nm_replay_choose_path(&e->replay);
	return 0;
}

/* ---- heap ---- */

/* The running thread's call chain, of which the call of the allocator (that has just returned) is the
 * innermost part; or, for a mapping made by a system call, the open frames. */
static int enter_context(struct nm_engine *e, int returned, struct nm_chain *ret_chain, uint32_t *ret_context)
{
	const struct nm_object *objects = e->space.objects.at;
	struct nm_frames *frames = &e->replay.running.thread->frames;
	const struct nm_stack *s = nm_frames_stack(frames);

	if (returned && frames->returned_from)
		nm_chain_add(ret_chain, frames->returned_from,
			     objects[frames->returned_to].nameless ? 0 : frames->returned_to);
	nm_chain_add_stack(ret_chain, s, s->frames.count, objects);
	return ret_chain->count
		   ? nm_contexts_enter(&e->contexts, ret_chain->pcs, ret_chain->count, ret_context)
		   : 0;
}

/* The context of a mapping. */
static int enter_mapping_context(struct nm_engine *e, uint32_t *ret_context)
{
	struct nm_chain calls = {0};

	*ret_context = 0;
	return e->replay.running.thread ? enter_context(e, 0, &calls, ret_context) : 0;
}

static int allocate_block(struct nm_engine *e, uint64_t address, uint64_t size,
			  enum nm_wire_allocator allocator, struct nm_error *err)
{
	const enum nm_heap_call call = allocator >= NM_WIRE_POOL      ? NM_HEAP_PIECE
				       : allocator == NM_WIRE_CALLOC  ? NM_HEAP_CALLOC
				       : allocator == NM_WIRE_ALIGNED ? NM_HEAP_ALIGNED
								      : NM_HEAP_MALLOC;
	const struct nm_mapping *m = nm_space_mapping(&e->space, address);
	struct nm_chain calls = {0};
	uint32_t context = 0, chain;

	if (!address)
		return 0;
	if (nm_layouts_need_references(e->output.layouts, address) && nm_replay_flush(&e->replay))
		return nm_fail_memory(err);
	chain = e->options.heap_chains && e->replay.running.thread
		    ? nm_frames_stack(&e->replay.running.thread->frames)->context + 1
		    : 0;
	if (m && !m->allocator)
		nm_resolver_forget_mappings(&e->replay.resolver);
	if ((e->replay.running.thread && enter_context(e, 1, &calls, &context)) ||
	    nm_space_alloc(&e->space, address, size, context, chain))
		return nm_fail_memory(err);
	if (nm_layouts_allocated(e->output.layouts, address, call))
		return nm_fail_memory(err);
	nm_resolver_forget_released_blocks(&e->replay.resolver);
	if (context && !e->sampled.options.rate) /* a probe needs the accesses of blocks */
		nm_replay_probe_wrapper(&e->replay, context, calls.unfolded, address, size);
	return 0;
}

/* A pool hands out a piece. Pieces in a stack are its frames'. */
static int hand_out(struct nm_engine *e, const struct nm_wire_alloc *piece, struct nm_error *err)
{
	const size_t chunks = e->space.chunks.live;
	const struct nm_thread *t = e->replay.running.thread;
	const int is_shared = e->output.member &&
			      nm_machine_pages_are_shared(nm_member_pages(e->output.member), piece->address);
	int fits, status;

	if (piece->allocator == NM_WIRE_SHARED_POOL && !is_shared)
		return 0;
	e->has_pieces = 1;
	if (t && nm_frames_owner(&t->frames, piece->address).object)
		return 0;
	if (nm_space_open_chunk(&e->space, piece->address, piece->size, piece->entry, &fits))
		return nm_fail_memory(err);
	if (e->space.chunks.live != chunks)
		nm_resolver_forget_mappings(&e->replay.resolver);
	if (!fits)
		return 0;
	status = allocate_block(e, piece->address, piece->size, piece->allocator, err);
	nm_space_mark_piece(&e->space, piece->address);
	if (!status && is_shared && nm_member_share_piece(e->output.member, piece->address))
		status = nm_fail_memory(err);
	return status;
}

static int release_block(struct nm_engine *e, uint64_t address, struct nm_error *err)
{
	struct nm_block b;

	const int status =
	    nm_layouts_need_references(e->output.layouts, address) ? nm_replay_flush(&e->replay) : 0;

	if (status || nm_layouts_released(e->output.layouts, address))
		return status ? status : nm_fail_memory(err);
	if (nm_space_close_chunk(&e->space, address, &b))
		nm_space_forget(&e->space);
	else if (!nm_blocks_remove(&e->space.heap, address, &b))
		return 0;
	nm_passes_released(&e->feed.passes, b.address, b.size, b.object);
	if (e->output.member)
		nm_member_released(e->output.member, b.address, b.size, b.object);
	nm_schedules_released(e->output.schedules, b.address, b.size, b.object);
	nm_visits_released(e->output.visits, b.address, b.size, b.object);
	nm_resolver_forget_released_blocks(&e->replay.resolver);
	return 0;
}

static int on_heap(struct nm_engine *e, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_alloc a;
	struct nm_wire_free f;
	struct nm_wire_realloc re;
	int status;

	switch (r->kind) {
	case NM_WIRE_ALLOC:
		status = nm_wire_alloc_decode(r, &a, err);
		if (status)
			return status;
		return a.allocator >= NM_WIRE_POOL ? hand_out(e, &a, err)
						   : allocate_block(e, a.address, a.size, a.allocator, err);
	case NM_WIRE_FREE:
		status = nm_wire_free_decode(r, &f, err);
		return status ? status : release_block(e, f.address, err);
	default:
		status = nm_wire_realloc_decode(r, &re, err);
		if (!status && re.address && re.size)
			nm_layouts_resizes(e->output.layouts, re.old_address);
		if (!status && (re.address || !re.size))
			status = release_block(e, re.old_address, err);
		return status ? status : allocate_block(e, re.address, re.size, re.allocator, err);
	}
}

/* ---- address space ---- */

static int on_map(struct nm_engine *e, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_map w;
	int status = nm_wire_map_decode(r, &w, err);
	struct nm_mapping m = {0};
	uint64_t low, end;

	if (status)
		return status;
	m.address = w.address;
	m.end = w.address + w.bytes;
	m.offset = w.offset;
	m.executable = (w.flags & NM_WIRE_PROT_EXEC) != 0;
	m.shared = (w.flags & NM_WIRE_MAP_SHARED) != 0;
	m.path = nm_symbols_intern(e->symbols, w.path);
	if (!m.path)
		return nm_fail_memory(err);
	if (w.flags & NM_WIRE_MAP_STACK)
		m.path = NM_STACK_PATH;
	else if (m.path[0] == '/' && (w.flags & NM_WIRE_MAP_FILE)) {
		status = nm_symbols_module(e->symbols, m.path, NULL, 0, &m.file, err);
		if (status)
			return status;
		if (!nm_module_extent(m.file, &low, &end))
			m.file = NULL;
	} else if (!m.path[0] && enter_mapping_context(e, &m.context)) {
		return nm_fail_memory(err);
	}
	nm_resolver_forget_mappings(&e->replay.resolver);
	return nm_space_map(&e->space, &m) ? nm_fail_memory(err) : 0;
}

static int unmap_range(struct nm_engine *e, uint64_t address, uint64_t bytes, struct nm_error *err)
{
	if (e->has_pieces) {
		nm_space_end_pieces(&e->space, address, bytes);
		nm_resolver_forget_released_blocks(&e->replay.resolver);
	}
	nm_resolver_forget_mappings(&e->replay.resolver);
	for (size_t i = 0; i < e->space.mappings.count; i++) {
		const struct nm_mapping *m = &e->space.mappings.at[i];

		if (m->executable && m->address < address + bytes && address < m->end) {
			nm_attributions_forget_code(&e->attrs, m->address, m->end);
			nm_map_done(&e->sampled.frame_objects);
		}
	}
	return nm_space_unmap(&e->space, address, bytes) ? nm_fail_memory(err) : 0;
}

/* The record has mapped what is shared: pieces may be there. */
static int adopt_pieces(struct nm_engine *e, uint64_t address, uint64_t bytes, struct nm_error *err)
{
	return e->output.member && nm_member_adopt_pieces(e->output.member, address, bytes)
		   ? nm_fail_memory(err)
		   : 0;
}

static int on_remap(struct nm_engine *e, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_remap w;
	int status = nm_wire_remap_decode(r, &w, err);
	const struct nm_mapping *old;
	struct nm_mapping m;

	if (status)
		return status;
	old = nm_space_mapping(&e->space, w.old_address);
	m = old ? *old : (struct nm_mapping){.path = ""};
	if (old)
		m.offset += w.old_address - old->address;
	m.address = w.address;
	m.end = w.address + w.bytes;
	if (m.module)
		m.bias += w.address - w.old_address;
	status = unmap_range(e, w.old_address, w.old_bytes, err);
	if (!status && nm_space_map(&e->space, &m))
		status = nm_fail_memory(err);
	return status ? status : adopt_pieces(e, w.address, w.bytes, err);
}

/* Is the running thread in a function of malloc's family? */
static int in_allocator(const struct nm_engine *e)
{
	const struct nm_stack *s =
	    e->replay.running.thread ? nm_frames_stack(&e->replay.running.thread->frames) : NULL;

	for (size_t k = 0; s && k < s->frames.count; k++)
		if (e->space.objects.at[s->frames.at[k].caller].is_allocator)
			return 1;
	return 0;
}

/* The heap grows and shrinks at its end. Memory that an allocator adds is for its blocks; memory that the
 * program adds itself is an object, named by the call that added it. */
static int on_brk(struct nm_engine *e, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_brk w;
	int status = nm_wire_brk_decode(r, &w, err);
	struct nm_mapping m = {.path = ""};

	if (status)
		return status;
	if (w.end < e->space.heap_end) {
		status = unmap_range(e, w.end, e->space.heap_end - w.end, err);
		e->space.heap_end = w.end;
		return status;
	}
	m.address = e->space.heap_end > w.low ? e->space.heap_end : w.low;
	m.end = e->space.heap_end = w.end;
	if (in_allocator(e)) {
		m.allocator = 1;
		m.object = e->space.bookkeeping;
	} else if (enter_mapping_context(e, &m.context)) {
		return nm_fail_memory(err);
	}
	nm_resolver_forget_mappings(&e->replay.resolver);
	return nm_space_map(&e->space, &m) ? nm_fail_memory(err) : 0;
}

/* The module's file is known from its mapping; the build-id shows whether it is still the same file. */
static int on_module(struct nm_engine *e, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_module w;
	int status = nm_wire_module_decode(r, &w, err);
	struct nm_module *module;

	if (!status)
		status = nm_symbols_module(e->symbols, w.path, w.build_id_bytes ? w.build_id : NULL,
					   w.build_id_bytes, &module, err);
	if (status)
		return status;
	for (size_t i = 0; i < e->space.mappings.count; i++) {
		struct nm_mapping *m = &e->space.mappings.at[i];

		if (!m->file || m->identified || m->address < w.base || strcmp(m->path, w.path))
			continue;
		m->file = module;
		m->identified = 1;
		if (m->module)
			m->module = module;
		else if (nm_space_place_module(&e->space, m->address, 1))
			return nm_fail_memory(err);
	}
	return 0;
}

static int on_pages(struct nm_engine *e, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_pages w;
	int status = nm_wire_pages_decode(r, &w, err);

	if (status)
		return status;
	nm_resolver_forget_mappings(&e->replay.resolver);
	return nm_space_ask(&e->space, w.address, w.bytes, (uint8_t)(w.size + 1)) ? nm_fail_memory(err) : 0;
}

/* Areas of memory that the record adds, if a pass needs them: batches of before do not see them. 0 or a code. */
static int take_areas(struct nm_engine *e, const struct nm_wire_record *r, struct nm_error *err)
{
	enum nm_area_kind kind = NM_AREA_MAPPING;
	const char *path = NULL;
	struct nm_wire_remap remap;
	struct nm_wire_map map;
	struct nm_wire_brk brk;
	uint64_t low, end;
	int status;

	if (r->kind == NM_WIRE_MAP) {
		status = nm_wire_map_decode(r, &map, err);
		low = map.address;
		end = map.address + map.bytes;
		if (!status && map.flags & NM_WIRE_MAP_STACK)
			kind = NM_AREA_STACK;
		else if (!status && map.flags & NM_WIRE_MAP_FILE) {
			kind = NM_AREA_FILE;
			path = nm_symbols_intern(e->symbols, map.path);
			status = path ? 0 : nm_fail_memory(err);
		}
	} else if (r->kind == NM_WIRE_REMAP) {
		status = nm_wire_remap_decode(r, &remap, err);
		low = remap.address;
		end = remap.address + remap.bytes;
	} else {
		status = nm_wire_brk_decode(r, &brk, err);
		kind = NM_AREA_HEAP;
		low = brk.low;
		end = brk.end;
	}
	if (status || nm_areas_cover(&e->areas, low, end))
		return status;
	if (nm_engine_drain_threads(e) || nm_engine_drain_passes(e) ||
	    nm_areas_add(&e->areas, low, end, kind, path))
		return nm_fail_memory(err);
	return 0;
}

/* On one machine: what the process shares, or no longer, from here on. 0 or a code. */
static int reshare(struct nm_engine *e, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_machine_pages *pages = nm_member_pages(e->output.member);
	struct nm_wire_shared shared;
	struct nm_wire_unmap unmap;
	struct nm_wire_remap remap;
	struct nm_wire_map map;
	int status = nm_replay_flush(&e->replay);

	if (status)
		return nm_fail_memory(err);
	switch (r->kind) {
	case NM_WIRE_SHARED:
		status = nm_wire_shared_decode(r, &shared, err);
		return status ? status
			      : nm_machine_pages_share(pages, &(struct nm_object_part){
								  shared.address, shared.bytes, shared.device,
								  shared.inode, shared.offset});
	case NM_WIRE_MAP:
		status = nm_wire_map_decode(r, &map, err);
		return status ? status : nm_machine_pages_unshare(pages, map.address, map.bytes);
	case NM_WIRE_UNMAP:
		status = nm_wire_unmap_decode(r, &unmap, err);
		return status ? status : nm_machine_pages_unshare(pages, unmap.address, unmap.bytes);
	case NM_WIRE_REMAP:
		status = nm_wire_remap_decode(r, &remap, err);
		return status ? status
			      : nm_machine_pages_move(pages, remap.old_address, remap.old_bytes,
						      remap.address, remap.bytes);
	default: return 0;
	}
}

static int on_space(struct nm_engine *e, const struct nm_wire_record *r, struct nm_error *err)
{
	const int adds = r->kind == NM_WIRE_MAP || r->kind == NM_WIRE_REMAP || r->kind == NM_WIRE_BRK;
	struct nm_wire_shared shared;
	struct nm_wire_unmap u;
	int status = adds && e->feed.passes.needs & NM_PASS_AREAS ? take_areas(e, r, err) : 0;

	if (!status && e->output.member)
		status = reshare(e, r, err);
	if (status)
		return status;

	if (e->feed.passes.needs & NM_PASS_MEMORY) {
		if (nm_engine_drain_threads(e))
			return nm_fail_memory(err);
		e->feed.memory_changed = 1;
	}
	switch (r->kind) {
	case NM_WIRE_MAP: return on_map(e, r, err);
	case NM_WIRE_UNMAP:
		status = nm_wire_unmap_decode(r, &u, err);
		return status ? status : unmap_range(e, u.address, u.bytes, err);
	case NM_WIRE_REMAP: return on_remap(e, r, err);
	case NM_WIRE_BRK: return on_brk(e, r, err);
	case NM_WIRE_MODULE: return on_module(e, r, err);
	case NM_WIRE_PAGES: return on_pages(e, r, err);
	case NM_WIRE_SHARED:
		status = nm_wire_shared_decode(r, &shared, err);
		return status ? status : adopt_pieces(e, shared.address, shared.bytes, err);
	default: return 0; /* MODULE_GONE: its unmappings say the same */
	}
}

/* ---- code ---- */

/* Names generated code by the program's own map of it. */
static int name_generated(struct nm_engine *e, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_block_info info;
	struct nm_result_site site = {0};
	int status = nm_wire_block_decode(r, &info, err);
	const struct nm_mapping *m = status ? NULL : nm_space_mapping(&e->space, info.def.pc);

	if (status || (m && m->module))
		return status;
	status = nm_perf_map_find(&e->perf_map, e->symbols, e->process.pid, &info, &site.function);
	for (unsigned i = 0; i < info.def.instructions && site.function && !status; i++)
		status =
		    nm_attributions_name_site(&e->attrs, nm_wire_instruction_pc(info.instructions[i]), site);
	return status ? nm_fail_memory(err) : 0;
}

static int on_block_def(struct nm_engine *e, const struct nm_wire_record *r, struct nm_error *err)
{
	int status = nm_decoder_define(&e->replay.decoder, r, err);

	e->replay.builder.bursts.has_new_code = 1;
	nm_replay_watch_limits(&e->replay); /* it may be longer than those before */
	return status || !e->options.perf_maps ? status : name_generated(e, r, err);
}

/* ---- the program's marks ---- */

/* The source line of code outside of any module. */
static int on_place(struct nm_engine *e, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_place w;
	int status = nm_wire_place_decode(r, &w, err);
	struct nm_result_site place = {0};

	if (status)
		return status;
	place.line = w.line;
	place.function = w.function[0] ? nm_symbols_intern(e->symbols, w.function) : NULL;
	place.file = w.file[0] ? nm_symbols_intern(e->symbols, w.file) : NULL;
	if ((w.function[0] && !place.function) || (w.file[0] && !place.file) ||
	    nm_attributions_name_site(&e->attrs, w.pc, place))
		return nm_fail_memory(err);
	return 0;
}

static int on_region(struct nm_engine *e, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_region w;
	struct nm_thread *t = e->replay.running.thread;
	int status = nm_wire_region_decode(r, &w, err);
	const char *name;

	if (status || !t)
		return status;
	name = nm_symbols_intern(e->symbols, w.name);
	if (!name || (w.enter && nm_regions_begin(&e->regions, &t->open, e->symbols, name)))
		return nm_fail_memory(err);
	if (w.enter || nm_regions_end(&t->open, name))
		nm_replay_watch_region(&e->replay, w.enter, name);
	return nm_replay_choose_lane(&e->replay, t) ? nm_fail_memory(err) : 0;
}

static int on_mark(struct nm_engine *e, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_name name;
	struct nm_wire_unname gone;
	struct nm_wire_measure measure;
	struct nm_wire_lost lost;
	struct nm_wire_ran ran;
	int status = 0;

	switch (r->kind) {
	case NM_WIRE_NAME:
		status = nm_wire_name_decode(r, &name, err);
		nm_resolver_forget_ranges(&e->replay.resolver);
		if (!status && nm_space_name(&e->space, name.address, name.bytes, name.name))
			status = nm_fail_memory(err);
		break;
	case NM_WIRE_UNNAME:
		status = nm_wire_unname_decode(r, &gone, err);
		nm_resolver_forget_ranges(&e->replay.resolver);
		if (!status)
			nm_blocks_remove(&e->space.named, gone.address, NULL);
		break;
	case NM_WIRE_MEASURE:
		status = nm_wire_measure_decode(r, &measure, err);
		if (!status)
			nm_replay_ask(&e->replay, measure.on);
		break;
	case NM_WIRE_RAN:
		status = nm_wire_ran_decode(r, &ran, err);
		if (!status && nm_replay_turn(&e->replay))
			status = nm_fail_memory(err);
		if (!status) {
			if (e->replay.silent && !e->replay.outline) /* it stands for blocks (outline.h) */
				e->replay.running.last = &nm_no_last_block;
			e->replay.clock += ran.instructions;
			nm_replay_pass_over(&e->replay, e->replay.measuring ? 0 : ran.instructions);
		}
		break;
	default:
		status = nm_wire_lost_decode(r, &lost, err);
		if (!status)
			e->lost += lost.words;
	}
	return status;
}

int nm_engine_event(struct nm_engine *e, const struct nm_wire_record *r, struct nm_error *err)
{
	struct nm_wire_exit leave;
	struct nm_wire_fork fork;
	int status;

	assert(r->kind != NM_WIRE_BLOCK);
	if (r->kind != NM_WIRE_PROCESS && !e->started)
		return nm_fail(err, NM_EFORMAT, "the stream does not begin with a process");
	switch (r->kind) {
	case NM_WIRE_BLOCK_DEF: return on_block_def(e, r, err);
	case NM_WIRE_PROCESS: return on_process(e, r, err);
	case NM_WIRE_EXIT:
		status = nm_wire_exit_decode(r, &leave, err);
		if (!status)
			e->exit_status = (int)leave.status;
		return status;
	case NM_WIRE_FORK:
		status = nm_wire_fork_decode(r, &fork, err);
		return status ? status : nm_engine_fork(e, fork.ordinal, err);
	case NM_WIRE_EXEC: e->exit_status = 0; return 0;
	case NM_WIRE_THREAD_START: return on_thread_start(e, r, err);
	case NM_WIRE_THREAD_EXIT:
	case NM_WIRE_THREAD: return on_thread(e, r, err);
	case NM_WIRE_THREAD_POINTER: return on_thread_pointer(e, r, err);
	case NM_WIRE_ALLOC:
	case NM_WIRE_FREE:
	case NM_WIRE_REALLOC: return on_heap(e, r, err);
	case NM_WIRE_MAP:
	case NM_WIRE_UNMAP:
	case NM_WIRE_REMAP:
	case NM_WIRE_BRK:
	case NM_WIRE_MODULE:
	case NM_WIRE_MODULE_GONE:
	case NM_WIRE_SHARED:
	case NM_WIRE_PAGES: return on_space(e, r, err);
	case NM_WIRE_NAME:
	case NM_WIRE_UNNAME:
	case NM_WIRE_MEASURE:
	case NM_WIRE_RAN:
	case NM_WIRE_LOST: return on_mark(e, r, err);
	case NM_WIRE_REGION: return on_region(e, r, err);
	case NM_WIRE_PLACE: return on_place(e, r, err);
	case NM_WIRE_SYNC: return on_sync(e, r, err);
	case NM_WIRE_SIGNAL: return on_signal(e, r, err);
	case NM_WIRE_SAMPLING:
	case NM_WIRE_SAMPLE:
	case NM_WIRE_REUSE:
	case NM_WIRE_FRAMES:
	case NM_WIRE_CLOCK: return nm_engine_sampled(e, r, err);
	default: return 0;
	}
}
