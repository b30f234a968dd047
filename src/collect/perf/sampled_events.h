/* SPDX-License-Identifier: MIT
 *
 * sampled_events.h - what can be sampled on this machine, best first: a processor's accesses to memory, its cycles,
 * the kernel's page faults.
 */
#ifndef NM_SAMPLED_EVENTS_H
#define NM_SAMPLED_EVENTS_H

#include <linux/perf_event.h>
#include <sys/types.h>

#include "errors.h"

enum nm_sampled_kind {
	NM_SAMPLED_AUTO,   /* the first of the next four that this machine has */
	NM_SAMPLED_LOADS,  /* Intel: loads that take at least 30 cycles, by PEBS */
	NM_SAMPLED_IBS,    /* AMD: operations, by IBS */
	NM_SAMPLED_CYCLES, /* cycles, as precisely as the processor can */
	NM_SAMPLED_FAULTS, /* page faults */
	NM_SAMPLED_CLOCK   /* where processor time goes; without data */
};

struct nm_sampled_event {
	enum nm_sampled_kind kind; /* not AUTO */
	const char *name;          /* as perf calls it */
	struct perf_event_attr attr;
	int has_leader; /* the event counts only in a group with this one: */
	struct perf_event_attr leader;
};

/* period: samples are so far apart; 0: usual. NM_ENOENT: the machine has no such event; NM_EACCES: this process
 * may not sample it. */
int nm_sampled_event_find(enum nm_sampled_kind wanted, uint64_t period, struct nm_sampled_event *ret_event,
			  struct nm_error *err);

/* A file descriptor for the event in a thread and what it starts, on one processor (-1: any). -1: see errno. */
int nm_perf_event_open(const struct perf_event_attr *attr, pid_t thread, int processor, int group);

/* kernel.perf_event_paranoid; -1: the kernel has no such setting. */
int nm_perf_paranoia(void);

#endif
