/* SPDX-License-Identifier: MIT
 *
 * symbols.c - the ELF symbol table as sorted lists of functions, objects and thread-local objects.
 *
 * They come from .symtab of the program or of its debug file, else from .dynsym. Of symbols with the same
 * address one is kept: with a type before without, global before weak before local, then the shortest, then
 * the alphabetically first. The rule depends only on the names. The symbol that is kept has the largest size
 * of them. Symbols without size (assembly) extend to the next symbol or the end of their section, and are
 * dropped if they are labels inside a sized one. Versions (stdout@GLIBC_2.2.5) are cut off.
 */
#include <stdlib.h>
#include <string.h>

#include "symbol_priv.h"

static int by_address(const void *left, const void *right)
{
	const struct elf_symbol *s = left, *b = right;
	if (s->low != b->low)
		return s->low < b->low ? -1 : 1;
	if (s->rank != b->rank)
		return s->rank < b->rank ? -1 : 1;
	size_t n = strlen(s->raw), m = strlen(b->raw);
	if (n != m)
		return n < m ? -1 : 1;
	return strcmp(s->raw, b->raw);
}

static void sort_and_drop_aliases(struct elf_symbols *symbols)
{
	size_t kept = 0;
	if (symbols->count)
		qsort(symbols->at, symbols->count, sizeof *symbols->at, by_address);
	for (size_t i = 0; i < symbols->count; i++) {
		struct elf_symbol *last = kept ? &symbols->at[kept - 1] : NULL;
		if (!last || last->low != symbols->at[i].low)
			symbols->at[kept++] = symbols->at[i];
		else if (last->end < symbols->at[i].end)
			last->end = symbols->at[i].end;
	}
	symbols->count = kept;
}

static int section_by_low(const void *left, const void *right)
{
	const struct section *s = left, *b = right;
	return s->low < b->low ? -1 : s->low > b->low;
}

static void read_sections(struct nm_module *module)
{
	Elf *elf = module->file.elf ? module->file.elf : module->debug.elf;
	size_t names;
	if (!elf || elf_getshdrstrndx(elf, &names) != 0)
		return;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr header;
		if (!gelf_getshdr(scn, &header) || !(header.sh_flags & SHF_ALLOC) || !header.sh_size ||
		    header.sh_addr + header.sh_size < header.sh_addr)
			continue;
		if ((header.sh_flags & SHF_TLS) && header.sh_type == SHT_NOBITS)
			continue;
		const char *name = elf_strptr(elf, names, header.sh_name);
		name = nm_intern(module_pool(module), name && *name ? name : "<section>");
		struct section section = {header.sh_addr, header.sh_addr + header.sh_size, name,
					  (header.sh_flags & SHF_EXECINSTR) != 0};
		if (!name || nm_vec_push(&module->sections, section))
			return;
	}
	if (module->sections.count)
		qsort(module->sections.at, module->sections.count, sizeof *module->sections.at,
		      section_by_low);
}

static uint64_t section_end(const struct nm_module *module, uint64_t vaddr)
{
	for (size_t i = 0; i < module->sections.count; i++)
		if (vaddr >= module->sections.at[i].low && vaddr < module->sections.at[i].end)
			return module->sections.at[i].end;
	return vaddr;
}

static const char *without_version(struct nm_module *module, const char *name)
{
	const char *at = strchr(name, '@');
	return at && at != name ? nm_intern_n(module_pool(module), name, (size_t)(at - name)) : name;
}

/* The list that a symbol belongs to, or NULL. */
static struct elf_symbols *list_of(struct nm_module *module, const GElf_Sym *symbol, int *ret_untyped)
{
	*ret_untyped = 0;
	switch (GELF_ST_TYPE(symbol->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC: return module_holds(module, symbol->st_value) ? &module->functions : NULL;
	case STT_OBJECT:
	case STT_COMMON:
		return module_holds(module, symbol->st_value) && symbol->st_size ? &module->objects : NULL;
	case STT_TLS: return symbol->st_value < module->tls_bytes ? &module->tls_objects : NULL;
	case STT_NOTYPE:
		*ret_untyped = 1;
		if (module_holds_code(module, symbol->st_value))
			return &module->functions;
		return module_holds(module, symbol->st_value) && symbol->st_size ? &module->objects : NULL;
	default: return NULL;
	}
}

/* LLVM's name of a constant, "anon.0f3c...d7.12", which says nothing to a reader. */
static int is_hash(const char *name)
{
	enum { DIGITS = 32 };

	return !strncmp(name, "anon.", 5) && strspn(name + 5, "0123456789abcdef") == DIGITS;
}

static void read_symbol(struct nm_module *module, const GElf_Sym *symbol, const char *name)
{
	int untyped;
	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS || !name || !*name)
		return;
	struct elf_symbols *list = list_of(module, symbol, &untyped);
	uint64_t end = symbol->st_value + symbol->st_size;
	if (!list || is_hash(name) || end < symbol->st_value ||
	    (untyped && (name[0] == '.' || name[0] == '$')))
		return;
	unsigned bind = GELF_ST_BIND(symbol->st_info);
	uint8_t rank = (uint8_t)((bind == STB_LOCAL ? 2 : bind == STB_WEAK ? 1 : 0) + (untyped ? 4 : 0));
	name = without_version(module, name);
	if (name)
		(void)nm_vec_push(list, (struct elf_symbol){symbol->st_value, end, name, NULL, rank});
}

static int read_table(struct nm_module *module, Elf *elf, const char *table)
{
	Elf_Scn *section;
	GElf_Shdr header;
	if (!elf || !elf_find_section(elf, table, &section, &header) || header.sh_type == SHT_NOBITS ||
	    !header.sh_entsize)
		return 0;
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data ? data->d_size / header.sh_entsize : 0;
	for (size_t i = 1; i < count; i++) {
		GElf_Sym symbol;
		if (gelf_getsym(data, (int)i, &symbol))
			read_symbol(module, &symbol, elf_strptr(elf, header.sh_link, symbol.st_name));
	}
	return count > 1;
}

/* Gives functions without size their extent, and makes the spans. */
static void lay_out_functions(struct nm_module *module)
{
	struct elf_symbols *list = &module->functions;
	uint64_t covered = 0; /* up to here the sized functions reach */
	for (size_t i = 0; i < list->count; i++) {
		struct elf_symbol *symbol = &list->at[i];
		if (symbol->end == symbol->low && symbol->low >= covered) {
			symbol->end = section_end(module, symbol->low);
			if (i + 1 < list->count && list->at[i + 1].low < symbol->end)
				symbol->end = list->at[i + 1].low;
		}
		covered = symbol->end > covered ? symbol->end : covered;
		if (nm_vec_push(&module->function_spans,
				(struct span){symbol->low, symbol->end, (uint32_t)i}))
			break;
	}
	if (spans_flatten(&module->function_spans))
		nm_vec_free(&module->function_spans);
}

void module_read_symbols(struct nm_module *module)
{
	if (module->symbols_read)
		return;
	module->symbols_read = 1;
	module_find_debug(module);
	read_sections(module);
	if (!read_table(module, module->file.elf, ".symtab") &&
	    !read_table(module, module->debug.elf, ".symtab"))
		(void)(read_table(module, module->file.elf, ".dynsym") ||
		       read_table(module, module->debug.elf, ".dynsym"));
	sort_and_drop_aliases(&module->functions);
	plt_read(module);
	sort_and_drop_aliases(&module->functions);
	sort_and_drop_aliases(&module->objects);
	sort_and_drop_aliases(&module->tls_objects);
	lay_out_functions(module);
}

const char *elf_symbol_plain(struct nm_module *module, struct elf_symbol *symbol)
{
	if (!symbol->plain)
		symbol->plain = demangle(module_pool(module), symbol->raw);
	return symbol->plain;
}

/* The function symbol whose address is vaddr, or NULL. */
struct elf_symbol *elf_symbol_starting_at(struct nm_module *module, uint64_t vaddr)
{
	module_read_symbols(module);
	const struct span *span = spans_find(&module->function_spans, vaddr);
	return span && module->functions.at[span->id].low == vaddr ? &module->functions.at[span->id] : NULL;
}
