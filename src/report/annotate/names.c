/* SPDX-License-Identifier: MIT
 *
 * names.c - finds the files and functions that a user names.
 *
 * The last components of a path name a file, and the last scopes of a name a function; template arguments and
 * parameters may be left out.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "annotate_priv.h"
#include "name_match.h"

int nm_is_file(const char *file, const char *name)
{
	size_t n, m = strlen(file);

	for (;;) { /* "./" and "../" depend on the working directory, not on the file's folder */
		if (!strncmp(name, "./", 2))
			name += 2;
		else if (!strncmp(name, "../", 3))
			name += 3;
		else
			break;
	}
	n = strlen(name);
	if (!n || n > m || strcmp(file + m - n, name))
		return 0;
	return n == m || *name == '/' || file[m - n - 1] == '/';
}

/* The length of "operator" with its signs, which are no brackets, at the start of text; else 0. */
static size_t operator_length(const char *text, int inside_word)
{
	size_t n = strlen("operator");

	if (inside_word || strncmp(text, "operator", n))
		return 0;
	return n + (strncmp(text + n, "()", 2) ? strspn(text + n, "<>-=") : 2);
}

/* A copy without the text between < > and ( ), malloc'ed. */
static char *plain_name(const char *name)
{
	char *plain = malloc(strlen(name) + 1);
	size_t n = 0, depth = 0;

	for (size_t i = 0; plain && name[i];) {
		size_t whole = operator_length(
		    name + i, i && (isalnum((unsigned char)name[i - 1]) || name[i - 1] == '_'));

		if (!whole && strchr("<(", name[i]))
			depth++;
		else if (!whole && strchr(">)", name[i]))
			depth -= depth > 0;
		else if (!depth) {
			memcpy(plain + n, name + i, whole ? whole : 1);
			n += whole ? whole : 1;
		}
		i += whole ? whole : 1;
	}
	while (n && plain[n - 1] == ' ')
		n--;
	if (plain)
		plain[n] = '\0';
	if (n > 6 && !strcmp(plain + n - 6, " const"))
		plain[n - 6] = '\0';
	return plain;
}

int nm_is_function(const char *function, const char *name)
{
	char *whole, *end;
	size_t n, m;
	int fits = 0;

	if (!*name || !strcmp(function, name))
		return *name != '\0';
	whole = plain_name(function);
	end = plain_name(name);
	if (whole && end) {
		n = strlen(whole);
		m = strlen(end);
		fits = m && n >= m && !strcmp(whole + n - m, end) &&
		       (n == m || whole[n - m - 1] == ':' || whole[n - m - 1] == ' ');
	}
	free(whole);
	free(end);
	return fits;
}

int nm_fail_unnamed(struct nm_annotation *a, const char *name, const char *has, const char *hint)
{
	static const char names[] =
	    "SELECT DISTINCT function FROM counts UNION SELECT DISTINCT file FROM counts";
	char near[300];
	int status = nm_near_names(a->profile, name, names, near, sizeof near, a->err);

	if (status)
		return status;
	if (*near)
		return nm_fail(a->err, NM_EINVAL,
			       "no file or function \"%s\" %s in the profile: did you mean %s?", name, has,
			       near);
	return nm_fail(a->err, NM_EINVAL, "no file or function \"%s\" %s in the profile%s%s%s", name, has,
		       hint ? " (" : "", hint ? hint : "", hint ? ")" : "");
}
