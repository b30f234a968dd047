/* SPDX-License-Identifier: MIT
 *
 * text.h - CSV, UTF-8, sizes in bytes, declarations of C and shapes of arrays.
 */
#ifndef NM_TEXT_H
#define NM_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- csv: a field of comma-separated values (RFC 4180) ---- */

/* Writes a text, quoted where necessary. */
void nm_csv_field(const char *text, FILE *out);

/* ---- utf8 ---- */

/* Turns bytes from binaries into UTF-8 without control characters, as terminals and file formats
 * need it.
 */

/* Columns of a valid text on a terminal (wcwidth). */
size_t nm_utf8_width(const char *text);
/* Length in bytes of what fits into so many columns. */
size_t nm_utf8_bytes(const char *text, size_t columns);
/* A malloc'ed copy, with U+FFFD in place of control characters and invalid UTF-8. */
char *nm_utf8_clean(const char *text);

/* ---- size ---- */

/* A number of bytes, such as 64K, 256M or 2G. 1, or 0: it is none. */
int nm_read_size(const char *text, uint64_t *ret_bytes);

/* ---- declaration: the declaration of a variable or field, from its type as the source language writes it ---- */

enum nm_declaration_style {
	NM_DECLARE_C,       /* "struct node *name[512]" */
	NM_DECLARE_FORTRAN, /* "real(kind=8) :: name(100)" */
	NM_DECLARE_RUST     /* "name: [u64; 64]" */
};

/* What a source is written in, from its file and the type of a structure in it; either may be NULL. */
enum nm_declaration_style nm_declaration_style(const char *file, const char *structure);

void nm_declare(enum nm_declaration_style style, const char *type, const char *name, FILE *out);

/* ---- array shape: the dimensions of an array, from its type as the source language writes it ---- */

enum { NM_DIMENSIONS = 8 };

/* In the order in which the source writes the subscripts. */
struct nm_array_shape {
	unsigned dimensions;  /* 0: it is no array, or has no bounds */
	int first_is_fastest; /* the first subscript runs through memory fastest, as in Fortran */
	int64_t elements;     /* in all */
	int64_t fastest;      /* the extent of the subscript that runs through memory fastest */
	struct {
		int64_t low, count;
	} dimension[NM_DIMENSIONS];
};

/* Of a type, or NULL. */
struct nm_array_shape nm_array_shape_parse(const char *type);

#endif
