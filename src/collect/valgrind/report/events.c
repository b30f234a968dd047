/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * events.c - reports the life of the process and its threads: start, fork, exec, exit, signals, and
 * which thread runs.
 *
 * Valgrind reuses thread numbers; the stream's thread numbers count up and are never reused.
 *
 * A forked child keeps its parent's translations, so its stream inherits the parent's blocks, mappings and
 * heap as they are at the parent's NM_WIRE_FORK with the same ordinal, and continues its block numbers. The
 * parent publishes that record at once, since it may wait for its child next.
 *
 * The option --by-exec (main.c) tells an image that it was started by exec; the program's environment is left
 * alone.
 *
 * At a fatal signal the core lets the tool finish as if the program had exited with status 0, then kills
 * the process: the wrapped VG_(nuke_all_threads_except) and VG_(kill_self) give the real end.
 */
#include "hermetic/hermetic.h"
#include "sampling.h"
#include "tool.h"

#include "libvex_guest_amd64.h"

#include <elf.h>

/* Functions of the core that its headers for tools do not declare. */
extern Int VG_(access)(const HChar *path, Bool read, Bool write, Bool execute);

#define PATH_BYTES 4096
#define NO_SIGNAL 0

struct thread {
	UInt number, parent; /* in the stream; 0: none */
	Int signal;          /* whose handler is about to run */
	ULong pointer;       /* last thread pointer reported */
};

static struct thread *threads; /* by Valgrind's thread number */
static UInt threads_made;
static ThreadId running;
static UInt last_turn; /* of the scheduler, in which it was reported */
static UInt forks;     /* made by this process */
static Bool dying_of_signal;
static Int exit_status; /* of the last exit or exit_group begun */
static Int shared_file;

/* ---- Threads ---- */

static void thread_created(ThreadId parent, ThreadId child)
{
	threads[child].number = ++threads_made;
	threads[child].parent = parent == VG_INVALID_THREADID ? 0 : threads[parent].number;
	threads[child].signal = NO_SIGNAL;
	threads[child].pointer = 0;
	nm_scheduler_thread_created(parent, child);
	nm_calls_thread_gone(child); /* it may have vanished in a fork */
	if (parent != VG_INVALID_THREADID)
		nm_synchronise_create(threads[child].number);
}

static void report_thread_pointer(ThreadId id)
{
	ULong pointer = NM_REGISTER(id, FS_CONST);

	if (pointer == threads[id].pointer)
		return;
	threads[id].pointer = pointer;
	nm_record(NM_WIRE_THREAD_POINTER, threads[id].number, 1, &pointer);
}

/* The kernel's 16 random bytes lie among the program's strings, and optimised string functions read past
 * the end of a string: constant bytes keep two runs of a program the same. */
static void pin_random_bytes(ThreadId id)
{
	static const ULong bytes[2] = {0x9e3779b97f4a7c15ull, 0xbf58476d1ce4e5b9ull};
	const UWord *at = (const UWord *)VG_(get_SP)(id); /* argc, argv, environment, auxiliary vector */

	at += 1 + at[0] + 1;
	while (*at != 0)
		at++;
	for (at++; at[0] != AT_NULL; at += 2)
		if (at[0] == AT_RANDOM)
			VG_(memcpy)((void *)at[1], bytes, sizeof bytes);
}

static void thread_begins(ThreadId id)
{
	Addr end = VG_(thread_get_stack_max)(id) + 1;
	SizeT bytes = VG_(thread_get_stack_size)(id);
	ULong words[] = {threads[id].parent, end - bytes, end};

	nm_record(NM_WIRE_THREAD_START, threads[id].number, 3, words);
	report_thread_pointer(id);
	nm_scheduler_thread_begins(id);
	if (nm_sampling)
		nm_sampling_thread_begins(id);
	if (threads[id].number == 1 && nm_hermetic)
		nm_hermetic_start(id);
	else if (threads[id].number == 1)
		pin_random_bytes(id);
}

static void thread_ends(ThreadId id)
{
	nm_record(NM_WIRE_THREAD_EXIT, threads[id].number, 0, NULL);
	nm_calls_thread_gone(id);
	nm_scheduler_thread_ends(id);
	if (running == id)
		running = VG_INVALID_THREADID;
}

/* The records that follow belong to this thread. With several threads, the reader also learns when the
 * thread's next turn begins. */
static void record_running_thread(ThreadId id)
{
	UInt turn = nm_scheduler_turns();

	if (id == running && (turn == last_turn || !nm_scheduler_has_several()))
		return;
	if (id != running) {
		nm_calls_switch(running, id);
		running = id;
	}
	last_turn = turn;
	nm_record(NM_WIRE_THREAD, threads[id].number, 0, NULL);
}

static void thread_runs(ThreadId id, ULong blocks)
{
	(void)blocks;
	record_running_thread(id);
	if (nm_sampling) {
		nm_sampling_thread_runs(id);
		return; /* no blocks are sent that a handler could make */
	}
	if (threads[id].signal != NO_SIGNAL) {
		ULong stack = VG_(get_SP)(id);

		nm_record(NM_WIRE_SIGNAL, (UInt)threads[id].signal, 1, &stack);
		threads[id].signal = NO_SIGNAL;
	}
}

static void thread_stops(ThreadId id, ULong blocks)
{
	(void)blocks;
	if (nm_sampling)
		nm_sampling_thread_stops(id);
}

static void signal_comes(ThreadId id, Int number, Bool other_stack)
{
	(void)other_stack;
	threads[id].signal = number;
}

/* ---- The process ---- */

static UInt words_of(const HChar *string) { return (UInt)VG_(strlen)(string) / 8 + 1; }

/* Long argument lists are cut: what is sent fits one record with room to spare. */
static UInt arguments_that_fit(UInt room)
{
	UInt n = (UInt)VG_(sizeXA)(VG_(args_for_client)), i;

	for (i = 0; i < n; i++) {
		UInt words = words_of(*(HChar **)VG_(indexXA)(VG_(args_for_client), i));

		if (words > room)
			break;
		room -= words;
	}
	return i;
}

static void report_process(enum nm_wire_start start)
{
	const HChar *executable = nm_maps_executable();
	const HChar *name = VG_(args_the_exename) == NULL ? "" : VG_(args_the_exename);
	HChar directory[PATH_BYTES];
	SSizeT length = VG_(readlink)("/proc/self/cwd", directory, sizeof directory - 1);
	UInt argc, i;

	directory[length < 0 ? 0 : length] = '\0';
	argc = arguments_that_fit(NM_MARGIN_WORDS - 16 - words_of(executable) - words_of(directory) -
				  words_of(name));
	nm_record_begin(NM_WIRE_PROCESS, start);
	nm_record_word(NM_WIRE_VERSION);
	nm_record_word((ULong)VG_(getpid)());
	nm_record_word((ULong)VG_(getppid)());
	nm_record_word(start == NM_WIRE_FORKED ? forks : 0);
	nm_record_word(1 + argc);
	nm_record_string(executable);
	nm_record_string(directory);
	nm_record_string(name);
	for (i = 0; i < argc; i++)
		nm_record_string(*(HChar **)VG_(indexXA)(VG_(args_for_client), i));
	nm_record_end();
	if (nm_sampling)
		nm_sampling_begin();
}

void nm_events_process_start(Int file, Bool by_exec)
{
	shared_file = file;
	nm_ring_open(file);
	report_process(by_exec ? NM_WIRE_EXECED : NM_WIRE_STARTED);
}

static void report_exit(UInt status)
{
	if (nm_sampling)
		nm_sampling_tell_clock();
	nm_record(NM_WIRE_EXIT, status, 0, NULL);
	nm_ring_close();
}

void nm_events_process_end(Int status)
{
	(void)status; /* the core passes 0 */
	if (!dying_of_signal)
		report_exit((UInt)exit_status & 0xff);
}

/* ---- Fork and exec ---- */

static void before_fork(ThreadId id)
{
	(void)id;
	forks++;
}

static void in_child(ThreadId id)
{
	nm_ring_open(shared_file);
	report_process(NM_WIRE_FORKED);
	nm_record(NM_WIRE_THREAD, threads[id].number, 0, NULL);
	running = id;
	if (nm_hermetic)
		nm_hermetic_forked(forks);
	forks = 0;
}

static Bool is_fork(UInt number, const UWord *args)
{
	return number == __NR_fork || number == __NR_vfork ||
	       (number == __NR_clone && !(args[0] & VKI_CLONE_THREAD));
}

static void report_fork(ULong child)
{
	ULong words[] = {child, forks};

	nm_record(NM_WIRE_FORK, 0, 2, words);
	nm_ring_publish();
}

static void before_exec(const HChar *path)
{
	if (!VG_(am_is_valid_for_client)((Addr)path, 1, VKI_PROT_READ) ||
	    VG_(access)(path, False, False, True) != 0)
		return;
	if (nm_sampling)
		nm_sampling_tell_clock();
	nm_record_begin(NM_WIRE_EXEC, 0);
	nm_record_string(path);
	nm_record_end();
	nm_ring_publish();
}

static void before_syscall(ThreadId id, UInt number, UWord *args, UInt n)
{
	(void)n;
	if (nm_hermetic)
		nm_hermetic_before_syscall(id, number, args);
	nm_maps_before_syscall(number, args);
	nm_synchronise_before_syscall(number, args);
	nm_scheduler_before_syscall(number, args);
	if (number == __NR_exit_group || number == __NR_exit)
		exit_status = (Int)args[0];
	if (number == __NR_execve)
		before_exec((const HChar *)args[0]);
	else if (number == __NR_execveat)
		before_exec((const HChar *)args[1]);
}

static void after_syscall(ThreadId id, UInt number, UWord *args, UInt n, SysRes result)
{
	const Bool others_ran = running != id;

	(void)n;
	if (others_ran)
		record_running_thread(id);
	nm_synchronise_after_syscall(number, args, others_ran);
	nm_maps_after_syscall(number, args, result);
	nm_limits_after_syscall(number, args, result);
	if (nm_hermetic)
		nm_hermetic_after_syscall(id, number, args, result);
	if (number == __NR_arch_prctl) {
		report_thread_pointer(id);
	} else if (is_fork(number, args) && !sr_isError(result) && sr_Res(result) != 0) {
		report_fork(sr_Res(result));
	}
}

/* ---- Death by signal ---- */

/* The core's reasons for stopping threads; we care about the fatal signal only. */
enum stop_reason { STOP_FATAL_SIGNAL = 3 };

extern void __real_vgPlain_nuke_all_threads_except(ThreadId me, UInt reason);
extern void __wrap_vgPlain_nuke_all_threads_except(ThreadId me, UInt reason);
extern void __real_vgPlain_kill_self(Int number);
extern void __wrap_vgPlain_kill_self(Int number);

void __wrap_vgPlain_nuke_all_threads_except(ThreadId me, UInt reason)
{
	if (reason == STOP_FATAL_SIGNAL)
		dying_of_signal = True;
	__real_vgPlain_nuke_all_threads_except(me, reason);
}

void __wrap_vgPlain_kill_self(Int number)
{
	report_exit(128 + (UInt)number);
	__real_vgPlain_kill_self(number);
}

void nm_events_init(void)
{
	threads = VG_(calloc)("nm.threads", VG_N_THREADS, sizeof *threads);
	VG_(track_pre_thread_ll_create)(thread_created);
	VG_(track_pre_thread_first_insn)(thread_begins);
	VG_(track_pre_thread_ll_exit)(thread_ends);
	VG_(track_start_client_code)(thread_runs);
	VG_(track_stop_client_code)(thread_stops);
	VG_(track_pre_deliver_signal)(signal_comes);
	VG_(needs_syscall_wrapper)(before_syscall, after_syscall);
	VG_(atfork)(before_fork, NULL, in_child);
}
