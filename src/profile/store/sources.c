/* SPDX-License-Identifier: MIT
 *
 * sources.c - stores the source files that a profile names, as they are on disk when the recording ends.
 *
 * Facts are always kept, texts on request. A text is a zlib stream, or as it is where that is not shorter,
 * told apart by its length, as in SQLite's own archives: sqlar_uncompress(text, bytes) of the sqlite3 shell
 * and zlib of Python read it. zstd would be some percent smaller and readable by neither.
 *
 * The digest is MD5 because compilers that note one in DWARF 5 note that one, and md5sum(1) is everywhere;
 * nothing depends on it being hard to forge.
 */
#include "sources.h"

#include <errno.h>
#include <fcntl.h>
#include <md5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "files.h"
#include "profile_priv.h"

void nm_source_digest(const void *text, size_t bytes, char *ret_digest)
{
	static const char digits[] = "0123456789abcdef";
	uint8_t raw[MD5_DIGEST_LENGTH];
	MD5_CTX md5;

	MD5Init(&md5);
	MD5Update(&md5, text, bytes);
	MD5Final(raw, &md5);
	for (unsigned i = 0; i < sizeof raw; i++) {
		ret_digest[2 * i] = digits[raw[i] >> 4];
		ret_digest[2 * i + 1] = digits[raw[i] & 15];
	}
	ret_digest[2 * sizeof raw] = '\0';
}

static int read_all(int fd, char *text, size_t bytes)
{
	size_t n = 0;

	while (n < bytes) {
		ssize_t more = read(fd, text + n, bytes - n);

		if (more < 0 && errno == EINTR)
			continue;
		if (more <= 0)
			return -1;
		n += (size_t)more;
	}
	text[n] = '\0';
	return 0;
}

int nm_source_read(const char *path, char **ret_text, size_t *ret_bytes, int64_t *ret_modified)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), status = NM_ENOENT;
	struct stat st;
	char *text = NULL;

	if (fd < 0)
		return NM_ENOENT;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= NM_SOURCE_LARGEST) {
		text = malloc((size_t)st.st_size + 1);
		status = !text ? NM_ENOMEM : read_all(fd, text, (size_t)st.st_size) ? NM_ENOENT : 0;
	}
	close(fd);
	if (status) {
		free(text);
		return status;
	}
	*ret_text = text;
	*ret_bytes = (size_t)st.st_size;
	*ret_modified = st.st_mtime;
	return 0;
}

/* ---- writing ---- */

static int bind_text(sqlite3_stmt *insert, int column, const char *text, size_t bytes)
{
	uLongf packed_bytes = compressBound(bytes);
	Bytef *packed = malloc(packed_bytes);
	int status;

	if (!packed)
		return SQLITE_NOMEM;
	if (compress2(packed, &packed_bytes, (const Bytef *)text, bytes, Z_BEST_COMPRESSION) == Z_OK &&
	    packed_bytes < bytes) {
		status = sqlite3_bind_blob64(insert, column, packed, packed_bytes, SQLITE_TRANSIENT);
	} else {
		status = sqlite3_bind_blob64(insert, column, text, bytes, SQLITE_TRANSIENT);
	}
	free(packed);
	return status;
}

static int is_chosen(const struct nm_source_choice *choice, const char *path)
{
	int is_below = !choice->root_count;

	for (size_t i = 0; choice->embed && i < choice->root_count && !is_below; i++)
		is_below = nm_is_below(path, choice->roots[i]);
	return choice->embed && is_below;
}

static int bind_facts(sqlite3_stmt *insert, const char *path, int64_t built,
		      const struct nm_source_choice *choice)
{
	char digest[NM_DIGEST_ROOM], *text;
	int64_t modified;
	size_t bytes;
	int status = nm_source_read(path, &text, &bytes, &modified);

	if (status)
		return status == NM_ENOMEM ? SQLITE_NOMEM : SQLITE_NOTFOUND;
	nm_source_digest(text, bytes, digest);
	sqlite3_bind_int64(insert, 2, (sqlite3_int64)bytes);
	sqlite3_bind_int64(insert, 3, modified);
	sqlite3_bind_text(insert, 4, digest, -1, SQLITE_TRANSIENT);
	sqlite3_bind_int(insert, 5, modified > built);
	status = is_chosen(choice, path) ? bind_text(insert, 6, text, bytes) : SQLITE_OK;
	free(text);
	return status;
}

/* compiled: the digest of the file that was compiled, or NULL. */
static int insert_source(sqlite3_stmt *insert, sqlite3_int64 file, const char *path, int64_t built,
			 const char *compiled, const struct nm_source_choice *choice)
{
	int status;

	sqlite3_clear_bindings(insert);
	status = bind_facts(insert, path, built, choice);
	if (compiled && *compiled)
		sqlite3_bind_text(insert, 7, compiled, -1, SQLITE_STATIC);
	else if (status == SQLITE_NOTFOUND)
		return SQLITE_OK;
	sqlite3_bind_int64(insert, 1, file);
	if (!status || status == SQLITE_NOTFOUND)
		status = sqlite3_step(insert);
	sqlite3_reset(insert);
	return status == SQLITE_DONE ? SQLITE_OK : status;
}

int nm_store_sources(struct nm_store *store, const struct nm_source_choice *choice)
{
	sqlite3_stmt *insert = NULL;
	uint64_t file, built;
	size_t i = 0;
	int status =
	    sqlite3_prepare_v2(store->db, "INSERT INTO source VALUES(?,?,?,?,?,?,?)", -1, &insert, NULL);

	while (!status && nm_map_next(&store->files, &i, &file, &built))
		status = insert_source(
		    insert, (sqlite3_int64)file, store->names.texts.at[file - 1], (int64_t)built,
		    (const char *)(uintptr_t)nm_map_get(&store->compiled, file, 0), choice);
	sqlite3_finalize(insert);
	return status;
}

/* ---- reading ---- */

/* The text of a row (md5, newer, bytes, text, ...), which is not trusted. */
static int take_text(const struct nm_rows *rows, const char *file, struct nm_stored_source *source,
		     struct nm_error *err)
{
	int64_t bytes = nm_rows_integer(rows, 2);
	size_t packed_bytes;
	const void *packed;
	uLongf n;

	if (!nm_rows_blob(rows, 3, &packed, &packed_bytes))
		return 0;
	if (bytes < 0 || bytes > NM_SOURCE_LARGEST)
		return nm_fail(err, NM_EFORMAT, "the profile is damaged: it cannot hold %s", file);
	source->text = malloc((size_t)bytes + 1);
	if (!source->text)
		return nm_fail_memory(err);
	n = (uLongf)bytes;
	if (packed_bytes == (size_t)bytes)
		memcpy(source->text, bytes ? packed : "", (size_t)bytes);
	else if (uncompress((Bytef *)source->text, &n, packed, packed_bytes) != Z_OK || n != (uLongf)bytes)
		return nm_fail(err, NM_EFORMAT, "the profile is damaged: its copy of %s cannot be read",
			       file);
	source->text[bytes] = '\0';
	source->bytes = (size_t)bytes;
	return 0;
}

static void copy_digest(const struct nm_rows *rows, unsigned column, char *ret_digest)
{
	const char *digest = nm_rows_text(rows, column);

	snprintf(ret_digest, NM_DIGEST_ROOM, "%s", digest ? digest : "");
}

int nm_profile_source(struct nm_profile *profile, const char *file, struct nm_stored_source *ret_source,
		      struct nm_error *err)
{
	struct nm_stored_source source = {.text = NULL};
	struct nm_rows *rows = NULL;
	int status = nm_profile_query(
	    profile, "SELECT md5, newer, bytes, text, compiled FROM sources WHERE file = ?1", &rows, err);

	if (status)
		return status;
	nm_rows_bind_text(rows, 1, file);
	status = nm_rows_next(rows, err);
	if (status > 0) {
		copy_digest(rows, 0, source.digest);
		copy_digest(rows, 4, source.compiled);
		source.is_newer = nm_rows_integer(rows, 1) != 0;
		status = take_text(rows, file, &source, err);
		if (!status)
			*ret_source = source;
		else
			free(source.text);
		status = status ? status : 1;
	}
	nm_rows_free(rows);
	return status;
}
