/* SPDX-License-Identifier: MIT
 *
 * plugin.h - levels whose placement and replacement are up to a shared object of the user
 * (include/nearmiss/plugin.h).
 */
#ifndef NM_PLUGIN_H
#define NM_PLUGIN_H

#include <stdint.h>

#include "machine.h"

struct nearmiss_plugin;

/* A plug-in and its state for one level; zero: none. */
struct nm_plugin {
	void *object;
	const struct nearmiss_plugin *does;
	void *self;
};

/* Loads the plug-in that a level names. NM_ENOENT: no such file; NM_EINVAL: it is no plug-in or of another
 * version, or it refuses the level. */
int nm_plugin_open(struct nm_plugin *ret_plugin, const struct nm_level_spec *level, struct nm_error *err);
void nm_plugin_close(struct nm_plugin *plugin);

#endif
