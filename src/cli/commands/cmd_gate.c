/* SPDX-License-Identifier: MIT
 *
 * cmd_gate.c - nearmiss gate: whether profiles keep the budgets of nearmiss.yaml.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gate.h"
#include "message.h"
#include "open_profile.h"
#include "options.h"
#include "output.h"
#include "profile_operand.h"

struct gate_options {
	const char *config, *root, *name;
	struct nm_option_list base, write, append;
	int format;
};

static const char *format_words(unsigned i, const char **ret_summary)
{
	const struct nm_gate_format *format = nm_gate_format_at(i);

	(void)ret_summary;
	return format ? format->name : NULL;
}

enum { FORMAT = 2 }; /* its row */

static const struct nm_option options[] = {
    {"base", 'b', "FILE", "a profile of the base; repeat it for more recordings of the base", NM_OPTION_LIST,
     offsetof(struct gate_options, base), NULL},
    {"config", 'c', "FILE", "the budgets (nearmiss.yaml)", NM_OPTION_TEXT,
     offsetof(struct gate_options, config), NULL},
    {"format", 'f', "FORMAT", "what standard output gets (text)", NM_OPTION_CHOICE,
     offsetof(struct gate_options, format), NULL},
    {"write", 0, "FORMAT=FILE", "write this file too", NM_OPTION_LIST, offsetof(struct gate_options, write),
     NULL},
    {"append", 0, "FORMAT=FILE", "the same behind what the file has", NM_OPTION_LIST,
     offsetof(struct gate_options, append), NULL},
    {"root", 0, "DIR", "files are named relative to this folder (the current one)", NM_OPTION_TEXT,
     offsetof(struct gate_options, root), NULL},
    {"name", 0, "NAME", "of this gate, where a report replaces an earlier one (gate)", NM_OPTION_TEXT,
     offsetof(struct gate_options, name), NULL},
};

struct output {
	const struct nm_gate *gate;
	const struct nm_gate_format *format;
};

static int write_gate(void *self, FILE *out, struct nm_error *err)
{
	const struct output *o = self;

	return o->format->write(o->gate, out) ? nm_fail_memory(err) : 0;
}

static int append_to_file(const char *path, struct output *output)
{
	FILE *out = fopen(path, "ae");
	struct nm_error err;
	int status, failed;

	if (!out)
		return nm_cannot_write(path, errno);
	errno = 0;
	status = write_gate(output, out, &err);
	failed = ferror(out) | (fclose(out) != 0);
	return status ? nm_failed(&err, NM_STATUS_FAILED) : failed ? nm_cannot_write(path, errno) : 0;
}

/* The format before the "=" of FORMAT=FILE; or NULL after a message. */
static const struct nm_gate_format *format_of(const struct nm_command *self, const char *option)
{
	const size_t n = strcspn(option, "=");

	for (unsigned i = 0; option[n] && nm_gate_format_at(i); i++)
		if (strlen(nm_gate_format_at(i)->name) == n &&
		    !strncmp(nm_gate_format_at(i)->name, option, n))
			return nm_gate_format_at(i);
	nm_usage(self, "\"%s\" is not FORMAT=FILE, where FORMAT is one of %s", option,
		 nm_option_choices(self, &options[FORMAT]));
	return NULL;
}

static int check_files(const struct nm_command *self, const struct nm_option_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (!format_of(self, list->at[i]))
			return NM_STATUS_USAGE;
	return 0;
}

static int write_files(const struct nm_command *self, const struct gate_options *o,
		       const struct nm_gate *gate)
{
	int status = 0;

	for (size_t i = 0; i < o->write.count && !status; i++) {
		struct output output = {gate, format_of(self, o->write.at[i])};

		status = nm_write_output(strchr(o->write.at[i], '=') + 1, write_gate, &output);
	}
	for (size_t i = 0; i < o->append.count && !status; i++) {
		struct output output = {gate, format_of(self, o->append.at[i])};

		status = append_to_file(strchr(o->append.at[i], '=') + 1, &output);
	}
	return status;
}

/* Judges, and tells the verdict. Returns a status. */
static int judge_profiles(const struct nm_command *self, const struct gate_options *o,
			  const struct nm_gate_request *request)
{
	struct nm_gate *gate;
	struct nm_error err;
	struct output output;
	int status, is_met;

	if (nm_gate_judge(&gate, request, &err)) {
		nm_message_error(&err);
		return NM_STATUS_NOT_JUDGED;
	}
	output = (struct output){gate, nm_gate_format_at((unsigned)o->format)};
	status = nm_write_output(NULL, write_gate, &output);
	if (!status)
		status = write_files(self, o, gate);
	is_met = nm_gate_is_met(gate);
	nm_gate_free(gate);
	if (status)
		return NM_STATUS_NOT_JUDGED;
	return is_met ? NM_STATUS_OK : NM_STATUS_NOT_MET;
}

/* Opens the profiles, those of the base first; *ret_opened counts those that are open. A status. */
static int open_all(const struct nm_option_list *base, const struct nm_operands *operands,
		    struct nm_gate_input *inputs, unsigned *ret_opened)
{
	static const char usual[] = "nearmiss.nmp";
	const size_t count = base->count + (operands->count ? (size_t)operands->count : 1);
	struct nm_error err;

	for (*ret_opened = 0; *ret_opened < count; ++*ret_opened) {
		const size_t i = *ret_opened;

		inputs[i].path = i < base->count   ? base->at[i]
				 : operands->count ? operands->at[i - base->count]
						   : usual;
		if (nm_open_profile(&inputs[i].profile, inputs[i].path, &err)) {
			nm_profile_failed(inputs[i].path, &err);
			return NM_STATUS_NOT_JUDGED;
		}
	}
	return 0;
}

static int run_gate(const struct nm_command *self, int argc, char **argv)
{
	struct gate_options o = {.config = "nearmiss.yaml", .root = ".", .name = "gate"};
	struct nm_gate_input inputs[NM_GATE_PROFILES] = {0};
	struct nm_budgets budgets = {.path = NULL};
	struct nm_gate_request request = {.budgets = &budgets, .inputs = inputs};
	struct nm_operands operands;
	struct nm_error err;
	char *root = NULL;
	int status;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	if (operands.count > NM_OPTION_LIST_ROOM)
		return nm_usage(self, "name %d profiles at most", NM_OPTION_LIST_ROOM);
	if (check_files(self, &o.write) || check_files(self, &o.append))
		return NM_STATUS_USAGE;
	if (nm_budgets_read(&budgets, o.config, &err)) {
		nm_message_error(&err);
		status = NM_STATUS_NOT_JUDGED;
	} else {
		status = open_all(&o.base, &operands, inputs, &request.count);
	}
	if (!status) {
		root = realpath(o.root, NULL); /* a folder of another machine stays as it is */
		request.base_count = (unsigned)o.base.count;
		request.root = root ? root : o.root;
		request.name = o.name;
		status = judge_profiles(self, &o, &request);
	}
	free(root);
	for (unsigned i = 0; i < request.count; i++)
		nm_profile_close(inputs[i].profile);
	nm_budgets_done(&budgets);
	return status;
}

const struct nm_command nm_cmd_gate = {
    .name = "gate",
    .summary = "Check profiles against budgets, for CI",
    .operands = "[NEW...]",
    .details =
	"Judges the budgets of nearmiss.yaml, in its shortest form \"budgets: [{level: L1d, relative: 1%}]\".  Several\n"
	"profiles of a side, recorded under different layouts of memory, make each of its counts an interval: a\n"
	"budget is broken only if the intervals are apart by more than it allows.  Exits with 3 if one is.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .formats = format_words,
    .run = run_gate,
};
