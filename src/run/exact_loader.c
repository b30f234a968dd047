/* SPDX-License-Identifier: MIT */
#include "exact_loader.h"

#include "selection.h"

/*
 *     b  modules with a build-id: of two of one name none is certain
 *     l  the level that counts all references to data
 *     i  instructions with their objects
 *     f  parts of these that go to fields
 *
 * The second process image of a program is "name#2".
 */
static const char sql[] =
    "WITH b AS MATERIALIZED (SELECT process, name AS module, min(build_id) AS build_id, "
    "substr(process, 1, coalesce(nullif(instr(process, '#'), 0) - 1, 15)) AS program "
    "FROM modules GROUP BY process, name HAVING count(*) = 1 AND build_id IS NOT NULL), "
    "l AS MATERIALIZED (SELECT process, level, min(position) FROM levels WHERE side <> 'instruction' GROUP BY process), "
    "i AS MATERIALIZED (SELECT process, module, address, object, sum(reads + writes) AS accesses "
    "FROM instructions JOIN l USING (process, level) GROUP BY process, module, address, object), "
    "f AS MATERIALIZED (SELECT process, module, address, object, type, field, 1.0 * sum(accesses) / "
    "sum(sum(accesses)) OVER (PARTITION BY process, module, address, object) AS part "
    "FROM instruction_fields GROUP BY process, module, address, object, type, field) "
    "SELECT substr(b.program, 1, 15) AS program, b.module, b.build_id, i.address, i.object, o.kind, "
    "coalesce(f.type, o.type) AS type, o.allocated_at, f.field, sum(i.accesses * coalesce(f.part, 1.0)) "
    "FROM i JOIN b USING (process, module) JOIN objects o ON o.process = i.process AND o.object = i.object "
    "LEFT JOIN f ON f.process = i.process AND f.module = i.module AND f.address = i.address AND f.object = i.object "
    "WHERE o.kind <> 'code' AND i.accesses > 0 "
    "GROUP BY 1, b.build_id, i.address, i.object, 7, f.field";

static int load_recording(struct nm_exact *exact, struct nm_profile *profile, struct nm_error *err)
{
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(profile, sql, &rows, err);

	while (!status && (status = nm_rows_next(rows, err)) > 0) {
		const struct nm_exact_row row = {.program = nm_rows_text(rows, 0),
						 .module = nm_rows_text(rows, 1),
						 .build_id = nm_rows_text(rows, 2),
						 .address = (uint64_t)nm_rows_integer(rows, 3),
						 .object = nm_rows_text(rows, 4),
						 .kind = nm_rows_text(rows, 5),
						 .type = nm_rows_text(rows, 6),
						 .allocated_at = nm_rows_text(rows, 7),
						 .field = nm_rows_text(rows, 8),
						 .accesses = nm_rows_real(rows, 9)};

		status = !row.program || !row.module || !row.build_id || !row.object || !row.kind ? 0
			 : nm_exact_add(exact, &row) ? nm_fail_memory(err)
						     : 0;
	}
	nm_rows_free(rows);
	return status;
}

static int check_profile(struct nm_profile *profile, const char *path, struct nm_error *err)
{
	const int has = nm_profile_has_rows(profile, "instructions", err);

	if (has)
		return has < 0 ? has : 0;
	return nm_fail(err, NM_EINVAL,
		       "%s does not tell what each instruction accesses: record it with --asm", path);
}

static int open_exact(struct nm_profile **ret, const char *path, struct nm_error *err)
{
	int status = nm_profile_open(ret, path, err);

	if (status)
		return status;
	status = check_profile(*ret, path, err);
	if (status)
		nm_profile_close(*ret);
	return status;
}

int nm_exact_check(const char *path, struct nm_error *err)
{
	struct nm_profile *profile;
	int status = open_exact(&profile, path, err);

	if (!status)
		nm_profile_close(profile);
	return status;
}

int nm_exact_load(struct nm_exact **ret, const char *path, struct nm_symbols *symbols, struct nm_error *err)
{
	struct nm_profile *profile;
	int status = open_exact(&profile, path, err);

	if (status)
		return status;
	nm_profile_let_run(profile);
	status = nm_exact_new(ret, symbols, path, err);
	if (!status)
		status = load_recording(*ret, profile, err);
	nm_profile_close(profile);
	return status;
}
