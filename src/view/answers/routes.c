/* SPDX-License-Identifier: MIT
 *
 * routes.c - the table of answers about a profile.
 */
#include "view_json.h"

const struct nm_view_route nm_view_routes[] = {
    {"overview", nm_view_overview, 1},
    {"inputs", nm_view_inputs, 0},
    {"metrics", nm_view_metrics, 1},
    {"dimensions", nm_view_dimensions, 1},
    {"names", nm_view_names, 0},
    {"table", nm_view_table, 1},
    {"tree", nm_view_tree, 1},
    {"chains", nm_view_chains, 0},
    {"sources", nm_view_sources, 1},
    {"source", nm_view_source, 1},
    {"line", nm_view_line, 1},
    {"evictions", nm_view_evictions, 0},
    {"evictions/lines", nm_view_eviction_lines, 0},
    {"curves", nm_view_curves, 0},
    {"histogram", nm_view_histogram, 0},
    {"sharing", nm_view_sharing, 0},
    {"sharing/lines", nm_view_sharing_lines, 0},
    {"structures", nm_view_structures, 0},
    {"timeline", nm_view_timeline, 0},
    {"timeline/rows", nm_view_timeline_rows, 0},
    {NULL, NULL, 0},
};
