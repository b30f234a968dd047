/* SPDX-License-Identifier: MIT */
#include "visit_log.h"

#include <assert.h>
#include <string.h>

enum { LINE = 64, LINE_SHIFT = 6 };

void nm_visit_log_init(struct nm_visit_log *log, const char *structure, size_t limit)
{
	assert(limit >= 2 * NM_VISIT_CHUNK && limit % (2 * NM_VISIT_CHUNK) == 0);
	*log = (struct nm_visit_log){.structure = structure, .limit = limit};
}

void nm_visit_log_done(struct nm_visit_log *log)
{
	nm_element_map_done(&log->map);
	nm_vec_free(&log->fields);
	nm_vec_free(&log->units);
	nm_vec_free(&log->visits);
	nm_strings_done(&log->names);
}

int nm_visit_log_set_type(struct nm_visit_log *log, const struct nm_type *type)
{
	const char *name = nm_intern(&log->names, type->name);

	if (log->type.name)
		return 0;
	if (!name)
		return NM_ENOMEM;
	for (uint32_t i = 0; i < type->field_count; i++) {
		struct nm_field f = type->fields[i];

		f.name = nm_intern(&log->names, f.name);
		f.type = f.type ? nm_intern(&log->names, f.type) : NULL;
		if (!f.name || nm_vec_push(&log->fields, f))
			return NM_ENOMEM;
	}
	log->type = *type;
	log->type.name = name;
	log->type.fields = log->fields.at;
	return nm_element_map_init(&log->map, &log->type);
}

/* ---- visits ---- */

/* Every second chunk goes. */
static void thin(struct nm_visit_log *log)
{
	const size_t chunks = log->visits.count / NM_VISIT_CHUNK;

	for (size_t i = 1; 2 * i < chunks; i++)
		memcpy(log->visits.at + i * NM_VISIT_CHUNK, log->visits.at + 2 * i * NM_VISIT_CHUNK,
		       NM_VISIT_CHUNK * sizeof *log->visits.at);
	log->visits.count = (chunks + 1) / 2 * NM_VISIT_CHUNK;
	log->period++;
}

static int keep(struct nm_visit_log *log, const struct nm_visit *visit)
{
	const uint64_t chunk = log->seen++ / NM_VISIT_CHUNK;

	if (chunk & ((UINT64_C(1) << log->period) - 1))
		return 0;
	if (log->visits.count == log->limit) {
		thin(log);
		if (chunk & ((UINT64_C(1) << log->period) - 1))
			return 0;
	}
	return nm_vec_push(&log->visits, *visit);
}

/* The bit of the unit at an offset of a member; 0: there are too many. */
static int find_unit(struct nm_visit_log *log, uint32_t member, uint64_t offset, uint64_t *ret_bit)
{
	const struct nm_member *m = &log->map.members.at[member];
	const uint64_t from = offset / LINE * LINE;
	size_t i = 0;

	while (i < log->units.count && (log->units.at[i].member != member || log->units.at[i].offset != from))
		i++;
	*ret_bit = i < NM_VISIT_UNITS ? UINT64_C(1) << i : 0;
	log->has_left_out |= !*ret_bit;
	if (i < log->units.count || !*ret_bit)
		return 0;
	return nm_vec_push(&log->units,
			   (struct nm_visit_unit){.member = member,
						  .offset = from,
						  .bytes = m->bytes - from < LINE ? m->bytes - from : LINE});
}

static int close_visit(struct nm_visit_log *log)
{
	int status = 0;

	if (log->open.units)
		status = keep(log, &log->open);
	for (size_t i = 0; i < log->units.count; i++)
		log->units.at[i].visits += log->open.units >> i & 1;
	log->open.units = 0;
	return status;
}

int nm_visit_log_add(struct nm_visit_log *log, uint64_t low, uint32_t element, uint64_t offset,
		     uint32_t bytes, uint32_t key)
{
	const uint64_t end = offset + bytes;
	int status = 0;

	assert(log->type.name);
	if (log->open.low != low || log->open.element != element)
		status = close_visit(log);
	if (!log->open.units)
		log->open = (struct nm_visit){.low = low, .element = element, .key = key};
	log->is_array |= element > 0;
	for (uint32_t i = 0; i < log->map.members.count && !status; i++) {
		const struct nm_member *m = &log->map.members.at[i];
		const uint64_t from = offset > m->from ? offset : m->from,
			       to = end < m->from + m->bytes ? end : m->from + m->bytes;

		for (uint64_t at = from; at < to && !status;
		     at = m->from + ((at - m->from) / LINE + 1) * LINE) {
			uint64_t bit;

			status = find_unit(log, i, at - m->from, &bit);
			log->open.units |= bit;
		}
	}
	return status;
}

int nm_visit_log_add_other(struct nm_visit_log *log, uint64_t address, uint32_t key)
{
	const uint64_t line = address >> LINE_SHIFT;
	uint64_t *last = &log->filter[line % NM_VISIT_FILTER];

	if (*last == line)
		return 0;
	*last = line;
	return keep(log, &(struct nm_visit){.low = address, .key = key});
}

int nm_visit_log_end(struct nm_visit_log *log) { return close_visit(log); }

uint64_t nm_visit_log_affinity(const struct nm_visit_log *log, uint32_t member, uint32_t other)
{
	uint64_t of[2] = {0, 0}, both = 0;

	for (size_t i = 0; i < log->units.count; i++) {
		of[0] |= (uint64_t)(log->units.at[i].member == member) << i;
		of[1] |= (uint64_t)(log->units.at[i].member == other) << i;
	}
	for (size_t i = 0; i < log->visits.count; i++)
		both += (log->visits.at[i].units & of[0]) && (log->visits.at[i].units & of[1]);
	return both;
}
