/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * tool.h - what the files of the Valgrind collector share: translate/ instruments code, report/ turns events
 * of Valgrind's core and calls of known functions into records, threads/ schedules the program's threads.
 *
 * The collector is a Valgrind tool: it lives in Valgrind's process, without a C library, and is called from
 * three places: while code is translated (translate/instrument.c), from translated code (ring.c,
 * report/allocator.c), and on events of Valgrind's core (report/events.c, report/maps.c). All of them append
 * to one stream per process image, which ring.c keeps. Only one thread of the program runs at a time, and all
 * these calls hold Valgrind's big lock, so nothing here needs a lock.
 */
#ifndef NEARMISS_VALGRIND_TOOL_H
#define NEARMISS_VALGRIND_TOOL_H

#include "pub_tool_aspacemgr.h"
#include "pub_tool_basics.h"
#include "pub_tool_clientstate.h"
#include "pub_tool_clreq.h"
#include "pub_tool_debuginfo.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"
#include "pub_tool_xarray.h"

#include "nearmiss/wire.h"

/* Most words that translated code stores after one limit check (translate/instrument.c). */
#define NM_MARGIN_WORDS 2048u

/* ---- ring.c: the stream. Begin, fill and end a record; do nothing else in between. ---- */

/* Opens the stream of this process. After a fork it is called again, in the child. */
void nm_ring_open(Int shared_file);
/* Passes the words written so far to the consumer, even if the chunk is not full. */
void nm_ring_publish(void);

/* Publishes, and waits until the consumer has read everything. */
void nm_ring_drain(void);
void nm_ring_close(void);
/* Called from translated code when the cursor has passed the limit. */
void nm_ring_full(void);

void nm_record_begin(enum nm_wire_kind kind, UInt arg);
void nm_record_word(ULong word);
void nm_record_string(const HChar *string);
void nm_record_end(void);
/* One record of n words. */
void nm_record(enum nm_wire_kind kind, UInt arg, UInt n, const ULong *words);

/* Addresses, constant for the life of the tool, that translated code reads and writes. */
Addr nm_ring_cursor_address(void);
Addr nm_ring_limit_address(void);
Addr nm_ring_ran_address(void);

/* ---- descriptors.c: what programs started by exec inherit. ---- */

/* Moves the descriptor that the option ("--arena=") names out of the program's reach, and keeps it open on
 * exec. Returns its number now, or -1 if there is no such option. */
Int nm_descriptor_keep(const HChar *option);
/* Passes the option on to programs that this one executes. */
void nm_option_add_for_exec(const HChar *option);
/* The same for "--NAME=" and a number, which replaces an earlier one. */
void nm_option_set_for_exec(const HChar *option, ULong value);

/* ---- instrument.c ---- */

/* Whether code without accesses is sent as blocks too, instead of only being counted (NM_WIRE_RAN). */
extern Bool nm_all_blocks;

IRSB *nm_instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
		    const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
		    IRType host_word);

/* ---- offsets.c: which addresses differ by a constant. ---- */

/* An address: the temporary `root` plus `distance` bytes. If root is IRTemp_INVALID, the distance is the
 * address. */
struct nm_root_offset {
	IRTemp root;
	ULong distance;
};

/* Starts a superblock with these temporaries; then pass each statement that writes one, in order. */
void nm_offsets_begin(const IRTypeEnv *types);
void nm_offsets_note(IRTemp temporary, const IRExpr *data);
/* Resolves an atom of 64 bits. */
struct nm_root_offset nm_offset_of(const IRExpr *atom);

/* ---- chases.c: which accesses follow pointers. ---- */

/* Starts a superblock and looks at all its statements. */
void nm_chases_begin(const IRSB *in);
/* Whether an address, an atom of the superblock, depends on a register that the superblock reloads through
 * itself. */
Bool nm_chases(const IRExpr *address);

/* ---- prefetch.c: prefetches, which VEX drops. ---- */

/* Has VEX keep all registers current in code with prefetches, from which their addresses come. */
void nm_prefetch_keep_registers(VexTranslateArgs *args);

/* ---- allocator.c: calls of allocation functions. ---- */

void nm_allocator_init(void);
/* Which allocation function starts at pc: 0 for none, or a value for nm_allocator_entry. */
UInt nm_allocator_at(Addr pc);
/* Called from translated code at the entry of an allocation function. */
VG_REGPARM(2) void nm_allocator_entry(UInt function, Addr pc);

/* ---- locks.c: calls of functions that lock, with the same three functions. ---- */

void nm_locks_init(void);
UInt nm_locks_at(Addr pc);
VG_REGPARM(1) void nm_locks_entry(UInt function);

/* ---- pools.c: calls of functions that hand out pieces of memory, with the same three functions. ---- */

void nm_pools_init(void);
/* One more function: "NAME", "NAME:ARGUMENT" or "NAME=BYTES". False: it is none of these, or too many. */
Bool nm_pools_add(const HChar *text, Bool shared);
UInt nm_pools_at(Addr pc);
VG_REGPARM(2) void nm_pools_entry(UInt function, Addr pc);

/* ---- pending_calls.c: those calls, from entry to return. ---- */

enum nm_call_kind { NM_CALL_ALLOCATOR, NM_CALL_LOCK, NM_CALL_POOL, NM_CALL_KINDS };

/* ended: called for each call that nm_calls_begin has accepted, once; returned: it has returned through its
 * slot, and its result is in RAX. */
void nm_calls_init(enum nm_call_kind kind, void (*ended)(ThreadId thread, Addr slot, Bool returned));
/* At a function's entry. False: the call is part of a pending one. */
Bool nm_calls_begin(enum nm_call_kind kind);
/* The call whose return address lies at slot is the pending one from now on. */
void nm_calls_resume(enum nm_call_kind kind, Addr slot);
void nm_calls_switch(ThreadId from, ThreadId to);
void nm_calls_thread_gone(ThreadId thread);
/* Called from translated code before a return whose slot is at or above the number at the address. */
VG_REGPARM(1) void nm_calls_return(Addr slot);
Addr nm_calls_watched_address(void);

/* ---- events.c: the process and its threads. ---- */

void nm_events_init(void);
/* by_exec: this image was started by exec from one that was recorded. */
void nm_events_process_start(Int shared_file, Bool by_exec);
void nm_events_process_end(Int status);

/* ---- maps.c: the address space. ---- */

void nm_maps_init(void);
void nm_maps_before_syscall(UInt number, const UWord *args);
void nm_maps_after_syscall(UInt number, const UWord *args, SysRes result);
const HChar *nm_maps_executable(void);

/* ---- limits.c: what fails because of Valgrind. ---- */

void nm_limits_after_syscall(UInt number, const UWord *args, SysRes result);

/* ---- requests.c: client.h. ---- */

Bool nm_client_request(ThreadId thread, UWord *args, UWord *result);

/* ---- blocked.c: which threads are blocked in the kernel. ---- */

enum nm_thread_state {
	NM_THREAD_RUNS,       /* in the kernel, or is about to */
	NM_THREAD_READS_DISK, /* blocked, but goes on by itself */
	NM_THREAD_BLOCKED,
	NM_THREAD_GONE
};

struct nm_blocked {
	Int file; /* kept open: the thread's state in /proc; 0: none */
	UInt
	    seen_blocked; /* nm_blocked_wakes() when the thread was seen blocked; meaningful if until_woken */
	/* only a call that nm_blocked_wakes() counts, the clock or a signal ends its system call */
	Bool until_woken;
	Bool wakes; /* its system call is one of those */
};

/* Number of system calls begun or ended that may have woken a thread. */
UInt nm_blocked_wakes(void);
/* Call before and after each system call of the thread. */
void nm_blocked_before_syscall(struct nm_blocked *blocked, UInt number, const UWord *args);
void nm_blocked_after_syscall(struct nm_blocked *blocked);
/* thread: its number in the kernel. */
enum nm_thread_state nm_blocked_state(struct nm_blocked *blocked, Int thread);
/* Closes the file. */
void nm_blocked_forget(struct nm_blocked *blocked);

/* ---- synchronise.c: system calls by which threads wait for each other. ---- */

/* Call before such a system call. thread: its number in the stream. */
/* The processes are to be seen as on one machine: system calls by which they order each other are reported, and what
 * came before is published, whatever the number of threads. */
extern Bool nm_one_machine;

void nm_synchronise_create(UInt thread);
void nm_synchronise_before_syscall(UInt number, const UWord *args);
/* Call after a system call during which other threads ran. */
void nm_synchronise_after_syscall(UInt number, const UWord *args, Bool others_ran);

/* ---- scheduler.c: which thread runs next. ---- */

/* Whether the process has ever had more than one thread. */
Bool nm_scheduler_has_several(void);
/* Number of turns given to threads so far. */
UInt nm_scheduler_turns(void);
void nm_scheduler_before_syscall(UInt number, const UWord *args);
void nm_scheduler_thread_created(ThreadId parent, ThreadId child);
void nm_scheduler_thread_begins(ThreadId thread);
void nm_scheduler_thread_ends(ThreadId thread);

/* ---- System calls of the tool itself ---- */

#define NM_FUTEX_WAIT 0
#define NM_FUTEX_WAKE 1

static inline long nm_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

/* A guest register of a thread. */
#define NM_REGISTER(thread, name) nm_register(thread, offsetof(VexGuestAMD64State, guest_##name))

static inline ULong nm_register(ThreadId thread, PtrdiffT offset)
{
	ULong value;

	VG_(get_shadow_regs_area)(thread, (UChar *)&value, 0, offset, sizeof value);
	return value;
}

#endif
