/* SPDX-License-Identifier: MIT
 *
 * checks.h - checks of whole structures, too slow for each run: in builds with -Dchecks=true
 * (CONTRIBUTING.md).
 */
#ifndef NM_CHECKS_H
#define NM_CHECKS_H

#include <assert.h>

#ifdef NM_CHECKS
#define NM_CHECK(condition) assert(condition)
#else
#define NM_CHECK(condition) ((void)sizeof(condition))
#endif

#endif
