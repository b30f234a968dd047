/* SPDX-License-Identifier: MIT
 *
 * sample.h - results built by hand, from which stored profiles and their goldens are made.
 */
#ifndef NM_SAMPLE_H
#define NM_SAMPLE_H

#include "writer.h"

enum { NM_SAMPLES = 3 };

/* The results: "solver" with two threads and long C++ names, then "cc1" twice. Static storage. */
const struct nm_result *nm_sample(unsigned i);

/* Results in which instructions are told apart: "walk" and its child, which runs other code at one
 * address. */
enum { NM_ASM_SAMPLES = 2 };
const struct nm_result *nm_asm_sample(unsigned i);
int nm_asm_sample_write(const char *path, struct nm_error *err);

/* "server" on three cores (shared.c). i: 0. */
const struct nm_result *nm_shared_sample(unsigned i);
int nm_shared_sample_write(const char *path, struct nm_error *err);

/* Sets the machine, and the totals of levels to the sums of their counts. */
void nm_sample_add_up(struct nm_result *result, const struct nm_machine *on);

/* Writes all of them and the entries of info that a recording has. */
int nm_sample_write(const char *path, struct nm_error *err);

#endif
