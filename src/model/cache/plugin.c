/* SPDX-License-Identifier: MIT
 *
 * plugin.c - loads plug-ins and checks them.
 *
 * The one place where the model is not pure: the code is the user's. A name without a slash is a file here,
 * not one of the system's libraries.
 */
#include "plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "nearmiss/plugin.h"

static int load_plugin(struct nm_plugin *p, const struct nm_level_spec *level, struct nm_error *err)
{
	char path[sizeof level->plugin + 2];

	snprintf(path, sizeof path, "%s%s", strchr(level->plugin, '/') ? "" : "./", level->plugin);
	if (access(path, F_OK))
		return nm_fail_errno(err, "level %s: no plug-in %s", level->name, path);
	p->object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!p->object)
		return nm_fail(err, NM_EINVAL, "level %s: the plug-in cannot be loaded: %s", level->name,
			       dlerror());
	p->does = dlsym(p->object, "nearmiss_plugin");
	if (!p->does)
		return nm_fail(err, NM_EINVAL,
			       "level %s: %s is no plug-in: it does not define nearmiss_plugin", level->name,
			       path);
	return 0;
}

static int check_plugin(const struct nearmiss_plugin *does, const struct nm_level_spec *level,
			struct nm_error *err)
{
	const char *lacks = NULL;

	if (does->version != NEARMISS_PLUGIN_VERSION)
		return nm_fail(err, NM_EINVAL,
			       "level %s: plug-in %s is of version %u of nearmiss/plugin.h, not %u",
			       level->name, level->plugin, does->version, NEARMISS_PLUGIN_VERSION);
	lacks = !does->start ? "start" : !does->end ? "end" : !does->touch ? "touch" : NULL;
	if (!does->load)
		lacks = "load";
	return lacks ? nm_fail(err, NM_EINVAL, "level %s: plug-in %s has no function '%s'", level->name,
			       level->plugin, lacks)
		     : 0;
}

static int start_plugin(struct nm_plugin *p, const struct nm_level_spec *level, struct nm_error *err)
{
	const struct nearmiss_plugin_level description = {.name = level->name,
							  .sets = level->sets,
							  .ways = level->ways,
							  .line = level->line,
							  .places = level->sets * level->ways};
	const char *why = NULL;

	p->self = p->does->start(&description, &why);
	return p->self ? 0
		       : nm_fail(err, NM_EINVAL, "level %s: plug-in %s refuses it: %s", level->name,
				 level->plugin, why ? why : "it does not say why");
}

int nm_plugin_open(struct nm_plugin *ret_plugin, const struct nm_level_spec *level, struct nm_error *err)
{
	struct nm_plugin p = {0};
	int status = load_plugin(&p, level, err);

	if (!status)
		status = check_plugin(p.does, level, err);
	if (!status)
		status = start_plugin(&p, level, err);
	if (status)
		nm_plugin_close(&p);
	else
		*ret_plugin = p;
	return status;
}

void nm_plugin_close(struct nm_plugin *p)
{
	if (p->self)
		p->does->end(p->self);
	if (p->object)
		dlclose(p->object);
	*p = (struct nm_plugin){0};
}
