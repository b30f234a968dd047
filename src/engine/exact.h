/* SPDX-License-Identifier: MIT
 *
 * exact.h - what each instruction of a program accesses, as a recording of the same build has counted it: data for
 * samples that do not say where their data lie.
 *
 * Instructions are known by the build-id of their module and their address in it. An instruction's samples go to the
 * data that it accesses, each to the one that lags its share of the accesses the most: sums are whole numbers, and at
 * each instruction within one sample of the exact shares. Which of several data a single sample accessed is not
 * known, so such samples are marked.
 */
#ifndef NM_EXACT_H
#define NM_EXACT_H

#include <stddef.h>
#include <stdint.h>

#include "errors.h"
#include "object_kind.h"

struct nm_exact;
struct nm_symbols;

/* Of a program (the first 15 bytes of its name, as the kernel knows it): accesses of one instruction to an object,
 * or to a field of the structure that it is or has as elements. */
struct nm_exact_row {
	const char *program, *module, *build_id;                 /* the latter in hexadecimal digits */
	uint64_t address;                                        /* of the instruction in the module */
	const char *object, *kind, *type, *allocated_at, *field; /* the last three: or NULL */
	double accesses;
};

/* symbols: borrowed, interns. path: of the profile, for messages. */
int nm_exact_new(struct nm_exact **ret_exact, struct nm_symbols *symbols, const char *path,
		 struct nm_error *err);
void nm_exact_free(struct nm_exact *exact);

/* All rows of an instruction come in sequence. 0 or NM_ENOMEM. */
int nm_exact_add(struct nm_exact *exact, const struct nm_exact_row *row);

const char *nm_exact_path(const struct nm_exact *exact);

/* Samples that were given data, and a sentence for each module whose samples were refused; NULL: no more. */
uint64_t nm_exact_joined(const struct nm_exact *exact);
const char *nm_exact_refusal(const struct nm_exact *exact, size_t i);

#endif
