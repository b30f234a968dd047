/* SPDX-License-Identifier: MIT
 *
 * own_program.c - see own_program.h.
 */
#include "own_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nearmiss/wire.h"

uint64_t own_program_mappings(void (*tell)(void *arg, const struct nm_wire_map *map), void *arg,
			      char path[4200])
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4400], flags[8], mapped[4200];
	unsigned long long low, end, offset, base = 0;

	if (!maps || !realpath("/proc/self/exe", path))
		return 0;
	while (fgets(line, sizeof line, maps)) {
		if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %4199s", &low, &end, flags, &offset, mapped) !=
			5 ||
		    strcmp(mapped, path))
			continue;
		base = base ? base : low;
		tell(arg, &(struct nm_wire_map){.flags = NM_WIRE_PROT_READ | NM_WIRE_MAP_FILE |
							 (flags[1] == 'w' ? NM_WIRE_PROT_WRITE : 0) |
							 (flags[2] == 'x' ? NM_WIRE_PROT_EXEC : 0),
						.address = low,
						.bytes = end - low,
						.offset = offset,
						.path = path});
	}
	fclose(maps);
	return base;
}
