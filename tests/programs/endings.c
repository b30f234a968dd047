/* SPDX-License-Identifier: MIT
 *
 * endings.c - does some work (4096 misses on `data`) and ends as it is told: `exit` with status 42, `crash`
 * by SIGSEGV, `abort`, `forever` (says "ready", then works until it is killed), `handler` (the same, but
 * SIGINT makes it exit with 7), `echo` (copies standard input to output, a word to error), `unknown` (an
 * instruction that Valgrind does not know, which is a SIGILL), `probe` (the same, but handles it as one who
 * asks what the processor can do: goes on behind it, and works once more).
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

enum { LINES = 4096 };

static _Alignas(64) int data[LINES * 16];
static volatile sig_atomic_t asked;

static __attribute__((noinline)) int work(void)
{
	int sum = 0;

	for (int i = 0; i < LINES; i++)
		sum += data[i * 16]++; /* @data */
	return sum;
}

static void on_interrupt(int number)
{
	(void)number;
	asked = 1;
}

static int work_until_asked(void)
{
	puts("ready");
	fflush(stdout);
	while (!asked)
		work();
	return 7;
}

static int echo(void)
{
	int c;

	while ((c = getchar()) != EOF)
		putchar(c);
	fflush(stdout);
	fputs("done\n", stderr);
	return 0;
}

/* vpaddq %zmm0, %zmm0, %zmm0: of AVX-512. */
static void execute_unknown(void)
{
	data[0]++;
	__asm__ volatile(".byte 0x62, 0xf1, 0xfd, 0x48, 0xd4, 0xc0");
}

static void skip_unknown(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 6;
}

static int probe(void)
{
	struct sigaction action = {.sa_sigaction = skip_unknown, .sa_flags = SA_SIGINFO};

	sigaction(SIGILL, &action, NULL);
	execute_unknown();
	work();
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "exit";

	work();
	if (strcmp(how, "crash") == 0)
		*(volatile int *)8 = 1; /* @crash */
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "handler") == 0)
		signal(SIGINT, on_interrupt);
	if (strcmp(how, "forever") == 0 || strcmp(how, "handler") == 0)
		return work_until_asked();
	if (strcmp(how, "echo") == 0)
		return echo();
	if (strcmp(how, "probe") == 0)
		return probe();
	if (strcmp(how, "unknown") == 0)
		execute_unknown();
	return 42;
}
