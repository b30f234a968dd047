/* SPDX-License-Identifier: MIT
 *
 * families.h - families of streams of references, to which estimates of miss ratios are held.
 *
 * A stream of a family is drawn by a seed: its footprint, its skew, the lengths of its phases. Up to three
 * objects have lines of their own, and two keys (lines of code) touch each.
 */
#ifndef NM_TEST_FAMILIES_H
#define NM_TEST_FAMILIES_H

#include <stddef.h>
#include <stdint.h>

enum { FAMILY_OBJECTS = 3, FAMILY_KEYS = 1 + 2 * FAMILY_OBJECTS /* key 0 is none */ };

struct family_stream {
	uint32_t *lines; /* of each reference, below `footprint` */
	uint8_t *keys;   /* 1 + 2 * object + which of its two */
	size_t count;
	uint32_t footprint;
	char about[96]; /* what was drawn */
};

struct family {
	const char *name;
	void (*make)(struct family_stream *stream, uint64_t *random);
};

extern const struct family families[]; /* ends with a name of NULL */

/* A stream of so many references, malloc'ed: free its lines and keys. Exits if out of memory. */
struct family_stream family_draw(const struct family *family, size_t count, uint64_t seed);
void family_free(struct family_stream *stream);

#endif
