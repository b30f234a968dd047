/* SPDX-License-Identifier: MIT
 *
 * hints.c - see hints.h. Words of other profilers come before words that only look alike: `list` is no `nest`.
 */
#include "hints.h"

#include <string.h>
#include <unistd.h>

#include "message.h"
#include "options.h"
#include "profile_operand.h"

enum { MOST_COMMANDS = 64 };

static const struct {
	const char *word, *here;
} elsewhere[] = {
    {"run", "record ./program"},
    {"stat", "record ./program"},
    {"exec", "record ./program"},
    {"start", "record ./program"},
    {"profile", "record ./program"},
    {"collect", "record ./program"},
    {"mem", "record ./program"},
    {"list", "report"},
    {"show", "report"},
    {"ls", "report"},
    {"top", "report"},
    {"script", "report"},
    {"summary", "report"},
    {"dump", "trace print TRACE"},
    {"tui", "debug NEST|TRACE"},
    {"c2c", "sharing"},
    {"gui", "view"},
    {"web", "view"},
    {"serve", "view"},
    {"flamegraph", "export folded"},
    {"sql", "query SQL"},
    {"version", "--version"},
    {"compare", "diff BEFORE AFTER"},
};

static const char *called_here(const char *typed)
{
	for (unsigned i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
		if (!strcmp(elsewhere[i].word, typed))
			return elsewhere[i].here;
	return NULL;
}

static const char *nearest_command(const char *typed)
{
	const char *words[MOST_COMMANDS + 1];
	unsigned n = 0;

	for (; nm_commands[n] && n < MOST_COMMANDS; n++)
		words[n] = nm_commands[n]->name;
	words[n] = NULL;
	return nm_nearest(typed, words);
}

int nm_unknown_command(int argc, char **argv)
{
	const char *typed = argv[0], *more = argc > 1 ? " ..." : "";
	const enum nm_file_kind kind = nm_file_kind(typed);
	const char *here = called_here(typed), *near = nearest_command(typed);

	if (kind == NM_FILE_PROFILE)
		nm_message("\"%s\" is a profile: to show it, nearmiss report %s", typed, typed);
	else if (kind == NM_FILE_SAMPLES)
		nm_message("\"%s\" holds samples of perf: to show them, nearmiss report %s", typed, typed);
	else if (strchr(typed, '/'))
		nm_message("\"%s\" is no command: to record a program, nearmiss record %s%s", typed, typed,
			   more);
	else if (here)
		nm_message("unknown command \"%s\": here it is nearmiss %s (see nearmiss help)", typed, here);
	else if (near)
		nm_message("unknown command \"%s\": did you mean %s? (see nearmiss help)", typed, near);
	else if (kind == NM_FILE_PROGRAM)
		nm_message(
		    "unknown command \"%s\": to record the program of this name, nearmiss record ./%s%s",
		    typed, typed, more);
	else
		nm_message("unknown command \"%s\" (see nearmiss help)", typed);
	return NM_STATUS_USAGE;
}
