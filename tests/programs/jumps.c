/* SPDX-License-Identifier: MIT
 *
 * jumps.c - control flow that confuses whoever keeps a stack of frames: signals on their own stack,
 * siglongjmp out of a handler and out of a deep recursion, coroutines by swapcontext.
 *
 * After all of it `after` walks `table` (1024 lines): those misses must bear its name.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { LINES = 1024, STACK = 65536 };

static volatile _Alignas(64) int table[LINES * 16];
static _Alignas(64) int handled[LINES * 16];
static sigjmp_buf escape, bottom;
static ucontext_t main_context, coroutine_context;
static int steps;

static void on_signal(int number)
{
	(void)number;
	for (int i = 0; i < LINES; i++)
		handled[i * 16]++; /* @handler */
}

static void on_escape(int number)
{
	(void)number;
	siglongjmp(escape, 1);
}

static __attribute__((noinline)) void descend(int depth)
{
	volatile char frame[256];

	frame[0] = (char)depth;
	if (depth == 0)
		siglongjmp(bottom, 1);
	descend(depth - 1);
	frame[1] = frame[0];
}

static void coroutine(void)
{
	for (int i = 0; i < 3; i++) {
		steps++;
		swapcontext(&coroutine_context, &main_context);
	}
}

static __attribute__((noinline)) int after(void)
{
	int sum = 0;

	for (int i = 0; i < LINES; i++)
		sum += table[i * 16]; /* @after */
	return sum;
}

int main(void)
{
	static char signal_stack[STACK], coroutine_stack[STACK];
	stack_t alternate = {.ss_sp = signal_stack, .ss_size = STACK};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	action.sa_handler = on_escape;
	action.sa_flags = 0;
	sigaction(SIGUSR2, &action, NULL);
	if (sigsetjmp(escape, 1) == 0)
		raise(SIGUSR2);
	if (sigsetjmp(bottom, 0) == 0)
		descend(200);
	getcontext(&coroutine_context);
	coroutine_context.uc_stack.ss_sp = coroutine_stack;
	coroutine_context.uc_stack.ss_size = STACK;
	coroutine_context.uc_link = &main_context;
	makecontext(&coroutine_context, coroutine, 0);
	for (int i = 0; i < 3; i++)
		swapcontext(&main_context, &coroutine_context);
	printf("%d %d %d\n", steps, handled[0], after());
	return 0;
}
