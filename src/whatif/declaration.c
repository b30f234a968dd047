/* SPDX-License-Identifier: MIT */
#include "declaration.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

/* The words of a language: before and after a declaration, and around a comment. */
static const struct {
	const char *begin, *open, *end, *indent, *stop, *comment, *comment_end;
} words[] = {
    [NM_DECLARE_C] = {"struct ", " {", "};", "\t", ";", "/* ", " */"},
    [NM_DECLARE_FORTRAN] = {"type ", "", "end type", "  ", "", "! ", ""},
    [NM_DECLARE_RUST] = {"#[repr(C)]\nstruct ", " {", "}", "    ", ",", "// ", ""},
};

/* "order" of "struct order", "particle" of "type(particle)". */
static void write_type(const struct nm_type *type, FILE *out)
{
	const char *name = type->name, *paren = strchr(name, '(');

	for (const char *at = name; *at && *at != '<' && *at != '('; at++)
		if (*at == ' ')
			name = at + 1;
	if (!strncmp(name, "type(", 5) && paren)
		fprintf(out, "%.*s", (int)strcspn(paren + 1, ")"), paren + 1);
	else
		fputs(name, out);
}

/* The only field that is the whole member, or NULL. */
static const struct nm_field *sole_field(const struct nm_type *type, const struct nm_member *m)
{
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct nm_field *f = &type->fields[i];

		if (f->offset == m->from)
			return f->bytes == m->bytes && f->type && !strpbrk(f->name, ".[|") ? f : NULL;
	}
	return NULL;
}

static void declare_member(const struct nm_type *type, const struct nm_member *m,
			   enum nm_declaration_style style, FILE *out)
{
	const struct nm_field *f = sole_field(type, m);

	fputs(words[style].indent, out);
	if (f) {
		nm_declare(style, f->type, f->name, out);
		fprintf(out, "%s\n", words[style].stop);
	} else {
		const size_t n = strcspn(m->name, ".[");

		fprintf(out, "%s%.*s, %" PRIu64 " bytes, as declared now%s\n", words[style].comment,
			(int)(n ? n : strlen(m->name)), m->name, m->bytes, words[style].comment_end);
	}
}

/* The member of a part that follows the one at `after`, or NULL. */
static const struct nm_member *next_member(const struct nm_element_map *map, uint32_t part,
					   const struct nm_member *after)
{
	const struct nm_member *next = NULL;

	for (size_t i = 0; i < map->members.count; i++) {
		const struct nm_member *m = &map->members.at[i];

		if (m->part == part && (!after || m->to > after->to) && (!next || m->to < next->to))
			next = m;
	}
	return next;
}

static void declare_pointer(const struct nm_type *type, enum nm_declaration_style style, FILE *out)
{
	fputs(words[style].indent, out);
	fputs(style == NM_DECLARE_C ? "struct " : style == NM_DECLARE_RUST ? "rest: Box<" : "type(", out);
	write_type(type, out);
	fputs(style == NM_DECLARE_C      ? "_rest *rest;\n"
	      : style == NM_DECLARE_RUST ? "_rest>,\n"
					 : "_rest), pointer :: rest\n",
	      out);
}

void nm_element_map_declare(const struct nm_element_map *map, const struct nm_type *type,
			    enum nm_declaration_style style, FILE *out)
{
	for (uint32_t part = 0; part < map->strides.count; part++) {
		fputs(words[style].begin, out);
		write_type(type, out);
		fprintf(out, "%s%s %s%" PRIu64 " bytes", part ? "_rest" : "", words[style].open,
			words[style].comment, map->strides.at[part]);
		if (!part && map->strides.at[0] != map->bytes)
			fprintf(out, ", not %" PRIu64, map->bytes);
		fprintf(out, "%s\n", words[style].comment_end);
		for (const struct nm_member *m = NULL; (m = next_member(map, part, m));)
			declare_member(type, m, style, out);
		if (!part && map->pointer != NM_NO_POINTER)
			declare_pointer(type, style, out);
		fprintf(out, "%s\n", words[style].end);
	}
}
