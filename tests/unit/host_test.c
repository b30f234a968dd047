/* SPDX-License-Identifier: MIT
 *
 * host_test.c - the host's caches from directories in the shape of Linux's.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "host.h"
#include "temporary_folder.h"

/* A value of "" leaves the file out. */
static void put(unsigned index, const char *name, const char *value)
{
	char path[80];
	FILE *file;

	snprintf(path, sizeof path, "index%u", index);
	mkdir(path, 0777);
	if (!*value)
		return;
	snprintf(path, sizeof path, "index%u/%s", index, name);
	file = fopen(path, "w");
	fprintf(file, "%s\n", value);
	fclose(file);
}

static void cache(unsigned index, const char *level, const char *type, const char *size, const char *ways,
		  const char *line)
{
	put(index, "level", level);
	put(index, "type", type);
	put(index, "size", size);
	put(index, "ways_of_associativity", ways);
	put(index, "coherency_line_size", line);
}

static const char *spec(void)
{
	static char text[300];
	struct nm_machine machine;
	struct nm_error err;

	if (nm_machine_from_sysfs(".", &machine, &err))
		return "none";
	assert_string_equal(machine.name, "host");
	nm_machine_format(&machine, text, sizeof text);
	return text;
}

static void clear(void) { assert_int_equal(system("rm -rf ./*"), 0); }

#if defined(__x86_64__)
#define PREFETCHERS ":prefetchers=pair+stream+stride:tlb=1536"
#else
#define PREFETCHERS ":prefetchers=stream+stride:tlb=1536"
#endif

static void test_usual(void **state)
{
	(void)state;
	clear();
	cache(0, "1", "Data", "48K", "12", "64");
	cache(1, "1", "Instruction", "32K", "8", "64");
	cache(2, "2", "Unified", "1280K", "20", "64");
	cache(3, "3", "Unified", "60M", "15", "64");
	assert_string_equal(spec(), "L1i=32K,8,64:L1d=48K,12,64:L2=1280K,20,64:L3=60M,15,64" PREFETCHERS);
}

static void test_order_of_folders_does_not_matter(void **state)
{
	(void)state;
	clear();
	cache(0, "3", "Unified", "8192K", "16", "64");
	cache(1, "2", "Unified", "256K", "4", "64");
	cache(2, "1", "Instruction", "32K", "8", "64");
	cache(3, "1", "Data", "32K", "8", "64");
	assert_string_equal(spec(), "L1i=32K,8,64:L1d=32K,8,64:L2=256K,4,64:L3=8M,16,64" PREFETCHERS);
}

static void test_fully_associative(void **state)
{
	(void)state;
	clear();
	cache(0, "1", "Data", "4K", "0", "64");
	assert_string_equal(spec(), "L1d=4K,full,64" PREFETCHERS);
}

static void test_incomplete(void **state)
{
	(void)state;
	clear();
	assert_string_equal(spec(), "none");
	cache(0, "1", "Data", "32K", "8", "");
	cache(1, "2", "Unified", "", "8", "64");
	cache(2, "x", "Unified", "1M", "8", "64");
	cache(3, "3", "Strange", "1M", "8", "64");
	assert_string_equal(spec(), "none");
	cache(4, "1", "Data", "32K", "8", "64");
	assert_string_equal(spec(), "L1d=32K,8,64" PREFETCHERS);
}

static void test_this_host(void **state)
{
	struct nm_machine machine;
	struct nm_error err;

	(void)state;
	assert_int_equal(nm_machine_host(&machine, &err), 0);
	assert_int_equal(nm_machine_check(&machine, &err), 0);
	assert_true(machine.count > 0);
	assert_true(strlen(machine.description) > 0);
}

/* The file of latencies in the cache folder; it has the host's levels. */
static const char *kept(void)
{
	static char path[300];
	DIR *folder = opendir("cache");

	*path = '\0';
	for (struct dirent *e; folder && (e = readdir(folder));)
		if (!strncmp(e->d_name, "host-", 5))
			snprintf(path, sizeof path, "cache/%s", e->d_name);
	if (folder)
		closedir(folder);
	return path;
}

static struct nm_machine known(void)
{
	struct nm_machine host;

	assert_int_equal(nm_machine_parse("L1d=32K,8,64:L2=256K,8,64:memory=9:walk=8", &host, NULL), 0);
	nm_latencies_know(&host);
	return host;
}

/* Measured latencies are kept; what the file says holds, unless it is of other caches or damaged. */
static void test_latencies(void **state)
{
	static const char *const useless[] = {"L1d=16K,8,64:L2=256K,8,64,latency=7:memory=70\n", "damaged\n",
					      ""};
	char folder[300];
	struct nm_machine first, again;
	FILE *file;

	(void)state;
	assert_non_null(getcwd(folder, sizeof folder - 10));
	strcat(folder, "/cache");
	assert_int_equal(setenv("NEARMISS_CACHE_DIR", folder, 1), 0);
	first = known();
	again = known();
	assert_true(*kept());
	assert_memory_equal(&first, &again, sizeof first);
#if defined(__x86_64__)
	assert_true(first.levels[1].latency > 5 && first.levels[1].latency < first.memory_latency);
#endif
	for (unsigned i = 0; i < sizeof useless / sizeof *useless; i++) {
		file = fopen(kept(), "w");
		fputs(useless[i], file);
		fclose(file);
		again = known();
		assert_true(again.levels[1].latency != 7 && again.memory_latency != 70);
	}
	file = fopen(kept(), "w");
	fputs("L1d = 32K, 8, 64\nL2 = 256K, 8, 64, latency=7 # mine\nwalk=30\nmemory=70\n", file);
	fclose(file);
	again = known();
	assert_int_equal(again.levels[1].latency, 7);
	assert_int_equal(again.memory_latency, 70);
	assert_int_equal(again.walk_latency, 30);
}

/* Where nothing can be kept, nothing is measured. */
static void test_no_latencies(void **state)
{
	static const char *const folders[] = {"", "/proc/none"};

	(void)state;
	for (unsigned i = 0; i < sizeof folders / sizeof *folders; i++) {
		assert_int_equal(setenv("NEARMISS_CACHE_DIR", folders[i], 1), 0);
		assert_int_equal(known().memory_latency, 9);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_usual),
	    cmocka_unit_test(test_order_of_folders_does_not_matter),
	    cmocka_unit_test(test_fully_associative),
	    cmocka_unit_test(test_incomplete),
	    cmocka_unit_test(test_this_host),
	    cmocka_unit_test(test_latencies),
	    cmocka_unit_test(test_no_latencies),
	};

	return cmocka_run_group_tests(tests, enter_temporary_folder, remove_temporary_folder);
}
