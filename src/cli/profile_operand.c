/* SPDX-License-Identifier: MIT */
#include "profile_operand.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "message.h"

static const char usual[] = "nearmiss.nmp";

enum nm_file_kind nm_file_kind(const char *path)
{
	static const char profile[] = "SQLite format 3", program[] = {'\177', 'E', 'L', 'F'},
			  samples[] = {'P', 'E', 'R', 'F', 'I', 'L', 'E', '2'};
	struct nm_peeked_input peeked;

	struct stat st;

	if (!strcmp(path, "-") || (!stat(path, &st) && S_ISFIFO(st.st_mode))) /* can be read only once */
		return NM_FILE_OTHER;
	if (nm_peek_input(&peeked, path, NULL))
		return NM_FILE_UNREADABLE;
	close(peeked.fd);
	if (peeked.count >= sizeof profile && !memcmp(peeked.bytes, profile, sizeof profile))
		return NM_FILE_PROFILE;
	if (peeked.count >= sizeof program && !memcmp(peeked.bytes, program, sizeof program))
		return NM_FILE_PROGRAM;
	if (peeked.count >= sizeof samples && !memcmp(peeked.bytes, samples, sizeof samples))
		return NM_FILE_SAMPLES;
	return NM_FILE_OTHER;
}

int nm_names_profile(const char *path)
{
	const char *end = strrchr(path, '.');

	return end && !strcmp(end, ".nmp");
}

int nm_refuse_program(const struct nm_command *self, const char *path)
{
	return nm_usage(self, "%s is a program, not a profile: record it first: nearmiss record %s%s", path,
			strchr(path, '/') ? "" : "./", path);
}

int nm_take_profiles(const struct nm_command *self, struct nm_operands *operands,
		     struct nm_option_list *inputs)
{
	int kept = 0;

	for (int i = 0; i < operands->count; i++) {
		char *operand = operands->at[i];
		enum nm_file_kind kind = nm_file_kind(operand);

		if (kind == NM_FILE_PROGRAM)
			return nm_refuse_program(self, operand);
		if (!nm_names_profile(operand) && kind != NM_FILE_PROFILE && kind != NM_FILE_SAMPLES)
			operands->at[kept++] = operand;
		else if (inputs->count == NM_OPTION_LIST_ROOM)
			return nm_usage(self, "name at most %d profiles", NM_OPTION_LIST_ROOM);
		else
			inputs->at[inputs->count++] = operand;
	}
	operands->at[kept] = NULL;
	operands->count = kept;
	return NM_STATUS_OK;
}

int nm_take_profile(const struct nm_command *self, struct nm_operands *operands, const char **input)
{
	struct nm_option_list inputs = {.count = 0};
	int status;

	if (*input)
		inputs.at[inputs.count++] = *input;
	status = nm_take_profiles(self, operands, &inputs);
	if (status)
		return status;
	if (inputs.count > 1)
		return nm_usage(self, "%s shows one profile: nearmiss diff %s %s compares the two",
				self->name, inputs.at[0], inputs.at[1]);
	*input = inputs.count ? inputs.at[0] : usual;
	return NM_STATUS_OK;
}

int nm_profile_failed(const char *path, const struct nm_error *err)
{
	if (err->code != NM_ENOENT)
		return nm_failed(err, NM_STATUS_BAD_INPUT);
	if (strcmp(path, usual) != 0)
		nm_message("there is no profile %s: record one first: nearmiss record -o %s ./program", path,
			   path);
	else
		nm_message("there is no profile %s here: record one first: nearmiss record ./program", path);
	return NM_STATUS_BAD_INPUT;
}
