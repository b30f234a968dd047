/* SPDX-License-Identifier: MIT
 *
 * name_cache.c - answers of earlier runs of a program, in a folder: a file for each program, by its path.
 *
 * Whoever records a program does it again, and each time the same is asked of the same debug information, most of it
 * that of the C library: unpacked and read it takes 0.15 to 0.2 s.  So the notes of all answers (book.h) are kept, behind
 * stamps of the files that they came from, and of nearmiss itself.  If a stamp does not fit any more, nothing is learned.
 * What was not asked before is answered from the files and added.
 *
 * A file is replaced as a whole, and has a checksum.  The programs recorded last stay, MOST_FILES of them.
 */
#include "name_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FILES = 100, MOST_BYTES = 64 << 20, NAME_ROOM = 4096 };
static const char ENDING[] = ".names", SELF[] = "/proc/self/exe";
static const uint64_t FORMAT = 0x31454d414e4d4eull; /* "NMNAME1" */

/* What a file begins with; behind it the stamps and the notes. */
struct head {
	uint64_t format, checksum; /* the latter of all behind it */
	uint64_t stamps;
};
struct stored_stamp {
	uint64_t bytes, modified, path_bytes; /* the path is behind it, without an end */
};
struct image nm_vec(uint8_t);

void name_cache_free(struct name_cache *cache)
{
	if (!cache)
		return;
	nm_vec_free(&cache->stamps);
	nm_vec_free(&cache->notes);
	free(cache);
}

/* folder/%usr%bin%gzip.names; 0 if that is too long. */
static int name_of(const char *folder, const char *program, char name[NAME_ROOM])
{
	size_t start = strlen(folder) + 1;

	if (snprintf(name, NAME_ROOM, "%s/%s%s", folder, program, ENDING) >= NAME_ROOM ||
	    strlen(name + start) > NAME_MAX)
		return 0;
	for (char *c = name + start; *c; c++)
		if (*c == '/')
			*c = '%';
	return 1;
}

static uint64_t checksum_of(const uint8_t *bytes, size_t count)
{
	uint64_t sum = count, word;

	for (; count >= sizeof word; count -= sizeof word, bytes += sizeof word) {
		memcpy(&word, bytes, sizeof word);
		sum = nm_mix64(sum ^ word);
	}
	word = 0;
	memcpy(&word, bytes, count);
	return nm_mix64(sum ^ word);
}

/* Of the whole file; NULL if it cannot be read. */
static uint8_t *read_all(const char *path, size_t *ret_bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat s;
	uint8_t *bytes = NULL;
	ssize_t n = -1;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &s) && S_ISREG(s.st_mode) && s.st_size <= MOST_BYTES && s.st_size)
		bytes = malloc((size_t)s.st_size);
	if (bytes)
		n = read(fd, bytes, (size_t)s.st_size);
	close(fd);
	if (n > 0 && n == s.st_size) {
		*ret_bytes = (size_t)n;
		return bytes;
	}
	free(bytes);
	return NULL;
}

/* Takes the stamps from the file.  Returns where the notes begin, or NULL if it is damaged. */
static const uint8_t *take_stamps(struct nm_symbols *symbols, const uint8_t *at, const uint8_t *end)
{
	struct head head;

	if ((size_t)(end - at) < sizeof head)
		return NULL;
	memcpy(&head, at, sizeof head);
	at += offsetof(struct head, stamps);
	if (head.format != FORMAT || head.checksum != checksum_of(at, (size_t)(end - at)))
		return NULL;
	at += sizeof head.stamps;
	for (uint64_t i = 0; i < head.stamps; i++) {
		struct stored_stamp s;
		const char *path;

		if ((size_t)(end - at) < sizeof s)
			return NULL;
		memcpy(&s, at, sizeof s);
		at += sizeof s;
		if ((size_t)(end - at) < s.path_bytes)
			return NULL;
		path = nm_intern_n(&symbols->pool, (const char *)at, s.path_bytes);
		at += s.path_bytes;
		if (!path || nm_vec_push(&symbols->cache->stamps, (struct stamp){path, s.bytes, s.modified}))
			return NULL;
	}
	return at;
}

static int learn(struct nm_symbols *symbols, const uint8_t *bytes, size_t count, struct nm_error *err)
{
	struct name_cache *c = symbols->cache;
	const uint8_t *notes = take_stamps(symbols, bytes, bytes + count);
	size_t notes_bytes = notes ? (size_t)(bytes + count - notes) : 0;

	if (!notes_bytes || !stamps_fit(c)) {
		c->stamps.count = 0;
		return 0;
	}
	if (nm_vec_reserve(&c->notes, notes_bytes))
		return nm_fail_memory(err);
	memcpy(c->notes.at, notes, notes_bytes);
	c->notes.count = notes_bytes;
	return nm_symbols_learn(symbols, c->notes.at, notes_bytes, err);
}

int nm_symbols_recall(struct nm_symbols *symbols, const char *folder, const char *program,
		      struct nm_error *err)
{
	char name[NAME_ROOM];
	size_t count = 0;
	uint8_t *bytes = name_of(folder, program, name) ? read_all(name, &count) : NULL;
	int status = nm_symbols_keep(symbols, err);

	if (!status && !(symbols->cache = calloc(1, sizeof *symbols->cache)))
		status = nm_fail_memory(err);
	if (!status && bytes)
		status = learn(symbols, bytes, count, err);
	free(bytes);
	if (status)
		return status;
	stamp_file(symbols, SELF);
	if (symbols->cache->notes.count)
		(void)utimensat(AT_FDCWD, name, NULL, 0); /* it was used */
	return symbols->cache->notes.count > 0;
}

/* Removes the one that was used longest ago if there are too many. */
static void prune(const char *folder)
{
	DIR *dir = opendir(folder);
	char oldest[NAME_MAX + 1] = "";
	struct timespec when = {0};
	unsigned count = 0;

	for (struct dirent *e; dir && (e = readdir(dir));) {
		size_t n = strlen(e->d_name);
		struct stat s;

		if (n < sizeof ENDING || strcmp(e->d_name + n - (sizeof ENDING - 1), ENDING) ||
		    fstatat(dirfd(dir), e->d_name, &s, 0))
			continue;
		if (!count++ || s.st_mtim.tv_sec < when.tv_sec) {
			when = s.st_mtim;
			memcpy(oldest, e->d_name, n + 1);
		}
	}
	if (count > MOST_FILES)
		(void)unlinkat(dirfd(dir), oldest, 0);
	if (dir)
		closedir(dir);
}

static int is_ours(const char *folder)
{
	struct stat s;

	return !stat(folder, &s) && s.st_uid == geteuid();
}

/* The folder, and the one that it is in; not in a folder of somebody else's. */
static void make_folder(const char *folder)
{
	char parent[NAME_ROOM];
	char *slash = strrchr(folder, '/');

	if (!slash || slash == folder || slash - folder >= NAME_ROOM)
		return;
	snprintf(parent, sizeof parent, "%.*s", (int)(slash - folder), folder);
	slash = strrchr(parent, '/');
	if (access(parent, F_OK) && slash && slash != parent) {
		*slash = '\0';
		if (!is_ours(parent))
			return;
		*slash = '/';
		(void)mkdir(parent, 0700);
	}
	if (is_ours(parent))
		(void)mkdir(folder, 0700);
}

static int append(struct image *image, const void *bytes, size_t count)
{
	if (nm_vec_reserve(image, count))
		return NM_ENOMEM;
	if (count)
		memcpy(image->at + image->count, bytes, count);
	image->count += count;
	return 0;
}

/* All that a file holds: stamps, what was recalled, what was noted since. */
static int make_image(const struct name_cache *c, const uint8_t *notes, size_t count, struct image *image)
{
	struct head head = {.format = FORMAT, .stamps = c->stamps.count};
	int failed = append(image, &head, sizeof head);

	for (size_t i = 0; i < c->stamps.count && !failed; i++) {
		const struct stamp *stamp = &c->stamps.at[i];
		const struct stored_stamp s = {stamp->bytes, stamp->modified, strlen(stamp->path)};

		failed = append(image, &s, sizeof s) || append(image, stamp->path, s.path_bytes);
	}
	if (failed || append(image, c->notes.at, c->notes.count) || append(image, notes, count) ||
	    image->count > MOST_BYTES)
		return NM_ENOMEM;
	head.checksum = checksum_of(image->at + offsetof(struct head, stamps),
				    image->count - offsetof(struct head, stamps));
	memcpy(image->at, &head, sizeof head);
	return 0;
}

static void write_file(const char *folder, const char *name, const struct image *image)
{
	char temporary[NAME_ROOM];
	int fd = snprintf(temporary, sizeof temporary, "%s/new.XXXXXX", folder) < NAME_ROOM
		     ? mkostemp(temporary, O_CLOEXEC)
		     : -1;
	ssize_t n;

	if (fd < 0)
		return;
	n = write(fd, image->at, image->count);
	if (close(fd) || n < 0 || (size_t)n != image->count || rename(temporary, name))
		unlink(temporary);
	prune(folder);
}

void nm_symbols_retain(struct nm_symbols *symbols, const char *folder, const char *program)
{
	char name[NAME_ROOM];
	struct image image = {0};
	const uint8_t *notes;
	size_t count;

	if (!symbols->cache || !stamps_vouch(symbols) || !name_of(folder, program, name) ||
	    nm_symbols_noted(symbols, 0, &notes, &count, NULL) || !count)
		return;
	if (!make_image(symbols->cache, notes, count, &image)) {
		make_folder(folder);
		write_file(folder, name, &image);
	}
	nm_vec_free(&image);
}
