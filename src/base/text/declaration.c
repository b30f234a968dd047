/* SPDX-License-Identifier: MIT
 *
 * declaration.c - see declaration.h.
 *
 * C writes a type around the name. The place of the name is behind the stars of the innermost "(*", else
 * before the first bracket, else at the end; arguments of templates, "<...>", are passed over.
 */
#include "declaration.h"

#include <string.h>

enum nm_declaration_style nm_declaration_style(const char *file, const char *structure)
{
	const char *ending = file ? strrchr(file, '.') : NULL;

	if (structure && !strncmp(structure, "type(", strlen("type(")))
		return NM_DECLARE_FORTRAN;
	return ending && !strcmp(ending, ".rs") ? NM_DECLARE_RUST : NM_DECLARE_C;
}

/* The first "(*" or "[" outside of "<...>"; the end if there is none. */
static const char *first_bracket(const char *type)
{
	int depth = 0;

	for (; *type; type++) {
		depth += (*type == '<') - (*type == '>');
		if (!depth && (*type == '[' || !strncmp(type, "(*", 2)))
			return type;
	}
	return type;
}

static void declare_in_c(const char *type, const char *name, FILE *out)
{
	const char *hole = first_bracket(type), *end;

	if (*hole == '(')
		hole += strcspn(hole, ")[");
	for (end = hole; end > type && end[-1] == ' ';)
		end--;
	fprintf(out, "%.*s%s%s%s", (int)(end - type), type, end > type && strchr("*&", end[-1]) ? "" : " ",
		name, hole);
}

/* "real(kind=8)(100,0:9), pointer": the bounds stand behind the name. */
static void declare_in_fortran(const char *type, const char *name, FILE *out)
{
	const char *bounds = strstr(type, ")("), *end = bounds ? strchr(bounds + 2, ')') : NULL;

	if (end)
		fprintf(out, "%.*s%s :: %s%.*s", (int)(bounds + 1 - type), type, end + 1, name,
			(int)(end - bounds), bounds + 1);
	else
		fprintf(out, "%s :: %s", type, name);
}

void nm_declare(enum nm_declaration_style style, const char *type, const char *name, FILE *out)
{
	switch (style) {
	case NM_DECLARE_C: declare_in_c(type, name, out); return;
	case NM_DECLARE_FORTRAN: declare_in_fortran(type, name, out); return;
	case NM_DECLARE_RUST: fprintf(out, "%s: %s", name, type); return;
	}
}
