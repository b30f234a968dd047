/* SPDX-License-Identifier: MIT
 *
 * tasks.h - work in parts that do not depend on each other, on several threads.
 */
#ifndef NM_TASKS_H
#define NM_TASKS_H

/* Calls task(arg, i) for each i below count, in no order, on up to `threads` threads, of which the caller is one. */
void nm_run_tasks(unsigned threads, unsigned count, void (*task)(void *arg, unsigned i), void *arg);

#endif
