/* SPDX-License-Identifier: MIT
 *
 * samples.c - stores samples of a processor's counters, those of one place together.
 */
#include <assert.h>
#include <stdlib.h>

#include "bins.h"
#include "data_source.h"
#include "row.h"

static const char sql[] = "INSERT INTO sample VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";

static const char *event_name(const struct nm_result *result, unsigned event)
{
	return event < result->event_count ? result->sample_events[event] : NULL;
}

static int store_one(struct nm_result_writer *w, sqlite3_stmt *insert, const struct nm_result_sample *s)
{
	const struct nm_result_attribution *attr = &w->result->attrs[s->attr];
	int status;

	assert(s->attr < w->result->attr_count);
	nm_row_number(insert, 1, (uint64_t)w->process);
	nm_row_number(insert, 2, attr->thread);
	nm_row_number(insert, 3, nm_row_place(w, w->index.place_of[s->attr]));
	nm_row_id(insert, 4, nm_row_text_id(w, event_name(w->result, s->event)));
	nm_row_text(insert, 5, nm_operation_names[s->operation]);
	nm_row_text(insert, 6, nm_served_names[s->level]);
	nm_row_number(insert, 7, s->is_miss);
	nm_row_text(insert, 8, nm_snoop_names[s->snoop]);
	nm_row_text(insert, 9, nm_tlb_names[s->tlb]);
	nm_row_number(insert, 10, s->is_locked);
	if (s->latency_bin) {
		nm_row_number(insert, 11, nm_bin_low(s->latency_bin));
		nm_row_number(insert, 12, nm_bin_high(s->latency_bin));
	} else {
		sqlite3_bind_null(insert, 11);
		sqlite3_bind_null(insert, 12);
	}
	nm_row_number(insert, 13, s->count);
	nm_row_number(insert, 14, s->latency);
	nm_row_id(insert, 15, nm_row_text_id(w, s->type));
	nm_row_id(insert, 16, nm_row_text_id(w, s->field));
	nm_row_number(insert, 17, s->is_shared);
	status = sqlite3_step(insert);
	sqlite3_reset(insert);
	return w->status ? w->status : status == SQLITE_DONE ? SQLITE_OK : status;
}

int nm_store_samples(struct nm_result_writer *w)
{
	sqlite3_stmt *insert = NULL;
	int status = sqlite3_prepare_v2(w->store->db, sql, -1, &insert, NULL);

	for (size_t i = 0; i < w->result->sample_count && !status; i++)
		status = store_one(w, insert, &w->result->samples[i]);
	sqlite3_finalize(insert);
	return status;
}
