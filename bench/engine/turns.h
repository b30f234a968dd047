/* SPDX-License-Identifier: MIT
 *
 * turns.h - what turns.c asks of an engine that it has loaded: of the symbol NM_TURNS_SYMBOL.
 */
#ifndef NM_BENCH_TURNS_H
#define NM_BENCH_TURNS_H

#include <stddef.h>
#include <stdint.h>

#define NM_TURNS_SYMBOL "nm_contestant"

/* There is one session at a time. */
struct nm_contestant {
	void (*begin)(const char *trace, const char *spec);
	/* Returns seconds of CPU time. */
	double (*feed)(uint32_t stream, const uint64_t *words, size_t count);
	void (*end)(void);
};

#endif
