/* SPDX-License-Identifier: MIT
 *
 * merge.h - adds profiles up: of the ranks of a job, of repeated runs, of the programs of a test suite.
 *
 *     nm_merge_new(&merge, "all.nmp", &err)
 *     nm_merge_add(merge, "rank-0.nmp", &err)     once for each input, a merged profile too; or nm_merge_add_all
 *     nm_merge_commit(merge, &ended, &err)        or nm_merge_abort(merge)
 *
 * What is the same in two inputs is one row with the sum of their counts: processes of one program (the same
 * name, and no module of one in another build in the other), and in them sites, objects, fields and call
 * chains by their names and places in the source. Numbers, which differ between runs, do not matter.
 *
 * A thread has one input open at a time, whose rows go through SQLite: memory grows with what the inputs have in
 * common, the merged profile, and not with their number.
 */
#ifndef NM_PROFILE_MERGE_H
#define NM_PROFILE_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "errors.h"

struct nm_merge;

int nm_merge_new(struct nm_merge **ret_merge, const char *output, struct nm_error *err);

/* NM_EFORMAT, NM_EVERSION, NM_ENOENT, NM_EACCES: the input cannot be read; NM_EINVAL: it was recorded with other
 * caches than the first, and nothing of it was added. After another failure the merge can only be aborted. */
int nm_merge_add(struct nm_merge *merge, const char *path, struct nm_error *err);

/* Adds inputs in order, as nm_merge_add does one by one, on up to `threads` processors. After a failure *ret_faulty
 * is the input that it is of, and the merge can only be aborted. */
int nm_merge_add_all(struct nm_merge *merge, const char *const *paths, size_t count, unsigned threads,
		     size_t *ret_faulty, struct nm_error *err);

struct nm_merge_ended {
	int64_t inputs, processes;
	char missing[200]; /* ranks of the job without a profile, as "3, 5-7"; "": none, or it is not known */
};

/* Both end the merge. A failed commit leaves the output as it was. */
int nm_merge_commit(struct nm_merge *merge, struct nm_merge_ended *ret_ended, struct nm_error *err);
void nm_merge_abort(struct nm_merge *merge);

#endif
