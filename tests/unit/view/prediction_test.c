/* SPDX-License-Identifier: MIT
 *
 * prediction_test.c - the process of a prediction, of which a script plays the command; and the members that a layout
 * moves.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "prediction.h"
#include "temporary_folder.h"
#include "view_json.h"

/* It says how far it is, waits for the file "go", then says what is in "said" and ends with the status there. */
static const char script[] = "#!/bin/sh\n"
			     "printf '%s\\n' \"$*\" >asked\n"
			     "printf '\\r\\033[Knearmiss: 0.5 M references, 1.0 M/s' >&2\n"
			     "printf '\\r\\033[Knearmiss: 1.5 M references, 1.0 M/s' >&2\n"
			     "while ! [ -e go ]; do sleep 0.01; done\n"
			     "printf '\\r\\033[K' >&2\n"
			     "cat said >&2\n"
			     "printf '{}'\n"
			     "exit $(cat status)\n";

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static int set_up(void **state)
{
	if (enter_temporary_folder(state))
		return -1;
	write_file("program", script);
	return chmod("program", 0700);
}

static struct nm_prediction_request request_of(const char *candidate)
{
	return (struct nm_prediction_request){"./program", "run.nmt", "L1d=32K,8,64", candidate, 3};
}

static void wait_for_end(struct nm_prediction *p)
{
	for (int i = 0; i < 6000 && p->state == NM_PREDICTION_RUNS; i++) {
		usleep(10000);
		nm_prediction_look(p);
	}
	assert_int_not_equal(p->state, NM_PREDICTION_RUNS);
}

/* Starts the script, whose progress is seen, and lets it end. */
static void run_to_end(struct nm_prediction *p, const char *said, const char *status)
{
	const struct nm_prediction_request request = request_of("reorder struct s: b, a");
	uint64_t references = 0;
	struct nm_error err;
	char *text;

	unlink("go");
	write_file("said", said);
	write_file("status", status);
	assert_int_equal(nm_prediction_start(p, &request, &err), 0);
	for (int i = 0; i < 6000 && references != 1500000; i++) {
		usleep(10000);
		assert_int_equal(nm_prediction_messages(p, &text, &references, &err), 0);
		assert_string_equal(text, "");
		free(text);
	}
	assert_int_equal(references, 1500000);
	assert_int_equal(nm_prediction_start(p, &request, &err), NM_EINVAL);
	assert_non_null(strstr(err.text, "another prediction runs"));
	write_file("go", "");
	wait_for_end(p);
}

static void test_done_and_failed(void **state)
{
	struct nm_prediction p = {.state = NM_PREDICTION_NONE};
	uint64_t references;
	struct nm_error err;
	char *text, asked[200];
	FILE *file;

	(void)state;
	run_to_end(&p, "nearmiss: reorder: a part of it stays\n", "0");
	assert_int_equal(p.state, NM_PREDICTION_DONE);
	assert_int_equal(p.profile, 3);
	assert_int_equal(nm_prediction_messages(&p, &text, &references, &err), 0);
	assert_string_equal(text, "reorder: a part of it stays");
	free(text);
	assert_int_equal(nm_prediction_output(&p, &text, &err), 0);
	assert_string_equal(text, "{}");
	free(text);
	file = fopen("asked", "r");
	assert_non_null(file);
	assert_non_null(fgets(asked, sizeof asked, file));
	fclose(file);
	assert_string_equal(
	    asked, "whatif --progress --format=json --cache L1d=32K,8,64 --apply reorder struct s: b, a -- "
		   "run.nmt\n");
	run_to_end(&p, "nearmiss: it is wrong\n  here\n", "2");
	assert_int_equal(p.state, NM_PREDICTION_FAILED);
	assert_int_equal(nm_prediction_messages(&p, &text, &references, &err), 0);
	assert_string_equal(text, "it is wrong\n  here");
	free(text);
	nm_prediction_done(&p);
}

static void test_cancel(void **state)
{
	const struct nm_prediction_request request = request_of("soa struct s");
	struct nm_prediction p = {.state = NM_PREDICTION_NONE};
	struct nm_error err;

	(void)state;
	unlink("go");
	nm_prediction_cancel(&p);
	assert_int_equal(p.state, NM_PREDICTION_NONE);
	assert_int_equal(nm_prediction_start(&p, &request, &err), 0);
	nm_prediction_cancel(&p);
	assert_int_equal(p.state, NM_PREDICTION_CANCELLED);
	assert_int_equal(kill(p.process, 0), -1); /* it is gone, and nothing is left to wait for */
	nm_prediction_done(&p);
}

/* A text of a page names no file to read. */
static void test_refused(void **state)
{
	static const char *const texts[] = {"", "@/etc/hostname", "--help", "reorder", "reorder struct s"};
	struct nm_prediction p = {.state = NM_PREDICTION_NONE};
	struct nm_error err;

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		const struct nm_prediction_request request = request_of(texts[i]);

		assert_int_equal(nm_prediction_start(&p, &request, &err), NM_EINVAL);
		assert_int_equal(p.state, NM_PREDICTION_NONE);
	}
}

static void test_members(void **state)
{
	json_t *structure =
	    json_loads("{\"type\": \"struct s\", \"size\": 104, \"fields\": ["
		       "{\"name\": \"flag\", \"offset\": 0, \"size\": 1, \"field_type\": \"char\"},"
		       "{\"name\": \"place.x\", \"offset\": 8, \"size\": 8, \"field_type\": \"double\"},"
		       "{\"name\": \"place.kind\", \"offset\": 16, \"size\": 2, \"field_type\": \"short\"},"
		       "{\"name\": \"name\", \"offset\": 24, \"size\": 12, \"field_type\": \"char[12]\"},"
		       "{\"name\": \"all|half\", \"offset\": 36, \"size\": 4, \"field_type\": null},"
		       "{\"name\": \"cells[].next\", \"offset\": 40, \"size\": 16, \"field_type\": \"int\"},"
		       "{\"name\": \"cells[].size\", \"offset\": 44, \"size\": 16, \"field_type\": \"int\"},"
		       "{\"name\": \"last\", \"offset\": 72, \"size\": 32, \"field_type\": \"long[4]\"}]}",
		       0, NULL);
	json_t *wanted = json_loads(
	    "[{\"name\": \"flag\", \"offset\": 0, \"size\": 1, \"align\": 1, \"estimated\": false},"
	    "{\"name\": \"place\", \"offset\": 8, \"size\": 10, \"align\": 8, \"estimated\": false},"
	    "{\"name\": \"name\", \"offset\": 24, \"size\": 12, \"align\": 1, \"estimated\": false},"
	    "{\"name\": \"all|half\", \"offset\": 36, \"size\": 4, \"align\": 4, \"estimated\": false},"
	    "{\"name\": \"cells\", \"offset\": 40, \"size\": 32, \"align\": 8, \"estimated\": true},"
	    "{\"name\": \"last\", \"offset\": 72, \"size\": 32, \"align\": 8, \"estimated\": false}]",
	    0, NULL);
	struct nm_error err;

	(void)state;
	assert_non_null(structure);
	assert_non_null(wanted);
	assert_int_equal(nm_view_add_members(structure, &err), 0);
	assert_true(json_equal(json_object_get(structure, "members"), wanted));
	json_decref(structure);
	json_decref(wanted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_done_and_failed),
	    cmocka_unit_test(test_cancel),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_members),
	};

	return cmocka_run_group_tests(tests, set_up, remove_temporary_folder);
}
