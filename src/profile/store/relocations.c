/* SPDX-License-Identifier: MIT
 *
 * relocations.c - stores the misses of each relocation, if memory was relocated: for each level and place a list
 * as JSON, from the result's own misses on, which SQLite can take apart. A row for each number would be ten
 * times as large.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "memstream.h"
#include "profile_priv.h"

static const char insert_sql[] = "INSERT INTO relocated VALUES(?,?,?)";

/* Of each place the misses of the result and of each relocation. */
static void sum_places(const struct nm_result_writer *w, unsigned level, uint64_t *sums)
{
	const struct nm_result *r = w->result;
	const size_t columns = r->relocations + 1;

	assert(r->relocated);
	for (size_t attr = 0; attr < r->attr_count; attr++) {
		const struct nm_counts *own = &r->levels[level].counts[attr];
		uint64_t *to = &sums[w->index.place_of[attr] * columns];

		*to += own->read_misses + own->write_misses;
		for (size_t k = 0; k < r->relocations; k++)
			to[k + 1] += r->relocated[(k * r->machine.count + level) * r->attr_count + attr];
	}
}

static int is_zero(const uint64_t *sums, size_t count)
{
	while (count && !sums[count - 1])
		count--;
	return !count;
}

static int store_list(sqlite3_stmt *insert, sqlite3_int64 level, sqlite3_int64 place, const uint64_t *sums,
		      size_t count)
{
	char *text = NULL;
	FILE *out = nm_memstream_open(&text, NULL);
	int status;

	if (!out)
		return SQLITE_NOMEM;
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%c%" PRIu64, i ? ',' : '[', sums[i]);
	fputc(']', out);
	if (nm_memstream_close(out, &text))
		return SQLITE_NOMEM;
	sqlite3_bind_int64(insert, 1, level);
	sqlite3_bind_int64(insert, 2, place);
	sqlite3_bind_text(insert, 3, text, -1, SQLITE_STATIC);
	status = sqlite3_step(insert);
	sqlite3_reset(insert);
	free(text);
	return status == SQLITE_DONE ? 0 : status;
}

static int store_level(const struct nm_result_writer *w, sqlite3_stmt *insert, unsigned level)
{
	const size_t columns = w->result->relocations + 1;
	uint64_t *sums = calloc(w->index.place_count * columns + 1, sizeof *sums);
	int status = sums ? 0 : SQLITE_NOMEM;

	if (!status)
		sum_places(w, level, sums);
	for (uint32_t place = 0; place < w->index.place_count && !status; place++)
		if (!is_zero(&sums[place * columns], columns))
			status = store_list(insert, nm_level_id(w, level), w->places + place,
					    &sums[place * columns], columns);
	free(sums);
	return status;
}

int nm_store_relocations(const struct nm_result_writer *w)
{
	sqlite3_stmt *insert = NULL;
	int status;

	if (!w->result->relocations)
		return 0;
	status = sqlite3_prepare_v2(w->store->db, insert_sql, -1, &insert, NULL);
	for (unsigned level = 0; level < w->result->machine.count && !status; level++)
		status = store_level(w, insert, level);
	sqlite3_finalize(insert);
	return status;
}
