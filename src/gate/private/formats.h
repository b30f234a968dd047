/* SPDX-License-Identifier: MIT
 *
 * formats.h - what formats of a gate share. A format is a const struct nm_gate_format in a
 * file of formats/, and a row in formats.c.
 */
#ifndef NM_GATE_FORMATS_H
#define NM_GATE_FORMATS_H

#include <jansson.h>

#include "gate_priv.h"

/* Writes a document and drops the reference; NULL, as jansson gives where memory is exhausted, is NM_ENOMEM. */
int nm_gate_dump(json_t *json, FILE *out);

#endif
