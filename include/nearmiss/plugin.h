/* SPDX-License-Identifier: MIT
 *
 * plugin.h - caches of your own design: what a plug-in for nearmiss is.
 *
 * A plug-in is a shared object that defines one symbol, `nearmiss_plugin`. A level whose SPEC says
 * `plugin=./mine.so` asks it where lines go; all else stays nearmiss's: which lines are resident, the classes
 * of misses, reuse, bytes used, evictions, what the next level is asked for. docs/howto/plugins.md is the
 * guide, examples/mersenne.c a whole plug-in.
 *
 *     cc -shared -fPIC -O2 mine.c -o mine.so
 *     nearmiss record --cache L1d=32K,8,64,plugin=./mine.so -- ./app
 *
 * A level has `places`, numbered from 0, each of which can hold one line. What a place is, e.g. way place %
 * ways of set place / ways, is the plug-in's affair, and so is what it remembers of lines and places.
 *
 * Threads: several levels, and several hierarchies in different threads, may use one plug-in at the same
 * time, each with what its own `start` made: a plug-in must have no other state that changes.
 */
#ifndef NEARMISS_PLUGIN_H
#define NEARMISS_PLUGIN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { NEARMISS_PLUGIN_VERSION = 1 };

/* A level as its SPEC says. */
struct nearmiss_plugin_level {
	const char *name; /* "L1d" */
	uint64_t sets;
	uint32_t ways, line; /* lines a set, bytes a line */
	uint64_t places;     /* sets * ways */
};

struct nearmiss_plugin {
	uint32_t version; /* NEARMISS_PLUGIN_VERSION */

	/* What the level needs, handed to the other functions as `self`, an empty cache. NULL refuses the
	 * level; then *ret_why, a constant text, says why. */
	void *(*start)(const struct nearmiss_plugin_level *level, const char **ret_why);
	void (*end)(void *self);

	/* The line at a place is referenced again. */
	void (*touch)(void *self, uint64_t line, uint64_t place);

	/* The place for a line that is nowhere, below level->places. If a line is there, it leaves. Line
	 * numbers are addresses divided by the bytes of a line. */
	uint64_t (*load)(void *self, uint64_t line);

	/* The line at a place has left without being replaced: an inclusive level further out has lost it, or
	 * an exclusive level has handed it over. NULL if that does not matter. */
	void (*leave)(void *self, uint64_t line, uint64_t place);
};

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
extern const struct nearmiss_plugin nearmiss_plugin;

#ifdef __cplusplus
}
#endif

#endif
