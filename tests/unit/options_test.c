/* SPDX-License-Identifier: MIT
 *
 * options_test.c - the tables of options: what is parsed, what is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "message.h"
#include "options.h"

struct mine {
	const char *input;
	int64_t limit;
	int format, verbose, follow;
	struct nm_option_list words;
};

static const struct nm_option options[] = {
    {"input", 'i', "FILE", "a file", NM_OPTION_TEXT, offsetof(struct mine, input), NULL},
    {"limit", 'n', "N", "a number", NM_OPTION_NUMBER, offsetof(struct mine, limit), NULL},
    {"format", 'f', "FORMAT", "a choice", NM_OPTION_CHOICE, offsetof(struct mine, format), "text|csv|json"},
    {"verbose", 'v', NULL, "a flag", NM_OPTION_FLAG, offsetof(struct mine, verbose), NULL},
    {"word", 'w', "WORD", "one more", NM_OPTION_LIST, offsetof(struct mine, words), NULL},
    {"no-follow", 0, NULL, "clears one", NM_OPTION_CLEAR, offsetof(struct mine, follow), NULL},
};

static struct nm_command command = {
    .name = "test",
    .summary = "a command",
    .operands = "[WORD...]",
    .options = options,
    .option_count = sizeof options / sizeof *options,
};

static char message[1000]; /* what the last parse printed on stderr */

/* Parses words (blank-separated). Returns what nm_options_parse does. */
static int parse(const char *line, struct mine *mine, struct nm_operands *operands, int *status)
{
	static char words[400], *argv[64];
	FILE *capture = tmpfile();
	int argc = 0, saved = dup(STDERR_FILENO), rc;
	char *word;

	snprintf(words, sizeof words, "test %s", line);
	for (word = strtok(words, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	*mine = (struct mine){.input = "default", .follow = 1};
	*status = -1;
	fflush(stderr);
	dup2(fileno(capture), STDERR_FILENO);
	rc = nm_options_parse(&command, argc, argv, mine, operands, status);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(capture);
	message[fread(message, 1, sizeof message - 1, capture)] = '\0';
	fclose(capture);
	return rc;
}

static void test_lists(void **state)
{
	char line[400] = "";
	struct nm_operands operands;
	struct mine mine;
	int status;

	(void)state;
	assert_int_equal(parse("-w one --word=two x --word three", &mine, &operands, &status), 1);
	assert_int_equal(mine.words.count, 3);
	assert_string_equal(mine.words.at[0], "one");
	assert_string_equal(mine.words.at[2], "three");
	assert_int_equal(operands.count, 1);
	for (int i = 0; i < NM_OPTION_LIST_ROOM + 1; i++)
		strcat(line, i % 2 ? "-wb " : "-wa ");
	assert_int_equal(parse(line, &mine, &operands, &status), 0);
	assert_int_equal(status, NM_STATUS_USAGE);
	assert_non_null(strstr(message, "-w may be given at most 32 times"));
}

static void test_forms(void **state)
{
	static const char *const lines[] = {"-i x -n 5 -f csv -v --no-follow", "-ix -n5 -fcsv -v --no-follow",
					    "--input=x --limit=5 --format=csv --verbose --no-follow",
					    "--input x --limit 5 --format csv --verbose --no-follow",
					    "-vn 5 -vix --no-follow -f csv"};
	struct nm_operands operands;
	struct mine mine;
	int status;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof lines / sizeof *lines; i++) {
		assert_int_equal(parse(lines[i], &mine, &operands, &status), 1);
		assert_string_equal(mine.input, "x");
		assert_int_equal(mine.limit, 5);
		assert_int_equal(mine.format, 1);
		assert_int_equal(mine.verbose, 1);
		assert_int_equal(mine.follow, 0);
		assert_int_equal(operands.count, 0);
	}
	assert_int_equal(parse("", &mine, &operands, &status), 1);
	assert_string_equal(mine.input, "default");
	assert_int_equal(parse("--input=", &mine, &operands, &status), 1);
	assert_string_equal(mine.input, "");
}

static void test_operands(void **state)
{
	struct nm_operands operands;
	struct mine mine;
	int status;

	(void)state;
	assert_int_equal(parse("a -v b -n 3 - -- -c --d", &mine, &operands, &status), 1);
	assert_int_equal(operands.count, 5);
	assert_string_equal(operands.at[0], "a");
	assert_string_equal(operands.at[1], "b");
	assert_string_equal(operands.at[2], "-");
	assert_string_equal(operands.at[3], "-c");
	assert_string_equal(operands.at[4], "--d");
	assert_null(operands.at[5]);
	assert_int_equal(mine.limit, 3);

	command.stops_at_operand = 1;
	assert_int_equal(parse("-v ls -n x -- y", &mine, &operands, &status), 1);
	assert_int_equal(operands.count, 5);
	assert_string_equal(operands.at[1], "-n");
	assert_string_equal(operands.at[3], "--");
	assert_int_equal(parse("-v -- -strange --name", &mine, &operands, &status), 1);
	assert_int_equal(operands.count, 2);
	assert_string_equal(operands.at[0], "-strange");
	command.stops_at_operand = 0;
}

static void test_refusals(void **state)
{
	static const struct {
		const char *line, *told;
	} cases[] = {
	    {"--limt=5", "unknown option --limt: did you mean --limit?"},
	    {"--form csv", "did you mean --format?"},
	    {"--zzzzzz", "unknown option --zzzzzz (see"},
	    {"-x", "unknown option -x"},
	    {"-vx", "unknown option -x"},
	    {"--limit=five", "--limit takes a number, not \"five\""},
	    {"-n -1", "-n takes a number, not \"-1\""},
	    {"-n 99999999999999999999", "takes a number"},
	    {"--limit", "--limit needs a value"},
	    {"-n", "-n needs a value"},
	    {"--format=xml", "--format takes one of text|csv|json, not \"xml\""},
	    {"--format=text|csv", "takes one of"},
	    {"--format=", "takes one of"},
	    {"--verbose=1", "--verbose takes no value"},
	};
	struct nm_operands operands;
	struct mine mine;
	int status;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(parse(cases[i].line, &mine, &operands, &status), 0);
		assert_int_equal(status, NM_STATUS_USAGE);
		if (!strstr(message, cases[i].told))
			fail_msg("%s: %s", cases[i].line, message);
		assert_ptr_equal(strchr(message, '\n'), message + strlen(message) - 1); /* one line */
	}
}

static void test_nearest(void **state)
{
	static const char *const words[] = {"record", "report", "query", "machines", "help", NULL};

	(void)state;
	assert_string_equal(nm_nearest("reprot", words), "report");
	assert_string_equal(nm_nearest("recrod", words), "record");
	assert_string_equal(nm_nearest("machine", words), "machines");
	assert_string_equal(nm_nearest("mach", words), "machines");
	assert_string_equal(nm_nearest("elp", words), "help");
	assert_string_equal(nm_nearest("eport", (const char *const[]){"report", "export", NULL}), "export");
	assert_null(nm_nearest("frobnicate", words));
	assert_null(nm_nearest("x", words));
}

/* What slips make of a word at letter i: two exchanged, one left out, doubled or wrong. */
enum slip { EXCHANGED, LEFT_OUT, DOUBLED, WRONG, SLIPS };

static void make_slip(enum slip slip, const char *word, size_t i, char typed[32])
{
	const char *const rest = word + i + (slip == EXCHANGED ? 2 : slip == DOUBLED ? 0 : 1);
	const char added[3] = {slip == EXCHANGED ? word[i + 1]
			       : slip == DOUBLED ? word[i]
			       : slip == WRONG   ? '#'
						 : '\0',
			       slip == EXCHANGED ? word[i] : '\0', '\0'};

	snprintf(typed, 32, "%.*s%s%s", (int)i, word, added, rest);
}

/* Commands, and reports, of which some are near each other: a slip behind the first letter finds its word. */
static void test_slips(void **state)
{
	static const char *const commands[] = {
	    "record", "ctl",      "replay", "monitor",  "trace",  "nest",     "sweep",     "sample",
	    "import", "debug",    "report", "annotate", "curve",  "timeline", "evictions", "sharing",
	    "diff",   "merge",    "noise",  "accuracy", "whatif", "gate",     "view",      "export",
	    "query",  "machines", "doctor", "help",     NULL};
	static const char *const reports[] = {
	    "summary",  "objects",  "functions",  "lines",   "pairs",     "levels", "phases",
	    "patterns", "sectors",  "prefetches", "numa",    "schedules", "fields", "struct",
	    "affinity", "calltree", "reuses",     "buckets", "latencies", "tasks",  "ranks",
	    "groups",   "spread",   "linespread", NULL};
	static const char *const *const lists[] = {commands, reports};
	char typed[32];

	(void)state;
	for (unsigned list = 0; list < 2; list++)
		for (const char *const *word = lists[list]; *word; word++) {
			snprintf(typed, sizeof typed, "%ss", *word);
			assert_string_equal(nm_nearest(typed, lists[list]), *word);
			for (size_t i = 1; i + 1 < strlen(*word); i++)
				for (enum slip slip = 0; slip < SLIPS; slip++) {
					make_slip(slip, *word, i, typed);
					assert_string_equal(nm_nearest(typed, lists[list]), *word);
				}
		}
}

static void test_statuses(void **state)
{
	(void)state;
	assert_int_equal(nm_status_of(NM_ENOSPC, NM_STATUS_NO_OUTPUT), NM_STATUS_NO_OUTPUT);
	assert_int_equal(nm_status_of(NM_EIO, NM_STATUS_NO_OUTPUT), NM_STATUS_NO_OUTPUT);
	assert_int_equal(nm_status_of(NM_EVERSION, NM_STATUS_BAD_INPUT), NM_STATUS_BAD_INPUT);
	assert_int_equal(nm_status_of(NM_EFORMAT, NM_STATUS_BAD_INPUT), NM_STATUS_BAD_INPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_forms),    cmocka_unit_test(test_lists),   cmocka_unit_test(test_operands),
	    cmocka_unit_test(test_refusals), cmocka_unit_test(test_nearest), cmocka_unit_test(test_slips),
	    cmocka_unit_test(test_statuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
