/* SPDX-License-Identifier: MIT
 *
 * signals.c - signals that come to functions in the midst of their work: handlers that return, that jump out,
 * that are interrupted themselves, on the interrupted stack and on one of their own. Each function reads so
 * many lines of `table` that its context is known by the count; they stand in the comments.
 */
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

enum { LINES = 4096, STACK = 65536 };

static _Alignas(64) volatile int table[LINES * 16];
static volatile int seen;
static sigjmp_buf escape;

/* Reads so many lines without a call. */
#define READ(count)                       \
	for (int i = 0; i < (count); i++) \
	seen += table[(seen + i) % LINES * 16]

static __attribute__((noinline)) void touch(int count) { READ(count); }

static void on_plain(int number) /* 10, 20 */
{
	(void)number;
	READ(10);
	touch(20);
}

static void on_leaf(int number) /* 30, on a stack of its own */
{
	(void)number;
	READ(30);
}

static void on_outer(int number) /* 40, 50, 60, on a stack of its own; on_plain comes between */
{
	(void)number;
	touch(40);
	raise(SIGUSR1);
	READ(50);
	touch(60);
}

static __attribute__((noinline)) void leave(void) /* 70 */
{
	READ(70);
	siglongjmp(escape, 1);
}

static void on_fault(int number) /* 80 */
{
	(void)number;
	READ(80);
	leave();
}

/* 100, 110, 120, 130: the traps interrupt the function itself. */
static __attribute__((noinline)) void interrupted(void)
{
	READ(100);
	__asm__ volatile("int3"); /* on_plain */
	READ(110);
	raise(SIGUSR2); /* on_leaf */
	READ(120);
	raise(SIGTERM); /* on_outer */
	touch(130);
}

/* 200, 210: nothing is called in between. */
static __attribute__((noinline)) void faulty(void)
{
	if (!sigsetjmp(escape, 1))
		*(volatile int *)NULL = 1;
	READ(200);
	touch(210);
}

/* 300, 310, and the depths of the recursion: of each call 5. */
static __attribute__((noinline)) void deep(int depth)
{
	READ(5);
	if (!depth)
		__builtin_trap();
	deep(depth - 1);
	seen++; /* so that it is no loop */
}

static __attribute__((noinline)) void from_the_deep(void)
{
	if (!sigsetjmp(escape, 1))
		deep(3);
	READ(300);
	touch(310);
}

static void handle(int number, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

	sigaction(number, &action, NULL);
}

int main(void)
{
	static char stack[STACK];
	stack_t alternate = {.ss_sp = stack, .ss_size = STACK};

	sigaltstack(&alternate, NULL);
	handle(SIGTRAP, on_plain, 0);
	handle(SIGUSR1, on_plain, 0);
	handle(SIGUSR2, on_leaf, SA_ONSTACK);
	handle(SIGTERM, on_outer, SA_ONSTACK);
	for (int i = 0; i < 2; i++)
		interrupted();
	handle(SIGSEGV, on_fault, 0);
	faulty();
	handle(SIGSEGV, on_fault, SA_ONSTACK);
	faulty();
	handle(SIGILL, on_fault, SA_ONSTACK);
	from_the_deep();
	handle(SIGILL, on_fault, 0);
	from_the_deep();
	touch(400); /* main itself is back */
	return 0;
}
