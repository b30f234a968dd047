/* SPDX-License-Identifier: MIT
 *
 * simulation.h - what a checkpoint does with the caches that it holds, wherever it holds them: in a process of
 * its own (checkpoint_process.c), or in memory that a page copies (page/checkpoint_page.c).
 */
#ifndef NM_SIMULATION_H
#define NM_SIMULATION_H

#include "checkpoint.h"

struct nm_simulation {
	struct nm_caches *caches;
	struct nm_reference_reader *reader;
	const struct nm_shared_record *record;
};

/* Each is as the function of checkpoint.h of the same name; arrays are malloc'ed, sums are borrowed. 0 or
 * NM_ENOMEM. */
void nm_simulation_run(const struct nm_simulation *simulation, uint64_t to, unsigned flags,
		       struct nm_stop *stops, unsigned stop_count, struct nm_checkpoint_report *ret_report);
int nm_simulation_slots(const struct nm_simulation *simulation, unsigned level, unsigned core, uint64_t from,
			uint64_t to, struct nm_slot **ret_slots, size_t *ret_count);
const struct nm_sums *nm_simulation_sums(const struct nm_simulation *simulation, unsigned level, int by_set,
					 size_t *ret_count);
int nm_simulation_lines(const struct nm_simulation *simulation, uint64_t to, unsigned level,
			struct nm_line_sum **ret_lines, size_t *ret_count);
struct nm_found_slot nm_simulation_find(const struct nm_simulation *simulation, unsigned level, unsigned core,
					uint64_t address);

/* 0, or the code of a run that failed, with its text. */
int nm_simulation_status(const struct nm_checkpoint_report *report, struct nm_error *err);

#endif
