/* SPDX-License-Identifier: MIT
 *
 * page.c - what the debugger finds in a page instead of a system: files that the page has brought, memory
 * without mappings, and no plug-ins.
 */
#include <stdlib.h>
#include <string.h>

#include "lazy_array.h"
#include "nest_priv.h"
#include "page.h"
#include "plugin.h"
#include "shared_memory.h"

/* ---- files ---- */

struct file {
	const char *name, *bytes;
	size_t count;
};

static struct nm_vec(struct file) files;

int nm_page_add_file(const char *part, size_t size)
{
	const size_t name = strnlen(part, size);

	if (name == size)
		return NM_EFORMAT;
	return nm_vec_push(&files, (struct file){part, part + name + 1, size - name - 1}) ? NM_ENOMEM : 0;
}

char *nm_nest_real_path(const char *path) { return strdup(path); }

int nm_nest_read_file(const char *path, size_t most, char **ret_text, size_t *ret_bytes, struct nm_error *err)
{
	size_t i = 0;

	(void)most;
	while (i < files.count && strcmp(files.at[i].name, path) != 0)
		i++;
	if (i == files.count)
		return nm_fail(err, NM_ENOENT, "cannot read %s: it is not in this file", path);
	*ret_text = malloc(files.at[i].count + 1);
	if (!*ret_text)
		return nm_fail_memory(err);
	memcpy(*ret_text, files.at[i].bytes, files.at[i].count);
	(*ret_text)[files.at[i].count] = '\0';
	*ret_bytes = files.at[i].count;
	return 0;
}

/* ---- memory ---- */

void *nm_shared_memory(size_t bytes) { return calloc(bytes, 1); }

void nm_shared_memory_free(void *memory, size_t bytes)
{
	(void)bytes;
	free(memory);
}

void *nm_lazy_array(uint64_t count, size_t each)
{
	const uint64_t bytes = each && count < SIZE_MAX / 2 / each ? count * each : 0;
	const size_t room =
	    (size_t)(bytes + NM_LAZY_ARRAY_ALIGNMENT - 1) / NM_LAZY_ARRAY_ALIGNMENT * NM_LAZY_ARRAY_ALIGNMENT;
	void *array = bytes ? aligned_alloc(NM_LAZY_ARRAY_ALIGNMENT, room) : NULL;

	return array ? memset(array, 0, room) : NULL;
}

void nm_lazy_array_free(void *array, uint64_t count, size_t each)
{
	(void)count, (void)each;
	free(array);
}

void nm_lazy_array_use_all(void *array, uint64_t count, size_t each) { (void)array, (void)count, (void)each; }

void nm_lazy_array_release_pages(void *array, uint64_t count, size_t each, uint64_t from, uint64_t end)
{
	(void)array, (void)count, (void)each, (void)from, (void)end;
}

/* ---- plug-ins ---- */

int nm_plugin_open(struct nm_plugin *ret, const struct nm_level_spec *level, struct nm_error *err)
{
	(void)ret;
	return nm_fail(err, NM_EINVAL, "a page cannot run the plug-in of %s", level->name);
}

void nm_plugin_close(struct nm_plugin *plugin) { (void)plugin; }
