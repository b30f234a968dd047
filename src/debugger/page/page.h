/* SPDX-License-Identifier: MIT
 *
 * page.h - the parts that a page has brought.
 */
#ifndef NM_PAGE_H
#define NM_PAGE_H

#include <stddef.h>

/* A part of kind "file", which stays as long as the page. 0, NM_EFORMAT: it has no name; NM_ENOMEM. */
int nm_page_add_file(const char *part, size_t size);

#endif
