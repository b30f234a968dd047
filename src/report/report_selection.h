/* SPDX-License-Identifier: MIT
 *
 * report_selection.h - a request that was checked against the profile.
 */
#ifndef NM_REPORT_SELECTION_H
#define NM_REPORT_SELECTION_H

#include "levels.h"
#include "name_match.h"
#include "report.h"

struct nm_level_cube;

struct nm_selection {
	struct nm_report_request request;  /* its level is NULL of samples only */
	int of_samples;                    /* of a processor, which have no levels */
	int one_level;                     /* the user named the level */
	int has_regions;                   /* the program named some */
	int is_by_phase;                   /* the profile is counted by phase */
	int has_cells;                     /* the view `cells` has the frames that were chosen */
	int has_inner;                     /* views have the innermost frames beside these */
	int has_repeated;                  /* `repeated` of processes is known */
	int leaves_apart;                  /* without what nm_apart_expression selects */
	const struct nm_level_cube *pairs; /* of this selection, where they have been read; or NULL */
	struct nm_levels levels;
	const struct nm_level *last; /* the last level behind the one that is reported on, or NULL */
	const char *last_title;      /* of its misses */
	/* With request.machines: the levels that take data, of each machine; and the names of their columns. */
	struct nm_level_column {
		const struct nm_level *level;
		const char *name, *title; /* interned */
	} machines[NM_REPORT_LEVELS];
	unsigned machine_levels;
	struct nm_name_pattern object, function, file, structure;
};

/* Checks a request. *ret_selection must be {0}; call nm_selection_done in any case. NM_EINVAL names what the
 * profile does not have. */
int nm_selection_make(struct nm_profile *profile, const struct nm_report_request *request,
		      struct nm_selection *ret_selection, struct nm_error *err);
void nm_selection_done(struct nm_selection *selection);

#endif
