/* SPDX-License-Identifier: MIT
 *
 * folder.c - the symbol caches of recorded programs in a folder: one file per program, named after its path.
 *
 * A program is recorded again and again, and each run asks the same questions of the same debug information,
 * mostly the C library's. A file holds the encoded answers (items.h) behind fingerprints of the files that
 * they came from, and of nearmiss itself. If a fingerprint differs, the whole file is ignored. New answers
 * are appended.
 *
 * A file is replaced as a whole and has a checksum.  The MOST_FILES most recently used files stay.
 */
#include "cache/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache_folder.h"

enum { MOST_FILES = 100, MOST_BYTES = 64 << 20, NAME_ROOM = 4096 };
static const char ENDING[] = ".names", SELF[] = "/proc/self/exe";
static const uint64_t FORMAT = 0x31454d414e4d4eull; /* "NMNAME1": a new one for new answers, too */

/* What a file begins with; behind it the fingerprints and the items. */
struct head {
	uint64_t format, checksum; /* the latter of all behind it */
	uint64_t fingerprints;
};
struct stored_fingerprint {
	uint64_t bytes, modified, path_bytes; /* the path is behind it, without an end */
};
struct image nm_vec(uint8_t);

void symbol_cache_free(struct symbol_cache *cache)
{
	if (!cache)
		return;
	nm_vec_free(&cache->fingerprints);
	nm_vec_free(&cache->items);
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

/* Takes the fingerprints from the file.  Returns where the items begin, or NULL if it is damaged. */
static const uint8_t *take_fingerprints(struct nm_symbols *symbols, const uint8_t *at, const uint8_t *end)
{
	struct head head;

	if ((size_t)(end - at) < sizeof head)
		return NULL;
	memcpy(&head, at, sizeof head);
	at += offsetof(struct head, fingerprints);
	if (head.format != FORMAT || head.checksum != checksum_of(at, (size_t)(end - at)))
		return NULL;
	at += sizeof head.fingerprints;
	for (uint64_t i = 0; i < head.fingerprints; i++) {
		struct stored_fingerprint s;
		const char *path;

		if ((size_t)(end - at) < sizeof s)
			return NULL;
		memcpy(&s, at, sizeof s);
		at += sizeof s;
		if ((size_t)(end - at) < s.path_bytes)
			return NULL;
		path = nm_intern_n(&symbols->pool, (const char *)at, s.path_bytes);
		at += s.path_bytes;
		if (!path || nm_vec_push(&symbols->cache->fingerprints,
					 (struct fingerprint){path, s.bytes, s.modified}))
			return NULL;
	}
	return at;
}

static int decode_file(struct nm_symbols *symbols, const uint8_t *bytes, size_t count, struct nm_error *err)
{
	struct symbol_cache *c = symbols->cache;
	const uint8_t *items = take_fingerprints(symbols, bytes, bytes + count);
	size_t item_bytes = items ? (size_t)(bytes + count - items) : 0;

	if (!item_bytes || !fingerprints_match(c)) {
		c->fingerprints.count = 0;
		return 0;
	}
	if (nm_vec_reserve(&c->items, item_bytes))
		return nm_fail_memory(err);
	memcpy(c->items.at, items, item_bytes);
	c->items.count = item_bytes;
	return nm_symbols_decode(symbols, c->items.at, item_bytes, err);
}

int nm_symbols_load_cache(struct nm_symbols *symbols, const char *folder, const char *program,
			  struct nm_error *err)
{
	char name[NAME_ROOM];
	size_t count = 0;
	uint8_t *bytes = name_of(folder, program, name) ? read_all(name, &count) : NULL;
	int status = nm_symbols_start_encoding(symbols, err);

	if (!status && !(symbols->cache = calloc(1, sizeof *symbols->cache)))
		status = nm_fail_memory(err);
	if (!status && bytes)
		status = decode_file(symbols, bytes, count, err);
	free(bytes);
	if (status)
		return status;
	fingerprint_file(symbols, SELF);
	if (symbols->cache->items.count)
		(void)utimensat(AT_FDCWD, name, NULL, 0); /* it was used */
	return symbols->cache->items.count > 0;
}

/* Removes the one that was used longest ago if there are too many. */
static void prune_folder(const char *folder)
{
	DIR *dir = opendir(folder);
	char oldest[NAME_MAX + 1] = "";
	struct timespec when = {0};
	unsigned count = 0;

	for (struct dirent *d; dir && (d = readdir(dir));) {
		size_t n = strlen(d->d_name);
		struct stat s;

		if (n < sizeof ENDING || strcmp(d->d_name + n - (sizeof ENDING - 1), ENDING) ||
		    fstatat(dirfd(dir), d->d_name, &s, 0))
			continue;
		if (!count++ || s.st_mtim.tv_sec < when.tv_sec) {
			when = s.st_mtim;
			memcpy(oldest, d->d_name, n + 1);
		}
	}
	if (count > MOST_FILES)
		(void)unlinkat(dirfd(dir), oldest, 0);
	if (dir)
		closedir(dir);
}

static int append_bytes(struct image *image, const void *bytes, size_t count)
{
	if (nm_vec_reserve(image, count))
		return NM_ENOMEM;
	if (count)
		memcpy(image->at + image->count, bytes, count);
	image->count += count;
	return 0;
}

/* All that a file holds: fingerprints, items of earlier runs, new items. */
static int make_image(const struct symbol_cache *c, const uint8_t *items, size_t count, struct image *image)
{
	struct head head = {.format = FORMAT, .fingerprints = c->fingerprints.count};
	int failed = append_bytes(image, &head, sizeof head);

	for (size_t i = 0; i < c->fingerprints.count && !failed; i++) {
		const struct fingerprint *fingerprint = &c->fingerprints.at[i];
		const struct stored_fingerprint s = {fingerprint->bytes, fingerprint->modified,
						     strlen(fingerprint->path)};

		failed =
		    append_bytes(image, &s, sizeof s) || append_bytes(image, fingerprint->path, s.path_bytes);
	}
	if (failed || append_bytes(image, c->items.at, c->items.count) || append_bytes(image, items, count) ||
	    image->count > MOST_BYTES)
		return NM_ENOMEM;
	head.checksum = checksum_of(image->at + offsetof(struct head, fingerprints),
				    image->count - offsetof(struct head, fingerprints));
	memcpy(image->at, &head, sizeof head);
	return 0;
}

void nm_symbols_save_cache(struct nm_symbols *symbols, const char *folder, const char *program)
{
	char name[NAME_ROOM];
	struct image image = {0};
	const uint8_t *items;
	size_t count;

	if (!symbols->cache || !fingerprints_suffice(symbols) || !name_of(folder, program, name) ||
	    nm_symbols_take_encoded(symbols, 0, &items, &count, NULL) || !count)
		return;
	if (!make_image(symbols->cache, items, count, &image)) {
		(void)nm_cache_folder_write(folder, name, image.at, image.count);
		prune_folder(folder);
	}
	nm_vec_free(&image);
}
