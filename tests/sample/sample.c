/* SPDX-License-Identifier: MIT
 *
 * sample.c - see sample.h. The figures obey the counting rules (cold + capacity + conflict = loads,
 * evictions <= loads), so that the samples pass the same laws as recorded profiles.
 */
#include "sample.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

static const struct nm_machine machine = {
    .name = "sample",
    .description = "two levels, made up for tests",
    .count = 2,
    .levels = {
	{.name = "L1d", .size = 32768, .ways = 8, .line = 64, .sets = 64, .side = NM_SIDE_DATA},
	{.name = "L2", .size = 1048576, .ways = 16, .line = 64, .sets = 1024, .side = NM_SIDE_UNIFIED}}};

#define LONG_NAME                                                                         \
	"std::vector<std::pair<std::__cxx11::basic_string<char, std::char_traits<char>, " \
	"std::allocator<char> >, unsigned long> >::push_back(std::pair<int, long> const&)"

static struct nm_result_object solver_objects[] = {
    {"matrix", NM_OBJECT_GLOBAL, "double [512][512]", 2097152, 0, 0, "/src/solver/solver.c:12", 0, 0},
    {"heap std::map<int, std::vector<long> >::insert (tree.cc:88)", NM_OBJECT_HEAP, NULL, 655360, 10240, 64,
     "/src/solver/tree.cc:88", 0, 0},
    {"gr\xc3\xb6\xc3\x9f"
     "e",
     NM_OBJECT_STATIC, "int", 4, 0, 0, "/src/solver/solver.c:14", 0, 0},
    {"stack of main", NM_OBJECT_STACK, NULL, 0, 0, 0, NULL, 0, 0},
    {"<unknown>", NM_OBJECT_UNKNOWN, NULL, 0, 0, 0, NULL, 0, 0},
};

#define SITE(function_, file_, module_, line_, address_)                                                    \
	{                                                                                                   \
		.function = function_, .file = file_, .module = module_, .line = line_, .address = address_ \
	}
static struct nm_result_site solver_sites[] = {
    SITE("multiply", "/src/solver/solver.c", "solver", 40, 0),
    SITE("multiply", "/src/solver/solver.c", "solver", 41, 0),
    SITE(LONG_NAME, "/usr/include/c++/12/bits/stl_vector.h", "solver", 1281, 0),
    SITE(LONG_NAME, "/usr/include/c++/12/bits/stl_vector.h", "libplugin.so", 1281, 0),
    SITE(NULL, NULL, "libc.so.6", 0, 0),
    SITE("memcpy", NULL, "libc.so.6", 0, 0),
};

static struct nm_result_attribution solver_attrs[] = {
    {1, 0, 0, 0}, {1, 1, 0, 0}, {2, 1, 0, 0}, {1, 2, 1, 0}, {1, 3, 1, 0},
    {1, 4, 4, 0}, {2, 5, 1, 0}, {1, 0, 2, 0}, {1, 0, 3, 0},
};

/* reads writes, misses of each, cold capacity conflict coherence, loads reuse used loaded, evictions
 * writebacks, weighted bytes */
static struct nm_counts solver_l1[] = {
    {400000, 0, 50000, 0, 4096, 45000, 904, 0, 50000, 400000, 3200000, 3200000, 49900, 0, 25600000, 0, 0, 0},
    {300000, 100000, 70000, 200, 16384, 53616, 200, 0, 70200, 400000, 561600, 4492800, 70000, 9000, 3200000,
     0, 0, 0},
    {150000, 50000, 35000, 100, 16384, 18616, 100, 0, 35100, 200000, 280800, 2246400, 35000, 4000, 1600000, 0,
     0, 0},
    {20000, 20000, 9000, 1000, 3000, 1000, 6000, 0, 10000, 30000, 160000, 640000, 9990, 900, 480000, 0, 0, 0},
    {2000, 2000, 900, 100, 0, 200, 800, 0, 1000, 3000, 16000, 64000, 1000, 90, 48000, 0, 0, 0},
    {500, 0, 7, 0, 7, 0, 0, 0, 7, 500, 60, 448, 0, 0, 4285, 0, 0, 0},
    {800, 800, 30, 10, 0, 40, 0, 0, 40, 1600, 2560, 2560, 40, 0, 102400, 0, 0, 0},
    {400000, 0, 1, 0, 1, 0, 0, 0, 1, 400000, 4, 64, 0, 0, 1600000, 0, 0, 0},
    {0},
};
static struct nm_counts solver_l2[] = {
    {50000, 0, 5000, 0, 4096, 904, 0, 0, 5000, 90000, 320000, 320000, 4000, 0, 5760000, 0, 0, 0},
    {70000, 200, 30000, 100, 16384, 13716, 0, 0, 30100, 100000, 240800, 1926400, 29000, 3000, 800000, 0, 0,
     0},
    {35000, 100, 17000, 50, 16384, 666, 0, 0, 17050, 60000, 136400, 1091200, 16000, 1000, 480000, 0, 0, 0},
    {9000, 1000, 2900, 100, 3000, 0, 0, 0, 3000, 12000, 48000, 192000, 0, 0, 192000, 0, 0, 0},
    {900, 100, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {7, 0, 7, 0, 7, 0, 0, 0, 7, 7, 60, 448, 0, 0, 60, 0, 0, 0},
    {30, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {1, 0, 1, 0, 1, 0, 0, 0, 1, 1, 4, 64, 0, 0, 4, 0, 0, 0},
    {0},
};
static struct nm_eviction solver_evictions[] = {
    {0, 1, 60000, 0}, {2, 1, 10000, 0}, {1, 0, 49000, 0}, {3, 0, 900, 0},  {1, 2, 35000, 0},
    {3, 3, 9000, 0},  {4, 3, 900, 0},   {1, 3, 90, 0},    {1, 4, 1000, 0}, {6, 6, 40, 0},
};
static struct nm_eviction solver_evictions2[] = {{1, 1, 29000, 0}, {1, 0, 4000, 0}, {0, 2, 16000, 0}};

/* Of the same line in two threads, and of another. */
static struct nm_result_strides solver_patterns[] = {
    {1, 100, 0, {{4096, 60}, {8, 30}}}, {0, 10, 0, {{0, 3}, {-8, 3}, {8, 3}}}, {2, 50, 0, {{8, 40}}}};

/* Of the buckets's nodes. Attribution keys 3 and 4 are one place, of which 6 has the object too; no field
 * of 6 was sampled. */
static struct nm_result_field solver_fields[] = {{1, "struct node", 64, "key", "long int", 0, 8, 900, 900},
						 {1, "struct node", 64, "place.x", "double", 8, 8, 900, 300},
						 {1, "struct node", 64, "name", "char[48]", 16, 48, 900, 9}};
static struct nm_result_field_use solver_field_uses[] = {
    {3, 0, {30, 0}, {{2, 0}}}, {3, 1, {10, 20}, {{1, 0}}}, {4, 0, {1, 1}, {{0, 1}}}};
static struct nm_result_affinity solver_affinities[] = {{0, 1, 300, 600, 40, 30}, {0, 2, 9, 891, 40, 0}};
static struct nm_result_lines solver_lines[] = {{1, 100, 900, 4000, 30, 80, 5}};

static struct nm_result_figure solver_figures[] = {{"pages", "touched", 0, 12}, {"pages", "touched", 1, 3}};
static const char *undebugged[] = {"/lib/x86_64-linux-gnu/libc.so.6", "/opt/vendor/libplugin.so"};

static struct nm_result_object cc1_objects[] = {
    {"heap ggc_alloc (ggc.c:7)", NM_OBJECT_HEAP, NULL, 4096, 1, 4096, "ggc.c:7", 0, 0}};
static struct nm_result_site cc1_sites[] = {SITE("ggc_alloc", "ggc.c", "cc1", 7, 0)};
static struct nm_result_attribution cc1_attrs[] = {{1, 0, 0, 0}};
static struct nm_counts cc1_l1[] = {{100, 100, 0, 64, 64, 0, 0, 0, 64, 200, 800, 4096, 0, 0, 2500, 0, 0, 0}};
static struct nm_counts cc1_l2[] = {{0, 64, 0, 64, 64, 0, 0, 0, 64, 64, 800, 4096, 0, 0, 800, 0, 0, 0}};

#define CC1(place, instruction_count)                                                                     \
	{                                                                                                 \
		.process = "cc1", .path = place, .command = "cc1 x.c", .instructions = instruction_count, \
		.references = 200, .objects = cc1_objects, .object_count = 1, .sites = cc1_sites,         \
		.site_count = 1, .attrs = cc1_attrs, .attr_count = 1, .levels = {                         \
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
     .attrs = solver_attrs,
     .attr_count = COUNT_OF(solver_attrs),
     .levels = {{.counts = solver_l1,
		 .evictions = solver_evictions,
		 .eviction_count = COUNT_OF(solver_evictions)},
		{.counts = solver_l2,
		 .evictions = solver_evictions2,
		 .eviction_count = COUNT_OF(solver_evictions2)}},
     .strides = solver_patterns,
     .stride_count = COUNT_OF(solver_patterns),
     .fields = solver_fields,
     .field_count = COUNT_OF(solver_fields),
     .field_uses = solver_field_uses,
     .field_use_count = COUNT_OF(solver_field_uses),
     .affinities = solver_affinities,
     .affinity_count = COUNT_OF(solver_affinities),
     .lines = solver_lines,
     .line_count = COUNT_OF(solver_lines),
     .figures = solver_figures,
     .figure_count = COUNT_OF(solver_figures),
     .undebugged = undebugged,
     .undebugged_count = COUNT_OF(undebugged)},
    CC1("0.2", 5000),
    CC1("0.10", 7000),
};

/* A function of examples/matrix.c as gcc -O1 makes it, a line of which loads, and code without symbols. */
static uint8_t walk_code[] = {0x48, 0x8d, 0x35, 0xf7, 0x37, 0x3d, 0x00, 0x48, 0x8d, 0xbe, 0xa0, 0x0f,
			      0x00, 0x00, 0xba, 0x00, 0x00, 0x00, 0x00, 0x48, 0x8d, 0x86, 0x00, 0xf7,
			      0xc2, 0xff, 0x48, 0x63, 0x08, 0x48, 0x01, 0xca, 0x48, 0x05, 0xa0, 0x0f,
			      0x00, 0x00, 0x48, 0x39, 0xf0, 0x75, 0xef, 0x48, 0x83, 0xc6, 0x04, 0x48,
			      0x39, 0xfe, 0x75, 0xdf, 0x48, 0x89, 0xd0, 0xc3};
static uint8_t call_code[] = {0xe8, 0x7a, 0x00, 0x00, 0x00, 0x8b, 0x04, 0x25, 0x00, 0x00, 0x00, 0x01, 0xc3};
static uint8_t plugin_code[] = {0x8b, 0x07, 0xc3, 0x06, 0x90}; /* 0x06 begins no instruction */
static uint8_t other_code[] = {0xb8, 0x07, 0x00, 0x00, 0x00, 0xc3};

static struct nm_result_line walk_lines[] = {{0x1182, "walk", "/src/solver/solver.c", 37},
					     {0x1195, "walk", "/src/solver/solver.c", 38},
					     {0x119c, "at", "/src/solver/solver.c", 41},
					     {0x11a2, "walk", "/src/solver/solver.c", 38},
					     {0x11b9, "walk", "/src/solver/solver.c", 42}};
static struct nm_result_line call_lines[] = {{0x1103, "main", "/src/solver/solver.c", 50}};
static struct nm_result_code walk_codes[] = {
    {"walk", "walk", 0x1182, sizeof walk_code, walk_code, walk_lines, COUNT_OF(walk_lines)},
    {"walk", "main", 0x1103, sizeof call_code, call_code, call_lines, COUNT_OF(call_lines)},
    {"libplugin.so", NULL, 0x2000, sizeof plugin_code, plugin_code, NULL, 0},
    {"libplugin.so", NULL, 0x2003, sizeof plugin_code - 3, plugin_code + 3, NULL, 0},
};
static struct nm_result_code other_codes[] = {
    {"walk", "main", 0x1103, sizeof other_code, other_code, NULL, 0}};
static struct nm_result_site walk_sites[] = {
    SITE("at", "/src/solver/solver.c", "walk", 41, 0x119c),
    SITE("walk", "/src/solver/solver.c", "walk", 42, 0x11b9),
    SITE("main", "/src/solver/solver.c", "walk", 50, 0x1108),
    SITE(NULL, NULL, "libplugin.so", 0, 0x2000),
    SITE(NULL, NULL, "libplugin.so", 0, 0x2003),
};
static struct nm_result_attribution walk_attrs[] = {{1, 0, 0, 0}, {1, 1, 3, 0}, {1, 2, 2, 0},
						    {2, 3, 0, 0}, {1, 0, 2, 0}, {2, 4, 0, 0}};
static struct nm_counts walk_l1[] = {
    {1000000, 0, 1000000, 0, 62500, 937500, 0, 0, 1000000, 1000000, 4000000, 64000000, 999700, 0, 4000000, 0,
     0, 0},
    {1, 0, 1, 0, 0, 1, 0, 0, 1, 1, 8, 64, 0, 0, 8, 0, 0, 0},
    {3000, 0, 3000, 0, 0, 0, 3000, 0, 3000, 3000, 12000, 192000, 3000, 0, 12000, 0, 0, 0},
    {9000, 0, 9000, 0, 9000, 0, 0, 0, 9000, 18000, 576000, 576000, 9000, 0, 1152000, 0, 0, 0},
    {20, 0, 20, 0, 20, 0, 0, 0, 20, 20, 80, 1280, 20, 0, 80, 0, 0, 0},
    {0, 40, 0, 1, 1, 0, 0, 0, 1, 40, 64, 64, 0, 1, 2560, 0, 0, 0},
};
static struct nm_counts walk_l2[6];

#define WALK(place, codes)                                                                                  \
	{                                                                                                   \
		.process = "walk", .path = place, .command = "./walk", .instructions = 5000000,             \
		.references = 1012061, .objects = solver_objects, .object_count = COUNT_OF(solver_objects), \
		.sites = walk_sites, .site_count = COUNT_OF(walk_sites), .attrs = walk_attrs,               \
		.attr_count = COUNT_OF(walk_attrs), .levels = {{.counts = walk_l1}, {.counts = walk_l2}},   \
		.by_instruction = 1, .code = codes, .code_count = COUNT_OF(codes)                           \
	}

static struct nm_result asm_results[NM_ASM_SAMPLES] = {WALK("0", walk_codes), WALK("0.1", other_codes)};

void nm_sample_add_up(struct nm_result *result, const struct nm_machine *on)
{
	unsigned level;
	size_t attr, i;

	result->machine = *on;
	for (level = 0; level < on->count; level++) {
		uint64_t *total = (uint64_t *)&result->levels[level].total;

		for (i = 0; i < sizeof(struct nm_counts) / sizeof *total; i++) {
			total[i] = 0;
			for (attr = 0; attr < result->attr_count; attr++)
				total[i] += ((uint64_t *)&result->levels[level].counts[attr])[i];
		}
	}
}

const struct nm_result *nm_asm_sample(unsigned i)
{
	nm_sample_add_up(&asm_results[i], &machine);
	return &asm_results[i];
}

const struct nm_result *nm_sample(unsigned i)
{
	nm_sample_add_up(&results[i], &machine);
	return &results[i];
}

static int write_samples(const char *path, const struct nm_result *(*sample)(unsigned i), unsigned count,
			 const char *command, struct nm_error *err)
{
	const char *const info[][2] = {
	    {"command", command}, {"collector", "valgrind"}, {"nearmiss_version", "0.1.0"}};
	struct nm_profile_writer *writer;
	int status = nm_profile_writer_new(&writer, path, err);
	unsigned i;

	if (status)
		return status;
	for (i = 0; i < count && !status; i++)
		status = nm_profile_writer_add(writer, sample(i), err);
	for (i = 0; i < COUNT_OF(info) && !status; i++)
		status = nm_profile_writer_info(writer, info[i][0], info[i][1], err);
	if (!status)
		return nm_profile_writer_commit(writer, err);
	nm_profile_writer_abort(writer);
	return status;
}

int nm_sample_write(const char *path, struct nm_error *err)
{
	return write_samples(path, nm_sample, NM_SAMPLES, "./solver 512", err);
}

int nm_asm_sample_write(const char *path, struct nm_error *err)
{
	return write_samples(path, nm_asm_sample, NM_ASM_SAMPLES, "./solver 512", err);
}

int nm_shared_sample_write(const char *path, struct nm_error *err)
{
	return write_samples(path, nm_shared_sample, 1, "./server 3", err);
}
