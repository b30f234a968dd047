/* SPDX-License-Identifier: MIT
 *
 * message.h - what nearmiss says on stderr.
 */
#ifndef NM_MESSAGE_H
#define NM_MESSAGE_H

#include "errors.h"
#include "status.h"

/* "nearmiss: " and the text, in one line. */
void nm_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Tells an error, with a caret under the fault if it has a place:
 *
 *     nearmiss: bad cache SPEC: ways must be a number or "full"
 *       L1d=32K,x,64
 *               ^
 */
void nm_message_error(const struct nm_error *err);

/* Tells an error and returns nm_status_of(its code, otherwise). */
int nm_failed(const struct nm_error *err, int otherwise);

/* The word of a list (ended by NULL) that is nearest to what was typed, or NULL if none is near. */
const char *nm_nearest(const char *typed, const char *const *words);

#endif
