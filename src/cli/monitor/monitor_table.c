/* SPDX-License-Identifier: MIT */
#include "monitor/monitor_table.h"
#include "monitor/monitor_view.h"

#include <inttypes.h>
#include <stdlib.h>

int nm_monitor_show(const struct nm_monitor_request *request, struct nm_result *const *results, size_t count,
		    const struct nm_style *style, FILE *out, struct nm_error *err)
{
	struct nm_monitor_view *s = calloc(1, sizeof *s);
	int status;

	if (!s)
		return nm_fail_memory(err);
	s->request = request;
	s->results = results;
	s->count = count;
	s->err = err;
	status = nm_monitor_check_names(s);
	if (!status)
		status = request->event_query.mode == NM_QUERY_RESIDENCIES ? nm_monitor_show_residencies(s)
			 : request->event_query.mode == NM_QUERY_LOG       ? nm_monitor_show_log(s)
									   : nm_monitor_show_sums(s);
	if (!status)
		status = nm_table_show(&s->table, "monitor", NULL, style, out, err);
	if (!status && s->left_out && style->format == NM_FORMAT_TEXT)
		fprintf(out, "and %" PRIu64 " more: --limit=0 shows all\n", s->left_out);
	nm_table_done(&s->table);
	nm_vec_free(&s->sums);
	nm_vec_free(&s->counts);
	free(s);
	return status;
}
