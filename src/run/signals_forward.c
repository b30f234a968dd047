/* SPDX-License-Identifier: MIT
 *
 * signals_forward.c - see signals_forward.h.
 */
#include "signals_forward.h"

const int nm_forwarded_signals[5] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE};

static volatile sig_atomic_t forward_to; /* the program, or 0 */

static void forward(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (info->si_code <= 0 && forward_to > 0) /* sent by a process, not by the terminal */
		kill((pid_t)forward_to, number);
}

static void handle(int number, const struct sigaction *action, sigset_t *ignored)
{
	struct sigaction before;

	if (!sigaction(number, action, &before) && before.sa_handler == SIG_IGN)
		sigaddset(ignored, number);
}

void nm_signals_ignore_broken_pipes(sigset_t *ignored)
{
	handle(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, ignored);
}

void nm_signals_catch(sigset_t *ignored)
{
	struct sigaction action = {.sa_sigaction = forward, .sa_flags = SA_SIGINFO | SA_RESTART};

	for (size_t i = 0; i < sizeof nm_forwarded_signals / sizeof *nm_forwarded_signals; i++)
		if (nm_forwarded_signals[i] != SIGPIPE)
			handle(nm_forwarded_signals[i], &action, ignored);
}

void nm_signals_forward_to(pid_t pid) { forward_to = pid; }
