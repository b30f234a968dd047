/* SPDX-License-Identifier: MIT
 *
 * choice.h - what the commands that simulate have in common: the machines that --machine and --cache mean, and
 * the number of threads.
 */
#ifndef NM_CHOICE_H
#define NM_CHOICE_H

#include <stdint.h>

#include "machine.h"
#include "options.h"

struct nm_choice {
	struct nm_option_list machines, caches; /* as typed; without either, the host */
	int64_t threads;
	int64_t cores;    /* 0: one */
	const char *map;  /* "THREAD=CORE,...", or NULL */
	int stored;       /* references can be looked at twice */
	int huge_pages;   /* 0, or 1 + which: each TLB is simulated with such pages too */
	int instructions; /* simulate fetches too */
	int contexts;     /* count by call chain too */
	int heap_chains;  /* and tell heap buckets apart by the chain that allocated them */
	int sets;         /* and loads and replacements by set */
};

/* One for each stage that can run beside the others, as far as there are processors. */
int64_t nm_default_threads(int64_t stages);

/* The host, a machine by name, or one that a file describes.  0 or a status: the fault was told. */
int nm_choose_machine(const char *name, struct nm_machine *ret_machine);

/* 0 and all machines that were chosen as one, or a status: the fault was told. */
int nm_choose(const struct nm_command *self, const struct nm_choice *choice, struct nm_machine *ret_machine);

#endif
