/* SPDX-License-Identifier: MIT
 *
 * fail_at.h - counts calls and chooses the one that fails, for the libraries that tests preload.
 *
 * NM_FAIL_AT=N fails the N-th call, counted from 1; with NM_FAIL_ON=1 all later ones too, as when memory
 * stays short. NM_FAIL_COUNT=FILE receives the number of calls when the process exits. Only the program
 * NM_FAIL_PROGRAM (nearmiss) is disturbed, not what it starts.
 */
#ifndef NM_FAIL_AT_H
#define NM_FAIL_AT_H

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static atomic_ulong calls;
static unsigned long fail_at; /* 0: never */
static int stays_so, is_counting;

static int fails(void)
{
	unsigned long n = is_counting ? atomic_fetch_add(&calls, 1) + 1 : 0;

	return n && fail_at && (n == fail_at || (n > fail_at && stays_so));
}

__attribute__((constructor)) static void start(void)
{
	const char *at = getenv("NM_FAIL_AT"), *on = getenv("NM_FAIL_ON"),
		   *program = getenv("NM_FAIL_PROGRAM");

	fail_at = at ? strtoul(at, NULL, 10) : 0;
	stays_so = on && *on == '1';
	is_counting = !strcmp(program_invocation_short_name, program ? program : "nearmiss");
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("NM_FAIL_COUNT");
	char text[32];
	int n, fd;

	if (!is_counting || !path)
		return;
	is_counting = 0;
	n = snprintf(text, sizeof text, "%lu\n", atomic_load(&calls));
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd >= 0 && write(fd, text, (size_t)n) == n)
		close(fd);
}

#endif
