/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * descriptors.c - keeps inherited descriptors out of the program's reach, across exec.
 *
 * Valgrind reserves some descriptors above a limit, which the program can neither use nor close. We move a
 * descriptor that an option names (--arena=3) there and put its new number into the option. Valgrind passes
 * its options on when the program calls exec, and the descriptor remains open. The new image moves it again
 * if the limit has changed.
 */
#include "tool.h"

extern Int VG_(fd_hard_limit);         /* the program's descriptors are below it */
extern XArray *VG_(args_for_valgrind); /* of HChar * */

static Int move_up(Int fd)
{
	long moved;

	if (fd >= VG_(fd_hard_limit))
		return fd;
	moved = nm_syscall(__NR_fcntl, fd, VKI_F_DUPFD, VG_(fd_hard_limit), 0, 0, 0);
	if (moved < 0)
		return fd;
	VG_(close)(fd);
	return (Int)moved;
}

Int nm_descriptor_keep(const HChar *option)
{
	const SizeT length = VG_(strlen)(option);
	Word i;

	for (i = 0; i < VG_(sizeXA)(VG_(args_for_valgrind)); i++) {
		HChar **argument = VG_(indexXA)(VG_(args_for_valgrind), i), *changed;
		Int fd;

		if (VG_(strncmp)(*argument, option, length) != 0)
			continue;
		fd = move_up((Int)VG_(strtoll10)(*argument + length, NULL));
		changed = VG_(malloc)("nm.option", length + 16);
		VG_(sprintf)(changed, "%s%d", option, fd);
		*argument = changed;
		return fd;
	}
	return -1;
}

void nm_option_set_for_exec(const HChar *option, ULong value)
{
	const SizeT length = VG_(strlen)(option);
	HChar *text = VG_(malloc)("nm.option", length + 32);
	Word i;

	VG_(sprintf)(text, "%s%llu", option, value);
	for (i = 0; i < VG_(sizeXA)(VG_(args_for_valgrind)); i++) {
		HChar **argument = VG_(indexXA)(VG_(args_for_valgrind), i);

		if (VG_(strncmp)(*argument, option, length) == 0) {
			*argument = text;
			return;
		}
	}
	VG_(addToXA)(VG_(args_for_valgrind), &text);
}

void nm_option_add_for_exec(const HChar *option)
{
	HChar *copy = VG_(strdup)("nm.option", option);

	VG_(addToXA)(VG_(args_for_valgrind), &copy);
}
