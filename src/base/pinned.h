/* SPDX-License-Identifier: MIT
 *
 * pinned.h - what `record --hermetic` shows to a program: agreed between the collector, which does it, and the
 * recorder, which says so in the profile.
 */
#ifndef NM_PINNED_H
#define NM_PINNED_H

/* A clock advances by a nanosecond, the time stamp counter by one, with each instruction. */
#define NM_PINNED_EPOCH 1577836800u /* when the program starts: seconds since 1970, 2020-01-01 00:00 UTC */
#define NM_PINNED_PROCESSORS 4u
#define NM_PINNED_SEED 1u /* of all random numbers */
#define NM_PINNED_MEMORY (8ull << 30)
#define NM_PINNED_STACK (8u << 20) /* limits that the recorder sets: bytes of the stack, open files */
#define NM_PINNED_FILES 1024u

/* Lines of the collector's log: what a run depends on that is not pinned, and the processor's instructions. */
#define NM_PINNED_UNPINNED "nearmiss: not pinned: "
#define NM_PINNED_INSTRUCTIONS "nearmiss: instructions: "

#endif
