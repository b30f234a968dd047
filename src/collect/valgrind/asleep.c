/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * asleep.c - which threads sleep in the kernel.
 *
 * The kernel tells, for 7 us each time, and a thread that takes turns with others asks after all of them at each of its
 * system calls (turns.c).  So the files of the first few threads are kept open, which leaves 2 us.  And a thread that
 * only another one, the clock or a signal can wake dozes: it is asked after once, and again when a system call has been
 * made that may have woken it.  What the clock or another process does to it is seen a little later, when it asks for its
 * turn.  The end of a thread wakes others long after its last system call was seen; so it is told of again when the kernel
 * calls the thread dead, which it may do for a while before it forgets it (that was taken for asleep once).
 *
 * 20,000 bytes written to a pipe and read again one by one, beside four threads in epoll_wait or in read: 2.1 and 2.0 s
 * without the kept files, 1.4 and 1.2 s with them; beside four that wait for a condition 0.7 s, Cachegrind 1.0 s.
 */
#include "tool.h"

#define KEPT 4 /* files: Valgrind keeps few numbers of files from the program */

extern Int VG_(fd_hard_limit); /* the program's files have lower numbers */

static UInt kept;  /* files */
static UInt wakes; /* atomic */

enum futex { FUTEX_WAIT_ = 0, FUTEX_WAIT_BITSET_ = 9, FUTEX_PRIVATE_ = 128, FUTEX_CLOCK_REALTIME_ = 256 };

static Bool waits_on_futex(UInt number, const UWord *args)
{
	UWord op = args[1] & ~(UWord)(FUTEX_PRIVATE_ | FUTEX_CLOCK_REALTIME_);

	return number == __NR_futex && (op == FUTEX_WAIT_ || op == FUTEX_WAIT_BITSET_);
}

/* Whether nothing but what may_wake(), the clock or another process's signal ends the call. */
static Bool ends_when_woken(UInt number, const UWord *args)
{
	switch (number) {
	case __NR_futex: return waits_on_futex(number, args) && (args[1] & FUTEX_PRIVATE_);
	case __NR_nanosleep:
	case __NR_clock_nanosleep:
	case __NR_pause:
	case __NR_rt_sigsuspend:
	case __NR_rt_sigtimedwait: return True;
	}
	return False;
}

/* Whether it may end such a call of another thread. */
static Bool may_wake(UInt number, const UWord *args)
{
	switch (number) {
	case __NR_futex: return !waits_on_futex(number, args);
	case __NR_kill:
	case __NR_tkill:
	case __NR_tgkill:
	case __NR_rt_sigqueueinfo:
	case __NR_rt_tgsigqueueinfo:
	case __NR_exit: return True;
	}
	return False;
}

UInt nm_sleep_wakes(void) { return __atomic_load_n(&wakes, __ATOMIC_SEQ_CST); }

static void note_wake(void) { __atomic_fetch_add(&wakes, 1, __ATOMIC_SEQ_CST); }

void nm_sleep_before_syscall(struct nm_sleep *s, UInt number, const UWord *args)
{
	s->dozes = ends_when_woken(number, args);
	s->wakes = may_wake(number, args);
	s->found = nm_sleep_wakes() - 1;
	if (s->wakes)
		note_wake();
}

void nm_sleep_after_syscall(struct nm_sleep *s)
{
	if (s->wakes)
		note_wake();
	s->dozes = s->wakes = False;
}

/* Where the kernel tells of the thread, out of the program's way if it is kept.  Negative: it has gone. */
static Int open_file(struct nm_sleep *s, Int thread)
{
	HChar path[64];
	long fd, moved;

	if (s->file > 0)
		return s->file;
	VG_(snprintf)(path, sizeof path, "/proc/self/task/%d/stat", thread);
	fd = VG_(fd_open)(path, VKI_O_RDONLY, 0);
	if (fd < 0 || kept == KEPT)
		return (Int)fd;
	moved = nm_syscall(__NR_fcntl, fd, VKI_F_DUPFD_CLOEXEC, VG_(fd_hard_limit), 0, 0, 0);
	if (moved < 0)
		return (Int)fd;
	VG_(close)((Int)fd);
	kept++;
	return s->file = (Int)moved;
}

void nm_sleep_forget(struct nm_sleep *s)
{
	if (s->file > 0) {
		VG_(close)(s->file);
		kept--;
	}
	s->file = 0;
}

/* What the kernel says of it. */
static enum nm_rest ask_kernel(struct nm_sleep *s, Int thread)
{
	HChar text[256], *at, state;
	Int fd = open_file(s, thread);
	long n = fd < 0 ? -1 : nm_syscall(__NR_pread64, fd, (long)text, sizeof text - 1, 0, 0, 0);

	if (fd >= 0 && fd != s->file)
		VG_(close)(fd);
	text[n < 0 ? 0 : n] = '\0';
	at = VG_(strrchr)(text, ')');
	state = at == NULL || at[1] != ' ' ? '\0' : at[2];
	if (n < 0 || state == 'Z' || state == 'X') {
		nm_sleep_forget(s);
		note_wake(); /* those that wait for its end */
		return NM_REST_GONE;
	}
	return state == 'R' ? NM_REST_NONE : state == 'D' ? NM_REST_DISK : NM_REST_ASLEEP;
}

enum nm_rest nm_sleep_rest(struct nm_sleep *s, Int thread)
{
	UInt now = nm_sleep_wakes();
	enum nm_rest rest;

	if (s->dozes && s->found == now)
		return NM_REST_ASLEEP;
	rest = ask_kernel(s, thread);
	if (rest == NM_REST_ASLEEP)
		s->found = now;
	return rest;
}
