/* SPDX-License-Identifier: MIT
 *
 * changes.h - writes the changes of each reference to the caches for a reader that has no cache model.
 *
 * Writer and reader hold the same picture of all slots, and apply the same simple rules to it: a hit adds a
 * use, an eviction empties the slot, a load fills it. Effects are written only as far as the picture does
 * not determine them. Then the writer compares its picture with the caches, and writes a *correction* for
 * each slot that differs. So the picture is exact for any policy, protocol and plug-in. The format is in
 * docs/format/recorded-run.md.
 */
#ifndef NM_DEBUG_CHANGES_H
#define NM_DEBUG_CHANGES_H

#include "caches.h"
#include "references.h"
#include "vector.h"

enum nm_change_column {
	NM_COLUMN_EFFECTS,     /* for each reference, the number of effects and their shapes */
	NM_COLUMN_FIGURES,     /* figures that shapes do not determine */
	NM_COLUMN_CORRECTIONS, /* for each reference, their number and the corrections */
	NM_CHANGE_COLUMNS
};

/* Bytes written since the columns were emptied. */
struct nm_bytes nm_vec(uint8_t);

struct nm_changes;

/* A picture of empty caches. The caches are borrowed. 0 or NM_ENOMEM. */
int nm_changes_new(struct nm_changes **ret_changes, const struct nm_caches *caches);
void nm_changes_free(struct nm_changes *changes);

struct nm_bytes *nm_changes_column(struct nm_changes *changes, enum nm_change_column column);

/* Writes the contents of all slots as corrections, and the keys of the references that loaded or used these
 * lines. 0 or NM_ENOMEM. */
int nm_changes_begin(struct nm_changes *changes, struct nm_reference_reader *reader,
		     struct nm_bytes *ret_earlier);

/* Call it after each reference. `last`: the last one of a chunk; then it compares all slots. 0 or
 * NM_ENOMEM. */
int nm_changes_note(struct nm_changes *changes, int last);

/* The number of corrections that only the comparison of all slots has found: 0 unless a rule is missing. */
uint64_t nm_changes_late(const struct nm_changes *changes);

#endif
