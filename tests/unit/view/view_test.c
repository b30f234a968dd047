/* SPDX-License-Identifier: MIT
 *
 * view_test.c - who is answered, which path is what, which answers are kept, and what a file holds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "assets.h"
#include "guard.h"
#include "html.h"
#include "memstream.h"
#include "questions.h"
#include "recent_answers.h"
#include "sample.h"
#include "view.h"

/* ---- the guard ---- */

static void test_hosts_and_origins(void **state)
{
	static const struct {
		const char *host, *origin;
		int admitted;
	} cases[] = {
	    {"127.0.0.1:8000", NULL, 1},
	    {"localhost:8000", NULL, 1},
	    {"LOCALHOST:8000", "http://localhost:8000", 1},
	    {"127.0.0.1:8000", "http://127.0.0.1:8000", 1},
	    {NULL, NULL, 0},
	    {"", NULL, 0},
	    {"127.0.0.1", NULL, 0},
	    {"127.0.0.1:80", NULL, 0},
	    {"127.0.0.1:80000", NULL, 0},
	    {"example.org:8000", NULL, 0},
	    {"127.0.0.1:8000.example.org", NULL, 0},
	    {"127.0.0.1:8000", "", 0},
	    {"127.0.0.1:8000", "null", 0},
	    {"127.0.0.1:8000", "https://127.0.0.1:8000", 0},
	    {"127.0.0.1:8000", "http://localhost:8000", 0},
	    {"127.0.0.1:8000", "http://127.0.0.1:8000.example.org", 0},
	    {"127.0.0.1:8000", "http://127.0.0.1:8000@example.org", 0},
	};
	struct nm_guard guard;
	struct nm_error err;

	(void)state;
	assert_int_equal(nm_guard_make(&guard, 8000, &err), 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (nm_guard_admits(&guard, cases[i].host, cases[i].origin) != cases[i].admitted)
			fail_msg("Host %s, Origin %s", cases[i].host, cases[i].origin);
}

static void test_token(void **state)
{
	struct nm_guard guard, other;
	struct nm_error err;
	char typed[40];

	(void)state;
	assert_int_equal(nm_guard_make(&guard, 1, &err), 0);
	assert_int_equal(nm_guard_make(&other, 1, &err), 0);
	assert_int_equal(strlen(guard.token), 32);
	assert_string_not_equal(guard.token, other.token);
	assert_true(nm_guard_knows(&guard, guard.token));
	assert_false(nm_guard_knows(&guard, other.token));
	assert_false(nm_guard_knows(&guard, NULL));
	assert_false(nm_guard_knows(&guard, ""));
	for (unsigned i = 0; i < 32; i++) {
		memcpy(typed, guard.token, sizeof guard.token);
		typed[i] ^= 1;
		assert_false(nm_guard_knows(&guard, typed));
		typed[i] = '\0';
		assert_false(nm_guard_knows(&guard, typed));
	}
}

/* ---- what is asked ---- */

static void test_numbers(void **state)
{
	static const struct {
		const char *text;
		int64_t number; /* -1: refused */
	} cases[] = {{"0", 0},    {"7", 7},    {"100", 100}, {"", 42},
		     {"101", -1}, {"-1", -1},  {"+7", -1},   {" 7", -1},
		     {"7 ", -1},  {"7e1", -1}, {"0x7", -1},  {"99999999999999999999", -1},
		     {"x", -1},   {"7;8", -1}};
	struct nm_error err;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct nm_request request = {.method = "GET", .path = "/", .body = ""};
		int64_t number = -1;

		nm_request_add(&request, "n", cases[i].text, &err);
		assert_int_equal(nm_request_number(&request, "n", 0, 100, 42, &number, &err),
				 cases[i].number < 0 ? NM_EINVAL : 0);
		assert_int_equal(number, cases[i].number);
	}
}

/* The same question has the same key, in whatever order and with whatever empty parameters it is asked. */
static void test_keys(void **state)
{
	static const char *const orders[][6] = {{"by", "a,b", "level", "L1 d", "filter", "<\xc3\xa9&"},
						{"filter", "<\xc3\xa9&", "by", "a,b", "level", "L1 d"}};
	struct nm_error err;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct nm_request request = {.method = "GET", .path = "/api/p/0/table", .body = ""};
		char *key;
		size_t bytes;
		FILE *out = open_memstream(&key, &bytes);

		for (unsigned k = 0; k < 6; k += 2) {
			assert_int_equal(nm_request_add(&request, orders[i][k], orders[i][k + 1], &err), 0);
			assert_int_equal(nm_request_add(&request, "empty", "", &err), 0);
		}
		nm_request_write_key(&request, out);
		assert_int_equal(nm_memstream_close(out, &key), 0);
		assert_string_equal(key, "GET /api/p/0/table?by=a%2Cb&filter=%3C%C3%A9%26&level=L1%20d");
		free(key);
		while (!nm_request_add(&request, "more", "1", &err))
			assert_true(request.count <= NM_REQUEST_PARAMETERS);
	}
}

/* ---- answers that are kept ---- */

static void keep(struct nm_view_cache *cache, const char *key)
{
	nm_view_cache_keep(cache, strdup(key), strdup(key), strlen(key));
}

static void test_recent_answers(void **state)
{
	struct nm_view_cache cache = {.clock = 0};
	char key[20];
	size_t bytes;

	(void)state;
	assert_null(nm_view_cache_find(&cache, "first", &bytes));
	keep(&cache, "first");
	for (unsigned i = 0; i < 10 * NM_CACHED_ANSWERS; i++) {
		snprintf(key, sizeof key, "answer %u", i);
		keep(&cache, key);
		assert_string_equal(nm_view_cache_find(&cache, key, &bytes), key);
		assert_int_equal(bytes, strlen(key));
		assert_string_equal(nm_view_cache_find(&cache, "first", &bytes),
				    "first"); /* it is asked for */
	}
	assert_null(nm_view_cache_find(&cache, "answer 0", &bytes)); /* nobody asked for it */
	nm_view_cache_done(&cache);
}

/* ---- routes ---- */

static struct nm_view *open_sample(void)
{
	static const char *const paths[] = {"view.nmp", "view.nmp"};
	struct nm_view *view = NULL;
	struct nm_error err;

	if (nm_sample_write(paths[0], &err) || nm_view_open(&view, paths, 2, &err))
		fail_msg("%s", err.text);
	return view;
}

static int ask(struct nm_view *view, const struct nm_request *request, char **ret_text)
{
	struct nm_error err;
	size_t bytes;
	FILE *out = open_memstream(ret_text, &bytes);
	int status = nm_view_answer(view, request, out, &err);

	assert_int_equal(nm_memstream_close(out, ret_text), 0);
	if (status)
		assert_true(strlen(err.text) > 5);
	return status;
}

static void test_routes(void **state)
{
	static const struct {
		const char *method, *path;
		int status;
	} cases[] = {
	    {"GET", "/api/session", 0},
	    {"GET", "/api/p/0/overview", 0},
	    {"GET", "/api/p/1/table", 0},
	    {"GET", "/api/p/1/evictions/lines", 0},
	    {"GET", "/api/p/1/sharing/lines", 0},
	    {"GET", "/api/compare", 0},
	    {"GET", "/api/p/2/overview", NM_ENOENT},
	    {"GET", "/api/p/-1/overview", NM_ENOENT},
	    {"GET", "/api/p/00/overview", NM_ENOENT},
	    {"GET", "/api/p//overview", NM_ENOENT},
	    {"GET", "/api/p/0overview", NM_ENOENT},
	    {"GET", "/api/p/0/", NM_ENOENT},
	    {"GET", "/api/p/0", NM_ENOENT},
	    {"GET", "/api/p/0/overview/", NM_ENOENT},
	    {"GET", "/api/p/0/nothing", NM_ENOENT},
	    {"GET", "/api/", NM_ENOENT},
	    {"GET", "", NM_ENOENT},
	    {"GET", "/api/d/state", NM_ENOENT},
	    {"POST", "/api/session", NM_EINVAL},
	    {"DELETE", "/api/p/0/table", NM_EINVAL},
	    {"GET", "/api/p/0/line", NM_EINVAL},
	};
	struct nm_view *view = open_sample();

	(void)state;
	for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) { /* twice: kept answers too */
		const size_t n = i % (sizeof cases / sizeof *cases);
		const struct nm_request request = {
		    .method = cases[n].method, .path = cases[n].path, .body = ""};
		char *text;

		if (ask(view, &request, &text) != cases[n].status)
			fail_msg("%s %s: %s", cases[n].method, cases[n].path, text);
		if (!cases[n].status) {
			json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

			assert_non_null(json);
			json_decref(json);
		}
		free(text);
	}
	while (nm_view_prepare(view))
		;
	nm_view_close(view);
}

/* ---- questions, and the file that holds their answers ---- */

struct asked {
	struct nm_view *view;
	unsigned count, about_files;
	json_t *keys;
};

/* Every question has an answer or a plain refusal, and is asked once. */
static int take_question(void *self, const struct nm_request *request, struct nm_error *err)
{
	struct asked *asked = self;
	char *key, *text;
	size_t bytes;
	FILE *out = open_memstream(&key, &bytes);
	int status;

	(void)err;
	nm_request_write_key(request, out);
	assert_int_equal(nm_memstream_close(out, &key), 0);
	if (json_object_get(asked->keys, key))
		fail_msg("%s is asked twice", key);
	json_object_set_new(asked->keys, key, json_true());
	status = ask(asked->view, request, &text);
	if (status && status != NM_EINVAL)
		fail_msg("%s: %d", key, status);
	asked->count++;
	asked->about_files += strstr(key, "/line?") || strstr(key, "/source?");
	free(key);
	free(text);
	return 0;
}

static void test_questions(void **state)
{
	struct asked asked = {.view = open_sample(), .keys = json_object()};
	struct nm_error err;

	(void)state;
	assert_int_equal(nm_view_questions(asked.view, take_question, &asked, &err), 0);
	assert_true(asked.count > 60 && asked.about_files > 4);
	assert_non_null(json_object_get(asked.keys, "GET /api/compare?a=0&b=1&by=object%2Cline&level=L1d"));
	json_decref(asked.keys);
	nm_view_close(asked.view);
}

/* An element with at least so many answers. */
static void check_answers(char *element, size_t least)
{
	char *answers = strchr(element, '>') + 1;
	json_t *json;

	*strstr(answers, "</script>") = '\0';
	assert_null(strchr(answers, '<')); /* names of templates have some */
	json = json_loads(answers, JSON_REJECT_DUPLICATES, NULL);
	assert_true(json_object_size(json) >= least);
	json_decref(json);
}

static void test_html(void **state)
{
	struct nm_view *view = open_sample();
	struct nm_error err;
	char *page = NULL, *more;
	size_t bytes;
	FILE *out = open_memstream(&page, &bytes);
	int status = nm_view_write_html(view, out, &err);

	(void)state;
	assert_int_equal(nm_memstream_close(out, &page), 0);
	if (!nm_n_assets) {
		assert_int_equal(status, NM_ENOENT);
	} else {
		assert_int_equal(status, 0);
		assert_true(bytes <= NM_HTML_LARGEST);
		more = strstr(page, "id=\"more-answers\">");
		assert_non_null(strstr(more, "std::vector\\u003c"));
		check_answers(more, 60);
		check_answers(strstr(page, "id=\"answers\">"), NM_VIEW_FIRST_QUESTIONS);
	}
	free(page);
	nm_view_close(view);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_hosts_and_origins), cmocka_unit_test(test_token),
	    cmocka_unit_test(test_numbers),           cmocka_unit_test(test_keys),
	    cmocka_unit_test(test_recent_answers),    cmocka_unit_test(test_routes),
	    cmocka_unit_test(test_questions),         cmocka_unit_test(test_html),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
