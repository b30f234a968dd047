/* SPDX-License-Identifier: MIT
 *
 * stamps.c - what the files were like that answers come from, so that a later run can tell whether they still are
 * (name_cache.c).
 *
 * A file is stamped when it is looked for, before it is opened: if it is replaced in between, the stamp is that of the
 * older one, and fits no more.  Places where debug information was looked for in vain have stamps too.
 *
 * What stamps cannot vouch for is not kept: modules without a build-id, which are not opened again for further questions
 * (store.c), split units, and debug information whose shared part is missing.
 */
#include <string.h>
#include <sys/stat.h>

#include "name_cache.h"

static struct stamp stamp_of(const char *path)
{
	struct stat s;

	if (stat(path, &s))
		return (struct stamp){path, UINT64_MAX, UINT64_MAX};
	return (struct stamp){path, (uint64_t)s.st_size,
			      (uint64_t)s.st_mtim.tv_sec * 1000000000 + (uint64_t)s.st_mtim.tv_nsec};
}

void stamp_file(struct nm_symbols *symbols, const char *path)
{
	struct name_cache *c = symbols->cache;
	const char *interned = c ? nm_intern(&symbols->pool, path) : NULL;

	if (!c)
		return;
	for (size_t i = 0; i < c->stamps.count; i++)
		if (c->stamps.at[i].path == interned)
			return;
	if (!interned || nm_vec_push(&c->stamps, stamp_of(interned)))
		c->unfit = 1;
}

static int is_as_stamped(const struct stamp *was)
{
	const struct stamp is = stamp_of(was->path);

	return is.bytes == was->bytes && is.modified == was->modified;
}

static int has_split_units(const struct nm_module *module)
{
	for (size_t i = 0; i < module->units.count; i++)
		if (module->units.at[i].body.cu != module->units.at[i].die.cu)
			return 1;
	return 0;
}

static int lacks_shared_part(const struct nm_module *module)
{
	Elf_Scn *section;
	GElf_Shdr header;

	return module->dwarf &&
	       elf_find_section(dwarf_getelf(module->dwarf), ".gnu_debugaltlink", &section, &header) &&
	       !dwarf_getalt(module->dwarf);
}

int stamps_vouch(const struct nm_symbols *symbols)
{
	for (size_t i = 0; i < symbols->modules.count; i++) {
		const struct nm_module *m = symbols->modules.at[i];

		if ((m->had_file && (!m->wanted_id_bytes || m->path[0] != '/')) || has_split_units(m) ||
		    lacks_shared_part(m))
			return 0;
	}
	return !symbols->cache->unfit;
}

int stamps_fit(const struct name_cache *c)
{
	for (size_t i = 0; i < c->stamps.count; i++)
		if (!is_as_stamped(&c->stamps.at[i]))
			return 0;
	return 1;
}
