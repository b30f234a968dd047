/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * files.c - files of the kernel about processors, memory and load: the program reads a text of ours.
 *
 * The file has been opened. Its descriptor is made one of a file in memory.
 */
#include "hermetic_priv.h"

#define TEXT_BYTES 4096
#define O_CLOEXEC_ 02000000
#define MEMORY_KB (NM_PINNED_MEMORY >> 10)

static Int processor_range(HChar *text, Int room)
{
	return (Int)VG_(snprintf)(text, room, "0-%u\n", NM_PINNED_PROCESSORS - 1);
}

static Int processors_text(HChar *text, Int room)
{
	Int n = 0;
	UInt i;

	for (i = 0; i < NM_PINNED_PROCESSORS; i++)
		n += (Int)VG_(snprintf)(
		    text + n, room - n,
		    "processor\t: %u\nvendor_id\t: GenuineIntel\nmodel name\t: nearmiss\n"
		    "physical id\t: 0\nsiblings\t: %u\ncore id\t\t: %u\ncpu cores\t: %u\n\n",
		    i, NM_PINNED_PROCESSORS, i, NM_PINNED_PROCESSORS);
	return n;
}

static Int activity_text(HChar *text, Int room)
{
	Int n = (Int)VG_(snprintf)(text, room, "cpu  0 0 0 0 0 0 0 0 0 0\n");
	UInt i;

	for (i = 0; i < NM_PINNED_PROCESSORS; i++)
		n += (Int)VG_(snprintf)(text + n, room - n, "cpu%u 0 0 0 0 0 0 0 0 0 0\n", i);
	return n + (Int)VG_(snprintf)(text + n, room - n, "btime %u\n", NM_PINNED_EPOCH);
}

static Int memory_text(HChar *text, Int room)
{
	return (Int)VG_(snprintf)(
	    text, room,
	    "MemTotal:       %llu kB\nMemFree:        %llu kB\nMemAvailable:   %llu kB\n"
	    "SwapTotal:      0 kB\nSwapFree:       0 kB\n",
	    MEMORY_KB, MEMORY_KB / 2, MEMORY_KB / 2);
}

static Int load_text(HChar *text, Int room)
{
	return (Int)VG_(snprintf)(text, room, "0.00 0.00 0.00 1/1 1\n");
}

static Int uptime_text(HChar *text, Int room)
{
	return (Int)VG_(snprintf)(text, room, "%llu.00 0.00\n", nm_clock_now() / 1000000000);
}

/* No group: programs look for limits of the processors' time there. */
static Int no_groups(HChar *text, Int room)
{
	(void)text, (void)room;
	return 0;
}

static const struct replaced {
	const HChar *path;
	Int (*write)(HChar *text, Int room); /* returns its length */
} files[] = {
    {"/sys/devices/system/cpu/online", processor_range},
    {"/sys/devices/system/cpu/possible", processor_range},
    {"/sys/devices/system/cpu/present", processor_range},
    {"/proc/cpuinfo", processors_text},
    {"/proc/stat", activity_text},
    {"/proc/meminfo", memory_text},
    {"/proc/loadavg", load_text},
    {"/proc/uptime", uptime_text},
    {"/proc/self/cgroup", no_groups},
};

static void replace_file(const struct replaced *file, UWord flags, Int fd)
{
	HChar text[TEXT_BYTES];
	const Int bytes = file->write(text, sizeof text);
	const long memory_file = nm_syscall(__NR_memfd_create, (long)"nearmiss", 0, 0, 0, 0, 0);

	if (memory_file < 0) {
		nm_unpinned("reads of", file->path);
		return;
	}
	nm_syscall(__NR_pwrite64, memory_file, (long)text, bytes, 0, 0, 0);
	nm_syscall(__NR_dup3, memory_file, fd, (long)(flags & O_CLOEXEC_), 0, 0, 0);
	nm_syscall(__NR_close, memory_file, 0, 0, 0, 0, 0);
}

void nm_files_opened(const HChar *path, UWord flags, Int fd)
{
	UInt i;

	for (i = 0; i < sizeof files / sizeof files[0]; i++)
		if (VG_(strcmp)(path, files[i].path) == 0) {
			replace_file(&files[i], flags, fd);
			return;
		}
	if (VG_(strncmp)(path, "/proc/", 6) == 0 || VG_(strncmp)(path, "/sys/", 5) == 0)
		nm_unpinned("reads of", path);
}
