/* SPDX-License-Identifier: MIT
 *
 * declaration.h - the declaration of a variable or field, from its type as the source language writes it.
 */
#ifndef NM_DECLARATION_H
#define NM_DECLARATION_H

#include <stdio.h>

enum nm_declaration_style {
	NM_DECLARE_C,       /* "struct node *name[512]" */
	NM_DECLARE_FORTRAN, /* "real(kind=8) :: name(100)" */
	NM_DECLARE_RUST     /* "name: [u64; 64]" */
};

/* What a source is written in, from its file and the type of a structure in it; either may be NULL. */
enum nm_declaration_style nm_declaration_style(const char *file, const char *structure);

void nm_declare(enum nm_declaration_style style, const char *type, const char *name, FILE *out);

#endif
