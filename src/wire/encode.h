/* SPDX-License-Identifier: MIT
 *
 * encode.h - writes the wire into memory: one function per record kind, for the structs of decode.h.
 *
 * For importers, loop nests and tests, which have a C library and need no speed. Collectors inside a program
 * use the inline functions of nearmiss/wire.h.
 *
 * Every function appends one whole record and returns 0, or NM_ENOMEM, or NM_EINVAL if the record is
 * longer than a header can say; on failure nothing is appended.
 */
#ifndef NM_WIRE_ENCODE_H
#define NM_WIRE_ENCODE_H

#include "decode.h"
#include "vector.h"

struct nm_wire_words nm_vec(uint64_t);

/* Any record: header, then the words. */
int nm_wire_encode(struct nm_wire_words *to, enum nm_wire_kind kind, uint32_t arg, const uint64_t *payload,
		   size_t words);

/* A definition (id, def and its three tables) and an execution of a block. */
int nm_wire_block_def_encode(struct nm_wire_words *to, const struct nm_wire_block_info *block);
int nm_wire_block_encode(struct nm_wire_words *to, uint32_t id, const uint64_t *addresses, size_t count);

/* argv holds process->argc strings; process->arguments is not looked at. */
int nm_wire_process_encode(struct nm_wire_words *to, const struct nm_wire_process *process,
			   const char *const *argv);

int nm_wire_fork_encode(struct nm_wire_words *to, const struct nm_wire_fork *r);
int nm_wire_exec_encode(struct nm_wire_words *to, const struct nm_wire_exec *r);
int nm_wire_exit_encode(struct nm_wire_words *to, const struct nm_wire_exit *r);
int nm_wire_thread_start_encode(struct nm_wire_words *to, const struct nm_wire_thread_start *r);
int nm_wire_thread_exit_encode(struct nm_wire_words *to, const struct nm_wire_thread *r);
int nm_wire_thread_encode(struct nm_wire_words *to, const struct nm_wire_thread *r);
int nm_wire_thread_pointer_encode(struct nm_wire_words *to, const struct nm_wire_thread_pointer *r);
int nm_wire_signal_encode(struct nm_wire_words *to, const struct nm_wire_signal *r);
int nm_wire_alloc_encode(struct nm_wire_words *to, const struct nm_wire_alloc *r);
int nm_wire_free_encode(struct nm_wire_words *to, const struct nm_wire_free *r);
int nm_wire_realloc_encode(struct nm_wire_words *to, const struct nm_wire_realloc *r);
int nm_wire_map_encode(struct nm_wire_words *to, const struct nm_wire_map *r);
int nm_wire_unmap_encode(struct nm_wire_words *to, const struct nm_wire_unmap *r);
int nm_wire_remap_encode(struct nm_wire_words *to, const struct nm_wire_remap *r);
int nm_wire_brk_encode(struct nm_wire_words *to, const struct nm_wire_brk *r);
int nm_wire_module_encode(struct nm_wire_words *to, const struct nm_wire_module *r);
int nm_wire_module_gone_encode(struct nm_wire_words *to, const struct nm_wire_module_gone *r);
int nm_wire_name_encode(struct nm_wire_words *to, const struct nm_wire_name *r);
int nm_wire_unname_encode(struct nm_wire_words *to, const struct nm_wire_unname *r);
int nm_wire_region_encode(struct nm_wire_words *to, const struct nm_wire_region *r);
int nm_wire_measure_encode(struct nm_wire_words *to, const struct nm_wire_measure *r);
int nm_wire_lost_encode(struct nm_wire_words *to, const struct nm_wire_lost *r);
int nm_wire_place_encode(struct nm_wire_words *to, const struct nm_wire_place *r);
int nm_wire_pages_encode(struct nm_wire_words *to, const struct nm_wire_pages *r);
int nm_wire_shared_encode(struct nm_wire_words *to, const struct nm_wire_shared *r);
int nm_wire_ran_encode(struct nm_wire_words *to, const struct nm_wire_ran *r);
int nm_wire_sampling_encode(struct nm_wire_words *to, const struct nm_wire_sampling *r);
int nm_wire_sample_encode(struct nm_wire_words *to, const struct nm_wire_sample *r);
int nm_wire_reuse_encode(struct nm_wire_words *to, const struct nm_wire_reuse *r);
int nm_wire_frames_encode(struct nm_wire_words *to, const struct nm_wire_frames *r);
int nm_wire_clock_encode(struct nm_wire_words *to, const struct nm_wire_clock *r);
int nm_wire_sync_event_encode(struct nm_wire_words *to, const struct nm_wire_sync_event *r);

#endif
