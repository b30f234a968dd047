/* SPDX-License-Identifier: MIT
 *
 * completion.c - see completion.h. The script is generated when nearmiss is built, so it always matches the
 * program.
 *
 * Within `record`, what follows the first operand belongs to the program: _command_offset of the
 * bash-completion package, where it is there, completes it.
 */
#include "completion.h"

#include <string.h>

#include "options.h"

static void words(const char *list, FILE *out)
{
	for (; *list; list++)
		fputc(*list == '|' ? ' ' : *list, out);
}

/* Pattern of the forms of an option that are followed by a value. */
static void value_case(const struct nm_option *option, FILE *out)
{
	fprintf(out, "\t\t%s--%s", "", option->name);
	if (option->letter)
		fprintf(out, "|-%c", option->letter);
	if (option->choices) {
		fputs(") COMPREPLY=($(compgen -W '", out);
		words(option->choices, out);
		fputs("' -- \"$cur\")); return ;;\n", out);
	} else if (!strcmp(option->value, "FILE")) {
		fputs(") COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n", out);
	} else if (!strcmp(option->value, "DIR")) {
		fputs(") COMPREPLY=($(compgen -d -- \"$cur\")); return ;;\n", out);
	} else {
		fputs(") return ;;\n", out);
	}
}

static void command_case(const struct nm_command *command, FILE *out)
{
	unsigned i;

	fprintf(out, "\t%s)\n\t\tcase $prev in\n", command->name);
	for (i = 0; i < command->option_count; i++)
		if (command->options[i].value)
			value_case(&command->options[i], out);
	fputs("\t\tesac\n\t\toptions='--help", out);
	for (i = 0; i < command->option_count; i++)
		fprintf(out, " --%s", command->options[i].name);
	fputs("'\n\t\twords='", out);
	if (command->words)
		words(command->words, out);
	fputs("'\n", out);
	if (command->stops_at_operand)
		fputs("\t\tprogram=1\n", out);
	if (!strncmp(command->operands, "FILE", 4))
		fputs("\t\tfiles=1\n", out);
	fputs("\t\t;;\n", out);
}

void nm_completion_bash(FILE *out)
{
	unsigned i;

	fputs(
	    "# bash completion for nearmiss, made by `nearmiss help --completion`\n"
	    "_nearmiss()\n{\n"
	    "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} options words program files i\n"
	    "\t[[ $cur == = ]] && cur=\n" /* bash takes "=" for a word of its own */
	    "\t[[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
	    "\tif ((COMP_CWORD == 1)); then\n\t\tCOMPREPLY=($(compgen -W '--help --version --no-pager",
	    out);
	for (i = 0; nm_commands[i]; i++)
		fprintf(out, " %s", nm_commands[i]->name);
	fputs("' -- \"$cur\"))\n\t\treturn\n\tfi\n\tcase ${COMP_WORDS[1]} in\n", out);
	for (i = 0; nm_commands[i]; i++)
		command_case(nm_commands[i], out);
	fputs("\t*) return ;;\n\tesac\n"
	      "\tif [[ $cur == -* ]]; then\n\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
	      "\telif [[ $program ]]; then\n"
	      "\t\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	      "\t\t\t[[ ${COMP_WORDS[i]} == -- ]] && { ((i++)); break; }\n"
	      "\t\t\t[[ ${COMP_WORDS[i]} != -* ]] && break\n"
	      "\t\tdone\n"
	      "\t\tif declare -F _command_offset >/dev/null; then\n\t\t\t_command_offset \"$i\"\n"
	      "\t\telse\n\t\t\tCOMPREPLY=($(compgen -c -f -- \"$cur\"))\n\t\tfi\n"
	      "\telif [[ $files ]]; then\n\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n"
	      "\telif [[ $words ]]; then\n\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	      "\tfi\n}\ncomplete -o filenames -F _nearmiss nearmiss\n",
	      out);
}
