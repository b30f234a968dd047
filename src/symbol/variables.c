/* SPDX-License-Identifier: MIT
 *
 * variables.c - the module's variables by address: those that DWARF declares, completed by the symbol table.
 *
 * If both have an address, name and type are DWARF's, and the size is the larger of the two (the symbol
 * knows the length of a flexible array). A mangled symbol also gives the name if DWARF does not say in which
 * function or namespace the variable is. A symbol that covers a Fortran COMMON block shows only where no
 * member is declared. Bytes without a name are a hole, from the variable before to the variable after, with
 * the name of the section. Types and positions of declarations are read when a variable is first queried,
 * since most never are.
 */
#include <dwarf.h>
#include <stdlib.h>

#include "dwarf/die.h"
#include "symbol_priv.h"

struct merge {
	struct variables *variables;
	struct spans *spans;
	struct elf_symbols *symbols;
	int is_thread_local;
};

/* Of entries with the same address the first in the file; symbols are added later. */
static int by_address(const void *left, const void *right)
{
	const struct variable *v = left, *b = right;
	if (v->seen.low != b->seen.low)
		return v->seen.low < b->seen.low ? -1 : 1;
	return v->order < b->order ? -1 : v->order > b->order;
}

/* Of several entries for one place (abstract and concrete, COMMON in several units) the first stays. */
static void sort_and_drop_repeats(struct variables *list)
{
	size_t kept = 0;
	if (list->count)
		qsort(list->at, list->count, sizeof *list->at, by_address);
	for (size_t i = 0; i < list->count; i++)
		if (!kept || list->at[kept - 1].seen.low != list->at[i].seen.low)
			list->at[kept++] = list->at[i];
		else if (list->at[kept - 1].seen.end < list->at[i].seen.end)
			list->at[kept - 1].seen.end = list->at[i].seen.end;
	list->count = kept;
}

static struct variable *declared_at(struct variables *list, size_t count, uint64_t low)
{
	size_t first = 0, end = count;
	while (first < end) {
		size_t middle = first + (end - first) / 2;
		if (list->at[middle].seen.low < low)
			first = middle + 1;
		else
			end = middle;
	}
	return first < count && list->at[first].seen.low == low ? &list->at[first] : NULL;
}

static void add_symbols(struct nm_module *module, const struct merge *merge)
{
	size_t declared = merge->variables->count;
	for (size_t i = 0; i < merge->symbols->count; i++) {
		struct elf_symbol *symbol = &merge->symbols->at[i];
		struct variable *known = declared_at(merge->variables, declared, symbol->low);
		if (known && (known->seen.kind != NM_VAR_COMMON_MEMBER || symbol->end <= known->seen.end)) {
			if (known->seen.end < symbol->end)
				known->seen.end = symbol->end;
			if (known->lacks_scope && is_mangled(symbol->raw))
				known->seen.name = elf_symbol_plain(module, symbol);
			continue;
		}
		struct variable variable = {.is_completed = 1};
		variable.seen.name = elf_symbol_plain(module, symbol);
		variable.seen.low = symbol->low;
		variable.seen.end = symbol->end;
		variable.seen.kind = merge->is_thread_local    ? NM_VAR_THREAD_LOCAL
				     : (symbol->rank & 3) == 2 ? NM_VAR_STATIC
							       : NM_VAR_GLOBAL;
		if (!variable.seen.name || nm_vec_push(merge->variables, variable))
			return;
	}
}

/* A variable of unknown size owns its first byte. */
static void make_spans(const struct merge *merge)
{
	struct variables *list = merge->variables;
	for (size_t i = 0; i < list->count; i++) {
		struct nm_variable *seen = &list->at[i].seen;
		if (seen->end == seen->low)
			seen->end = seen->low + 1;
		if (nm_vec_push(merge->spans, (struct span){seen->low, seen->end, (uint32_t)i}))
			break;
	}
	if (spans_flatten(merge->spans))
		nm_vec_free(merge->spans);
}

void module_read_variables(struct nm_module *module)
{
	if (module->variables_read)
		return;
	module->variables_read = 1;
	module_read_symbols(module);
	dwarf_variables_read(module);
	struct merge merges[] = {{&module->variables, &module->variable_spans, &module->objects, 0},
				 {&module->tls_variables, &module->tls_spans, &module->tls_objects, 1}};
	for (int i = 0; i < 2; i++) {
		sort_and_drop_repeats(merges[i].variables);
		add_symbols(module, &merges[i]);
		make_spans(&merges[i]);
	}
}

/* The variable with its type and declaration. */
static const struct nm_variable *complete_variable(struct nm_module *module, struct variable *variable)
{
	if (!variable->is_completed) {
		variable->is_completed = 1;
		const char *file = die_file(&variable->die, DW_AT_decl_file);
		variable->seen.type = type_name(module, &variable->die, variable->language);
		variable->seen.file = path_near(module, &variable->die, file);
		variable->seen.line = (uint32_t)die_number(&variable->die, DW_AT_decl_line);
		variable->seen.alignment = die_number(&variable->die, DW_AT_alignment);
	}
	return &variable->seen;
}

const struct nm_type *module_variable_type(struct nm_module *module, uint64_t vaddr, int is_thread_local)
{
	module_read_variables(module);
	const struct spans *spans = is_thread_local ? &module->tls_spans : &module->variable_spans;
	struct variables *list = is_thread_local ? &module->tls_variables : &module->variables;
	const struct span *span = spans_find(spans, vaddr);
	struct variable *variable = span ? &list->at[span->id] : NULL;
	return variable ? type_of_variable(module, &variable->die, variable->language) : NULL;
}

/* The part of [low, end) around address that no variable owns. */
static void narrow_to_hole(const struct spans *spans, uint64_t address, uint64_t *low, uint64_t *end)
{
	size_t next = spans_search(spans, address);
	if (next < spans->count && spans->at[next].low < *end)
		*end = spans->at[next].low;
	if (next > 0 && spans->at[next - 1].end > *low)
		*low = spans->at[next - 1].end;
}

int module_variable(struct nm_module *module, uint64_t vaddr, struct nm_variable *ret_variable)
{
	module_read_variables(module);
	const struct span *span = spans_find(&module->variable_spans, vaddr);
	if (span) {
		*ret_variable = *complete_variable(module, &module->variables.at[span->id]);
		return 1;
	}
	for (size_t i = 0; i < module->sections.count; i++) {
		const struct section *section = &module->sections.at[i];
		if (vaddr < section->low || vaddr >= section->end)
			continue;
		struct nm_variable hole = {.name = section->name, .kind = NM_VAR_SECTION};
		hole.low = section->low;
		hole.end = section->end;
		narrow_to_hole(&module->variable_spans, vaddr, &hole.low, &hole.end);
		*ret_variable = hole;
		return 1;
	}
	return 0;
}

int module_tls_variable(struct nm_module *module, uint64_t offset, struct nm_variable *ret_variable)
{
	if (offset >= module->tls_bytes)
		return 0;
	module_read_variables(module);
	const struct span *span = spans_find(&module->tls_spans, offset);
	if (span) {
		*ret_variable = *complete_variable(module, &module->tls_variables.at[span->id]);
		return 1;
	}
	int has_image = offset < module->tls_image_bytes;
	struct nm_variable hole = {.kind = NM_VAR_SECTION};
	hole.name = nm_intern(module_pool(module), has_image ? ".tdata" : ".tbss");
	hole.low = has_image ? 0 : module->tls_image_bytes;
	hole.end = has_image ? module->tls_image_bytes : module->tls_bytes;
	narrow_to_hole(&module->tls_spans, offset, &hole.low, &hole.end);
	*ret_variable = hole;
	return hole.name != NULL;
}
