/* SPDX-License-Identifier: MIT
 *
 * completion.h - completion scripts for shells, generated from the tables of commands and options, so that they
 * always match the program.
 */
#ifndef NM_COMPLETION_H
#define NM_COMPLETION_H

#include <stdio.h>

#include "options.h"

void nm_completion_bash(FILE *out);
void nm_completion_zsh(FILE *out);
void nm_completion_fish(FILE *out);

/* ---- values.c: what the scripts have in common ---- */

/* How the value of an option is completed. */
enum nm_value_source {
	NM_VALUE_NONE,
	NM_VALUE_WORDS, /* of a list */
	NM_VALUE_FILES,
	NM_VALUE_FOLDERS,
	NM_VALUE_NAMES /* the result of a query of the profile */
};

struct nm_value_completion {
	enum nm_value_source source;
	const char *words; /* "a|b|c" */
	const char *sql;
};

/* The option must take a value. */
struct nm_value_completion nm_value_completion(const struct nm_command *command,
					       const struct nm_option *option);

/* Which files operands of the command may be. */
enum nm_operand_files { NM_FILES_NONE, NM_FILES_PROFILES, NM_FILES_ALL };
enum nm_operand_files nm_operand_files(const struct nm_command *command);

/* Writes the command's words with blanks between. */
void nm_completion_operands(const struct nm_command *command, FILE *out);

/* Writes "a|b|c" with blanks between. */
void nm_completion_words(const char *list, FILE *out);

#endif
