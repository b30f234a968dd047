/* SPDX-License-Identifier: MIT
 *
 * arena.c - see arena.h. Blocks of 64 KB, larger ones for larger requests.
 */
#include "arena.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "map.h"

struct nm_arena_block {
	struct nm_arena_block *next;
	size_t bytes; /* of data */
	_Alignas(16) unsigned char data[];
};

enum { BLOCK = 65536 };

void *nm_arena_alloc(struct nm_arena *arena, size_t bytes)
{
	struct nm_arena_block *b = arena->blocks;
	size_t need = (bytes + 15) & ~(size_t)15;
	void *at;

	assert(!b || arena->used <= b->bytes);
	if (need < bytes)
		return NULL;
	if (!b || b->bytes - arena->used < need) {
		size_t size = need > BLOCK ? need : BLOCK;

		if (size > SIZE_MAX - sizeof *b)
			return NULL;
		b = calloc(1, sizeof *b + size);
		if (!b)
			return NULL;
		b->bytes = size;
		b->next = arena->blocks;
		arena->blocks = b;
		arena->used = 0;
	}
	at = b->data + arena->used;
	arena->used += need;
	return at;
}

void nm_arena_done(struct nm_arena *arena)
{
	while (arena->blocks) {
		struct nm_arena_block *next = arena->blocks->next;

		free(arena->blocks);
		arena->blocks = next;
	}
	arena->used = 0;
}

/* FNV-1a, mixed. */
static uint64_t hash_text(const char *text, size_t n)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)text[i]) * 0x100000001b3ull;
	return nm_mix64(h);
}

/* Makes room for one more text. */
static int strings_grow(struct nm_strings *pool)
{
	const size_t room = pool->room ? pool->room * 2 : 128;
	const char **list;

	if (pool->index.count < pool->room)
		return 0;
	list = room < UINT32_MAX ? realloc(pool->list, room * sizeof *list) : NULL;
	if (!list)
		return -1;
	pool->list = list;
	pool->room = room;
	return 0;
}

const char *nm_intern_n(struct nm_strings *pool, const char *text, size_t n)
{
	uint64_t hash;
	uint32_t i;
	char *copy;

	assert(text || !n);
	n = strnlen(text, n);
	hash = hash_text(text, n);
	for (size_t at = 0; nm_hash_index_next(&pool->index, hash, &at, &i);)
		if (!strncmp(pool->list[i], text, n) && !pool->list[i][n])
			return pool->list[i];
	copy = strings_grow(pool) ? NULL : nm_arena_alloc(&pool->arena, n + 1);
	if (!copy || nm_hash_index_add(&pool->index, hash, (uint32_t)pool->index.count))
		return NULL;
	memcpy(copy, text, n);
	return pool->list[pool->index.count - 1] = copy;
}

const char *nm_intern(struct nm_strings *pool, const char *text)
{
	return nm_intern_n(pool, text, strlen(text));
}

const char *nm_intern_vformat(struct nm_strings *pool, const char *format, va_list args)
{
	const char *interned;
	char *text;

	if (vasprintf(&text, format, args) < 0)
		return NULL;
	interned = nm_intern(pool, text);
	free(text);
	return interned;
}

const char *nm_intern_format(struct nm_strings *pool, const char *format, ...)
{
	const char *interned;
	va_list args;

	va_start(args, format);
	interned = nm_intern_vformat(pool, format, args);
	va_end(args);
	return interned;
}

void nm_strings_done(struct nm_strings *pool)
{
	nm_arena_done(&pool->arena);
	nm_hash_index_done(&pool->index);
	free(pool->list);
	*pool = (struct nm_strings){0};
}
