/* SPDX-License-Identifier: MIT
 *
 * feedback.h - what a run tells while it goes on.
 */
#ifndef NM_RUN_FEEDBACK_H
#define NM_RUN_FEEDBACK_H

#include <stdint.h>

struct nm_run_feedback {
	/* One sentence on a fault that does not stop the run. Required. */
	void (*warn)(const char *format, ...) __attribute__((format(printf, 1, 2)));
	/* References so far, and per second of late. Called about twice a second; NULL: not wanted. */
	void (*progress)(uint64_t references, double per_second);
	void (*progress_end)(void); /* required with progress */
};

#endif
