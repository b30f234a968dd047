/* SPDX-License-Identifier: MIT
 *
 * zsh.c - the completion script for zsh, by _arguments of its completion system.
 */
#include "completion.h"

/* Within single quotes and, in brackets, an explanation of _arguments. */
static void write_quoted(const char *text, int explains, FILE *out)
{
	for (; *text; text++) {
		if (explains && (*text == '[' || *text == ']'))
			fputc('\\', out);
		if (*text == '\'')
			fputs("'\\''", out);
		else
			fputc(*text, out);
	}
}

/* ":NAME:ACTION" behind an option. */
static void write_value(const struct nm_command *command, const struct nm_option *option, FILE *out)
{
	const struct nm_value_completion v = nm_value_completion(command, option);

	fprintf(out, ":%s:", option->name);
	switch (v.source) {
	case NM_VALUE_WORDS:
		fputc('(', out);
		nm_completion_words(v.words, out);
		fputc(')', out);
		return;
	case NM_VALUE_FILES: fputs("_files", out); return;
	case NM_VALUE_FOLDERS: fputs("_files -/", out); return;
	case NM_VALUE_NAMES: fprintf(out, "_nearmiss_names \"%s\"", v.sql); return;
	case NM_VALUE_NONE: fputc(' ', out); return;
	}
}

static void write_option(const struct nm_command *command, const struct nm_option *o, FILE *out)
{
	const char *joint = o->value ? "=" : "";

	fprintf(out, " \\\n\t\t\t");
	if (o->kind == NM_OPTION_LIST)
		fputs("'*'", out);
	else if (o->letter)
		fprintf(out, "'(-%c --%s)'", o->letter, o->name);
	if (o->letter)
		fprintf(out, "{-%c%s,--%s%s}", o->letter, o->value ? "+" : "", o->name, joint);
	else
		fprintf(out, "--%s%s", o->name, joint);
	fputs("'[", out);
	write_quoted(o->help, 1, out);
	fputc(']', out);
	if (o->value)
		write_value(command, o, out);
	fputc('\'', out);
}

static void write_command(const struct nm_command *c, FILE *out)
{
	fprintf(out, "\t%s)\n\t\t_arguments -s -S '(- *)'{-h,--help}'[print a summary]'", c->name);
	for (unsigned i = 0; i < c->option_count; i++)
		write_option(c, &c->options[i], out);
	if (c->words) {
		fputs(" \\\n\t\t\t'1:what:(", out);
		nm_completion_operands(c, out);
		fputs(")'", out);
	}
	if (c->stops_at_operand)
		fputs(" \\\n\t\t\t'*::program:_normal'", out);
	else if (nm_operand_files(c) == NM_FILES_PROFILES)
		fputs(" \\\n\t\t\t'*:profile:_files -g \"*.nmp\"'", out);
	else if (nm_operand_files(c) == NM_FILES_ALL)
		fputs(" \\\n\t\t\t'*:file:_files'", out);
	fputs(" ;;\n", out);
}

void nm_completion_zsh(FILE *out)
{
	fputs("#compdef nearmiss\n"
	      "# zsh completion for nearmiss, made by `nearmiss help --completion=zsh`\n"
	      "_nearmiss_names()\n{\n"
	      "\tlocal word profile=nearmiss.nmp\n\tlocal -a names\n"
	      "\tfor word in $words; do [[ $word == *.nmp ]] && profile=$word; done\n"
	      "\tnames=(\"${(@f)$(nearmiss query -w 0 $1 -i $profile 2>/dev/null | tail -n +2)}\")\n"
	      "\tcompadd -a names\n}\n"
	      "_nearmiss()\n{\n"
	      "\tlocal -a commands\n\tcommands=(",
	      out);
	for (unsigned i = 0; nm_commands[i]; i++) {
		fprintf(out, "\n\t\t'%s:", nm_commands[i]->name);
		write_quoted(nm_commands[i]->summary, 0, out);
		fputc('\'', out);
	}
	fputs(")\n\tif ((CURRENT == 2)); then\n\t\t_describe command commands\n"
	      "\t\tcompadd -- --help --version --no-pager\n\t\treturn\n\tfi\n"
	      "\tlocal command=$words[2]\n\tshift words\n\t((CURRENT--))\n\tcase $command in\n",
	      out);
	for (unsigned i = 0; nm_commands[i]; i++)
		write_command(nm_commands[i], out);
	fputs("\tesac\n}\n_nearmiss \"$@\"\n", out);
}
