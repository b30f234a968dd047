/* SPDX-License-Identifier: MIT
 *
 * instructions.c - stores counts of single instructions, the fields that they access and their code, if a recording
 * distinguishes them.
 *
 * A row is one instruction with one object, to which counts refer. The counts of a site are the sums over its
 * instructions.
 */
#include <stdlib.h>
#include <string.h>

#include "profile_priv.h"

struct item {
	const char *module;
	uint64_t address;
	uint32_t place, thread, attr;
	uint32_t number; /* of the instruction with its place */
};

static int by_address(const void *a, const void *b)
{
	const struct item *i = a, *y = b;
	int order = 0;

	if (i->module != y->module)
		order = !i->module || !y->module ? (y->module == NULL) - (i->module == NULL)
						 : strcmp(i->module, y->module);
	if (order)
		return order;
	if (i->address != y->address)
		return i->address > y->address ? 1 : -1;
	return (i->place > y->place) - (i->place < y->place);
}

static int by_number(const void *a, const void *b)
{
	const struct item *i = a, *y = b;

	if (i->thread != y->thread)
		return i->thread > y->thread ? 1 : -1;
	if (i->number != y->number)
		return i->number > y->number ? 1 : -1;
	return (i->attr > y->attr) - (i->attr < y->attr);
}

static int run_insert(sqlite3_stmt *insert)
{
	int status = sqlite3_step(insert);

	sqlite3_reset(insert);
	return status == SQLITE_DONE ? SQLITE_OK : status;
}

/* A text's id, or NULL without one. */
static int bind_text(const struct nm_result_writer *w, sqlite3_stmt *insert, int column, const char *text)
{
	sqlite3_int64 id;
	int status = nm_names_text(&w->store->names, text, &id);

	if (status)
		return status;
	return id ? sqlite3_bind_int64(insert, column, id) : sqlite3_bind_null(insert, column);
}

static int prepare_insert(const struct nm_result_writer *w, const char *sql, sqlite3_stmt **ret_insert)
{
	return sqlite3_prepare_v2(w->store->db, sql, -1, ret_insert, NULL);
}

static int store_instructions(const struct nm_result_writer *w, struct item *items)
{
	sqlite3_stmt *insert = NULL;
	uint32_t number = 0;
	int status = prepare_insert(w, "INSERT INTO instruction VALUES(?,?,?,?)", &insert);

	for (size_t i = 0; i < w->result->attr_count && !status; i++) {
		struct item *item = &items[i];

		if (i && !by_address(&items[i - 1], item)) {
			item->number = number - 1;
			continue;
		}
		item->number = number++;
		sqlite3_bind_int64(insert, 1, w->store->instructions + item->number);
		status = bind_text(w, insert, 2, item->module);
		sqlite3_bind_int64(insert, 3, (sqlite3_int64)item->address);
		sqlite3_bind_int64(insert, 4, w->places + item->place);
		if (!status)
			status = run_insert(insert);
	}
	sqlite3_finalize(insert);
	return status;
}

static void add_counts(uint64_t *sum, const struct nm_counts *more)
{
	uint64_t values[NM_COUNTS];

	memcpy(values, more, sizeof values);
	for (int i = 0; i < NM_COUNTS; i++)
		sum[i] += values[i];
}

static int store_counts(const struct nm_result_writer *w, const struct item *items, unsigned level)
{
	static const uint64_t none[NM_COUNTS];
	sqlite3_stmt *insert = NULL;
	size_t i = 0;
	int status =
	    prepare_insert(w, "INSERT INTO instruction_cell VALUES(?,?,?," NM_COUNT_MARKS ")", &insert);

	while (i < w->result->attr_count && !status) {
		const struct item *first = &items[i];
		uint64_t sum[NM_COUNTS] = {0};

		for (; i < w->result->attr_count && items[i].thread == first->thread &&
		       items[i].number == first->number;
		     i++)
			add_counts(sum, &w->result->levels[level].counts[items[i].attr]);
		if (!memcmp(sum, none, sizeof sum))
			continue;
		sqlite3_bind_int64(insert, 1, nm_level_id(w, level));
		sqlite3_bind_int64(insert, 2, first->thread);
		sqlite3_bind_int64(insert, 3, w->store->instructions + first->number);
		for (int k = 0; k < NM_COUNTS; k++)
			sqlite3_bind_int64(insert, 4 + k, (sqlite3_int64)sum[k]);
		status = run_insert(insert);
	}
	sqlite3_finalize(insert);
	return status;
}

static int store_lines(const struct nm_result_writer *w, const struct nm_result_code *code)
{
	sqlite3_stmt *insert = NULL;
	int status = prepare_insert(w, "INSERT OR IGNORE INTO code_line VALUES(?,?,?,?,?,?)", &insert);

	sqlite3_bind_int64(insert, 1, w->process);
	if (!status)
		status = bind_text(w, insert, 2, code->module);
	for (size_t i = 0; i < code->line_count && !status; i++) {
		const struct nm_result_line *line = &code->lines[i];

		sqlite3_bind_int64(insert, 3, (sqlite3_int64)line->address);
		status = bind_text(w, insert, 4, line->function);
		if (!status)
			status = bind_text(w, insert, 5, line->file);
		if (line->line)
			sqlite3_bind_int64(insert, 6, line->line);
		else
			sqlite3_bind_null(insert, 6);
		if (!status)
			status = run_insert(insert);
	}
	sqlite3_finalize(insert);
	return status;
}

static int store_code(const struct nm_result_writer *w)
{
	sqlite3_stmt *insert = NULL;
	int status = prepare_insert(w, "INSERT OR IGNORE INTO code_block VALUES(?,?,?,?,?)", &insert);

	sqlite3_bind_int64(insert, 1, w->process);
	for (size_t i = 0; i < w->result->code_count && !status; i++) {
		const struct nm_result_code *code = &w->result->code[i];

		status = bind_text(w, insert, 2, code->module);
		sqlite3_bind_int64(insert, 3, (sqlite3_int64)code->address);
		if (!status)
			status = bind_text(w, insert, 4, code->function);
		if (!status)
			status = sqlite3_bind_blob64(insert, 5, code->bytes, code->size, SQLITE_STATIC);
		if (!status)
			status = run_insert(insert);
		if (!status)
			status = store_lines(w, code);
	}
	sqlite3_finalize(insert);
	return status;
}

/* `number` of each attribution key: that of its instruction. */
static int store_field_uses(const struct nm_result_writer *w, const uint32_t *number)
{
	sqlite3_stmt *insert = NULL;
	int status = prepare_insert(w,
				    "INSERT INTO instruction_field VALUES(?,?,?,?,?) "
				    "ON CONFLICT DO UPDATE SET accesses = accesses + excluded.accesses",
				    &insert);

	sqlite3_bind_int64(insert, 1, w->process);
	for (size_t i = 0; i < w->result->field_use_count && !status; i++) {
		const struct nm_result_field_use *use = &w->result->field_uses[i];
		const struct nm_result_field *field = &w->result->fields[use->field];

		sqlite3_bind_int64(insert, 2, w->store->instructions + number[use->attr]);
		status = bind_text(w, insert, 3, field->type);
		if (!status)
			status = bind_text(w, insert, 4, field->name);
		sqlite3_bind_int64(insert, 5, (sqlite3_int64)(use->accesses[0] + use->accesses[1]));
		if (!status && use->accesses[0] + use->accesses[1])
			status = run_insert(insert);
	}
	sqlite3_finalize(insert);
	return status;
}

static int store_fields(const struct nm_result_writer *w, const struct item *items)
{
	uint32_t *number = calloc(w->result->attr_count + 1, sizeof *number);
	int status = number ? SQLITE_OK : SQLITE_NOMEM;

	for (size_t i = 0; number && i < w->result->attr_count; i++)
		number[items[i].attr] = items[i].number;
	if (number)
		status = store_field_uses(w, number);
	free(number);
	return status;
}

int nm_store_instructions(const struct nm_result_writer *w)
{
	const struct nm_result *result = w->result;
	struct item *items;
	int status;

	if (!result->by_instruction)
		return SQLITE_OK;
	items = calloc(result->attr_count + 1, sizeof *items);
	if (!items)
		return SQLITE_NOMEM;
	for (size_t i = 0; i < result->attr_count; i++) {
		const struct nm_result_site *site = &result->sites[result->attrs[i].site];

		items[i] = (struct item){site->module,         site->address,
					 w->index.place_of[i], result->attrs[i].thread,
					 (uint32_t)i,          0};
	}
	qsort(items, result->attr_count, sizeof *items, by_address);
	status = store_instructions(w, items);
	if (!status)
		status = store_fields(w, items);
	qsort(items, result->attr_count, sizeof *items, by_number);
	for (unsigned level = 0; level < result->machine.count && !status; level++)
		status = store_counts(w, items, level);
	w->store->instructions += (sqlite3_int64)result->attr_count; /* as many at most */
	if (!status)
		status = store_code(w);
	free(items);
	return status;
}
