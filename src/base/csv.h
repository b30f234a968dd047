/* SPDX-License-Identifier: MIT
 *
 * csv.h - a field of comma-separated values (RFC 4180).
 */
#ifndef NM_CSV_H
#define NM_CSV_H

#include <stdio.h>

/* Writes a text, quoted where necessary. */
void nm_csv_field(const char *text, FILE *out);

#endif
