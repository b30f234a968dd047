/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * pools.c - reports the pieces of memory that pools hand out.
 *
 * A pool's function is known by the symbol at its first instruction: one of a library that many programs use,
 * or one that the user names. Its result is the piece; one of its arguments is the size. Which one the user
 * may say; else it is the first that is not 0 and not the address of something.
 *
 * Pools are layered (bfd_zalloc calls bfd_alloc, which may call _objalloc_alloc), and the outer function often
 * clears the piece. So the innermost call is reported first, and an outer one only if its piece is another.
 */
#include "sampling.h"
#include "tool.h"

#include "libvex_guest_amd64.h"

/* Where the size is. */
enum { FIRST_NUMBER = 0, ARGUMENTS = 6 };
#define FUNCTIONS 40u
#define NESTED 8u

static struct function {
	const HChar *name;
	UInt argument; /* from 1, or FIRST_NUMBER; if bytes is 0 */
	ULong bytes;   /* of each piece */
	Bool shared;   /* --alloc-fn: other memory than what processes share is the allocator's below */
} functions[FUNCTIONS] = {
    {"_objalloc_alloc", 2, 0, False},   {"bfd_alloc", 2, 0, False},      {"bfd_zalloc", 2, 0, False},
    {"bfd_hash_allocate", 2, 0, False}, {"apr_palloc", 2, 0, False},     {"apr_pcalloc", 2, 0, False},
    {"g_slice_alloc", 1, 0, False},     {"g_slice_alloc0", 1, 0, False},
};
static UInt count = 8;

/* The calls of pools' functions that a thread is in, outermost first. */
static struct calls {
	struct {
		Addr slot, pc;
		ULong bytes;
		Bool shared;
	} open[NESTED];
	UInt depth;
	Addr latest; /* piece that an inner call has reported */
} * calls;           /* by Valgrind's thread number */

/* Are two names equal, the second without its parameters and template arguments? */
static Bool names_function(const HChar *told, const HChar *function)
{
	UInt depth = 0;

	for (; *function != '\0' && *function != '@' && (*function != '(' || depth > 0); function++) {
		if (*function == '<')
			depth++;
		if (depth == 0 && *function != *told++)
			return False;
		if (*function == '>' && depth > 0)
			depth--;
	}
	return *told == '\0';
}

/* The core demangles no names for us (main.c), but can. */
extern Bool vgPlain_clo_demangle;

static const HChar *name_in_source(Addr pc, const HChar *linkage)
{
	const HChar *name;
	Bool found;

	if (linkage[0] != '_' || (linkage[1] != 'Z' && linkage[1] != 'R'))
		return linkage;
	vgPlain_clo_demangle = True;
	found = VG_(get_fnname)(VG_(current_DiEpoch)(), pc, &name);
	vgPlain_clo_demangle = False;
	return found ? name : linkage;
}

UInt nm_pools_at(Addr pc)
{
	const HChar *name;
	UInt i;

	if (!VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), pc, &name))
		return 0;
	name = name_in_source(pc, name);
	for (i = 0; i < count; i++)
		if (names_function(functions[i].name, name))
			return i + 1;
	return 0;
}

Bool nm_pools_add(const HChar *text, Bool shared)
{
	HChar *name = VG_(strdup)("nm.pools", text), *end = name + VG_(strlen)(name);
	struct function *f = &functions[count];
	HChar *digits = end, *after;
	ULong number;

	while (digits > name && digits[-1] >= '0' && digits[-1] <= '9')
		digits--;
	if (count == FUNCTIONS || end == name)
		return False;
	*f = (struct function){name, FIRST_NUMBER, 0, shared};
	if (digits < end && digits > name + 1 && (digits[-1] == ':' || digits[-1] == '=')) {
		number = (ULong)VG_(strtoll10)(digits, &after);
		if (number == 0 || (digits[-1] == ':' && number > ARGUMENTS))
			return False;
		if (digits[-1] == ':')
			f->argument = (UInt)number;
		else
			f->bytes = number;
		digits[-1] = '\0';
	}
	count++;
	return True;
}

static ULong call_argument(ThreadId thread, UInt number)
{
	switch (number) {
	case 1: return NM_REGISTER(thread, RDI);
	case 2: return NM_REGISTER(thread, RSI);
	case 3: return NM_REGISTER(thread, RDX);
	case 4: return NM_REGISTER(thread, RCX);
	case 5: return NM_REGISTER(thread, R8);
	default: return NM_REGISTER(thread, R9);
	}
}

static ULong size_of_piece(const struct function *f, ThreadId thread)
{
	UInt i;

	if (f->bytes != 0 || f->argument != FIRST_NUMBER)
		return f->bytes != 0 ? f->bytes : call_argument(thread, f->argument);
	for (i = 1; i <= ARGUMENTS; i++) {
		ULong value = call_argument(thread, i);

		if (value != 0 && !VG_(am_is_valid_for_client)(value, 1, VKI_PROT_READ))
			return value;
	}
	return 0;
}

VG_REGPARM(2) void nm_pools_entry(UInt function, Addr pc)
{
	ThreadId thread = VG_(get_running_tid)();
	struct calls *c = &calls[thread];
	Addr slot = NM_REGISTER(thread, RSP);

	while (c->depth > 0 && c->open[c->depth - 1].slot <= slot)
		c->depth--;
	if (c->depth == NESTED)
		return;
	if (c->depth == 0)
		c->latest = 0;
	c->open[c->depth].slot = slot;
	c->open[c->depth].pc = pc;
	c->open[c->depth].bytes = size_of_piece(&functions[function - 1], thread);
	c->open[c->depth].shared = functions[function - 1].shared;
	c->depth++;
	nm_calls_resume(NM_CALL_POOL, slot);
}

static void pool_call_returned(ThreadId thread, Addr slot, Bool returned)
{
	struct calls *c = &calls[thread];
	Addr result = NM_REGISTER(thread, RAX);

	while (c->depth > 0 && c->open[c->depth - 1].slot <= slot) {
		ULong words[] = {result, c->open[c->depth - 1].bytes, c->open[c->depth - 1].pc};

		c->depth--;
		if (!returned || c->open[c->depth].slot != slot || result == 0 || words[1] == 0 ||
		    result == c->latest)
			continue;
		c->latest = result;
		nm_call_stack_tell_return(slot);
		nm_record(NM_WIRE_ALLOC, c->open[c->depth].shared ? NM_WIRE_SHARED_POOL : NM_WIRE_POOL, 3,
			  words);
	}
	if (c->depth > 0)
		nm_calls_resume(NM_CALL_POOL, c->open[c->depth - 1].slot);
}

void nm_pools_init(void)
{
	calls = VG_(calloc)("nm.pools", VG_N_THREADS, sizeof *calls);
	nm_calls_init(NM_CALL_POOL, pool_call_returned);
}
