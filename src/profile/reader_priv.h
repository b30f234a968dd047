/* SPDX-License-Identifier: MIT
 *
 * reader_priv.h - what the reader does for this room alone.
 */
#ifndef NM_READER_PRIV_H
#define NM_READER_PRIV_H

#include "reader.h"

/* Runs statements that define temporary views, which the file does not see. 0 or a code. */
int nm_profile_define(struct nm_profile *profile, const char *sql, struct nm_error *err);

#endif
