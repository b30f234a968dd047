/* SPDX-License-Identifier: MIT
 *
 * machine_pages_test.c - the machine addresses of random processes, that fork, write, share memory objects and end,
 * against a twin that has a frame for each page, counts who has it, and copies it when one of several writes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machine_pages.h"
#include "numbers.h"

enum { PROCESSES = 6, PAGES = 24, OBJECTS = 3, STEPS = 200000, PAGE = 1 << NM_MACHINE_PAGE_SHIFT };

/* A page of the machine's memory: how many processes have it privately, and its number there once it is known. */
struct frame {
	unsigned users;
	int is_known;
	uint64_t machine_page;
};

struct frames nm_vec(struct frame *);

struct process {
	int lives;
	struct nm_machine_pages pages;
	struct frame *private[PAGES], *shared[PAGES];
};

struct twin {
	struct nm_machine_memory memory;
	struct process processes[PROCESSES];
	struct frame *object[OBJECTS][2 * PAGES];
	struct frames all;
};

static struct frame *new_frame(struct twin *t, unsigned users)
{
	struct frame *f = calloc(1, sizeof *f);

	assert_non_null(f);
	f->users = users;
	assert_int_equal(nm_vec_push(&t->all, f), 0);
	return f;
}

static struct frame *touch_private(struct twin *t, struct process *p, size_t page, int writes)
{
	struct frame **f = &p->private[page];

	if (*f && writes && (*f)->users > 1) {
		(*f)->users--;
		*f = NULL;
	}
	if (!*f)
		*f = new_frame(t, 1);
	return *f;
}

/* Frames that somebody has are one machine page each. */
static void expect_own_page(const struct twin *t, const struct frame *f)
{
	for (size_t i = 0; i < t->all.count; i++) {
		const struct frame *other = t->all.at[i];

		if (other != f && other->users && other->is_known)
			assert_true(other->machine_page != f->machine_page);
	}
}

static void touch(struct twin *t, struct process *p)
{
	const size_t page = below(PAGES);
	const int writes = below(2) != 0;
	const uint64_t address = page * PAGE + below(PAGE);
	struct frame *f = p->shared[page] ? p->shared[page] : touch_private(t, p, page, writes);
	uint64_t distance;

	assert_int_equal(nm_machine_distance(&p->pages, address, writes, &distance), 0);
	assert_int_equal((address + distance) % PAGE, address % PAGE);
	if (f->is_known) {
		assert_int_equal((address + distance) / PAGE, f->machine_page);
	} else {
		f->is_known = 1;
		f->machine_page = (address + distance) / PAGE;
		expect_own_page(t, f);
	}
	assert_int_equal(nm_machine_pages_back(&p->pages, address + distance), address);
}

static void fork_process(struct twin *t, struct process *parent)
{
	struct process *child = &t->processes[below(PROCESSES)];

	if (child->lives)
		return;
	assert_int_equal(nm_machine_pages_fork(&child->pages, &parent->pages), 0);
	child->lives = 1;
	memcpy(child->private, parent->private, sizeof child->private);
	memcpy(child->shared, parent->shared, sizeof child->shared);
	for (size_t i = 0; i < PAGES; i++)
		if (child->private[i])
			child->private[i] -> users++;
}

static void end_process(struct process *p)
{
	nm_machine_pages_done(&p->pages);
	for (size_t i = 0; i < PAGES; i++)
		if (p->private[i])
			p->private[i] -> users--;
	memset(p->private, 0, sizeof p->private);
	memset(p->shared, 0, sizeof p->shared);
	p->lives = 0;
}

/* Maps part of an object, at most once in a process; or memory that only children will have. */
static void share(struct twin *t, struct process *p)
{
	const size_t object = below(OBJECTS + 1), from = below(PAGES), count = 1 + below(PAGES - from);
	const size_t offset = below(PAGES);
	struct nm_object_part part = {from * PAGE, count * PAGE, 0, 0, offset * PAGE};

	for (size_t i = 0; object < OBJECTS && i < 2 * PAGES; i++)
		for (size_t k = 0; k < PAGES; k++)
			if (t->object[object][i] && p->shared[k] == t->object[object][i])
				return;
	if (object < OBJECTS) {
		part.device = 1 + object / 2;
		part.inode = object;
	}
	assert_int_equal(nm_machine_pages_share(&p->pages, &part), 0);
	for (size_t i = 0; i < count; i++) {
		struct frame **f = object < OBJECTS ? &t->object[object][offset + i] : NULL;

		if (f && !*f)
			*f = new_frame(t, 1);
		p->shared[from + i] = f ? *f : new_frame(t, 1);
	}
}

static void unshare(struct process *p)
{
	const size_t from = below(PAGES), count = 1 + below(PAGES - from);

	assert_int_equal(nm_machine_pages_unshare(&p->pages, from * PAGE, count * PAGE), 0);
	memset(&p->shared[from], 0, count * sizeof *p->shared);
}

static void move_page(struct process *p)
{
	const size_t from = below(PAGES), to = below(PAGES);
	struct frame *f = p->shared[from];

	if (from == to)
		return;
	assert_int_equal(nm_machine_pages_move(&p->pages, from * PAGE, PAGE, to * PAGE, PAGE), 0);
	p->shared[from] = NULL;
	p->shared[to] = f;
}

static void step(struct twin *t)
{
	struct process *p = &t->processes[below(PROCESSES)];

	if (!p->lives)
		return;
	switch (below(100)) {
	case 0: fork_process(t, p); return;
	case 1:
		if (p != &t->processes[0])
			end_process(p);
		return;
	case 2: share(t, p); return;
	case 3: unshare(p); return;
	case 4: move_page(p); return;
	default: touch(t, p);
	}
}

static void test_processes_have_the_pages_that_a_twin_gives_them(void **state)
{
	struct twin t = {.memory = {0}};

	(void)state;
	rng_state = 1;
	nm_machine_pages_init(&t.processes[0].pages, &t.memory);
	t.processes[0].lives = 1;
	for (size_t i = 0; i < STEPS; i++)
		step(&t);
	assert_true(t.all.count > 100);
	for (size_t i = 0; i < PROCESSES; i++)
		if (t.processes[i].lives)
			end_process(&t.processes[i]);
	assert_int_equal(t.memory.sharers.count, 0);
	for (size_t i = 0; i < t.all.count; i++)
		free(t.all.at[i]);
	nm_vec_free(&t.all);
	nm_machine_memory_done(&t.memory);
}

static void test_the_first_process_keeps_its_addresses(void **state)
{
	struct nm_machine_memory memory = {0};
	struct nm_machine_pages pages;
	uint64_t distance;

	(void)state;
	nm_machine_pages_init(&pages, &memory);
	assert_int_equal(nm_machine_distance(&pages, 0x7ffc12345678, 1, &distance), 0);
	assert_int_equal(distance, 0);
	nm_machine_pages_done(&pages);
	nm_machine_memory_done(&memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_processes_have_the_pages_that_a_twin_gives_them),
	    cmocka_unit_test(test_the_first_process_keeps_its_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
