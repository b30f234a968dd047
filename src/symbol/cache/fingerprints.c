/* SPDX-License-Identifier: MIT
 *
 * fingerprints.c - size and time of the files that answers came from: a later run uses the answers only if
 * they match.
 *
 * A file is fingerprinted before it is opened: if it is replaced in between, the fingerprint is the older
 * file's and will not match. Paths where debug information was not found have fingerprints too.
 *
 * What fingerprints do not cover is not cached: modules without a build-id (store.c does not open them
 * again), split units, and debug information whose shared part (.gnu_debugaltlink) is missing.
 */
#include <string.h>
#include <sys/stat.h>

#include "cache/folder.h"

static struct fingerprint fingerprint_of(const char *path)
{
	struct stat s;

	if (stat(path, &s))
		return (struct fingerprint){path, UINT64_MAX, UINT64_MAX};
	return (struct fingerprint){path, (uint64_t)s.st_size,
				    (uint64_t)s.st_mtim.tv_sec * 1000000000 + (uint64_t)s.st_mtim.tv_nsec};
}

void fingerprint_file(struct nm_symbols *symbols, const char *path)
{
	struct symbol_cache *c = symbols->cache;
	const char *interned = c ? nm_intern(&symbols->pool, path) : NULL;

	if (!c)
		return;
	for (size_t i = 0; i < c->fingerprints.count; i++)
		if (c->fingerprints.at[i].path == interned)
			return;
	if (!interned || nm_vec_push(&c->fingerprints, fingerprint_of(interned)))
		c->incomplete = 1;
}

static int is_unchanged(const struct fingerprint *was)
{
	const struct fingerprint is = fingerprint_of(was->path);

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

int fingerprints_suffice(const struct nm_symbols *symbols)
{
	for (size_t i = 0; i < symbols->modules.count; i++) {
		const struct nm_module *m = symbols->modules.at[i];

		if ((m->had_file && (!m->wanted_id_bytes || m->path[0] != '/')) || has_split_units(m) ||
		    lacks_shared_part(m))
			return 0;
	}
	return !symbols->cache->incomplete;
}

int fingerprints_match(const struct symbol_cache *c)
{
	for (size_t i = 0; i < c->fingerprints.count; i++)
		if (!is_unchanged(&c->fingerprints.at[i]))
			return 0;
	return 1;
}
