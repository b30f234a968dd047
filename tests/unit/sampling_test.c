/* SPDX-License-Identifier: MIT
 *
 * sampling_test.c - events of processors as Linux describes them, and samples written as perf.data.
 *
 * The descriptions are those of an Intel processor (Sapphire Rapids) and of AMD's IBS; the expected bits follow
 * from their formats by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "perf.h"
#include "pmu.h"
#include "stream.h"
#include "temporary_folder.h"

static void write_file(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fprintf(out, "%s\n", text);
	fclose(out);
}

static void make_devices(void)
{
	static const char *const folders[] = {"cpu", "cpu/events", "cpu/format", "ibs_op", "ibs_op/format"};
	static const char *const files[][2] = {{"cpu/type", "4"},
					       {"cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3"},
					       {"cpu/events/edge", "event=0x1,edge"},
					       {"cpu/events/other", "event=0xcd,nothing=1"},
					       {"cpu/format/event", "config:0-7,32-35"},
					       {"cpu/format/umask", "config:8-15"},
					       {"cpu/format/edge", "config:18"},
					       {"cpu/format/ldlat", "config1:0-15"},
					       {"cpu/format/bad", "config:70"},
					       {"cpu/format/strange", "config9:1"},
					       {"ibs_op/type", "11"},
					       {"ibs_op/format/cnt_ctl", "config:19"}};

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		mkdir(folders[i], 0700);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		write_file(files[i][0], files[i][1]);
}

static void events_of_devices(void **state)
{
	struct perf_event_attr attr = {0};

	(void)state;
	make_devices();
	assert_true(nm_pmu_event("cpu", "mem-loads", &attr));
	assert_int_equal(attr.type, 4);
	assert_int_equal(attr.config, 0x1cd);
	assert_int_equal(attr.config1, 3);
	assert_true(nm_pmu_term("cpu", "ldlat", 30, &attr));
	assert_int_equal(attr.config1, 30);
	assert_true(nm_pmu_term("cpu", "event", 0xa05, &attr)); /* in two ranges of bits */
	assert_true(attr.config == (0xaull << 32 | 0x105));
	attr = (struct perf_event_attr){0};
	assert_true(nm_pmu_event("cpu", "edge", &attr));
	assert_int_equal(attr.config, 1 << 18 | 1);
	attr = (struct perf_event_attr){0};
	assert_true(nm_pmu_type("ibs_op", &attr) && nm_pmu_term("ibs_op", "cnt_ctl", 1, &attr));
	assert_int_equal(attr.type, 11);
	assert_int_equal(attr.config, 1 << 19);
	assert_false(nm_pmu_event("cpu", "mem-stores", &attr));
	assert_false(nm_pmu_event("cpu", "other", &attr)); /* a term without a format */
	assert_false(nm_pmu_event("arm_spe_0", "loads", &attr));
	assert_false(nm_pmu_term("cpu", "bad", 1, &attr));
	assert_false(nm_pmu_term("cpu", "strange", 1, &attr));
}

/* A stream with a lost record and nothing else: the reader knows the event, the command and the loss. */
static void stream_is_perf_data(void **state)
{
	static char program[] = "./app", argument[] = "two words";
	char *const command[] = {program, argument, NULL};
	struct nm_sampled_event event = {.kind = NM_SAMPLED_FAULTS, .name = "page-faults"};
	FILE *out = fopen("stream", "w");
	struct nm_perf_record record;
	struct nm_perf *perf;
	struct nm_error err;

	(void)state;
	event.attr.size = sizeof event.attr;
	event.attr.type = PERF_TYPE_SOFTWARE;
	event.attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	event.attr.sample_period = 7;
	event.attr.sample_type =
	    PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	event.attr.sample_id_all = 1;
	assert_int_equal(nm_stream_begin(out, &event, command, &err), 0);
	assert_int_equal(nm_stream_lost(out, 12), 0);
	assert_int_equal(nm_stream_round(out), 0);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(nm_perf_open(&perf, "stream", &err), 0);
	assert_int_equal(nm_perf_next(perf, &record, &err), 1);
	assert_int_equal(record.kind, NM_PERF_LOST);
	assert_int_equal(record.lost, 12);
	assert_int_equal(nm_perf_next(perf, &record, &err), 0);
	assert_string_equal(nm_perf_event_at(perf, 0)->name, "page-faults");
	assert_int_equal(nm_perf_event_at(perf, 0)->period, 7);
	assert_null(nm_perf_event_at(perf, 1));
	assert_string_equal(nm_perf_origin_of(perf).command, "./app two words");
	assert_non_null(nm_perf_origin_of(perf).host);
	nm_perf_free(perf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(events_of_devices),
					   cmocka_unit_test(stream_is_perf_data)};

	return cmocka_run_group_tests(tests, enter_temporary_folder, remove_temporary_folder);
}
