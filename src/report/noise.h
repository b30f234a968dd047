/* SPDX-License-Identifier: MIT
 *
 * noise.h - which objects and lines miss more or less often where memory is placed otherwise, from a profile
 * whose memory was relocated (record --relocate).
 */
#ifndef NM_REPORT_NOISE_H
#define NM_REPORT_NOISE_H

#include "report.h"

enum nm_noise_rows {
	NM_NOISE_ALL /* in text: objects, then lines; else objects */,
	NM_NOISE_OBJECTS,
	NM_NOISE_LINES
};

struct nm_noise_request {
	const char *level;   /* NULL: the first level that takes data */
	const char *process; /* NULL: all */
	enum nm_noise_rows rows;
	int64_t limit; /* rows of each table; 0: all */
};

/* NM_EINVAL: no such level or process, or memory was not relocated. */
int nm_noise_run(struct nm_profile *profile, const struct nm_noise_request *request,
		 const struct nm_style *style, FILE *out, struct nm_error *err);

#endif
