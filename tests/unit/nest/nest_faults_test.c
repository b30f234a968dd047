/* SPDX-License-Identifier: MIT
 *
 * nest_faults_test.c - what is wrong with the text, the settings or the run of a loop nest is reported with
 * its line and column.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "nest_stream.h"

static const struct {
	const char *text, *place, *said; /* place: "line:column" */
} faults[] = {
    {"for i = 1 to 3\nread X(i)\nend", "2:6", "a reference expected"},
    {"array X(3)\nX(1) = Y(2)", "2:8", "no array 'Y'"},
    {"array X(3)\nY(1) = 2", "2:1", "no array 'Y'"},
    {"array X(3)\nX(1) + 2", "2:8", "'=' expected"},
    {"array X(3)\nX(1) =", "2:7", "an operand expected"},
    {"array X(3)\nX(1) = (X(2)", "2:13", "')'"},
    {"array X(3)\nX(1) = X(2) X(3)", "2:13", "should end here"},
    {"array X(3)\nread X(4)", "2:8", "outside of dimension 1 of X, which goes from 1 to 3"},
    {"array X[3]\nread X[3]", "2:8", "from 0 to 2"},
    {"array X(3)\nread X(1,2)", "2:9", "X has 1 dimension"},
    {"array X(3,4)\nread X(1)", "2:9", "X has 2 dimensions"},
    {"array X[3][4]\nread X[1]", "2:10", "X has 2 dimensions"},
    {"array X[3]\nread X[1][2]", "2:10", "X has 1 dimension"},
    {"array X[3]\nread X(1)", "2:7", "'[' expected"},
    {"array X(3", "1:10", "',' or ')' expected"},
    {"array X", "1:8", "dimensions expected"},
    {"array X(0)", "1:9", "empty"},
    {"array X(5:4)", "1:9", "empty"},
    {"array X(3) of 0", "1:15", "1 to 65535"},
    {"array X(3) of real*", "1:20", "a number or a name expected"},
    {"array X(3) colour", "1:12", "of, at, align"},
    {"array X(3) align 0", "1:18", "from 1"},
    {"array X(3), Y(3) at 4096", "1:18", "one address for 2 arrays"},
    {"array X(3) at 4096\narray Y(3) at 4100", "2:7", "Y overlaps X"},
    {"array X(3) at 140737488355327", "1:7", "does not fit"},
    {"array X(1000000, 1000000, 1000000)", "1:27", "too large"},
    {"array X(3) = 1, 2", "1:18", "','"},
    {"array X(3) = 1, 2, 3, 4", "1:21", "only 3 elements"},
    {"array X(3) = file \"/no/such/file\"", "1:20", "cannot read /no/such/file"},
    {"array X(3) = file \"/no", "1:19", "does not end"},
    {"array X(3)\narray X(4)", "2:7", "declared already"},
    {"array for(3)", "1:7", "word of the language"},
    {"parameter N = 3 / 0", "1:17", "division by zero"},
    {"parameter N = M", "1:15", "unknown name 'M'"},
    {"parameter N = 9223372036854775807 + 1", "1:35", "too large"},
    {"parameter N = 99999999999999999999", "1:15", "the number is too large"},
    {"parameter N = 3k", "1:16", "unexpected 'k'"},
    {"parameter N = 0x", "1:15", "digits"},
    {"parameter N = 1 parameter M = 2", "1:17", "should end here"},
    {"origin 0", "1:8", "from 1"},
    {"for i = 1 to 3", "1:1", "it has no end"},
    {"end", "1:1", "nothing to end"},
    {"for i = 1\nend", "1:10", "'to' expected"},
    {"for i = 1 to 3 step 0\nend", "1:21", "cannot be 0"},
    {"for i = 1 to 3 warm -1\nend", "1:21", "fewer than no"},
    {"for i = 1 to 3\nfor i = 1 to 3\nend\nend", "2:5", "in use"},
    {"for i = 1 to 3\nparameter N = 3\nend", "2:1", "within a loop"},
    {"for i = 1 to 3\ni = 4\nend", "2:1", "i cannot be written"},
    {"array X(9)\nfor i = 1 to 3\nread X(i*i)\nend", "3:9", "not affine"},
    {"array X(9)\nfor i = 1 to 3\nread X(i/2)\nend", "3:9", "only constants can be divided"},
    {"array X(9)\nfor i = 1 to 3\nread X(min(i,2))\nend", "3:8", "cannot hold min or max"},
    {"array X(9)\nfor i = 1 to 3 step i\nend", "2:21", "unknown name 'i'"},
    {"array X(9)\nfor i = 1 to X(2)\nend", "2:14", "X has no values"},
    {"array X(9)\nfor i = 1 to max(1, min(2, i))\nend", "2:28", "unknown name 'i'"},
    {"array X(9)\nfor i = 1 to 2\nfor j = 1 to max(1, min(2, i))\nend\nend", "3:19", "within each other"},
    {"array X(3)\nread X(1)\n\xc3\xa9", "3:1", "unexpected byte 0xc3"},
    {"array X(3) $", "1:12", "unexpected '$'"},
    {"array X(3)\nX(1)", "2:5", "'=' expected"},
    {"X", "1:1", "a statement, parameter, array or for expected"},
    {"3 = 4", "1:1", "a statement, parameter, array or for expected"},
};

static void each_fault_is_told_at_its_place(void **state)
{
	struct nm_error err;
	struct nm_nest *nest;
	char place[40];

	(void)state;
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
		const char *text = faults[i].text;
		unsigned line, column;

		if (nm_nest_parse(&nest, text, strlen(text), "t", NO_SETTINGS, &err) != NM_EINVAL)
			fail_msg("accepted: %s", text);
		snprintf(place, sizeof place, "t:%s: ", faults[i].place);
		if (strncmp(err.text, place, strlen(place)) || !strstr(err.text, faults[i].said))
			fail_msg("expected %s%s, got: %s\nof: %s", place, faults[i].said, err.text, text);
		sscanf(faults[i].place, "%u:%u", &line, &column);
		for (; line > 1; line--)
			text = strchr(text, '\n') + 1;
		assert_int_equal(err.column, column - 1);
		assert_int_equal(strlen(err.subject), strcspn(text, "\n"));
		assert_memory_equal(err.subject, text, strlen(err.subject));
	}
}

static void faults_of_settings_show_the_setting(void **state)
{
	static const struct {
		const char *setting, *said;
		int column;
	} bad[] = {{"M=3", "no parameter or array 'M'", 0}, {"i=3", "no parameter or array 'i'", 0},
		   {"N", "NAME=VALUE expected", 1},         {"N=", "a number or a name expected", 2},
		   {"N=3 4", "should end here", 4},         {"N=X", "unknown name 'X'", 2}};
	static const char text[] = "parameter N = 3\narray X(N)\nfor i = 1 to N\nread X(i)\nend\n";
	struct nm_error err;
	struct nm_nest *nest;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		const char *settings[] = {bad[i].setting, NULL};

		assert_int_equal(nm_nest_parse(&nest, text, strlen(text), "t", settings, &err), NM_EINVAL);
		if (!strstr(err.text, bad[i].said) || err.column != bad[i].column ||
		    strcmp(err.subject, bad[i].setting))
			fail_msg("%s: %s (%s, %d)", bad[i].setting, err.text, err.subject, err.column);
	}
}

static void a_subscript_that_leaves_its_array_stops_the_run(void **state)
{
	static const struct {
		const char *text, *said;
	} bad[] = {
	    {"array X(9,9)\nfor i = 1 to 3\nfor j = 1 to 9\nread X(i, j + i)\nend\nend",
	     "t:4:6: subscript 2 is 10 at i = 1, j = 9, but dimension 2 of X goes from 1 to 9"},
	    {"array X(9)\nfor i = -5 to 3\nread X(-i)\nend", "t:3:6: subscript 1 is -3 at i = 3"},
	    {"array X(9)\narray I(2) = 1, 10\nfor i = 1 to 2\nread X(I(i))\nend",
	     "t:4:6: subscript 1 is 10 at i = 2"},
	    {"array X(9)\nfor i = 1 to 2\nread X(i)\nend\nread X(1)\nfor i = 9 to 10\nread X(i), X(1)\nend",
	     "t:7:6: subscript 1 is 10 at i = 10"},
	    {"array X(9)\nfor i = 1 to 2\nfor j = 4611686018427387904 * i to 3\nread X(j)\nend\nend",
	     "t:3:5: a bound of the loop is too large"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct nm_nest *nest;
		struct nm_error err;
		struct stream s;

		assert_int_equal(
		    nm_nest_parse(&nest, bad[i].text, strlen(bad[i].text), "t", NO_SETTINGS, &err), 0);
		assert_int_equal(run(&s, nest, &err), NM_EINVAL);
		if (strncmp(err.text, bad[i].said, strlen(bad[i].said)))
			fail_msg("%s, not %s", err.text, bad[i].said);
		done(&s);
		nm_nest_free(nest);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_fault_is_told_at_its_place),
	    cmocka_unit_test(faults_of_settings_show_the_setting),
	    cmocka_unit_test(a_subscript_that_leaves_its_array_stops_the_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
