/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * allocator.c - reports what the program's own allocator does.
 *
 * Nothing is replaced or preloaded: an allocation function is recognised by the symbol at its first
 * instruction, in any library or program. At its entry we keep its arguments; its return (pending_calls.c)
 * yields the result.
 *
 * VEX must not follow a call or jump into an allocation function, since only at the start of a superblock
 * are the guest registers complete: __wrap_LibVEX_Translate sees to that.
 */
#include "hermetic/hermetic.h"
#include "sampling.h"
#include "tool.h"

#include "libvex.h"
#include "libvex_guest_amd64.h"

enum arguments { SIZE, COUNT_SIZE, POINTER_SIZE, POINTER_COUNT_SIZE, ALIGN_SIZE, RESULT_ALIGN_SIZE, POINTER };

static const struct function {
	const HChar *name;
	enum nm_wire_allocator allocator;
	enum arguments arguments;
} functions[] = {
    {"malloc", NM_WIRE_MALLOC, SIZE},
    {"calloc", NM_WIRE_CALLOC, COUNT_SIZE},
    {"realloc", NM_WIRE_REALLOCATE, POINTER_SIZE},
    {"reallocarray", NM_WIRE_REALLOCATE, POINTER_COUNT_SIZE},
    {"aligned_alloc", NM_WIRE_ALIGNED, ALIGN_SIZE},
    {"memalign", NM_WIRE_ALIGNED, ALIGN_SIZE},
    {"posix_memalign", NM_WIRE_ALIGNED, RESULT_ALIGN_SIZE},
    {"valloc", NM_WIRE_ALIGNED, SIZE},
    {"pvalloc", NM_WIRE_ALIGNED, SIZE},
    {"free", NM_WIRE_FREE_CALL, POINTER},
    {"cfree", NM_WIRE_FREE_CALL, POINTER},
    {"tc_new", NM_WIRE_NEW, SIZE},
    {"tc_newarray", NM_WIRE_NEW_ARRAY, SIZE},
    {"tc_delete", NM_WIRE_DELETE, POINTER},
    {"tc_deletearray", NM_WIRE_DELETE_ARRAY, POINTER},
    {"_Znwm", NM_WIRE_NEW, SIZE},
    {"_ZnwmRKSt9nothrow_t", NM_WIRE_NEW, SIZE},
    {"_ZnwmSt11align_val_t", NM_WIRE_NEW, SIZE},
    {"_ZnwmSt11align_val_tRKSt9nothrow_t", NM_WIRE_NEW, SIZE},
    {"_Znam", NM_WIRE_NEW_ARRAY, SIZE},
    {"_ZnamRKSt9nothrow_t", NM_WIRE_NEW_ARRAY, SIZE},
    {"_ZnamSt11align_val_t", NM_WIRE_NEW_ARRAY, SIZE},
    {"_ZnamSt11align_val_tRKSt9nothrow_t", NM_WIRE_NEW_ARRAY, SIZE},
    {"_ZdlPv", NM_WIRE_DELETE, POINTER},
    {"_ZdlPvm", NM_WIRE_DELETE, POINTER},
    {"_ZdlPvRKSt9nothrow_t", NM_WIRE_DELETE, POINTER},
    {"_ZdlPvSt11align_val_t", NM_WIRE_DELETE, POINTER},
    {"_ZdlPvmSt11align_val_t", NM_WIRE_DELETE, POINTER},
    {"_ZdlPvSt11align_val_tRKSt9nothrow_t", NM_WIRE_DELETE, POINTER},
    {"_ZdaPv", NM_WIRE_DELETE_ARRAY, POINTER},
    {"_ZdaPvm", NM_WIRE_DELETE_ARRAY, POINTER},
    {"_ZdaPvRKSt9nothrow_t", NM_WIRE_DELETE_ARRAY, POINTER},
    {"_ZdaPvSt11align_val_t", NM_WIRE_DELETE_ARRAY, POINTER},
    {"_ZdaPvmSt11align_val_t", NM_WIRE_DELETE_ARRAY, POINTER},
    {"_ZdaPvSt11align_val_tRKSt9nothrow_t", NM_WIRE_DELETE_ARRAY, POINTER},
};

/* Aliases in the C library and in other allocators; a symbol table may show only one of several names. */
static const HChar *const prefixes[] = {"__libc_", "__", "je_", "_rjem_je_", "_rjem_", "mi_", "tc_"};

#define FUNCTIONS (sizeof functions / sizeof functions[0])
#define PREFIXES (sizeof prefixes / sizeof prefixes[0])

/* The outermost allocation call that a thread is in. */
struct call {
	Addr pc; /* entry of the function */
	const struct function *function;
	Addr old, result_at; /* the block given to realloc, the result argument of posix_memalign */
	ULong bytes;
};

static struct call *calls; /* by Valgrind's thread number */

/* Length of the name without its version. */
static SizeT bare_length(const HChar *name)
{
	SizeT length;

	for (length = 0; name[length] != '\0' && name[length] != '@'; length++)
		;
	return length;
}

static UInt function_of_name(const HChar *name)
{
	SizeT length = bare_length(name);
	UInt i;

	for (i = 0; i < FUNCTIONS; i++)
		if (VG_(strncmp)(name, functions[i].name, length) == 0 && functions[i].name[length] == '\0')
			return i + 1;
	return 0;
}

UInt nm_allocator_at(Addr pc)
{
	const HChar *name;
	UInt function, i;

	if (!VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), pc, &name))
		return 0;
	function = function_of_name(name);
	for (i = 0; i < PREFIXES && function == 0; i++) {
		SizeT length = VG_(strlen)(prefixes[i]);

		if (VG_(strncmp)(name, prefixes[i], length) == 0)
			function = function_of_name(name + length);
	}
	return function;
}

static Bool is_readable(Addr address, SizeT bytes)
{
	return VG_(am_is_valid_for_client)(address, bytes, VKI_PROT_READ);
}

static void read_arguments(struct call *call, ThreadId thread)
{
	ULong first = NM_REGISTER(thread, RDI), second = NM_REGISTER(thread, RSI),
	      third = NM_REGISTER(thread, RDX);

	call->old = call->result_at = 0;
	call->bytes = 0;
	switch (call->function->arguments) {
	case SIZE: call->bytes = first; break;
	case COUNT_SIZE: call->bytes = first * second; break;
	case POINTER_SIZE: call->old = first, call->bytes = second; break;
	case POINTER_COUNT_SIZE: call->old = first, call->bytes = second * third; break;
	case ALIGN_SIZE: call->bytes = second; break;
	case RESULT_ALIGN_SIZE: call->result_at = first, call->bytes = third; break;
	case POINTER: call->old = first; break;
	}
}

static void report_free(const struct call *call)
{
	ULong address = call->old;

	if (address != 0)
		nm_record(NM_WIRE_FREE, call->function->allocator, 1, &address);
}

VG_REGPARM(2) void nm_allocator_entry(UInt function, Addr pc)
{
	ThreadId thread = VG_(get_running_tid)();
	struct call *call = &calls[thread];

	if (!nm_calls_begin(NM_CALL_ALLOCATOR))
		return;
	call->pc = pc;
	call->function = &functions[function - 1];
	read_arguments(call, thread);
	if (call->function->arguments == POINTER)
		report_free(call);
}

static void report_result(const struct call *call, ThreadId thread, Addr slot)
{
	Addr result = NM_REGISTER(thread, RAX);
	enum nm_wire_allocator allocator = call->function->allocator;

	if (call->function->arguments == RESULT_ALIGN_SIZE) {
		if ((UInt)result != 0 || !is_readable(call->result_at, sizeof result))
			return;
		result = *(const Addr *)call->result_at;
	}
	if (result == 0) {
		/* realloc(p, 0) frees; any other null pointer is a failure. */
		if (allocator == NM_WIRE_REALLOCATE && call->bytes == 0)
			report_free(call);
		return;
	}
	nm_call_stack_tell_return(slot);
	if (call->old != 0) {
		ULong words[] = {call->old, result, call->bytes, call->pc};
		nm_record(NM_WIRE_REALLOC, allocator, 4, words);
	} else {
		ULong words[] = {result, call->bytes, call->pc};
		nm_record(NM_WIRE_ALLOC, allocator, 3, words);
	}
}

static void allocator_returned(ThreadId thread, Addr slot, Bool returned)
{
	if (returned && calls[thread].function->arguments != POINTER)
		report_result(&calls[thread], thread, slot);
}

void nm_allocator_init(void)
{
	calls = VG_(malloc)("nm.allocator", VG_N_THREADS * sizeof *calls);
	nm_calls_init(NM_CALL_ALLOCATOR, allocator_returned);
}

/* ---- Keep VEX from following calls and jumps into allocation functions. ---- */

extern VexTranslateResult __real_LibVEX_Translate(VexTranslateArgs *args);
extern VexTranslateResult __wrap_LibVEX_Translate(VexTranslateArgs *args);

static Bool (*core_chase_into_ok)(void *closure, Addr address);

static Bool chase_into_ok(void *closure, Addr address)
{
	return core_chase_into_ok(closure, address) && nm_allocator_at(address) == 0 &&
	       nm_locks_at(address) == 0 && nm_pools_at(address) == 0;
}

VexTranslateResult __wrap_LibVEX_Translate(VexTranslateArgs *args)
{
	core_chase_into_ok = args->chase_into_ok;
	args->chase_into_ok = chase_into_ok;
	nm_prefetch_keep_registers(args);
	if (nm_hermetic)
		args->archinfo_guest.hwcaps = args->archinfo_host.hwcaps =
		    nm_hermetic_instructions(args->archinfo_host.hwcaps);
	return __real_LibVEX_Translate(args);
}
