/* SPDX-License-Identifier: MIT
 *
 * writer.h - writes a profile.
 *
 *     nm_profile_writer_new(&w, "nearmiss.nmp", &err)     before the program is run: fails early
 *     nm_profile_writer_add(w, result, &err)              once per process image, in the order of their tree
 *     nm_profile_writer_info(w, "command", "./app", &err)
 *     nm_profile_writer_sources(w, &choice, &err)               when all are added
 *     nm_profile_writer_commit(w, &err)                   or nm_profile_writer_abort(w)
 *
 * All goes to a temporary file beside the final path, which takes the final name when it is complete and on
 * the disk. At any moment the final name is the old profile or the complete new one.
 */
#ifndef NM_PROFILE_WRITER_H
#define NM_PROFILE_WRITER_H

#include "result.h"
#include "sources.h"

struct nm_profile_writer;

/* Fails with the reason if the final path could not be written: no such directory, no permission, the
 * path names something that is not a regular file. */
int nm_profile_writer_new(struct nm_profile_writer **ret_writer, const char *path, struct nm_error *err);

/* Stores a result, which can be freed afterwards. NM_EINVAL: its path was added already. After a failure the
 * writer can only be aborted. */
int nm_profile_writer_add(struct nm_profile_writer *writer, const struct nm_result *result,
			  struct nm_error *err);

/* Of processes that ran on one machine, all added: its evictions and coherence. owners: [attr_count] of the result. */
int nm_profile_writer_add_machine(struct nm_profile_writer *writer, const struct nm_result *machine,
				  const struct nm_result_owner *owners, struct nm_error *err);

/* Sets an entry of the view `info`, replacing an earlier one. The writer sets some itself (writer.c). */
int nm_profile_writer_info(struct nm_profile_writer *writer, const char *key, const char *value,
			   struct nm_error *err);

/* Stores the source files of all results added so far, as they are on this machine: sizes, times, digests,
 * and the texts that are chosen. Missing files are left out. */
int nm_profile_writer_sources(struct nm_profile_writer *writer, const struct nm_source_choice *choice,
			      struct nm_error *err);

/* Both end the writer. A failed commit leaves the final path as it was. */
int nm_profile_writer_commit(struct nm_profile_writer *writer, struct nm_error *err);
void nm_profile_writer_abort(struct nm_profile_writer *writer);

#endif
