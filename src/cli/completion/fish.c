/* SPDX-License-Identifier: MIT
 *
 * fish.c - the completion script for fish.
 */
#include "completion.h"

static void write_quoted(const char *text, FILE *out)
{
	fputc('\'', out);
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('\'', out);
}

/* -r and what completes the value. */
static void write_value(const struct nm_command *command, const struct nm_option *option, FILE *out)
{
	const struct nm_value_completion v = nm_value_completion(command, option);

	switch (v.source) {
	case NM_VALUE_WORDS:
		fputs(" -x -a '", out);
		nm_completion_words(v.words, out);
		fputc('\'', out);
		return;
	case NM_VALUE_FILES: fputs(" -r -F", out); return;
	case NM_VALUE_FOLDERS: fputs(" -x -a '(__fish_complete_directories)'", out); return;
	case NM_VALUE_NAMES: fprintf(out, " -x -a '(__nearmiss_names \"%s\")'", v.sql); return;
	case NM_VALUE_NONE: fputs(" -x", out); return;
	}
}

static void write_command(const struct nm_command *c, FILE *out)
{
	const char *name = c->name;

	fprintf(out, "complete -c nearmiss -n __fish_use_subcommand -f -a %s -d ", name);
	write_quoted(c->summary, out);
	fprintf(
	    out,
	    "\ncomplete -c nearmiss -n '__fish_seen_subcommand_from %s' -s h -l help -d 'print a summary'\n",
	    name);
	for (unsigned i = 0; i < c->option_count; i++) {
		const struct nm_option *o = &c->options[i];

		fprintf(out, "complete -c nearmiss -n '__fish_seen_subcommand_from %s' -l %s", name, o->name);
		if (o->letter)
			fprintf(out, " -s %c", o->letter);
		if (o->value)
			write_value(c, o, out);
		fputs(" -d ", out);
		write_quoted(o->help, out);
		fputc('\n', out);
	}
	if (c->words) {
		fprintf(out, "complete -c nearmiss -n '__fish_seen_subcommand_from %s' -a '", name);
		nm_completion_operands(c, out);
		fputs("'\n", out);
	}
	if (c->stops_at_operand)
		fprintf(out,
			"complete -c nearmiss -n '__fish_seen_subcommand_from %s' -x -a "
			"'(__fish_complete_subcommand --fcs-skip=2)'\n",
			name);
	else if (nm_operand_files(c) == NM_FILES_PROFILES)
		fprintf(
		    out,
		    "complete -c nearmiss -n '__fish_seen_subcommand_from %s' -f -a '(__fish_complete_suffix .nmp)'\n",
		    name);
	else if (nm_operand_files(c) == NM_FILES_ALL)
		fprintf(out, "complete -c nearmiss -n '__fish_seen_subcommand_from %s' -F\n", name);
	else
		fprintf(out, "complete -c nearmiss -n '__fish_seen_subcommand_from %s' -f\n", name);
}

void nm_completion_fish(FILE *out)
{
	fputs(
	    "# fish completion for nearmiss, made by `nearmiss help --completion=fish`\n"
	    "function __nearmiss_names\n"
	    "\tset -l profile (commandline -opc | string match -- '*.nmp')\n"
	    "\tset -q profile[1]; or set profile nearmiss.nmp\n"
	    "\tnearmiss query -w 0 $argv[1] -i $profile[-1] 2>/dev/null | tail -n +2\n"
	    "end\n"
	    "complete -c nearmiss -n __fish_use_subcommand -f -l version -d 'print the version'\n"
	    "complete -c nearmiss -n __fish_use_subcommand -f -l help -d 'print a summary'\n"
	    "complete -c nearmiss -n __fish_use_subcommand -f -l no-pager -d 'write to the terminal itself'\n",
	    out);
	for (unsigned i = 0; nm_commands[i]; i++)
		write_command(nm_commands[i], out);
}
