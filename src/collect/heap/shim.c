/* SPDX-License-Identifier: MIT
 *
 * shim.c - malloc's family for a program that is sampled: calls the next library's, and notes what it did.
 *
 * It is preloaded by `nearmiss sample`. Blocks stay where the program's own allocator puts them. A call within a
 * call (a signal's handler, the unwinder) is passed on without a note, as are those before the library is ready.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "heap_writer.h"

#define EXPORTED __attribute__((visibility("default"), noinline))

/* The frame of a function that was called from the program, and where it returns to. */
#define FRAME ((uintptr_t)__builtin_frame_address(0) + 2 * sizeof(void *))
#define CALLER ((uintptr_t)__builtin_return_address(0))

static struct {
	void *(*malloc)(size_t);
	void (*free)(void *);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void *(*memalign)(size_t, size_t);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	void *(*valloc)(size_t);
	size_t (*usable)(void *);
} next;

static int has_begun;  /* the log was looked for */
static int is_ready;   /* calls are noted */
static size_t least;   /* bytes of blocks that are noted */
static int is_finding; /* the next library's functions are being looked up, which may allocate */
static __thread int is_within __attribute__((tls_model("initial-exec")));

/* What the look-up allocates; never freed. */
static _Alignas(16) char early[1 << 14];
static size_t early_used;

static void *early_block(size_t bytes)
{
	const size_t at = early_used, padded = (bytes + 15) & ~(size_t)15;

	if (bytes > sizeof early || padded > sizeof early - at)
		return NULL;
	early_used += padded;
	return early + at;
}

static int is_early(const void *block)
{
	return (const char *)block >= early && (const char *)block < early + sizeof early;
}

static void find_next(void)
{
	if (next.free || is_finding)
		return;
	is_finding = 1;
	next.malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
	next.calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
	next.realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
	next.memalign = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "memalign");
	next.posix_memalign = (int (*)(void **, size_t, size_t))dlsym(RTLD_NEXT, "posix_memalign");
	next.aligned_alloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "aligned_alloc");
	next.valloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "valloc");
	next.usable = (size_t(*)(void *))dlsym(RTLD_NEXT, "malloc_usable_size");
	next.free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
	is_finding = 0;
}

/* Other libraries are made ready before this one, and allocate meanwhile: the first of their calls begins. */
__attribute__((constructor)) static void begin(void)
{
	find_next();
	if (has_begun || !environ)
		return;
	has_begun = is_within = 1;
	is_ready = heap_writer_open();
	least = is_ready ? heap_writer_least() : 0;
	is_within = 0;
}

/* ---- notes -------------------------------------------------------------------------------------- */

static uint64_t time_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void note_allocation(const void *block, size_t bytes, uintptr_t frame, uintptr_t caller)
{
	enum { CHAIN_WORDS = 2 + NM_HEAP_FRAMES, WORDS = 3 };
	const uint64_t most = UINT64_MAX >> NM_HEAP_BYTES;
	struct heap_writer *w;

	if (!has_begun)
		begin();
	if (!block || !is_ready || is_within || bytes < least)
		return;
	is_within = 1;
	w = heap_writer_of_thread(CHAIN_WORDS + WORDS);
	if (w) {
		const uint64_t time = time_now(), chain = heap_writer_chain(w, frame, caller, time);
		const uint64_t words[2] = {time, (bytes < most ? bytes : most) << NM_HEAP_BYTES |
						     (chain & ((1u << NM_HEAP_BYTES) - 1))};

		heap_writer_put(w, (uint64_t)NM_HEAP_ALLOCATION << NM_HEAP_KIND | (uintptr_t)block, words, 2);
	}
	is_within = 0;
}

static void note_release_at(const void *block, uint64_t time)
{
	struct heap_writer *w;

	is_within = 1;
	w = heap_writer_of_thread(2);
	if (w)
		heap_writer_put(w, (uint64_t)NM_HEAP_RELEASE << NM_HEAP_KIND | (uintptr_t)block, &time, 1);
	is_within = 0;
}

/* The allocation may have been noted: a block has at least the room that was asked for. */
static int was_noted(void *block)
{
	return is_ready && !is_within && (!least || !next.usable || next.usable(block) >= least);
}

/* ---- malloc's family ---------------------------------------------------------------------------- */

EXPORTED void *malloc(size_t bytes)
{
	void *block;

	find_next();
	if (!next.malloc)
		return early_block(bytes);
	block = next.malloc(bytes);
	note_allocation(block, bytes, FRAME, CALLER);
	return block;
}

EXPORTED void free(void *block)
{
	find_next();
	if (!block || is_early(block) || !next.free)
		return;
	if (was_noted(block))
		note_release_at(block, time_now());
	next.free(block);
}

EXPORTED void *calloc(size_t count, size_t bytes)
{
	void *block;

	find_next();
	if (!next.calloc)
		return bytes && count > sizeof early / bytes ? NULL : early_block(count * bytes);
	block = next.calloc(count, bytes);
	note_allocation(block, count * bytes, FRAME, CALLER);
	return block;
}

/* Of an early block: it moves. */
static void *move_early(const void *old, size_t bytes)
{
	const size_t there = (size_t)(early + sizeof early - (const char *)old);
	void *block = next.malloc ? next.malloc(bytes) : early_block(bytes);

	return block ? memcpy(block, old, bytes < there ? bytes : there) : NULL;
}

/* A block that grows is another one from then on, also where it stays. The release is noted when it is certain, with
 * the time at which the allocator got the block. */
static void *resize_block(void *old, size_t bytes, uintptr_t frame, uintptr_t caller)
{
	uint64_t time = 0;
	void *block;

	find_next();
	if (is_early(old))
		return move_early(old, bytes);
	if (!next.realloc)
		return old ? NULL : early_block(bytes);
	if (old && was_noted(old))
		time = time_now();
	block = next.realloc(old, bytes);
	if (time && (block || !bytes))
		note_release_at(old, time);
	note_allocation(block, bytes, frame, caller);
	return block;
}

EXPORTED void *realloc(void *old, size_t bytes) { return resize_block(old, bytes, FRAME, CALLER); }

EXPORTED void *reallocarray(void *old, size_t count, size_t bytes)
{
	size_t all;

	if (__builtin_mul_overflow(count, bytes, &all)) {
		errno = ENOMEM;
		return NULL;
	}
	return resize_block(old, all, FRAME, CALLER);
}

EXPORTED int posix_memalign(void **ret_block, size_t alignment, size_t bytes)
{
	int error;

	find_next();
	error = next.posix_memalign ? next.posix_memalign(ret_block, alignment, bytes) : ENOMEM;
	if (!error)
		note_allocation(*ret_block, bytes, FRAME, CALLER);
	return error;
}

EXPORTED void *aligned_alloc(size_t alignment, size_t bytes)
{
	void *block;

	find_next();
	block = next.aligned_alloc ? next.aligned_alloc(alignment, bytes) : NULL;
	note_allocation(block, bytes, FRAME, CALLER);
	return block;
}

EXPORTED void *memalign(size_t alignment, size_t bytes)
{
	void *block;

	find_next();
	block = next.memalign ? next.memalign(alignment, bytes) : NULL;
	note_allocation(block, bytes, FRAME, CALLER);
	return block;
}

EXPORTED void *valloc(size_t bytes)
{
	void *block;

	find_next();
	block = next.valloc ? next.valloc(bytes) : NULL;
	note_allocation(block, bytes, FRAME, CALLER);
	return block;
}
