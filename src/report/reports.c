/* SPDX-License-Identifier: MIT
 *
 * reports.c - the table of reports.
 *
 * A ranked report is `counts` summed by some keys, the most misses first. ranking.c builds its query,
 * columns.c has the common columns; the table here adds those of one report.
 */
#include <string.h>

#include "ranked_rows.h"
#include "report_priv.h"
#include "summary_parts.h"

static const struct nm_column level_columns[] = {
    {.name = "level", .title = "level", .kind = NM_COLUMN_TEXT},
    {.name = "size", .title = "size", .kind = NM_COLUMN_BYTES},
    {.name = "ways", .title = "ways", .kind = NM_COLUMN_NUMBER, .drop_order = 6},
    {.name = "line_size", .title = "line", .kind = NM_COLUMN_NUMBER, .drop_order = 6},
    {.name = "sets", .title = "sets", .kind = NM_COLUMN_NUMBER, .drop_order = 7},
    {.name = "policy", .title = "policy", .kind = NM_COLUMN_TEXT, .hidden = 1},
    {.name = "reads", .title = "reads", .kind = NM_COLUMN_NUMBER, .hidden = 1},
    {.name = "writes", .title = "writes", .kind = NM_COLUMN_NUMBER, .hidden = 1},
    {.name = "references", .title = "references", .kind = NM_COLUMN_NUMBER},
    {.name = "read_misses", .title = "read misses", .kind = NM_COLUMN_NUMBER, .hidden = 1},
    {.name = "write_misses", .title = "write misses", .kind = NM_COLUMN_NUMBER, .hidden = 1},
    {.name = "misses", .title = "misses", .kind = NM_COLUMN_NUMBER},
    {.name = "miss_ratio", .title = "ratio %", .kind = NM_COLUMN_REAL, .decimals = 2},
    {.name = "mpki", .title = "MPKI", .kind = NM_COLUMN_REAL, .decimals = 2},
    {.name = "cold", .title = "cold", .kind = NM_COLUMN_NUMBER, .drop_order = 3},
    {.name = "capacity", .title = "capacity", .kind = NM_COLUMN_NUMBER, .drop_order = 3},
    {.name = "conflict", .title = "conflict", .kind = NM_COLUMN_NUMBER, .drop_order = 3},
    {.name = "coherence", .title = "coherence", .kind = NM_COLUMN_NUMBER, .hidden = 1},
    {.name = "loads", .title = "loads", .kind = NM_COLUMN_NUMBER, .drop_order = 4},
    {.name = "evictions", .title = "evictions", .kind = NM_COLUMN_NUMBER, .drop_order = 5},
    {.name = "writebacks", .title = "writebacks", .kind = NM_COLUMN_NUMBER, .drop_order = 5},
};

static const char level_sql[] =
    "SELECT level, size, ways, line_size, sets, policy, sum(reads) AS reads, sum(writes) AS writes, "
    "sum(reads + writes) AS refs, sum(read_misses) AS read_misses, sum(write_misses) AS write_misses, "
    "sum(read_misses + write_misses) AS misses, "
    "100.0 * sum(read_misses + write_misses) / nullif(sum(reads + writes), 0) AS miss_ratio, "
    "1000.0 * sum(read_misses + write_misses) / nullif((SELECT sum(instructions) FROM processes "
    "WHERE ?2 IS NULL OR process = ?2), 0) AS mpki, "
    "sum(cold), sum(capacity), sum(conflict), sum(coherence), sum(loads), sum(evictions), sum(writebacks) "
    "FROM levels WHERE ?2 IS NULL OR process = ?2 GROUP BY position";

static const struct nm_column task_columns[] = {
    {.name = "input", .title = "input", .kind = NM_COLUMN_NAME},
    {.name = "settings", .title = "set", .kind = NM_COLUMN_TEXT},
    {.name = "machine", .title = "machine", .kind = NM_COLUMN_NAME},
    {.name = "level", .title = "level", .kind = NM_COLUMN_TEXT},
    {.name = "policy", .title = "policy", .kind = NM_COLUMN_TEXT},
    {.name = "size", .title = "size", .kind = NM_COLUMN_BYTES},
    {.name = "references", .title = "references", .kind = NM_COLUMN_NUMBER, .drop_order = 3},
    {.name = "misses", .title = "misses", .kind = NM_COLUMN_NUMBER},
    {.name = "miss_ratio", .title = "ratio %", .kind = NM_COLUMN_REAL, .decimals = 2},
    {.name = "state", .title = "state", .kind = NM_COLUMN_TEXT},
    {.name = "remark", .title = "remark", .kind = NM_COLUMN_NAME, .hidden = 1},
    {.name = "seconds", .title = "seconds", .kind = NM_COLUMN_REAL, .decimals = 3, .hidden = 1},
    {.name = "worker", .title = "worker", .kind = NM_COLUMN_NUMBER, .hidden = 1},
};

static const char task_sql[] =
    "SELECT input, settings, machine, level, policy, size, reads + writes AS \"references\", "
    "read_misses + write_misses AS misses, "
    "100.0 * (read_misses + write_misses) / nullif(reads + writes, 0) AS miss_ratio, state, remark, seconds, worker, task "
    "FROM tasks WHERE ?2 IS NULL OR process = ?2";

static const struct nm_column context_columns[] = {
    {.name = "chain", .title = "call chain", .kind = NM_COLUMN_NAME},
    {.name = "calls", .title = "calls", .kind = NM_COLUMN_NUMBER, .drop_order = 3},
    {.name = "references", .title = "references", .kind = NM_COLUMN_NUMBER, .drop_order = 4},
    {.name = "misses", .title = "misses", .kind = NM_COLUMN_NUMBER},
    {.name = "share", .title = "share %", .kind = NM_COLUMN_REAL, .decimals = 1},
    {.name = "self", .title = "self", .kind = NM_COLUMN_NUMBER},
    {.name = "waste", .title = "waste %", .kind = NM_COLUMN_REAL, .decimals = 1, .drop_order = 2},
    {.name = "process", .title = "process", .kind = NM_COLUMN_TEXT, .hidden = 1},
    {.name = "function", .title = "function", .kind = NM_COLUMN_NAME, .hidden = 1},
    {.name = "caller", .title = "caller", .kind = NM_COLUMN_NAME, .hidden = 1},
    {.name = "file", .title = "file", .kind = NM_COLUMN_NAME, .hidden = 1},
    {.name = "line", .title = "line", .kind = NM_COLUMN_NUMBER, .hidden = 1},
    {.name = "context", .title = "context", .kind = NM_COLUMN_NUMBER, .hidden = 1},
};

/* Chains are put together from the root outwards. */
static const char context_sql[] =
    "WITH RECURSIVE c AS MATERIALIZED (SELECT process, context, parent, function, caller, file, line, calls, "
    "reads + writes AS refs, read_misses + write_misses AS misses, loaded_bytes AS loaded, used_bytes AS used "
    "FROM contexts WHERE level = ?1 AND (?2 IS NULL OR process = ?2)), "
    "s AS MATERIALIZED (SELECT process, context, sum(read_misses + write_misses) AS misses FROM context_counts "
    "WHERE level = ?1 AND (?2 IS NULL OR process = ?2) GROUP BY process, context), "
    "chain(process, context, text) AS (SELECT process, context, NULL FROM c WHERE parent IS NULL UNION ALL "
    "SELECT c.process, c.context, coalesce(chain.text || ' / ', '') || coalesce(c.function, '?') FROM chain "
    "CROSS JOIN c ON c.parent = chain.context AND c.process = chain.process) "
    "SELECT chain.text AS chain, c.calls AS calls, c.refs AS \"references\", c.misses AS misses, "
    "100.0 * c.misses / nullif((SELECT sum(misses) FROM c WHERE parent IS NULL), 0) AS share, "
    "coalesce(s.misses, 0) AS self, 100.0 - 100.0 * c.used / nullif(c.loaded, 0) AS waste, "
    "c.process AS process, c.function AS function, c.caller AS caller, c.file AS file, c.line AS line, "
    "c.context AS context FROM chain CROSS JOIN c ON c.process = chain.process AND c.context = chain.context "
    "LEFT JOIN s ON s.process = c.process AND s.context = c.context WHERE c.parent IS NOT NULL";

static const struct nm_column bucket_columns[] = {
    {.name = "chain", .title = "allocated in", .kind = NM_COLUMN_NAME},
    {.name = "object", .title = "object", .kind = NM_COLUMN_NAME},
    {.name = "blocks", .title = "blocks", .kind = NM_COLUMN_NUMBER, .drop_order = 3},
    {.name = "bytes", .title = "bytes", .kind = NM_COLUMN_BYTES, .drop_order = 4},
    {.name = "references", .title = "references", .kind = NM_COLUMN_NUMBER, .drop_order = 5},
    {.name = "misses", .title = "misses", .kind = NM_COLUMN_NUMBER},
    {.name = "share", .title = "share %", .kind = NM_COLUMN_REAL, .decimals = 1},
    {.name = "waste", .title = "waste %", .kind = NM_COLUMN_REAL, .decimals = 1, .drop_order = 2},
    {.name = "process", .title = "process", .kind = NM_COLUMN_TEXT, .hidden = 1},
    {.name = "type", .title = "type", .kind = NM_COLUMN_NAME, .hidden = 1},
    {.name = "largest", .title = "largest", .kind = NM_COLUMN_BYTES, .hidden = 1},
    {.name = "allocated_at", .title = "allocated at", .kind = NM_COLUMN_NAME, .hidden = 1},
    {.name = "context", .title = "context", .kind = NM_COLUMN_NUMBER, .hidden = 1},
};

static const char bucket_sql[] =
    "WITH b AS MATERIALIZED (SELECT process, object, context, chain FROM buckets WHERE ?2 IS NULL OR process = ?2) "
    "SELECT b.chain AS chain, b.object AS object, o.blocks AS blocks, o.bytes AS bytes, "
    "coalesce(c.\"references\", 0) AS \"references\", coalesce(c.misses, 0) AS misses, "
    "coalesce(c.share, 0.0) AS share, c.waste AS waste, b.process AS process, o.type AS type, "
    "o.largest AS largest, o.allocated_at AS allocated_at, b.context AS context "
    "FROM b CROSS JOIN objects o ON o.process = b.process AND o.object = b.object "
    "LEFT JOIN " NM_RANKED " AS c ON c.process = b.process AND c.object = b.object";

/* Columns of an object and a line of code that misses on it. */
#define OBJECT_AND_LINE                                                                                     \
	{.name = "object", .title = "object", .kind = NM_COLUMN_NAME},                                      \
	    {.name = "where", .title = "line", .kind = NM_COLUMN_LOCATION, .compose = nm_compose_location}, \
	    {.name = "file", .title = "file", .kind = NM_COLUMN_NAME, .hidden = 1},                         \
	    {.name = "line", .title = "line", .kind = NM_COLUMN_NUMBER, .hidden = 1},                       \
	    {.name = "function", .title = "function", .kind = NM_COLUMN_NAME, .hidden = 1},                 \
	{                                                                                                   \
		.name = "misses", .title = "misses", .kind = NM_COLUMN_NUMBER                               \
	}

static const struct nm_column pattern_columns[] = {
    OBJECT_AND_LINE,
    {.name = "share", .title = "share %", .kind = NM_COLUMN_REAL, .decimals = 1},
    {.name = "stride", .title = "stride", .kind = NM_COLUMN_NUMBER},
    {.name = "follow", .title = "follow %", .kind = NM_COLUMN_REAL, .decimals = 1},
    {.name = "walk", .title = "walk", .kind = NM_COLUMN_TEXT, .drop_order = 2},
    {.name = "references", .title = "references", .kind = NM_COLUMN_NUMBER, .drop_order = 3},
    {.name = "sampled", .title = "sampled", .kind = NM_COLUMN_NUMBER, .hidden = 1},
    {.name = "followed", .title = "followed", .kind = NM_COLUMN_NUMBER, .hidden = 1},
    {.name = "process", .title = "process", .kind = NM_COLUMN_TEXT, .hidden = 1},
};

/* A line of code that misses and was never looked at has no stride. */
static const char pattern_sql[] =
    "WITH l AS MATERIALIZED (SELECT max(line_size) AS bytes FROM levels WHERE level = ?1), "
    "s AS MATERIALIZED (SELECT process, object, function, file, line, stride, max(followed) AS followed, "
    "sum(sampled) AS sampled FROM sites WHERE ?2 IS NULL OR process = ?2 "
    "GROUP BY process, object, function, file, line) "
    "SELECT c.object AS object, c.file AS file, c.line AS line, c.function AS function, c.misses AS misses, "
    "c.share AS share, s.stride AS stride, "
    "100.0 * s.followed / nullif(s.sampled, 0) AS follow, "
    "CASE WHEN s.stride IS NULL THEN NULL WHEN 2 * s.followed < s.sampled THEN 'irregular' "
    "WHEN s.stride = 0 THEN 'in place' WHEN abs(s.stride) >= l.bytes THEN 'a line each' "
    "WHEN s.stride > 0 THEN 'in order' ELSE 'backwards' END AS walk, "
    "c.\"references\" AS \"references\", s.sampled AS sampled, s.followed AS followed, c.process AS process "
    "FROM " NM_RANKED " AS c CROSS JOIN l LEFT JOIN s ON s.process = c.process AND s.object IS c.object "
    "AND s.function IS c.function AND s.file IS c.file AND s.line IS c.line WHERE c.misses > 0";

static const struct nm_column affinity_columns[] = {
    {.name = "object", .title = "object", .kind = NM_COLUMN_NAME},
    {.name = "type", .title = "type", .kind = NM_COLUMN_NAME, .drop_order = 4},
    {.name = "field", .title = "field", .kind = NM_COLUMN_TEXT},
    {.name = "other", .title = "other", .kind = NM_COLUMN_TEXT},
    {.name = "distance", .title = "distance", .kind = NM_COLUMN_NUMBER, .drop_order = 2},
    {.name = "visits", .title = "visits", .kind = NM_COLUMN_NUMBER},
    {.name = "both", .title = "both %", .kind = NM_COLUMN_REAL, .decimals = 1},
    {.name = "residencies", .title = "residencies", .kind = NM_COLUMN_NUMBER, .drop_order = 3},
    {.name = "together", .title = "together %", .kind = NM_COLUMN_REAL, .decimals = 1},
    {.name = "process", .title = "process", .kind = NM_COLUMN_TEXT, .hidden = 1},
};

static const char affinity_sql[] =
    "SELECT object, type, field, other, other_offset - offset AS distance, visits, "
    "100.0 * both / nullif(visits, 0) AS both, together + apart AS residencies, "
    "100.0 * together / nullif(together + apart, 0) AS together, process "
    "FROM affinity WHERE ?2 IS NULL OR process = ?2";

static const struct nm_column sector_columns[] = {
    OBJECT_AND_LINE,
    {.name = "loads", .title = "loads", .kind = NM_COLUMN_NUMBER},
    {.name = "sector_misses", .title = "sector misses", .kind = NM_COLUMN_NUMBER},
    {.name = "sector_share", .title = "of loads %", .kind = NM_COLUMN_REAL, .decimals = 1},
    {.name = "waste", .title = "waste %", .kind = NM_COLUMN_REAL, .decimals = 1, .drop_order = 2},
    {.name = "process", .title = "process", .kind = NM_COLUMN_TEXT, .hidden = 1},
};

static const char sector_sql[] =
    "WITH s AS MATERIALIZED (SELECT process, object, function, file, line, sum(sector_misses) AS missed "
    "FROM sectors WHERE level = ?1 AND (?2 IS NULL OR process = ?2) "
    "GROUP BY process, object, function, file, line) "
    "SELECT c.object AS object, c.file AS file, c.line AS line, c.function AS function, c.misses AS misses, "
    "c.loads AS loads, s.missed AS sector_misses, 100.0 * s.missed / nullif(c.loads, 0) AS sector_share, "
    "c.waste AS waste, c.process AS process "
    "FROM s CROSS JOIN " NM_RANKED " AS c ON c.process = s.process AND c.object IS s.object "
    "AND c.function IS s.function AND c.file IS s.file AND c.line IS s.line";

static const struct nm_column prefetch_columns[] = {
    {.name = "level", .title = "level", .kind = NM_COLUMN_TEXT},
    OBJECT_AND_LINE,
    {.name = "prefetches", .title = "prefetches", .kind = NM_COLUMN_NUMBER},
    {.name = "useful", .title = "useful", .kind = NM_COLUMN_NUMBER},
    {.name = "accuracy", .title = "useful %", .kind = NM_COLUMN_REAL, .decimals = 1},
    {.name = "useless", .title = "useless", .kind = NM_COLUMN_NUMBER, .hidden = 1},
    {.name = "late", .title = "late", .kind = NM_COLUMN_NUMBER},
    {.name = "redundant", .title = "redundant", .kind = NM_COLUMN_NUMBER},
    {.name = "late_evicted", .title = "late evicted", .kind = NM_COLUMN_NUMBER, .drop_order = 1},
    {.name = "pollution", .title = "pollution", .kind = NM_COLUMN_NUMBER},
    {.name = "coverage", .title = "covered %", .kind = NM_COLUMN_REAL, .decimals = 1, .drop_order = 2},
    {.name = "process", .title = "process", .kind = NM_COLUMN_TEXT, .hidden = 1},
};

static const char prefetch_sql[] =
    "WITH s AS MATERIALIZED (SELECT process, level, object, function, file, line, sum(prefetches) AS prefetches, "
    "sum(useful) AS useful, sum(late_evicted) AS late_evicted, sum(pollution) AS pollution, "
    "sum(late) AS late, sum(redundant) AS redundant FROM prefetches WHERE (?1 IS NULL OR level = ?1) AND (?2 IS NULL OR process = ?2) "
    "GROUP BY process, level, object, function, file, line) "
    "SELECT s.level AS level, s.object AS object, s.file AS file, s.line AS line, s.function AS function, "
    "coalesce(c.misses, 0) AS misses, s.prefetches AS prefetches, s.useful AS useful, "
    "100.0 * s.useful / nullif(s.prefetches, 0) AS accuracy, s.prefetches - s.useful AS useless, "
    "s.late AS late, s.redundant AS redundant, s.late_evicted AS late_evicted, s.pollution AS pollution, "
    "100.0 * s.useful / nullif(s.useful + c.misses, 0) AS coverage, s.process AS process "
    "FROM s LEFT JOIN " NM_RANKED " AS c ON c.process = s.process AND c.level = s.level "
    "AND c.object IS s.object AND c.function IS s.function AND c.file IS s.file AND c.line IS s.line";

static const struct nm_column reuse_columns[] = {
    {.name = "object", .title = "object", .kind = NM_COLUMN_NAME},
    {.name = "previous",
     .title = "touched by",
     .kind = NM_COLUMN_LOCATION,
     .compose = nm_compose_previous_location},
    {.name = "where", .title = "then by", .kind = NM_COLUMN_LOCATION, .compose = nm_compose_location},
    {.name = "file", .title = "file", .kind = NM_COLUMN_NAME, .hidden = 1},
    {.name = "line", .title = "line", .kind = NM_COLUMN_NUMBER, .hidden = 1},
    {.name = "function", .title = "function", .kind = NM_COLUMN_NAME, .hidden = 1},
    {.name = "previous_file", .title = "file before", .kind = NM_COLUMN_NAME, .hidden = 1},
    {.name = "previous_line", .title = "line before", .kind = NM_COLUMN_NUMBER, .hidden = 1},
    {.name = "previous_function", .title = "function before", .kind = NM_COLUMN_NAME, .hidden = 1},
    {.name = "too_far", .title = "too far", .kind = NM_COLUMN_NUMBER},
    {.name = "share", .title = "share %", .kind = NM_COLUMN_REAL, .decimals = 1},
    {.name = "distance", .title = "distance", .kind = NM_COLUMN_BYTES},
    {.name = "reuses", .title = "reuses", .kind = NM_COLUMN_NUMBER, .drop_order = 3},
    {.name = "try", .title = "try", .kind = NM_COLUMN_TEXT, .drop_order = 2},
    {.name = "previous_object", .title = "object before", .kind = NM_COLUMN_NAME, .hidden = 1},
    {.name = "process", .title = "process", .kind = NM_COLUMN_TEXT, .hidden = 1},
};

/* A reuse is too far for a level if a fully associative cache of its size has lost the line. The distance is
 * that of the middle one of these. */
static const char reuse_sql[] =
    "WITH l AS MATERIALIZED (SELECT max(size) AS bytes FROM levels WHERE level = ?1), "
    "r AS MATERIALIZED (SELECT process, place, previous_place, (low * line_size >= (SELECT bytes FROM l)) AS far, "
    "(high + 1) * line_size AS bytes, count FROM reuses WHERE ?2 IS NULL OR process = ?2), "
    "m AS MATERIALIZED (SELECT *, sum(count) OVER (PARTITION BY place, previous_place ORDER BY bytes) AS upto, "
    "sum(count) OVER (PARTITION BY place, previous_place) AS total FROM r WHERE far), "
    "f AS MATERIALIZED (SELECT place, previous_place, sum(count) AS too_far, "
    "min(CASE WHEN 2 * upto >= total THEN bytes END) AS distance FROM m GROUP BY place, previous_place), "
    "c AS MATERIALIZED (SELECT process, place, previous_place, sum(count) AS reuses FROM r "
    "GROUP BY process, place, previous_place) "
    "SELECT p.object AS object, p.file AS file, p.line AS line, p.function AS function, q.file AS previous_file, "
    "q.line AS previous_line, q.function AS previous_function, f.too_far AS too_far, "
    "100.0 * f.too_far / nullif((SELECT sum(too_far) FROM f), 0) AS share, f.distance AS distance, "
    "c.reuses AS reuses, CASE WHEN p.file IS q.file AND p.line IS q.line "
    "THEN 'block the loop: reuse each part before the next' "
    "WHEN p.function IS q.function THEN 'fuse the loops, or block both' "
    "ELSE 'do both in one pass, or part by part' END AS try, q.object AS previous_object, c.process AS process "
    "FROM f CROSS JOIN c ON c.place = f.place AND c.previous_place = f.previous_place "
    "CROSS JOIN places p ON p.place = f.place CROSS JOIN places q ON q.place = f.previous_place";

static const struct nm_column numa_columns[] = {
    {.name = "object", .title = "object", .kind = NM_COLUMN_NAME},
    {.name = "loads", .title = "loads", .kind = NM_COLUMN_NUMBER},
    {.name = "remote", .title = "remote", .kind = NM_COLUMN_NUMBER},
    {.name = "remote_share", .title = "remote %", .kind = NM_COLUMN_REAL, .decimals = 1},
    {.name = "threads", .title = "threads", .kind = NM_COLUMN_NUMBER},
    {.name = "level", .title = "level", .kind = NM_COLUMN_TEXT, .hidden = 1},
    {.name = "process", .title = "process", .kind = NM_COLUMN_TEXT, .hidden = 1},
};
static const char numa_sql[] =
    "SELECT object, sum(loads) AS loads, sum(remote) AS remote, "
    "100.0 * sum(remote) / nullif(sum(loads), 0) AS remote_share, count(DISTINCT thread) AS threads, level, "
    "process FROM numa WHERE (?1 IS NULL OR level = ?1) AND (?2 IS NULL OR process = ?2) "
    "GROUP BY process, level, object";

static const struct nm_column schedule_columns[] = {
    {.name = "level", .title = "level", .kind = NM_COLUMN_TEXT},
    {.name = "schedules", .title = "orders", .kind = NM_COLUMN_NUMBER},
    {.name = "misses_min", .title = "misses, least", .kind = NM_COLUMN_NUMBER},
    {.name = "misses_max", .title = "most", .kind = NM_COLUMN_NUMBER},
    {.name = "coherence_min", .title = "coherence, least", .kind = NM_COLUMN_NUMBER},
    {.name = "coherence_max", .title = "most", .kind = NM_COLUMN_NUMBER},
    {.name = "false_min", .title = "false, least", .kind = NM_COLUMN_NUMBER},
    {.name = "false_max", .title = "most", .kind = NM_COLUMN_NUMBER},
};
static const char schedule_sql[] =
    "SELECT level, count(*) AS schedules, min(misses) AS misses_min, max(misses) AS misses_max, "
    "min(coherence) AS coherence_min, max(coherence) AS coherence_max, min(false_misses) AS false_min, "
    "max(false_misses) AS false_max FROM ("
    "SELECT level, position, schedule, sum(read_misses + write_misses) AS misses, sum(coherence) AS coherence, "
    "coalesce((SELECT sum(false_sharing) FROM schedule_coherence c WHERE c.level = l.level AND "
    "c.schedule = l.schedule AND (?2 IS NULL OR c.process = ?2)), 0) AS false_misses "
    "FROM schedule_levels l WHERE ?2 IS NULL OR process = ?2 GROUP BY position, schedule) GROUP BY position";

static const struct nm_column phase_columns[] = {
    {.name = "phase", .title = "phase", .kind = NM_COLUMN_NAME},
    {.name = "times", .title = "times", .kind = NM_COLUMN_NUMBER, .drop_order = 3},
    {.name = "instructions", .title = "instructions", .kind = NM_COLUMN_NUMBER},
    {.name = "references", .title = "references", .kind = NM_COLUMN_NUMBER, .drop_order = 4},
    {.name = "misses", .title = "misses", .kind = NM_COLUMN_NUMBER},
    {.name = "share", .title = "share %", .kind = NM_COLUMN_REAL, .decimals = 1},
    {.name = "mpki", .title = "MPKI", .kind = NM_COLUMN_REAL, .decimals = 2},
    {.name = "cold", .title = "cold", .kind = NM_COLUMN_NUMBER, .drop_order = 2},
    {.name = "capacity", .title = "capacity", .kind = NM_COLUMN_NUMBER, .drop_order = 2},
    {.name = "conflict", .title = "conflict", .kind = NM_COLUMN_NUMBER, .drop_order = 2},
    {.name = "begin", .title = "begins at", .kind = NM_COLUMN_NUMBER, .drop_order = 5},
    {.name = "object", .title = "object", .kind = NM_COLUMN_NAME, .hidden = 1},
    {.name = "function", .title = "function", .kind = NM_COLUMN_NAME, .hidden = 1},
    {.name = "file", .title = "file", .kind = NM_COLUMN_NAME, .hidden = 1},
    {.name = "line", .title = "line", .kind = NM_COLUMN_NUMBER, .hidden = 1},
    {.name = "process", .title = "process", .kind = NM_COLUMN_TEXT, .hidden = 1},
};

static const char phase_sql[] =
    "WITH c AS MATERIALIZED (SELECT h.process AS process, h.phase AS phase, h.name AS name, "
    "count(DISTINCT h.interval) AS times, min(h.begin) AS begin, sum(t.instructions) AS instructions, "
    "sum(t.reads + t.writes) AS refs, sum(t.read_misses + t.write_misses) AS misses, sum(t.cold) AS cold, "
    "sum(t.capacity) AS capacity, sum(t.conflict) AS conflict, h.object AS object, h.function AS function, "
    "h.file AS file, h.line AS line FROM phases h CROSS JOIN timeline t ON t.process = h.process "
    "AND t.level = ?1 AND t.interval >= h.interval AND t.interval < h.interval + h.intervals "
    "WHERE ?2 IS NULL OR h.process = ?2 GROUP BY h.process, h.phase) "
    "SELECT name AS phase, times, instructions, refs AS \"references\", misses, "
    "100.0 * misses / nullif((SELECT sum(misses) FROM c), 0) AS share, "
    "1000.0 * misses / nullif(instructions, 0) AS mpki, cold, capacity, conflict, begin, object, function, file, "
    "line, process FROM c";

static const struct nm_report reports[] = {
    {.name = "summary", .summary = "the run, its levels, the worst pairs, and advice", .is_summary = 1},
    {.name = "objects",
     .summary = "variables and allocation sites",
     .keys = "object",
     .shown = "kind,type,bytes,blocks,block_size",
     .sort = "misses",
     .has_total = 1},
    {.name = "functions", .summary = "functions", .keys = "function,file", .sort = "misses"},
    {.name = "lines", .summary = "source lines", .keys = "line,function", .sort = "misses"},
    {.name = "pairs",
     .summary = "objects with the source lines that touch them",
     .keys = "object,line,function",
     .shown = "top_evictor",
     .sort = "misses"},
    {.name = "levels",
     .summary = "the levels of the memory hierarchy",
     .columns = level_columns,
     .column_count = COUNT_OF(level_columns),
     .ties = "position",
     .sql = level_sql,
     .all_levels = 1},
    {.name = "phases",
     .summary = "phases of the run, by what misses most in them (nearmiss timeline draws them)",
     .columns = phase_columns,
     .column_count = COUNT_OF(phase_columns),
     .sort = "misses",
     .ties = "process, begin",
     .sql = phase_sql,
     .view = "phases",
     .without = "phases: no caches were simulated"},
    {.name = "patterns",
     .summary = "lines, the objects that they access, and the strides",
     .columns = pattern_columns,
     .column_count = COUNT_OF(pattern_columns),
     .sort = "misses",
     .ties = "process, object, file, line, function",
     .sql = pattern_sql,
     .joined = "process,object,function,line",
     .is_of_joined = 1},
    {.name = "sectors",
     .summary = "source lines that hit a cache line but miss the sector (sector= in a SPEC)",
     .columns = sector_columns,
     .column_count = COUNT_OF(sector_columns),
     .sort = "sector_misses",
     .ties = "process, object, file, line, function",
     .sql = sector_sql,
     .joined = "process,object,function,line",
     .view = "sectors",
     .without = "sector misses: no level has sectors (sector= in a SPEC), or all fit"},
    {.name = "prefetches",
     .summary = "source lines that prefetch, or make a level do so: useful, late, redundant, ...",
     .columns = prefetch_columns,
     .column_count = COUNT_OF(prefetch_columns),
     .sort = "prefetches",
     .ties = "process, level, object, file, line, function",
     .sql = prefetch_sql,
     .joined = "process,level,object,function,line",
     .all_levels = 1,
     .view = "prefetches",
     .without = "prefetches: the program has none, and no level (prefetch= in a SPEC)"},
    {.name = "numa",
     .summary = "objects with the loads that came from another node's memory (nodes= in a SPEC)",
     .columns = numa_columns,
     .column_count = COUNT_OF(numa_columns),
     .sort = "remote",
     .ties = "loads DESC, process, level, object",
     .sql = numa_sql,
     .all_levels = 1,
     .view = "numa",
     .without = "nodes: record with --cores and :nodes=N behind a SPEC"},
    {.name = "schedules",
     .summary = "what depends on the order of threads (record --schedules)",
     .columns = schedule_columns,
     .column_count = COUNT_OF(schedule_columns),
     .ties = "position",
     .sql = schedule_sql,
     .all_levels = 1,
     .view = "schedules",
     .without = "further orders of threads: record with --cores and --schedules"},
    {.name = "fields",
     .summary = "fields of structures: references, misses, use of the lines",
     .keys = "field,object",
     .shown = "references,offset,field_bytes,used",
     .sort = "misses",
     .needs_fields = 1},
    {.name = "struct",
     .summary = "a structure's fields as they lie in memory (struct NAME; --pahole, --data-type)",
     .is_structure = 1,
     .view = "fields",
     .without = "fields: no structure was accessed that debug information describes"},
    {.name = "affinity",
     .summary = "which fields of a structure are used together",
     .columns = affinity_columns,
     .column_count = COUNT_OF(affinity_columns),
     .sort = "visits",
     .ties = "process, object, type, offset, other_offset",
     .sql = affinity_sql,
     .needs_fields = 1},
    {.name = "calltree",
     .summary = "call chains with inclusive counts (record --callgraph)",
     .columns = context_columns,
     .column_count = COUNT_OF(context_columns),
     .sort = "misses",
     .ties = "process, context",
     .sql = context_sql,
     .needs_contexts = 1},
    {.name = "reuses",
     .summary = "which line touched a line of memory before, and how far apart (record --distances)",
     .columns = reuse_columns,
     .column_count = COUNT_OF(reuse_columns),
     .sort = "too_far",
     .ties = "process, object, file, line, function, previous_file, previous_line, previous_function",
     .sql = reuse_sql,
     .view = "reuses",
     .without = "pairs of use and reuse: record with --distances"},
    {.name = "buckets",
     .summary = "heap blocks by the call chain that allocates them (record --heap-chains)",
     .columns = bucket_columns,
     .column_count = COUNT_OF(bucket_columns),
     .sort = "misses",
     .ties = "process, object",
     .sql = bucket_sql,
     .joined = "process,object",
     .view = "buckets",
     .without = "chains of allocations: record with --heap-chains"},
    {.name = "latencies",
     .summary = "how many samples of a processor took how many cycles (import)",
     .keys = "band",
     .view = "samples",
     .without = "samples of a processor: import a file of perf"},
    {.name = "tasks",
     .summary = "misses of each input with each cache, of the file of a sweep (sweep)",
     .columns = task_columns,
     .column_count = COUNT_OF(task_columns),
     .ties = "input, settings, machine, level, policy, size, task",
     .sql = task_sql,
     .all_levels = 1,
     .view = "tasks",
     .without = "tasks: nearmiss sweep makes such a file"},
};

const struct nm_report nm_report_by = {.name = "by", .sort = "misses"};

const struct nm_report *nm_report_at(unsigned i)
{
	const unsigned own = COUNT_OF(reports);

	return i < own ? &reports[i] : i < own + NM_MERGED_REPORTS ? &nm_merged_reports[i - own] : NULL;
}

const struct nm_report *nm_report_named(const char *name)
{
	const struct nm_report *report;

	for (unsigned i = 0; (report = nm_report_at(i)); i++)
		if (!strcmp(report->name, name))
			break;
	return report;
}

const char *nm_report_name(const struct nm_report *report) { return report->name; }
const char *nm_report_summary(const struct nm_report *report) { return report->summary; }
