/* SPDX-License-Identifier: MIT
 *
 * changes.h - what each reference changed in the caches, written so that a reader without a model can follow.
 *
 * Writer and reader hold the same picture of all slots, and apply the same simple rules to it: a line that is
 * hit is used once more, one that leaves empties its slot, one that is loaded fills it. Effects are written as
 * far as the picture does not tell them. Then the writer compares its picture with the caches, and writes a
 * *correction* for each slot that the rules have got wrong. So the picture is exact whatever the policy, the
 * protocol or a plug-in does. docs/format/recorded-run.md has the bytes.
 */
#ifndef NM_DEBUG_CHANGES_H
#define NM_DEBUG_CHANGES_H

#include "caches.h"
#include "references.h"
#include "vector.h"

enum nm_change_column {
	NM_COLUMN_EFFECTS,     /* of each reference, how many and of which shapes */
	NM_COLUMN_FIGURES,     /* what shapes leave open */
	NM_COLUMN_CORRECTIONS, /* of each reference, how many and they */
	NM_CHANGE_COLUMNS
};

/* What has been written since the columns were emptied. */
struct nm_bytes nm_vec(uint8_t);

struct nm_changes;

/* A picture of empty caches. The caches are borrowed. 0 or NM_ENOMEM. */
int nm_changes_new(struct nm_changes **ret_changes, const struct nm_caches *caches);
void nm_changes_free(struct nm_changes *changes);

struct nm_bytes *nm_changes_column(struct nm_changes *changes, enum nm_change_column column);

/* Writes what all slots hold, as corrections; and by which keys the references were that loaded or used these
 * lines. 0 or NM_ENOMEM. */
int nm_changes_begin(struct nm_changes *changes, struct nm_reference_reader *reader,
		     struct nm_bytes *ret_earlier);

/* After a reference was fed. `last`: of a chunk; then all slots are compared. 0 or NM_ENOMEM. */
int nm_changes_note(struct nm_changes *changes, int last);

/* Corrections of slots that only the comparison of all slots has found: 0 unless a rule is missing. */
uint64_t nm_changes_late(const struct nm_changes *changes);

#endif
