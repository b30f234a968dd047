/* SPDX-License-Identifier: MIT */
#include "words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNTS = sizeof(struct nm_counts) / sizeof(uint64_t), LONGEST_REMARK = 500, LONGEST_NUMBER = 21 };
_Static_assert(NM_MAX_LEVELS *COUNTS *LONGEST_NUMBER + LONGEST_REMARK + 100 < NM_SWEEP_MESSAGE,
	       "every outcome fits");

int nm_sweep_write_task(const struct nm_sweep_task *task, char *text)
{
	const char *const words[] = {task->kind, task->input, task->settings, task->spec};
	size_t n = 0;

	for (unsigned i = 0; i < 4; i++) {
		const int length = snprintf(text + n, NM_SWEEP_MESSAGE - n, "%s%s", i ? "\t" : "", words[i]);

		if (strpbrk(words[i], "\t\n") || length >= (int)(NM_SWEEP_MESSAGE - n))
			return NM_EINVAL;
		n += (size_t)length;
	}
	return 0;
}

int nm_sweep_read_task(char *text, struct nm_sweep_task *ret)
{
	const char **const words[] = {&ret->kind, &ret->input, &ret->settings, &ret->spec};
	char *rest = text;

	for (unsigned i = 0; i < 4; i++)
		if (!(*words[i] = strsep(&rest, "\t")))
			return NM_EINVAL;
	return rest ? NM_EINVAL : 0;
}

static size_t write_remark(const char *remark, char *text, size_t n)
{
	for (unsigned i = 0; remark && remark[i] && i < LONGEST_REMARK; i++)
		text[n++] = strchr("\t\r\n", remark[i]) ? ' ' : remark[i];
	text[n] = '\0';
	return n;
}

void nm_sweep_write_outcome(const struct nm_sweep_outcome *o, char *text)
{
	size_t n = (size_t)sprintf(text, "%s\t%.6f\t", o->failed ? "failed" : "done", o->seconds);

	if (o->failed) {
		write_remark(o->remark, text, n);
		return;
	}
	n += (size_t)sprintf(text + n, "%" PRIu64 "\t%" PRIu64 "\t", o->instructions, o->references);
	n = write_remark(o->remark, text, n);
	for (unsigned i = 0; i < o->machine.count; i++) {
		uint64_t counts[COUNTS];

		memcpy(counts, &o->totals[i], sizeof counts);
		for (unsigned k = 0; k < COUNTS; k++)
			n += (size_t)sprintf(text + n, "%c%" PRIu64, k ? ' ' : '\t', counts[k]);
	}
}

static int read_number(const char *word, uint64_t *ret)
{
	char *end;

	if (!word)
		return NM_EINVAL;
	*ret = strtoull(word, &end, 10);
	return end == word || *end ? NM_EINVAL : 0;
}

static int read_counts(char *text, struct nm_counts *ret)
{
	uint64_t counts[COUNTS];
	char *rest = text;

	for (unsigned k = 0; k < COUNTS; k++)
		if (read_number(strsep(&rest, " "), &counts[k]))
			return NM_EINVAL;
	memcpy(ret, counts, sizeof counts);
	return rest ? NM_EINVAL : 0;
}

int nm_sweep_read_outcome(char *text, struct nm_sweep_outcome *ret)
{
	char *rest = text, *word = strsep(&rest, "\t"), *end;
	const char *seconds = strsep(&rest, "\t");

	ret->failed = !strcmp(word, "failed");
	if ((!ret->failed && strcmp(word, "done") != 0) || !seconds)
		return NM_EINVAL;
	ret->seconds = strtod(seconds, &end);
	if (end == seconds || *end)
		return NM_EINVAL;
	if (!ret->failed && (read_number(strsep(&rest, "\t"), &ret->instructions) ||
			     read_number(strsep(&rest, "\t"), &ret->references)))
		return NM_EINVAL;
	word = strsep(&rest, "\t");
	if (!word)
		return NM_EINVAL;
	ret->remark = *word ? word : NULL;
	for (ret->machine.count = 0; rest; ret->machine.count++)
		if (ret->failed || ret->machine.count == NM_MAX_LEVELS ||
		    read_counts(strsep(&rest, "\t"), &ret->totals[ret->machine.count]))
			return NM_EINVAL;
	return 0;
}

int nm_sweep_split_settings(const char *text, struct nm_sweep_settings *ret)
{
	char *rest = ret->text = strdup(text);
	int status = rest ? 0 : NM_ENOMEM;

	for (char *word; !status && (word = strsep(&rest, " "));)
		if (*word)
			status = nm_vec_push(&ret->list, word);
	return status ? status : nm_vec_push(&ret->list, NULL);
}

void nm_sweep_settings_done(struct nm_sweep_settings *settings)
{
	nm_vec_free(&settings->list);
	free(settings->text);
}
