/* SPDX-License-Identifier: MIT
 *
 * options.h - commands and their options, as tables.
 *
 * One row per option gives its parsing, its line in --help and its completion. A command keeps its
 * options in a struct of its own, which it fills with defaults before it parses:
 *
 *     static const struct nm_option options[] = {
 *             {"limit", 'n', "N", "show N rows (0: all)", NM_OPTION_NUMBER, offsetof(struct mine, limit)},
 *     };
 */
#ifndef NM_OPTIONS_H
#define NM_OPTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum nm_option_kind {
	NM_OPTION_FLAG,   /* int: becomes 1 */
	NM_OPTION_CLEAR,  /* int: becomes 0; for "no-..." */
	NM_OPTION_TEXT,   /* const char * */
	NM_OPTION_ONCE,   /* the same; to give it twice is an error */
	NM_OPTION_NUMBER, /* int64_t, at least 0 */
	NM_OPTION_CHOICE, /* int: which of choices "a|b|c"; NULL: of the command's formats */
	NM_OPTION_LIST    /* struct nm_option_list: each use adds one */
};

enum { NM_OPTION_LIST_ROOM = 32 };

/* A table of words: the i-th, and what it is; NULL behind the last. *ret_summary is NULL where that goes without
 * saying. */
typedef const char *nm_words(unsigned i, const char **ret_summary);

struct nm_option_list {
	const char *at[NM_OPTION_LIST_ROOM];
	size_t count;
};

struct nm_option {
	const char *name;  /* without the dashes */
	char letter;       /* 0: none */
	const char *value; /* the value's name in --help; "FILE" and "DIR" are completed; NULL for flags */
	const char *help;
	enum nm_option_kind kind;
	size_t offset; /* in the command's struct */
	const char *choices;
};

/* A heading of --help, before the option of this name. */
struct nm_option_group {
	const char *first, *title;
};

struct nm_command {
	const char *name;
	const char *summary;  /* one line for `nearmiss help` */
	const char *operands; /* e.g. "[REPORT]", or "" */
	const char *details;  /* printed under the usage; may be NULL */
	const struct nm_option *options;
	unsigned option_count;
	const struct nm_option_group *groups; /* the last has no names; NULL: all are "Options" */
	int stops_at_operand;                 /* what follows the first operand belongs to a program */
	nm_words *words;                      /* what an operand may be; NULL: nothing of a table */
	const char *words_title;              /* the heading under which --help lists these */
	nm_words *formats;                    /* the choices of --format, where they are a table */
	int (*run)(const struct nm_command *self, int argc,
		   char **argv); /* argv[0] is the name; returns the status */
};

/* In main.c; ends with NULL. */
extern const struct nm_command *const nm_commands[];
const struct nm_command *nm_command_named(const char *name);

struct nm_operands {
	int count;
	char **at; /* NULL-terminated, within argv */
};

/* Parses argv[1..] into *into. 1: continue; 0: stop and return *ret_status (--help was printed, or a fault was
 * reported). Operands may come between options unless the command stops at them; "--" ends options. */
int nm_options_parse(const struct nm_command *command, int argc, char **argv, void *into,
		     struct nm_operands *ret_operands, int *ret_status);

/* Prints "... (see nearmiss CMD --help)"; returns NM_STATUS_USAGE. */
int nm_usage(const struct nm_command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "a|b|c" of an option with choices, else NULL. The next call overwrites it. */
const char *nm_option_choices(const struct nm_command *command, const struct nm_option *option);

void nm_command_help(const struct nm_command *command, FILE *out);

#endif
