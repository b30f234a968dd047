/* SPDX-License-Identifier: MIT
 *
 * writer.c - the life of a profile file: temporary name, one transaction, fsync, rename.
 *
 * SQLite's journal and its syncs are off: until the file has its final name nobody else reads it, and a
 * failure removes it. What makes it safe is the order of the last steps: commit, close, fsync of the file,
 * rename, fsync of the directory.
 *
 * Entries of `info` that are set here: profile_version, processes, instructions, references, lost_words
 * (sums over processes), machine, machine_spec, machine_description (of the first process added).
 */
#include "writer.h"
#include "files.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checks.h"
#include "checksum.h"
#include "profile_priv.h"

struct nm_profile_writer {
	char *path;      /* final, symbolic links resolved */
	char *temporary; /* beside it */
	int fd;          /* of the temporary file, for fsync */
	sqlite3 *db;
	struct nm_store store;
	struct nm_profile_sums sums;
	int failed; /* code of the first failure: only abort is left */
};

/* SQLite reports a full disk, but not an exceeded quota or limit on file sizes, and sqlite3_system_errno is
 * often 0. So we try: can the file grow? */
static int is_full(int fd)
{
	static const char page[65536];
	off_t end = lseek(fd, 0, SEEK_END);
	ssize_t n = pwrite(fd, page, sizeof page, end);

	if (n >= 0 && n < (ssize_t)sizeof page)
		n = pwrite(fd, page, sizeof page - (size_t)n, end + n);
	return n < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG);
}

int nm_profile_writer_fail(struct nm_profile_writer *writer, int status, struct nm_error *err)
{
	int code = NM_EIO;
	const char *why = sqlite3_errstr(status);

	assert(status != SQLITE_OK);
	if ((status & 0xff) == SQLITE_FULL || ((status & 0xff) == SQLITE_IOERR && is_full(writer->fd))) {
		code = NM_ENOSPC;
		why = "no space left on the device";
	} else if (status == SQLITE_NOMEM) {
		code = NM_ENOMEM;
		why = "out of memory";
	}
	writer->failed = code;
	return nm_fail(err, code, "cannot write profile %s: %s", writer->path, why);
}

sqlite3 *nm_profile_writer_db(struct nm_profile_writer *writer) { return writer->db; }

const char *nm_profile_writer_path(const struct nm_profile_writer *writer) { return writer->path; }

struct nm_profile_sums *nm_profile_writer_sums(struct nm_profile_writer *writer) { return &writer->sums; }

static int exec_sql(struct nm_profile_writer *writer, const char *sql, struct nm_error *err)
{
	int status = sqlite3_exec(writer->db, sql, NULL, NULL, NULL);

	return status ? nm_profile_writer_fail(writer, status, err) : 0;
}

/* The path with its links resolved, so that rename replaces the file and not the link. A path that is
 * there must be a regular file that we may write. */
static int final_path(const char *path, char **ret_final, struct nm_error *err)
{
	struct stat st;
	char *resolved;

	if (stat(path, &st)) {
		if (errno != ENOENT)
			return nm_fail_errno(err, "cannot write profile %s", path);
		resolved = strdup(path);
	} else {
		if (!S_ISREG(st.st_mode))
			return nm_fail(err, NM_EIO, "cannot write profile %s: it is not a regular file",
				       path);
		if (access(path, W_OK))
			return nm_fail_errno(err, "cannot write profile %s", path);
		resolved = realpath(path, NULL);
	}
	if (!resolved)
		return nm_fail_memory(err);
	*ret_final = resolved;
	return 0;
}

/* Keeps the permissions of a profile that is replaced. */
static void keep_mode(const struct nm_profile_writer *writer)
{
	struct stat st;

	if (!stat(writer->path, &st) && S_ISREG(st.st_mode))
		fchmod(writer->fd, st.st_mode & 0777);
}

static int open_temporary(struct nm_profile_writer *writer, struct nm_error *err)
{
	unsigned i;

	for (i = 0; i < 100; i++) {
		free(writer->temporary);
		/* "./" keeps SQLite from taking a name such as "file:x" for a URI. */
		if (asprintf(&writer->temporary, "%s%s.%ld-%u.tmp", writer->path[0] == '/' ? "" : "./",
			     writer->path, (long)getpid(), i) < 0) {
			writer->temporary = NULL;
			return nm_fail_memory(err);
		}
		nm_temporary_add(writer->temporary); /* first: a signal may come as soon as it exists */
		writer->fd = open(writer->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (writer->fd >= 0) {
			keep_mode(writer);
			flock(writer->fd, LOCK_EX | LOCK_NB); /* see leftovers.c */
			return 0;
		}
		nm_temporary_forget(writer->temporary);
		if (errno != EEXIST)
			break;
	}
	nm_fail_errno(err, "cannot write profile %s", writer->path);
	free(writer->temporary);
	writer->temporary = NULL;
	return err ? (int)err->code : NM_EIO;
}

static int open_database(struct nm_profile_writer *writer, struct nm_error *err)
{
	char setup[320];
	int status = sqlite3_open_v2(writer->temporary, &writer->db,
				     SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);

	if (status)
		return nm_profile_writer_fail(writer, status, err);
	snprintf(setup, sizeof setup,
		 "PRAGMA page_size=8192; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
		 "PRAGMA locking_mode=EXCLUSIVE; PRAGMA cache_size=-65536; PRAGMA temp_store=MEMORY;"
		 "PRAGMA application_id=%d; PRAGMA user_version=%d; BEGIN",
		 NM_PROFILE_APPLICATION, NM_PROFILE_VERSION);
	status = exec_sql(writer, setup, err);
	if (!status)
		status = exec_sql(writer, nm_profile_schema, err);
	if (status)
		return status;
	status = nm_store_open(&writer->store, writer->db);
	return status ? nm_profile_writer_fail(writer, status, err) : 0;
}

int nm_profile_writer_new(struct nm_profile_writer **ret_writer, const char *path, struct nm_error *err)
{
	struct nm_profile_writer *writer = calloc(1, sizeof *writer);
	int status;

	if (!writer)
		return nm_fail_memory(err);
	writer->fd = -1;
	status = final_path(path, &writer->path, err);
	if (!status) {
		nm_remove_leftovers(writer->path);
		status = open_temporary(writer, err);
	}
	if (!status)
		status = open_database(writer, err);
	if (status) {
		nm_profile_writer_abort(writer);
		return status;
	}
	*ret_writer = writer;
	return 0;
}

static int info_number(struct nm_profile_writer *writer, const char *key, uint64_t value,
		       struct nm_error *err)
{
	char text[24];

	snprintf(text, sizeof text, "%" PRIu64, value);
	return nm_profile_writer_info(writer, key, text, err);
}

/* How the threads of several cores were merged. */
static int info_order(struct nm_profile_writer *writer, const struct nm_result_order *order,
		      struct nm_error *err)
{
	char schedule[NM_RULE_ROOM];
	int status = info_number(writer, "quantum", order->quantum, err);

	nm_order_rule(schedule, order);
	return status ? status : nm_profile_writer_info(writer, "schedule", schedule, err);
}

static int info_machine(struct nm_profile_writer *writer, const struct nm_machine *machine,
			struct nm_error *err)
{
	char spec[4096];
	int status;

	nm_machine_format(machine, spec, sizeof spec);
	status = nm_profile_writer_info(writer, "machine", machine->name, err);
	if (!status)
		status = nm_profile_writer_info(writer, "machine_spec", spec, err);
	if (!status)
		status = nm_profile_writer_info(writer, "machine_description", machine->description, err);
	return status || machine->cores < 2 ? status : info_number(writer, "cores", machine->cores, err);
}

int nm_profile_writer_add(struct nm_profile_writer *writer, const struct nm_result *result,
			  struct nm_error *err)
{
	int status;

	if (writer->failed)
		return nm_fail(err, writer->failed, "cannot write profile %s", writer->path);
	if (!writer->sums.processes &&
	    ((result->machine.count && info_machine(writer, &result->machine, err)) ||
	     (result->order.quantum && info_order(writer, &result->order, err))))
		return writer->failed;
	status = nm_store_result(&writer->store, result);
	if (status == SQLITE_CONSTRAINT) {
		writer->failed = NM_EINVAL;
		return nm_fail(err, NM_EINVAL, "process %s was added twice", result->path);
	}
	if (status)
		return nm_profile_writer_fail(writer, status, err);
	writer->sums.processes++;
	writer->sums.stalls += result->order.stalls;
	writer->sums.instructions += result->instructions;
	writer->sums.references += result->references;
	writer->sums.lost_words += result->lost_words;
	return 0;
}

int nm_profile_writer_add_machine(struct nm_profile_writer *writer, const struct nm_result *machine,
				  const struct nm_result_owner *owners, struct nm_error *err)
{
	int status;

	if (writer->failed)
		return nm_fail(err, writer->failed, "cannot write profile %s", writer->path);
	status = nm_store_machine(&writer->store, machine, owners);
	writer->sums.stalls += machine->order.stalls;
	return status ? nm_profile_writer_fail(writer, status, err) : 0;
}

int nm_profile_writer_info(struct nm_profile_writer *writer, const char *key, const char *value,
			   struct nm_error *err)
{
	sqlite3_stmt *insert = NULL;
	int status =
	    sqlite3_prepare_v2(writer->db, "INSERT OR REPLACE INTO entry VALUES(?,?)", -1, &insert, NULL);

	if (!status) {
		sqlite3_bind_text(insert, 1, key, -1, SQLITE_STATIC);
		sqlite3_bind_text(insert, 2, value, -1, SQLITE_STATIC);
		status = sqlite3_step(insert);
		status = status == SQLITE_DONE ? 0 : status;
		sqlite3_finalize(insert);
	}
	return status ? nm_profile_writer_fail(writer, status, err) : 0;
}

int nm_profile_writer_sources(struct nm_profile_writer *writer, const struct nm_source_choice *choice,
			      struct nm_error *err)
{
	int status = nm_store_sources(&writer->store, choice);

	return status ? nm_profile_writer_fail(writer, status, err) : 0;
}

/* The second process called "cc1", in the order of the tree, becomes "cc1#2". */
static const char unique_names[] =
    "UPDATE process SET name = process.name || '#' || n.n FROM "
    "(SELECT id, row_number() OVER (PARTITION BY name ORDER BY id) AS n FROM process) AS n "
    "WHERE n.id = process.id AND n.n > 1";

static int finish_file(struct nm_profile_writer *writer, struct nm_error *err)
{
	int status = exec_sql(writer, unique_names, err);

	NM_CHECK(status || nm_profile_writer_is_valid(writer));
	if (!status)
		status = info_number(writer, "profile_version", NM_PROFILE_VERSION, err);
	if (!status)
		status = info_number(writer, "processes", writer->sums.processes, err);
	if (!status && writer->sums.stalls)
		status = info_number(writer, "stalls", writer->sums.stalls, err);
	if (!status)
		status = info_number(writer, "instructions", writer->sums.instructions, err);
	if (!status)
		status = info_number(writer, "references", writer->sums.references, err);
	if (!status)
		status = info_number(writer, "lost_words", writer->sums.lost_words, err);
	return status ? status : exec_sql(writer, "COMMIT", err);
}

static void close_database(struct nm_profile_writer *writer)
{
	nm_store_done(&writer->store);
	sqlite3_close(writer->db);
	writer->db = NULL;
}

/* The new name must be on the disk too; a file system that cannot sync a directory is not a failure. */
static void sync_directory(const char *path)
{
	char *copy = strdup(path);
	int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
	free(copy);
}

/* A profile that is replaced stays as PATH.old, where the file system lets it. Returns 0. */
static int keep_replaced(const struct nm_profile_writer *writer)
{
	char *old;

	if (asprintf(&old, "%s.old", writer->path) < 0)
		return 0;
	if (!access(writer->path, F_OK)) {
		unlink(old);
		if (link(writer->path, old))
			rename(writer->path, old);
	}
	free(old);
	return 0;
}

static int publish_file(struct nm_profile_writer *writer, struct nm_error *err)
{
	int status = finish_file(writer, err);

	if (status)
		return status;
	close_database(writer);
	if (nm_checksum_append(writer->fd))
		return errno == ENOSPC || errno == EDQUOT ? nm_profile_writer_fail(writer, SQLITE_FULL, err)
							  : nm_profile_writer_fail(writer, SQLITE_IOERR, err);
	if (fsync(writer->fd) || keep_replaced(writer) || rename(writer->temporary, writer->path)) {
		nm_fail_errno(err, "cannot write profile %s", writer->path);
		return err ? (int)err->code : NM_EIO;
	}
	nm_temporary_forget(writer->temporary);
	sync_directory(writer->path);
	free(writer->temporary);
	writer->temporary = NULL;
	return 0;
}

int nm_profile_writer_complete(struct nm_profile_writer *writer, const char **ret_path, struct nm_error *err)
{
	int status = writer->failed;

	if (status)
		return nm_fail(err, status, "cannot write profile %s", writer->path);
	status = finish_file(writer, err);
	close_database(writer);
	*ret_path = writer->temporary;
	return status;
}

int nm_profile_writer_commit(struct nm_profile_writer *writer, struct nm_error *err)
{
	int status = writer->failed;

	assert(writer->db);
	if (status)
		nm_fail(err, status, "cannot write profile %s", writer->path);
	else
		status = publish_file(writer, err);
	nm_profile_writer_abort(writer);
	return status;
}

void nm_profile_writer_abort(struct nm_profile_writer *writer)
{
	close_database(writer);
	if (writer->fd >= 0)
		close(writer->fd);
	if (writer->temporary) {
		unlink(writer->temporary);
		nm_temporary_forget(writer->temporary);
	}
	free(writer->temporary);
	free(writer->path);
	free(writer);
}
