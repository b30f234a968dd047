/* SPDX-License-Identifier: MIT
 *
 * callers.c - library functions that are called from the user's code in every way there is. Each array is
 * touched by the library on behalf of one line only.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 1 << 18, ITEMS = 2000 };

static char plain[SIZE], tail[SIZE], handled[SIZE], after[SIZE], child[SIZE], threaded[SIZE], landed[SIZE],
    found[SIZE];
static char names[ITEMS][64];
static const char *items[ITEMS];
static jmp_buf back;

__attribute__((noinline)) static void clear(void) { memset(tail, 1, SIZE); /* @tail */ }

static void on_signal(int number) { memset(handled, number, SIZE); /* @handled */ }

static void *work(void *arg)
{
	memset(threaded, 1, SIZE); /* @threaded */
	return arg;
}

static int by_name(const void *a, const void *b)
{
	int order = strcmp(*(const char *const *)a, *(const char *const *)b); /* @compared */

	return order;
}

static int jump(const void *a, const void *b)
{
	(void)a, (void)b;
	longjmp(back, 1);
}

static int differ(const void *a, const void *b) { return *(const char *)a != *(const char *)b; }

static void fork_and_wait(void)
{
	if (!fork()) {
		memset(child, 1, SIZE); /* @child */
		_exit(0);
	}
	wait(NULL);
}

int main(void)
{
	static char key = 1;
	pthread_t thread;

	memset(plain, 1, SIZE); /* @plain */
	clear();
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	memset(after, 1, SIZE); /* @after */
	for (int i = 0; i < ITEMS; i++) {
		memcpy(names[i], "an item with a name", 20);
		names[i][0] = (char)('a' + i % 26);
		items[i] = names[i];
	}
	qsort(items, ITEMS, sizeof *items, by_name); /* @sorted */
	if (!setjmp(back))
		qsort(items, ITEMS, sizeof *items, jump);
	memset(landed, 1, SIZE); /* @landed */
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	fork_and_wait();
	return memchr(found, key, SIZE) || !bsearch(&key, plain, 1, 1, differ); /* @found */
}
