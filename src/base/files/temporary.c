/* SPDX-License-Identifier: MIT
 *
 * temporary.c - see temporary.h. The handler only reads the list and calls unlink() and raise().
 */
#include "temporary.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

enum { SLOTS = 8 };

static const char *_Atomic listed[SLOTS];

void nm_temporary_add(const char *path)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		const char *none = NULL;

		if (atomic_compare_exchange_strong(&listed[i], &none, path))
			return;
	}
}

void nm_temporary_forget(const char *path)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		const char *same = path;

		if (path && atomic_compare_exchange_strong(&listed[i], &same, NULL))
			return;
	}
}

static void unlink_and_die(int number)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		const char *path = atomic_load(&listed[i]);

		if (path)
			unlink(path);
	}
	raise(number); /* the default action, by SA_RESETHAND */
}

void nm_temporary_unlink_on_signals(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = unlink_and_die, .sa_flags = (int)SA_RESETHAND}, before;

	sigemptyset(&action.sa_mask);
	for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (!sigaction(numbers[i], NULL, &before) && before.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
}
