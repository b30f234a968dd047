/* SPDX-License-Identifier: MIT
 *
 * catalogue.c - the available metrics, and the dimensions of tables and trees.
 */
#include "grouping.h"
#include "selection.h"

#include <string.h>

static const char *unit_of(const struct nm_metric *metric)
{
	switch (metric->unit) {
	case NM_METRIC_BYTES: return "bytes";
	case NM_METRIC_PERCENT: return "percent";
	case NM_METRIC_RATIO: return "ratio";
	case NM_METRIC_CYCLES: return "cycles";
	default: return "count";
	}
}

json_t *nm_view_metric(const struct nm_metric *metric)
{
	return json_pack("{ss ss ss ss ss}", "key", metric->name, "heading", metric->title, "unit",
			 unit_of(metric), "help", metric->help, "kind", "number");
}

json_t *nm_grouping_column(const char *key)
{
	return json_pack("{ss ss sn sn ss}", "key", key, "heading", key, "unit", "help", "kind",
			 nm_key_is_number(key) ? "number" : "text");
}

int nm_view_metrics(const struct nm_view_profile *of, const struct nm_request *request, json_t **ret_answer,
		    struct nm_error *err)
{
	const struct nm_metric *metric;
	const char *input;
	const int status = nm_view_input(of->profile, request, &input, err);

	if (status)
		return status;
	*ret_answer = json_array();
	for (unsigned i = 0; (metric = nm_metric_at(i)); i++)
		if (nm_grouping_has(metric, input))
			json_array_append_new(*ret_answer, json_pack("{ss ss ss ss}", "name", metric->name,
								     "unit", unit_of(metric), "heading",
								     metric->title, "help", metric->help));
	return 0;
}

int nm_view_dimensions(const struct nm_view_profile *of, const struct nm_request *request,
		       json_t **ret_answer, struct nm_error *err)
{
	const char *input;
	const int status = nm_view_input(of->profile, request, &input, err);

	if (status)
		return status;
	*ret_answer = json_array();
	for (unsigned i = 0; nm_grouping_names[i]; i++)
		if (nm_grouping_has_key(nm_grouping_names[i], input))
			json_array_append_new(*ret_answer, json_string(nm_grouping_names[i]));
	return 0;
}
