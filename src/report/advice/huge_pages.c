/* SPDX-License-Identifier: MIT
 *
 * huge_pages.c - what huge pages would save: compares the last level of a TLB with the same level of the same
 * TLB that uses them, where both were simulated side by side.
 */
#include <inttypes.h>
#include <string.h>

#include "machine.h"
#include "notes.h"

static const char *behind_prefix(const char *level)
{
	const char *slash = strchr(level, '/');

	return slash ? slash + 1 : level;
}

/* The last level that takes small pages of a TLB without huge pages, with its like in a TLB that has them. */
static int find_both(const struct nm_machine *m, unsigned *ret_without, unsigned *ret_with)
{
	int found = 0;

	for (unsigned i = 0; i < m->count; i++)
		for (unsigned j = 0; j < m->count; j++) {
			const struct nm_level_spec *s = &m->levels[i], *b = &m->levels[j];

			if (!(s->pages & 1u << NM_PAGE_4K) || s->pages != b->pages || s->size != b->size ||
			    s->ways != b->ways || nm_machine_same(s->name, b->name) ||
			    strcmp(behind_prefix(s->name), behind_prefix(b->name)) != 0 ||
			    nm_huge_pages_name(m, i) || !nm_huge_pages_name(m, j))
				continue;
			*ret_without = i;
			*ret_with = j;
			found = 1;
		}
	return found;
}

static int read_spec(struct nm_profile *profile, struct nm_machine *ret_machine, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status =
	    nm_profile_query(profile, "SELECT value FROM info WHERE key = 'machine_spec'", &rows, err);

	if (!status)
		status = nm_rows_next(rows, err);
	if (status > 0 &&
	    (!nm_rows_text(rows, 0) || nm_machine_parse(nm_rows_text(rows, 0), ret_machine, NULL)))
		ret_machine->count = 0;
	nm_rows_free(rows);
	return status > 0 ? 0 : status;
}

int nm_huge_pages_estimate(struct nm_profile *profile, const char *process,
			   struct nm_huge_pages_saving *ret_saving, struct nm_error *err)
{
	struct nm_machine machine = {.count = 0};
	struct nm_rows *rows = NULL;
	unsigned without, with;
	int status = read_spec(profile, &machine, err);

	*ret_saving = (struct nm_huge_pages_saving){.misses = 0};
	if (status || !find_both(&machine, &without, &with))
		return status;
	status =
	    nm_profile_query(profile,
			     "SELECT object, sum(CASE level WHEN ?1 THEN n ELSE 0 END) AS a, "
			     "sum(CASE level WHEN ?2 THEN n ELSE 0 END) AS b FROM (SELECT object, level, "
			     "read_misses + write_misses AS n FROM counts WHERE level IN (?1, ?2) AND "
			     "(?3 IS NULL OR process = ?3)) GROUP BY object ORDER BY a - b DESC, object",
			     &rows, err);
	if (!status) {
		nm_rows_bind_text(rows, 1, machine.levels[without].name);
		nm_rows_bind_text(rows, 2, machine.levels[with].name);
		nm_rows_bind_text(rows, 3, process);
	}
	while (!status && (status = nm_rows_next(rows, err)) > 0) {
		int64_t saved = nm_rows_bounded(rows, 1) - nm_rows_bounded(rows, 2);

		if (!*ret_saving->object && saved > 0) {
			snprintf(ret_saving->object, sizeof ret_saving->object, "%s",
				 nm_rows_text(rows, 0) ? nm_rows_text(rows, 0) : "<unknown>");
			ret_saving->of_object = saved;
		}
		ret_saving->misses += nm_rows_bounded(rows, 1);
		ret_saving->saved += saved;
		status = 0;
	}
	nm_rows_free(rows);
	snprintf(ret_saving->level, sizeof ret_saving->level, "%s", machine.levels[without].name);
	ret_saving->pages = nm_huge_pages_name(&machine, with);
	return status;
}
