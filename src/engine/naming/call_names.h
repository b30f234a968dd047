/* SPDX-License-Identifier: MIT
 *
 * call_names.h - names for memory by the calls that asked for it.
 */
#ifndef NM_CALL_NAMES_H
#define NM_CALL_NAMES_H

#include <stdint.h>

struct nm_context;
struct nm_namer;
struct nm_object;

/* A bucket is a call: of calls whose names agree, the column tells which, or the site. */
struct nm_call_name {
	const char *name;
	const char *at;  /* "file:line", or NULL */
	uint32_t column; /* of the call in its line; 0: not known */
	uint64_t site;   /* hash of the addresses of calls that have no line; 0: they have */
};

/* Heap blocks or a mapping: "u (jacobi.f90:12)", "heap struct node (list.c:31)", "heap parse (tree.c:88)",
 * "anonymous main (map.c:5)". 0 or NM_ENOMEM. */
int nm_namer_memory(struct nm_namer *namer, const struct nm_object *object, struct nm_call_name *ret_name);
/* A heap block of which a function hands out pieces: "pool take (arena.c:20)". */
int nm_namer_pool(struct nm_namer *namer, uint64_t entry, struct nm_call_name *ret_name);

/* names.c: any object, before those of one name are told apart. 0 or NM_ENOMEM. */
int nm_namer_object(struct nm_namer *namer, const struct nm_object *object, struct nm_call_name *ret_name);

/* parts.c: tells the parts of containers apart among the names of all objects. 0 or NM_ENOMEM. */
int nm_namer_parts(struct nm_namer *namer, struct nm_call_name *names);

/* What a mapping is for, if a call of its chain stands in an allocator (it got memory from the system) or in
 * the creation of a thread; else NULL. */
const char *nm_namer_allocation_site(struct nm_namer *namer, const struct nm_context *context);

#endif
