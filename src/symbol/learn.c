/* SPDX-License-Identifier: MIT
 *
 * learn.c - takes notes of an earlier run (book.h) in, and looks answers up in them.
 *
 * Ranges that nest (a symbol inside another) are told apart as the tables that they are from do it: the
 * innermost wins.  The lists are flattened when they are first asked after more was learned.
 */
#include <stdlib.h>
#include <string.h>

#include "book.h"

struct lesson {
	struct nm_symbols *symbols;
	const uint8_t *at, *end;
	int broken, exhausted;
};

/* What the pieces before have told: texts and modules by number, and starts of ranges. */
struct pupil {
	struct nm_vec(const char *) texts;
	struct nm_vec(struct nm_module *) modules;
	struct nm_vec(const struct nm_type *) types;
	uint64_t last[ITEM_KINDS];
	unsigned begun, completed; /* runs */
};

static void answers_free(struct answers *a)
{
	nm_vec_free(&a->told);
	nm_vec_free(&a->flat);
}

void learned_free(struct learned *l)
{
	if (!l)
		return;
	answers_free(&l->functions);
	answers_free(&l->positions);
	answers_free(&l->variables);
	answers_free(&l->tls_variables);
	answers_free(&l->frames);
	nm_vec_free(&l->frame_list);
	nm_vec_free(&l->function_list);
	nm_vec_free(&l->position_list);
	nm_vec_free(&l->chains);
	nm_vec_free(&l->variable_list);
	nm_map_done(&l->digests);
	nm_map_done(&l->code_at);
	nm_vec_free(&l->code);
	nm_map_done(&l->variable_types);
	nm_map_done(&l->allocated);
	nm_map_done(&l->allocated_types);
	nm_map_done(&l->nothing);
	free(l);
}

void pupil_free(struct pupil *p)
{
	if (!p)
		return;
	nm_vec_free(&p->texts);
	nm_vec_free(&p->modules);
	nm_vec_free(&p->types);
	free(p);
}

/* ---- reading ---- */

static uint64_t get(struct lesson *l)
{
	uint64_t n = 0;

	for (unsigned shift = 0; l->at < l->end && shift < 64; shift += 7) {
		uint8_t byte = *l->at++;

		n |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return n;
	}
	l->broken = 1;
	return 0;
}

static const uint8_t *get_bytes(struct lesson *l, size_t *ret_count)
{
	uint64_t n = get(l);
	const uint8_t *at = l->at;

	if (n > (size_t)(l->end - l->at)) {
		l->broken = 1;
		n = 0;
	}
	l->at += n;
	*ret_count = (size_t)n;
	return at;
}

static const char *get_text(struct lesson *l)
{
	const struct pupil *p = l->symbols->pupil;
	uint64_t n = get(l);

	l->broken |= n > p->texts.count;
	return n && n <= p->texts.count ? p->texts.at[n - 1] : NULL;
}

static uint32_t get_line(struct lesson *l)
{
	uint64_t n = get(l);

	l->broken |= n > UINT32_MAX;
	return (uint32_t)n;
}

static struct nm_module *get_module(struct lesson *l)
{
	const struct pupil *p = l->symbols->pupil;
	uint64_t n = get(l);

	if (n && n <= p->modules.count)
		return p->modules.at[n - 1];
	l->broken = 1;
	return NULL;
}

/* ---- learning ---- */

static void learn_text(struct lesson *l)
{
	size_t n;
	const uint8_t *bytes = get_bytes(l, &n);
	const char *text = l->broken ? NULL : nm_intern_n(&l->symbols->pool, (const char *)bytes, n);

	if (!l->broken && (!text || nm_vec_push(&l->symbols->pupil->texts, text)))
		l->exhausted = 1;
}

static void learn_segments(struct lesson *l, struct nm_module *module)
{
	uint64_t count = get(l);

	for (uint64_t i = 0; i < count && !l->broken; i++) {
		struct segment s = {.offset = get(l), .vaddr = 0};

		s.vaddr = get(l);
		s.file_bytes = get(l);
		s.bytes = get(l);
		s.executable = get(l) != 0;
		l->broken |= s.vaddr + s.bytes < s.vaddr || s.offset + s.file_bytes < s.offset;
		if (!l->broken && nm_vec_push(&module->segments, s))
			l->exhausted = 1;
	}
}

/* The module that an earlier run has told of, or a new one. */
static struct nm_module *find_module(struct lesson *l, const char *path, const uint8_t *id, size_t bytes)
{
	const struct nm_symbols *s = l->symbols;
	struct nm_module *m;

	for (size_t i = 0; i < s->modules.count; i++) {
		m = s->modules.at[i];
		if (m->learned && m->path == path && m->wanted_id_bytes == bytes &&
		    !memcmp(m->wanted_id, id, bytes))
			return m;
	}
	m = module_new(l->symbols, path);
	if (m && !(m->learned = calloc(1, sizeof *m->learned)))
		return NULL;
	if (m) {
		m->wanted_id_bytes = bytes;
		memcpy(m->wanted_id, id, bytes);
	}
	return m;
}

static void learn_module(struct lesson *l)
{
	const char *path = get_text(l);
	size_t bytes;
	const uint8_t *id = get_bytes(l, &bytes);
	struct nm_module *m;

	l->broken |= !path || bytes > BUILD_ID_MAX;
	if (l->broken)
		return;
	m = find_module(l, path, id, bytes);
	if (!m || nm_vec_push(&l->symbols->pupil->modules, m)) {
		l->exhausted = 1;
		return;
	}
	m->had_file = get(l) != 0;
	m->modified = (int64_t)get(l);
	m->segments.count = 0;
	learn_segments(l, m);
	m->tls_bytes = get(l);
	m->tls_image_bytes = get(l);
	m->tls_align = get(l);
}

/* Module, start and length of a range, which is then in the kind's list under `id`. */
static struct learned *learn_range(struct lesson *l, enum item kind, struct span *ret_span)
{
	struct pupil *p = l->symbols->pupil;
	struct nm_module *module = get_module(l);
	uint64_t distance = get(l), low = p->last[kind] + (distance >> 1 ^ -(distance & 1));

	*ret_span = (struct span){low, low + get(l), 0};
	p->last[kind] = low;
	l->broken |= ret_span->end < low;
	return l->broken ? NULL : module->learned;
}

static void keep(struct lesson *l, struct answers *answers, struct span span, size_t id)
{
	span.id = (uint32_t)id;
	if (!l->broken && nm_vec_push(&answers->told, span))
		l->exhausted = 1;
}

static void learn_function(struct lesson *l)
{
	struct span span;
	struct learned *of = learn_range(l, ITEM_FUNCTION, &span);
	struct nm_function f = {.low = span.low, .end = span.end};

	f.name = get_text(l);
	f.linkage_name = get_text(l);
	l->broken |= !f.name || !f.linkage_name;
	if (!of || l->broken)
		return;
	if (nm_vec_push(&of->function_list, f))
		l->exhausted = 1;
	else
		keep(l, &of->functions, span, of->function_list.count - 1);
}

static void learn_positions(struct lesson *l)
{
	struct span span;
	struct learned *of = learn_range(l, ITEM_POSITIONS, &span);
	uint64_t count = get(l);
	struct learned_positions chain = {0};

	l->broken |= count > POSITIONS_MAX;
	if (!of || l->broken)
		return;
	chain.first = (uint32_t)of->position_list.count;
	chain.count = (uint32_t)count;
	for (uint64_t i = 0; i < count; i++) {
		struct nm_position p = {.function = get_text(l)};

		p.file = get_text(l);
		p.line = get_line(l);
		if (nm_vec_push(&of->position_list, p))
			l->exhausted = 1;
	}
	if (nm_vec_push(&of->chains, chain))
		l->exhausted = 1;
	else
		keep(l, &of->positions, span, of->chains.count - 1);
}

static void learn_variable(struct lesson *l, enum item kind)
{
	struct span span;
	struct learned *of = learn_range(l, kind, &span);
	struct nm_variable v = {.low = span.low, .end = span.end};
	uint64_t which;

	v.name = get_text(l);
	v.type = get_text(l);
	v.file = get_text(l);
	v.line = get_line(l);
	which = get(l);
	l->broken |= !v.name || which > NM_VAR_SECTION;
	if (!of || l->broken)
		return;
	v.kind = (enum nm_variable_kind)which;
	if (nm_vec_push(&of->variable_list, v))
		l->exhausted = 1;
	else
		keep(l, kind == ITEM_VARIABLE ? &of->variables : &of->tls_variables, span,
		     of->variable_list.count - 1);
}

static void learn_level(struct lesson *l)
{
	struct nm_module *module = get_module(l);
	uint64_t level = get(l);

	l->broken |= level > NM_DEBUG_DWARF;
	if (module && !l->broken)
		module->learned->level = (enum nm_debug_level)level;
}

static void learn_digest(struct lesson *l)
{
	struct nm_module *module = get_module(l);
	const char *file = get_text(l), *digest = get_text(l);

	l->broken |= !file || !digest;
	if (module && !l->broken && nm_map_put(&module->learned->digests, (uintptr_t)file, (uintptr_t)digest))
		l->exhausted = 1;
}

static void learn_nothing(struct lesson *l)
{
	struct nm_module *module = get_module(l);
	uint64_t kind = get(l), about = kind == ITEM_DIGEST ? (uintptr_t)get_text(l) : get(l);

	l->broken |= kind >= ITEM_KINDS;
	if (module && !l->broken &&
	    nm_map_put(&module->learned->nothing, book_question((enum item)kind, about), 1))
		l->exhausted = 1;
}

static void learn_code(struct lesson *l)
{
	struct nm_module *module = get_module(l);
	uint64_t low = get(l);
	size_t bytes;
	const uint8_t *at = get_bytes(l, &bytes);
	struct learned *of = module ? module->learned : NULL;

	if (!of || l->broken)
		return;
	if (nm_vec_reserve(&of->code, sizeof bytes + bytes) ||
	    nm_map_put(&of->code_at, low, of->code.count)) {
		l->exhausted = 1;
		return;
	}
	memcpy(of->code.at + of->code.count, &bytes, sizeof bytes);
	if (bytes)
		memcpy(of->code.at + of->code.count + sizeof bytes, at, bytes);
	of->code.count += sizeof bytes + bytes;
}

static void learn_field(struct lesson *l, int is_frame, struct nm_field *ret_field)
{
	struct nm_field f = {.name = get_text(l)};
	uint64_t times;

	f.offset = get(l);
	f.bytes = get(l);
	f.stride = get(l);
	times = get(l);
	f.count = (uint32_t)times;
	if (is_frame) {
		f.type = get_text(l);
		f.type_bytes = get(l);
		f.type_offset = get(l);
		l->broken |= !f.type || f.offset < f.type_offset;
	}
	l->broken |= !f.name || !times || times > UINT32_MAX || (times > 1 && !f.stride);
	*ret_field = f;
}

static void learn_type(struct lesson *l, int is_frame)
{
	enum { MOST_FIELDS = 1 << 16 };
	struct nm_type type = {.name = get_text(l)};
	const struct nm_type *known;
	struct nm_field *fields;
	uint64_t count;

	type.bytes = get(l);
	count = get(l);
	l->broken |= !type.name || !type.bytes || !count || count > MOST_FIELDS;
	fields = l->broken ? NULL : calloc(count, sizeof *fields);
	if (l->broken)
		return;
	for (uint64_t i = 0; fields && i < count; i++)
		learn_field(l, is_frame, &fields[i]);
	type.fields = fields;
	type.field_count = (uint32_t)count;
	known = fields && !l->broken ? type_intern(l->symbols, &type) : NULL;
	if (!l->broken && (!known || nm_vec_push(&l->symbols->pupil->types, known)))
		l->exhausted = 1;
	free(fields);
}

static const struct nm_type *get_type(struct lesson *l)
{
	const struct pupil *p = l->symbols->pupil;
	uint64_t n = get(l);

	l->broken |= n > p->types.count;
	return n && n <= p->types.count ? p->types.at[n - 1] : NULL;
}

static void learn_variable_type(struct lesson *l)
{
	struct nm_module *module = get_module(l);
	uint64_t vaddr = get(l), is_thread_local = get(l);
	const struct nm_type *type = get_type(l);

	l->broken |= is_thread_local > 1;
	if (module && !l->broken &&
	    nm_map_put(&module->learned->variable_types, vaddr * 2 + is_thread_local, (uintptr_t)type))
		l->exhausted = 1;
}

static void learn_frame_type(struct lesson *l)
{
	struct span span;
	struct learned *of = learn_range(l, ITEM_FRAME_TYPE, &span);
	const struct nm_type *type = get_type(l);

	if (!of || l->broken)
		return;
	if (nm_vec_push(&of->frame_list, type))
		l->exhausted = 1;
	else
		keep(l, &of->frames, span, of->frame_list.count - 1);
}

static void learn_allocated(struct lesson *l)
{
	struct nm_module *module = get_module(l);
	uint64_t vaddr = get(l), bytes = get(l), what = get(l), key = book_allocation(vaddr, bytes);
	const struct nm_type *type = get_type(l);

	l->broken |= what > NM_ALLOCATED_OTHER || (what == NM_ALLOCATED_STRUCTURE && !type);
	if (module && !l->broken &&
	    (nm_map_put(&module->learned->allocated, key, what) ||
	     nm_map_put(&module->learned->allocated_types, key, (uintptr_t)type)))
		l->exhausted = 1;
}

static void learn_begin(struct lesson *l)
{
	struct pupil *p = l->symbols->pupil;

	p->texts.count = p->modules.count = p->types.count = 0;
	memset(p->last, 0, sizeof p->last);
	p->begun++;
	l->symbols->complete = 0;
}

static void learn_item(struct lesson *l)
{
	struct pupil *p = l->symbols->pupil;
	uint64_t kind = get(l);

	switch (kind) {
	case ITEM_TEXT: learn_text(l); return;
	case ITEM_MODULE: learn_module(l); return;
	case ITEM_LEVEL: learn_level(l); return;
	case ITEM_FUNCTION: learn_function(l); return;
	case ITEM_POSITIONS: learn_positions(l); return;
	case ITEM_VARIABLE:
	case ITEM_TLS_VARIABLE: learn_variable(l, (enum item)kind); return;
	case ITEM_CODE: learn_code(l); return;
	case ITEM_DIGEST: learn_digest(l); return;
	case ITEM_NOTHING: learn_nothing(l); return;
	case ITEM_TYPE:
	case ITEM_LOCALS: learn_type(l, kind == ITEM_LOCALS); return;
	case ITEM_FRAME_TYPE: learn_frame_type(l); return;
	case ITEM_VARIABLE_TYPE: learn_variable_type(l); return;
	case ITEM_ALLOCATED: learn_allocated(l); return;
	case ITEM_BEGIN: learn_begin(l); return;
	case ITEM_COMPLETE:
		p->completed++;
		l->symbols->complete = p->completed == p->begun;
		return;
	default: l->broken = 1;
	}
}

int nm_symbols_learn(struct nm_symbols *symbols, const uint8_t *bytes, size_t count, struct nm_error *err)
{
	struct lesson l = {symbols, bytes, bytes + count, 0, 0};

	if (!symbols->pupil && !(symbols->pupil = calloc(1, sizeof *symbols->pupil)))
		return nm_fail_memory(err);
	while (l.at < l.end && !l.broken && !l.exhausted)
		learn_item(&l);
	if (l.exhausted)
		return nm_fail_memory(err);
	return l.broken ? nm_fail(err, NM_EFORMAT, "the names are damaged") : 0;
}

void nm_symbols_expect(struct nm_symbols *symbols, int more) { symbols->expecting = more; }

/* ---- looking up ---- */

static const struct span *find(struct answers *a, uint64_t address)
{
	if (a->flattened < a->told.count) {
		a->flat.count = 0;
		if (nm_vec_reserve(&a->flat, a->told.count))
			return NULL;
		memcpy(a->flat.at, a->told.at, a->told.count * sizeof *a->told.at);
		a->flat.count = a->told.count;
		if (spans_flatten(&a->flat))
			return NULL;
		a->flattened = a->told.count;
	}
	return spans_find(&a->flat, address);
}

const struct nm_function *learned_function(struct nm_module *module, uint64_t vaddr)
{
	struct learned *l = module->learned;
	const struct span *span = l ? find(&l->functions, vaddr) : NULL;

	return span ? &l->function_list.at[span->id] : NULL;
}

const struct learned_positions *learned_positions(struct nm_module *module, uint64_t vaddr)
{
	struct learned *l = module->learned;
	const struct span *span = l ? find(&l->positions, vaddr) : NULL;

	return span ? &l->chains.at[span->id] : NULL;
}

int learned_nothing(const struct nm_module *module, enum item kind, uint64_t about)
{
	const struct learned *l = module->learned;

	return l && nm_map_get(&l->nothing, book_question(kind, about), 0);
}

const char *learned_digest(const struct nm_module *module, const char *file)
{
	const struct learned *l = module->learned;

	return l ? (const char *)(uintptr_t)nm_map_get(&l->digests, (uintptr_t)file, 0) : NULL;
}

size_t learned_code(struct nm_module *module, uint64_t vaddr, uint8_t *ret_bytes, size_t room)
{
	const struct learned *l = module->learned;
	uint64_t where = l ? nm_map_get(&l->code_at, vaddr, UINT64_MAX) : UINT64_MAX;
	size_t bytes;

	if (where == UINT64_MAX)
		return 0;
	memcpy(&bytes, l->code.at + where, sizeof bytes);
	bytes = bytes < room ? bytes : room;
	memcpy(ret_bytes, l->code.at + where + sizeof bytes, bytes);
	return bytes;
}

const struct nm_variable *learned_variable(struct nm_module *module, uint64_t vaddr, int is_thread_local)
{
	struct learned *l = module->learned;
	const struct span *span = l ? find(is_thread_local ? &l->tls_variables : &l->variables, vaddr) : NULL;

	return span ? &l->variable_list.at[span->id] : NULL;
}

int learned_variable_type(struct nm_module *module, uint64_t vaddr, int is_thread_local,
			  const struct nm_type **ret_type)
{
	const struct learned *l = module->learned;
	uint64_t known =
	    l ? nm_map_get(&l->variable_types, vaddr * 2 + (is_thread_local != 0), UINT64_MAX) : UINT64_MAX;

	if (known == UINT64_MAX)
		return 0;
	*ret_type = (const struct nm_type *)(uintptr_t)known;
	return 1;
}

int learned_frame_type(struct nm_module *module, uint64_t vaddr, const struct nm_type **ret_type)
{
	struct learned *l = module->learned;
	const struct span *span = l ? find(&l->frames, vaddr) : NULL;

	if (!span)
		return 0;
	*ret_type = l->frame_list.at[span->id];
	return 1;
}

int learned_allocated(struct nm_module *module, uint64_t vaddr, uint64_t bytes, enum nm_allocated *ret_what,
		      const struct nm_type **ret_type)
{
	const struct learned *l = module->learned;
	uint64_t key = book_allocation(vaddr, bytes),
		 known = l ? nm_map_get(&l->allocated, key, UINT64_MAX) : UINT64_MAX;

	if (known == UINT64_MAX)
		return 0;
	*ret_what = (enum nm_allocated)known;
	*ret_type = (const struct nm_type *)(uintptr_t)nm_map_get(&l->allocated_types, key, 0);
	return 1;
}
