/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * blocked.c - which threads are blocked in the kernel.
 *
 * The scheduler asks for the state of all threads at each system call, and reading /proc takes microseconds.
 * Two things make it cheap:
 * - the files in /proc of the first few threads are kept open;
 * - a thread in a system call that only another thread, the clock or a signal can end (a futex, a sleep) is
 *   checked once, and again only after a system call that may have woken it. So a thread woken by the clock
 *   or by another process is noticed a little late, when it asks for the lock.
 *
 * The end of a thread wakes others long after its last system call, so it counts as another such call when
 * the kernel reports the thread dead, which it may do for a while before it forgets the thread.
 */
#include "tool.h"

#define MAX_FILES_KEPT 4 /* Valgrind reserves only a few descriptors */

extern Int VG_(fd_hard_limit); /* the program's descriptors are below it */

static UInt files_kept;
static UInt wakes; /* atomic */

enum futex { FUTEX_WAIT_ = 0, FUTEX_WAIT_BITSET_ = 9, FUTEX_PRIVATE_ = 128, FUTEX_CLOCK_REALTIME_ = 256 };

static Bool waits_on_futex(UInt number, const UWord *args)
{
	UWord op = args[1] & ~(UWord)(FUTEX_PRIVATE_ | FUTEX_CLOCK_REALTIME_);

	return number == __NR_futex && (op == FUTEX_WAIT_ || op == FUTEX_WAIT_BITSET_);
}

/* Whether only a call for which may_wake() holds, the clock or another process's signal ends the call. */
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

UInt nm_blocked_wakes(void) { return __atomic_load_n(&wakes, __ATOMIC_SEQ_CST); }

static void note_wake(void) { __atomic_fetch_add(&wakes, 1, __ATOMIC_SEQ_CST); }

void nm_blocked_before_syscall(struct nm_blocked *s, UInt number, const UWord *args)
{
	s->until_woken = ends_when_woken(number, args);
	s->wakes = may_wake(number, args);
	s->seen_blocked = nm_blocked_wakes() - 1;
	if (s->wakes)
		note_wake();
}

void nm_blocked_after_syscall(struct nm_blocked *s)
{
	if (s->wakes)
		note_wake();
	s->until_woken = s->wakes = False;
}

/* Descriptor of the thread's state, out of the program's reach if we keep it. Negative: the thread has
 * ended. */
static Int open_file(struct nm_blocked *s, Int thread)
{
	HChar path[64];
	long fd, moved;

	if (s->file > 0)
		return s->file;
	VG_(snprintf)(path, sizeof path, "/proc/self/task/%d/stat", thread);
	fd = VG_(fd_open)(path, VKI_O_RDONLY, 0);
	if (fd < 0 || files_kept == MAX_FILES_KEPT)
		return (Int)fd;
	moved = nm_syscall(__NR_fcntl, fd, VKI_F_DUPFD_CLOEXEC, VG_(fd_hard_limit), 0, 0, 0);
	if (moved < 0)
		return (Int)fd;
	VG_(close)((Int)fd);
	files_kept++;
	return s->file = (Int)moved;
}

void nm_blocked_forget(struct nm_blocked *s)
{
	if (s->file > 0) {
		VG_(close)(s->file);
		files_kept--;
	}
	s->file = 0;
}

static enum nm_thread_state ask_kernel(struct nm_blocked *s, Int thread)
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
		nm_blocked_forget(s);
		note_wake(); /* threads that wait for its end */
		return NM_THREAD_GONE;
	}
	return state == 'R' ? NM_THREAD_RUNS : state == 'D' ? NM_THREAD_READS_DISK : NM_THREAD_BLOCKED;
}

enum nm_thread_state nm_blocked_state(struct nm_blocked *s, Int thread)
{
	UInt now = nm_blocked_wakes();
	enum nm_thread_state state;

	if (s->until_woken && s->seen_blocked == now)
		return NM_THREAD_BLOCKED;
	state = ask_kernel(s, thread);
	if (state == NM_THREAD_BLOCKED)
		s->seen_blocked = now;
	return state;
}
