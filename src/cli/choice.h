/* SPDX-License-Identifier: MIT
 *
 * choice.h - what the commands that simulate have in common: the machine that --machine or --cache means, and
 * the number of threads.
 */
#ifndef NM_CHOICE_H
#define NM_CHOICE_H

#include <stdint.h>

#include "machine.h"
#include "options.h"

struct nm_choice {
	const char *machine, *cache; /* as typed, or NULL; without either, the host */
	int64_t threads;
	int instructions; /* simulate fetches too */
	int contexts;     /* count by call chain too */
};

/* Decoding and modelling beside each other, where there are processors. */
int64_t nm_default_threads(void);

/* 0 and the machine, or a status: the fault was told. */
int nm_choose(const struct nm_command *self, const struct nm_choice *choice, struct nm_machine *ret_machine);

#endif
