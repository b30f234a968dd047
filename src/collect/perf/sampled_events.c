/* SPDX-License-Identifier: MIT
 *
 * Whether an event is there is tried, not guessed: it is opened for this process. What an older kernel or a
 * user without privileges may not ask for is left out: how many samples were lost, and the kernel's part.
 */
#include "sampled_events.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "pmu.h"

#define DEVICES "/sys/bus/event_source/devices/"

#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST (1u << 4)
#endif

enum { LEAST_LATENCY = 30, MOST_PRECISE = 3 };

int nm_perf_event_open(const struct perf_event_attr *attr, pid_t thread, int processor, int group)
{
	return (int)syscall(SYS_perf_event_open, attr, thread, processor, group, PERF_FLAG_FD_CLOEXEC);
}

int nm_perf_paranoia(void)
{
	FILE *in = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int level = -1;

	if (in && fscanf(in, "%d", &level) != 1)
		level = -1;
	if (in)
		fclose(in);
	return level;
}

/* ---- kinds -------------------------------------------------------------------------------------- */

static int set_loads(struct nm_sampled_event *event)
{
	static const char *const folders[] = {DEVICES "cpu", DEVICES "cpu_core"};
	struct perf_event_attr *attr = &event->attr;

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		if (!nm_pmu_event(folders[i], "mem-loads", attr))
			continue;
		nm_pmu_term(folders[i], "ldlat", LEAST_LATENCY, attr);
		event->leader.size = sizeof event->leader;
		event->leader.inherit = 1;
		event->has_leader = nm_pmu_event(folders[i], "mem-loads-aux", &event->leader);
		attr->precise_ip = MOST_PRECISE;
		return 1;
	}
	return 0;
}

static int set_ibs(struct nm_sampled_event *event)
{
	return nm_pmu_type(DEVICES "ibs_op", &event->attr) &&
	       nm_pmu_term(DEVICES "ibs_op", "cnt_ctl", 1, &event->attr); /* count operations, not cycles */
}

static int set_cycles(struct nm_sampled_event *event)
{
	event->attr.type = PERF_TYPE_HARDWARE;
	event->attr.config = PERF_COUNT_HW_CPU_CYCLES;
	event->attr.precise_ip = MOST_PRECISE;
	return 1;
}

static int set_faults(struct nm_sampled_event *event)
{
	event->attr.type = PERF_TYPE_SOFTWARE;
	event->attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	return 1;
}

static int set_clock(struct nm_sampled_event *event)
{
	event->attr.type = PERF_TYPE_SOFTWARE;
	event->attr.config = PERF_COUNT_SW_CPU_CLOCK;
	return 1;
}

static const struct {
	const char *name, *missing;
	uint64_t period;
	int has_source; /* samples say where data came from, and how long that took */
	int (*set)(struct nm_sampled_event *event);
} kinds[] = {
    [NM_SAMPLED_LOADS] = {"mem-loads", "this processor has no mem-loads", 10007, 1, set_loads},
    [NM_SAMPLED_IBS] = {"ibs_op", "this processor has no IBS", 100000, 1, set_ibs},
    [NM_SAMPLED_CYCLES] = {"cycles", "no cycles can be counted, as in most virtual machines", 1000003, 1,
			   set_cycles},
    [NM_SAMPLED_FAULTS] = {"page-faults", "the kernel counts no page faults", 1, 0, set_faults},
    [NM_SAMPLED_CLOCK] = {"cpu-clock", "the kernel has no cpu-clock", 1000003, 0, set_clock},
};

/* ---- trying ------------------------------------------------------------------------------------- */

static void describe_event(struct nm_sampled_event *event, enum nm_sampled_kind kind, uint64_t period)
{
	struct perf_event_attr *attr = &event->attr;

	*event = (struct nm_sampled_event){.kind = kind, .name = kinds[kind].name};
	attr->size = sizeof *attr;
	attr->sample_period = period ? period : kinds[kind].period;
	attr->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			    PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU;
	if (kinds[kind].has_source)
		attr->sample_type |= PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT;
	attr->read_format = PERF_FORMAT_LOST;
	attr->disabled = 1;
	attr->inherit = 1;
	attr->exclude_hv = 1;
	attr->mmap = attr->mmap2 = attr->mmap_data = 1;
	attr->comm = attr->comm_exec = attr->task = 1;
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
}

/* Opens the event for this process, with less where it must be. 0, or errno. */
static int settle_event(struct nm_sampled_event *event)
{
	struct perf_event_attr *attr = &event->attr;

	for (;;) {
		const int leader = event->has_leader ? nm_perf_event_open(&event->leader, 0, -1, -1) : -1;
		const int fd = nm_perf_event_open(attr, 0, -1, leader);
		const int error = errno;

		if (leader >= 0)
			close(leader);
		if (fd >= 0) {
			close(fd);
			return 0;
		}
		if ((error == EACCES || error == EPERM) && !attr->exclude_kernel)
			attr->exclude_kernel = event->leader.exclude_kernel = 1;
		else if (error == EINVAL && attr->read_format)
			attr->read_format = 0;
		else if ((error == EOPNOTSUPP || error == EINVAL) && attr->precise_ip > 1)
			attr->precise_ip--;
		else
			return error;
	}
}

static int explain_refusal(enum nm_sampled_kind kind, int error, struct nm_error *err)
{
	const int paranoia = nm_perf_paranoia();

	assert((unsigned)kind < sizeof kinds / sizeof *kinds);
	if (error == EACCES || error == EPERM || error == ENOSYS)
		return paranoia > 2
			   ? nm_fail(
				 err, NM_EACCES,
				 "samples are not permitted: as root, sysctl kernel.perf_event_paranoid=2 (it is %d)",
				 paranoia)
			   : nm_fail(
				 err, NM_EACCES,
				 "samples are not permitted (%s): a container needs the capability PERFMON and a "
				 "seccomp profile with perf_event_open",
				 strerror(error));
	return nm_fail(err, NM_ENOENT, "%s (%s)", kinds[kind].missing, strerror(error));
}

int nm_sampled_event_find(enum nm_sampled_kind wanted, uint64_t period, struct nm_sampled_event *ret,
			  struct nm_error *err)
{
	const enum nm_sampled_kind first = wanted == NM_SAMPLED_AUTO ? NM_SAMPLED_LOADS : wanted,
				   last = wanted == NM_SAMPLED_AUTO ? NM_SAMPLED_FAULTS : wanted;
	int error = ENOENT;

	for (enum nm_sampled_kind kind = first; kind <= last; kind++) {
		struct nm_sampled_event event;

		describe_event(&event, kind, period);
		error = kinds[kind].set(&event) ? settle_event(&event) : ENOENT;
		if (!error) {
			*ret = event;
			return 0;
		}
	}
	return explain_refusal(last, error, err);
}
