/* SPDX-License-Identifier: MIT
 *
 * object_kind.h - kinds of data objects to which references are attributed.
 */
#ifndef NM_OBJECT_KIND_H
#define NM_OBJECT_KIND_H

enum nm_object_kind {
	NM_OBJECT_UNKNOWN,
	NM_OBJECT_GLOBAL,
	NM_OBJECT_STATIC,
	NM_OBJECT_THREAD_LOCAL,
	NM_OBJECT_HEAP,
	NM_OBJECT_STACK,
	NM_OBJECT_MAPPED,
	NM_OBJECT_ANONYMOUS,
	NM_OBJECT_LIBRARY_DATA,
	NM_OBJECT_NAMED,      /* by the program, through client.h */
	NM_OBJECT_CODE,       /* instruction fetches */
	NM_OBJECT_UNMEASURED, /* all that is touched while measuring is off */
	NM_OBJECT_LOCAL       /* a local array or structure; the rest of its frame is NM_OBJECT_STACK */
};

#endif
