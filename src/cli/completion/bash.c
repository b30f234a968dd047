/* SPDX-License-Identifier: MIT
 *
 * bash.c - the completion script for bash.
 *
 * Within `record`, what follows the first operand belongs to the program: _command_offset of the
 * bash-completion package, where it is there, completes it. Names of a profile never go through compgen -W, which
 * would execute what stands in them.
 */
#include <string.h>

#include "completion.h"

/* Pattern of the forms of an option that are followed by a value. */
static void value_case(const struct nm_command *command, const struct nm_option *option, FILE *out)
{
	const struct nm_value_completion value = nm_value_completion(command, option);

	fprintf(out, "\t\t--%s", option->name);
	if (option->letter)
		fprintf(out, "|-%c", option->letter);
	switch (value.source) {
	case NM_VALUE_WORDS:
		fputs(") COMPREPLY=($(compgen -W '", out);
		nm_completion_words(value.words, out);
		fputs("' -- \"$cur\")); return ;;\n", out);
		return;
	case NM_VALUE_FILES: fputs(") COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n", out); return;
	case NM_VALUE_FOLDERS: fputs(") COMPREPLY=($(compgen -d -- \"$cur\")); return ;;\n", out); return;
	case NM_VALUE_NAMES: fprintf(out, ") _nearmiss_names '%s'; return ;;\n", value.sql); return;
	case NM_VALUE_NONE: fputs(") return ;;\n", out); return;
	}
}

static void command_case(const struct nm_command *command, FILE *out)
{
	unsigned i;

	fprintf(out, "\t%s)\n\t\tcase $prev in\n", command->name);
	for (i = 0; i < command->option_count; i++)
		if (command->options[i].value)
			value_case(command, &command->options[i], out);
	fputs("\t\tesac\n\t\toptions='--help", out);
	for (i = 0; i < command->option_count; i++)
		fprintf(out, " --%s", command->options[i].name);
	fputs("'\n\t\twords='", out);
	if (command->words)
		nm_completion_operands(command, out);
	fputs("'\n", out);
	if (command->stops_at_operand)
		fputs("\t\tprogram=1\n", out);
	if (nm_operand_files(command) != NM_FILES_NONE)
		fprintf(out, "\t\tfiles='%s'\n", nm_operand_files(command) == NM_FILES_ALL ? "*" : "*.nmp");
	fputs("\t\t;;\n", out);
}

void nm_completion_bash(FILE *out)
{
	unsigned i;

	fputs(
	    "# bash completion for nearmiss, made by `nearmiss help --completion=bash`\n"
	    "_nearmiss_names()\n{\n"
	    "\tlocal word profile=nearmiss.nmp name\n"
	    "\tfor word in \"${COMP_WORDS[@]}\"; do [[ $word == *.nmp ]] && profile=$word; done\n"
	    "\twhile IFS= read -r name; do\n"
	    "\t\t[[ $name == \"$cur\"* ]] && COMPREPLY+=(\"$name\")\n"
	    "\tdone < <(nearmiss query -w 0 \"$1\" -i \"$profile\" 2>/dev/null | tail -n +2)\n}\n"
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
	      "\telse\n\t\t[[ $words ]] && COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	      "\t\t[[ $files ]] && COMPREPLY+=($(compgen -f -X \"!$files\" -- \"$cur\"))\n"
	      "\t\t[[ $files == *.nmp && $cur ]] && COMPREPLY+=($(compgen -d -- \"$cur\"))\n"
	      "\tfi\n}\ncomplete -o filenames -F _nearmiss nearmiss\n",
	      out);
}
