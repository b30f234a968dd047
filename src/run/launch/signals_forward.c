/* SPDX-License-Identifier: MIT */
#include "signals_forward.h"

#include <stddef.h>

const int nm_forwarded_signals[6] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ};

enum { SIGNALS = sizeof nm_forwarded_signals / sizeof *nm_forwarded_signals };

static volatile sig_atomic_t forward_to; /* the program, or 0 */
static sigset_t unblocked;               /* the mask before nm_signals_catch */

static void forward_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (info->si_code <= 0 && forward_to > 0) /* sent by a process, not by the terminal */
		kill((pid_t)forward_to, number);
}

static void set_handler(int number, const struct sigaction *action, sigset_t *ignored)
{
	struct sigaction before;

	if (!sigaction(number, action, &before) && before.sa_handler == SIG_IGN)
		sigaddset(ignored, number);
}

void nm_signals_ignore_failed_writes(sigset_t *ignored)
{
	const struct sigaction action = {.sa_handler = SIG_IGN};

	set_handler(SIGPIPE, &action, ignored);
	set_handler(SIGXFSZ, &action, ignored);
}

void nm_signals_catch(sigset_t *ignored)
{
	struct sigaction action = {.sa_sigaction = forward_signal, .sa_flags = SA_SIGINFO | SA_RESTART};

	sigset_t all;

	sigemptyset(&all);
	for (size_t i = 0; i < SIGNALS; i++)
		sigaddset(&all, nm_forwarded_signals[i]);
	pthread_sigmask(SIG_BLOCK, &all, &unblocked);
	for (size_t i = 0; i < SIGNALS; i++)
		if (nm_forwarded_signals[i] != SIGPIPE && nm_forwarded_signals[i] != SIGXFSZ)
			set_handler(nm_forwarded_signals[i], &action, ignored);
}

void nm_signals_restore(const sigset_t *ignored)
{
	for (size_t i = 0; i < SIGNALS; i++)
		signal(nm_forwarded_signals[i],
		       sigismember(ignored, nm_forwarded_signals[i]) ? SIG_IGN : SIG_DFL);
	pthread_sigmask(SIG_SETMASK, &unblocked, NULL);
}

void nm_signals_forward_to(pid_t pid)
{
	forward_to = pid;
	pthread_sigmask(SIG_SETMASK, &unblocked, NULL);
}
