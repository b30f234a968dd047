/* SPDX-License-Identifier: MIT
 *
 * The log is opened anew for each chunk, as the program may close all files that it does not know. Of a page that
 * the kernel clears in a forked child (MADV_WIPEONFORK) each thread sees whether the chunk that it holds is still
 * its own, however the child was made. Chunks of threads that have ended are handed on.
 */
#include "heap_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_SPARE = 1000 };

/* Of this process; zeros in a forked child. */
struct family {
	uint32_t pid;
	int lock;
	uint32_t spares;
	struct {
		uint64_t *at, *end;
	} spare[MOST_SPARE];
};

static char path[256];
static struct nm_heap_log_header *header;
static struct family *family;
static pthread_key_t ending;
static __thread struct heap_writer own __attribute__((tls_model("initial-exec")));

void *heap_writer_memory(size_t bytes)
{
	void *at =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* Maps a part of the log, after making room for it if `grow`; without a cancellation point. */
static void *map_log(uint64_t offset, uint64_t bytes, int grow)
{
	const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
	void *at = MAP_FAILED;

	if (fd < 0)
		return NULL;
	if (!grow || !syscall(SYS_fallocate, fd, 0, offset, bytes))
		at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, (off_t)offset);
	syscall(SYS_close, fd);
	return at == MAP_FAILED ? NULL : at;
}

/* ---- threads that end --------------------------------------------------------------------------- */

static int try_lock(void) { return !__atomic_exchange_n(&family->lock, 1, __ATOMIC_ACQUIRE); }
static void unlock_log(void) { __atomic_store_n(&family->lock, 0, __ATOMIC_RELEASE); }

/* A chunk that cannot be handed on at once stays as it is. */
static void leave_chunk(void *writer)
{
	struct heap_writer *w = writer;

	if (w->pid == family->pid && try_lock()) {
		if (family->spares < MOST_SPARE) {
			family->spare[family->spares].at = w->at;
			family->spare[family->spares++].end = w->end;
		}
		unlock_log();
	}
	*w = (struct heap_writer){0};
}

static int take_spare(struct heap_writer *w)
{
	if (!family->spares || !try_lock())
		return 0;
	if (family->spares) {
		w->at = family->spare[--family->spares].at;
		w->end = family->spare[family->spares].end;
		w->pid = family->pid;
	}
	unlock_log();
	return w->pid == family->pid;
}

/* ---- chunks ------------------------------------------------------------------------------------- */

static int take_chunk(struct heap_writer *w)
{
	struct nm_heap_log_chunk *chunk =
	    map_log(__atomic_fetch_add(&header->end, NM_HEAP_CHUNK, __ATOMIC_RELAXED), NM_HEAP_CHUNK, 1);

	if (!chunk) {
		header->failed = 1;
		return 0;
	}
	madvise(chunk, NM_HEAP_CHUNK, MADV_DONTFORK);
	chunk->pid = w->pid = family->pid;
	w->at = chunk->words;
	w->end = (uint64_t *)((char *)chunk + NM_HEAP_CHUNK);
	return 1;
}

static int has_room(const struct heap_writer *w, unsigned words)
{
	return w->pid && w->pid == family->pid && words <= (size_t)(w->end - w->at);
}

static struct heap_writer *prepare_record(struct heap_writer *w, unsigned words)
{
	const int saved = errno;

	if (!family->pid)
		family->pid = (uint32_t)syscall(SYS_getpid);
	if (w->pid == family->pid)
		munmap((char *)w->end - NM_HEAP_CHUNK, NM_HEAP_CHUNK);
	else
		pthread_setspecific(ending, w);
	*w = (struct heap_writer){0};
	while (!has_room(w, words) && (take_spare(w) || take_chunk(w)))
		;
	errno = saved;
	return has_room(w, words) ? w : NULL;
}

struct heap_writer *heap_writer_of_thread(unsigned words)
{
	if (has_room(&own, words))
		return &own;
	return header->failed ? NULL : prepare_record(&own, words);
}

uint32_t heap_writer_new_chain(void) { return __atomic_add_fetch(&header->chains, 1, __ATOMIC_RELAXED); }

uint64_t heap_writer_least(void) { return header->least; }

int heap_writer_open(void)
{
	const char *named = getenv(NM_HEAP_LOG_VARIABLE);

	if (!named || strlen(named) >= sizeof path)
		return 0;
	strcpy(path, named);
	header = map_log(0, NM_HEAP_HEADER, 0);
	if (!header || header->magic != NM_HEAP_MAGIC)
		return 0;
	family = heap_writer_memory(sizeof *family);
	return family && !madvise(family, sizeof *family, MADV_WIPEONFORK) && heap_writer_open_chains() &&
	       heap_writer_open_memo() && !pthread_key_create(&ending, leave_chunk);
}
