/* SPDX-License-Identifier: MIT
 *
 * members.c - the members of a structure, which a candidate layout moves, each with all of its fields: what the
 * what-if model makes of the structure (element_map.h).
 *
 * A profile does not hold how long the elements of an array of structures are: such a member extends to the next one,
 * and its alignment is estimated.
 */
#include <stdlib.h>
#include <string.h>

#include "element_map.h"
#include "view_json.h"

struct structure {
	struct nm_type type;
	struct nm_field *fields; /* type.fields */
};

static uint64_t unsigned_member(const json_t *object, const char *key)
{
	const json_int_t value = json_integer_value(json_object_get(object, key));

	return value > 0 ? (uint64_t)value : 0;
}

static int is_of_array(const char *field) { return strstr(field, "[]") != NULL; }

/* Up to the first field behind that is of no array of structures, or the structure's end. */
static uint64_t extent(const struct structure *s, uint32_t field)
{
	const uint64_t from = s->fields[field].offset;
	uint64_t end = s->type.bytes;

	for (uint32_t i = field + 1; i < s->type.field_count; i++)
		if (strncmp(s->fields[i].name, s->fields[field].name,
			    strcspn(s->fields[field].name, "[") + 1) != 0) {
			end = s->fields[i].offset;
			break;
		}
	return end > from ? end - from : 0;
}

/* The structure as debug information had it. Texts belong to the JSON. */
static int read_structure(const json_t *structure, struct structure *ret, struct nm_error *err)
{
	const json_t *fields = json_object_get(structure, "fields");
	const json_t *field;
	struct structure s = {.fields = calloc(json_array_size(fields) + 1, sizeof *s.fields)};
	size_t i;

	if (!s.fields)
		return nm_fail_memory(err);
	json_array_foreach(fields, i, field)
	{
		const char *name = json_string_value(json_object_get(field, "name"));

		s.fields[i] =
		    (struct nm_field){.name = name ? name : "",
				      .offset = unsigned_member(field, "offset"),
				      .bytes = unsigned_member(field, "size"),
				      .count = 1,
				      .type = json_string_value(json_object_get(field, "field_type"))};
	}
	s.type = (struct nm_type){.name = json_string_value(json_object_get(structure, "type")),
				  .bytes = unsigned_member(structure, "size"),
				  .fields = s.fields,
				  .field_count = (uint32_t)json_array_size(fields)};
	for (uint32_t k = 0; k < s.type.field_count; k++)
		if (is_of_array(s.fields[k].name))
			s.fields[k].bytes = extent(&s, k);
	*ret = s;
	return 0;
}

static json_t *list_members(const struct nm_element_map *map)
{
	json_t *list = json_array();

	for (size_t i = 0; i < map->members.count; i++) {
		const struct nm_member *m = &map->members.at[i];
		const size_t length = strcspn(m->name, ".[");

		json_array_append_new(list,
				      json_pack("{ss% sI sI sI sb}", "name", m->name, length, "offset",
						(json_int_t)m->from, "size", (json_int_t)m->bytes, "align",
						(json_int_t)m->align, "estimated", is_of_array(m->name)));
	}
	return list;
}

int nm_view_add_members(json_t *structure, struct nm_error *err)
{
	struct structure s;
	struct nm_element_map map;
	int status = read_structure(structure, &s, err);

	if (status)
		return status;
	status = nm_element_map_init(&map, &s.type) ? nm_fail_memory(err) : 0;
	if (!status)
		json_object_set_new(structure, "members", list_members(&map));
	nm_element_map_done(&map);
	free(s.fields);
	return status;
}
