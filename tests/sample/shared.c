/* SPDX-License-Identifier: MIT
 *
 * shared.c - a result with three threads on cores of their own: two read the key of a session beside which the
 * third counts hits, and all take a lock. The session has holes, an array of structures and three uses of fields.
 */
#include <stddef.h>

#include "sample.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

enum { SESSION = 104, SESSIONS = 64 };
enum { START, SERVE, SERVE_TOO, COUNT, LOCK, LOCK_TOO };

static struct nm_result_object objects[] = {
    {"sessions", NM_OBJECT_GLOBAL, "struct session[64]", SESSION *SESSIONS, 0, 0, "/src/server.c:9", 0, 0},
    {"lock", NM_OBJECT_GLOBAL, "int", 4, 0, 0, "/src/server.c:10", 0, 0},
};
static struct nm_result_site sites[] = {
    {.function = "main", .file = "/src/server.c", .module = "server", .line = 20},
    {.function = "serve", .file = "/src/server.c", .module = "server", .line = 40},
    {.function = "count", .file = "/src/server.c", .module = "server", .line = 51},
    {.function = "acquire", .file = "/src/server.c", .module = "server", .line = 60},
};
static struct nm_result_thread threads[] = {{1, 0}, {2, 1}, {3, 2}};
static struct nm_result_attribution attrs[] = {
    [START] = {1, 0, 0, 0}, [SERVE] = {1, 1, 0, 0}, [SERVE_TOO] = {2, 1, 0, 0},
    [COUNT] = {3, 2, 0, 0}, [LOCK] = {2, 3, 1, 0},  [LOCK_TOO] = {3, 3, 1, 0},
};

/* As in sample.c. */
static struct nm_counts first[] = {
    [START] = {0, 192, 0, 104, 104, 0, 0, 0, 104, 192, 1536, 6656, 0, 0, 12288, 0, 0, 0},
    [SERVE] = {40000, 0, 900, 0, 0, 0, 0, 900, 900, 40000, 7200, 57600, 0, 0, 320000, 0, 0, 0},
    [SERVE_TOO] = {50000, 0, 700, 0, 1, 0, 0, 699, 700, 50000, 11200, 44800, 0, 0, 400000, 0, 0, 0},
    [COUNT] = {20000, 20000, 800, 0, 1, 0, 0, 799, 800, 40000, 6400, 51200, 0, 0, 320000, 0, 0, 0},
    [LOCK] = {300, 300, 150, 0, 1, 0, 0, 149, 150, 600, 600, 9600, 0, 0, 2400, 0, 0, 0},
    [LOCK_TOO] = {300, 300, 150, 0, 0, 0, 0, 150, 150, 600, 600, 9600, 0, 0, 2400, 0, 0, 0},
};
static struct nm_counts second[] = {
    [START] = {0, 104, 0, 104, 104, 0, 0, 0, 104, 104, 1536, 6656, 0, 0, 1536, 0, 0, 0},
    [SERVE] = {900, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    [SERVE_TOO] = {700, 0, 1, 0, 1, 0, 0, 0, 1, 700, 16, 64, 0, 0, 5600, 0, 0, 0},
    [COUNT] = {800, 0, 1, 0, 1, 0, 0, 0, 1, 800, 8, 64, 0, 0, 6400, 0, 0, 0},
    [LOCK] = {150, 0, 1, 0, 1, 0, 0, 0, 1, 150, 4, 64, 0, 0, 600, 0, 0, 0},
    [LOCK_TOO] = {150, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
};

#define FIELD(name, type, offset, bytes)                                           \
	{                                                                          \
		0, "struct session", SESSION, name, type, offset, bytes, 1600, 800 \
	}
static struct nm_result_field fields[] = {
    FIELD("key", "long int", 0, 8),
    FIELD("hits", "long int", 8, 8),
    FIELD("state", "char", 16, 1),
    FIELD("next", "struct session *", 24, 8),
    FIELD("name", "char[32]", 32, 32),
    FIELD("slots[].low", "int", 64, 12),
    FIELD("slots[].high", "short int", 68, 6),
    FIELD("notify", "void (*)(struct session *, int)", 88, 8),
    FIELD("open|dirty", "unsigned int", 96, 1),
};
enum { KEY, HITS, STATE, NEXT };
static struct nm_result_field_use uses[] = {
    {START, KEY, {0, 8}, {{0, 1}}},        {START, NEXT, {0, 8}, {{0, 0}}},
    {SERVE, KEY, {400, 0}, {{9, 0}}},      {SERVE_TOO, KEY, {400, 0}, {{7, 0}}},
    {SERVE_TOO, NEXT, {100, 0}, {{0, 0}}}, {COUNT, HITS, {200, 200}, {{8, 0}}},
};

enum { LINE = 0x404080, LOCK_LINE = 0x404b00 };
#define TOUCH(attr, field, at, ...)                                                           \
	{                                                                                     \
		{LINE + (at), attr, 8, __VA_ARGS__}, at, "struct session", field, SESSION, at \
	}
static struct nm_result_touch touches[] = {
    TOUCH(SERVE, "key", 0, 40000, 0, 900, 900, 0),
    TOUCH(SERVE_TOO, "key", 0, 40000, 0, 699, 699, 0),
    TOUCH(COUNT, "hits", 8, 20000, 20000, 799, 799, 1599),
    {{LOCK_LINE, LOCK, 4, 300, 300, 149, 0, 150}, 0, NULL, NULL, 0, 0},
    {{LOCK_LINE, LOCK_TOO, 4, 300, 300, 150, 0, 149}, 0, NULL, NULL, 0, 0},
};
static struct nm_contention_pair pairs[] = {
    {LINE, COUNT, SERVE, 3, 1, 900, 0, 0, 0},
    {LINE, COUNT, SERVE_TOO, 3, 2, 699, 799, 0, 800},
    {LINE, SERVE, COUNT, 1, 3, 0, 900, 800, 0},
    {LINE, SERVE_TOO, COUNT, 2, 3, 0, 699, 0, 0},
    {LOCK_LINE, LOCK, LOCK_TOO, 4, 5, 150, 149, 149, 0},
    {LOCK_LINE, LOCK_TOO, LOCK, 5, 4, 149, 150, 150, 0},
};
static struct nm_result_coherence coherence = {.block = 64,
					       .touches = touches,
					       .touch_count = COUNT_OF(touches),
					       .pairs = pairs,
					       .pair_count = COUNT_OF(pairs)};

static struct nm_result result = {
    .process = "server",
    .path = "0",
    .command = "./server 3",
    .instructions = 600000,
    .references = 131592,
    .objects = objects,
    .object_count = COUNT_OF(objects),
    .sites = sites,
    .site_count = COUNT_OF(sites),
    .threads = threads,
    .thread_count = COUNT_OF(threads),
    .order = {.quantum = 1},
    .attrs = attrs,
    .attr_count = COUNT_OF(attrs),
    .levels = {{.counts = first}, {.counts = second}},
    .fields = fields,
    .field_count = COUNT_OF(fields),
    .field_uses = uses,
    .field_use_count = COUNT_OF(uses),
    .coherence = &coherence,
    .coherence_count = 1,
};

const struct nm_result *nm_shared_sample(unsigned i)
{
	struct nm_machine machine;
	struct nm_error err;

	(void)i;
	if (nm_machine_parse("L1d=32K,8,64,protocol=mesi:L2=1M,16,64", &machine, &err))
		return NULL;
	nm_machine_set_cores(&machine, COUNT_OF(threads));
	nm_sample_add_up(&result, &machine);
	return &result;
}
