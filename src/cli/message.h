/* SPDX-License-Identifier: MIT
 *
 * message.h - messages on stderr.
 */
#ifndef NM_MESSAGE_H
#define NM_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "errors.h"
#include "status.h"

/* Prints "nearmiss: " and the text, in one line; under a launcher of parallel jobs (rank.h) the rank too. */
void nm_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints an error, with a caret under the fault if its column is known:
 *
 *     nearmiss: bad cache SPEC: ways must be a number or "full"
 *       L1d=32K,x,64
 *               ^
 */
void nm_message_error(const struct nm_error *err);

/* Prints an error and returns nm_status_of(its code, otherwise). */
int nm_failed(const struct nm_error *err, int otherwise);

/* Shows how far a run is, in the terminal's last line, until the next message or nm_message_progress_end. */
void nm_message_progress(uint64_t references, double per_second);
void nm_message_samples(uint64_t samples, double per_second); /* the same of samples */
/* The same of tasks; seconds_left: negative if that is not known yet. */
void nm_message_tasks(size_t done, size_t all, double seconds_left);
/* The same of a file of pages. */
void nm_message_pages(unsigned answers, size_t bytes);
void nm_message_progress_end(void);

/* The word of a list (ended by NULL) that is most like `typed`, or NULL if none is close. */
const char *nm_nearest(const char *typed, const char *const *words);

#endif
