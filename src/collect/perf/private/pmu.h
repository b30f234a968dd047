/* SPDX-License-Identifier: MIT
 *
 * pmu.h - events of a processor as Linux describes them in /sys/bus/event_source/devices.
 *
 * A device has a folder: `type` is its number, `events/NAME` an event's terms ("event=0xcd,umask=0x1"), and
 * `format/TERM` the bits of the attributes that a term's value goes to ("config:0-7,32-35").
 */
#ifndef NM_PMU_H
#define NM_PMU_H

#include <linux/perf_event.h>
#include <stdint.h>

/* Sets the type of a device, that of an event with its terms, and one term. 1, or 0 if the device has none. */
int nm_pmu_type(const char *folder, struct perf_event_attr *attr);
int nm_pmu_event(const char *folder, const char *name, struct perf_event_attr *attr);
int nm_pmu_term(const char *folder, const char *term, uint64_t value, struct perf_event_attr *attr);

#endif
