/* SPDX-License-Identifier: MIT
 *
 * json.c - a table as a JSON array of objects, one row a line, made and freed row by row, so that a
 * query's memory does not double.
 */
#include <jansson.h>
#include <math.h>

#include "table.h"

static json_t *cell_value(const struct nm_value *v)
{
	switch (v->type) {
	case NM_VALUE_INTEGER: return json_integer(v->integer);
	case NM_VALUE_REAL:
		return isfinite(v->real) ? json_real(v->real) : json_null(); /* JSON has no infinity */
	case NM_VALUE_TEXT: return json_string(v->text);
	default: return json_null();
	}
}

static int dump_json(json_t *json, FILE *out)
{
	enum { FLAGS = JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(10) };
	char *text = json ? json_dumps(json, FLAGS) : NULL;

	json_decref(json);
	if (!text)
		return NM_ENOMEM;
	fputs(text, out);
	free(text);
	return 0;
}

int nm_json_text(const char *text, FILE *out)
{
	char *clean = nm_utf8_clean(text);
	json_t *json = clean ? json_string(clean) : NULL;

	free(clean);
	return dump_json(json, out);
}

int nm_table_json(const struct nm_table *table, FILE *out)
{
	size_t row;
	unsigned i;

	fputc('[', out);
	for (row = 0; row < table->row_count; row++) {
		json_t *object = json_object();

		for (i = 0; i < table->column_count; i++) {
			const struct nm_column *column = &table->columns[i];

			if (!column->compose && object &&
			    json_object_set_new(object, column->name,
						cell_value(nm_table_at(table, row, i)))) {
				json_decref(object);
				object = NULL;
			}
		}
		fputs(row ? ",\n" : "\n", out);
		if (dump_json(object, out))
			return NM_ENOMEM;
	}
	fputs("\n]", out);
	return 0;
}
