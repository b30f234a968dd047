/* SPDX-License-Identifier: MIT
 *
 * calls.cpp - ways to call and to come back. `touch` reads so many lines of `table` in so many contexts that
 * each chain of calls is known by its count: the reads of `table` by each function are in its comment.
 */
#include <csetjmp>
#include <csignal>
#include <pthread.h>

enum { LINES = 4096 };

alignas(64) static volatile int table[LINES * 16];
static volatile int seen;
static std::jmp_buf back;

extern "C" {

__attribute__((noinline)) int touch(int count)
{
	static int next;
	int sum = 0;

	for (int i = 0; i < count; i++, next++)
		sum += table[next % LINES * 16]; /* @touch */
	return sum;
}

__attribute__((noinline)) int direct() { return touch(100) + 1; }

__attribute__((noinline)) int nested() { return touch(1000) + direct() + 1; } /* 1100 */

__attribute__((noinline)) int recursive(int n) /* n */
{
	int rest = n ? touch(1) + recursive(n - 1) : 0;

	seen = n; /* so that it is no loop */
	return rest;
}

__attribute__((noinline)) int odd(int n);

__attribute__((noinline)) int even(int n)
{
	int rest = n ? touch(1) + odd(n - 1) : 0;

	seen = n;
	return rest;
}

int odd(int n)
{
	int rest = n ? touch(1) + even(n - 1) : 0;

	seen = n;
	return rest;
}

static int one() { return touch(30) + 1; }
static int two() { return touch(40) + 1; }
static int (*volatile which[])() = {one, two, one};

__attribute__((noinline)) int leave()
{
	touch(50);
	std::longjmp(back, 1);
}

__attribute__((noinline)) int throws(int deep)
{
	if (!deep) {
		touch(60);
		throw 1;
	}
	return throws(deep - 1) + 1;
}

__attribute__((noinline)) int after() { return touch(70) + 1; }

__attribute__((noinline)) int tail() { return touch(80); } /* a jump */

static void on_signal(int) { seen = touch(90); }

static void *worker(void *) { return touch(110) ? (void *)table : nullptr; }
}

int main()
{
	pthread_t thread;
	int sum = direct() + nested() + recursive(200) + even(120);

	for (int i = 0; i < 3; i++)
		sum += which[i](); /* 30 + 40 + 30 */
	if (!setjmp(back))
		leave();
	try {
		throws(3);
	} catch (int) {
		sum++;
	}
	sum += after(); /* not in what was left */
	sum += tail();
	std::signal(SIGUSR1, on_signal);
	std::raise(SIGUSR1);
	if (pthread_create(&thread, nullptr, worker, nullptr) || pthread_join(thread, nullptr))
		return 1;
	return sum == 0;
}
