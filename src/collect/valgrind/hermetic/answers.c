/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * answers.c - overwrites what system calls have stored: times, random numbers, processors, load, the host.
 *
 * The kernel has checked the program's pointers: the call has succeeded.
 */
#include "hermetic_priv.h"

#include "libvex_guest_amd64.h"

#define SECOND 1000000000ull
#define TICK 10000000ull /* of times(): 100 a second */

enum { RANDOM_DEVICE = 1 << 8 | 8, URANDOM_DEVICE = 1 << 8 | 9 };

static void set_result(ThreadId thread, ULong value)
{
	VG_(set_shadow_regs_area)
	(thread, 0, offsetof(VexGuestAMD64State, guest_RAX), sizeof value, (const UChar *)&value);
}

/* ---- Time ---- */

/* A timespec (unit 1) or a timeval (1000). */
static void put_time(UWord at, ULong time, ULong unit)
{
	ULong *parts = (ULong *)at;

	if (parts == NULL)
		return;
	parts[0] = time / SECOND;
	parts[1] = time % SECOND / unit;
}

static ULong real_time(void) { return nm_clock_epoch(VKI_CLOCK_REALTIME) + nm_clock_now(); }

static void put_seconds(ThreadId thread, ULong *at)
{
	const ULong seconds = real_time() / SECOND;

	if (at != NULL)
		*at = seconds;
	set_result(thread, seconds);
}

static void put_ticks(ThreadId thread, ULong times[4])
{
	const ULong ticks = nm_clock_now() / TICK;

	if (times != NULL) {
		VG_(memset)(times, 0, 4 * sizeof times[0]);
		times[0] = ticks;
	}
	set_result(thread, ticks);
}

/* All of the time was spent in the program, and nothing else was counted. */
static void put_usage(struct vki_rusage *usage)
{
	if (usage == NULL)
		return;
	VG_(memset)(usage, 0, sizeof *usage);
	put_time((UWord)&usage->ru_utime, nm_clock_now(), 1000);
}

static void answer_time(ThreadId thread, UInt number, const UWord *args)
{
	switch (number) {
	case __NR_clock_gettime: put_time(args[1], nm_clock_epoch((Int)args[0]) + nm_clock_now(), 1); break;
	case __NR_clock_getres: put_time(args[1], 1, 1); break;
	case __NR_gettimeofday: put_time(args[0], real_time(), 1000); break;
	case __NR_time: put_seconds(thread, (ULong *)args[0]); break;
	case __NR_times: put_ticks(thread, (ULong *)args[0]); break;
	case __NR_getrusage: put_usage((struct vki_rusage *)args[1]); break;
	case __NR_wait4: put_usage((struct vki_rusage *)args[3]); break;
	case __NR_waitid: put_usage((struct vki_rusage *)args[4]); break;
	default: break;
	}
}

/* ---- The machine ---- */

static void put_processor(UInt *processor, UInt *node)
{
	if (processor != NULL)
		*processor = 0;
	if (node != NULL)
		*node = 0;
}

/* The first ones. stored: bytes that the kernel has written. */
static void put_processors(ThreadId thread, UChar *mask, SizeT stored)
{
	VG_(memset)(mask, 0, stored);
	mask[0] = (1 << NM_PINNED_PROCESSORS) - 1;
	set_result(thread, 8);
}

static void put_load(struct vki_sysinfo *load)
{
	VG_(memset)(load, 0, sizeof *load);
	load->uptime = (long)(nm_clock_now() / SECOND);
	load->totalram = NM_PINNED_MEMORY;
	load->freeram = NM_PINNED_MEMORY / 2;
	load->procs = 1;
	load->mem_unit = 1;
}

static void put_host(struct vki_new_utsname *host)
{
	VG_(memset)(host, 0, sizeof *host);
	VG_(strcpy)(host->sysname, "Linux");
	VG_(strcpy)(host->nodename, "localhost");
	VG_(strcpy)(host->release, "6.1.0");
	VG_(strcpy)(host->version, "#1");
	VG_(strcpy)(host->machine, "x86_64");
}

/* ---- Reads ---- */

static void fill_vectors(const struct vki_iovec *vectors, UWord bytes)
{
	for (; bytes > 0; vectors++) {
		const SizeT n = bytes < vectors->iov_len ? bytes : vectors->iov_len;

		nm_random_fill(vectors->iov_base, n);
		bytes -= n;
	}
}

static UWord bytes_of(const struct vki_iovec *vectors, UWord count)
{
	UWord bytes = 0;

	while (count-- > 0)
		bytes += vectors++->iov_len;
	return bytes;
}

static void answer_read(UInt number, const UWord *args, UWord bytes)
{
	const struct vki_iovec one = {(void *)args[1], args[2]};
	const Bool is_one = number == __NR_read || number == __NR_pread64;
	const struct vki_iovec *vectors = is_one ? &one : (const struct vki_iovec *)args[1];
	struct vg_stat file;

	if (VG_(fstat)((Int)args[0], &file) != 0)
		return;
	if (VKI_S_ISCHR(file.mode) && (file.rdev == RANDOM_DEVICE || file.rdev == URANDOM_DEVICE))
		fill_vectors(vectors, bytes);
	else
		nm_unpinned_read(file.mode, bytes_of(vectors, is_one ? 1 : args[2]), bytes);
}

void nm_answer(ThreadId thread, UInt number, const UWord *args, SysRes result)
{
	const UWord value = sr_isError(result) ? 0 : sr_Res(result);

	if (number == __NR_sched_setaffinity)
		set_result(thread, 0); /* this machine may not have the processors that were shown */
	if (sr_isError(result))
		return;
	switch (number) {
	case __NR_getrandom: nm_random_fill((void *)args[0], value); break;
	case __NR_read:
	case __NR_pread64:
	case __NR_readv:
	case __NR_preadv: answer_read(number, args, value); break;
	case __NR_open: nm_files_opened((const HChar *)args[0], args[1], (Int)value); break;
	case __NR_openat: nm_files_opened((const HChar *)args[1], args[2], (Int)value); break;
	case __NR_getcpu: put_processor((UInt *)args[0], (UInt *)args[1]); break;
	case __NR_sched_getaffinity: put_processors(thread, (UChar *)args[2], value); break;
	case __NR_sysinfo: put_load((struct vki_sysinfo *)args[0]); break;
	case __NR_uname: put_host((struct vki_new_utsname *)args[0]); break;
	default: answer_time(thread, number, args); break;
	}
}
