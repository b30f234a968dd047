/* SPDX-License-Identifier: MIT
 *
 * caches.c - the caches of a plan: each machine with each size and each policy of one level.
 *
 * A task carries its machine as a SPEC, so that whoever runs it needs nothing else, not even the same host.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "machine.h"
#include "plan_priv.h"
#include "policy.h"
#include "sources.h"
#include "text.h"

enum { LONGEST_SPEC = 4096 };

/* ---- machines ---- */

static int read_description(const struct nm_sweep_reading *r, const char *name,
			    struct nm_machine *ret_machine, struct nm_error *fault)
{
	const char *path = nm_sweep_path(r, name);
	int64_t modified;
	char *text;
	size_t bytes;
	int status = path ? nm_source_read(path, &text, &bytes, &modified) : NM_ENOMEM;

	if (status == NM_ENOMEM)
		return nm_fail_memory(fault);
	if (status)
		return nm_fail(fault, NM_EINVAL, "cannot read the machine description %s", path);
	status = nm_machine_read(text, path, ret_machine, fault);
	free(text);
	return status;
}

/* A name of `nearmiss machines`, "host", a SPEC, or a file that describes a machine. */
static int find_machine(const struct nm_sweep_reading *r, size_t i, const char *name,
			struct nm_machine *ret_machine)
{
	const struct nm_machine *named = nm_machine_named(name);
	struct nm_error fault;
	int status = 0;

	if (named)
		*ret_machine = *named;
	else if (!strcmp(name, "host"))
		status = nm_machine_host(ret_machine, &fault);
	else if (strchr(name, '='))
		status = nm_machine_parse(name, ret_machine, &fault);
	else if (strpbrk(name, "/."))
		status = read_description(r, name, ret_machine, &fault);
	else
		status = nm_fail(&fault, NM_EINVAL, "unknown machine \"%s\" (see nearmiss machines)", name);
	if (!status)
		status = nm_machine_check_present(ret_machine, 1, &fault);
	if (status)
		return nm_sweep_fault(
		    r, "machines", i, "%s%s", fault.text,
		    strchr(name, '=') && !strchr(name, ',') ? "; in a list a SPEC has quotes around it" : "");
	nm_machine_drop_fetches(ret_machine);
	return ret_machine->count
		   ? 0
		   : nm_sweep_fault(r, "machines", i,
				    "%s has only instruction caches, which a sweep leaves out", name);
}

/* The level that sizes and policies vary. */
static int find_level(const struct nm_sweep_reading *r, const char *name, struct nm_machine *machine,
		      struct nm_level_spec **ret_level)
{
	const char *wanted = r->document->level;
	const struct nm_level_spec *first = nm_machine_data_cache(machine);

	for (unsigned i = 0; i < machine->count; i++) {
		*ret_level = &machine->levels[i];
		if (wanted ? !strcmp(machine->levels[i].name, wanted) : *ret_level == first)
			return 0;
	}
	if (!wanted)
		return nm_sweep_fault(r, "machines", 0, "%s has no cache of data", name);
	return nm_fail(r->err, NM_EINVAL, "%s:%d: %s has no level %s", r->plan->path,
		       nm_yaml_line_of_key(r->lines, "level"), name, wanted);
}

/* ---- what varies ---- */

static int set_size(const struct nm_sweep_reading *r, size_t i, const char *machine,
		    struct nm_level_spec *level)
{
	const char *text = r->document->sizes[i];
	uint64_t bytes, lines, set;

	assert(i < r->document->sizes_count);
	if (!nm_read_size(text, &bytes) || !bytes)
		return nm_sweep_fault(r, "sizes", i, "\"%s\" is no size: give bytes, or 32K, 1M, 2G", text);
	lines = bytes / level->line;
	set = level->sets == 1 ? lines : level->ways;
	if (!set || bytes % level->line || lines % set || set > UINT32_MAX)
		return nm_sweep_fault(
		    r, "sizes", i, "%s of %s cannot have %s: a set of %u lines has %llu bytes", level->name,
		    machine, text, level->ways, (unsigned long long)level->ways * level->line);
	level->size = bytes;
	level->ways = (uint32_t)set;
	level->sets = lines / set;
	return 0;
}

static int set_policy(const struct nm_sweep_reading *r, size_t i, struct nm_level_spec *level)
{
	const char *name = r->document->policies[i];
	char all[300] = "";

	assert(i < r->document->policies_count);
	for (size_t k = 0; nm_policies[k]; k++) {
		if (!strcmp(nm_policies[k]->name, name)) {
			level->policy = nm_policies[k];
			level->seed = 0;
			return 0;
		}
		snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", k ? ", " : "",
			 nm_policies[k]->name);
	}
	return nm_sweep_fault(r, "policies", i, "\"%s\" is no policy: there are %s", name, all);
}

/* ---- the product ---- */

/* The entry of a list that a fault is charged to: the last of the keys that vary. */
static int impossible(const struct nm_sweep_reading *r, const unsigned at[3], const char *why)
{
	const struct nm_sweep_document *d = r->document;

	if (d->policies_count)
		return nm_sweep_fault(r, "policies", at[2], "%s", why);
	return nm_sweep_fault(r, d->sizes_count ? "sizes" : "machines", at[d->sizes_count ? 1 : 0], "%s",
			      why);
}

static int add_cache(const struct nm_sweep_reading *r, const unsigned at[3], const char *name,
		     const struct nm_machine *machine, const struct nm_level_spec *level,
		     struct nm_sweep_halves *caches)
{
	struct nm_strings *pool = &r->plan->pool;
	char spec[LONGEST_SPEC];
	struct nm_machine again;
	struct nm_error fault;
	struct nm_sweep_task cache = {.size = level->size,
				      .work = 1 + nm_machine_runs_ahead(machine),
				      .machine = nm_intern(pool, name)};
	const size_t length = nm_machine_format(machine, spec, sizeof spec);
	int status = 0;

	if (length >= sizeof spec)
		return impossible(r, at, "the description of the machine is too long");
	status = nm_machine_parse(spec, &again, &fault);
	if (status)
		return impossible(r, at, fault.text);
	cache.spec = nm_intern(pool, spec);
	cache.level = nm_intern(pool, level->name);
	cache.policy = nm_intern(pool, *level->plugin ? "plugin" : nm_level_policy(level)->name);
	if (!cache.machine || !cache.spec || !cache.level || !cache.policy || nm_vec_push(caches, cache))
		return nm_fail_memory(r->err);
	return 0;
}

static int vary(const struct nm_sweep_reading *r, unsigned i, const char *name,
		struct nm_sweep_halves *caches)
{
	const struct nm_sweep_document *d = r->document;
	struct nm_machine own, varied;
	struct nm_level_spec *level = NULL;
	int status = find_machine(r, i, name, &own);

	for (unsigned k = 0; k < (d->sizes_count ? d->sizes_count : 1) && !status; k++)
		for (unsigned p = 0; p < (d->policies_count ? d->policies_count : 1) && !status; p++) {
			varied = own;
			status = find_level(r, name, &varied, &level);
			if (!status && d->sizes_count)
				status = set_size(r, k, name, level);
			if (!status && d->policies_count)
				status = set_policy(r, p, level);
			if (!status)
				status =
				    add_cache(r, (const unsigned[]){i, k, p}, name, &varied, level, caches);
		}
	return status;
}

int nm_sweep_caches(const struct nm_sweep_reading *r, struct nm_sweep_halves *caches)
{
	int status = 0;

	if (!r->document->machines_count)
		return vary(r, 0, "host", caches);
	for (unsigned i = 0; i < r->document->machines_count && !status; i++)
		status = vary(r, i, r->document->machines[i], caches);
	return status;
}
