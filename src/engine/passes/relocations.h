/* SPDX-License-Identifier: MIT
 *
 * relocations.h - where relocations put memory (pass_relocations.c), for whoever simulates one anew.
 */
#ifndef NM_RELOCATIONS_H
#define NM_RELOCATIONS_H

#include "areas.h"

/* The place of an address in relocation k, from 0 on. */
uint64_t nm_relocated(const struct nm_areas *areas, uint64_t address, unsigned k);

#endif
