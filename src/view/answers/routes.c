/* SPDX-License-Identifier: MIT
 *
 * routes.c - the table of answers about a profile.
 */
#include "view_json.h"

const struct nm_view_route nm_view_routes[] = {
    {"overview", nm_view_overview},
    {"metrics", nm_view_metrics},
    {"dimensions", nm_view_dimensions},
    {"table", nm_view_table},
    {"tree", nm_view_tree},
    {"sources", nm_view_sources},
    {"source", nm_view_source},
    {"line", nm_view_line},
    {"evictions", nm_view_evictions},
    {"evictions/lines", nm_view_eviction_lines},
    {"curves", nm_view_curves},
    {"histogram", nm_view_histogram},
    {"sharing", nm_view_sharing},
    {"structures", nm_view_structures},
    {"timeline", nm_view_timeline},
    {"timeline/rows", nm_view_timeline_rows},
    {NULL, NULL},
};
