/* SPDX-License-Identifier: MIT */
#include "outlive.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "old_glibc.h"
#include "signals_forward.h"

/* The launcher's process: ends as the recorder does. */
static void wait_for(pid_t recorder, nm_outlive_lost *lost)
{
	int status;

	nm_signals_forward_to(recorder);
	while (waitpid(recorder, &status, 0) < 0)
		if (errno != EINTR)
			_exit(EXIT_FAILURE);
	if (WIFEXITED(status))
		_exit(WEXITSTATUS(status));
	lost(sigabbrev_np(WTERMSIG(status)));
	_exit(128 + WTERMSIG(status));
}

pid_t nm_outlive(nm_outlive_lost *lost)
{
	const pid_t group = getpgrp(), launched = getpid();
	sigset_t ignored;
	pid_t pid;

	sigemptyset(&ignored);
	nm_signals_ignore_failed_writes(&ignored);
	nm_signals_catch(&ignored);
	pid = fork();
	if (pid > 0)
		wait_for(pid, lost);
	nm_signals_restore(&ignored);
	if (pid < 0)
		return 0;
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != launched)
		raise(SIGTERM);
	return group;
}
