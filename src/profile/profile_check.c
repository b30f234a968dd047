/* SPDX-License-Identifier: MIT
 *
 * Each statement searches for an invalid row. Of the large views only the columns are checked: their readers
 * accept NULL and numbers of any size.
 */
#include "reader_priv.h"

#define TEXT(column) "typeof(" column ") <> 'text' OR "
#define TEXT_OR_NULL(column) "typeof(" column ") NOT IN ('text', 'null') OR "
#define COUNT(column) "typeof(" column ") <> 'integer' OR " column " < 0 OR "
#define COUNT_OR_NULL(column) "typeof(" column ") NOT IN ('integer', 'null') OR " column " < 0 OR "

static const struct {
	const char *view, *sql;
} rules[] = {
    {"info", "SELECT 1 FROM info WHERE " TEXT("key") "typeof(value) = 'blob'"},
    {"processes", "SELECT 1 FROM processes WHERE " TEXT("process") TEXT_OR_NULL("command") COUNT(
		      "instructions") COUNT("refs") COUNT("lost_words") "typeof(exit_status) <> 'integer'"},
    {"undebugged", "SELECT 1 FROM undebugged WHERE " TEXT("process") "typeof(module) <> 'text'"},
    {"levels",
     "SELECT 1 FROM levels WHERE " TEXT("level") TEXT("process") TEXT_OR_NULL("policy") TEXT_OR_NULL("side")
	 COUNT("size") COUNT("ways") COUNT("sets") COUNT("reads") COUNT("writes") COUNT("read_misses")
	     COUNT("write_misses") COUNT("cold") COUNT("capacity") COUNT("conflict") COUNT("coherence")
		 COUNT("loads") COUNT("evictions") COUNT("writebacks") COUNT("position")
		     COUNT("line_size") "line_size < 1 OR size >= 1 << 48 OR line_size >= 1 << 40"},
    {"objects", "SELECT 1 FROM objects WHERE " TEXT("object") TEXT("process") TEXT("kind") TEXT_OR_NULL(
		    "type") TEXT_OR_NULL("allocated_at") COUNT("blocks") COUNT("largest") COUNT("bytes") "0"},
    {"counts",
     "SELECT process, thread, level, function, file, line, object, reads, writes, read_misses, write_misses, "
     "cold, capacity, conflict, coherence, loads, reuse, used_bytes, loaded_bytes, evictions, writebacks "
     "FROM counts LIMIT 0"},
    {"evictions",
     "SELECT level, function, file, line, evictor, victim, victim_function, victim_file, victim_line, "
     "count, process FROM evictions LIMIT 0"},
    {"top_evictors", "SELECT level, function, file, line, evictor, victim, victim_function, victim_file, "
		     "victim_line, count, process FROM top_evictors LIMIT 0"},
};

int nm_profile_check(struct nm_profile *profile, const char *path, struct nm_error *err)
{
	for (unsigned i = 0; i < sizeof rules / sizeof *rules; i++) {
		int status = nm_profile_has_row(profile, rules[i].sql, err);

		if (status > 0)
			return nm_fail(err, NM_EFORMAT,
				       "profile %s is damaged: its view %s holds values that it cannot have",
				       path, rules[i].view);
		if (status == NM_EINVAL)
			return nm_fail(err, NM_EFORMAT, "profile %s is damaged: its view %s cannot be read",
				       path, rules[i].view);
		if (status)
			return status;
	}
	return 0;
}

int nm_profile_check_contexts(struct nm_profile *profile, struct nm_error *err)
{
	int status = nm_profile_has_row(
	    profile,
	    "SELECT 1 FROM contexts WHERE typeof(context) <> 'integer' OR context < 0 OR "
	    "typeof(parent) NOT IN ('integer', 'null') OR parent < 0 OR parent >= context OR "
	    "typeof(process) <> 'text' OR (parent IS NULL) <> (context = 0)",
	    err);

	return status > 0 ? nm_fail(err, NM_EFORMAT, "the profile is damaged: a call chain has no beginning")
			  : status;
}
