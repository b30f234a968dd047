/* SPDX-License-Identifier: MIT
 *
 * digests.c - the MD5 of the sources that were compiled, from line tables of DWARF 5 (clang and rustc write
 * it, gcc does not).
 *
 * libdw (0.183 to 0.191) keeps the names of a table's files, skips their digests, and has no function for
 * them. So the header of the table, up to its list of files, is read again here; names come from libdw,
 * whose file numbers are those of the list. A file whose units have different digests was changed between
 * their compilations, and has no digest.
 */
#include <dwarf.h>
#include <string.h>

#include "symbol_priv.h"

enum { DIGEST = 16, MOST_FORMATS = 16 };

struct cursor {
	const uint8_t *at, *end;
	unsigned offset_bytes; /* of a reference to another section */
	int broken;
};

struct format {
	uint64_t content[MOST_FORMATS], form[MOST_FORMATS];
	unsigned count;
};

static const uint8_t *take_bytes(struct cursor *c, uint64_t bytes)
{
	const uint8_t *at = c->at;

	if (bytes > (uint64_t)(c->end - c->at)) {
		c->broken = 1;
		bytes = 0;
		c->at = c->end;
	}
	c->at += bytes;
	return at;
}

static uint64_t take_number(struct cursor *c, unsigned bytes)
{
	uint64_t n = 0;
	const uint8_t *at = take_bytes(c, bytes);

	if (!c->broken)
		memcpy(&n, at, bytes);
	return n;
}

static uint64_t take_leb128(struct cursor *c)
{
	uint64_t n = 0;

	for (unsigned shift = 0; !c->broken; shift += 7) {
		uint64_t byte = take_number(c, 1);

		n |= shift < 64 ? (byte & 0x7f) << shift : 0;
		if (byte < 0x80)
			break;
	}
	return n;
}

static void skip_form(struct cursor *c, uint64_t form)
{
	const uint8_t *end;

	switch (form) {
	case DW_FORM_string:
		end = memchr(c->at, 0, (size_t)(c->end - c->at));
		take_bytes(c, end ? (uint64_t)(end - c->at) + 1 : UINT64_MAX);
		break;
	case DW_FORM_line_strp:
	case DW_FORM_strp:
	case DW_FORM_strp_sup: take_bytes(c, c->offset_bytes); break;
	case DW_FORM_udata:
	case DW_FORM_strx: take_leb128(c); break;
	case DW_FORM_data1:
	case DW_FORM_strx1: take_bytes(c, 1); break;
	case DW_FORM_data2:
	case DW_FORM_strx2: take_bytes(c, 2); break;
	case DW_FORM_strx3: take_bytes(c, 3); break;
	case DW_FORM_data4:
	case DW_FORM_strx4: take_bytes(c, 4); break;
	case DW_FORM_data8: take_bytes(c, 8); break;
	case DW_FORM_data16: take_bytes(c, DIGEST); break;
	case DW_FORM_block: take_bytes(c, take_leb128(c)); break;
	default: c->broken = 1;
	}
}

static struct format read_format(struct cursor *c)
{
	struct format f = {.count = (unsigned)take_number(c, 1)};

	c->broken |= f.count > MOST_FORMATS;
	for (unsigned i = 0; i < f.count && !c->broken; i++) {
		f.content[i] = take_leb128(c);
		f.form[i] = take_leb128(c);
	}
	return f;
}

/* An entry of a list; its digest, or NULL. */
static const uint8_t *read_entry(struct cursor *c, const struct format *f)
{
	const uint8_t *digest = NULL;

	for (unsigned i = 0; i < f->count && !c->broken; i++) {
		if (f->content[i] == DW_LNCT_MD5 && f->form[i] == DW_FORM_data16)
			digest = c->at;
		skip_form(c, f->form[i]);
	}
	return c->broken ? NULL : digest;
}

/* From the beginning of a unit's line table to the number of its files, with their format. 0 if there are
 * none. */
static uint64_t read_head(struct cursor *c, struct format *ret_format)
{
	uint64_t length = take_number(c, 4), count;

	c->offset_bytes = length == UINT32_MAX ? 8 : 4;
	if (length == UINT32_MAX)
		take_bytes(c, 8);
	if (take_number(c, 2) != 5)
		return 0;
	take_bytes(c, 2); /* sizes of addresses and segment selectors */
	length = take_number(c, c->offset_bytes);
	if (c->broken || length > (uint64_t)(c->end - c->at))
		return 0;
	c->end = c->at + length;
	take_bytes(c, 5); /* of instructions and special opcodes */
	count = take_number(c, 1);
	take_bytes(c, count ? count - 1 : 0);
	*ret_format = read_format(c);
	count = take_leb128(c);
	for (uint64_t i = 0; i < count && ret_format->count && !c->broken; i++)
		read_entry(c, ret_format); /* folders */
	*ret_format = read_format(c);
	count = take_leb128(c);
	return c->broken || !ret_format->count ? 0 : count;
}

static void keep_digest(struct nm_module *module, const char *path, const uint8_t *digest)
{
	static const char digits[] = "0123456789abcdef";
	const char *known = (const char *)(uintptr_t)nm_map_get(&module->digests, (uintptr_t)path, 0), *text;
	char hex[2 * DIGEST + 1] = "";

	for (unsigned i = 0; i < DIGEST; i++) {
		hex[2 * i] = digits[digest[i] >> 4];
		hex[2 * i + 1] = digits[digest[i] & 15];
	}
	text = nm_intern(module_pool(module), known && strcmp(known, hex) ? "" : hex);
	if (path && text)
		(void)nm_map_put(&module->digests, (uintptr_t)path, (uintptr_t)text);
}

/* The bytes of the line tables, from the unit's on. */
static int find_table(struct nm_module *module, struct unit *unit, struct cursor *ret_cursor)
{
	Dwarf_Attribute found;
	Dwarf_Word offset;
	Elf_Scn *section;
	GElf_Shdr header;
	Elf_Data *data;

	if (!dwarf_attr(&unit->die, DW_AT_stmt_list, &found) || dwarf_formudata(&found, &offset) ||
	    !elf_find_section(dwarf_getelf(module->dwarf), ".debug_line", &section, &header) ||
	    header.sh_flags & SHF_COMPRESSED) /* libdw has unpacked it, or could not */
		return 0;
	data = elf_getdata(section, NULL);
	if (!data || !data->d_buf || offset >= data->d_size)
		return 0;
	ret_cursor->at = (const uint8_t *)data->d_buf + offset;
	ret_cursor->end = (const uint8_t *)data->d_buf + data->d_size;
	return 1;
}

void unit_read_digests(struct nm_module *module, struct unit *unit)
{
	struct cursor c = {0};
	struct format format = {0};
	Dwarf_Files *files;
	size_t names;
	uint64_t count = find_table(module, unit, &c) ? read_head(&c, &format) : 0;

	if (!count || dwarf_getsrcfiles(&unit->die, &files, &names))
		return;
	for (size_t i = 0; i < names && i < count && !c.broken; i++) {
		const uint8_t *digest = read_entry(&c, &format);

		if (digest)
			keep_digest(module, path_of(module, &unit->die, dwarf_filesrc(files, i, NULL, NULL)),
				    digest);
	}
}

const char *module_digest(struct nm_module *module, const char *path)
{
	const char *known = (const char *)(uintptr_t)nm_map_get(&module->digests, (uintptr_t)path, 0);

	return known && *known ? known : NULL;
}
