/* SPDX-License-Identifier: MIT
 *
 * analyze_test.c - the engine on streams made by hand: what is charged to whom, for any number of threads;
 * and its parts against naive twins.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "blocks.h"
#include "contexts.h"
#include "encode.h"
#include "frames.h"
#include "numbers.h"
#include "session.h"
#include "space.h"

#define STACK_LOW 0x7000000000ull
#define STACK_END 0x7000100000ull
#define DATA 0x10000000ull

/* ---- parts against twins ---- */

struct naive_block {
	uint64_t address, size;
	uint32_t object;
};

struct naive_blocks {
	struct naive_block list[400];
	size_t count;
};

static const struct naive_block *naive_find(const struct naive_blocks *n, uint64_t at)
{
	for (size_t i = 0; i < n->count; i++)
		if (at - n->list[i].address < n->list[i].size)
			return &n->list[i];
	return NULL;
}

static void naive_add(struct naive_blocks *n, struct naive_block b)
{
	for (size_t i = 0; i < n->count;)
		if (n->list[i].address < b.address + b.size &&
		    b.address < n->list[i].address + n->list[i].size)
			n->list[i] = n->list[--n->count];
		else
			i++;
	n->list[n->count++] = b;
}

static void check_address(const struct nm_blocks *blocks, const struct naive_blocks *n, uint64_t at)
{
	const struct naive_block *want = naive_find(n, at);
	const uint64_t bytes = 1 + below(40);
	struct nm_block found;

	assert_int_equal(nm_blocks_object(blocks, nm_blocks_owner(blocks, at)), want ? want->object : 0);
	assert_int_equal(nm_blocks_find(blocks, at, &found), want != NULL);
	assert_int_equal(nm_blocks_hold(blocks, at, bytes), want && at + bytes <= want->address + want->size);
	if (!want)
		return;
	assert_int_equal(found.address, want->address);
	assert_int_equal(found.size, want->size);
	assert_int_equal(found.object, want->object);
	assert_int_equal(found.large != 0, want->size >= NM_LARGE_BLOCK);
}

/* Blocks as an allocator returns them, scalars that share a granule, and large ones, at few addresses, so
 * that they meet. */
static struct naive_block random_block(uint32_t object)
{
	const uint64_t span = 64 << 10;

	switch (below(4)) {
	case 0: return (struct naive_block){DATA + below(512), 1 + below(6), object};
	case 1: return (struct naive_block){DATA + below(span) / 16 * 16, 1 + below(200), object};
	case 2: return (struct naive_block){DATA + below(span) / 8 * 8, 1 + below(40), object};
	default:
		return (struct naive_block){
		    DATA + (below(2) ? below(span) / 16 * 16 : below(span) / 4096 * 4096),
		    below(2) ? 1 + below(5 * 4096) : 4096, object};
	}
}

static void blocks_equal_a_list(void **state)
{
	static struct naive_blocks n;
	struct nm_blocks blocks, copy;

	(void)state;
	assert_int_equal(nm_blocks_init(&blocks), 0);
	for (uint32_t step = 0; step < 60000; step++) {
		struct naive_block b = random_block(1 + (below(2) ? step : step % 5));
		size_t k = n.count ? below(n.count) : 0;
		uint64_t at =
		    n.count && below(2) ? n.list[k].address + n.list[k].size - 2 + below(4) : b.address;

		if (n.count < 400 && below(3) == 0) { /* a fresh block: what it overlaps is gone */
			naive_add(&n, b);
			assert_int_equal(nm_blocks_add(&blocks, b.address, b.size, b.object), 0);
		} else if (n.count && below(2)) {
			assert_int_equal(nm_blocks_remove(&blocks, n.list[k].address, NULL), 1);
			n.list[k] = n.list[--n.count];
			assert_int_equal(nm_blocks_remove(&blocks, at + 1, NULL),
					 naive_find(&n, at + 1) && naive_find(&n, at + 1)->address == at + 1);
			for (size_t i = 0; i < n.count; i++)
				if (n.list[i].address == at + 1)
					n.list[i] = n.list[--n.count];
		}
		check_address(&blocks, &n, at);
		assert_int_equal(blocks.live, n.count);
		if (step % 2000)
			continue;
		assert_true(nm_blocks_are_valid(&blocks));
		assert_int_equal(nm_blocks_copy(&copy, &blocks), 0); /* a fork */
		assert_int_equal(copy.live, n.count);
		for (unsigned i = 0; i < 3000; i++)
			check_address(&copy, &n, DATA + below(80 << 10));
		nm_blocks_done(&copy);
	}
	nm_blocks_done(&blocks);
}

/* A page with as many owners as granules, again and again. */
static void a_page_has_an_owner_for_each_granule(void **state)
{
	struct nm_blocks blocks;

	(void)state;
	assert_int_equal(nm_blocks_init(&blocks), 0);
	for (uint32_t round = 0; round < 20; round++)
		for (uint32_t i = 0; i < NM_GRANULES; i++) {
			const uint64_t at = DATA + (i * 37ull % NM_GRANULES << NM_GRANULE_BITS);

			assert_int_equal(nm_blocks_add(&blocks, at, 12, 1 + round * 1000 + i), 0);
			assert_int_equal(nm_blocks_owner(&blocks, at + 11), 1 + round * 1000 + i);
			assert_int_equal(nm_blocks_owner(&blocks, at + 12), 0);
		}
	for (uint32_t i = 0; i < NM_GRANULES; i++) {
		const uint64_t at = DATA + (i * 37ull % NM_GRANULES << NM_GRANULE_BITS);

		assert_int_equal(nm_blocks_owner(&blocks, at), 1 + 19 * 1000 + i);
		assert_int_equal(nm_blocks_remove(&blocks, at, NULL), 1);
	}
	assert_int_equal(blocks.live, 0);
	assert_int_equal(blocks.free_pages.count, 1);
	nm_blocks_done(&blocks);
}

static void frames_follow_calls_and_jumps(void **state)
{
	struct nm_frames frames;

	(void)state;
	assert_int_equal(nm_frames_init(&frames, STACK_LOW, STACK_END), 0);
	nm_stack_push(nm_frames_stack(&frames), STACK_END - 0x100, 1, 10); /* start calls main */
	nm_stack_push(nm_frames_stack(&frames), STACK_END - 0x200, 2, 20); /* main calls f */
	nm_stack_push(nm_frames_stack(&frames), STACK_END - 0x300, 3, 30); /* f calls g */
	assert_int_equal(nm_frames_owner(&frames, STACK_END - 0x180).object, 20);
	assert_int_equal(nm_frames_owner(&frames, STACK_END - 0x200).object, 20);
	assert_int_equal(nm_frames_owner(&frames, STACK_END - 0x200).end, STACK_END - 0xf8);
	assert_int_equal(nm_frames_owner(&frames, STACK_END - 0x201).object, 30);
	assert_int_equal(nm_frames_owner(&frames, STACK_END - 0x50).object, 0);
	nm_frames_pop(&frames, nm_frames_stack(&frames),
		      STACK_END - 0x200); /* longjmp past g, then f returns */
	assert_int_equal(frames.returned_from, 2);
	assert_int_equal(nm_frames_top(&frames), STACK_END - 0x100);
	assert_int_equal(nm_frames_switch(&frames, 0x1000, 0x9000), 0); /* a coroutine and back */
	nm_stack_push(nm_frames_stack(&frames), 0x8000, 7, 70);
	assert_int_equal(nm_frames_switch(&frames, STACK_LOW, STACK_END), 0);
	assert_int_equal(nm_frames_top(&frames), STACK_END - 0x100);
	nm_frames_done(&frames);
}

static void contexts_tell_chains_apart(void **state)
{
	struct nm_contexts contexts;
	uint64_t a[] = {1, 2, 3}, b[] = {1, 2}, c[] = {2, 1, 3};
	uint32_t ids[4];

	(void)state;
	assert_int_equal(nm_contexts_init(&contexts), 0);
	nm_contexts_enter(&contexts, a, 3, &ids[0]);
	nm_contexts_enter(&contexts, b, 2, &ids[1]);
	nm_contexts_enter(&contexts, c, 3, &ids[2]);
	nm_contexts_enter(&contexts, a, 3, &ids[3]);
	assert_int_equal(ids[0], ids[3]);
	assert_true(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2]);
	assert_int_equal(contexts.list.at[ids[0]].entered, 2);
	contexts.list.at[ids[0]].forwarded[0] = 2;
	assert_int_equal(nm_context_wrappers(&contexts.list.at[ids[0]]), 1);
	contexts.list.at[ids[0]].forwarded[0] = 1;
	assert_int_equal(nm_context_wrappers(&contexts.list.at[ids[0]]), 0);
	nm_contexts_done(&contexts);
}

static struct nm_chain chain_of(const struct nm_stack *s, const struct nm_object *objects)
{
	struct nm_chain chain = {0};

	nm_chain_add_stack(&chain, s, s->frames.count, objects);
	return chain;
}

/* Calls from the outermost inwards: each number stands for the caller and for the call instruction. */
static struct nm_chain chain_of_calls(const uint32_t *callers, const uint64_t *pcs, size_t count)
{
	struct nm_object objects[8] = {[6] = {.nameless = 1}};
	struct nm_stack s = {.low = STACK_LOW, .end = STACK_END};
	struct nm_chain chain;

	for (size_t i = 0; i < count; i++)
		assert_int_equal(nm_stack_push(&s, STACK_END - 16 * (i + 1), pcs[i], callers[i]), 0);
	chain = chain_of(&s, objects);
	nm_vec_free(&s.frames);
	return chain;
}

#define CHAIN(callers, pcs) chain_of_calls(callers, pcs, sizeof(callers) / sizeof *(callers))

static void chains_fold_recursion(void **state)
{
	enum { MAIN = 1, BUILD, EVEN, ODD, STRIPPED = 6 };
	const uint32_t loop[] = {MAIN, BUILD}, tree[] = {MAIN, BUILD, BUILD, BUILD, BUILD};
	const uint32_t mutual[] = {MAIN, EVEN, ODD, EVEN, ODD, EVEN, BUILD};
	const uint32_t stripped[] = {MAIN, STRIPPED, STRIPPED, STRIPPED};
	struct nm_chain a = CHAIN(loop, ((uint64_t[]){100, 200})), b;

	(void)state;
	assert_int_equal(a.count, 2);
	assert_int_equal(a.unfolded, 2);
	b = CHAIN(tree, ((uint64_t[]){100, 201, 202, 201, 200})); /* left, right, left, malloc */
	assert_int_equal(b.count, 2);
	assert_int_equal(b.unfolded, 1);
	assert_memory_equal(a.pcs, b.pcs, 2 * sizeof *a.pcs);
	b = CHAIN(mutual, ((uint64_t[]){100, 300, 400, 301, 401, 302, 200}));
	assert_int_equal(b.count, 4);
	assert_memory_equal(b.pcs, ((uint64_t[]){200, 302, 401, 100}), 4 * sizeof *b.pcs);
	assert_int_equal(b.unfolded, 3);
	b = CHAIN(stripped, ((uint64_t[]){100, 500, 501, 500})); /* the functions are unknown */
	assert_int_equal(b.count, 4);
}

/* However deep the recursion is, its outermost caller is seen. */
static void chains_of_deep_recursion_are_equal(void **state)
{
	struct nm_object objects[4] = {0};
	struct nm_stack s = {.low = STACK_LOW, .end = STACK_END};
	uint64_t slot = STACK_END;

	(void)state;
	assert_int_equal(nm_stack_push(&s, slot -= 16, 100, 1), 0);
	for (unsigned depth = 0; depth < 1000; depth++) {
		struct nm_chain chain;

		assert_int_equal(nm_stack_push(&s, slot -= 16, 200 + below(3), 2), 0);
		chain = chain_of(&s, objects);
		assert_int_equal(chain.count, 2);
		assert_int_equal(chain.pcs[1], 100);
		assert_int_equal(chain.unfolded, depth ? 1 : 2);
	}
	nm_vec_free(&s.frames);
}

/* ---- streams ---- */

enum { BLOCK_PLAIN = 1, BLOCK_CALL, BLOCK_RETURN, BLOCK_EXIT, BLOCK_PREFETCH };

static uint64_t access_word(unsigned size, unsigned instruction, unsigned flags)
{
	return size | (uint64_t)instruction << 16 | (uint64_t)flags << 32;
}

static void define(struct nm_wire_words *w, uint32_t id, uint64_t pc, uint8_t end, const uint64_t *accesses,
		   uint16_t count, const uint64_t *exits, uint16_t exit_count)
{
	uint64_t instructions[2] = {pc | 4ull << 48, (pc + 4) | 4ull << 48};
	struct nm_wire_block_info info = {
	    .id = id, .instructions = instructions, .accesses = accesses, .exits = exits};

	info.def = (struct nm_wire_block_def){
	    .pc = pc, .instructions = 2, .accesses = count, .exits = exit_count, .end = end};
	assert_int_equal(nm_wire_block_def_encode(w, &info), 0);
}

static void run_block(struct nm_wire_words *w, uint32_t id, size_t count, const uint64_t *addresses)
{
	assert_int_equal(nm_wire_block_encode(w, id, addresses, count), 0);
}

#define RUN(w, id, ...) run_block(w, id, sizeof((uint64_t[]){__VA_ARGS__}) / 8, (uint64_t[]){__VA_ARGS__})

static void start(struct nm_wire_words *w, enum nm_wire_start how, uint32_t pid, uint32_t parent,
		  uint32_t ordinal)
{
	const char *argv[] = {"./prog", "x"};
	struct nm_wire_process p = {.start = how,
				    .version = NM_WIRE_VERSION,
				    .pid = pid,
				    .parent = parent,
				    .ordinal = ordinal,
				    .argc = 2,
				    .executable = "/no/such/prog",
				    .directory = "/"};

	assert_int_equal(nm_wire_process_encode(w, &p, argv), 0);
	if (how == NM_WIRE_FORKED)
		return;
	nm_wire_thread_start_encode(w, &(struct nm_wire_thread_start){1, 0, STACK_LOW, STACK_END});
	nm_wire_thread_encode(w, &(struct nm_wire_thread){1});
	nm_wire_map_encode(w, &(struct nm_wire_map){.flags = NM_WIRE_PROT_READ | NM_WIRE_PROT_WRITE,
						    .address = DATA,
						    .bytes = 1 << 20,
						    .path = ""});
	define(
	    w, BLOCK_PLAIN, 0x400000, NM_WIRE_JUMP,
	    (uint64_t[]){access_word(8, 0, NM_WIRE_READ | NM_WIRE_GUARDED), access_word(8, 1, NM_WIRE_WRITE)},
	    2, NULL, 0);
	define(w, BLOCK_CALL, 0x400100, NM_WIRE_CALL,
	       (uint64_t[]){access_word(8, 1, NM_WIRE_WRITE | NM_WIRE_FRAME)}, 1, NULL, 0);
	define(w, BLOCK_RETURN, 0x400200, NM_WIRE_RETURN,
	       (uint64_t[]){access_word(8, 1, NM_WIRE_READ | NM_WIRE_FRAME)}, 1, NULL, 0);
	define(w, BLOCK_EXIT, 0x400300, NM_WIRE_JUMP,
	       (uint64_t[]){access_word(4, 0, NM_WIRE_READ), access_word(4, 1, NM_WIRE_READ)}, 2,
	       (uint64_t[]){1 | 1 << 16}, 1);
	define(w, BLOCK_PREFETCH, 0x400400, NM_WIRE_JUMP,
	       (uint64_t[]){access_word(8, 0, NM_WIRE_PREFETCH), access_word(8, 1, NM_WIRE_READ)}, 2, NULL,
	       0);
}

static void alloc(struct nm_wire_words *w, uint64_t address, uint64_t size)
{
	RUN(w, BLOCK_CALL, STACK_END - 0x108);
	RUN(w, BLOCK_RETURN, STACK_END - 0x108);
	nm_wire_alloc_encode(w, &(struct nm_wire_alloc){NM_WIRE_MALLOC, address, size, 0x401000});
}

struct run {
	struct nm_machine machine;
	struct nm_symbols *symbols;
	struct nm_session *session;
	struct nm_result *const *results;
	size_t count;
};

static void begin(struct run *r, unsigned threads, int fetches)
{
	struct nm_engine_options options = {
	    .machine = &r->machine, .threads = threads, .instructions = fetches};

	assert_int_equal(
	    nm_machine_parse(fetches ? "L1i=1K,2,64:L1d=1K,2,64:L2=8K,4,64" : "L1d=1K,2,64:L2=8K,4,64",
			     &r->machine, NULL),
	    0);
	assert_int_equal(nm_symbols_new(&r->symbols, NULL), 0);
	options.symbols = r->symbols;
	assert_int_equal(nm_session_new(&r->session, &options, NULL), 0);
}

static int feed(struct run *r, uint32_t stream, const struct nm_wire_words *w, struct nm_error *err)
{
	return nm_session_feed(r->session, stream, w->at, w->count, err);
}

static void finish(struct run *r)
{
	assert_int_equal(nm_session_results(r->session, &r->results, &r->count, NULL), 0);
}

static void end(struct run *r)
{
	nm_session_free(r->session);
	nm_symbols_free(r->symbols);
}

static struct nm_counts of_object(const struct nm_result *result, unsigned level, const char *name)
{
	struct nm_counts sum = {0};

	for (size_t i = 0; i < result->attr_count; i++) {
		const struct nm_counts *c = &result->levels[level].counts[i];

		if (strcmp(result->objects[result->attrs[i].object].name, name))
			continue;
		sum.reads += c->reads;
		sum.writes += c->writes;
		sum.loads += c->loads;
		sum.used_bytes += c->used_bytes;
		sum.read_misses += c->read_misses;
		sum.write_misses += c->write_misses;
	}
	return sum;
}

static void charges_the_right_objects(void **state)
{
	struct nm_wire_words w = {0};
	struct run r;
	struct nm_counts c;

	(void)state;
	start(&w, NM_WIRE_STARTED, 5, 1, 0);
	alloc(&w, DATA + 0x100, 0x80);
	nm_wire_name_encode(&w, &(struct nm_wire_name){DATA + 0x8000, 64, "my table"});
	RUN(&w, BLOCK_PLAIN, DATA + 0x100, DATA + 0x178);  /* first and last word of the block */
	RUN(&w, BLOCK_PLAIN, DATA + 0x180, DATA + 0x8000); /* behind it: the allocator's; the named range */
	RUN(&w, BLOCK_PLAIN, 0, STACK_END - 0x200);        /* skipped by its guard; own frame */
	RUN(&w, BLOCK_PREFETCH, DATA + 0x100, DATA + 0x120);
	nm_wire_measure_encode(&w, &(struct nm_wire_measure){0});
	RUN(&w, BLOCK_PLAIN, DATA + 0x100, DATA + 0x100); /* not measured */
	nm_wire_measure_encode(&w, &(struct nm_wire_measure){1});
	nm_wire_free_encode(&w, &(struct nm_wire_free){NM_WIRE_FREE_CALL, DATA + 0x100});
	RUN(&w, BLOCK_EXIT, DATA + 0x100); /* freed: the allocator's again; left at the side exit */
	nm_wire_exit_encode(&w, &(struct nm_wire_exit){42});
	begin(&r, 1, 0);
	assert_int_equal(feed(&r, 0, &w, NULL), 0);
	finish(&r);
	assert_int_equal(r.count, 1);
	c = of_object(r.results[0], 0, "heap <unknown caller>");
	assert_int_equal(c.reads, 2);
	assert_int_equal(c.writes, 1);
	assert_int_equal(c.loads, 2);
	c = of_object(r.results[0], 0, "my table");
	assert_int_equal(c.reads + c.writes, 1);
	c = of_object(r.results[0], 0, "<heap bookkeeping>");
	assert_int_equal(c.reads, 2);
	assert_int_equal(r.results[0]->references, 9);
	assert_int_equal(r.results[0]->instructions, 2 * 2 + 2 * 4 + 1);
	assert_int_equal(r.results[0]->exit_status, 42);
	assert_string_equal(r.results[0]->command, "./prog x");
	end(&r);
	nm_vec_free(&w);
}

/* Instructions behind a side exit that was taken are not fetched, even within a run in one line. */
static void fetches_what_was_executed(void **state)
{
	static const char code[] = "code of no file";
	struct nm_wire_words w = {0};
	struct nm_counts c;
	struct run r;

	(void)state;
	start(&w, NM_WIRE_STARTED, 5, 1, 0);
	RUN(&w, BLOCK_EXIT, DATA);
	begin(&r, 1, 1);
	assert_int_equal(feed(&r, 0, &w, NULL), 0);
	finish(&r);
	c = of_object(r.results[0], 0, code);
	assert_int_equal(c.reads, 1);
	assert_int_equal(c.loads, 1);
	assert_int_equal(c.used_bytes, 4);
	end(&r);

	RUN(&w, BLOCK_EXIT, DATA, DATA + 8);
	begin(&r, 1, 1);
	assert_int_equal(feed(&r, 0, &w, NULL), 0);
	finish(&r);
	c = of_object(r.results[0], 0, code);
	assert_int_equal(c.reads, 3);
	assert_int_equal(c.loads, 1);
	assert_int_equal(c.used_bytes, 8);
	end(&r);
	nm_vec_free(&w);
}

static void remembers_frames_of_callers(void **state)
{
	struct nm_wire_words w = {0};
	struct run r;

	(void)state;
	start(&w, NM_WIRE_STARTED, 5, 1, 0);
	RUN(&w, BLOCK_CALL, STACK_END - 0x100);
	RUN(&w, BLOCK_CALL, STACK_END - 0x200);
	RUN(&w, BLOCK_PLAIN, STACK_END - 0x180, STACK_END - 0x300); /* caller's frame, own frame */
	RUN(&w, BLOCK_PLAIN, STACK_END - 0x80, DATA);               /* above the first call; a mapping */
	begin(&r, 1, 0);
	assert_int_equal(feed(&r, 0, &w, NULL), 0);
	finish(&r);
	assert_int_equal(of_object(r.results[0], 0, "stack of <code without a file>").reads, 1);
	assert_int_equal(of_object(r.results[0], 0, "stack of <code without a file>").writes, 3);
	assert_int_equal(of_object(r.results[0], 0, "<anonymous memory>").writes, 1);
	assert_int_equal(r.results[0]->exit_status, -1); /* the stream ended early */
	end(&r);
	nm_vec_free(&w);
}

/* A long random stream with heap traffic. */
static void random_stream(struct nm_wire_words *w)
{
	start(w, NM_WIRE_STARTED, 5, 1, 0);
	for (unsigned i = 0; i < 40000; i++) {
		uint64_t at = DATA + below(1 << 17),
			 to = below(4) ? STACK_END - 8 - below(0x400) : DATA + below(1 << 14);

		if (!below(50))
			alloc(w, DATA + below(1 << 13) * 16, 1 + below(300));
		else if (!below(40))
			nm_wire_free_encode(
			    w, &(struct nm_wire_free){NM_WIRE_FREE_CALL, DATA + below(1 << 13) * 16});
		RUN(w, BLOCK_PLAIN, at, to);
	}
}

static void threads_change_nothing(void **state)
{
	struct nm_wire_words w = {0};
	struct run r[4];

	(void)state;
	random_stream(&w);
	for (int fetches = 0; fetches < 2; fetches++) {
		for (unsigned i = 0; i < 4; i++) {
			begin(&r[i], i + 1 + i / 3, fetches); /* 1, 2, 3 and 5 threads */
			assert_int_equal(feed(&r[i], 0, &w, NULL), 0);
			finish(&r[i]);
		}
		for (unsigned i = 1; i < 4; i++) {
			const struct nm_result *a = r[0].results[0], *b = r[i].results[0];

			assert_int_equal(a->attr_count, b->attr_count);
			assert_memory_equal(a->attrs, b->attrs, a->attr_count * sizeof *a->attrs);
			for (unsigned level = 0; level < a->machine.count; level++) {
				assert_memory_equal(a->levels[level].counts, b->levels[level].counts,
						    a->attr_count * sizeof *a->levels[level].counts);
				assert_int_equal(a->levels[level].eviction_count,
						 b->levels[level].eviction_count);
			}
		}
		for (unsigned i = 0; i < 4; i++)
			end(&r[i]);
	}
	nm_vec_free(&w);
}

static void sums_close(void **state)
{
	struct nm_wire_words w = {0};
	struct run r;
	const struct nm_result *result;

	(void)state;
	random_stream(&w);
	begin(&r, 1, 0);
	assert_int_equal(feed(&r, 0, &w, NULL), 0);
	finish(&r);
	result = r.results[0];
	for (unsigned level = 0; level < result->machine.count; level++) {
		const struct nm_result_level *l = &result->levels[level];
		struct nm_counts sum = {0};
		uint64_t matrix = 0;

		for (size_t i = 0; i < result->attr_count; i++) {
			sum.reads += l->counts[i].reads;
			sum.writes += l->counts[i].writes;
			sum.loads += l->counts[i].loads;
			sum.evictions += l->counts[i].evictions;
		}
		for (size_t i = 0; i < l->eviction_count; i++)
			matrix += l->evictions[i].count;
		assert_int_equal(sum.reads, l->total.reads);
		assert_int_equal(sum.writes, l->total.writes);
		assert_int_equal(sum.loads, l->total.loads);
		assert_int_equal(sum.evictions, l->total.evictions);
		assert_int_equal(matrix, l->total.evictions);
		if (level == 0)
			assert_int_equal(sum.reads + sum.writes, result->references);
	}
	end(&r);
	nm_vec_free(&w);
}

/* In the order of their numbers, of however many digits. */
static void children_are_in_order(void **state)
{
	static const unsigned ordinals[] = {10000, 2, 9999};
	struct nm_wire_words parent = {0}, child = {0};
	struct run r;

	(void)state;
	start(&parent, NM_WIRE_STARTED, 5, 1, 0);
	for (uint32_t i = 0; i < 3; i++)
		nm_wire_fork_encode(&parent, &(struct nm_wire_fork){6 + i, ordinals[i]});
	begin(&r, 1, 0);
	assert_int_equal(feed(&r, 0, &parent, NULL), 0);
	for (uint32_t i = 0; i < 3; i++) {
		child.count = 0;
		start(&child, NM_WIRE_FORKED, 6 + i, 5, ordinals[i]);
		assert_int_equal(feed(&r, 1 + i, &child, NULL), 0);
	}
	finish(&r);
	assert_int_equal(r.count, 4);
	assert_string_equal(r.results[1]->path, "0.0002");
	assert_string_equal(r.results[2]->path, "0.9999");
	assert_string_equal(r.results[3]->path, "0.10000");
	end(&r);
	nm_vec_free(&parent);
	nm_vec_free(&child);
}

/* The child inherits its parent's code and heap, even if its stream arrives first. */
static void children_inherit(void **state)
{
	for (int child_first = 0; child_first < 2; child_first++) {
		struct nm_wire_words parent = {0}, child = {0}, image = {0};
		struct run r;

		(void)state;
		start(&parent, NM_WIRE_STARTED, 5, 1, 0);
		alloc(&parent, DATA + 0x100, 0x80);
		nm_wire_fork_encode(&parent, &(struct nm_wire_fork){6, 1});
		start(&child, NM_WIRE_FORKED, 6, 5, 1);
		nm_wire_thread_encode(&child, &(struct nm_wire_thread){1});
		RUN(&child, BLOCK_PLAIN, DATA + 0x100, DATA + 0x108);
		start(&image, NM_WIRE_EXECED, 6, 5, 0);
		begin(&r, 1, 0);
		if (child_first)
			assert_int_equal(feed(&r, 1, &child, NULL), 0);
		assert_int_equal(feed(&r, 0, &parent, NULL), 0);
		if (!child_first)
			assert_int_equal(feed(&r, 1, &child, NULL), 0);
		assert_int_equal(feed(&r, 2, &image, NULL), 0);
		finish(&r);
		assert_int_equal(r.count, 3);
		assert_string_equal(r.results[0]->path, "0");
		assert_string_equal(r.results[1]->path, "0.0001");
		assert_string_equal(r.results[2]->path, "0.0001x");
		assert_int_equal(of_object(r.results[1], 0, "heap <unknown caller>").reads, 1);
		assert_int_equal(of_object(r.results[1], 0, "heap <unknown caller>").writes, 1);
		end(&r);
		nm_vec_free(&parent);
		nm_vec_free(&child);
		nm_vec_free(&image);
	}
}

/* Reads of object `name` at a site. */
static uint64_t reads_at(const struct nm_result *result, const char *name, const char *function,
			 const char *file, uint32_t line)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < result->attr_count; i++) {
		const struct nm_result_site *s = &result->sites[result->attrs[i].site];

		if (!strcmp(result->objects[result->attrs[i].object].name, name) && s->function && s->file &&
		    !strcmp(s->function, function) && !strcmp(s->file, file) && s->line == line)
			sum += result->levels[0].counts[i].reads;
	}
	return sum;
}

/* Without mappings and modules the stream names data and code; a forked child inherits both. */
static void places_are_named_by_the_stream(void **state)
{
	struct nm_wire_words w = {0}, child = {0};
	const char *argv[] = {"nest"};
	struct nm_wire_process p = {.start = NM_WIRE_STARTED,
				    .version = NM_WIRE_VERSION,
				    .pid = 5,
				    .argc = 1,
				    .executable = "/some.nest",
				    .directory = "/"};
	struct run r;

	(void)state;
	nm_wire_process_encode(&w, &p, argv);
	nm_wire_thread_start_encode(&w, &(struct nm_wire_thread_start){1, 0, 0, 0});
	nm_wire_thread_encode(&w, &(struct nm_wire_thread){1});
	define(&w, BLOCK_EXIT, 0x400300, NM_WIRE_JUMP,
	       (uint64_t[]){access_word(4, 0, NM_WIRE_READ), access_word(4, 1, NM_WIRE_READ)}, 2, NULL, 0);
	nm_wire_place_encode(&w, &(struct nm_wire_place){0x400300, 7, "X(i)", "some.nest"});
	nm_wire_place_encode(&w, &(struct nm_wire_place){0x400304, 7, "Y(i)", "some.nest"});
	nm_wire_name_encode(&w, &(struct nm_wire_name){0x1000, 400, "X"});
	nm_wire_name_encode(&w, &(struct nm_wire_name){0x1190, 400, "Y"});
	for (uint64_t i = 0; i < 100; i++)
		RUN(&w, BLOCK_EXIT, 0x1000 + 4 * i, 0x1190 + 4 * i);
	nm_wire_unname_encode(&w, &(struct nm_wire_unname){0x1190});
	nm_wire_name_encode(&w, &(struct nm_wire_name){0x1190, 400, "Z"});
	RUN(&w, BLOCK_EXIT, 0x1000, 0x1190);
	nm_wire_fork_encode(&w, &(struct nm_wire_fork){6, 1});
	start(&child, NM_WIRE_FORKED, 6, 5, 1);
	nm_wire_thread_encode(&child, &(struct nm_wire_thread){1});
	RUN(&child, BLOCK_EXIT, 0x1000, 0x1190);
	begin(&r, 1, 0);
	assert_int_equal(feed(&r, 0, &w, NULL), 0);
	assert_int_equal(feed(&r, 1, &child, NULL), 0);
	finish(&r);
	assert_int_equal(r.count, 2);
	assert_int_equal(reads_at(r.results[0], "X", "X(i)", "some.nest", 7), 101);
	assert_int_equal(reads_at(r.results[0], "Y", "Y(i)", "some.nest", 7), 100);
	assert_int_equal(reads_at(r.results[0], "Z", "Y(i)", "some.nest", 7), 1);
	assert_int_equal(reads_at(r.results[1], "X", "X(i)", "some.nest", 7), 1);
	assert_int_equal(reads_at(r.results[1], "Z", "Y(i)", "some.nest", 7), 1);
	end(&r);
	nm_vec_free(&w);
	nm_vec_free(&child);
}

static void refuses_bad_streams(void **state)
{
	struct nm_wire_words w = {0};
	struct nm_error err;
	struct run r;

	(void)state;
	begin(&r, 1, 0);
	nm_wire_exit_encode(&w, &(struct nm_wire_exit){0});
	assert_int_equal(feed(&r, 0, &w, &err), NM_EFORMAT); /* no process */
	w.count = 0;
	start(&w, NM_WIRE_STARTED, 5, 1, 0);
	RUN(&w, 77, DATA);
	assert_int_equal(feed(&r, 1, &w, &err), NM_EFORMAT); /* an unknown block */
	w.count = 0;
	start(&w, NM_WIRE_STARTED, 6, 1, 0);
	RUN(&w, BLOCK_PLAIN, DATA);
	assert_int_equal(feed(&r, 2, &w, &err), NM_EFORMAT); /* cut short */
	w.count = 0;
	start(&w, NM_WIRE_STARTED, 7, 1, 0);
	nm_wire_thread_encode(&w, &(struct nm_wire_thread){9});
	assert_int_equal(feed(&r, 3, &w, &err), NM_EFORMAT); /* an unknown thread */
	finish(&r);
	assert_int_equal(r.count, 3); /* what was seen before counts */
	end(&r);
	nm_vec_free(&w);
}

/* Each member of a coalesced access has an entry beside that of the whole, and entries have 16-bit
 * numbers. */
static void refuses_more_accesses_in_groups_than_it_can_number(void **state)
{
	enum { PAIRS = 25000, BLOCK_PAIRS = 90 };
	static uint64_t accesses[2 * PAIRS], addresses[PAIRS];
	struct nm_wire_words w = {0};
	struct nm_error err;
	struct run r;

	(void)state;
	begin(&r, 1, 0);
	start(&w, NM_WIRE_STARTED, 5, 1, 0);
	for (unsigned i = 0; i < PAIRS; i++) {
		addresses[i] = DATA;
		accesses[2 * i] = access_word(8, 0, NM_WIRE_READ);
		accesses[2 * i + 1] = access_word(8, 0, NM_WIRE_WRITE | NM_WIRE_FOLLOWS);
	}
	define(&w, BLOCK_PAIRS, 0x401000, NM_WIRE_JUMP, accesses, 2 * PAIRS, NULL, 0);
	run_block(&w, BLOCK_PAIRS, PAIRS, addresses);
	assert_int_equal(feed(&r, 0, &w, &err), NM_EFORMAT);
	assert_non_null(strstr(err.text, "too many accesses in groups"));
	end(&r);
	nm_vec_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(blocks_equal_a_list),
	    cmocka_unit_test(a_page_has_an_owner_for_each_granule),
	    cmocka_unit_test(frames_follow_calls_and_jumps),
	    cmocka_unit_test(contexts_tell_chains_apart),
	    cmocka_unit_test(chains_fold_recursion),
	    cmocka_unit_test(chains_of_deep_recursion_are_equal),
	    cmocka_unit_test(charges_the_right_objects),
	    cmocka_unit_test(fetches_what_was_executed),
	    cmocka_unit_test(remembers_frames_of_callers),
	    cmocka_unit_test(threads_change_nothing),
	    cmocka_unit_test(sums_close),
	    cmocka_unit_test(children_inherit),
	    cmocka_unit_test(children_are_in_order),
	    cmocka_unit_test(places_are_named_by_the_stream),
	    cmocka_unit_test(refuses_bad_streams),
	    cmocka_unit_test(refuses_more_accesses_in_groups_than_it_can_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
