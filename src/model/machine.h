/* SPDX-License-Identifier: MIT
 *
 * machine.h - what is simulated: the levels of a memory hierarchy.
 */
#ifndef NM_MACHINE_H
#define NM_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include "errors.h"

enum { NM_MAX_LEVELS = 8 };

enum nm_level_side { NM_SIDE_UNIFIED, NM_SIDE_DATA, NM_SIDE_INSTRUCTION };

struct nm_level_spec {
	char name[12]; /* "L1d", "L1i", "L2", "L3" */
	uint64_t size; /* bytes: sets * ways * line */
	uint32_t ways; /* sets == 1: fully associative */
	uint32_t line; /* bytes, a power of two from 8 to 64... up to 4096 */
	uint64_t sets; /* any number >= 1; index = line number mod sets */
	enum nm_level_side side;
	uint32_t latency; /* cycles that a reference waits if this level serves it; 0: not told */
};

/* Levels are listed from the processor outwards.  The first levels of side DATA and INSTRUCTION (or
 * UNIFIED) take the program's references; each later level takes the fills of those before it. */
struct nm_machine {
	char name[64];         /* "host", a named machine, or the SPEC itself */
	char description[160]; /* one line: what it models and where the figures are from */
	struct nm_level_spec levels[NM_MAX_LEVELS];
	unsigned count;
	uint32_t memory_latency; /* the same, if no level does */
};

/* Parses a SPEC: levels separated by ':', each NAME=SIZE,WAYS,LINE with SIZE in bytes or with a suffix
 * K, M, G, and WAYS a number or "full"; after them key=value, of which `sets=N` replaces SIZE/(WAYS*LINE) and
 * `latency=N` tells cycles; behind the last level, memory=CYCLES may stand.
 * E.g. "L1d=32K,8,64:L2=1M,16,64".  A fault is told with its column. */
int nm_machine_parse(const char *spec, struct nm_machine *ret_machine, struct nm_error *err);

/* The SPEC that parses to this machine, e.g. for messages and the profile.  Returns its length as
 * snprintf does. */
size_t nm_machine_format(const struct nm_machine *machine, char *text, size_t room);

/* 0, or what makes the machine impossible (sizes, zero ways, line sizes that shrink outwards, ...). */
int nm_machine_check(const struct nm_machine *machine, struct nm_error *err);

/* Named machines: machines[i].name ... until count.  (The host is found by analyze/host.h.) */
const struct nm_machine *nm_machine_table(size_t *ret_count);
const struct nm_machine *nm_machine_named(const char *name); /* or NULL */

#endif
