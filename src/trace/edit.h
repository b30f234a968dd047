/* SPDX-License-Identifier: MIT
 *
 * edit.h - cuts and merges traces.
 */
#ifndef NM_TRACE_EDIT_H
#define NM_TRACE_EDIT_H

#include "trace.h"

enum { NM_ALL_STREAMS = UINT32_MAX };

struct nm_trace_part {
	uint32_t stream;   /* keep this one only, or NM_ALL_STREAMS */
	uint64_t from, to; /* count addresses from 0; in each stream */
};

/* Writes [from, to) of the streams. Records before the range stay, since heap, frames and mappings depend on
 * them, but are marked as not measured; those after it are left out. */
int nm_trace_slice(struct nm_trace *trace, const struct nm_trace_part *slice, const char *path,
		   struct nm_error *err);

/* Writes the streams of several traces one after another, each with a number of its own. */
int nm_trace_merge(struct nm_trace *const *traces, size_t count, const char *path, struct nm_error *err);

#endif
