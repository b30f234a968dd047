/* SPDX-License-Identifier: MIT
 *
 * advice_test.c - which rule speaks for which figures, and that it tells them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "advice.h"
#include "text.h"

/* A level as in docs/advice.md. */
#define L1 .level = "L1d", .level_size = 32768, .line_size = 64, .last_size = 1048576

static const struct {
	const char *cause;
	struct nm_evidence evidence;
	const char *told[4];
} cases[] = {
    {"one field", /* other lines use more of the structure */
     {L1, .object = "graph", .type = "Vertex[]", .bytes = 4800000, .loads = 100, .misses = 100,
      .capacity = 100, .waste = 94, .walked = 1, .structure = 80, .hot_fields = "name, distance",
      .hot_types = "std::string | int", .hot_bytes = 60, .line_field = "distance", .line_field_loads = 90,
      .line_field_bytes = 4},
     {"90 % of the loads here are for distance, 4 of the 80 bytes", "array of its own"}},
    {"large elements", /* a heap of whole events */
     {L1, .object = "queue", .type = "Event[]", .bytes = 4800000, .loads = 100, .misses = 100,
      .capacity = 100, .reads = 50, .writes = 50, .waste = 40, .structure = 96, .hot_fields = "time, payload",
      .hot_types = "double | double[10]", .hot_bytes = 88, .inner = "void std::__adjust_heap<Event>(Event)"},
     {"by its name, this function puts elements of 96 bytes in order (50 %", "keys with indices"}},
    {"large elements", /* by a function of any name */
     {L1, .object = "heap", .type = "struct timer[]", .bytes = 4800000, .loads = 100, .misses = 100,
      .capacity = 100, .covered = 60, .reads = 50, .writes = 50, .waste = 24, .walked = 1, .strided = 1,
      .follow = 4, .structure = 128, .hot_fields = "label, when", .hot_types = "char[112] | long",
      .hot_bytes = 128},
     {"128 bytes are written about as often as they are read, in no order"}},
    {"too large", /* particles in order: nothing moves them */
     {L1,
      .object = "particles",
      .type = "struct particle[]",
      .bytes = 40000,
      .loads = 2000,
      .misses = 2000,
      .capacity = 2000,
      .covered = 1800,
      .reads = 50,
      .writes = 50,
      .waste = 0,
      .walked = 1,
      .load_step = 64,
      .load_follow = 99,
      .strided = 1,
      .follow = 99,
      .stride = 8,
      .structure = 64,
      .hot_fields = "x, v",
      .hot_types = "double[4] | double[4]",
      .hot_bytes = 64},
     {"smaller"}},
    {"wide nodes", /* a trie */
     {L1, .object = "node", .type = "trie::Node", .bytes = 15581808, .blocks = 72138, .loads = 100,
      .misses = 100, .capacity = 100, .waste = 86, .walked = 1, .structure = 216, .hot_fields = "children",
      .hot_types = "[core::option::Option<alloc::boxed::Box<trie::Node, alloc::alloc::Global>>; 26]",
      .hot_bytes = 208},
     {"216 bytes has an array of links (children), and 86 %", "4-byte indices"}},
    {"short chains", /* of a hash table, whose elements are in a list, too */
     {L1, .object = "e", .type = "struct entry", .bytes = 4000000, .blocks = 30000, .loads = 100,
      .misses = 100, .capacity = 100, .dependent = 67, .waste = 77, .walked = 1, .structure = 120,
      .hot_fields = "chain, before, after", .hot_types = "struct entry * | struct entry * | struct entry *",
      .hot_bytes = 24},
     {"along chains of few nodes"}},
    {"dependent loads", /* no field leads to another element */
     {L1, .object = "map", .type = "City[]", .bytes = 6000000, .loads = 100, .misses = 100, .capacity = 100,
      .dependent = 86, .waste = 80, .walked = 1, .structure = 120, .hot_fields = "name, best",
      .hot_types = "std::string | float", .hot_bytes = 36},
     {"86 % of the loads wait"}},
    {"container", /* of Rust */
     {L1, .object = "counts", .kind = "heap", .type = "hashbrown::raw::RawTable<(u64, u32)>",
      .bytes = 4194304, .blocks = 17, .loads = 100, .misses = 100, .capacity = 90, .waste = 70},
     {"the table of a HashMap or HashSet: 70 %", "with_capacity"}},
    {"other threads", {L1, .object = "sums", .loads = 100, .coherence = 60}, {"60 %", "64 bytes"}},
    {"allocator",
     {L1, .object = "<heap bookkeeping>", .kind = "anonymous", .misses = 77, .loads = 77, .waste = 80},
     {"77 misses", "pool"}},
    {"dynamic linking",
     {L1, .object = "libc.so.6 .gnu.hash", .kind = "library data", .misses = 9, .loads = 9, .cold = 9},
     {"dynamic linker"}},
    {"dynamic linking",
     {L1, .object = "ld-linux-x86-64.so.2 .rodata", .kind = "library data", .misses = 2, .loads = 2,
      .waste = 62},
     {"2 misses of the dynamic linker"}},
    {"library data",
     {L1, .object = "libc.so.6 .rodata", .kind = "library data", .loads = 9, .conflict = 9, .waste = 25},
     {"75 %"}},
    {"stack frame", {L1, .object = "stack of f", .kind = "stack", .loads = 9, .cold = 9}, {"first touches"}},
    {"stack frame",
     {L1, .object = "stack of f", .kind = "stack", .loads = 9, .capacity = 9},
     {"make local arrays smaller"}},
    {"stack frame",
     {L1, .object = "<thread stacks>", .kind = "anonymous", .loads = 9, .capacity = 9},
     {"100 %", "bring the frame back"}},
    {"unnamed memory", {L1, .object = "<unknown>", .kind = "unknown", .misses = 5, .loads = 5}, {"client.h"}},
    {"code",
     {L1, .object = "code of cc1", .kind = "code", .misses = 5, .loads = 5, .cold = 5},
     {"-fprofile"}},
    {"pages",
     {.level = "tlb/L2", .level_size = 6291456, .line_size = 4096, .misses = 70, .loads = 70, .waste = 75},
     {"70 pages were not in tlb/L2, and 25 %", "side by side", "--huge-pages 2M"}},
    {"row length",
     {L1, .type = "double [512][512]", .bytes = 2097152, .loads = 100, .conflict = 80, .waste = 87.5},
     {"4096 bytes", "interchange", "pad the last dimension to 520"}},
    {"row length",
     {L1, .type = "real(8) (512,100)", .bytes = 409600, .loads = 100, .conflict = 80},
     {"4096 bytes", "pad the first dimension to 520"}},
    {"same sets", /* rows of 500 * 8 bytes are no power of two */
     {L1, .type = "double [512][500]", .bytes = 2048000, .loads = 100, .conflict = 80},
     {"80 %", "pad it"}},
    {"step length", /* the rows of a heap block */
     {L1, .kind = "heap", .blocks = 1, .bytes = 1 << 20, .largest = 1 << 20, .loads = 100, .conflict = 80,
      .walked = 1, .load_step = 4096, .load_follow = 90},
     {"steps of 4096 bytes", "64 bytes longer"}},
    {"rivals",
     {L1, .object = "a", .loads = 100, .conflict = 80, .evictions = 100, .evictor = "b", .evictor_count = 90},
     {"those of b", "evicted 90 %", "64 bytes more at the end of each"}},
    {"rivals", /* its rows are a power of two, but it is walked along them and others push it out */
     {L1, .object = "a", .type = "real(8) (512,100)", .bytes = 409600, .loads = 100, .conflict = 80,
      .evictions = 100, .evictor = "b", .evictor_count = 40, .walked = 1, .load_step = 64, .load_follow = 99},
     {"those of b"}},
    {"same sets", /* its rows are a power of two, but it is walked along them */
     {L1, .type = "real(8) (512,100)", .bytes = 409600, .loads = 100, .conflict = 80, .walked = 1,
      .load_step = 64, .load_follow = 99},
     {"pad it"}},
    {"uneven sets", /* hot entries of a table, at random places */
     {L1, .type = "double [512][512]", .bytes = 2097152, .loads = 100, .conflict = 80, .walked = 1,
      .load_step = 4096, .load_follow = 3},
     {"80 %", "follow no order", "side by side"}},
    {"uneven sets", /* where only the steps of accesses are known */
     {L1, .type = "double [512]", .bytes = 4096, .loads = 100, .conflict = 80, .strided = 1, .follow = 3},
     {"80 %"}},
    {"uneven sets", /* nodes of which no steps are known */
     {L1, .kind = "heap", .blocks = 1000, .bytes = 64000, .largest = 64, .loads = 100, .conflict = 80},
     {"80 %"}},
    {"uneven sets", /* two such tables */
     {L1, .object = "a", .loads = 100, .conflict = 80, .evictions = 100, .evictor = "b", .evictor_count = 90,
      .walked = 1, .load_follow = 3},
     {", of b too"}},
    {"list", /* a ring whose nodes a fully associative cache would hold */
     {L1, .type = "struct node [4096]", .bytes = 262144, .structure = 64, .loads = 100, .conflict = 80,
      .dependent = 100, .waste = 75, .walked = 1, .load_follow = 3},
     {"in the order in which they are visited"}},
    {"container",
     {L1, .kind = "heap", .blocks = 1000, .bytes = 48000, .largest = 48, .loads = 100, .waste = 75,
      .inner = "std::_Rb_tree_increment(std::_Rb_tree_node_base*)"},
     {"1000 blocks of a std::map", "48 bytes", "sorted std::vector"}},
    {"container", /* its members are the library's: no advice to split or reorder them */
     {L1, .kind = "heap", .type = "std::_List_node<Event>", .blocks = 1000, .bytes = 96000, .largest = 96,
      .loads = 100, .waste = 75, .structure = 96, .hot_fields = "_M_next", .hot_bytes = 8,
      .cold_fields = "_M_storage", .cold_bytes = 80, .member_bytes = 60, .packed = 64},
     {"std::list", "std::vector"}},
    {"container",
     {L1, .kind = "heap", .type = "alloc::collections::btree::node::LeafNode<u64, u64>", .blocks = 1000,
      .bytes = 290000, .largest = 376, .loads = 100, .waste = 73, .structure = 376, .hot_fields = "keys",
      .hot_bytes = 88},
     {"BTreeMap", "sorted Vec"}},
    {"gaps", /* a node of the program's own, in a function of a container */
     {L1, .kind = "heap", .type = "struct mine", .function = "std::list<int>::sort()", .blocks = 1,
      .bytes = 4000, .loads = 100, .covered = 80, .waste = 75, .used = 16, .walked = 1, .load_follow = 20},
     {"cover 80 %", "only 16 of 64 bytes"}},
    {"sparse use", /* structures of a library, without advice of its container */
     {L1, .kind = "heap", .type = "std::vector<int>", .blocks = 1, .bytes = 2400, .loads = 100, .waste = 75,
      .structure = 24, .hot_fields = "_M_start", .hot_bytes = 8},
     {"no pattern"}},
    {"dependent loads",
     {L1, .type = "int [1048576]", .bytes = 4 << 20, .loads = 100, .dependent = 90, .waste = 90, .walked = 1},
     {"90 %", "several such chains"}},
    {"index chain", /* as the particles of linked cells */
     {L1, .type = "int [1048576]", .bytes = 4 << 20, .loads = 100, .dependent = 90, .waste = 90, .walked = 1,
      .unordered = "particles", .unordered_loads = 60},
     {"90 %", "loads particles without order", "order in which they are visited"}},
    {"dependent loads", /* the other object is loaded too seldom */
     {L1, .type = "int [1048576]", .bytes = 4 << 20, .loads = 100, .dependent = 90, .waste = 90, .walked = 1,
      .unordered = "particles", .unordered_loads = 40},
     {"90 %"}},
    {"dependent loads", /* of what holds more than integers, the index may lie elsewhere, */
     {L1, .type = "double [1048576]", .bytes = 8 << 20, .loads = 100, .dependent = 90, .waste = 90,
      .walked = 1, .unordered = "particles", .unordered_loads = 60},
     {"90 %"}},
    {"dependent loads", /* and what is unknown may be a table of hashes */
     {L1, .bytes = 8 << 20, .loads = 100, .dependent = 60, .waste = 80, .walked = 1, .unordered = "t",
      .unordered_loads = 60},
     {"60 %"}},
    {"binary search",
     {L1, .kind = "heap", .type = "unsigned int[]", .blocks = 1, .bytes = 32 << 20, .loads = 100,
      .capacity = 30, .conflict = 70, .waste = 92, .used = 5, .walked = 1, .strided = 1, .halved = 74},
     {"74 % of its steps are half", "B-tree", "its 32M are more pages"}},
    {"uneven sets", /* random steps: some happen to be halves */
     {L1, .kind = "heap", .type = "unsigned int[]", .blocks = 1, .bytes = 32 << 20, .loads = 100,
      .capacity = 30, .conflict = 70, .waste = 92, .used = 5, .walked = 1, .strided = 1, .halved = 20},
     {"conflicts"}},
    {"components", /* of Fortran's derived types: the elements, */
     {L1, .kind = "heap", .object = "m (f.f90:2)", .blocks = 1, .bytes = 20 << 20, .loads = 100,
      .capacity = 100, .waste = 30, .walked = 1, .component = "m(j)%v (f.f90:3)"},
     {"as m(j)%v (f.f90:3)", "in the type itself"}},
    {"components", /* and what is allocated for each */
     {L1, .kind = "heap", .object = "m(j)%v (f.f90:3)", .blocks = 1000, .bytes = 24000, .loads = 100,
      .capacity = 100, .waste = 30},
     {"1000 blocks of 24 bytes", "one array"}},
    {"first touch", /* in order, with gaps */
     {L1, .kind = "heap", .blocks = 1, .bytes = 4 << 20, .loads = 100, .cold = 100, .covered = 90,
      .waste = 90, .used = 4, .walked = 1, .load_follow = 20},
     {"100 % of the loads are first touches"}},
    {"padding",
     {L1, .kind = "heap", .type = "struct body", .blocks = 1, .bytes = 56000, .loads = 100, .waste = 50,
      .structure = 56, .hot_fields = "x, y", .hot_bytes = 16, .member_bytes = 28, .packed = 32},
     {"28 of the 56 bytes", "has 32 bytes", "x, y"}},
    {"short runs", /* as probes of a table */
     {L1, .kind = "heap", .type = "Entry", .blocks = 1, .bytes = 4 << 20, .loads = 100, .covered = 90,
      .waste = 70, .structure = 16, .walked = 1, .load_step = 64, .load_follow = 95, .strided = 1,
      .stride = 16, .follow = 95},
     {"16 bytes on, about 20 times in a row", "rehash"}},
    {"gaps", /* the same in one long scan */
     {L1, .kind = "heap", .type = "Entry", .blocks = 1, .bytes = 4 << 20, .loads = 100, .covered = 99,
      .waste = 70, .used = 19, .structure = 16, .walked = 1, .load_step = 64, .load_follow = 99, .strided = 1,
      .stride = 16, .follow = 99.99},
     {"only 19 of 64 bytes"}},
    {"long steps", /* columns of rows that are blocks, whose lines stay until the next column */
     {L1, .kind = "heap", .blocks = 500, .bytes = 500 * 4000, .largest = 4000, .loads = 100, .waste = 40,
      .walked = 1, .load_step = 4016, .load_follow = 80},
     {"80 % of the loads step 4016 bytes"}},
    {"long steps", /* the accesses of a stencil load in turn, and each of them steps to the next row */
     {L1, .type = "real(8)[]", .blocks = 1, .bytes = 13 << 20, .loads = 100, .covered = 3, .waste = 81,
      .walked = 1, .load_step = 1920, .strided = 1, .stride = 115200, .follow = 99},
     {"99 % of the accesses step 115200 bytes", "order of the loops"}},
    {"scattered", /* the accesses of a line of code step, but within lines */
     {L1, .type = "real(8)[]", .blocks = 1, .bytes = 13 << 20, .loads = 100, .covered = 3, .waste = 81,
      .walked = 1, .load_step = 1920, .strided = 1, .stride = 8, .follow = 60},
     {"follow no order"}},
    {"gaps", /* other passes use the rest */
     {L1, .kind = "heap", .type = "unsigned char[]", .blocks = 1, .bytes = 1 << 20, .loads = 64 << 10,
      .covered = 60 << 10, .capacity = 64 << 10, .waste = 95, .used = 3, .walked = 1},
     {"only 3 of 64 bytes", "if other passes use it", "block by block"}},
    {"cleared",
     {L1, .inner = "__memset_avx2_unaligned_erms", .type = "int [1000000]", .bytes = 4000000,
      .misses = 625000, .write_misses = 625000, .loads = 625000, .capacity = 600000, .evictions = 1},
     {"about 10 times", "number of the round"}},
    {"list",
     {L1, .kind = "heap", .blocks = 1000, .bytes = 16000, .largest = 16, .loads = 100, .dependent = 95,
      .covered = 2, .waste = 75, .walked = 1},
     {"95 %", "in the order in which they are visited"}},
    {"list", /* of nodes of two lines, of which the second is covered */
     {L1, .kind = "heap", .blocks = 1000, .bytes = 48000, .largest = 48, .loads = 100, .dependent = 45,
      .covered = 55, .waste = 87, .walked = 1},
     {"45 %", "more buckets"}},
    {"small blocks", /* nearly all of them covered */
     {L1, .kind = "heap", .blocks = 1000, .bytes = 48000, .largest = 48, .loads = 100, .dependent = 15,
      .covered = 85, .waste = 87, .walked = 1},
     {"side by side"}},
    {"tree", /* of which a search takes one of two ways */
     {L1, .kind = "heap", .type = "struct node", .blocks = 1000, .bytes = 24000, .largest = 24, .loads = 100,
      .dependent = 95, .covered = 2, .waste = 75, .walked = 1, .structure = 24,
      .hot_fields = "left, right, key", .hot_types = "struct node * | struct node * | unsigned int"},
     {"95 %", "down a tree (most accesses are to left, right, key)", "several keys in a node"}},
    {"tree", /* or one of an array */
     {L1, .kind = "heap", .type = "struct node", .blocks = 1000, .bytes = 80000, .largest = 80, .loads = 100,
      .dependent = 95, .waste = 40, .walked = 1, .structure = 80, .hot_fields = "children",
      .hot_types = "struct node *[8]"},
     {"most accesses are to children"}},
    {"list", /* linked in both directions, with other nodes */
     {L1, .kind = "heap", .type = "struct node", .blocks = 1000, .bytes = 32000, .largest = 32, .loads = 100,
      .dependent = 95, .waste = 75, .walked = 1, .structure = 32, .hot_fields = "next, prev, owner",
      .hot_types = "struct node * | struct node * | struct node_owner *"},
     {"from node to node"}},
    {"short chains",
     {L1, .kind = "heap", .blocks = 1000, .bytes = 24000, .largest = 24, .loads = 100, .dependent = 60,
      .waste = 60, .walked = 1},
     {"60 %", "open addressing"}},
    {"small blocks", /* visited in order: nothing waits */
     {L1, .kind = "heap", .blocks = 1000, .bytes = 16000, .largest = 16, .loads = 100, .covered = 95,
      .waste = 75, .walked = 1, .load_step = 96, .load_follow = 99},
     {"pool"}},
    {"small blocks", /* blocks that the program gave one name */
     {L1, .object = "nodes", .kind = "named", .blocks = 1000, .bytes = 24000, .loads = 100, .capacity = 90,
      .waste = 60},
     {"1000 blocks"}},
    {"scattered",
     {L1, .type = "double [1048576]", .bytes = 8 << 20, .loads = 100, .waste = 87, .walked = 1,
      .load_follow = 1},
     {"no order", "87 %", "sort"}},
    {"scattered", /* two dimensions, but no step: not a matter of loops */
     {L1, .type = "int [1000][1000]", .bytes = 4000000, .loads = 100, .waste = 93, .reuse = 1, .walked = 1,
      .load_step = 4000, .load_follow = 10},
     {"no order"}},
    {"passes twice",
     {L1, .object = "u", .function = "step", .type = "double [400000]", .bytes = 3200000, .loads = 100,
      .capacity = 90, .covered = 95, .walked = 1, .load_step = 64, .load_follow = 99, .line = 26,
      .other_line = 28, .other_function = "step", .other_loads = 100, .evictions = 100, .evictor = "v",
      .evictor_count = 80},
     {"line 28 of step", "where lines 26 and 28 are two loops", "join the two loops"}},
    {"evicted by rival", /* the other line is elsewhere */
     {L1, .object = "u", .function = "step", .type = "double [400000]", .bytes = 3200000, .loads = 100,
      .capacity = 90, .covered = 95, .walked = 1, .line = 26, .other_line = 28, .other_function = "start",
      .other_loads = 100, .evictions = 100, .evictor = "v", .evictor_count = 80},
     {"v"}},
    {"same sets",
     {L1, .kind = "heap", .blocks = 4, .bytes = 65536, .largest = 16384, .loads = 100, .conflict = 80},
     {"16384 bytes"}},
    {"small blocks",
     {L1, .kind = "heap", .blocks = 1000, .bytes = 24000, .largest = 24, .loads = 100, .waste = 60},
     {"1000 blocks of 24 bytes", "60 %", "pool"}},
    {"small blocks", /* side by side in malloc's 32 bytes, all used, one line not to the end */
     {L1, .kind = "heap", .blocks = 1000, .bytes = 24000, .largest = 24, .loads = 100, .waste = 24.9},
     {"25 %"}},
    {"fields apart",
     {L1, .kind = "heap", .blocks = 1000, .bytes = 96000, .largest = 96, .loads = 100, .waste = 75,
      .structure = 96, .hot_fields = "key, weight", .hot_bytes = 16, .cold_fields = "name", .cold_bytes = 64,
      .far_field = "key", .far_other = "weight", .far_bytes = 88, .far_visits = 500, .far_both = 95,
      .most_visits = 800},
     {"88 bytes apart", "structure of 96", "95 %", "struct { key, weight } of 16 bytes"}},
    {"unused fields", /* these are too seldom used together */
     {L1, .kind = "heap", .blocks = 1000, .bytes = 96000, .largest = 96, .loads = 100, .waste = 75,
      .structure = 96, .hot_fields = "key, weight", .hot_bytes = 16, .cold_fields = "name", .cold_bytes = 64,
      .cold_used = 2, .far_field = "key", .far_other = "weight", .far_bytes = 88, .far_visits = 500,
      .far_both = 49, .most_visits = 500},
     {"key, weight (16 of 96 bytes)", "name (64 bytes)", "2 %", "struct { key, weight } of 16 bytes"}},
    {"unused fields", /* or when the elements are made, and hardly afterwards */
     {L1, .kind = "heap", .blocks = 1000, .bytes = 96000, .largest = 96, .loads = 100, .waste = 75,
      .structure = 96, .hot_fields = "key, weight", .hot_bytes = 16, .far_field = "key",
      .far_other = "weight", .far_bytes = 88, .far_visits = 500, .far_both = 95, .most_visits = 1000},
     {"key, weight (16 of 96 bytes)"}},
    {"unused fields", /* declared, and with padding */
     {L1, .file = "a.c", .kind = "heap", .type = "struct s", .blocks = 1000, .bytes = 96000, .largest = 96,
      .loads = 100, .waste = 75, .structure = 96, .hot_fields = "key, at.n, flags",
      .hot_types = "char *[2] | int | ?", .hot_bytes = 21, .hot_structure = 24},
     {"key, at.n, flags (21 of 96 bytes)", "struct { char *key[2]; int at_n; flags; } of 24 bytes"}},
    {"small blocks", /* too few cold bytes */
     {L1, .kind = "heap", .blocks = 1000, .bytes = 32000, .largest = 32, .loads = 100, .waste = 50,
      .structure = 32, .hot_fields = "key", .hot_bytes = 20, .cold_fields = "name", .cold_bytes = 12},
     {"1000 blocks of 32 bytes"}},
    {"pointer array",
     {L1, .type = "struct node *[1024]", .bytes = 8192, .loads = 100, .waste = 60},
     {"60 %", "one array"}},
    {"sparse use", /* blocks of which nothing tells that they are structures */
     {L1, .kind = "heap", .blocks = 1000, .bytes = 200000, .loads = 100, .waste = 75, .used = 16},
     {"75 %"}},
    {"sparse use", /* of wide numbers */
     {L1, .type = "vector [100]", .bytes = 10400, .loads = 100, .waste = 75, .used = 16},
     {"75 %"}},
    {"sparse use", /* accesses follow no step: nothing that loops could change */
     {L1, .type = "int [1000][1000]", .bytes = 4000000, .loads = 100, .waste = 93.75, .reuse = 1,
      .strided = 1, .follow = 2},
     {"94 %"}},
    {"across rows",
     {L1, .type = "int [1000][1000]", .bytes = 4000000, .loads = 100, .waste = 93.75, .reuse = 1},
     {"1.0 accesses", "94 %", "the last subscript"}},
    {"across rows",
     {L1, .type = "int [1000][1000]", .bytes = 4000000, .loads = 100, .waste = 93.75, .reuse = 2,
      .stride = 4000, .follow = 99.9},
     {"100 % of the accesses step 4000 bytes", "interchange"}},
    {"long steps",
     {L1, .kind = "heap", .blocks = 1, .bytes = 4000000, .loads = 100, .waste = 75, .stride = -512,
      .follow = 50},
     {"50 % of the accesses step -512 bytes", "75 %", "if that is the size of an element", "side by side"}},
    {"long steps", /* from element to element, of which no field stands out */
     {L1, .type = "struct inst [1000]", .bytes = 512000, .loads = 100, .waste = 75, .structure = 512,
      .hot_fields = "u", .hot_bytes = 500, .stride = 512, .follow = 80},
     {"what is read here of each element in an array of its own, or"}},
    {"long steps", /* rows of numbers */
     {L1, .type = "double [100000]", .bytes = 800000, .loads = 100, .waste = 75, .stride = 4000,
      .follow = 80},
     {"never used: change the order of the loops"}},
    {"sparse use", /* the step stays within a line */
     {L1, .kind = "heap", .blocks = 1, .bytes = 4000000, .loads = 100, .waste = 75, .stride = 56,
      .follow = 90},
     {"75 %"}},
    {"sparse use", /* a line serves more than one pass over a column would */
     {L1, .type = "int [1000][1000]", .bytes = 4000000, .loads = 100, .waste = 93.75, .reuse = 2},
     {"94 %", "report patterns"}},
    {"sparse use", {L1, .kind = "anonymous", .loads = 100, .waste = 66}, {"66 %", "report fields"}},
    {"write stream",
     {L1, .kind = "heap", .bytes = 4 << 20, .blocks = 1, .loads = 100, .misses = 100, .write_misses = 100,
      .writes = 800, .reuse = 8},
     {"4M", "leave L1d", "last one has 1M"}},
    {"first touch", /* blocks of 26 KB that are freed and given out again and again */
     {L1, .kind = "heap", .bytes = 64 << 20, .blocks = 2500, .touched = 26624, .loads = 100, .misses = 100,
      .cold = 60, .write_misses = 100, .writes = 800, .reuse = 8},
     {"60 %"}},
    {"first touch", /* the same where it is not known how much of them is used */
     {L1, .kind = "heap", .bytes = 64 << 20, .blocks = 2500, .largest = 26624, .loads = 100, .misses = 100,
      .cold = 60, .write_misses = 100, .writes = 800, .reuse = 8},
     {"60 %"}},
    {"too large", /* the last cache holds it: past the caches it would be read from memory */
     {
	 L1,
	 .kind = "heap",
	 .bytes = 1 << 20,
	 .blocks = 1,
	 .loads = 100,
	 .misses = 100,
	 .capacity = 90,
	 .write_misses = 100,
	 .writes = 800,
	 .reuse = 8,
     },
     {"90 %"}},
    {"too large",
     {L1, .object = "u", .type = "double [100][100]", .bytes = 80000, .loads = 10000, .capacity = 7000,
      .evictions = 100, .evictor = "u", .evictor_count = 30, .walked = 1, .covered = 9000, .load_step = 64,
      .load_follow = 90},
     {"70 %", "78.1K in 32K", "in order about 8 times", "tiles"}},
    {"too large", /* in which order is not known */
     {L1, .object = "u", .type = "double [100][100]", .bytes = 80000, .loads = 10000, .capacity = 7000,
      .evictions = 100, .evictor = "u", .evictor_count = 30},
     {"nearmiss evictions"}},
    {"too large", /* of which another loop loads as much */
     {L1, .object = "u", .type = "double [100][100]", .bytes = 80000, .loads = 100, .capacity = 70,
      .evictions = 100, .evictor = "u", .evictor_count = 30, .function = "relax", .other_line = 7,
      .other_function = "residual", .other_loads = 50},
     {"line 7 of residual loads 50 % as much of it"}},
    {"too large", /* it pushes out a quarter of its own lines, */
     {L1, .object = "a", .loads = 100, .capacity = 90, .evictions = 100, .evictor = "a", .evictor_count = 25},
     {"90 %", "its own other lines"}},
    {"mixed", /* or less than that */
     {L1, .object = "a", .loads = 100, .capacity = 90, .evictions = 100, .evictor = "a", .evictor_count = 24},
     {"90 %"}},
    {"too large", /* declared for larger problems */
     {L1, .object = "u", .type = "double [20480][1024]", .bytes = 160 << 20, .touched = 40 << 10,
      .loads = 100, .capacity = 70},
     {", 40K that are used in 32K"}},
    {"mixed",
     {L1, .object = "u", .type = "double [20480][1024]", .bytes = 160 << 20, .touched = 8 << 10, .loads = 100,
      .capacity = 70},
     {"70 %"}},
    {"too large",
     {L1, .kind = "heap", .bytes = 80000, .blocks = 2000, .loads = 100, .capacity = 70},
     {"2000 blocks of 40 bytes"}},
    {"evicted by rival",
     {L1, .object = "u", .loads = 100, .capacity = 70, .evictions = 100, .evictor = "v", .evictor_count = 80},
     {"80 %", "evicted by v"}},
    {"mixed", {L1, .object = "u", .bytes = 100, .loads = 100, .capacity = 70}, {"70 %"}},
    {"does not stay", {L1, .function = "step", .loads = 100, .capacity = 70}, {"70 %"}},
    {"first touch", {L1, .kind = "mapped", .loads = 100, .cold = 90}, {"90 %", "mapped file"}},
    {"first touch",
     {L1, .kind = "heap", .blocks = 500, .bytes = 500000, .loads = 100, .cold = 90},
     {"500 blocks", "use them again"}},
    {"first touch", {L1, .kind = "global", .loads = 100, .cold = 90}, {"fetch it ahead"}},
    {"mixed",
     {L1, .loads = 100, .cold = 30, .capacity = 30, .conflict = 40},
     {"cold 30 %", "capacity 30 %", "conflict 40 %"}},
};

static void test_rules(void **state)
{
	size_t i, j;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct nm_rule *rule = nm_rule_for(&cases[i].evidence);
		char *text = NULL;
		size_t bytes;
		FILE *out = open_memstream(&text, &bytes);

		if (strcmp(rule->cause, cases[i].cause))
			fail_msg("case %zu: %s, not %s", i, rule->cause, cases[i].cause);
		rule->advise(&cases[i].evidence, out);
		fclose(out);
		for (j = 0; j < 4 && cases[i].told[j]; j++)
			if (!strstr(text, cases[i].told[j]))
				fail_msg("%s: \"%s\" is not in \"%s\"", rule->cause, cases[i].told[j], text);
		free(text);
	}
}

/* The candidates of rows of one cause. */
static void test_layouts(void **state)
{
	static const struct {
		const char *cause, *layout;
		struct nm_evidence rows[3];
	} layouts[] = {
	    {"fields apart",
	     "reorder struct s: key, at, b",
	     {{.structure_type = "struct s", .hot_fields = "key, at.n, at.m, b|c"}}},
	    {"unused fields",
	     "split type(s) hot(key, cells, keys) parallel",
	     {{.structure_type = "type(s)", .hot_fields = "key, cells[].next, keys"}}},
	    {"unused fields", "", {{.hot_fields = "key"}}},
	    {"one field",
	     "split app::s hot(key) parallel",
	     {{.structure_type = "app::s", .line_field = "key"}}},
	    {"padding", "reorder struct s by alignment", {{.structure_type = "struct s"}}},
	    {"small blocks",
	     "pool nodes[] (a.c:7) by first use",
	     {{.object = "nodes[] (a.c:7) #2", .kind = "heap"}}},
	    {"list",
	     "order nodes[] (a.c:7) as visited by walk",
	     {{.object = "nodes[] (a.c:7)", .blocks = 1000, .function = "walk"}}},
	    {"list", "", {{.object = "nodes", .blocks = 1, .function = "walk"}}},
	    {"across rows",
	     "transpose a 100x50x8",
	     {{.object = "a", .type = "double [100][50]", .bytes = 40000}}},
	    {"across rows",
	     "transpose a 50x100x8",
	     {{.object = "a", .type = "real(kind=8)(100,50)", .bytes = 40000}}},
	    {"row length",
	     "pad a rows of 2048 by 64",
	     {{.object = "a", .type = "double [100][256]", .bytes = 204800, .line_size = 64}}},
	    {"step length",
	     "pad a rows of 4096 by 64",
	     {{.object = "a", .load_step = -4096, .load_follow = 90, .line_size = 64}}},
	    {"rivals",
	     "offset b against a by 64; offset c against a by 128",
	     {{.object = "b", .evictor = "a", .line_size = 64},
	      {.object = "c", .evictor = "b", .line_size = 64},
	      {.object = "a", .evictor = "c", .line_size = 64}}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
		char *text = NULL;
		size_t bytes, count = 0;
		FILE *out = open_memstream(&text, &bytes);

		while (count < 3 && (layouts[i].rows[count].object || !count))
			count++;
		nm_rule_named(layouts[i].cause)->lay_out(layouts[i].rows, count, out);
		fclose(out);
		assert_string_equal(text, layouts[i].layout);
		free(text);
	}
}

/* Every rule has a case above, and a cause that fits its column. */
static void test_every_rule_is_tested(void **state)
{
	unsigned i;
	size_t j;

	(void)state;
	for (i = 0; nm_rule_at(i); i++) {
		int found = 0;

		for (j = 0; j < sizeof cases / sizeof *cases; j++)
			found |= !strcmp(cases[j].cause, nm_rule_at(i)->cause);
		if (!found)
			fail_msg("no case for %s", nm_rule_at(i)->cause);
		assert_true(strlen(nm_rule_at(i)->cause) <= 16);
	}
}

/* What rules promise: parts of the misses, and of the cycles where what is left is fetched ahead. */
static void test_savings(void **state)
{
	const struct nm_evidence list = {L1,
					 .kind = "heap",
					 .blocks = 1000,
					 .bytes = 16000,
					 .loads = 1000,
					 .misses = 1000,
					 .cycles = 200000,
					 .dependent = 1000,
					 .waste = 75,
					 .walked = 1};
	const struct nm_evidence columns = {L1,
					    .type = "int [1000][1000]",
					    .bytes = 4000000,
					    .loads = 1000,
					    .misses = 1000,
					    .cycles = 16000,
					    .waste = 75,
					    .reuse = 1};
	struct nm_saving s = nm_rule_saving(nm_rule_for(&list), &list);

	(void)state;
	assert_int_equal((int)s.misses, 500); /* 32 of 64 bytes are a node and its header */
	assert_int_equal((int)(s.cycles + 0.5), 200000 - 500 * 5); /* half of the loads, each a transfer */
	s = nm_rule_saving(nm_rule_for(&columns), &columns);
	assert_int_equal((int)s.misses, 750);
	assert_int_equal((int)s.cycles, 12000);
}

static void test_shapes(void **state)
{
	static const struct {
		const char *type;
		int64_t elements, fastest;
		unsigned dimensions;
		int first;
	} shapes[] = {
	    {"double [512][256]", 512 * 256, 256, 2, 0},
	    {"int[7]", 7, 7, 1, 0},
	    {"real(8) (10,20)", 200, 10, 2, 1},
	    {"real(kind=8) (0:9,-5:5)", 110, 10, 2, 1},
	    {"std::array<int, 4>", 0, 0, 0, 0},
	    {"real(kind=8)(3,4)", 12, 3, 2, 1},
	    {"real(kind=8)(:,:)", 0, 0, 0, 0},
	    {"real(kind=8)(-9223372036854775808:9223372036854775807)", 0, 0, 0, 0},
	    {"void (*)(int)", 0, 0, 0, 0},
	    {"char []", 0, 0, 0, 0},
	    {"[f64; 100]", 0, 0, 0, 0}, /* of Rust: one dimension says nothing that the bytes do not */
	    {"long [9223372036854775807][4]", 0, 0, 0, 0},
	    {"int", 0, 0, 0, 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		struct nm_array_shape array = nm_array_shape_parse(shapes[i].type);

		if (array.elements != shapes[i].elements || array.dimensions != shapes[i].dimensions)
			fail_msg("%s: %lld elements, %u dimensions", shapes[i].type,
				 (long long)array.elements, array.dimensions);
		if (array.elements) {
			assert_int_equal(array.fastest, shapes[i].fastest);
			assert_int_equal(array.first_is_fastest, shapes[i].first);
		}
	}
	assert_int_equal(nm_array_shape_parse(NULL).elements, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rules),
	    cmocka_unit_test(test_layouts),
	    cmocka_unit_test(test_every_rule_is_tested),
	    cmocka_unit_test(test_savings),
	    cmocka_unit_test(test_shapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
