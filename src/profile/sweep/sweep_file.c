/* SPDX-License-Identifier: MIT
 *
 * A lock (flock) keeps a second sweep away; the kernel drops it with the process that held it. Results are taken into
 * an open transaction, so that a thousand short ones do not wait for the disk a thousand times.
 */
#include "sweep_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "profile_priv.h"
#include "reader_priv.h"

extern const char nm_sweep_schema[]; /* sweep.sql */

enum { PATIENCE_MS = 60000 }; /* with those who read the file meanwhile */

enum sweep_statement { ENTER, FIND, RESET, FORGET_PROCESS, FORGET_LEVELS, LABEL, FINISH, RUN, STATEMENTS };

static const char *const sql[STATEMENTS] = {
    [ENTER] = "INSERT INTO task VALUES(NULL,?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,'waiting',NULL,NULL,NULL,1) "
	      "ON CONFLICT(kind, input, settings, spec) DO UPDATE SET entered = 1, machine = ?6, level = ?7, "
	      "policy = ?8, size = ?9, work = ?11",
    [FIND] = "SELECT id, state, bytes = ?5 AND modified = ?6 FROM task WHERE kind = ?1 AND input = ?2 AND "
	     "settings = ?3 AND spec = ?4",
    [RESET] = "UPDATE task SET state = 'waiting', seconds = NULL, worker = NULL, remark = NULL, bytes = ?2, "
	      "modified = ?3 WHERE id = ?1",
    [FORGET_PROCESS] = "DELETE FROM process WHERE id = ?1",
    [FORGET_LEVELS] = "DELETE FROM level WHERE process = ?1",
    [LABEL] =
	"SELECT trim(input || ' ' || settings) || ' on ' || machine || ', ' || level || ' ' || size || ' ' || "
	"policy, 'task ' || id, spec FROM task WHERE id = ?1",
    [FINISH] = "UPDATE task SET state = ?2, seconds = ?3, worker = ?4, remark = ?5 WHERE id = ?1",
    [RUN] = "INSERT INTO sweep_run VALUES(NULL,?1,?2,?3,?4,?5,?6,?7)",
};

struct nm_sweep_file {
	char *path;
	int lock;
	sqlite3 *db;
	struct nm_store store;
	sqlite3_stmt *statement[STATEMENTS];
	int is_open; /* a transaction */
};

static int fail(struct nm_sweep_file *file, int status, struct nm_error *err)
{
	int code = NM_EIO;

	switch (status & 0xff) {
	case SQLITE_NOMEM: return nm_fail_memory(err);
	case SQLITE_FULL: code = NM_ENOSPC; break;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB: code = NM_EFORMAT; break;
	default: break;
	}
	return nm_fail(err, code, "cannot write %s: %s", file->path, sqlite3_errstr(status));
}

static int exec(struct nm_sweep_file *file, const char *text, struct nm_error *err)
{
	const int status = sqlite3_exec(file->db, text, NULL, NULL, NULL);

	return status ? fail(file, status, err) : 0;
}

/* Runs a bound statement to its end. SQLite's code. */
static int run_statement(struct nm_sweep_file *file, enum sweep_statement which)
{
	const int status = sqlite3_step(file->statement[which]);

	sqlite3_reset(file->statement[which]);
	sqlite3_clear_bindings(file->statement[which]);
	return status == SQLITE_DONE ? SQLITE_OK : status;
}

static int run_for(struct nm_sweep_file *file, enum sweep_statement which, int64_t id)
{
	sqlite3_bind_int64(file->statement[which], 1, id);
	return run_statement(file, which);
}

static int begin_transaction(struct nm_sweep_file *file)
{
	int status = file->is_open ? SQLITE_OK : sqlite3_exec(file->db, "BEGIN", NULL, NULL, NULL);

	file->is_open = !status;
	return status;
}

/* ---- the life of a file ---- */

static int lock(struct nm_sweep_file *file, struct nm_error *err)
{
	file->lock = open(file->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (file->lock >= 0 && !flock(file->lock, LOCK_EX | LOCK_NB))
		return 0;
	if (file->lock >= 0 && errno == EWOULDBLOCK)
		return nm_fail(err, NM_EINVAL,
			       "another sweep writes %s: wait for it, or choose another file by -o",
			       file->path);
	nm_fail_errno(err, "cannot %s %s", file->lock < 0 ? "write" : "lock", file->path);
	return err ? (int)err->code : NM_EIO;
}

static int create(struct nm_sweep_file *file, struct nm_error *err)
{
	char setup[200];
	int status;

	snprintf(setup, sizeof setup,
		 "PRAGMA page_size=8192; PRAGMA application_id=%d; PRAGMA user_version=%d; BEGIN",
		 NM_PROFILE_APPLICATION, NM_PROFILE_VERSION);
	status = exec(file, setup, err);
	if (!status)
		status = exec(file, nm_profile_schema, err);
	if (!status)
		status = exec(file, nm_sweep_schema, err);
	if (!status) {
		snprintf(setup, sizeof setup,
			 "INSERT INTO entry VALUES('profile_version', %d), ('collector', 'sweep'), "
			 "('version', '" NM_VERSION "'); COMMIT",
			 NM_PROFILE_VERSION);
		status = exec(file, setup, err);
	}
	return status;
}

/* A file that is there must be a sweep's, of this version to the letter. */
static int check(struct nm_sweep_file *file, struct nm_error *err)
{
	static const char question[] = "SELECT (SELECT count(*) FROM pragma_table_info('task')), "
				       "(SELECT user_version FROM pragma_user_version), "
				       "(SELECT application_id FROM pragma_application_id)";
	enum { TASK_COLUMNS = 17 };
	sqlite3_stmt *query = NULL;
	int status = sqlite3_prepare_v2(file->db, question, -1, &query, NULL), is_ours = 0;

	if (!status && (status = sqlite3_step(query)) == SQLITE_ROW) {
		is_ours = sqlite3_column_int(query, 0) == TASK_COLUMNS &&
			  sqlite3_column_int(query, 1) == NM_PROFILE_VERSION &&
			  sqlite3_column_int(query, 2) == NM_PROFILE_APPLICATION;
		status = SQLITE_OK;
	}
	sqlite3_finalize(query);
	if (status && (status & 0xff) != SQLITE_NOTADB)
		return fail(file, status, err);
	return is_ours ? 0
		       : nm_fail(err, NM_EFORMAT,
				 "%s is not the file of a sweep of this version: choose another by -o",
				 file->path);
}

/* None: the file is new, or its first sweep was killed at once. The first statement undoes what a killed process left
 * half written. */
static int count_tables(struct nm_sweep_file *file, int *ret_count)
{
	sqlite3_stmt *query = NULL;
	int status = sqlite3_prepare_v2(file->db, "SELECT count(*) FROM sqlite_master", -1, &query, NULL);

	if (!status && (status = sqlite3_step(query)) == SQLITE_ROW) {
		*ret_count = sqlite3_column_int(query, 0);
		status = SQLITE_OK;
	}
	sqlite3_finalize(query);
	return status;
}

static int open_database(struct nm_sweep_file *file, struct nm_error *err)
{
	char *uri = nm_profile_uri(file->path);
	int status, tables = 1;

	if (!uri)
		return nm_fail_memory(err);
	*strrchr(uri, '?') = '\0'; /* it is not immutable */
	status = sqlite3_open_v2(uri, &file->db,
				 SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
	free(uri);
	if (status)
		return fail(file, status, err);
	sqlite3_busy_timeout(file->db, PATIENCE_MS);
	status = count_tables(file, &tables);
	if (status && status != SQLITE_NOTADB)
		return fail(file, status, err);
	status = tables ? check(file, err) : create(file, err);
	if (!status)
		status = exec(file, "PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY", err);
	if (status)
		return status;
	status = nm_store_open(&file->store, file->db);
	for (int i = 0; i < STATEMENTS && !status; i++)
		status = sqlite3_prepare_v3(file->db, sql[i], -1, SQLITE_PREPARE_PERSISTENT,
					    &file->statement[i], NULL);
	return status ? fail(file, status, err) : 0;
}

int nm_sweep_file_open(struct nm_sweep_file **ret_file, const char *path, struct nm_error *err)
{
	struct nm_sweep_file *file = calloc(1, sizeof *file);
	int status;

	if (!file)
		return nm_fail_memory(err);
	file->lock = -1;
	file->path = strdup(path);
	status = file->path ? lock(file, err) : nm_fail_memory(err);
	if (!status)
		status = open_database(file, err);
	if (status) {
		nm_sweep_file_close(file);
		return status;
	}
	*ret_file = file;
	return 0;
}

void nm_sweep_file_close(struct nm_sweep_file *file)
{
	for (int i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(file->statement[i]);
	if (file->db)
		nm_store_done(&file->store);
	sqlite3_close(file->db);
	if (file->lock >= 0)
		close(file->lock);
	free(file->path);
	free(file);
}

int nm_sweep_file_commit(struct nm_sweep_file *file, struct nm_error *err)
{
	if (!file->is_open)
		return 0;
	file->is_open = 0;
	return exec(file, "COMMIT", err);
}

/* ---- tasks ---- */

static void bind_key(sqlite3_stmt *s, const struct nm_sweep_task *task, int spec_at)
{
	sqlite3_bind_text(s, 1, task->kind, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 2, task->input, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 3, task->settings, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, spec_at, task->spec, -1, SQLITE_STATIC);
}

static int add_task(struct nm_sweep_file *file, const struct nm_sweep_task *task)
{
	sqlite3_stmt *s = file->statement[ENTER];

	bind_key(s, task, 10);
	sqlite3_bind_int64(s, 4, task->bytes);
	sqlite3_bind_int64(s, 5, task->modified);
	sqlite3_bind_text(s, 6, task->machine, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 7, task->level, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 8, task->policy, -1, SQLITE_STATIC);
	sqlite3_bind_int64(s, 9, (sqlite3_int64)task->size);
	sqlite3_bind_double(s, 11, task->work);
	return run_statement(file, ENTER);
}

static int find_task(struct nm_sweep_file *file, const struct nm_sweep_task *task, int64_t *ret_id,
		     enum nm_sweep_state *ret_state, int *ret_is_same)
{
	sqlite3_stmt *s = file->statement[FIND];
	const char *state;
	int status;

	bind_key(s, task, 4);
	sqlite3_bind_int64(s, 5, task->bytes);
	sqlite3_bind_int64(s, 6, task->modified);
	status = sqlite3_step(s);
	if (status == SQLITE_ROW) {
		state = (const char *)sqlite3_column_text(s, 1);
		*ret_id = sqlite3_column_int64(s, 0);
		*ret_state = state && !strcmp(state, "done")     ? NM_SWEEP_DONE
			     : state && !strcmp(state, "failed") ? NM_SWEEP_FAILED
								 : NM_SWEEP_WAITING;
		*ret_is_same = sqlite3_column_int(s, 2);
		status = SQLITE_OK;
	}
	sqlite3_reset(s);
	return status == SQLITE_DONE ? SQLITE_CORRUPT : status;
}

/* Makes a task wait again, of which the file has a result. */
static int reset(struct nm_sweep_file *file, int64_t id, const struct nm_sweep_task *task)
{
	int status = run_for(file, FORGET_PROCESS, id);

	if (!status)
		status = run_for(file, FORGET_LEVELS, id);
	if (status)
		return status;
	sqlite3_bind_int64(file->statement[RESET], 2, task->bytes);
	sqlite3_bind_int64(file->statement[RESET], 3, task->modified);
	return run_for(file, RESET, id);
}

int nm_sweep_file_enter(struct nm_sweep_file *file, const struct nm_sweep_task *task, int again,
			int64_t *ret_id, enum nm_sweep_state *ret_state, struct nm_error *err)
{
	int is_same = 1, status = begin_transaction(file);

	if (!status)
		status = add_task(file, task);
	if (!status)
		status = find_task(file, task, ret_id, ret_state, &is_same);
	if (!status && (!is_same || (again && *ret_state == NM_SWEEP_FAILED))) {
		status = reset(file, *ret_id, task);
		*ret_state = NM_SWEEP_WAITING;
	}
	return status ? fail(file, status, err) : 0;
}

int nm_sweep_file_entered(struct nm_sweep_file *file, struct nm_error *err)
{
	int status = exec(
	    file, "DELETE FROM task WHERE state = 'waiting' AND entered = 0; UPDATE task SET entered = 0",
	    err);

	return status ? status : nm_sweep_file_commit(file, err);
}

/* Tasks that are done are processes: their names tell them apart. */
static int store_counts(struct nm_sweep_file *file, int64_t id, const struct nm_sweep_outcome *outcome)
{
	sqlite3_stmt *label = file->statement[LABEL];
	struct nm_result result = {.instructions = outcome->instructions,
				   .references = outcome->references,
				   .machine = outcome->machine};
	int status;

	sqlite3_bind_int64(label, 1, id);
	status = sqlite3_step(label);
	if (status == SQLITE_ROW) {
		result.process = (const char *)sqlite3_column_text(label, 0);
		result.path = (const char *)sqlite3_column_text(label, 1);
		result.command = (const char *)sqlite3_column_text(label, 2);
		for (unsigned i = 0; i < outcome->machine.count; i++)
			result.levels[i].total = outcome->totals[i];
		file->store.processes = id - 1;
		status = nm_store_result(&file->store, &result);
	}
	sqlite3_reset(label);
	return status;
}

int nm_sweep_file_take(struct nm_sweep_file *file, int64_t id, const struct nm_sweep_outcome *outcome,
		       struct nm_error *err)
{
	sqlite3_stmt *s = file->statement[FINISH];
	int status = begin_transaction(file);

	if (!status && !outcome->failed)
		status = store_counts(file, id, outcome);
	if (!status) {
		sqlite3_bind_text(s, 2, outcome->failed ? "failed" : "done", -1, SQLITE_STATIC);
		sqlite3_bind_double(s, 3, outcome->seconds);
		sqlite3_bind_int64(s, 4, outcome->worker);
		sqlite3_bind_text(s, 5, outcome->remark, -1, SQLITE_STATIC);
		status = run_for(file, FINISH, id);
	}
	return status ? fail(file, status, err) : 0;
}

int nm_sweep_file_note_run(struct nm_sweep_file *file, const struct nm_sweep_run *r, struct nm_error *err)
{
	sqlite3_stmt *s = file->statement[RUN];
	int status = begin_transaction(file);

	if (!status) {
		sqlite3_bind_int64(s, 1, time(NULL));
		sqlite3_bind_int64(s, 2, r->workers);
		sqlite3_bind_int64(s, 3, (sqlite3_int64)r->tasks);
		sqlite3_bind_int64(s, 4, (sqlite3_int64)r->messages);
		sqlite3_bind_int64(s, 5, (sqlite3_int64)r->bytes);
		sqlite3_bind_double(s, 6, r->seconds);
		sqlite3_bind_double(s, 7, r->busy);
		status = run_statement(file, RUN);
	}
	return status ? fail(file, status, err) : 0;
}
