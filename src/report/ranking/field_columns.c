/* SPDX-License-Identifier: MIT
 *
 * field_columns.c - columns of ranked reports about the fields of objects.
 *
 * Table expressions for ranking.c, and the columns that come from them:
 *
 *   g   if object and field are keys: the offset of the field, and how often it was used
 *   h   if object is a key: its structure; the hot fields, the fewest with HOT % of the accesses that are used in
 *       a tenth as many residencies as any, with their types and the bytes of a structure of them, in the order
 *       that needs least padding; the cold fields,
 *       not hot and used in at most COLD % of the residencies of their lines; and the two hot fields that
 *       cannot share a line but are visited together most often
 *   i   if object is a key: its lines
 *   j   if object, line and function are keys: the field of its structure that a line loads most
 *   y   the same: "m(j)%v (f.f90:33)", the largest component that is allocated for elements of "m (f.f90:21)"
 *
 * An object of several structures is represented by the one with the most accesses.
 */
#include "columns.h"

static const struct nm_ranked_column field_columns[] = {
    {{.name = "offset", .title = "offset", .kind = NM_COLUMN_NUMBER, .hidden = 1, .drop_order = 2},
     "g.offset"},
    {{.name = "field_bytes", .title = "size", .kind = NM_COLUMN_NUMBER, .hidden = 1, .drop_order = 3},
     "g.bytes"},
    {{.name = "residencies", .title = "residencies", .kind = NM_COLUMN_NUMBER, .hidden = 1}, "g.residencies"},
    {{.name = "used", .title = "used %", .kind = NM_COLUMN_REAL, .decimals = 1, .hidden = 1},
     "100.0 * g.used / nullif(g.residencies, 0)"},
};

static const struct nm_ranked_column line_columns[] = {
    {{.name = "line_field", .title = "field", .kind = NM_COLUMN_TEXT, .hidden = 1}, "j.field"},
    {{.name = "line_field_loads", .title = "field loads", .kind = NM_COLUMN_NUMBER, .hidden = 1}, "j.loads"},
    {{.name = "line_field_bytes", .title = "field bytes", .kind = NM_COLUMN_NUMBER, .hidden = 1}, "j.bytes"},
};

static const struct nm_ranked_column object_columns[] = {
    {{.name = "structure", .title = "structure", .kind = NM_COLUMN_NUMBER, .hidden = 1}, "h.structure"},
    {{.name = "structure_type", .title = "structure type", .kind = NM_COLUMN_TEXT, .hidden = 1},
     "h.structure_type"},
    {{.name = "hot_fields", .title = "hot fields", .kind = NM_COLUMN_TEXT, .hidden = 1}, "h.hot_fields"},
    {{.name = "hot_types", .title = "hot types", .kind = NM_COLUMN_TEXT, .hidden = 1}, "h.hot_types"},
    {{.name = "hot_structure", .title = "hot structure", .kind = NM_COLUMN_NUMBER, .hidden = 1},
     "h.hot_structure"},
    {{.name = "hot_bytes", .title = "hot bytes", .kind = NM_COLUMN_NUMBER, .hidden = 1}, "h.hot_bytes"},
    {{.name = "member_bytes", .title = "member bytes", .kind = NM_COLUMN_NUMBER, .hidden = 1},
     "h.member_bytes"},
    {{.name = "packed", .title = "packed", .kind = NM_COLUMN_NUMBER, .hidden = 1}, "h.packed"},
    {{.name = "cold_fields", .title = "cold fields", .kind = NM_COLUMN_TEXT, .hidden = 1}, "h.cold_fields"},
    {{.name = "cold_bytes", .title = "cold bytes", .kind = NM_COLUMN_NUMBER, .hidden = 1}, "h.cold_bytes"},
    {{.name = "cold_used", .title = "cold used %", .kind = NM_COLUMN_REAL, .decimals = 1, .hidden = 1},
     "h.cold_used"},
    {{.name = "far_field", .title = "far field", .kind = NM_COLUMN_TEXT, .hidden = 1}, "h.far_field"},
    {{.name = "far_other", .title = "far other", .kind = NM_COLUMN_TEXT, .hidden = 1}, "h.far_other"},
    {{.name = "far_bytes", .title = "far bytes", .kind = NM_COLUMN_NUMBER, .hidden = 1}, "h.far_bytes"},
    {{.name = "far_visits", .title = "far visits", .kind = NM_COLUMN_NUMBER, .hidden = 1}, "h.far_visits"},
    {{.name = "far_both", .title = "far both %", .kind = NM_COLUMN_REAL, .decimals = 1, .hidden = 1},
     "h.far_both"},
    {{.name = "most_visits", .title = "most visits", .kind = NM_COLUMN_NUMBER, .hidden = 1}, "h.most_visits"},
    {{.name = "lines", .title = "lines", .kind = NM_COLUMN_NUMBER, .hidden = 1}, "i.lines"},
    {{.name = "hot_lines", .title = "hot lines %", .kind = NM_COLUMN_REAL, .decimals = 1, .hidden = 1},
     "100.0 * i.hot / nullif(i.lines, 0)"},
    {{.name = "hot_load_lines", .title = "load lines %", .kind = NM_COLUMN_REAL, .decimals = 1, .hidden = 1},
     "100.0 * i.hot_residencies / nullif(i.lines, 0)"},
    {{.name = "idle_lines", .title = "idle lines %", .kind = NM_COLUMN_REAL, .decimals = 1, .hidden = 1},
     "100.0 * i.idle / nullif(i.lines, 0)"},
    {{.name = "component", .title = "component", .kind = NM_COLUMN_NAME, .hidden = 1}, "y.component"},
};

const struct nm_ranked_column *nm_field_columns(unsigned *ret_count)
{
	*ret_count = sizeof field_columns / sizeof *field_columns;
	return field_columns;
}

const struct nm_ranked_column *nm_structure_columns(unsigned *ret_count)
{
	*ret_count = sizeof object_columns / sizeof *object_columns;
	return object_columns;
}

const struct nm_ranked_column *nm_line_field_columns(unsigned *ret_count)
{
	*ret_count = sizeof line_columns / sizeof *line_columns;
	return line_columns;
}

void nm_field_expression(const char *process, FILE *sql)
{
	fprintf(
	    sql,
	    ", g AS MATERIALIZED (SELECT %sobject, field, min(offset) AS offset, max(bytes) AS bytes, "
	    "sum(residencies) AS residencies, sum(used) AS used FROM fields WHERE ?2 IS NULL OR process = ?2 "
	    "GROUP BY %sobject, field)",
	    process, process);
}

/* h0: fields of all selected processes; h1: with the accesses of those that have more, and
 * whether they are used often (accesses are sampled most in the beginning); h7, h2: whether they are
 * hot or cold; h6: the hot ones together, aligned to what divides their places and sizes; h3: the structure
 * with the most accesses of each object. */
void nm_structure_expression(const char *among, FILE *sql)
{
	fprintf(
	    sql,
	    ", h0 AS MATERIALIZED (SELECT object, type, structure, field, offset, bytes, "
	    "max(field_type) AS field_type, offset | bytes | structure | 8 AS places, "
	    "sum(sampled) AS sampled, sum(residencies) AS residencies, sum(used) AS used FROM fields "
	    "WHERE (?2 IS NULL OR process = ?2) AND object %s GROUP BY object, type, structure, field, offset), "
	    "h1 AS (SELECT *, places & -places AS alignment, sum(sampled) OVER (PARTITION BY object, type, structure "
	    "ORDER BY sampled DESC, offset ROWS UNBOUNDED PRECEDING) - sampled AS before, "
	    "sum(sampled) OVER (PARTITION BY object, type, structure) AS total, 10.0 * used / nullif(residencies, 0) >= "
	    "max(1.0 * used / nullif(residencies, 0)) OVER (PARTITION BY object, type, structure) AS often FROM h0), "
	    "h7 AS (SELECT *, sampled > 0 AND before * 100 < total * 90 AND coalesce(often, 1) AS hot FROM h1), "
	    "h2 AS MATERIALIZED (SELECT *, NOT hot AND used * 10 <= residencies AS cold FROM h7), "
	    "h6 AS (SELECT DISTINCT object, type, structure, "
	    "group_concat(field, ', ') OVER laid AS fields, CASE WHEN count(field_type) OVER laid THEN "
	    "group_concat(coalesce(field_type, '?'), ' | ') OVER laid END AS types, "
	    "max(alignment) OVER laid AS alignment FROM h2 WHERE hot "
	    "WINDOW laid AS (PARTITION BY object, type, structure ORDER BY alignment DESC, offset "
	    "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)), "
	    "h3 AS MATERIALIZED (SELECT object, type, structure, max(total) AS total FROM h2 GROUP BY object "
	    "HAVING max(total) > 0), ",
	    among);
	fprintf(
	    sql,
	    "h4 AS MATERIALIZED (SELECT object, type, field, other, offset, other_offset, "
	    "sum(visits) AS visits, sum(both) AS both FROM affinity WHERE visits > 0 AND both > 0 "
	    "AND (?2 IS NULL OR process = ?2) AND object %s GROUP BY object, type, field, other, offset, other_offset), "
	    "h5 AS MATERIALIZED (SELECT h4.object AS object, h4.field AS field, h4.other AS other, "
	    "h4.other_offset - h4.offset AS apart, h4.visits AS visits, max(h4.both) AS both, "
	    "(SELECT max(z.visits) FROM h4 z WHERE z.object = h4.object AND z.type = h4.type) AS most FROM h4 "
	    "JOIN h3 ON h3.object = h4.object AND h3.type = h4.type "
	    "JOIN h2 x ON x.object = h3.object AND x.type = h3.type AND x.structure = h3.structure "
	    "AND x.field = h4.field AND x.offset = h4.offset "
	    "JOIN h2 y ON y.object = h3.object AND y.type = h3.type AND y.structure = h3.structure "
	    "AND y.field = h4.other AND y.offset = h4.other_offset "
	    "WHERE x.hot AND y.hot AND y.offset + y.bytes - x.offset > "
	    "(SELECT max(line_size) FROM levels WHERE level = ?1) GROUP BY h4.object), ",
	    among);
	fputs(
	    "h AS MATERIALIZED (SELECT h3.object AS object, h3.structure AS structure, h3.type AS structure_type, "
	    "h6.fields AS hot_fields, h6.types AS hot_types, "
	    "sum(h2.bytes) FILTER (WHERE h2.hot) AS hot_bytes, "
	    "(sum(h2.bytes) FILTER (WHERE h2.hot) + h6.alignment - 1) & -h6.alignment AS hot_structure, "
	    "sum(h2.bytes) AS member_bytes, "
	    "(sum(h2.bytes) + max(h2.alignment) - 1) & -max(h2.alignment) AS packed, "
	    "group_concat(h2.field, ', ') FILTER (WHERE h2.cold) AS cold_fields, "
	    "sum(h2.bytes) FILTER (WHERE h2.cold) AS cold_bytes, "
	    "100.0 * sum(h2.used) FILTER (WHERE h2.cold) / nullif(sum(h2.residencies) FILTER (WHERE h2.cold), 0) "
	    "AS cold_used, h5.field AS far_field, h5.other AS far_other, h5.apart AS far_bytes, "
	    "h5.visits AS far_visits, 100.0 * h5.both / nullif(h5.visits, 0) AS far_both, "
	    "h5.most AS most_visits "
	    "FROM h3 CROSS JOIN h2 ON h2.object = h3.object AND h2.type = h3.type "
	    "AND h2.structure = h3.structure LEFT JOIN h6 ON h6.object = h3.object AND h6.type = h3.type "
	    "AND h6.structure = h3.structure LEFT JOIN h5 ON h5.object = h3.object GROUP BY h3.object), "
	    "i AS MATERIALIZED (SELECT object, sum(lines) AS lines, sum(hot) AS hot, "
	    "sum(hot_residencies) AS hot_residencies, sum(idle) AS idle FROM hot_lines "
	    "WHERE ?2 IS NULL OR process = ?2 GROUP BY object), "
	    "y AS MATERIALIZED (SELECT substr(object, 1, instr(object, '(') - 1) AS whole, "
	    "object AS component, max(bytes) FROM objects "
	    "WHERE (?2 IS NULL OR process = ?2) AND object GLOB '*)%[a-z]*' GROUP BY whole)",
	    sql);
}

/* max(loads) makes SQLite take the other columns of its group from the row that has it. */
void nm_line_field_expression(const char *among, FILE *sql)
{
	fprintf(
	    sql,
	    ", j AS MATERIALIZED (SELECT object, function, file, line, field, max(loads) AS loads, "
	    "(SELECT max(h2.bytes) FROM h2 WHERE h2.object = f.object AND h2.field = f.field) AS bytes FROM "
	    "(SELECT object, function, file, line, field, sum(loads) AS loads FROM field_counts "
	    "WHERE level = ?1 AND (?2 IS NULL OR process = ?2) AND object %s AND field IS NOT NULL "
	    "GROUP BY object, function, file, line, field) AS f GROUP BY object, function, file, line)",
	    among);
}
