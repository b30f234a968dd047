/* SPDX-License-Identifier: MIT
 *
 * sample.c - see sample.h.  The figures obey the counting rules (cold + capacity + conflict = loads,
 * evictions <= loads), so that the samples pass the same laws as recorded profiles.
 */
#include "sample.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

static const struct nm_machine machine = {.name = "sample",
					  .description = "two levels, made up for tests",
					  .count = 2,
					  .levels = {{"L1d", 32768, 8, 64, 64, NM_SIDE_DATA, 0},
						     {"L2", 1048576, 16, 64, 1024, NM_SIDE_UNIFIED, 0}}};

#define LONG_NAME                                                                         \
	"std::vector<std::pair<std::__cxx11::basic_string<char, std::char_traits<char>, " \
	"std::allocator<char> >, unsigned long> >::push_back(std::pair<int, long> const&)"

static struct nm_result_object solver_objects[] = {
    {"matrix", NM_OBJECT_GLOBAL, "double [512][512]", 2097152, 0, 0, "/src/solver/solver.c:12"},
    {"heap std::map<int, std::vector<long> >::insert (tree.cc:88)", NM_OBJECT_HEAP, NULL, 655360, 10240, 64,
     "/src/solver/tree.cc:88"},
    {"gr\xc3\xb6\xc3\x9f"
     "e",
     NM_OBJECT_STATIC, "int", 4, 0, 0, "/src/solver/solver.c:14"},
    {"stack of main", NM_OBJECT_STACK, NULL, 0, 0, 0, NULL},
    {"<unknown>", NM_OBJECT_UNKNOWN, NULL, 0, 0, 0, NULL},
};

static struct nm_result_site solver_sites[] = {
    {"multiply", "/src/solver/solver.c", "solver", 40, 0},
    {"multiply", "/src/solver/solver.c", "solver", 41, 0},
    {LONG_NAME, "/usr/include/c++/12/bits/stl_vector.h", "solver", 1281, 0},
    {LONG_NAME, "/usr/include/c++/12/bits/stl_vector.h", "libplugin.so", 1281, 0},
    {NULL, NULL, "libc.so.6", 0, 0},
    {"memcpy", NULL, "libc.so.6", 0, 0},
};

static struct nm_result_cell solver_cells[] = {
    {1, 0, 0}, {1, 1, 0}, {2, 1, 0}, {1, 2, 1}, {1, 3, 1}, {1, 4, 4}, {2, 5, 1}, {1, 0, 2}, {1, 0, 3},
};

/* reads writes, misses of each, cold capacity conflict coherence, loads reuse used loaded, evictions writebacks */
static struct nm_counts solver_l1[] = {
    {400000, 0, 50000, 0, 4096, 45000, 904, 0, 50000, 400000, 3200000, 3200000, 49900, 0},
    {300000, 100000, 70000, 200, 16384, 53616, 200, 0, 70200, 400000, 561600, 4492800, 70000, 9000},
    {150000, 50000, 35000, 100, 16384, 18616, 100, 0, 35100, 200000, 280800, 2246400, 35000, 4000},
    {20000, 20000, 9000, 1000, 3000, 1000, 6000, 0, 10000, 30000, 160000, 640000, 9990, 900},
    {2000, 2000, 900, 100, 0, 200, 800, 0, 1000, 3000, 16000, 64000, 1000, 90},
    {500, 0, 7, 0, 7, 0, 0, 0, 7, 500, 60, 448, 0, 0},
    {800, 800, 30, 10, 0, 40, 0, 0, 40, 1600, 2560, 2560, 40, 0},
    {400000, 0, 1, 0, 1, 0, 0, 0, 1, 400000, 4, 64, 0, 0},
    {0},
};
static struct nm_counts solver_l2[] = {
    {50000, 0, 5000, 0, 4096, 904, 0, 0, 5000, 90000, 320000, 320000, 4000, 0},
    {70000, 200, 30000, 100, 16384, 13716, 0, 0, 30100, 100000, 240800, 1926400, 29000, 3000},
    {35000, 100, 17000, 50, 16384, 666, 0, 0, 17050, 60000, 136400, 1091200, 16000, 1000},
    {9000, 1000, 2900, 100, 3000, 0, 0, 0, 3000, 12000, 48000, 192000, 0, 0},
    {900, 100, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {7, 0, 7, 0, 7, 0, 0, 0, 7, 7, 60, 448, 0, 0},
    {30, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {1, 0, 1, 0, 1, 0, 0, 0, 1, 1, 4, 64, 0, 0},
    {0},
};
static struct nm_eviction solver_evictions[] = {
    {0, 1, 60000}, {2, 1, 10000}, {1, 0, 49000}, {3, 0, 900},  {1, 2, 35000},
    {3, 3, 9000},  {4, 3, 900},   {1, 3, 90},    {1, 4, 1000}, {6, 6, 40},
};
static struct nm_eviction solver_evictions2[] = {{1, 1, 29000}, {1, 0, 4000}, {0, 2, 16000}};

static const char *undebugged[] = {"/lib/x86_64-linux-gnu/libc.so.6", "/opt/vendor/libplugin.so"};

static struct nm_result_object cc1_objects[] = {
    {"heap ggc_alloc (ggc.c:7)", NM_OBJECT_HEAP, NULL, 4096, 1, 4096, "ggc.c:7"}};
static struct nm_result_site cc1_sites[] = {{"ggc_alloc", "ggc.c", "cc1", 7, 0}};
static struct nm_result_cell cc1_cells[] = {{1, 0, 0}};
static struct nm_counts cc1_l1[] = {{100, 100, 0, 64, 64, 0, 0, 0, 64, 200, 800, 4096, 0, 0}};
static struct nm_counts cc1_l2[] = {{0, 64, 0, 64, 64, 0, 0, 0, 64, 64, 800, 4096, 0, 0}};

#define CC1(place, instruction_count)                                                                     \
	{                                                                                                 \
		.process = "cc1", .path = place, .command = "cc1 x.c", .instructions = instruction_count, \
		.references = 200, .objects = cc1_objects, .object_count = 1, .sites = cc1_sites,         \
		.site_count = 1, .cells = cc1_cells, .cell_count = 1, .levels = {                         \
			{.counts = cc1_l1},                                                               \
			{.counts = cc1_l2}                                                                \
		}                                                                                         \
	}

static struct nm_result results[NM_SAMPLES] = {
    {.process = "solver",
     .path = "0",
     .command = "./solver 512",
     .instructions = 8000000,
     .references = 1446100,
     .objects = solver_objects,
     .object_count = COUNT_OF(solver_objects),
     .sites = solver_sites,
     .site_count = COUNT_OF(solver_sites),
     .cells = solver_cells,
     .cell_count = COUNT_OF(solver_cells),
     .levels = {{.counts = solver_l1,
		 .evictions = solver_evictions,
		 .eviction_count = COUNT_OF(solver_evictions)},
		{.counts = solver_l2,
		 .evictions = solver_evictions2,
		 .eviction_count = COUNT_OF(solver_evictions2)}},
     .undebugged = undebugged,
     .undebugged_count = COUNT_OF(undebugged)},
    CC1("0.2", 5000),
    CC1("0.10", 7000),
};

static void add_up(struct nm_result *result)
{
	unsigned level;
	size_t cell, i;

	result->machine = machine;
	for (level = 0; level < machine.count; level++) {
		uint64_t *total = (uint64_t *)&result->levels[level].total;

		for (i = 0; i < sizeof(struct nm_counts) / sizeof *total; i++) {
			total[i] = 0;
			for (cell = 0; cell < result->cell_count; cell++)
				total[i] += ((uint64_t *)&result->levels[level].counts[cell])[i];
		}
	}
}

const struct nm_result *nm_sample(unsigned i)
{
	add_up(&results[i]);
	return &results[i];
}

int nm_sample_write(const char *path, struct nm_error *err)
{
	static const char *const info[][2] = {
	    {"command", "./solver 512"}, {"collector", "valgrind"}, {"nearmiss_version", "0.1.0"}};
	struct nm_profile_writer *writer;
	int rc = nm_profile_writer_new(&writer, path, err);
	unsigned i;

	if (rc)
		return rc;
	for (i = 0; i < NM_SAMPLES && !rc; i++) /* the last one first: the order must not matter */
		rc = nm_profile_writer_add(writer, nm_sample(NM_SAMPLES - 1 - i), err);
	for (i = 0; i < COUNT_OF(info) && !rc; i++)
		rc = nm_profile_writer_info(writer, info[i][0], info[i][1], err);
	if (!rc)
		return nm_profile_writer_commit(writer, err);
	nm_profile_writer_abort(writer);
	return rc;
}
