/* SPDX-License-Identifier: MIT
 *
 * sample_stream.c - see sample_stream.h.
 */
#include "sample_stream.h"

#define TRY(call)                     \
	do {                          \
		int code_ = (call);   \
		if (code_)            \
			return code_; \
	} while (0)

static int define(struct nm_wire_words *to, uint32_t id, unsigned end, const uint64_t *instructions,
		  unsigned instruction_count, const uint64_t *accesses, unsigned access_count,
		  const uint64_t *exits, unsigned exit_count)
{
	struct nm_wire_block_info b = {.id = id,
				       .def = {.pc = instructions[0] & 0xffffffffffffull,
					       .instructions = (uint16_t)instruction_count,
					       .accesses = (uint16_t)access_count,
					       .exits = (uint16_t)exit_count,
					       .end = (uint8_t)end},
				       .instructions = instructions,
				       .accesses = accesses,
				       .exits = exits};

	return nm_wire_block_def_encode(to, &b);
}

/* Adds to a word of the stack, writes the one below, and, unless it leaves in between, pops a word and
 * returns. */
static int define_groups(struct nm_wire_words *to)
{
	const uint64_t instructions[] = {
	    sample_instruction(SAMPLE_PC + 48, 5), sample_instruction(SAMPLE_PC + 53, 5),
	    sample_instruction(SAMPLE_PC + 58, 1), sample_instruction(SAMPLE_PC + 59, 1)};
	const uint64_t accesses[] = {
	    sample_access_at(8, 8, 0, NM_WIRE_READ),
	    sample_access_at(8, 8, 0, NM_WIRE_WRITE | NM_WIRE_FOLLOWS),
	    sample_access_at(0, 8, 1, NM_WIRE_WRITE | NM_WIRE_FOLLOWS), sample_access(8, 2, NM_WIRE_READ),
	    sample_access_at(8, 8, 3, NM_WIRE_READ | NM_WIRE_FRAME | NM_WIRE_FOLLOWS)};
	const uint64_t exits[] = {sample_exit(3, 2)};

	return define(to, SAMPLE_GROUPS, NM_WIRE_RETURN, instructions, 4, accesses, 5, exits, 1);
}

int sample_define_blocks(struct nm_wire_words *to)
{
	const uint64_t loop_instructions[] = {sample_instruction(SAMPLE_PC, 4),
					      sample_instruction(SAMPLE_PC + 4, 2),
					      sample_instruction(SAMPLE_PC + 6, 8)};
	const uint64_t loop_accesses[] = {sample_access(8, 0, NM_WIRE_READ),
					  sample_access(32, 2, NM_WIRE_READ | NM_WIRE_GUARDED),
					  sample_access(8, 2, NM_WIRE_WRITE)};
	const uint64_t loop_exits[] = {sample_exit(1, 2)};
	const uint64_t call_instructions[] = {sample_instruction(SAMPLE_PC + 14, 5)};
	const uint64_t call_accesses[] = {sample_access(8, 0, NM_WIRE_WRITE | NM_WIRE_FRAME)};
	const uint64_t return_instructions[] = {sample_instruction(SAMPLE_PC + 32, 4),
						sample_instruction(SAMPLE_PC + 36, 1)};
	const uint64_t return_accesses[] = {sample_access(64, 0, NM_WIRE_PREFETCH),
					    sample_access(8, 1, NM_WIRE_READ | NM_WIRE_FRAME)};

	TRY(define(to, SAMPLE_LOOP, NM_WIRE_JUMP, loop_instructions, 3, loop_accesses, 3, loop_exits, 1));
	TRY(define(to, SAMPLE_CALL, NM_WIRE_CALL, call_instructions, 1, call_accesses, 1, NULL, 0));
	TRY(define(to, SAMPLE_RETURN, NM_WIRE_RETURN, return_instructions, 2, return_accesses, 2, NULL, 0));
	return define_groups(to);
}

static int start_process(struct nm_wire_words *to)
{
	const char *const argv[] = {"./sample", "", "exactly8"};

	TRY(nm_wire_process_encode(to,
				   &(struct nm_wire_process){.start = NM_WIRE_STARTED,
							     .version = NM_WIRE_VERSION,
							     .pid = 4711,
							     .parent = 4710,
							     .argc = 3,
							     .executable = "/usr/bin/sample",
							     .directory = "/home/user"},
				   argv));
	return 0;
}

static int start_thread(struct nm_wire_words *to)
{
	const unsigned char build_id[] = {0xde, 0xad, 0xbe, 0xef, 1, 2, 3, 4, 5, 6};

	TRY(nm_wire_map_encode(to,
			       &(struct nm_wire_map){NM_WIRE_PROT_READ | NM_WIRE_PROT_EXEC | NM_WIRE_MAP_FILE,
						     0x401000, 0x2000, 0x1000, "/usr/bin/sample"}));
	TRY(nm_wire_module_encode(
	    to, &(struct nm_wire_module){0x401000, build_id, sizeof build_id, "/usr/bin/sample"}));
	TRY(nm_wire_map_encode(
	    to, &(struct nm_wire_map){NM_WIRE_PROT_READ | NM_WIRE_PROT_WRITE, 0x10000000, 0x4000, 0, ""}));
	TRY(nm_wire_pages_encode(to, &(struct nm_wire_pages){NM_WIRE_PAGES_2M, 0x10000000, 0x4000}));
	TRY(nm_wire_shared_encode(to, &(struct nm_wire_shared){0x10000000, 0x1000, 0x801, 4711, 0x2000}));
	TRY(nm_wire_brk_encode(to, &(struct nm_wire_brk){0x600000, 0x621000}));
	TRY(nm_wire_thread_start_encode(to, &(struct nm_wire_thread_start){1, 0, 0x7ff000, 0x800000}));
	TRY(nm_wire_thread_pointer_encode(to, &(struct nm_wire_thread_pointer){1, 0x601000}));
	return nm_wire_thread_encode(to, &(struct nm_wire_thread){1});
}

int sample_start(struct nm_wire_words *to)
{
	TRY(start_process(to));
	return start_thread(to);
}

int sample_sampled_start(struct nm_wire_words *to)
{
	TRY(start_process(to));
	TRY(nm_wire_sampling_encode(to, &(struct nm_wire_sampling){100000, 64, 1}));
	return start_thread(to);
}

static int sample_events(struct nm_wire_words *to)
{
	TRY(nm_wire_fork_encode(to, &(struct nm_wire_fork){4712, 1}));
	TRY(nm_wire_exec_encode(to, &(struct nm_wire_exec){"/no/such/file"}));
	TRY(nm_wire_signal_encode(to, &(struct nm_wire_signal){11, 0x7ff800}));
	TRY(nm_wire_alloc_encode(to, &(struct nm_wire_alloc){NM_WIRE_MALLOC, 0x600010, 100, SAMPLE_PC}));
	TRY(nm_wire_alloc_encode(to, &(struct nm_wire_alloc){NM_WIRE_NEW, 0x600080, 0, SAMPLE_PC}));
	TRY(nm_wire_realloc_encode(
	    to, &(struct nm_wire_realloc){NM_WIRE_REALLOCATE, 0x600010, 0x600010, 64, SAMPLE_PC}));
	TRY(nm_wire_alloc_encode(to, &(struct nm_wire_alloc){NM_WIRE_POOL, 0x600020, 16, SAMPLE_PC}));
	TRY(nm_wire_free_encode(to, &(struct nm_wire_free){NM_WIRE_DELETE, 0x600080}));
	TRY(nm_wire_free_encode(to, &(struct nm_wire_free){NM_WIRE_FREE_CALL, 0x600014}));
	TRY(nm_wire_name_encode(to, &(struct nm_wire_name){0x600010, 64, "grid"}));
	TRY(nm_wire_unname_encode(to, &(struct nm_wire_unname){0x600010}));
	TRY(nm_wire_region_encode(to, &(struct nm_wire_region){1, "solve"}));
	TRY(nm_wire_region_encode(to, &(struct nm_wire_region){0, "solve"}));
	TRY(nm_wire_measure_encode(to, &(struct nm_wire_measure){0}));
	TRY(nm_wire_measure_encode(to, &(struct nm_wire_measure){1}));
	TRY(nm_wire_remap_encode(to, &(struct nm_wire_remap){0x10000000, 0x4000, 0x20000000, 0x8000}));
	TRY(nm_wire_unmap_encode(to, &(struct nm_wire_unmap){0x20000000, 0x8000}));
	TRY(nm_wire_encode(to, NM_WIRE_PAD, 0, (const uint64_t[]){~0ull, 0}, 2));
	return nm_wire_module_gone_encode(to, &(struct nm_wire_module_gone){0x401000});
}

/* A lock is taken and given up. */
static int sample_lock(struct nm_wire_words *to)
{
	static const struct nm_wire_sync_event events[] = {
	    {NM_WIRE_SYNC_ENTER, 0},
	    {NM_WIRE_SYNC_LOCK, 0x600040},
	    {NM_WIRE_SYNC_FUTEX_WAIT, 0x600040},
	    {NM_WIRE_SYNC_LEAVE, 0},
	    {NM_WIRE_SYNC_ENTER, 0},
	    {NM_WIRE_SYNC_FUTEX_WAKE, 0x600040},
	    {NM_WIRE_SYNC_UNLOCK, 0x600040},
	    {NM_WIRE_SYNC_LEAVE, 0},
	};

	for (unsigned i = 0; i < sizeof events / sizeof *events; i++)
		TRY(nm_wire_sync_event_encode(to, &events[i]));
	return 0;
}

int sample_stream(struct nm_wire_words *to)
{
	TRY(sample_start(to));
	TRY(sample_define_blocks(to));
	TRY(nm_wire_place_encode(to,
				 &(struct nm_wire_place){SAMPLE_PC, 42, "A(i,j)", "/home/user/sample.nest"}));
	TRY(nm_wire_block_encode(to, SAMPLE_LOOP, (const uint64_t[]){0x600010, 0x600020, 0x600030}, 3));
	TRY(nm_wire_block_encode(to, SAMPLE_LOOP, (const uint64_t[]){0x600018, 0, 0x600038}, 3));
	TRY(nm_wire_block_encode(to, SAMPLE_LOOP, (const uint64_t[]){0x600020}, 1));
	TRY(nm_wire_block_encode(to, SAMPLE_CALL, (const uint64_t[]){0x7ff8f8}, 1));
	TRY(nm_wire_sync_event_encode(to, &(struct nm_wire_sync_event){NM_WIRE_SYNC_CREATE, 2}));
	TRY(nm_wire_thread_start_encode(to, &(struct nm_wire_thread_start){2, 1, 0x6ff000, 0x700000}));
	TRY(nm_wire_thread_encode(to, &(struct nm_wire_thread){2}));
	TRY(sample_lock(to));
	TRY(nm_wire_block_encode(to, SAMPLE_RETURN, (const uint64_t[]){0x600100, 0x6ff8f8}, 2));
	TRY(nm_wire_thread_encode(to, &(struct nm_wire_thread){1}));
	TRY(nm_wire_thread_exit_encode(to, &(struct nm_wire_thread){2}));
	TRY(nm_wire_sync_event_encode(to, &(struct nm_wire_sync_event){NM_WIRE_SYNC_JOIN, 0}));
	TRY(nm_wire_block_encode(to, SAMPLE_RETURN, (const uint64_t[]){0x600100, 0x7ff8f8}, 2));
	TRY(nm_wire_block_encode(to, SAMPLE_GROUPS, (const uint64_t[]){0x7ff8e0, 0x7ff8f0}, 2));
	TRY(nm_wire_block_encode(to, SAMPLE_GROUPS, (const uint64_t[]){0x7ff8e0}, 1));
	TRY(nm_wire_ran_encode(to, &(struct nm_wire_ran){SAMPLE_RAN}));
	TRY(sample_events(to));
	TRY(nm_wire_lost_encode(to, &(struct nm_wire_lost){17}));
	return nm_wire_exit_encode(to, &(struct nm_wire_exit){128 + 6});
}

/* Two calls are open when a block is allocated, in the second; two of its lines are sampled, and one is
 * touched again. */
int sample_sampled_stream(struct nm_wire_words *to)
{
	const struct nm_wire_call calls[] = {{0x7ff8f8, SAMPLE_PC + 14}, {0x7ff8d8, SAMPLE_PC + 80}};
	const struct nm_wire_code read = {SAMPLE_PC, 8, 0}, write = {SAMPLE_PC + 6, 32, 1};

	TRY(sample_sampled_start(to));
	TRY(nm_wire_frames_encode(to, &(struct nm_wire_frames){0, calls, 2}));
	TRY(nm_wire_frames_encode(to, &(struct nm_wire_frames){0x7ff8d8, NULL, 0}));
	TRY(nm_wire_alloc_encode(to, &(struct nm_wire_alloc){NM_WIRE_MALLOC, 0x600000, 256, SAMPLE_PC}));
	TRY(nm_wire_sample_encode(to, &(struct nm_wire_sample){4000, 0x600010, read}));
	TRY(nm_wire_sample_encode(to, &(struct nm_wire_sample){9000, 0x6000c0, write}));
	TRY(nm_wire_reuse_encode(to, &(struct nm_wire_reuse){9100, 0x600030, write, 4000}));
	TRY(nm_wire_clock_encode(to, &(struct nm_wire_clock){20000}));
	return nm_wire_exit_encode(to, &(struct nm_wire_exit){0});
}
