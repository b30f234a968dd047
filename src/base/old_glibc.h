/* SPDX-License-Identifier: MIT
 *
 * old_glibc.h - functions that glibc has since 2.32 and 2.34, for builds with an older one: relocatable archives.
 */
#ifndef NM_OLD_GLIBC_H
#define NM_OLD_GLIBC_H

#include <features.h>

#if !__GLIBC_PREREQ(2, 34)
#include <asm/unistd.h>
#include <unistd.h>

static inline int close_range(unsigned first, unsigned last, int flags)
{
	return (int)syscall(__NR_close_range, first, last, flags);
}
#endif

#if !__GLIBC_PREREQ(2, 32)
#include <signal.h>
#include <stddef.h>

static inline const char *sigabbrev_np(int signal)
{
	static const char *const names[] = {
	    [SIGHUP] = "HUP",   [SIGINT] = "INT",       [SIGQUIT] = "QUIT", [SIGILL] = "ILL",
	    [SIGTRAP] = "TRAP", [SIGABRT] = "ABRT",     [SIGBUS] = "BUS",   [SIGFPE] = "FPE",
	    [SIGKILL] = "KILL", [SIGUSR1] = "USR1",     [SIGSEGV] = "SEGV", [SIGUSR2] = "USR2",
	    [SIGPIPE] = "PIPE", [SIGALRM] = "ALRM",     [SIGTERM] = "TERM", [SIGSTKFLT] = "STKFLT",
	    [SIGCHLD] = "CHLD", [SIGCONT] = "CONT",     [SIGSTOP] = "STOP", [SIGTSTP] = "TSTP",
	    [SIGTTIN] = "TTIN", [SIGTTOU] = "TTOU",     [SIGURG] = "URG",   [SIGXCPU] = "XCPU",
	    [SIGXFSZ] = "XFSZ", [SIGVTALRM] = "VTALRM", [SIGPROF] = "PROF", [SIGWINCH] = "WINCH",
	    [SIGPOLL] = "POLL", [SIGPWR] = "PWR",       [SIGSYS] = "SYS",
	};

	return signal > 0 && (size_t)signal < sizeof names / sizeof *names ? names[signal] : NULL;
}
#endif

#endif
