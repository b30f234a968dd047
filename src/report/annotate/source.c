/* SPDX-License-Identifier: MIT
 *
 * source.c - see source.h. A profile from somebody else must not make a report wait for a pipe or exhaust
 * memory: only regular files are read, up to NM_SOURCE_LARGEST. Nor may it choose which files are shown: a
 * path that it appends to a folder of the user's must stay inside.
 */
#include "source.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "sources.h"

/* Ends each line by a NUL in place and lists them. */
static int divide_lines(struct nm_source *source)
{
	size_t count = 0, i;
	char *at = source->text, *end = source->text + source->bytes;

	for (i = 0; i < source->bytes; i++) {
		count += source->text[i] == '\n';
		if (!source->text[i]) /* a NUL must not end the line early */
			source->text[i] = '\1';
	}
	source->lines = malloc((count + 1) * sizeof *source->lines);
	if (!source->lines)
		return NM_ENOMEM;
	source->text[source->bytes] = '\0';
	while (at < end) {
		char *stop = memchr(at, '\n', (size_t)(end - at)), *next = stop ? stop + 1 : end;

		source->lines[source->line_count++] = at;
		if (!stop)
			stop = end;
		if (stop > at && stop[-1] == '\r')
			stop--;
		*stop = '\0';
		at = next;
	}
	return 0;
}

int nm_source_take(struct nm_source *ret_source, const char *path, char *text, size_t bytes)
{
	struct nm_source source = {.path = strdup(path), .text = text, .bytes = bytes};

	nm_source_digest(text, bytes, source.digest);
	if (!source.path || divide_lines(&source)) {
		nm_source_done(&source);
		return NM_ENOMEM;
	}
	*ret_source = source;
	return 0;
}

/* 0; NM_ENOENT if it is not there or cannot be read; NM_ENOMEM. */
static int try_path(struct nm_source *ret_source, const char *path)
{
	int64_t modified;
	size_t bytes;
	char *text;
	int status = nm_source_read(path, &text, &bytes, &modified);

	if (!status)
		status = nm_source_take(ret_source, path, text, bytes);
	if (!status)
		ret_source->modified = modified;
	return status;
}

/* The path with OLD replaced by NEW, malloc'ed, if `map` fits: OLD ends where a component does. */
static int mapped_path(const char *path, const char *map, char **ret_path)
{
	const char *middle = strchr(map, '=');
	size_t n = middle ? (size_t)(middle - map) : 0;

	*ret_path = NULL;
	if (!n || strncmp(path, map, n) || (path[n] && path[n] != '/' && path[n - 1] != '/') ||
	    !nm_stays_below(path + n))
		return 0;
	return asprintf(ret_path, "%s%s%s", middle + 1,
			path[n] && path[n] != '/' && middle[strlen(middle) - 1] != '/' ? "/" : "",
			path + n) < 0
		   ? NM_ENOMEM
		   : 0;
}

static int find_mapped(struct nm_source *ret_source, const char *path, const struct nm_source_search *search)
{
	int status = NM_ENOENT;
	char *other;

	for (size_t i = 0; i < search->map_count && status == NM_ENOENT; i++) {
		if (mapped_path(path, search->maps[i], &other))
			return NM_ENOMEM;
		if (other)
			status = try_path(ret_source, other);
		free(other);
	}
	return status;
}

static int find_under(struct nm_source *ret_source, const char *folder, const char *path)
{
	int status = NM_ENOENT;
	char *other;

	while (status == NM_ENOENT && path) {
		path += strspn(path, "/");
		if (asprintf(&other, "%s/%s", folder, path) < 0)
			return NM_ENOMEM;
		status = *path && nm_stays_below(path) ? try_path(ret_source, other) : NM_ENOENT;
		free(other);
		path = strchr(path, '/');
	}
	return status;
}

/* A walk through a folder for files of a name. */
struct walk {
	const char *name;
	unsigned left; /* entries that may still be looked at */
	unsigned found;
	char *path; /* of the first; malloc'ed */
};

static int walk_folder(struct walk *w, const char *folder, unsigned depth);

/* One entry of a folder. 0 or NM_ENOMEM. */
static int visit_entry(struct walk *w, const char *folder, const struct dirent *entry, unsigned depth)
{
	const int is_it = entry->d_type == DT_REG && !strcmp(entry->d_name, w->name) && !w->found++;
	char *path;
	int status = 0;

	if (!is_it && (entry->d_type != DT_DIR || !depth))
		return 0;
	if (asprintf(&path, "%s/%s", folder, entry->d_name) < 0)
		return NM_ENOMEM;
	if (is_it) {
		w->path = path;
		return 0;
	}
	status = walk_folder(w, path, depth - 1);
	free(path);
	return status;
}

/* Hidden folders, and those behind links, are left out. */
static int walk_folder(struct walk *w, const char *folder, unsigned depth)
{
	DIR *all = opendir(folder);
	const struct dirent *entry;
	int status = 0;

	for (; all && !status && w->found < 2 && w->left && (entry = readdir(all)); w->left--)
		if (entry->d_name[0] != '.')
			status = visit_entry(w, folder, entry, depth);
	if (all)
		closedir(all);
	return status;
}

/* The only file of this name below the folder: a prefix may have been mapped away that is longer than the folder's. */
static int find_below(struct nm_source *ret_source, const char *folder, const char *path)
{
	enum { DEPTH = 8, ENTRIES = 50000 };
	const char *slash = strrchr(path, '/');
	struct walk w = {.name = slash ? slash + 1 : path, .left = ENTRIES};
	int status = walk_folder(&w, folder, DEPTH);

	if (!status)
		status = w.found == 1 && w.left ? try_path(ret_source, w.path) : NM_ENOENT;
	free(w.path);
	return status;
}

int nm_source_find(struct nm_source *ret_source, const char *path, const struct nm_source_search *search,
		   int as_it_is)
{
	int status = find_mapped(ret_source, path, search);

	for (size_t i = 0; i < search->folder_count && status == NM_ENOENT; i++)
		status = find_under(ret_source, search->folders[i], path);
	for (size_t i = 0; i < search->folder_count && status == NM_ENOENT; i++)
		status = find_below(ret_source, search->folders[i], path);
	if (status == NM_ENOENT && as_it_is)
		status = try_path(ret_source, path);
	return status;
}

void nm_source_done(struct nm_source *source)
{
	free(source->path);
	free(source->text);
	free(source->lines);
	memset(source, 0, sizeof *source);
}

const char *nm_source_line(const struct nm_source *source, int64_t number)
{
	return number >= 1 && (uint64_t)number <= source->line_count ? source->lines[number - 1] : NULL;
}

int nm_source_map_is_valid(const char *map)
{
	const char *middle = strchr(map, '=');

	return middle && middle > map && middle[1];
}
