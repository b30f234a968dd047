/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * unpinned.c - writes into the log what the run depends on that is not pinned: each once. The recorder puts it
 * into the profile (src/run/manifest.c).
 */
#include "hermetic_priv.h"

#define MAX_WRITTEN 16
#define TEXT_BYTES 96

static HChar written[MAX_WRITTEN][TEXT_BYTES];
static UInt written_count;

void nm_unpinned(const HChar *what, const HChar *detail)
{
	HChar text[TEXT_BYTES];
	UInt i;

	VG_(snprintf)
	(text, sizeof text, "%s%s%s", what, detail == NULL ? "" : " ", detail == NULL ? "" : detail);
	for (i = 0; i < written_count; i++)
		if (VG_(strcmp)(written[i], text) == 0)
			return;
	if (written_count == MAX_WRITTEN)
		return;
	VG_(strcpy)(written[written_count++], text);
	VG_(umsg)(NM_PINNED_UNPINNED "%s\n", text);
}

void nm_unpinned_read(UInt mode, UWord asked, UWord got)
{
	if (VKI_S_ISSOCK(mode))
		nm_unpinned("a socket", NULL);
	else if (VKI_S_ISFIFO(mode) && got > 0 && got < asked)
		nm_unpinned("how much a pipe holds when it is read", NULL);
}

void nm_unpinned_after_syscall(UInt number, const UWord *args, SysRes result)
{
	if (sr_isError(result))
		return;
	switch (number) {
	case __NR_getpid:
	case __NR_getppid:
	case __NR_gettid: nm_unpinned("process numbers", NULL); break;
	case __NR_connect:
	case __NR_accept:
	case __NR_accept4:
	case __NR_recvfrom:
	case __NR_recvmsg: nm_unpinned("a socket", NULL); break;
	case __NR_ioctl:
		if (args[1] == VKI_TCGETS || args[1] == VKI_TIOCGWINSZ)
			nm_unpinned("a terminal", NULL);
		break;
	case __NR_alarm:
	case __NR_setitimer:
	case __NR_timer_settime:
	case __NR_timerfd_settime: nm_unpinned("timers, which run in real time", NULL); break;
	case __NR_getdents:
	case __NR_getdents64: nm_unpinned("the order of files in a directory", NULL); break;
	case __NR_getcwd: nm_unpinned("the path of the working directory", NULL); break;
	case __NR_readlink:
		if (VG_(strcmp)((const HChar *)args[0], "/proc/self/exe") == 0)
			nm_unpinned("the program's path", NULL);
		break;
	default: break;
	}
}
