/* SPDX-License-Identifier: MIT
 *
 * sharing.c - stores the blocks that cores contend for, and the messages of their protocol.
 *
 * Attributions that share a thread and a place are not summed here: views may have several rows for them,
 * which queries add up.
 */
#include "profile_priv.h"

#include <assert.h>

static const char touch_sql[] = "INSERT INTO touch VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
static const char contender_sql[] = "INSERT INTO contender VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
static const char latent_sql[] = "INSERT INTO latent_pair VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
static const char message_sql[] = "INSERT INTO message VALUES(?,?,?,?,?)";

/* A row being built. */
struct row {
	const struct nm_result_writer *w;
	sqlite3_stmt *insert;
	int column, status;
	uint64_t schedule;
};

static void bind_number(struct row *r, uint64_t value)
{
	sqlite3_bind_int64(r->insert, ++r->column, (sqlite3_int64)value);
}

static void number_or_null(struct row *r, uint64_t value, int is_known)
{
	if (is_known)
		bind_number(r, value);
	else
		sqlite3_bind_null(r->insert, ++r->column);
}

/* Binds the id of a text. */
static void bind_name(struct row *r, const char *text)
{
	sqlite3_int64 id = 0;

	if (!r->status)
		r->status = nm_names_text(&r->w->store->names, text, &id);
	number_or_null(r, (uint64_t)id, id != 0);
}

static void thread_and_place(struct row *r, uint32_t attr)
{
	assert(attr < r->w->result->attr_count);
	bind_number(r, r->w->result->attrs[attr].thread);
	bind_number(r, (uint64_t)r->w->places + r->w->index.place_of[attr]);
}

static void end_row(struct row *r)
{
	int status = sqlite3_step(r->insert);

	assert(r->column == sqlite3_bind_parameter_count(r->insert));
	sqlite3_reset(r->insert);
	r->column = 0;
	if (status != SQLITE_DONE && !r->status)
		r->status = status;
}

static void store_touch(struct row *r, const struct nm_result_coherence *c, const struct nm_result_touch *t)
{
	const struct nm_contended_touch *touch = &t->touch;
	const uint64_t block = touch->address & ~(c->block - 1);

	bind_number(r, (uint64_t)nm_level_id(r->w, c->level));
	bind_number(r, block);
	bind_number(r, touch->address - block);
	bind_number(r, touch->bytes);
	thread_and_place(r, touch->attr);
	bind_name(r, t->type);
	number_or_null(r, t->structure, t->type != NULL);
	bind_name(r, t->field);
	number_or_null(r, t->field_offset, t->field != NULL);
	number_or_null(r, (uint64_t)t->position, t->position >= 0);
	bind_number(r, touch->reads);
	bind_number(r, touch->writes);
	bind_number(r, touch->misses);
	bind_number(r, touch->false_misses);
	bind_number(r, touch->invalidations);
	bind_number(r, r->schedule);
	end_row(r);
}

/* By which byte of the block, and of which field, one of the two referenced it; touch: 1 + its index, or
 * 0. */
static void referenced_by(struct row *r, const struct nm_result_coherence *c, uint64_t block, uint32_t touch)
{
	const struct nm_result_touch *t = touch ? &c->touches[touch - 1] : NULL;

	number_or_null(r, t ? t->touch.address - block : 0, t != NULL);
	bind_name(r, t ? t->type : NULL);
	bind_name(r, t ? t->field : NULL);
}

static void store_contender(struct row *r, const struct nm_result_coherence *c,
			    const struct nm_contention_pair *p)
{
	bind_number(r, (uint64_t)nm_level_id(r->w, c->level));
	number_or_null(r, p->block, p->block != 0);
	thread_and_place(r, p->by);
	thread_and_place(r, p->of);
	bind_number(r, p->invalidations);
	bind_number(r, p->interventions);
	bind_number(r, p->writebacks);
	bind_number(r, p->upgrades);
	bind_number(r, r->schedule);
	referenced_by(r, c, p->block, p->touch);
	referenced_by(r, c, p->block, p->loading);
	end_row(r);
}

static void store_message(struct row *r, const struct nm_result_coherence *c, enum nm_fabric fabric,
			  enum nm_message message)
{
	assert(fabric < NM_FABRICS && message < NM_MESSAGES);
	bind_number(r, (uint64_t)nm_level_id(r->w, c->level));
	sqlite3_bind_text(r->insert, ++r->column, nm_fabric_names[fabric], -1, SQLITE_STATIC);
	sqlite3_bind_text(r->insert, ++r->column, nm_message_names[message], -1, SQLITE_STATIC);
	bind_number(r, nm_traffic_messages(&c->traffic, fabric, message));
	bind_number(r, nm_traffic_bytes(&c->traffic, fabric, message));
	end_row(r);
}

static void latent_touch(struct row *r, const struct nm_result_touch *t)
{
	bind_number(r, t->touch.address);
	bind_number(r, t->touch.bytes);
	thread_and_place(r, t->touch.attr);
	bind_name(r, t->type);
	bind_name(r, t->field);
}

static void store_latent(struct row *r, const struct nm_result_coherence *c, const struct nm_latent_pair *p)
{
	bind_number(r, (uint64_t)nm_level_id(r->w, c->level));
	bind_number(r, p->layout == NM_LATENT_DOUBLED ? 2 * c->block : c->block);
	bind_number(r, nm_latent_earlier(p->layout, c->block));
	bind_number(r, p->misses);
	latent_touch(r, &c->latent_touches[p->touch]);
	latent_touch(r, &c->latent_touches[p->other]);
	bind_number(r, r->schedule);
	end_row(r);
}

enum { TOUCHES, CONTENDERS, LATENT, MESSAGES, TABLES };

/* What depends on the order of the threads. */
static void store_contention(struct row rows[TABLES], const struct nm_result_coherence *c, uint64_t schedule)
{
	rows[TOUCHES].schedule = rows[CONTENDERS].schedule = rows[LATENT].schedule = schedule;
	for (size_t i = 0; i < c->touch_count && !rows[TOUCHES].status; i++)
		store_touch(&rows[TOUCHES], c, &c->touches[i]);
	for (size_t i = 0; i < c->pair_count && !rows[CONTENDERS].status; i++)
		store_contender(&rows[CONTENDERS], c, &c->pairs[i]);
	for (size_t i = 0; i < c->latent_count && !rows[LATENT].status; i++)
		store_latent(&rows[LATENT], c, &c->latent[i]);
}

static void store_messages(struct row *messages, const struct nm_result_coherence *c)
{
	for (unsigned i = 0; i < NM_FABRICS * NM_MESSAGES && !messages->status; i++)
		store_message(messages, c, (enum nm_fabric)(i / NM_MESSAGES),
			      (enum nm_message)(i % NM_MESSAGES));
}

int nm_store_sharing(const struct nm_result_writer *w)
{
	static const char *const sql[TABLES] = {touch_sql, contender_sql, latent_sql, message_sql};
	const struct nm_result *result = w->result;
	struct row rows[TABLES] = {{.w = w}, {.w = w}, {.w = w}, {.w = w}};
	int status = 0;

	for (unsigned i = 0; i < TABLES && !status; i++)
		status = sqlite3_prepare_v2(w->store->db, sql[i], -1, &rows[i].insert, NULL);
	for (size_t i = 0; i < result->coherence_count && !status; i++) {
		store_contention(rows, &result->coherence[i], 0);
		store_messages(&rows[MESSAGES], &result->coherence[i]);
	}
	for (size_t i = 0; i < result->schedule_count && !status; i++)
		for (size_t k = 0; k < result->schedules[i].coherence_count; k++)
			store_contention(rows, &result->schedules[i].coherence[k], i + 1);
	for (unsigned i = 0; i < TABLES; i++) {
		sqlite3_finalize(rows[i].insert);
		if (!status)
			status = rows[i].status;
	}
	return status;
}
