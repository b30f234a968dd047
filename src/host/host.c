/* SPDX-License-Identifier: MIT
 *
 * host.c - reads the host's caches.
 *
 * sysfs has one folder per cache: level, type, size, ways_of_associativity, coherency_line_size,
 * number_of_sets. A virtual machine may report a size that is not sets * ways * line, or no ways: sets are
 * then computed from size, ways and line, and 0 ways mean fully associative. Without sysfs the C library tells
 * sizes and lines, but often not the ways: usual ones are taken then.
 */
#include "host.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Pages of 4K that the last TLB of a core holds: the least of the x86-64 servers and desktops of the last ten years
 * (docs/machines.md). */
enum { HOST_TLB = 1536 };

/* What the prefetchers of processors of this kind cover. */
#if defined(__x86_64__)
enum { HOST_PREFETCHERS = NM_PREFETCHER_ALL };
#else
enum { HOST_PREFETCHERS = NM_PREFETCHER_STREAM | NM_PREFETCHER_STRIDE };
#endif

/* What a file of a cache's folder says, without its line feed; 0 if there is nothing. */
static int read_cache_file(const char *directory, unsigned index, const char *name, char *ret_text,
			   size_t room)
{
	char path[300];
	FILE *file;
	int found;

	snprintf(path, sizeof path, "%s/index%u/%s", directory, index, name);
	file = fopen(path, "re");
	if (!file)
		return 0;
	found = fgets(ret_text, (int)room, file) != NULL;
	fclose(file);
	if (found)
		ret_text[strcspn(ret_text, "\n")] = '\0';
	return found;
}

/* A number with the suffixes that the kernel uses. */
static uint64_t tell_number(const char *directory, unsigned index, const char *name)
{
	char text[40], *end;
	uint64_t value;

	if (!read_cache_file(directory, index, name, text, sizeof text))
		return 0;
	value = strtoull(text, &end, 10);
	if (*end == 'K')
		value <<= 10;
	else if (*end == 'M')
		value <<= 20;
	return value;
}

/* Completes a level from its size, ways and line; 0 if that makes no cache. */
static int complete_level(struct nm_level_spec *level)
{
	if (!level->size || !level->line)
		return 0;
	if (!level->ways)
		level->ways = (uint32_t)(level->size / level->line);
	level->sets = level->size / ((uint64_t)level->ways * level->line);
	level->size = level->sets * level->ways * level->line;
	return level->sets > 0;
}

/* A cache as level of a machine; 0 if it is none. */
static int read_level(const char *directory, unsigned index, struct nm_level_spec *ret_level)
{
	struct nm_level_spec level = {0};
	char type[24];
	unsigned depth = (unsigned)tell_number(directory, index, "level");

	if (!depth || depth > 9 || !read_cache_file(directory, index, "type", type, sizeof type))
		return 0;
	if (!strcmp(type, "Data"))
		level.side = NM_SIDE_DATA;
	else if (!strcmp(type, "Instruction"))
		level.side = NM_SIDE_INSTRUCTION;
	else if (!strcmp(type, "Unified"))
		level.side = NM_SIDE_UNIFIED;
	else
		return 0;
	snprintf(level.name, sizeof level.name, "L%u%s", depth,
		 level.side == NM_SIDE_UNIFIED ? ""
		 : level.side == NM_SIDE_DATA  ? "d"
					       : "i");
	level.size = tell_number(directory, index, "size");
	level.ways = (uint32_t)tell_number(directory, index, "ways_of_associativity");
	level.line = (uint32_t)tell_number(directory, index, "coherency_line_size");
	if (!complete_level(&level))
		return 0;
	*ret_level = level;
	return 1;
}

/* From the processor outwards, instructions before data: "L1i", "L1d", "L2". */
static int compare_levels(const void *a, const void *b)
{
	const struct nm_level_spec *s = a, *y = b;

	if (s->name[1] != y->name[1])
		return s->name[1] - y->name[1];
	return (int)y->side - (int)s->side;
}

int nm_machine_from_sysfs(const char *directory, struct nm_machine *ret_machine, struct nm_error *err)
{
	struct nm_machine machine = {.name = "host",
				     .description = "this machine's caches, as Linux tells them",
				     .prefetchers = HOST_PREFETCHERS,
				     .tlb = HOST_TLB};
	unsigned index;

	assert(directory && ret_machine);
	for (index = 0; index < 16 && machine.count < NM_MAX_LEVELS; index++)
		machine.count += (unsigned)read_level(directory, index, &machine.levels[machine.count]);
	qsort(machine.levels, machine.count, sizeof *machine.levels, compare_levels);
	if (!machine.count || nm_machine_check(&machine, NULL))
		return nm_fail(err, NM_ENOENT, "%s lists no caches that can be simulated", directory);
	*ret_machine = machine;
	return 0;
}

static int from_sysconf(struct nm_machine *ret_machine)
{
	static const struct {
		const char *name;
		enum nm_level_side side;
		int size, ways, line;
		uint32_t usual_ways;
	} known[] = {
	    {"L1i", NM_SIDE_INSTRUCTION, _SC_LEVEL1_ICACHE_SIZE, _SC_LEVEL1_ICACHE_ASSOC,
	     _SC_LEVEL1_ICACHE_LINESIZE, 8},
	    {"L1d", NM_SIDE_DATA, _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL1_DCACHE_ASSOC, _SC_LEVEL1_DCACHE_LINESIZE,
	     8},
	    {"L2", NM_SIDE_UNIFIED, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL2_CACHE_ASSOC, _SC_LEVEL2_CACHE_LINESIZE,
	     8},
	    {"L3", NM_SIDE_UNIFIED, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL3_CACHE_ASSOC, _SC_LEVEL3_CACHE_LINESIZE,
	     16},
	};
	struct nm_machine machine = {.name = "host",
				     .description = "this machine's caches, as the C library tells them",
				     .prefetchers = HOST_PREFETCHERS,
				     .tlb = HOST_TLB};
	size_t i;

	for (i = 0; i < sizeof known / sizeof *known; i++) {
		struct nm_level_spec *level = &machine.levels[machine.count];
		long size = sysconf(known[i].size), ways = sysconf(known[i].ways),
		     line = sysconf(known[i].line);

		memset(level, 0, sizeof *level);
		snprintf(level->name, sizeof level->name, "%s", known[i].name);
		level->side = known[i].side;
		level->size = size > 0 ? (uint64_t)size : 0;
		level->ways = ways > 0 ? (uint32_t)ways : known[i].usual_ways;
		level->line = line > 0 ? (uint32_t)line : 0;
		machine.count += (unsigned)complete_level(level);
	}
	if (!machine.count || nm_machine_check(&machine, NULL))
		return NM_ENOENT;
	*ret_machine = machine;
	return 0;
}

int nm_machine_host(struct nm_machine *ret_machine, struct nm_error *err)
{
	const struct nm_machine *fallback;

	assert(ret_machine);
	if (!nm_machine_from_sysfs("/sys/devices/system/cpu/cpu0/cache", ret_machine, NULL) ||
	    !from_sysconf(ret_machine))
		return 0;
	fallback = nm_machine_named("cachegrind");
	if (!fallback)
		return nm_fail(err, NM_ENOENT,
			       "the system does not describe its caches: give --machine or --cache");
	*ret_machine = *fallback;
	ret_machine->prefetchers = HOST_PREFETCHERS;
	ret_machine->tlb = HOST_TLB;
	snprintf(ret_machine->name, sizeof ret_machine->name, "host");
	snprintf(ret_machine->description, sizeof ret_machine->description,
		 "the system does not describe its caches: those of the machine \"%s\" are taken",
		 fallback->name);
	return 0;
}
