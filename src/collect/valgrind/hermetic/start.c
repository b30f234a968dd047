/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * start.c - the stack that a program begins with, at an address that does not depend on what stands there.
 *
 * The core puts strings at the top of the stack, below them the vectors that point to them, and the stack
 * pointer below these: longer arguments move the whole stack. Here all are copied into an area further down:
 *
 *     stack pointer: argc, argv, environment, auxiliary vector
 *     + ARGUMENTS:   arguments, each at a multiple of SLOT
 *     + ENVIRONMENT: environment, likewise
 *     + OTHERS:      strings of the auxiliary vector
 *
 * VALGRIND_LIB is left out, and Valgrind's own library in LD_PRELOAD: it is of use only where Valgrind replaces
 * functions, and the length of its path would move the dynamic linker's memory. The core adds both again for
 * executed programs.
 */
#include "hermetic_priv.h"

#include "libvex_guest_amd64.h"

#include <elf.h>

/* Functions of the core that its headers for tools do not declare. */
extern Bool VG_(extend_stack)(ThreadId thread, Addr address);

#define AREA (256u << 10) /* bytes of each: what the core has put there, and the copy */
#define ARGUMENTS (64u << 10)
#define ENVIRONMENT (128u << 10)
#define OTHERS (192u << 10)
#define SLOT 256u
#define PRELOADED "vgpreload_core-amd64-linux.so"

struct copy {
	UWord *vector, *vector_end; /* the next word; behind the last */
	HChar *string, *string_end;
	Bool fits;
};

static void put_word(struct copy *c, UWord word)
{
	if (c->vector < c->vector_end)
		*c->vector++ = word;
	else
		c->fits = False;
}

/* Copies the bytes into the next slot; returns where they are. */
static UWord put_bytes(struct copy *c, const void *from, SizeT bytes)
{
	HChar *const to = c->string;
	const SizeT slots = (bytes + SLOT - 1) / SLOT * SLOT;

	if ((SizeT)(c->string_end - to) < slots) {
		c->fits = False;
		return 0;
	}
	VG_(memcpy)(to, from, bytes);
	c->string += slots;
	return (UWord)to;
}

static UWord put_string(struct copy *c, const HChar *from)
{
	return put_bytes(c, from, VG_(strlen)(from) + 1);
}

static void begin_strings(struct copy *c, UWord at)
{
	c->string = (HChar *)at;
	c->string_end = c->string + ARGUMENTS; /* all three parts have this size */
}

/* The variable as it was before the core and the recorder added theirs, perhaps in `room`; or NULL. */
static const HChar *without_ours(const HChar *variable, HChar *room, SizeT bytes)
{
	const HChar *library = VG_(strstr)(variable, PRELOADED);

	if (VG_(strncmp)(variable, "VALGRIND_LIB=", 13) == 0)
		return NULL;
	if (VG_(strncmp)(variable, "LD_PRELOAD=", 11) != 0 || library == NULL)
		return variable;
	library += sizeof PRELOADED - 1;
	if (*library != ':')
		return NULL;
	VG_(snprintf)(room, (Int)bytes, "LD_PRELOAD=%s", library + 1);
	return room;
}

/* Returns what follows the terminator. */
static const UWord *put_strings(struct copy *c, const UWord *from)
{
	HChar room[4096];

	for (; *from != 0; from++) {
		const HChar *string = without_ours((const HChar *)*from, room, sizeof room);

		if (string != NULL)
			put_word(c, put_string(c, string));
	}
	put_word(c, 0);
	return from + 1;
}

static void put_auxiliary(struct copy *c, const UWord *from)
{
	ULong random[2];

	nm_random_fill(random, sizeof random);
	for (;; from += 2) {
		UWord value = from[1];

		if (from[0] == AT_IGNORE)
			continue;
		if (from[0] == AT_RANDOM)
			value = put_bytes(c, random, sizeof random);
		else if ((from[0] == AT_PLATFORM || from[0] == AT_EXECFN || from[0] == AT_BASE_PLATFORM) &&
			 value != 0)
			value = put_string(c, (const HChar *)value);
		put_word(c, from[0]);
		put_word(c, value);
		if (from[0] == AT_NULL)
			return;
	}
}

/* Copies all to the address; False: it does not fit. */
static Bool put_all(UWord at, const UWord *from)
{
	struct copy c = {.vector = (UWord *)at, .vector_end = (UWord *)(at + ARGUMENTS), .fits = True};

	put_word(&c, from[0]);
	begin_strings(&c, at + ARGUMENTS);
	from = put_strings(&c, from + 1);
	begin_strings(&c, at + ENVIRONMENT);
	from = put_strings(&c, from);
	begin_strings(&c, at + OTHERS);
	put_auxiliary(&c, from);
	return c.fits;
}

void nm_hermetic_start(ThreadId thread)
{
	const Addr end = VG_(thread_get_stack_max)(thread) + 1, old = VG_(get_SP)(thread),
		   at = end - 2 * AREA;

	if (old < end - AREA || !VG_(extend_stack)(thread, at) || !put_all(at, (const UWord *)old)) {
		nm_unpinned("the stack: arguments and environment are too long", NULL);
		return;
	}
	VG_(set_shadow_regs_area)
	(thread, 0, offsetof(VexGuestAMD64State, guest_RSP), sizeof at, (const UChar *)&at);
}
