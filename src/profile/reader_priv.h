/* SPDX-License-Identifier: MIT
 *
 * reader_priv.h - functions of the reader for this room only.
 */
#ifndef NM_READER_PRIV_H
#define NM_READER_PRIV_H

#include "reader.h"

/* Runs statements that define temporary views, which do not change the file. 0 or a code. */
int nm_profile_define(struct nm_profile *profile, const char *sql, struct nm_error *err);

#endif
