/* SPDX-License-Identifier: MIT
 *
 * checks.h - checks of whole data structures, in builds with -Dchecks=true only, because they are slow
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
