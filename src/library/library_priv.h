/* SPDX-License-Identifier: MIT
 *
 * library_priv.h - shared by the library's files: converts errors to public ones.
 */
#ifndef NM_LIBRARY_PRIV_H
#define NM_LIBRARY_PRIV_H

#include "errors.h"
#include "machine.h"
#include "nearmiss/nearmiss.h"

struct nearmiss_machine {
	struct nm_machine machine;
	char spec[];
};

/* Copies an error; returns code. */
int nm_library_fail(struct nearmiss_error *err, const struct nm_error *from, int code);

#endif
