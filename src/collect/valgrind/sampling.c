/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * sampling.c - chooses samples, watches their lines and sends them.
 *
 * References are numbered from 0 in the order in which the process makes them, over all threads: that number
 * is the clock. Each is a sample with the same probability, so the gaps between samples are geometric
 * (StatCache, section 2.3). The line of a sample is watched until any access touches it: that ends the
 * sample, and its reuse distance is the difference of the clocks less 1.
 *
 * The filter has one byte for each line number modulo its size, negative if a watched line has that number or
 * the next one, so one lookup covers the line of an address and the next. A collision only costs a call,
 * since a hash table holds the watched lines themselves.
 */
#include "sampling.h"

#include "pub_tool_hashtable.h"

#define FILTER_ENTRIES (1u << 22)
#define LOOK_BYTES 8u /* the entry is the last of them */
#define MARK 0x80
/* Most references between two calls of nm_sampling_due: each may push or drop a call. */
#define MAX_COUNTDOWN (NM_CALL_MARGIN / 2)
#define PER_SECOND_UNIT 1e9

Bool nm_sampling;
Int nm_sampling_rate, nm_sampling_line = 64, nm_sampling_seed = 1;

/* A line that is watched; its key in the table is its number. */
struct watch {
	struct watch *next;
	UWord line;
	ULong clock; /* of the sample */
};

struct code_block {
	UInt accesses, exits;
	struct nm_sampled_access *access;
	struct nm_sampled_exit *exit;
};

static UChar filter[LOOK_BYTES + FILTER_ENTRIES];
static UInt marks[FILTER_ENTRIES];
static VgHashTable *watches;
static XArray *blocks; /* of struct code_block, by number */

static ULong clock;       /* of the next reference when the countdown was set, */
static Long loaded;       /* and what it was set to */
static Long countdown;    /* while no thread runs */
static ULong next_sample; /* its clock */
static Bool paused;
static ULong random_state;

/* ---- Code ---- */

UInt nm_sampled_block_new(void)
{
	const struct code_block none = {0};

	if (blocks == NULL)
		blocks = VG_(newXA)(VG_(malloc), "nm.blocks", VG_(free), sizeof none);
	return (UInt)VG_(addToXA)(blocks, &none);
}

static void *copy_bytes(const void *from, SizeT bytes)
{
	void *to = VG_(malloc)("nm.block", bytes);

	return VG_(memcpy)(to, from, bytes);
}

void nm_sampled_block_define(UInt number, UInt accesses, const struct nm_sampled_access *access, UInt exits,
			     const struct nm_sampled_exit *exit)
{
	*(struct code_block *)VG_(indexXA)(blocks, (Word)number) =
	    (struct code_block){.accesses = accesses,
				.exits = exits,
				.access = copy_bytes(access, accesses * sizeof *access),
				.exit = copy_bytes(exit, exits * sizeof *exit)};
}

/* ---- Chance ---- */

/* xorshift64*: Vigna, An experimental exploration of Marsaglia's xorshift generators, 2016. */
static ULong draw_random(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 0x2545f4914f6cdd1dull;
}

static double natural_logarithm(double x)
{
	double result;

	__asm__("fldln2; fldl %1; fyl2x; fstpl %0" : "=m"(result) : "m"(x));
	return result;
}

/* References to skip before the next sample. */
static ULong draw_gap(void)
{
	const double rate = nm_sampling_rate / PER_SECOND_UNIT;
	double uniform;

	if (rate >= 1)
		return 0;
	uniform = ((double)(draw_random() >> 11) + 1) / (double)(1ull << 53); /* above 0, at most 1 */
	return (ULong)(natural_logarithm(uniform) / natural_logarithm(1 - rate));
}

/* ---- Watched lines ---- */

Addr nm_sampling_filter(void) { return (Addr)filter + 1; }
ULong nm_sampling_mask(void) { return FILTER_ENTRIES - 1; }

UInt nm_sampling_shift(void)
{
	UInt shift = 0;

	while (1 << shift < nm_sampling_line)
		shift++;
	return shift;
}

static void mark_line(Addr line, Int change)
{
	const Addr entry = line & (FILTER_ENTRIES - 1);

	marks[entry] += (UInt)change;
	filter[LOOK_BYTES + entry] = marks[entry] == 0 ? 0 : MARK;
}

static void watch_line(Addr line)
{
	struct watch *w = VG_(malloc)("nm.watch", sizeof *w);

	w->line = line;
	w->clock = clock;
	VG_(HT_add_node)(watches, w);
	mark_line(line, 1);
	mark_line(line - 1, 1);
}

/* Stops watching the line; returns whether it was watched. */
static Bool unwatch_line(Addr line, ULong *ret_clock)
{
	struct watch *w = VG_(HT_remove)(watches, line);

	if (w == NULL)
		return False;
	*ret_clock = w->clock;
	VG_(free)(w);
	mark_line(line, -1);
	mark_line(line - 1, -1);
	return True;
}

/* ---- References ---- */

static ULong code_word(const struct nm_sampled_access *access)
{
	return access->pc | (ULong)access->bytes << 48 | (access->flags & NM_WIRE_WRITE ? 1ull << 63 : 0);
}

/* The reference that the clock stands at. */
static void look_at(const struct nm_sampled_access *access, Addr address, ThreadId thread, Addr calls)
{
	const UInt shift = nm_sampling_shift();
	const Addr first = address >> shift, last = (address + access->bytes - 1) >> shift;
	ULong words[] = {clock, address, code_word(access), 0};
	Addr line;

	for (line = first; line <= last; line++) {
		if (!unwatch_line(line, &words[3]))
			continue;
		nm_call_stack_tell(thread, calls, VG_(get_SP)(thread));
		nm_record(NM_WIRE_REUSE, 0, 4, words);
	}
	if (clock != next_sample)
		return;
	nm_call_stack_tell(thread, calls, VG_(get_SP)(thread));
	nm_record(NM_WIRE_SAMPLE, 0, 3, words);
	watch_line(first);
	next_sample += 1 + draw_gap();
}

static Addr address_of(const struct nm_sampled_thread *t, const struct nm_sampled_access *access)
{
	return t->window[access->window] + (Addr)(Long)access->distance;
}

static Bool took_place(const struct nm_sampled_thread *t, const struct nm_sampled_access *access)
{
	return !(access->flags & NM_WIRE_GUARDED) || t->window[access->window] != 0;
}

/* The references between the exit before this position, or the beginning of its block, and the position. */
static void look_at_exit(const struct nm_sampled_thread *t, ThreadId thread, ULong position)
{
	const struct code_block *block = VG_(indexXA)(blocks, (Word)(position >> 8));
	const struct nm_sampled_exit *exit = &block->exit[position & 0xff];
	const UInt first = exit == block->exit ? 0 : exit[-1].accesses;
	const Addr calls = t->calls + (exit->returned ? NM_CALL_BYTES : 0);
	const ULong now = clock + (ULong)(loaded - t->countdown);
	UInt i, took = 0;

	for (i = first; i < exit->accesses; i++)
		took += took_place(t, &block->access[i]);
	for (i = first, clock = now - took; i < exit->accesses; i++)
		if (took_place(t, &block->access[i])) {
			look_at(&block->access[i], address_of(t, &block->access[i]), thread, calls);
			clock++;
		}
}

static void set_countdown(ULong most)
{
	const ULong left = next_sample - clock;

	loaded = countdown = paused || left > most ? (Long)most : (Long)left;
}

/* ---- Threads ---- */

static void read_state(ThreadId thread, struct nm_sampled_thread *t)
{
	VG_(get_shadow_regs_area)(thread, (UChar *)t, 1, 0, sizeof *t);
}

static void write_state(ThreadId thread, const struct nm_sampled_thread *t)
{
	VG_(set_shadow_regs_area)(thread, 1, 0, offsetof(struct nm_sampled_thread, window), (const UChar *)t);
}

/* Sets the countdown anew. */
static void go_on(ThreadId thread, struct nm_sampled_thread *t, ULong most)
{
	set_countdown(most);
	t->countdown = countdown;
	t->calls = nm_call_stack_make_room(thread, t->calls);
	write_state(thread, t);
}

VG_REGPARM(1) void nm_sampling_due(ULong position)
{
	const ThreadId thread = VG_(get_running_tid)();
	const ULong sample = next_sample;
	struct nm_sampled_thread t;

	read_state(thread, &t);
	if (!paused)
		look_at_exit(&t, thread, position);
	/* The rest of the superblock may touch a new watched line by a window that was looked at before. */
	go_on(thread, &t, next_sample == sample ? MAX_COUNTDOWN : 0);
}

void nm_sampling_thread_begins(ThreadId thread)
{
	struct nm_sampled_thread t = {.countdown = countdown, .calls = nm_call_stack_new(thread)};

	write_state(thread, &t);
}

void nm_sampling_thread_runs(ThreadId thread)
{
	struct nm_sampled_thread t;

	read_state(thread, &t);
	t.countdown = countdown;
	write_state(thread, &t);
}

void nm_sampling_thread_stops(ThreadId thread)
{
	struct nm_sampled_thread t;

	read_state(thread, &t);
	if (!paused)
		clock += (ULong)(loaded - t.countdown);
	go_on(thread, &t, MAX_COUNTDOWN);
}

/* ---- Streams ---- */

void nm_sampling_begin(void)
{
	const ULong words[] = {(ULong)nm_sampling_rate, (ULong)nm_sampling_line, (ULong)nm_sampling_seed};

	if (watches != NULL) {
		VG_(HT_destruct)(watches, VG_(free));
		VG_(memset)(filter, 0, sizeof filter);
		VG_(memset)(marks, 0, sizeof marks);
	}
	watches = VG_(HT_construct)("nm.watches");
	random_state = (ULong)nm_sampling_seed * 0x9e3779b97f4a7c15ull | 1;
	clock = 0;
	next_sample = draw_gap();
	set_countdown(MAX_COUNTDOWN);
	nm_record(NM_WIRE_SAMPLING, 0, 3, words);
}

void nm_sampling_tell_clock(void) { nm_record(NM_WIRE_CLOCK, 0, 1, &clock); }

void nm_sampling_measure(Bool on)
{
	paused = !on;
	set_countdown(MAX_COUNTDOWN);
}
