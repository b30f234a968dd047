/* SPDX-License-Identifier: MIT
 *
 * recording_priv.h - the parts of a recording.
 */
#ifndef NM_RECORDING_PRIV_H
#define NM_RECORDING_PRIV_H

#include "changes.h"
#include "debugger_priv.h"
#include "recording.h"

/* Append a number, and a column after its length. 0 or NM_ENOMEM. */
int nm_bytes_put(struct nm_bytes *to, uint64_t number);
int nm_bytes_put_column(struct nm_bytes *to, const struct nm_bytes *column);
static inline uint64_t nm_fold(int64_t n) { return (uint64_t)n << 1 ^ (uint64_t)(n >> 63); }

/* description.c: JSON, malloc'ed. */
int nm_recording_describe(struct nm_debugger *debugger, char **ret_text, struct nm_error *err);

/* columns.c: the references (from, to], in three columns; sums up to a position. */
int nm_recording_put_references(struct nm_debugger *debugger, uint64_t from, uint64_t to,
				struct nm_bytes *ret, struct nm_error *err);
int nm_recording_put_sums(struct nm_debugger *debugger, const struct nm_moment *moment, struct nm_bytes *ret,
			  struct nm_error *err);

/* earlier.c: writes parts "earlier" about the lines that the window from a position has touched, as many as fit
 * into half of the space. The moment has all changes of the window. */
int nm_recording_put_earlier(struct nm_debugger *debugger, const struct nm_moment *moment, uint64_t from,
			     struct nm_recording_sink *sink, struct nm_error *err);

#endif
