/* SPDX-License-Identifier: MIT
 *
 * base_test.c - vectors, arenas, interned strings, maps, sorting, tasks and errors.
 *
 * The map runs beside a naive twin, an array searched from end to end, over random operations on few
 * keys, so that runs of slots collide, wrap around the table's end and are closed again by deletions.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arena.h"
#include "errors.h"
#include "files.h"
#include "hash_index.h"
#include "lazy_array.h"
#include "map.h"
#include "memstream.h"
#include "sort.h"
#include "tasks.h"
#include "text.h"
#include "vector.h"

static uint64_t random_next(uint64_t *state) { return nm_mix64(*state += 0x9e3779b97f4a7c15ull); }

static void test_vector_keeps_what_was_pushed(void **state)
{
	struct nm_vec(int) v = {0};

	(void)state;
	for (int i = 0; i < 10000; i++)
		assert_int_equal(nm_vec_push(&v, i * 3), 0);
	assert_int_equal(v.count, 10000);
	assert_true(v.room >= v.count);
	for (int i = 0; i < 10000; i++)
		assert_int_equal(v.at[i], i * 3);
	nm_vec_free(&v);
	assert_null(v.at);
	assert_int_equal(v.count, 0);
}

static void test_vector_reaches_with_zeros(void **state)
{
	struct nm_vec(int) v = {0};

	(void)state;
	assert_int_equal(nm_vec_push(&v, 7), 0);
	assert_int_equal(nm_vec_reach(&v, (size_t)1000), 0);
	assert_int_equal(v.count, 1000);
	assert_int_equal(v.at[0], 7);
	for (size_t i = 1; i < v.count; i++)
		assert_int_equal(v.at[i], 0);
	v.at[999] = 5;
	assert_int_equal(nm_vec_reach(&v, (size_t)10), 0); /* is there already */
	assert_int_equal(v.count, 1000);
	assert_int_equal(v.at[999], 5);
	assert_int_equal(nm_vec_reach(&v, SIZE_MAX), NM_ENOMEM);
	assert_int_equal(v.count, 1000);
	nm_vec_free(&v);
}

static void test_vector_refuses_the_impossible(void **state)
{
	struct nm_vec(uint64_t) v = {0};

	(void)state;
	assert_int_equal(nm_vec_push(&v, 7), 0);
	assert_int_equal(nm_vec_reserve(&v, SIZE_MAX), NM_ENOMEM);
	assert_int_equal(nm_vec_reserve(&v, SIZE_MAX / 8), NM_ENOMEM);
	assert_int_equal(v.count, 1);
	assert_int_equal(v.at[0], 7);
	nm_vec_free(&v);
}

static void test_arena_gives_zeroed_aligned_memory_apart(void **state)
{
	struct nm_arena arena = {0};
	unsigned char *at[200];
	uint64_t seed = 1;
	size_t bytes[200];

	(void)state;
	for (int i = 0; i < 200; i++) {
		bytes[i] = random_next(&seed) % (i % 20 ? 3000 : 200000);
		at[i] = nm_arena_alloc(&arena, bytes[i]);
		assert_non_null(at[i]);
		assert_int_equal((uintptr_t)at[i] % 16, 0);
		for (size_t k = 0; k < bytes[i]; k++)
			assert_int_equal(at[i][k], 0);
		memset(at[i], i, bytes[i]);
	}
	for (int i = 0; i < 200; i++)
		for (size_t k = 0; k < bytes[i]; k++)
			assert_int_equal(at[i][k], (unsigned char)i);
	assert_null(nm_arena_alloc(&arena, SIZE_MAX));
	assert_null(nm_arena_alloc(&arena, SIZE_MAX - 15));
	nm_arena_done(&arena);
}

static void test_equal_texts_have_equal_addresses(void **state)
{
	struct nm_strings pool = {0};
	const char *first[3000];
	char text[32];

	(void)state;
	for (int i = 0; i < 3000; i++) {
		snprintf(text, sizeof text, "name %d", i);
		first[i] = nm_intern(&pool, text);
		assert_string_equal(first[i], text);
		assert_ptr_not_equal(first[i], text);
	}
	assert_int_equal(pool.index.count, 3000);
	for (int i = 0; i < 3000; i++) {
		snprintf(text, sizeof text, "name %d", i);
		assert_ptr_equal(nm_intern(&pool, text), first[i]);
	}
	assert_ptr_equal(nm_intern_n(&pool, "name 12 and more", 7), first[12]);
	assert_ptr_equal(nm_intern_n(&pool, "name 123", 7), first[12]);
	assert_ptr_not_equal(nm_intern(&pool, ""), nm_intern(&pool, "name"));
	assert_ptr_equal(nm_intern_n(&pool, "x", 0), nm_intern(&pool, ""));
	assert_ptr_equal(nm_intern_format(&pool, "%s %d", "name", 12), first[12]);
	assert_int_equal(pool.index.count, 3002);
	assert_ptr_equal(nm_intern_n(&pool, "name 12\0hidden", 14), first[12]);
	assert_int_equal(pool.index.count, 3002);
	nm_strings_done(&pool);
	assert_int_equal(pool.index.count, 0);
}

enum { KEYS = 300 };

struct twin {
	uint64_t key[KEYS], value[KEYS];
	int there[KEYS];
	size_t count;
};

static void twin_init(struct twin *twin)
{
	*twin = (struct twin){0};
	for (int i = 0; i < KEYS; i++)
		twin->key[i] = i < 4 ? (uint64_t)0 - (uint64_t)i : (uint64_t)i * 64;
}

static void compare_with_twin(const struct nm_map *map, const struct twin *twin)
{
	uint64_t key, value;
	size_t walked = 0;

	assert_int_equal(map->count, twin->count);
	for (int k = 0; k < KEYS; k++)
		assert_int_equal(nm_map_get(map, twin->key[k], 12345),
				 twin->there[k] ? twin->value[k] : 12345);
	for (size_t i = 0; nm_map_next(map, &i, &key, &value); walked++) {
		int k = 0;

		while (k < KEYS && twin->key[k] != key)
			k++;
		assert_true(k < KEYS && twin->there[k] && twin->value[k] == value);
	}
	assert_int_equal(walked, twin->count);
}

static void test_map_does_what_its_twin_does(void **state)
{
	static struct twin twin;
	struct nm_map map = {0};
	uint64_t seed = 2;

	(void)state;
	twin_init(&twin);
	compare_with_twin(&map, &twin);
	for (int step = 0; step < 60000; step++) {
		int k = (int)(random_next(&seed) % KEYS);
		int fill = step / 5000 % 2 ? 30 : 70; /* percent of insertions: the map grows and shrinks */

		if ((int)(random_next(&seed) % 100) < fill) {
			twin.value[k] = random_next(&seed) % 1000 ? random_next(&seed) >> 1 : 0;
			assert_int_equal(nm_map_put(&map, twin.key[k], twin.value[k]), 0);
			twin.count += !twin.there[k];
			twin.there[k] = 1;
		} else {
			assert_int_equal(nm_map_remove(&map, twin.key[k]), twin.there[k]);
			twin.count -= (size_t)twin.there[k];
			twin.there[k] = 0;
		}
		if (step % 100 == 0)
			compare_with_twin(&map, &twin);
	}
	compare_with_twin(&map, &twin);
	nm_map_done(&map);
	assert_int_equal(nm_map_remove(&map, 1), 0);
}

/* Against a search from the first to the last. Hashes of few values collide; keys of one hash are told apart. */
static void test_hash_index_finds_what_a_list_has(void **state)
{
	enum { TIMES = 3000, KINDS = 700 };
	static uint64_t keys[KINDS];
	struct nm_hash_index index = {0};
	uint32_t count = 0, i, seen;
	uint64_t seed = 3;

	(void)state;
	for (unsigned n = 0; n < TIMES; n++) {
		const uint64_t key = nm_mix64(seed++) % KINDS, hash = nm_mix64(key % 500) & ~(7ull << 32);
		uint32_t twin = 0, found = UINT32_MAX;

		while (twin < count && keys[twin] != key)
			twin++;
		seen = 0;
		for (size_t at = 0; nm_hash_index_next(&index, hash, &at, &i); seen++) {
			assert_true(i < count);
			if (keys[i] == key)
				found = i;
		}
		assert_true(seen <= count);
		assert_int_equal(found, twin < count ? twin : UINT32_MAX);
		if (found == UINT32_MAX) {
			assert_int_equal(nm_hash_index_add(&index, hash, count), 0);
			keys[count++] = key;
		}
	}
	assert_true(count > KINDS / 2);
	assert_int_equal(index.count, count);
	nm_hash_index_done(&index);
}

static void test_mix_is_a_bijection_on_a_sample(void **state)
{
	struct nm_map seen = {0};

	(void)state;
	for (uint64_t i = 0; i < 50000; i++) {
		uint64_t mixed = nm_mix64(i << 20);

		assert_int_equal(nm_map_get(&seen, mixed, UINT64_MAX - 1), UINT64_MAX - 1);
		assert_int_equal(nm_map_put(&seen, mixed, i), 0);
	}
	nm_map_done(&seen);
}

/* Equal keys keep their order. */
static int by_key_and_value(const void *left, const void *right)
{
	const struct nm_keyed *a = left, *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->value > b->value) - (a->value < b->value);
}

/* Keys of which only the bits of a mask differ: 0, 1, 2 ... bytes are to be sorted by, also such that lie
 * apart. */
static void test_sorted_by_key_and_else_as_it_stood(void **state)
{
	static const uint64_t masks[] = {
	    0, 3, 0xff00, 0xffff, 0x80000000000000ff, 0xf0000f0000, 0xffffff0000ffffff, UINT64_MAX};
	static const size_t counts[] = {0, 1, 2, 3, 255, 256, 257, 5000};
	struct nm_keyed list[5000], want[5000];
	uint64_t seed = 3;

	(void)state;
	for (size_t m = 0; m < sizeof masks / sizeof masks[0]; m++)
		for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
			uint64_t same = random_next(&seed) & ~masks[m];

			for (size_t i = 0; i < counts[c]; i++)
				list[i] = (struct nm_keyed){same | (random_next(&seed) & masks[m]), i};
			memcpy(want, list, counts[c] * sizeof *list);
			qsort(want, counts[c], sizeof *want, by_key_and_value);
			assert_int_equal(nm_sort_by_key(list, counts[c]), 0);
			assert_memory_equal(list, want, counts[c] * sizeof *list);
		}
}

static void test_errors_tell_the_story(void **state)
{
	struct nm_error err = {0};

	(void)state;
	assert_int_equal(nm_fail(&err, NM_EFORMAT, "word %d", 7), NM_EFORMAT);
	assert_int_equal(err.code, NM_EFORMAT);
	assert_string_equal(err.text, "word 7");
	assert_string_equal(err.subject, "");
	assert_int_equal(err.column, -1);
	assert_int_equal(nm_fail(NULL, NM_EIO, "nobody listens"), NM_EIO);

	assert_int_equal(nm_fail_at(&err, "L1d=oops", 4, "no size"), NM_EINVAL);
	assert_string_equal(err.subject, "L1d=oops");
	assert_int_equal(err.column, 4);
	assert_int_equal(nm_fail_at(NULL, "x", 0, "nobody listens"), NM_EINVAL);
}

static void test_errno_becomes_a_code(void **state)
{
	static const struct {
		int number;
		enum nm_code code;
	} cases[] = {{ENOENT, NM_ENOENT}, {EACCES, NM_EACCES}, {EROFS, NM_EACCES}, {ENOSPC, NM_ENOSPC},
		     {EDQUOT, NM_ENOSPC}, {ENOMEM, NM_ENOMEM}, {EIO, NM_EIO},      {EBADF, NM_EIO}};
	struct nm_error err;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		errno = cases[i].number;
		assert_int_equal(nm_fail_errno(&err, "open %s", "f"), cases[i].code);
		assert_int_equal(err.code, cases[i].code);
		assert_non_null(strstr(err.text, strerror(cases[i].number)));
		assert_int_equal(strncmp(err.text, "open f: ", 8), 0);
	}
}

static void test_long_texts_are_cut_not_overrun(void **state)
{
	struct nm_error err;
	char text[2000];

	(void)state;
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	errno = EIO;
	nm_fail_errno(&err, "%s", text);
	assert_int_equal(strlen(err.text), sizeof err.text - 1);
	nm_fail_at(&err, text, 3, "%s", text);
	assert_int_equal(strlen(err.subject), sizeof err.subject - 1);
	text[500] = '!';
	nm_fail_at(&err, text, 500, "far behind");
	assert_int_equal(err.subject[err.column], '!');
	assert_int_equal(strncmp(err.subject, "...xx", 5), 0);
}

static void test_zeros_are_zero_aligned_and_own(void **state)
{
	static const uint64_t counts[] = {1, 7, 1000, (1 << 18) - 1, 1 << 18, 5000000};

	(void)state;
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		uint32_t *array = nm_lazy_array(counts[i], sizeof *array), *other;
		uint64_t sum = 0;

		assert_non_null(array);
		assert_int_equal((uintptr_t)array % NM_LAZY_ARRAY_ALIGNMENT, 0);
		for (uint64_t k = 0; k < counts[i]; k++)
			sum += array[k];
		assert_int_equal(sum, 0);
		memset(array, 0xff, counts[i] * sizeof *array);
		other = nm_lazy_array(counts[i], sizeof *other);
		assert_non_null(other);
		assert_int_equal(other[counts[i] - 1], 0);
		nm_lazy_array_free(array, counts[i], sizeof *array);
		nm_lazy_array_free(other, counts[i], sizeof *other);
	}
	assert_null(nm_lazy_array(UINT64_MAX / 2, 8));
	assert_null(nm_lazy_array(8, 0));
	nm_lazy_array_free(NULL, 1000, 8);
	nm_lazy_array_free(NULL, 0, 0);
}

static void test_paths_below_a_folder(void **state)
{
	static const struct {
		const char *tail;
		int stays;
	} tails[] = {{"a/b", 1}, {"a/../b", 1},    {"./a", 1},  {"", 1},       {"/a//b", 1},
		     {"..", 0},  {"a/../../b", 0}, {"../a", 0}, {"./../a", 0}, {"..a/..b", 1}};

	(void)state;
	for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
		assert_int_equal(nm_stays_below(tails[i].tail), tails[i].stays);
	assert_true(nm_is_below("/proc/self/status", "/proc"));
	assert_true(nm_is_below("/proc/self/status", "/"));
	assert_false(nm_is_below("/proc/self/status", "/pro"));
	assert_false(nm_is_below("/proc/self/cwd", "/proc/self")); /* a link that leads out */
	assert_false(nm_is_below("/proc", "/proc"));
	assert_false(nm_is_below("/nonexistent/a", "/"));
}

static void test_declarations_are_those_of_the_language(void **state)
{
	static const struct {
		const char *file, *structure, *type, *declaration;
	} cases[] = {
	    {NULL, NULL, "long int", "long int x"},
	    {"a.c", "struct s", "char[16]", "char x[16]"},
	    {"a.c", "struct s", "struct node *[512]", "struct node *x[512]"},
	    {"a.c", "struct s", "double (*)(int, char *[3])", "double (*x)(int, char *[3])"},
	    {"a.c", "struct s", "void (*[4])(void)", "void (*x[4])(void)"},
	    {"a.c", "struct s", "double (*)[3]", "double (*x)[3]"},
	    {"a.cc", "s", "std::function<void (*[2])(int)>[2]", "std::function<void (*[2])(int)> x[2]"},
	    {"a.f90", "type(s)(40)", "real(kind=8)", "real(kind=8) :: x"},
	    {NULL, "type(s)", "real(kind=8)(100,0:9)", "real(kind=8) :: x(100,0:9)"},
	    {NULL, "type(s)", "type(s)(:), pointer", "type(s), pointer :: x(:)"},
	    {"a.rs", "app::S", "[u64; 64]", "x: [u64; 64]"},
	};
	char text[100];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		FILE *out = fmemopen(text, sizeof text, "w");

		assert_non_null(out);
		nm_declare(nm_declaration_style(cases[i].file, cases[i].structure), cases[i].type, "x", out);
		fclose(out);
		assert_string_equal(text, cases[i].declaration);
	}
}

static void test_stream_into_memory_equals_glibcs(void **state)
{
	char *text, *other, piece[300];
	size_t bytes, other_bytes;
	FILE *ours = nm_memstream_open(&text, &bytes), *theirs = open_memstream(&other, &other_bytes);
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		size_t n = random_next(&seed) % sizeof piece;

		memset(piece, (int)random_next(&seed), sizeof piece);
		assert_int_equal(fwrite(piece, 1, n, ours), n);
		fwrite(piece, 1, n, theirs);
		if (i % 100 == 0)
			assert_int_equal(fflush(ours), 0);
	}
	assert_int_equal(nm_memstream_close(ours, &text), 0);
	fclose(theirs);
	assert_int_equal(bytes, other_bytes);
	assert_memory_equal(text, other, bytes + 1);
	free(text);
	free(other);
}

/* What no longer fits is not left out in silence. */
static void test_stream_into_memory_that_is_exhausted(void **state)
{
	static char block[1 << 16];
	volatile size_t too_much = SIZE_MAX / 4;
	char *text;
	FILE *out;

	(void)state;
#ifdef __SANITIZE_ADDRESS__
	skip(); /* its allocator ends the program instead */
#endif
	out = nm_memstream_open(&text, NULL);
	fputs("begun", out);
	assert_true(fwrite(block, 1, too_much, out) < too_much);
	fputs("ended", out);
	assert_int_equal(nm_memstream_close(out, &text), NM_ENOMEM);
	assert_null(text);
	out = nm_memstream_open(&text, NULL);
	assert_int_equal(nm_memstream_close(out, &text), 0);
	assert_string_equal(text, "");
	free(text);
}

static void count_task(void *counts, unsigned i) { ((unsigned *)counts)[i]++; }

static void test_each_task_runs_once(void **state)
{
	(void)state;
	for (unsigned threads = 0; threads < 100; threads += 11)
		for (unsigned count = 0; count < 40; count += 13) {
			unsigned counts[40] = {0};

			nm_run_tasks(threads, count, count_task, counts);
			for (unsigned i = 0; i < 40; i++)
				assert_int_equal(counts[i], i < count);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_vector_keeps_what_was_pushed),
	    cmocka_unit_test(test_vector_reaches_with_zeros),
	    cmocka_unit_test(test_vector_refuses_the_impossible),
	    cmocka_unit_test(test_arena_gives_zeroed_aligned_memory_apart),
	    cmocka_unit_test(test_equal_texts_have_equal_addresses),
	    cmocka_unit_test(test_zeros_are_zero_aligned_and_own),
	    cmocka_unit_test(test_map_does_what_its_twin_does),
	    cmocka_unit_test(test_hash_index_finds_what_a_list_has),
	    cmocka_unit_test(test_mix_is_a_bijection_on_a_sample),
	    cmocka_unit_test(test_sorted_by_key_and_else_as_it_stood),
	    cmocka_unit_test(test_each_task_runs_once),
	    cmocka_unit_test(test_errors_tell_the_story),
	    cmocka_unit_test(test_errno_becomes_a_code),
	    cmocka_unit_test(test_long_texts_are_cut_not_overrun),
	    cmocka_unit_test(test_declarations_are_those_of_the_language),
	    cmocka_unit_test(test_paths_below_a_folder),
	    cmocka_unit_test(test_stream_into_memory_equals_glibcs),
	    cmocka_unit_test(test_stream_into_memory_that_is_exhausted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
