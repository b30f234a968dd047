/* SPDX-License-Identifier: MIT
 *
 * sample.h - results built by hand, from which stored profiles and their goldens are made.
 */
#ifndef NM_SAMPLE_H
#define NM_SAMPLE_H

#include "writer.h"

enum { NM_SAMPLES = 3 };

/* The results: "solver" with two threads and long C++ names, then "cc1" twice.  Static storage. */
const struct nm_result *nm_sample(unsigned i);

/* Writes all of them and the entries of info that a recording has. */
int nm_sample_write(const char *path, struct nm_error *err);

#endif
