/* SPDX-License-Identifier: MIT
 *
 * vector.h - a growing array of any type: struct { T *at; size_t count, room; }.
 *
 *     struct nm_vec(int) v = {0};
 *     if (nm_vec_push(&v, 7)) ...out of memory...
 *     nm_vec_free(&v);
 */
#ifndef NM_VECTOR_H
#define NM_VECTOR_H

#include <stddef.h>

#include "errors.h"

#define nm_vec(T)                   \
	{                           \
		T *at;              \
		size_t count, room; \
	}

/* Makes room for `more` further elements. 0 or NM_ENOMEM. */
#define nm_vec_reserve(v, more)           \
	((v)->room - (v)->count >= (more) \
	     ? 0                          \
	     : nm_vec_grow((void **)&(v)->at, &(v)->room, (v)->count, (more), sizeof *(v)->at))

/* Appends one element. 0 or NM_ENOMEM. */
#define nm_vec_push(v, ...) (nm_vec_reserve((v), 1) ? NM_ENOMEM : ((v)->at[(v)->count++] = (__VA_ARGS__), 0))

/* Makes elements [0, n) exist; those that are new are zeros. 0 or NM_ENOMEM. */
#define nm_vec_reach(v, n) \
	((n) <= (v)->count \
	     ? 0           \
	     : nm_vec_extend((void **)&(v)->at, &(v)->count, &(v)->room, (n), sizeof *(v)->at))

#define nm_vec_free(v) nm_vec_release((void **)&(v)->at, &(v)->count, &(v)->room)

int nm_vec_grow(void **at, size_t *room, size_t count, size_t more, size_t size);
int nm_vec_extend(void **at, size_t *count, size_t *room, size_t want, size_t size);
void nm_vec_release(void **at, size_t *count, size_t *room);

#endif
