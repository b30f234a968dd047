/* SPDX-License-Identifier: MIT
 *
 * assembly.c - annotates instructions: rows of `instructions`, beside the machine code in the profile.
 *
 * A section is a function as the linker knows it, including inlined code; code without symbols is one section
 * per module, which has only the instructions that loaded lines.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "annotate_priv.h"
#include "disassembly.h"
#include "map.h"
#include "text.h"

/* One instruction with figures. */
struct site {
	const char *module, *object, *file, *function;
	uint64_t address;
	struct nm_metric_sums figures;
	int64_t weight, object_weight;
};

/* A stretch of code, and its sites: sites[first .. first + count). */
struct block {
	const char *module, *function;
	uint64_t address;
	uint8_t *bytes;
	size_t size, first, count;
	int variants; /* different codes at this address, in different processes */
	int leads;    /* it is the first of its section */
};

/* From its address on: one line. */
struct origin {
	uint64_t address;
	const char *module, *function, *file;
	int64_t line;
};
struct text {
	struct nm_source source;
	int differs; /* from what was recorded */
};

struct assembly {
	struct nm_annotation *annotation;
	struct nm_vec(struct site) sites;
	struct nm_vec(struct block) blocks;
	struct nm_vec(struct origin) origins;
	struct nm_vec(struct text) sources; /* of files ... */
	struct nm_map source_of;            /* ... by the address of their names */
};

/* ---- reading ---- */

static const char *keep_text(struct nm_annotation *a, const struct nm_rows *rows, unsigned column,
			     int *failed)
{
	const char *text = nm_rows_text(rows, column), *shown = text ? nm_annotate_clean(a, text) : NULL;

	*failed |= text && !shown;
	return shown;
}

/* Adds a row to the last site, or makes a new one. Rows are in the order of addresses and objects. */
static int take_site(struct assembly *as, const struct site *row)
{
	const struct nm_metric *sort = as->annotation->sort;
	struct site *last = as->sites.count ? &as->sites.at[as->sites.count - 1] : NULL;
	int64_t weight = nm_sum_column_weight(sort, &row->figures);

	if (!last || last->module != row->module || last->address != row->address) {
		struct site fresh = *row;

		fresh.weight = fresh.object_weight = weight;
		fresh.object = weight ? row->object : NULL;
		return nm_vec_push(&as->sites, fresh);
	}
	nm_sums_add(&last->figures, &row->figures);
	last->weight = nm_sum_column_weight(sort, &last->figures);
	if (weight > last->object_weight) {
		last->object = row->object;
		last->object_weight = weight;
	}
	return 0;
}

static int read_sites(struct assembly *as)
{
	static const char sql[] =
	    "SELECT module, address, object, file, function"
#define NM_COUNT(name) ", sum(" #name ")"
#include "counts.def"
#undef NM_COUNT
	    " FROM instructions "
	    "WHERE level = ?1 AND (?2 IS NULL OR process = ?2) AND (?3 IS NULL OR thread = ?3) "
	    "AND (?4 IS NULL OR object = ?4 OR object GLOB ?4) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3";
	struct nm_annotation *a = as->annotation;
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(a->profile, sql, &rows, a->err), failed = 0;

	if (status)
		return status;
	nm_annotate_bind(a, rows);
	while ((status = nm_rows_next(rows, a->err)) > 0) {
		struct site site = {.address = (uint64_t)nm_rows_integer(rows, 1)};

		site.module = keep_text(a, rows, 0, &failed);
		site.object = keep_text(a, rows, 2, &failed);
		site.file = keep_text(a, rows, 3, &failed);
		site.function = keep_text(a, rows, 4, &failed);
		site.figures = nm_sums_of_row(rows, 5);
		nm_sums_add(&a->whole.sum, &site.figures);
		if (failed || (site.module && take_site(as, &site))) {
			status = nm_fail_memory(a->err);
			break;
		}
	}
	nm_rows_free(rows);
	return status;
}

static int take_block(struct assembly *as, const struct nm_rows *rows)
{
	struct block block = {.address = (uint64_t)nm_rows_integer(rows, 1)};
	const void *bytes;
	int failed = 0;

	block.module = keep_text(as->annotation, rows, 0, &failed);
	block.function = keep_text(as->annotation, rows, 2, &failed);
	block.variants = (int)nm_rows_integer(rows, 4);
	if (failed)
		return NM_ENOMEM;
	if (!block.module || !nm_rows_blob(rows, 3, &bytes, &block.size) || !block.size)
		return 0;
	block.bytes = malloc(block.size);
	if (block.bytes && !nm_vec_push(&as->blocks, block)) {
		memcpy(block.bytes, bytes, block.size);
		return 0;
	}
	free(block.bytes);
	return NM_ENOMEM;
}

static int read_blocks(struct assembly *as)
{
	struct nm_annotation *a = as->annotation;
	const char *process = a->request->report.process;
	struct nm_rows *rows = NULL;
	int status =
	    nm_profile_query(a->profile,
			     "SELECT module, address, function, bytes, count(DISTINCT bytes) FROM code "
			     "WHERE ?1 IS NULL OR process = ?1 GROUP BY 1, 2 ORDER BY 1, 2",
			     &rows, a->err);

	if (status)
		return status;
	if (process)
		nm_rows_bind_text(rows, 1, process);
	while ((status = nm_rows_next(rows, a->err)) > 0)
		if (take_block(as, rows)) {
			status = nm_fail_memory(a->err);
			break;
		}
	nm_rows_free(rows);
	return status;
}

/* The order of all lists: modules, then addresses. */
static int address_precedes(const char *module, uint64_t address, const char *other_module,
			    uint64_t other_address)
{
	int order = module == other_module ? 0 : strcmp(module, other_module);

	return order < 0 || (!order && address < other_address);
}

/* Blocks of functions do not overlap; of the others only the first instruction is known. */
static void give_sites(struct assembly *as)
{
	const char *without_symbols = NULL; /* the module that has a section for such code */
	size_t site = 0;

	for (size_t i = 0; i < as->blocks.count; i++) {
		struct block *b = &as->blocks.at[i];

		while (site < as->sites.count &&
		       address_precedes(as->sites.at[site].module, as->sites.at[site].address, b->module,
					b->address))
			site++;
		b->first = site;
		while (site < as->sites.count && as->sites.at[site].module == b->module &&
		       as->sites.at[site].address - b->address < (b->function ? b->size : 1))
			site++;
		b->count = site - b->first;
		b->leads = b->function || b->module != without_symbols;
		if (!b->function)
			without_symbols = b->module;
	}
}

static int read_origins(struct assembly *as)
{
	struct nm_annotation *a = as->annotation;
	const char *process = a->request->report.process;
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(a->profile,
				      "SELECT module, address, function, file, line FROM code_lines "
				      "WHERE ?1 IS NULL OR process = ?1 GROUP BY 1, 2 ORDER BY 1, 2",
				      &rows, a->err),
	    failed = 0;

	if (status)
		return status;
	if (process)
		nm_rows_bind_text(rows, 1, process);
	while ((status = nm_rows_next(rows, a->err)) > 0) {
		struct origin o = {.address = (uint64_t)nm_rows_integer(rows, 1)};

		o.module = keep_text(a, rows, 0, &failed);
		o.function = keep_text(a, rows, 2, &failed);
		o.file = keep_text(a, rows, 3, &failed);
		o.line = nm_rows_integer(rows, 4);
		if (failed || (o.module && nm_vec_push(&as->origins, o))) {
			status = nm_fail_memory(a->err);
			break;
		}
	}
	nm_rows_free(rows);
	return status;
}

/* The line of an instruction of a block, or NULL. */
static const struct origin *origin_of(const struct assembly *as, const struct block *b, uint64_t address)
{
	size_t low = 0, end = as->origins.count;
	const struct origin *o;

	while (low < end) {
		size_t middle = low + (end - low) / 2;

		if (address_precedes(b->module, address, as->origins.at[middle].module,
				     as->origins.at[middle].address))
			end = middle;
		else
			low = middle + 1;
	}
	o = low ? &as->origins.at[low - 1] : NULL;
	return o && o->module == b->module && o->address >= b->address ? o : NULL;
}

/* The function that has an address of a module, or NULL. */
static const struct block *function_at(const struct assembly *as, const char *module, uint64_t address)
{
	size_t low = 0, end = as->blocks.count;
	const struct block *b;

	while (low < end) {
		size_t middle = low + (end - low) / 2;

		if (address_precedes(module, address, as->blocks.at[middle].module,
				     as->blocks.at[middle].address))
			end = middle;
		else
			low = middle + 1;
	}
	b = low ? &as->blocks.at[low - 1] : NULL;
	return b && b->function && b->module == module && address - b->address < b->size ? b : NULL;
}

/* ---- rows ---- */

/* The text of a line, or NULL. */
static int find_text(struct assembly *as, struct nm_section *section, const char *file, int64_t line,
		     const char **ret_text)
{
	uint64_t at = file ? nm_map_get(&as->source_of, (uintptr_t)file, UINT64_MAX) : UINT64_MAX;
	const char *text;

	*ret_text = NULL;
	if (!file || !line)
		return 0;
	if (at == UINT64_MAX) {
		struct nm_stored_source known = {.text = NULL};
		struct text found = {.differs = 0};
		int status = nm_annotate_source(as->annotation, file, &known, &found.source);

		free(known.text);
		if (status && status != NM_ENOENT && status != NM_EACCES)
			return status;
		found.differs = !status && *known.digest && strcmp(known.digest, found.source.digest);
		at = as->sources.count;
		if (nm_vec_push(&as->sources, found)) {
			nm_source_done(&found.source);
			return nm_fail_memory(as->annotation->err);
		}
		if (nm_map_put(&as->source_of, (uintptr_t)file, at))
			return nm_fail_memory(as->annotation->err);
	}
	if (as->sources.at[at].differs && !section->note)
		section->note =
		    "a source is not what it was when the program was recorded: lines may be wrong";
	text = nm_source_line(&as->sources.at[at].source, line);
	*ret_text = text ? nm_annotate_clean(as->annotation, text) : NULL;
	return text && !*ret_text ? nm_fail_memory(as->annotation->err) : 0;
}

/* The instruction, with the function that it jumps to or calls. */
static const char *name_target(struct assembly *as, const struct block *block,
			       const struct nm_disassembled *d)
{
	const struct block *to = d->target ? function_at(as, block->module, d->target) : NULL;
	char text[600];

	if (!to)
		return nm_intern(&as->annotation->pool, d->text);
	if (to->address == d->target)
		snprintf(text, sizeof text, "%s <%s>", d->text, to->function);
	else
		snprintf(text, sizeof text, "%s <%s+0x%" PRIx64 ">", d->text, to->function,
			 d->target - to->address);
	return nm_intern(&as->annotation->pool, text);
}

static struct nm_value number_value(int64_t n)
{
	return (struct nm_value){.type = n ? NM_VALUE_INTEGER : NM_VALUE_NULL, .integer = n};
}

static int add_instruction(struct assembly *as, struct nm_section *section, const struct block *block,
			   const struct nm_disassembled *d, const struct site *site,
			   const struct origin *origin, int64_t number)
{
	struct nm_annotation *a = as->annotation;
	struct nm_table *table = &section->lines;
	const char *text, *instruction = name_target(as, block, d), *address;
	struct nm_value *to;
	char hex[24];
	int status = find_text(as, section, origin ? origin->file : NULL, origin ? origin->line : 0, &text);

	snprintf(hex, sizeof hex, "0x%" PRIx64, d->address);
	address = nm_intern(&a->pool, hex);
	if (status)
		return status;
	if (!instruction || !address || nm_vec_reserve(&table->values, table->column_count) ||
	    nm_vec_push(&section->numbers, number))
		return nm_fail_memory(a->err);
	to = &table->values.at[table->values.count];
	for (unsigned c = 0; c < table->column_count; c++)
		to[c] = nm_annotate_figure(a, table->columns[c].name, site ? &site->figures : NULL);
	to[NM_LINE_FILE] = nm_annotate_text(block->module);
	to[NM_LINE_NUMBER] = nm_annotate_text(address);
	to[nm_line_object()] = nm_annotate_text(site ? site->object : NULL);
	to[nm_line_source()] = nm_annotate_text(instruction);
	to[nm_line_source() + NM_ASM_FUNCTION] = nm_annotate_text(origin ? origin->function : NULL);
	to[nm_line_source() + NM_ASM_FILE] = nm_annotate_text(origin ? origin->file : NULL);
	to[nm_line_source() + NM_ASM_LINE] = number_value(origin ? origin->line : 0);
	to[nm_line_source() + NM_ASM_SOURCE] = nm_annotate_text(text);
	table->values.count += table->column_count;
	table->row_count++;
	return 0;
}

static const struct site *site_at(const struct assembly *as, const struct block *b, uint64_t address)
{
	for (size_t i = b->first; i < b->first + b->count; i++)
		if (as->sites.at[i].address == address)
			return &as->sites.at[i];
	return NULL;
}

/* Which instructions are shown: those within reach of heavy ones, or all; malloc'ed. */
static char *choose_instructions(const struct assembly *as, const struct nm_section *section,
				 const struct block *b, const struct nm_instructions *list)
{
	int64_t reach = as->annotation->request->context;
	char *chosen = calloc(list->count + 1, 1);

	for (size_t i = 0; chosen && i < list->count; i++) {
		const struct site *site = site_at(as, b, list->at[i].address);
		size_t from, to;

		if (reach < 0) {
			chosen[i] = 1;
			continue;
		}
		if (!site || !nm_is_heavy(as->annotation, site->weight, section->weight))
			continue;
		from = i > (size_t)reach ? i - (size_t)reach : 0;
		to = list->count - i - 1 > (size_t)reach ? i + (size_t)reach : list->count - 1;
		memset(chosen + from, 1, to - from + 1);
	}
	return chosen;
}

/* Numbers of code without symbols leave one out: what lies between its instructions is not known. */
static int add_block(struct assembly *as, struct nm_section *section, const struct block *b, int64_t *number)
{
	struct nm_instructions list = {0};
	char *chosen = NULL;
	int status = nm_disassemble(b->bytes, b->size, b->address, as->annotation->request->syntax, &list,
				    as->annotation->err);

	if (!b->function && list.count > 1)
		list.count = 1;
	if (!status && !(chosen = choose_instructions(as, section, b, &list)))
		status = nm_fail_memory(as->annotation->err);
	for (size_t i = 0; i < list.count && !status; i++)
		if (chosen[i])
			status =
			    add_instruction(as, section, b, &list.at[i], site_at(as, b, list.at[i].address),
					    origin_of(as, b, list.at[i].address), *number + (int64_t)i);
	*number += (int64_t)list.count + !b->function;
	free(chosen);
	nm_vec_free(&list);
	return status;
}

/* ---- sections ---- */

static int same_section(const struct block *a, const struct block *b)
{
	return a->module == b->module && !a->function && !b->function;
}

/* The blocks of a section that starts with blocks[i]: itself, or all of the module that no function has. */
static int in_block_section(const struct assembly *as, size_t i, size_t k)
{
	assert(i < as->blocks.count && k < as->blocks.count);
	return k == i || same_section(&as->blocks.at[i], &as->blocks.at[k]);
}

static int add_section(struct assembly *as, size_t i)
{
	struct nm_annotation *a = as->annotation;
	struct nm_section section = {
	    .module = as->blocks.at[i].module, .function = as->blocks.at[i].function, .block = i};

	assert(i < as->blocks.count);
	for (size_t k = i; k < as->blocks.count; k++)
		for (size_t s = 0; in_block_section(as, i, k) && s < as->blocks.at[k].count; s++)
			nm_sums_add(&section.sum, &as->sites.at[as->blocks.at[k].first + s].figures);
	section.weight = nm_sum_column_weight(a->sort, &section.sum);
	section.lines.columns = a->line_columns.at;
	section.lines.column_count = (unsigned)a->line_columns.count;
	if (as->blocks.at[i].variants > 1)
		section.note = "processes have different code here: choose one of them with --process";
	return nm_vec_push(&a->sections, section) ? nm_fail_memory(a->err) : 0;
}

/* Does the user mean this block by the name of a file that it has lines of, or of its function or one that
 * was inlined into it? */
static int is_meant(const struct assembly *as, const struct block *b, const char *name, int by_file)
{
	if (!by_file && b->function && nm_is_function(b->function, name))
		return 1;
	for (size_t i = b->first; i < b->first + b->count; i++) {
		const struct site *s = &as->sites.at[i];

		if (by_file ? s->file && nm_is_file(s->file, name)
			    : s->function && nm_is_function(s->function, name))
			return 1;
	}
	return 0;
}

static int add_named(struct assembly *as, const char *name)
{
	struct nm_annotation *a = as->annotation;
	size_t before = a->sections.count;
	int status = 0;

	for (int by_file = 1; by_file >= 0 && a->sections.count == before && !status; by_file--)
		for (size_t i = 0; i < as->blocks.count && !status; i++)
			if (is_meant(as, &as->blocks.at[i], name, by_file) && as->blocks.at[i].leads)
				status = add_section(as, i);
	if (!status && a->sections.count == before)
		status = nm_fail_unnamed(a, name, "has an instruction that loads lines", NULL);
	return status;
}

static int by_weight(const void *left, const void *right)
{
	const struct nm_section *s = left, *y = right;

	if (s->weight != y->weight)
		return s->weight < y->weight ? 1 : -1;
	return (s->block > y->block) - (s->block < y->block);
}

static int add_sections(struct assembly *as)
{
	struct nm_annotation *a = as->annotation;
	int64_t whole = nm_sum_column_weight(a->sort, &a->whole.sum);
	int status = 0;

	for (size_t i = 0; i < a->request->name_count && !status; i++)
		status = add_named(as, a->request->names[i]);
	if (a->request->name_count)
		return status;
	for (size_t i = 0; i < as->blocks.count && !status; i++)
		if (as->blocks.at[i].leads)
			status = add_section(as, i);
	nm_keep_heavy_sections(a, whole, by_weight);
	return status;
}

static int fill_section(struct assembly *as, struct nm_section *section)
{
	int64_t number = 1;
	int status = 0;

	for (size_t k = section->block; k < as->blocks.count && !status; k++)
		if (in_block_section(as, section->block, k))
			status = add_block(as, section, &as->blocks.at[k], &number);
	return status;
}

/* ---- all ---- */

static int lay_out(struct nm_annotation *a)
{
	static const struct nm_column module = {.name = "module", .kind = NM_COLUMN_TEXT};
	static const struct nm_column address = {.name = "address", .title = "address"};
	static const struct nm_column object = {.name = "object", .title = "object", .kind = NM_COLUMN_NAME};
	static const struct nm_column more[] = {{.name = "instruction", .kind = NM_COLUMN_TEXT},
						{.name = "function", .kind = NM_COLUMN_TEXT},
						{.name = "file", .kind = NM_COLUMN_TEXT},
						{.name = "line"},
						{.name = "source", .kind = NM_COLUMN_TEXT}};
	int status = nm_vec_push(&a->line_columns, module) || nm_vec_push(&a->line_columns, address);

	for (unsigned i = 0; i < nm_sum_column_count() && !status; i++)
		status = nm_vec_push(&a->line_columns, nm_sum_column_layout(i));
	if (!status)
		status = nm_vec_push(&a->line_columns, object);
	for (unsigned i = 0; i < sizeof more / sizeof *more && !status; i++)
		status = nm_vec_push(&a->line_columns, more[i]);
	return status ? nm_fail_memory(a->err) : 0;
}

static int is_recorded(struct nm_annotation *a)
{
	int64_t found = -1;
	const int status = nm_read_number(a, "SELECT 1 FROM code WHERE ?1 IS NULL LIMIT 1", NULL, &found);

	if (status < 0)
		return status;
	if (found < 0)
		return nm_fail(a->err, NM_EINVAL, "the profile has no instructions: record with --asm");
	return 0;
}

int nm_asm_gather(struct nm_annotation *a)
{
	struct assembly as = {.annotation = a};
	int status = is_recorded(a);

	if (!status)
		status = lay_out(a);
	if (!status)
		status = read_sites(&as);
	if (!status)
		status = read_blocks(&as);
	if (!status)
		status = read_origins(&as);
	if (!status)
		give_sites(&as);
	if (!status)
		status = add_sections(&as);
	for (size_t i = 0; i < a->sections.count && !status; i++)
		status = fill_section(&as, &a->sections.at[i]);
	for (size_t i = 0; i < as.blocks.count; i++)
		free(as.blocks.at[i].bytes);
	for (size_t i = 0; i < as.sources.count; i++)
		nm_source_done(&as.sources.at[i].source);
	nm_vec_free(&as.sites);
	nm_vec_free(&as.blocks);
	nm_vec_free(&as.origins);
	nm_vec_free(&as.sources);
	nm_map_done(&as.source_of);
	return status;
}
