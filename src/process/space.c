/* SPDX-License-Identifier: MIT
 *
 * space.c - see space.h. Look-ups here are the slow path: the engine caches lasting answers in inline cache
 * entries, so an access to one variable asks once.
 */
#include "space.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static int new_object(struct nm_space *space, struct nm_object object, uint32_t *ret_object)
{
	if (nm_vec_push(&space->objects, object))
		return NM_ENOMEM;
	*ret_object = (uint32_t)(space->objects.count - 1);
	return 0;
}

int nm_space_init(struct nm_space *space, struct nm_symbols *symbols)
{
	uint32_t none;

	memset(space, 0, sizeof *space);
	space->symbols = symbols;
	if (nm_blocks_init(&space->heap) || nm_blocks_init(&space->chunks) || nm_blocks_init(&space->named) ||
	    new_object(space, (struct nm_object){.kind = NM_OBJECT_UNKNOWN, .name = "<unknown>"}, &none))
		return NM_ENOMEM;
	if (new_object(space, (struct nm_object){.kind = NM_OBJECT_ANONYMOUS, .name = "<heap bookkeeping>"},
		       &space->bookkeeping))
		return NM_ENOMEM;
	return new_object(space, (struct nm_object){.kind = NM_OBJECT_UNMEASURED, .name = "<not measured>"},
			  &space->unmeasured);
}

void nm_space_done(struct nm_space *space)
{
	nm_vec_free(&space->objects);
	nm_vec_free(&space->mappings);
	nm_vec_free(&space->tls);
	nm_vec_free(&space->static_tls);
	nm_blocks_done(&space->heap);
	nm_blocks_done(&space->chunks);
	nm_blocks_done(&space->named);
	nm_map_done(&space->variables);
	nm_map_done(&space->by_name);
	nm_map_done(&space->buckets);
	nm_map_done(&space->frames);
	nm_map_done(&space->threadlocal);
	nm_map_done(&space->sections);
}

static int copy_vectors(struct nm_space *to, const struct nm_space *from)
{
	if (nm_vec_reserve(&to->objects, from->objects.count) ||
	    nm_vec_reserve(&to->mappings, from->mappings.count) ||
	    nm_vec_reserve(&to->tls, from->tls.count) ||
	    nm_vec_reserve(&to->static_tls, from->static_tls.count))
		return NM_ENOMEM;
	for (size_t i = 0; i < from->objects.count; i++)
		to->objects.at[to->objects.count++] = from->objects.at[i];
	for (size_t i = 0; i < from->mappings.count; i++)
		to->mappings.at[to->mappings.count++] = from->mappings.at[i];
	for (size_t i = 0; i < from->tls.count; i++)
		to->tls.at[to->tls.count++] = from->tls.at[i];
	for (size_t i = 0; i < from->static_tls.count; i++)
		to->static_tls.at[to->static_tls.count++] = from->static_tls.at[i];
	return 0;
}

int nm_space_copy(struct nm_space *to, const struct nm_space *from)
{
	assert(to != from);
	memset(to, 0, sizeof *to);
	to->symbols = from->symbols;
	to->bookkeeping = from->bookkeeping;
	to->unmeasured = from->unmeasured;
	to->heap_end = from->heap_end;
	to->mapped = from->mapped;
	if (copy_vectors(to, from) || nm_blocks_copy(&to->heap, &from->heap) ||
	    nm_blocks_copy(&to->chunks, &from->chunks) || nm_blocks_copy(&to->named, &from->named) ||
	    nm_map_copy(&to->variables, &from->variables) || nm_map_copy(&to->by_name, &from->by_name) ||
	    nm_map_copy(&to->buckets, &from->buckets) || nm_map_copy(&to->frames, &from->frames) ||
	    nm_map_copy(&to->threadlocal, &from->threadlocal) || nm_map_copy(&to->sections, &from->sections))
		return NM_ENOMEM;
	return 0;
}

void nm_space_forget_chains(struct nm_space *space)
{
	for (size_t i = 0; i < space->objects.count; i++)
		space->objects.at[i].chain = 0;
	nm_map_done(&space->buckets);
}

/* The object stored in `map` under key, made from `fresh` if there is none. */
static int object_of(struct nm_space *space, struct nm_map *map, uint64_t key, struct nm_object fresh,
		     uint32_t *ret_object)
{
	uint64_t known = nm_map_get(map, key, 0);
	uint32_t object;

	if (known) {
		*ret_object = (uint32_t)known;
		return 0;
	}
	if (new_object(space, fresh, &object) || nm_map_put(map, key, object))
		return NM_ENOMEM;
	*ret_object = object;
	return 0;
}

static int object_named(struct nm_space *space, const char *name, struct nm_object fresh,
			uint32_t *ret_object)
{
	fresh.name = nm_symbols_intern(space->symbols, name);
	if (!fresh.name)
		return NM_ENOMEM;
	return object_of(space, &space->by_name, (uintptr_t)fresh.name, fresh, ret_object);
}

/* ---- thread-local storage ---- */

static int add_tls(struct nm_space *space, struct nm_tls_block block)
{
	size_t i = space->tls.count;

	if (nm_vec_reserve(&space->tls, 1))
		return NM_ENOMEM;
	while (i > 0 && space->tls.at[i - 1].address > block.address) {
		space->tls.at[i] = space->tls.at[i - 1];
		i--;
	}
	space->tls.at[i] = block;
	space->tls.count++;
	return 0;
}

/* The first block that ends after address, or NULL. */
static const struct nm_tls_block *next_tls(const struct nm_space *space, uint64_t address)
{
	size_t low = 0, high = space->tls.count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (space->tls.at[mid].end > address)
			high = mid;
		else
			low = mid + 1;
	}
	return low < space->tls.count ? &space->tls.at[low] : NULL;
}

/* The next module in the order in which they were mapped, after one that was mapped as `born`. */
static const struct nm_mapping *mapped_next(const struct nm_space *space, uint32_t born)
{
	const struct nm_mapping *next = NULL;

	for (size_t i = 0; i < space->mappings.count; i++) {
		const struct nm_mapping *m = &space->mappings.at[i];

		if (m->module && m->born > born && (!next || m->born < next->born))
			next = m;
	}
	return next;
}

/* Static TLS on x86-64 (variant II of the ELF TLS document, section 3.4.6): the blocks of the modules that
 * are there when the first thread gets its pointer lie below it, in the order in which they were mapped. A block
 * that fits goes into the gap that the alignment of an earlier one has left, as glibc's
 * _dl_determine_tlsoffset does. A module loaded later gets a block from the heap, which stays a heap block. */
static int lay_out_tls(struct nm_space *space)
{
	uint64_t used = 0, gap = 0, gap_end = 0; /* distances below the pointer */
	uint32_t born = 0;

	for (const struct nm_mapping *m; (m = mapped_next(space, born));) {
		struct nm_tls_block block = {.module = m->module};
		uint64_t align, at;
		size_t k = 0;

		born = m->born;
		while (k < space->static_tls.count && space->static_tls.at[k].module != m->module)
			k++;
		if (k < space->static_tls.count || !nm_module_tls(m->module, &block.end, &align))
			continue;
		align += !align;
		at = (gap + block.end + align - 1) / align * align;
		if (gap_end - gap >= block.end && at <= gap_end) {
			gap = at;
		} else {
			at = (used + block.end + align - 1) / align * align;
			if (at - used - block.end > gap_end - gap) {
				gap = used;
				gap_end = at - block.end;
			}
			used = at;
		}
		block.address = -at;
		block.end -= at;
		if (nm_vec_push(&space->static_tls, block))
			return NM_ENOMEM;
	}
	return 0;
}

int nm_space_thread(struct nm_space *space, uint64_t thread_pointer)
{
	if (!space->static_tls.count && lay_out_tls(space))
		return NM_ENOMEM;
	for (size_t i = 0; i < space->tls.count;) /* a reused thread pointer */
		if (space->tls.at[i].end > thread_pointer - (1u << 20) &&
		    space->tls.at[i].end <= thread_pointer) {
			memmove(&space->tls.at[i], &space->tls.at[i + 1],
				(space->tls.count - i - 1) * sizeof space->tls.at[0]);
			space->tls.count--;
		} else {
			i++;
		}
	for (size_t i = 0; i < space->static_tls.count; i++) {
		struct nm_tls_block block = space->static_tls.at[i];

		block.address += thread_pointer;
		block.end += thread_pointer;
		if (add_tls(space, block))
			return NM_ENOMEM;
	}
	return 0;
}

/* ---- places ---- */

static const char *declared_at(struct nm_space *space, const char *file, uint32_t line)
{
	char text[4200];

	if (!file)
		return NULL;
	snprintf(text, sizeof text, "%s:%u", file, line);
	return nm_symbols_intern(space->symbols, text);
}

static enum nm_object_kind kind_of_variable(enum nm_variable_kind kind)
{
	switch (kind) {
	case NM_VAR_STATIC: return NM_OBJECT_STATIC;
	case NM_VAR_THREAD_LOCAL: return NM_OBJECT_THREAD_LOCAL;
	case NM_VAR_SECTION: return NM_OBJECT_LIBRARY_DATA;
	default: return NM_OBJECT_GLOBAL;
	}
}

static struct nm_object object_of_variable(struct nm_space *space, const struct nm_variable *v)
{
	return (struct nm_object){.kind = kind_of_variable(v->kind),
				  .name = v->name,
				  .type = v->type,
				  .at = declared_at(space, v->file, v->line),
				  .bytes = v->end - v->low};
}

/* The object for a module's section, apart from its variables. Both texts are interned: their addresses are
 * the key. */
static int module_data(struct nm_space *space, struct nm_module *module, const char *section,
		       uint32_t *ret_object)
{
	uint64_t key = nm_mix64((uintptr_t)module) ^ (uintptr_t)section;
	uint64_t known = nm_map_get(&space->sections, key, 0);
	char name[512];

	if (known) {
		*ret_object = (uint32_t)known;
		return 0;
	}
	snprintf(name, sizeof name, "%s %s", nm_module_name(module), section);
	if (object_named(space, name, (struct nm_object){.kind = NM_OBJECT_LIBRARY_DATA}, ret_object))
		return NM_ENOMEM;
	return nm_map_put(&space->sections, key, *ret_object);
}

/* The object of a variable, described when it is first seen. */
static int variable_object(struct nm_space *space, struct nm_map *map, uint64_t key,
			   const struct nm_variable *v, uint32_t *ret_object)
{
	uint64_t known = nm_map_get(map, key, 0);

	if (!known)
		return object_of(space, map, key, object_of_variable(space, v), ret_object);
	*ret_object = (uint32_t)known;
	return 0;
}

/* The key of a variable: another library may be loaded at the address of one that is gone. */
static uint64_t variable_key(const struct nm_module *module, uint64_t vaddr)
{
	return nm_mix64((uintptr_t)module) ^ vaddr;
}

static int find_variable(struct nm_space *space, const struct nm_mapping *m, uint64_t address,
			 struct nm_location *ret_location)
{
	struct nm_variable v;
	struct nm_location p = {.lasting = 1, .low = address, .end = address + 1};

	if (!nm_module_variable(m->module, address - m->bias, &v)) {
		if (module_data(space, m->module, "data", &p.object))
			return NM_ENOMEM;
	} else {
		p.low = v.low + m->bias;
		p.end = v.end + m->bias;
		if (v.kind == NM_VAR_SECTION) {
			if (module_data(space, m->module, v.name, &p.object))
				return NM_ENOMEM;
		} else if (variable_object(space, &space->variables, variable_key(m->module, v.low), &v,
					   &p.object)) {
			return NM_ENOMEM;
		}
	}
	*ret_location = p;
	return 0;
}

static int find_threadlocal(struct nm_space *space, const struct nm_tls_block *block, uint64_t address,
			    struct nm_location *ret_location)
{
	struct nm_variable v;
	struct nm_location p = {.lasting = 1, .low = address, .end = address + 1};

	if (nm_module_tls_variable(block->module, address - block->address, &v)) {
		p.low = block->address + v.low;
		p.end = block->address + v.end;
		if (variable_object(space, &space->threadlocal, (uintptr_t)v.name, &v, &p.object))
			return NM_ENOMEM;
	} else if (module_data(space, block->module, "thread-local data", &p.object)) {
		return NM_ENOMEM;
	}
	*ret_location = p;
	return 0;
}

static int variable_in(struct nm_module *module, uint64_t start, uint64_t address, int is_thread_local,
		       struct nm_variable *v, struct nm_space_variable *to)
{
	uint64_t at = address - start;

	if (!(is_thread_local ? nm_module_tls_variable(module, at, v) : nm_module_variable(module, at, v)) ||
	    v->kind == NM_VAR_SECTION)
		return 0;
	to->low = start + v->low;
	to->end = start + v->end;
	to->alignment = v->alignment;
	to->type = nm_module_variable_type(module, v->low, is_thread_local);
	return 1;
}

int nm_space_variable(struct nm_space *space, uint64_t address, struct nm_space_variable *to)
{
	const struct nm_tls_block *tls = next_tls(space, address);
	const struct nm_mapping *m = nm_space_mapping(space, address);
	struct nm_variable v;

	if (tls && tls->address <= address) {
		if (!variable_in(tls->module, tls->address, address, 1, &v, to))
			return 0;
		to->object = (uint32_t)nm_map_get(&space->threadlocal, (uintptr_t)v.name, 0);
	} else {
		if (!m || !m->module || !variable_in(m->module, m->bias, address, 0, &v, to))
			return 0;
		to->object = (uint32_t)nm_map_get(&space->variables, variable_key(m->module, v.low), 0);
	}
	return to->object != 0;
}

/* The object of a mapping as a whole. */
static int whole_mapping(struct nm_space *space, struct nm_mapping *m)
{
	struct nm_object fresh = {.bytes = m->end - m->address};
	char name[4200];

	if (m->allocator) {
		m->object = space->bookkeeping;
		return 0;
	}
	if (!strcmp(m->path, NM_STACK_PATH)) { /* what lies above the first frame */
		fresh.kind = NM_OBJECT_STACK;
		return object_named(space, "<arguments and environment>", fresh, &m->object);
	}
	if (m->path[0]) {
		snprintf(name, sizeof name, "mapped %s", m->path);
		fresh.kind = NM_OBJECT_MAPPED;
		return object_named(space, name, fresh, &m->object);
	}
	fresh.kind = NM_OBJECT_ANONYMOUS;
	fresh.context = m->context;
	fresh.largest = fresh.bytes;
	if (!m->context)
		return object_named(space, "<anonymous memory>", fresh, &m->object);
	return object_of(space, &space->buckets, m->context | 1ull << 32, fresh, &m->object);
}

/* Narrows the range of an answer in a mapping without a module to what lies between thread-local blocks. */
static void narrow_location(const struct nm_space *space, const struct nm_mapping *m, uint64_t address,
			    struct nm_location *location)
{
	const struct nm_tls_block *next = next_tls(space, address);
	size_t before = next ? (size_t)(next - space->tls.at) : space->tls.count;

	location->lasting = !m->allocator && !space->named.live;
	location->page = m->allocator && !space->named.live;
	location->low = m->address;
	location->end = m->end;
	if (before && space->tls.at[before - 1].end > m->address)
		location->low = space->tls.at[before - 1].end;
	if (next && next->address < m->end)
		location->end = next->address;
}

int nm_space_find(struct nm_space *space, uint64_t address, struct nm_location *ret_location)
{
	const struct nm_tls_block *tls;
	struct nm_mapping *m;
	struct nm_block block;
	const int named = space->named.live && nm_blocks_find(&space->named, address, &block);

	if (named || nm_blocks_find(&space->heap, address, &block)) {
		*ret_location = (struct nm_location){.object = block.object,
						     .low = block.address,
						     .end = block.address + block.size,
						     .heap = !space->named.live,
						     .large = space->named.live ? 0 : block.large};
		ret_location->lasting = named && !space->mappings.count; /* a loop nest, a foreign trace */
		return 0;
	}
	if (space->chunks.live && nm_blocks_find(&space->chunks, address, &block)) {
		*ret_location = (struct nm_location){.object = block.object,
						     .low = block.address,
						     .end = block.address + block.size,
						     .page = !space->named.live};
		return 0;
	}
	tls = next_tls(space, address);
	if (tls && tls->address <= address)
		return find_threadlocal(space, tls, address, ret_location);
	m = nm_space_mapping(space, address);
	if (!m) {
		*ret_location =
		    (struct nm_location){.object = NM_OBJECT_NONE, .low = address, .end = address + 1};
		return 0;
	}
	if (m->module)
		return find_variable(space, m, address, ret_location);
	if (!m->object && whole_mapping(space, m))
		return NM_ENOMEM;
	*ret_location = (struct nm_location){.object = m->object};
	narrow_location(space, m, address, ret_location);
	return 0;
}

void nm_space_remember(struct nm_space *space, uint64_t address, const struct nm_location *location)
{
	struct nm_recent_locations *r = &space->recall;
	size_t i = address >> 4 & (sizeof r->ranges / sizeof r->ranges[0] - 1);
	size_t k = address >> 12 & (sizeof r->pages / sizeof r->pages[0] - 1);
	uint64_t page = address & ~(uint64_t)4095;

	if (location->lasting) {
		r->ranges[i].low = location->low;
		r->ranges[i].end = location->end;
		r->ranges[i].object = location->object;
	} else if (location->page && location->low <= page && page + 4096 <= location->end) {
		r->pages[k].page = (address >> 12) + 1;
		r->pages[k].object = location->object;
	}
}

void nm_space_forget(struct nm_space *space) { memset(&space->recall, 0, sizeof space->recall); }

/* ---- heap, names, frames ---- */

int nm_is_allocator(const char *function)
{
	static const char *const names[] = {
	    "malloc",        "calloc",       "realloc",        "aligned_alloc",
	    "memalign",      "valloc",       "posix_memalign", "free",
	    "_int_malloc",   "sysmalloc",    "_int_free",      "__libc_malloc",
	    "__libc_calloc", "_int_realloc", "__libc_realloc", NULL};

	for (size_t i = 0; names[i]; i++)
		if (!strcmp(function, names[i]))
			return 1;
	return 0;
}

int nm_space_bucket(struct nm_space *space, uint32_t context, uint32_t chain, uint32_t *ret_object)
{
	return object_of(space, &space->buckets, (uint64_t)chain << 32 | context,
			 (struct nm_object){.kind = NM_OBJECT_HEAP, .context = context, .chain = chain},
			 ret_object);
}

int nm_space_give(struct nm_space *space, uint64_t address, uint64_t size, uint32_t object)
{
	struct nm_mapping *m = nm_space_mapping(space, address);
	struct nm_object *o = &space->objects.at[object];

	if (size > o->largest)
		o->largest = size;
	if (m && !m->allocator) {
		if (!m->shared)
			m->object = space->bookkeeping;
		else if (!m->object && whole_mapping(space, m))
			return NM_ENOMEM;
		m->allocator = 1;
	}
	return nm_blocks_add(&space->heap, address, size, object);
}

int nm_space_alloc(struct nm_space *space, uint64_t address, uint64_t size, uint32_t context, uint32_t chain)
{
	struct nm_object *o;
	uint32_t object;

	if (nm_space_bucket(space, context, chain, &object))
		return NM_ENOMEM;
	o = &space->objects.at[object];
	o->blocks++;
	o->bytes += size;
	return nm_space_give(space, address, size, object);
}

int nm_space_name(struct nm_space *space, uint64_t address, uint64_t bytes, const char *name)
{
	struct nm_object *o;
	uint32_t object;

	if (object_named(space, name, (struct nm_object){.kind = NM_OBJECT_NAMED}, &object))
		return NM_ENOMEM;
	o = &space->objects.at[object];
	o->blocks++;
	o->bytes += bytes;
	if (bytes > o->largest)
		o->largest = bytes;
	return nm_blocks_add(&space->named, address, bytes, object);
}

int nm_is_trampoline(const char *function)
{
	const size_t n = strlen(function);
	const char *end = n >= 4 ? function + n - 4 : function; /* mold's symbols end in "$plt" */

	return !strcmp(end, "@plt") || !strcmp(end, "$plt") || !strncmp(function, "_dl_runtime_resolve", 19);
}

/* Whether it is longjmp, which continues in an earlier caller. */
static int is_longjmp(const char *function)
{
	function += strspn(function, "_");
	return !strcmp(function, "longjmp") || !strcmp(function, "longjmp_chk") ||
	       !strcmp(function, "siglongjmp");
}

/* The objects of a function's local variables, behind its stack object. */
static int add_locals(struct nm_space *space, const struct nm_locals *locals, uint32_t frame)
{
	for (uint32_t i = 0; i < locals->count; i++) {
		const struct nm_local *l = &locals->at[i];

		if (nm_vec_push(&space->objects,
				((struct nm_object){.kind = NM_OBJECT_LOCAL,
						    .name = l->name,
						    .type = l->type,
						    .at = declared_at(space, l->file, l->line),
						    .bytes = l->bytes,
						    .frame = frame})))
			return NM_ENOMEM;
	}
	return 0;
}

int nm_space_frame_object(struct nm_space *space, const char *function, int nameless,
			  const struct nm_locals *locals, uint32_t *ret_object)
{
	char name[4200];
	uint64_t key = (uintptr_t)function ^ (locals ? nm_mix64((uintptr_t)locals) : 0);
	uint64_t known = nm_map_get(&space->frames, key, 0);
	struct nm_object fresh = {.kind = NM_OBJECT_STACK,
				  .locals = locals,
				  .is_allocator = (uint8_t)nm_is_allocator(function),
				  .copies = strstr(function, "memcpy") || strstr(function, "memmove"),
				  .clears = strstr(function, "memset") != NULL,
				  .is_trampoline = (uint8_t)nm_is_trampoline(function),
				  .leaps = (uint8_t)is_longjmp(function),
				  .nameless = nameless != 0};

	if (known) {
		*ret_object = (uint32_t)known;
		return 0;
	}
	snprintf(name, sizeof name, NM_STACK_OF "%s", function);
	fresh.name = nm_symbols_intern(space->symbols, name);
	if (!fresh.name || object_of(space, &space->frames, key, fresh, ret_object))
		return NM_ENOMEM;
	return locals ? add_locals(space, locals, *ret_object) : 0;
}

struct nm_frame_part nm_space_frame_part(const struct nm_space *space, uint32_t stack_object,
					 uint64_t distance)
{
	const struct nm_locals *locals = space->objects.at[stack_object].locals;
	struct nm_frame_part part = {stack_object, 0, UINT64_MAX};

	assert(stack_object < space->objects.count);
	for (uint32_t i = locals ? locals->count : 0; i-- > 0; part.low = locals->at[i].below) {
		const struct nm_local *l = &locals->at[i];

		if (distance < l->below - l->bytes) {
			part.end = l->below - l->bytes;
			return part;
		}
		if (distance < l->below)
			return (struct nm_frame_part){stack_object + 1 + i, l->below - l->bytes, l->below};
	}
	return part;
}

int nm_space_code_object(struct nm_space *space, const char *module, uint32_t *ret_object)
{
	char name[4200];

	snprintf(name, sizeof name, "code of %s", module);
	return object_named(space, name, (struct nm_object){.kind = NM_OBJECT_CODE}, ret_object);
}
