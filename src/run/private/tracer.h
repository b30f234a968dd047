/* SPDX-License-Identifier: MIT
 *
 * tracer.h - writes a trace beside a recording: packing runs in a thread of its own, while the engine takes
 * the same words.
 */
#ifndef NM_TRACER_H
#define NM_TRACER_H

#include <stddef.h>
#include <stdint.h>

#include "errors.h"
#include "symbol.h"

struct nm_tracer;

/* symbols: those of the engine. They keep all names that are looked up, for the trace. */
int nm_tracer_new(struct nm_tracer **ret_tracer, const char *path, struct nm_symbols *symbols,
		  struct nm_error *err);

/* Begins to write words of a stream (NULL: its end). They must stay until nm_tracer_wait. */
void nm_tracer_start(struct nm_tracer *tracer, uint32_t stream, const uint64_t *words, size_t count);
void nm_tracer_wait(struct nm_tracer *tracer);

/* Writes all that there is, so that it can be read. */
void nm_tracer_flush(struct nm_tracer *tracer);

/* Faults are reported when the trace ends. */
void nm_tracer_info(struct nm_tracer *tracer, const char *key, const char *value);

/* Ends the trace and frees the tracer. 0, or the first failure since nm_tracer_new; the trace then ends
 * there. */
int nm_tracer_close(struct nm_tracer *tracer, struct nm_error *err);

/* Frees it and leaves the trace as it is. */
void nm_tracer_free(struct nm_tracer *tracer);

#endif
