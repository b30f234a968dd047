/* SPDX-License-Identifier: MIT
 *
 * mersenne.c - a plug-in: the direct-mapped cache of 2^n - 1 lines by Q. Yang and L. W. Yang (ISCA 1992), and
 * the one of 2^n - 3 lines of "A Cache Visualization Tool". Addresses a power of two apart, as in columns of
 * arrays, then do not collide on the same few lines.
 *
 *     cc -shared -fPIC -O2 mersenne.c $(pkg-config --cflags nearmiss) -o mersenne.so
 *     nearmiss nest blocked.nest --set N=256 --cache L1d=8K,1,32,sets=253,plugin=./mersenne.so
 *
 * Hardware can do this without a division: 2^n is 1 modulo 2^n - 1, and 3 modulo 2^n - 3, so the bits above the
 * lowest n are added to these, once or three times, until n bits are left. This file does the same; `sets=253`
 * alone, which divides, checks it: all counts are equal.
 */
#include <nearmiss/plugin.h>
#include <stdlib.h>

struct design {
	unsigned bits;  /* n */
	uint64_t less;  /* 1 or 3 */
	uint64_t lines; /* 2^n - less */
};

static void *start(const struct nearmiss_plugin_level *level, const char **ret_why)
{
	struct design *d = malloc(sizeof *d);

	*ret_why = "out of memory";
	if (!d)
		return NULL;
	for (d->bits = 3; d->bits < 32; d->bits++)
		for (d->less = 1; d->less <= 3; d->less += 2) {
			d->lines = (1ull << d->bits) - d->less;
			if (level->ways == 1 && level->sets == d->lines)
				return d;
		}
	free(d);
	*ret_why = "it must have one way and 2^n - 1 or 2^n - 3 sets";
	return NULL;
}

static void touch(void *self, uint64_t line, uint64_t place) { (void)self, (void)line, (void)place; }

static uint64_t load(void *self, uint64_t line)
{
	const struct design *d = self;

	while (line >> d->bits)
		line = (line & ((1ull << d->bits) - 1)) + d->less * (line >> d->bits);
	return line < d->lines ? line : line - d->lines;
}

const struct nearmiss_plugin nearmiss_plugin = {
    .version = NEARMISS_PLUGIN_VERSION, .start = start, .end = free, .touch = touch, .load = load};
