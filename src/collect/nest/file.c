/* SPDX-License-Identifier: MIT
 *
 * file.c - finds and reads files.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "nest_priv.h"

char *nm_nest_real_path(const char *path) { return realpath(path, NULL); }

int nm_nest_read_file(const char *path, size_t most, char **ret_text, size_t *ret_bytes, struct nm_error *err)
{
	struct nm_vec(char) text = {0};
	FILE *file = fopen(path, "r");
	int status = 0;
	size_t n = 1;

	assert(path && most > 0);
	if (!file)
		return nm_fail_errno(err, "cannot read %s", path);
	while (n && !status) {
		if (nm_vec_reserve(&text, 65536)) {
			status = nm_fail_memory(err);
			break;
		}
		n = fread(text.at + text.count, 1, 65535, file);
		text.count += n;
		if (text.count > most)
			status = nm_fail(err, NM_EFORMAT, "%s is larger than %zu bytes", path, most);
	}
	if (!status && ferror(file))
		status = nm_fail_errno(err, "cannot read %s", path);
	fclose(file);
	if (status) {
		nm_vec_free(&text);
		return status;
	}
	text.at[text.count] = '\0';
	*ret_text = text.at;
	*ret_bytes = text.count;
	return 0;
}
