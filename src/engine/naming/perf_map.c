/* SPDX-License-Identifier: MIT
 *
 * The map grows while the program runs, so what is new is read when a block is defined that has no name. Code may be
 * generated again where other code was: the map then has several entries for an address, and the blocks that
 * begin there have different instructions or accesses. The n-th different block has the n-th entry; one like an
 * earlier block has that one's.
 */
#include "perf_map.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol.h"

enum { MOST_BYTES = 64 << 20, PIECE = 1 << 16, UNSORTED = 1024, CANDIDATES = 64 };

void nm_perf_map_done(struct nm_perf_map *map)
{
	if (map->is_open)
		close(map->fd);
	nm_vec_free(&map->list);
	nm_vec_free(&map->by_low);
	nm_map_done(&map->versions);
	nm_map_done(&map->known);
	*map = (struct nm_perf_map){0};
}

/* As the process sees it, then as we do. A file of another user, or no regular one, is none. */
static void open_map(struct nm_perf_map *map, uint32_t pid)
{
	char paths[2][64];
	struct stat st;

	snprintf(paths[0], sizeof paths[0], "/proc/%u/root/tmp/perf-%u.map", pid, pid);
	snprintf(paths[1], sizeof paths[1], "/tmp/perf-%u.map", pid);
	for (unsigned i = 0; i < 2 && !map->is_open; i++) {
		map->fd = open(paths[i], O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		map->is_open =
		    map->fd >= 0 && !fstat(map->fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid();
		if (map->fd >= 0 && !map->is_open)
			close(map->fd);
	}
}

static int take_line(struct nm_perf_map *map, struct nm_symbols *symbols, char *line)
{
	struct nm_perf_entry entry;
	char *at;

	entry.low = strtoull(line, &at, 16);
	if (at == line || *at != ' ')
		return 0;
	entry.end = entry.low + strtoull(at, &at, 16);
	if (*at != ' ' || entry.end <= entry.low || !at[1])
		return 0;
	entry.name = nm_symbols_intern(symbols, at + 1);
	if (entry.end - entry.low > map->longest)
		map->longest = entry.end - entry.low;
	return entry.name ? nm_vec_push(&map->list, entry) : NM_ENOMEM;
}

/* Takes the whole lines of a piece. The number of their bytes, or -1: out of memory. */
static ssize_t take_lines(struct nm_perf_map *map, struct nm_symbols *symbols, char *text, size_t bytes)
{
	char *at = text, *end;

	while ((end = memchr(at, '\n', bytes - (size_t)(at - text)))) {
		*end = '\0';
		if (take_line(map, symbols, at))
			return -1;
		at = end + 1;
	}
	return at - text;
}

static int read_more(struct nm_perf_map *map, struct nm_symbols *symbols)
{
	char text[PIECE];
	ssize_t n, taken = 1;

	while (taken > 0 && map->read < MOST_BYTES) {
		n = pread(map->fd, text, sizeof text, (off_t)map->read);
		taken = n > 0 ? take_lines(map, symbols, text, (size_t)n) : 0;
		if (taken < 0)
			return NM_ENOMEM;
		map->read += (uint64_t)taken;
	}
	if (map->list.count - map->by_low.count < UNSORTED)
		return 0;
	for (size_t i = map->by_low.count; i < map->list.count; i++)
		if (nm_vec_push(&map->by_low, ((struct nm_keyed){map->list.at[i].low, i})))
			return NM_ENOMEM;
	return nm_sort_by_key(map->by_low.at, map->by_low.count);
}

static int by_index(const void *a, const void *b)
{
	const size_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void consider_entry(const struct nm_perf_map *map, size_t i, uint64_t pc, size_t *found,
			   unsigned *count)
{
	assert(i < map->list.count);
	if (*count < CANDIDATES && pc - map->list.at[i].low < map->list.at[i].end - map->list.at[i].low)
		found[(*count)++] = i;
}

/* Indices of the entries that hold pc, in the file's order. */
static unsigned candidate_entries(const struct nm_perf_map *map, uint64_t pc, size_t found[CANDIDATES])
{
	size_t low = 0, high = map->by_low.count;
	unsigned count = 0;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (map->by_low.at[middle].key <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	while (low > 0 && pc - map->by_low.at[low - 1].key < map->longest)
		consider_entry(map, map->by_low.at[--low].value, pc, found, &count);
	for (size_t i = map->by_low.count; i < map->list.count; i++)
		consider_entry(map, i, pc, found, &count);
	qsort(found, count, sizeof *found, by_index);
	return count;
}

static uint64_t hash_of(const struct nm_wire_block_info *block)
{
	uint64_t hash = nm_mix64(block->def.pc);

	for (unsigned i = 0; i < block->def.instructions; i++)
		hash = nm_mix64(hash ^ block->instructions[i]);
	for (unsigned i = 0; i < block->def.accesses; i++)
		hash = nm_mix64(hash ^ block->accesses[i]);
	return hash;
}

int nm_perf_map_find(struct nm_perf_map *map, struct nm_symbols *symbols, uint32_t pid,
		     const struct nm_wire_block_info *block, const char **ret_name)
{
	const uint64_t hash = hash_of(block), pc = block->def.pc;
	uint64_t known = nm_map_get(&map->known, hash, 0), version;
	size_t found[CANDIDATES];
	unsigned count;

	*ret_name = NULL;
	if (!map->is_open)
		open_map(map, pid);
	if (!known && map->is_open) {
		if (read_more(map, symbols))
			return NM_ENOMEM;
		version = nm_map_get(&map->versions, pc, 0);
		count = candidate_entries(map, pc, found);
		if (!count)
			return 0;
		known = found[version < count ? version : count - 1] + 1;
		if (nm_map_put(&map->versions, pc, version + 1) || nm_map_put(&map->known, hash, known))
			return NM_ENOMEM;
	}
	if (known)
		*ret_name = map->list.at[known - 1].name;
	return 0;
}
