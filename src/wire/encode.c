/* SPDX-License-Identifier: MIT
 *
 * A record is a header, some words and at most a few strings. append_record() reserves the room of the whole
 * record first, so that nothing can fail halfway.
 */
#include "encode.h"

#include <assert.h>
#include <string.h>

struct part { /* of a payload: words or bytes, zero-padded to whole words */
	const void *at;
	size_t bytes;
};

static size_t words_of(size_t bytes) { return bytes / 8 + (bytes % 8 != 0); }

static struct part words_part(const uint64_t *at, size_t words) { return (struct part){at, words * 8}; }

static struct part text_part(const char *s) { return (struct part){s, strlen(s) + 1}; }

static void put_parts(struct nm_wire_words *to, struct part part)
{
	size_t words = words_of(part.bytes);

	if (!words)
		return;
	assert(to->count + words <= to->room);
	to->at[to->count + words - 1] = 0;
	memcpy(to->at + to->count, part.at, part.bytes);
	to->count += words;
}

static int append_record(struct nm_wire_words *to, enum nm_wire_kind kind, uint32_t arg, size_t parts,
			 const struct part *part)
{
	size_t words = 0, start;

	assert(kind < NM_WIRE_HEADER_BIT >> 56); /* seven bits */
	for (size_t i = 0; i < parts; i++) {
		words += words_of(part[i].bytes);
		if (words > NM_WIRE_MAX_PAYLOAD)
			return NM_EINVAL;
	}
	if (nm_vec_reserve(to, 1 + words))
		return NM_ENOMEM;
	start = to->count;
	to->at[to->count++] = nm_wire_header(kind, arg, kind == NM_WIRE_BLOCK ? 0 : (uint32_t)words);
	for (size_t i = 0; i < parts; i++)
		put_parts(to, part[i]);
	assert(to->count == start + 1 + words);
	return 0;
}

/* A record of some words and perhaps a string. */
#define APPEND(to, kind, arg, text, ...)                                           \
	append_fixed((to), (kind), (arg), (text), (const uint64_t[]){__VA_ARGS__}, \
		     sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static int append_fixed(struct nm_wire_words *to, enum nm_wire_kind kind, uint32_t arg, const char *text,
			const uint64_t *words, size_t count)
{
	struct part parts[2] = {words_part(words, count)};

	if (text)
		parts[1] = text_part(text);
	return append_record(to, kind, arg, text ? 2 : 1, parts);
}

int nm_wire_encode(struct nm_wire_words *to, enum nm_wire_kind kind, uint32_t arg, const uint64_t *payload,
		   size_t words)
{
	return append_fixed(to, kind, arg, NULL, payload, words);
}

int nm_wire_block_def_encode(struct nm_wire_words *to, const struct nm_wire_block_info *block)
{
	struct part parts[] = {{&block->def, sizeof block->def},
			       words_part(block->instructions, block->def.instructions),
			       words_part(block->accesses, block->def.accesses),
			       words_part(block->exits, block->def.exits)};

	return append_record(to, NM_WIRE_BLOCK_DEF, block->id, 4, parts);
}

int nm_wire_block_encode(struct nm_wire_words *to, uint32_t id, const uint64_t *addresses, size_t count)
{
	return nm_wire_encode(to, NM_WIRE_BLOCK, id, addresses, count);
}

int nm_wire_process_encode(struct nm_wire_words *to, const struct nm_wire_process *process,
			   const char *const *argv)
{
	const uint64_t head[] = {process->version, process->pid, process->parent, process->ordinal,
				 process->argc};
	struct nm_vec(struct part) parts = {0};
	int status = nm_vec_push(&parts, words_part(head, 5)) ||
		     nm_vec_push(&parts, text_part(process->executable)) ||
		     nm_vec_push(&parts, text_part(process->directory));

	for (uint32_t i = 0; !status && i < process->argc; i++)
		status = nm_vec_push(&parts, text_part(argv[i]));
	status =
	    status ? NM_ENOMEM : append_record(to, NM_WIRE_PROCESS, process->start, parts.count, parts.at);
	nm_vec_free(&parts);
	return status;
}

int nm_wire_fork_encode(struct nm_wire_words *to, const struct nm_wire_fork *f)
{
	return APPEND(to, NM_WIRE_FORK, 0, NULL, f->child, f->ordinal);
}

int nm_wire_exec_encode(struct nm_wire_words *to, const struct nm_wire_exec *e)
{
	return append_fixed(to, NM_WIRE_EXEC, 0, e->path, NULL, 0);
}

int nm_wire_exit_encode(struct nm_wire_words *to, const struct nm_wire_exit *e)
{
	return nm_wire_encode(to, NM_WIRE_EXIT, e->status, NULL, 0);
}

int nm_wire_thread_start_encode(struct nm_wire_words *to, const struct nm_wire_thread_start *s)
{
	return APPEND(to, NM_WIRE_THREAD_START, s->thread, NULL, s->parent, s->stack_low, s->stack_end);
}

int nm_wire_thread_exit_encode(struct nm_wire_words *to, const struct nm_wire_thread *t)
{
	return nm_wire_encode(to, NM_WIRE_THREAD_EXIT, t->thread, NULL, 0);
}

int nm_wire_thread_encode(struct nm_wire_words *to, const struct nm_wire_thread *t)
{
	return nm_wire_encode(to, NM_WIRE_THREAD, t->thread, NULL, 0);
}

int nm_wire_thread_pointer_encode(struct nm_wire_words *to, const struct nm_wire_thread_pointer *p)
{
	return APPEND(to, NM_WIRE_THREAD_POINTER, p->thread, NULL, p->value);
}

int nm_wire_signal_encode(struct nm_wire_words *to, const struct nm_wire_signal *s)
{
	return APPEND(to, NM_WIRE_SIGNAL, s->number, NULL, s->stack_pointer);
}

int nm_wire_alloc_encode(struct nm_wire_words *to, const struct nm_wire_alloc *a)
{
	return APPEND(to, NM_WIRE_ALLOC, a->allocator, NULL, a->address, a->size, a->entry);
}

int nm_wire_free_encode(struct nm_wire_words *to, const struct nm_wire_free *f)
{
	return APPEND(to, NM_WIRE_FREE, f->allocator, NULL, f->address);
}

int nm_wire_realloc_encode(struct nm_wire_words *to, const struct nm_wire_realloc *r)
{
	return APPEND(to, NM_WIRE_REALLOC, r->allocator, NULL, r->old_address, r->address, r->size, r->entry);
}

int nm_wire_map_encode(struct nm_wire_words *to, const struct nm_wire_map *m)
{
	return APPEND(to, NM_WIRE_MAP, m->flags, m->path, m->address, m->bytes, m->offset);
}

int nm_wire_unmap_encode(struct nm_wire_words *to, const struct nm_wire_unmap *u)
{
	return APPEND(to, NM_WIRE_UNMAP, 0, NULL, u->address, u->bytes);
}

int nm_wire_remap_encode(struct nm_wire_words *to, const struct nm_wire_remap *r)
{
	return APPEND(to, NM_WIRE_REMAP, 0, NULL, r->old_address, r->old_bytes, r->address, r->bytes);
}

int nm_wire_brk_encode(struct nm_wire_words *to, const struct nm_wire_brk *b)
{
	return APPEND(to, NM_WIRE_BRK, 0, NULL, b->low, b->end);
}

int nm_wire_module_encode(struct nm_wire_words *to, const struct nm_wire_module *m)
{
	struct part parts[] = {words_part(&m->base, 1), {m->build_id, m->build_id_bytes}, text_part(m->path)};

	return append_record(to, NM_WIRE_MODULE, m->build_id_bytes, 3, parts);
}

int nm_wire_module_gone_encode(struct nm_wire_words *to, const struct nm_wire_module_gone *g)
{
	return APPEND(to, NM_WIRE_MODULE_GONE, 0, NULL, g->base);
}

int nm_wire_name_encode(struct nm_wire_words *to, const struct nm_wire_name *n)
{
	return APPEND(to, NM_WIRE_NAME, 0, n->name, n->address, n->bytes);
}

int nm_wire_unname_encode(struct nm_wire_words *to, const struct nm_wire_unname *u)
{
	return APPEND(to, NM_WIRE_UNNAME, 0, NULL, u->address);
}

int nm_wire_region_encode(struct nm_wire_words *to, const struct nm_wire_region *r)
{
	assert(r->enter == 0 || r->enter == 1);
	return append_fixed(to, NM_WIRE_REGION, (uint32_t)r->enter, r->name, NULL, 0);
}

int nm_wire_measure_encode(struct nm_wire_words *to, const struct nm_wire_measure *m)
{
	assert(m->on == 0 || m->on == 1);
	return nm_wire_encode(to, NM_WIRE_MEASURE, (uint32_t)m->on, NULL, 0);
}

int nm_wire_lost_encode(struct nm_wire_words *to, const struct nm_wire_lost *l)
{
	return APPEND(to, NM_WIRE_LOST, 0, NULL, l->words);
}

int nm_wire_place_encode(struct nm_wire_words *to, const struct nm_wire_place *p)
{
	const uint64_t head[] = {p->pc, p->line};
	struct part parts[] = {words_part(head, 2), text_part(p->function), text_part(p->file)};

	return append_record(to, NM_WIRE_PLACE, 0, 3, parts);
}

int nm_wire_pages_encode(struct nm_wire_words *to, const struct nm_wire_pages *p)
{
	return APPEND(to, NM_WIRE_PAGES, p->size, NULL, p->address, p->bytes);
}

int nm_wire_shared_encode(struct nm_wire_words *to, const struct nm_wire_shared *s)
{
	return APPEND(to, NM_WIRE_SHARED, 0, NULL, s->address, s->bytes, s->device, s->inode, s->offset);
}

int nm_wire_ran_encode(struct nm_wire_words *to, const struct nm_wire_ran *r)
{
	return APPEND(to, NM_WIRE_RAN, 0, NULL, r->instructions);
}

static uint64_t code_word(const struct nm_wire_code *code)
{
	assert(!(code->pc >> 48) && code->bytes < 1u << 15);
	return code->pc | (uint64_t)code->bytes << 48 | (code->writes ? NM_WIRE_CODE_WRITES : 0);
}

int nm_wire_sampling_encode(struct nm_wire_words *to, const struct nm_wire_sampling *s)
{
	return APPEND(to, NM_WIRE_SAMPLING, 0, NULL, s->rate, s->line, s->seed);
}

int nm_wire_sample_encode(struct nm_wire_words *to, const struct nm_wire_sample *s)
{
	return APPEND(to, NM_WIRE_SAMPLE, 0, NULL, s->clock, s->address, code_word(&s->code));
}

int nm_wire_reuse_encode(struct nm_wire_words *to, const struct nm_wire_reuse *r)
{
	return APPEND(to, NM_WIRE_REUSE, 0, NULL, r->clock, r->address, code_word(&r->code), r->sample);
}

int nm_wire_frames_encode(struct nm_wire_words *to, const struct nm_wire_frames *f)
{
	struct part parts[] = {words_part(&f->ended, 1),
			       words_part((const uint64_t *)f->calls, 2 * (size_t)f->count)};

	return append_record(to, NM_WIRE_FRAMES, 0, 2, parts);
}

int nm_wire_clock_encode(struct nm_wire_words *to, const struct nm_wire_clock *c)
{
	return APPEND(to, NM_WIRE_CLOCK, 0, NULL, c->references);
}

int nm_wire_sync_event_encode(struct nm_wire_words *to, const struct nm_wire_sync_event *e)
{
	return APPEND(to, NM_WIRE_SYNC, e->what, NULL, e->object);
}
