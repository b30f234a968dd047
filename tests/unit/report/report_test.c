/* SPDX-License-Identifier: MIT
 *
 * report_test.c - names that fit, columns that hold, and formats that parse.
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "distinct.h"
#include "evictions.h"
#include "numbers.h"
#include "report.h"
#include "sample.h"
#include "table.h"

#define DOTS "\xe2\x80\xa6"

static void test_utf8(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
	    {"plain", "plain"},
	    {"gr\xc3\xb6\xc3\x9f"
	     "e",
	     "gr\xc3\xb6\xc3\x9f"
	     "e"},
	    {"a\033[31mb", "a\xef\xbf\xbd[31mb"}, /* a terminal must not obey names */
	    {"\xc2\x9b"
	     "31m",
	     "\xef\xbf\xbd"
	     "31m"},                                                  /* nor the one-byte form of it */
	    {"\xff\xc3", "\xef\xbf\xbd\xef\xbf\xbd"},                 /* no sequence, cut sequence */
	    {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},                 /* not the shortest form */
	    {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* surrogate */
	    {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *clean = nm_utf8_clean(cases[i].in);

		assert_string_equal(clean, cases[i].out);
		free(clean);
	}
	assert_int_equal(nm_utf8_width("gr\xc3\xb6\xc3\x9f"
				       "e"),
			 5);
	assert_int_equal(nm_utf8_bytes("gr\xc3\xb6\xc3\x9f"
				       "e",
				       3),
			 4);
	setlocale(LC_CTYPE, "C.UTF-8");
	assert_int_equal(
	    nm_utf8_width("\xe8\xa1\xa8"
			  "e\xcc\x81"), /* a character of two columns, a letter with an accent of none */
	    3);
	assert_int_equal(nm_utf8_bytes("e\xcc\x81\xe8\xa1\xa8", 2), 3);
	setlocale(LC_CTYPE, "C");
}

static void test_shorten_names(void **state)
{
	static const struct {
		const char *name;
		size_t width;
		const char *out;
	} cases[] = {
	    {"short", 10, "short"},
	    {"std::vector<std::pair<int, long> >::push_back", 30, "std::vector<" DOTS ">::push_back"},
	    {"f<aaaaaaaaaaaaaaaaaaaa>::g<b>", 15, "f<" DOTS ">::g<b>"},
	    {"solve(double const*, unsigned long)", 12, "solve(" DOTS ")"},
	    {"very_long_function(double const*)", 18, "very_long_function"},
	    {"abcdefghijklmnopqrstuvwxyz", 10, "abc" DOTS "uvwxyz"},
	    {"heap std::map<int, std::vector<long> >::insert (tree.cc:88)", 37,
	     "heap std::map<" DOTS ">::insert (tree.cc:88)"},
	    {"heap add (tree.cc:88)", 12, "heap" DOTS ".cc:88)"},
	    {"heap aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa (tree.cc:88)", 24, "heap" DOTS "aaaaaa (tree.cc:88)"},
	    {"operator<<(std::ostream&, matrix const&)", 20, "operator<<(" DOTS ")"},
	    {"list<int>::operator->(long argument list)", 30, "list<" DOTS ">::operator->(" DOTS ")"},
	    {"<unknown>", 6, "<u" DOTS "wn>"},
	    {"\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc", 4, "\xc3\xa4" DOTS "\xc3\xb6\xc3\xbc"},
	    {"a<bc", 2, "a" DOTS "c"}, /* never less than a letter on both sides */
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *text = nm_shorten_name(cases[i].name, cases[i].width, DOTS);

		assert_string_equal(text, cases[i].out);
		free(text);
	}
}

static void test_shorten_places(void **state)
{
	static const struct {
		const char *place;
		size_t width;
		const char *out;
	} cases[] = {
	    {"solver.c:41 (multiply)", 30, "solver.c:41 (multiply)"},
	    {"stl_vector.h:1281 (std::vector<int>::push_back(int const&))", 48,
	     "stl_vector.h:1281 (std::vector<" DOTS ">::push_back(" DOTS "))"},
	    {"stl_vector.h:1281 (std::vector<int>::push_back(int const&))", 24, "stl_vector.h:1281"},
	    {"map.cpp:32 (add) < stl_tree.h:780 _S_left", 34, "map.cpp:32 (add) < stl_tree.h:780"},
	    {"std::increment(std::node*)", 22, "std::increment(" DOTS ")"},
	    {"a_very_long_name.c:123", 12, "a_ve" DOTS "e.c:123"},
	    {"a_very_long_name.c:123 (function)", 24, "a_very_long_name.c:123"},
	    {"?", 1, "?"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *text = nm_shorten_location(cases[i].place, cases[i].width, DOTS);

		assert_string_equal(text, cases[i].out);
		free(text);
	}
}

/* Every prefix and width of a nasty name: no crash, and the width is kept where it can be. */
static void test_shorten_anything(void **state)
{
	static const char nasty[] = "a<b<(c>)>::operator<(d)<e, f(g) (h.c:1) >> operator()<i>(j) (k.cc:22)";
	char name[sizeof nasty];
	size_t length, width;

	(void)state;
	for (length = 0; length < sizeof nasty; length++) {
		memcpy(name, nasty, length);
		name[length] = '\0';
		for (width = 5; width < 80; width++) {
			char *text = nm_shorten_name(name, width, DOTS);

			assert_true(nm_utf8_width(text) <= width);
			free(text);
		}
	}
}

/* A name as C++ makes them, of a few pieces each, so that many are nearly the same. */
static void make_name(int place, char *text, size_t room)
{
	static const char *const parts[] = {
	    "std::vector<int>", "::push_back", "heap ",    "node", "<long, map<int> >",
	    "(double const*)",  " (a.cpp:7)",  "::insert", "grid", " #2"};
	size_t n =
	    place ? (size_t)snprintf(text, room, "f%u.cc:%u (", (unsigned)below(2), (unsigned)below(3)) : 0;

	for (unsigned k = 1 + (unsigned)below(6); k--;)
		n += (size_t)snprintf(text + n, room - n, "%s", parts[below(sizeof parts / sizeof *parts)]);
	snprintf(text + n, room - n, "%s", place ? ")" : "");
}

/* Whatever names and width: different ones are shown differently, equal ones the same. */
static void test_shortened_names_differ(void **state)
{
	enum { NAMES = 150, ROOM = 256 };
	static char name[NAMES][ROOM];

	(void)state;
	rng_state = 7;
	for (size_t width = 1; width < 60; width++) {
		const int place = width % 2;
		struct nm_distinct distinct = {0};
		const char *shown[NAMES];

		for (size_t i = 0; i < NAMES; i++) {
			make_name(place, name[i], ROOM);
			shown[i] = nm_distinct_name(&distinct, place ? nm_shorten_location : nm_shorten_name,
						    name[i], width, DOTS);
			for (size_t k = 0; k < i; k++)
				assert_int_equal(!strcmp(shown[i], shown[k]), !strcmp(name[i], name[k]));
		}
		nm_distinct_done(&distinct);
	}
}

static struct nm_profile *sample(void)
{
	struct nm_profile *profile;
	struct nm_error err;

	if (nm_profile_open(&profile, NM_TEST_DATA "/profile-v1.nmp", &err))
		fail_msg("%s", err.text);
	return profile;
}

/* The profile knows neither call chains nor allocations by them nor strides nor fields, and its levels have
 * no sectors and do not prefetch; nor does it hold samples of a processor, nor is it merged. */
static int is_missing(const struct nm_report *report)
{
	return report == nm_report_named("calltree") || report == nm_report_named("patterns") ||
	       report == nm_report_named("sectors") || report == nm_report_named("prefetches") ||
	       report == nm_report_named("fields") || report == nm_report_named("affinity") ||
	       report == nm_report_named("buckets") || report == nm_report_named("reuses") ||
	       report == nm_report_named("numa") || report == nm_report_named("schedules") ||
	       report == nm_report_named("phases") || report == nm_report_named("latencies") ||
	       report == nm_report_named("ranks") || report == nm_report_named("groups") ||
	       report == nm_report_named("spread") || report == nm_report_named("linespread") ||
	       report == nm_report_named("tasks");
}

/* What a report writes; malloc'ed. */
static char *report_of(struct nm_profile *profile, const char *name, const struct nm_report_request *request,
		       const struct nm_style *style)
{
	struct nm_error err;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (nm_report_run(nm_report_named(name), profile, request, style, out, &err))
		fail_msg("%s: %s", name, err.text);
	fclose(out);
	return text;
}

static char *written(const char *name, const struct nm_report_request *request, const struct nm_style *style)
{
	struct nm_profile *profile = sample();
	char *text = report_of(profile, name, request, style);

	nm_profile_close(profile);
	return text;
}

/* The first `count` lines of a text, as a text; malloc'ed. */
static char *first_lines(const char *text, unsigned count)
{
	const char *end = text;

	for (; count && *end; end++)
		count -= *end == '\n';
	return strndup(text, (size_t)(end - text));
}

static void expect_first(struct nm_profile *profile, struct nm_report_request request, const char *all)
{
	const struct nm_style style = {.format = NM_FORMAT_CSV};

	for (request.limit = 1; request.limit < 30; request.limit++) {
		char *some = report_of(profile, "pairs", &request, &style);
		char *expected = first_lines(all, 1 + (unsigned)request.limit);

		assert_string_equal(some, expected);
		free(expected);
		free(some);
	}
}

/* Some pairs are found by numbers, all of them by texts. */
static void test_first_pairs(void **state)
{
	static const struct nm_report_request requests[] = {
	    {.sort = "misses"},   {.sort = "cycles"}, {.sort = "cold"}, {.sort = "misses", .level = "L2"},
	    {.process = "cc1#2"}, {.thread = 2},      {.sort = "reads"}};
	const struct nm_style style = {.format = NM_FORMAT_CSV};
	struct nm_profile *profile;
	struct nm_error err;

	(void)state;
	assert_int_equal(nm_sample_write("first.nmp", &err), 0);
	assert_int_equal(nm_profile_open(&profile, "first.nmp", &err), 0);
	for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
		char *all = report_of(profile, "pairs", &requests[i], &style);

		expect_first(profile, requests[i], all);
		free(all);
	}
	nm_profile_close(profile);
	remove("first.nmp");
}

/* No line is wider than asked for, from where the essential columns fit. */
static void test_text_keeps_its_width(void **state)
{
	struct nm_report_request request = {.limit = 20};
	struct nm_style style = {.ellipsis = DOTS};
	unsigned i;

	(void)state;
	for (style.width = 80; style.width < 300; style.width += 9) {
		for (i = 0; nm_report_at(i); i++) {
			if (is_missing(nm_report_at(i)))
				continue;
			char *text = written(nm_report_name(nm_report_at(i)), &request, &style);
			char *line = strtok(text, "\n");

			for (; line; line = strtok(NULL, "\n"))
				if (nm_utf8_width(line) > style.width)
					fail_msg("%s, %u columns: %s", nm_report_name(nm_report_at(i)),
						 style.width, line);
			free(text);
		}
	}
}

static void test_text_without_limit_shortens_nothing(void **state)
{
	struct nm_report_request request = {.limit = 20};
	struct nm_style style = {.ellipsis = DOTS};
	char *text = written("pairs", &request, &style);

	(void)state;
	assert_null(strstr(text, DOTS));
	assert_non_null(
	    strstr(text, "std::allocator<char> >, unsigned long> >::push_back(std::pair<int, long> const&)"));
	assert_non_null(strstr(text, "capacity 90%"));
	free(text);
}

static void test_limit_and_sort(void **state)
{
	struct nm_style style = {.format = NM_FORMAT_CSV};
	char *text;

	(void)state;
	text = written("objects", &(struct nm_report_request){.limit = 1, .sort = "object"}, &style);
	assert_non_null(strstr(text, "\n<unknown>,")); /* texts rank upwards */
	assert_null(strstr(text, "\nmatrix,"));
	free(text);
	text = written("objects", &(struct nm_report_request){.limit = 1, .sort = "bytes"}, &style);
	assert_non_null(strstr(text, "\nmatrix,")); /* numbers downwards */
	free(text);
	text = written("objects", &(struct nm_report_request){.limit = 0, .level = "L2", .process = "cc1#2"},
		       &style);
	assert_non_null(
	    strstr(text, "heap ggc_alloc (ggc.c:7),heap,,4096,1,4096,4096,ggc.c:7,4096,64,64,,100,"));
	assert_null(strstr(text, "matrix"));
	free(text);
	text = written("lines", &(struct nm_report_request){.limit = 0, .thread = 2}, &style);
	assert_non_null(strstr(text, "/src/solver/solver.c,41,multiply,200000,35100,"));
	assert_null(strstr(text, "solver.c,40,"));
	free(text);
}

/* Shares are of the selection; MPKI is per instruction of the selected processes. */
static void test_figures(void **state)
{
	struct nm_report_request request = {.limit = 1, .process = "solver"};
	struct nm_style style = {.format = NM_FORMAT_JSON};
	char *text = written("pairs", &request, &style);
	json_t *root = json_loads(text, 0, NULL), *row = json_array_get(json_object_get(root, "rows"), 0);

	(void)state;
	assert_string_equal(json_string_value(json_object_get(root, "schema")), "nearmiss-report/1");
	assert_string_equal(json_string_value(json_object_get(root, "level")), "L1d");
	assert_int_equal(json_integer_value(json_object_get(row, "line")), 41);
	assert_int_equal(json_integer_value(json_object_get(row, "misses")), 105300);
	assert_float_equal(json_number_value(json_object_get(row, "share")), 100.0 * 105300 / 166348, 1e-6);
	assert_float_equal(json_number_value(json_object_get(row, "mpki")), 1000.0 * 105300 / 8000000, 1e-6);
	assert_float_equal(json_number_value(json_object_get(row, "miss_ratio")), 100.0 * 105300 / 600000,
			   1e-6);
	assert_float_equal(json_number_value(json_object_get(row, "waste")),
			   100.0 - 100.0 * (561600 + 280800) / (4492800 + 2246400), 1e-6);
	assert_int_equal(json_integer_value(json_object_get(row, "evictor_line")), 40);
	assert_int_equal(json_integer_value(json_object_get(row, "touched")), (32768 + 4096) * 64);
	json_decref(root);
	free(text);
	request.file = "solver.c"; /* may not be all that touched it first */
	text = written("pairs", &request, &style);
	root = json_loads(text, 0, NULL);
	assert_true(
	    json_is_null(json_object_get(json_array_get(json_object_get(root, "rows"), 0), "touched")));
	json_decref(root);
	free(text);
}

/* The one number of a one-row report of line 41. */
static int64_t cycles_of_line_41(const char *level, const char *latency)
{
	struct nm_report_request request = {
	    .limit = 1, .level = level, .latency = latency, .file = "solver.c", .object = "matrix"};
	struct nm_style style = {.format = NM_FORMAT_JSON};
	char *text = written("pairs", &request, &style);
	json_t *root = json_loads(text, 0, NULL), *row = json_array_get(json_object_get(root, "rows"), 0);
	int64_t cycles = json_integer_value(json_object_get(row, "cycles"));

	assert_int_equal(json_integer_value(json_object_get(row, "line")), 41);
	json_decref(root);
	free(text);
	return cycles;
}

/* Of 600000 references 105300 ask L2 (in both threads), and 47150 of these miss it. */
static void test_cycles(void **state)
{
	(void)state;
	assert_int_equal(cycles_of_line_41(NULL, NULL), (105300 - 47150) * 14 + 47150 * 200);
	assert_int_equal(cycles_of_line_41(NULL, "L2=10,memory=100"), (105300 - 47150) * 10 + 47150 * 100);
	assert_int_equal(cycles_of_line_41(NULL, "memory=0,L2=0,L1d=4"), (600000 - 105300) * 4);
	assert_int_equal(cycles_of_line_41("L2", NULL), 47150 * 200); /* what misses L2 waits for memory */
	assert_int_equal(cycles_of_line_41("L2", "L2=10,L1d=4"), 47150 * 200);
}

static json_t *evictions(const struct nm_evictions_request *request)
{
	struct nm_style style = {.format = NM_FORMAT_JSON};
	struct nm_profile *profile = sample();
	struct nm_error err;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	json_t *root;

	if (nm_evictions_run(profile, request, &style, out, &err))
		fail_msg("%s", err.text);
	fclose(out);
	nm_profile_close(profile);
	root = json_loads(text, 0, NULL);
	assert_non_null(root);
	free(text);
	return root;
}

static double sum_of(json_t *root, const char *column, const char *victim)
{
	json_t *row;
	double sum = 0;
	size_t i;

	json_array_foreach(json_object_get(root, "rows"), i, row)
	{
		const char *name = json_string_value(json_object_get(row, "victim"));

		if (!victim || !strcmp(name, victim))
			sum += json_number_value(json_object_get(row, column));
	}
	return sum;
}

/* The matrix sums to the level's evictions; what each victim lost, to all of it, whatever the limit; the
 * lines of a pair to its attribution key. */
static void test_evictions_close(void **state)
{
	static const char heap[] = "heap std::map<int, std::vector<long> >::insert (tree.cc:88)";
	json_t *all = evictions(&(struct nm_evictions_request){.limit = 0});
	json_t *one = evictions(&(struct nm_evictions_request){.limit = 1});
	json_t *pair =
	    evictions(&(struct nm_evictions_request){.limit = 0, .evictor = "matrix", .victim = heap});

	(void)state;
	assert_float_equal(sum_of(all, "count", NULL), 165930, 0);
	assert_float_equal(sum_of(all, "share", NULL), 100, 1e-6);
	assert_float_equal(sum_of(all, "share_of_victim", "matrix"), 100, 1e-6);
	assert_float_equal(sum_of(all, "share_of_victim", heap), 100, 1e-6);
	assert_float_equal(sum_of(one, "share_of_victim", "matrix"), 100, 1e-6);
	assert_float_equal(sum_of(one, "count", NULL), sum_of(all, "count", "matrix"), 0);
	assert_float_equal(sum_of(pair, "count", NULL), 1090, 0);
	assert_float_equal(sum_of(pair, "share", NULL), 100, 1e-6);
	json_decref(all);
	json_decref(one);
	json_decref(pair);
}

static void test_json_of_every_report_parses(void **state)
{
	struct nm_report_request request = {.limit = 0};
	struct nm_style style = {.format = NM_FORMAT_JSON};
	unsigned i;

	(void)state;
	for (i = 0; nm_report_at(i); i++) {
		if (is_missing(nm_report_at(i)))
			continue;
		char *text = written(nm_report_name(nm_report_at(i)), &request, &style);
		json_error_t error;
		json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);

		if (!root)
			fail_msg("%s: %s", nm_report_name(nm_report_at(i)), error.text);
		assert_string_equal(json_string_value(json_object_get(root, "report")),
				    nm_report_name(nm_report_at(i)));
		json_decref(root);
		free(text);
	}
}

static void test_csv_quotes(void **state)
{
	struct nm_profile *profile = sample();
	struct nm_style style = {.format = NM_FORMAT_CSV};
	struct nm_error err;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	(void)state;
	assert_int_equal(
	    nm_report_query(profile,
			    "SELECT 'a,b' AS \"x,y\", 'say \"no\"' AS z, NULL AS n, 1.5 AS r, -7 AS i",
			    &style, out, &err),
	    0);
	fclose(out);
	assert_string_equal(text, "\"x,y\",z,n,r,i\n\"a,b\",\"say \"\"no\"\"\",,1.5,-7\n");
	free(text);
	nm_profile_close(profile);
}

static void test_wrong_requests(void **state)
{
	static const struct {
		const char *report;
		struct nm_report_request request;
		const char *told;
	} cases[] = {
	    {"pairs", {.level = "L9"}, "L1d, L2"},
	    {"pairs", {.process = "cc"}, "solver, cc1, cc1#2"},
	    {"pairs", {.thread = 3}, "1, 2"},
	    {"pairs", {.sort = "where"}, "no column"}, /* made for text only */
	    {"pairs", {.sort = "cause"}, "no column"},
	    {"summary", {.level = "l1d"}, "L1d"},
	    {"levels", {.thread = 1}, "levels"},
	    {"calltree", {.level = NULL}, "no call chains"},
	    {"buckets", {.level = NULL}, "--heap-chains"},
	    {"sectors", {.level = NULL}, "no sector misses"},
	    {"prefetches", {.level = NULL}, "no prefetches"},
	    {"pairs", {.object = "matrx"}, "did you mean matrix?"},
	    {"pairs", {.function = "mul"}, "did you mean multiply?"},
	    {"pairs", {.file = "lver.c"}, "/src/solver/solver.c"}, /* whole components only */
	    {"pairs", {.latency = "L2"}, "LEVEL=CYCLES"},
	    {"pairs", {.latency = "L2=99999999"}, "cycles"},
	    {"pairs", {.columns = "misses,"}, "no column"},
	    {"summary", {.columns = "mises"}, "did you mean misses"},
	};
	struct nm_profile *profile = sample();
	struct nm_style style = {.ellipsis = DOTS};
	struct nm_error err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(nm_report_run(nm_report_named(cases[i].report), profile, &cases[i].request,
					       &style, stdout, &err),
				 NM_EINVAL);
		assert_non_null(strstr(err.text, cases[i].told));
	}
	assert_null(nm_report_named("nope"));
	nm_profile_close(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_utf8),
	    cmocka_unit_test(test_shorten_names),
	    cmocka_unit_test(test_shorten_places),
	    cmocka_unit_test(test_shorten_anything),
	    cmocka_unit_test(test_shortened_names_differ),
	    cmocka_unit_test(test_first_pairs),
	    cmocka_unit_test(test_text_keeps_its_width),
	    cmocka_unit_test(test_text_without_limit_shortens_nothing),
	    cmocka_unit_test(test_limit_and_sort),
	    cmocka_unit_test(test_figures),
	    cmocka_unit_test(test_cycles),
	    cmocka_unit_test(test_evictions_close),
	    cmocka_unit_test(test_json_of_every_report_parses),
	    cmocka_unit_test(test_csv_quotes),
	    cmocka_unit_test(test_wrong_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
