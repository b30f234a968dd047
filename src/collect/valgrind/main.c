/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * main.c - the nearmiss collector for Valgrind: registers the tool and its options.
 *
 * `nearmiss record` starts it as
 *
 *     VALGRIND_LIB=DIR valgrind.bin --tool=nearmiss --command-line-only=yes -q --demangle=no
 *         --trace-children=yes --vgdb=no --sigill-diagnostics=no --default-suppressions=no
 *         --log-fd=FD --arena=FD --all-blocks=no -- PROGRAM ARGUMENTS
 *
 * DIR holds the tool and links to Valgrind's support files. --demangle=no: allocation functions are
 * recognised by their linkage names. --vgdb=no: no files and no thread for a debugger. --log-fd: Valgrind's
 * messages do not mix with the program's output. Both descriptors are memory files made by `nearmiss record`.
 *
 * Dropped: other values of Valgrind's tuning options (chasing of calls, --vex-iropt-level, unrolling, the
 * older register allocator, smaller blocks); each made recordings slower.
 */
#include "hermetic/hermetic.h"
#include "sampling.h"
#include "tool.h"

static Int shared_file = -1;
static Bool by_exec;

static Bool process_option(const HChar *option)
{
	const HChar *pool;

	if VG_INT_CLO (option, "--arena", shared_file) {
	} else if VG_BOOL_CLO (option, "--by-exec", by_exec) {
	} else if VG_BOOL_CLO (option, "--all-blocks", nm_all_blocks) {
	} else if VG_BOOL_CLO (option, "--one-machine", nm_one_machine) {
	} else if VG_STR_CLO (option, "--pool-fn", pool) {
		return nm_pools_add(pool, False);
	} else if VG_STR_CLO (option, "--alloc-fn", pool) {
		return nm_pools_add(pool, True);
	} else if (nm_hermetic_option(option)) {
	} else if VG_BINT_CLO (option, "--sample", nm_sampling_rate, 0, 1000000000) {
	} else if VG_BINT_CLO (option, "--sample-line", nm_sampling_line, NM_SAMPLED_LINE_MIN, 4096) {
	} else if VG_BINT_CLO (option, "--sample-seed", nm_sampling_seed, 0, 0x7fffffff) {
	} else {
		return False;
	}
	return True;
}

static void print_usage(void)
{
	VG_(printf)
	("    --arena=FD                descriptor of the memory that is shared with nearmiss record\n"
	 "    --by-exec=no|yes          the tool's own: this program was started by exec [no]\n"
	 "    --all-blocks=no|yes       send each execution of code that touches no memory, too [no]\n"
	 "    --one-machine=no|yes      tell what processes share, and how they wait for each other [no]\n"
	 "    --pool-fn=NAME[:N|=BYTES] a function that hands out pieces of memory; its argument N is their size\n"
	 "    --alloc-fn=NAME           the same, if the memory is shared with other processes\n"
	 "    --hermetic=no|yes         keep clocks, random numbers and what else differs between runs from the\n"
	 "                              program [no]\n"
	 "    --hermetic-time=N         the tool's own: an executed program's clock begins there [0]\n"
	 "    --sample=N                send no blocks, but N references in 10^9, drawn at random, and the next\n"
	 "                              one to the line of each [0: send all blocks]\n"
	 "    --sample-line=N           bytes of such a line, a power of 2 from 32 on [64]\n"
	 "    --sample-seed=N           other references are drawn [1]\n");
}

static void print_debug_usage(void) { VG_(printf)("    (none)\n"); }

static void after_options(void)
{
	if (shared_file < 0) {
		VG_(umsg)("--arena must name a descriptor; nearmiss record does so\n");
		VG_(exit)(1);
	}
	shared_file = nm_descriptor_keep("--arena=");
	nm_descriptor_keep("--log-fd=");
	if (!by_exec)
		nm_option_add_for_exec("--by-exec=yes");
	nm_sampling = nm_sampling_rate > 0;
	if (nm_hermetic)
		nm_hermetic_begin();
	nm_events_process_start(shared_file, by_exec);
}

static IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
			const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
			IRType host_word)
{
	IRSB *out = (nm_sampling ? nm_instrument_sampled : nm_instrument)(closure, in, layout, extents, host,
									  guest_word, host_word);

	return nm_hermetic ? nm_clock_instrument(out) : out;
}

static void before_options(void)
{
	VG_(details_name)("nearmiss");
	VG_(details_version)(NULL);
	VG_(details_description)("a collector of memory references");
	VG_(details_copyright_author)("Part of nearmiss; GNU GPL, version 2 or later.");
	VG_(details_bug_reports_to)("the nearmiss project");
	VG_(details_avg_translation_sizeB)(500);
	VG_(basic_tool_funcs)(after_options, instrument, nm_events_process_end);
	VG_(needs_command_line_options)(process_option, print_usage, print_debug_usage);
	VG_(needs_client_requests)(nm_client_request);
	nm_allocator_init();
	nm_locks_init();
	nm_pools_init();
	nm_events_init();
	nm_maps_init();
}

VG_DETERMINE_INTERFACE_VERSION(before_options)

/* ---- The core reads ELF symbols for us, but no debug information: the engine reads that, and Valgrind 3.19
 * refuses programs with clang's DWARF 5. ---- */

extern void __wrap_vgModuleLocal_read_debuginfo_dwarf3(void);
extern void __wrap_vgModuleLocal_new_dwarf3_reader(void);
extern void __wrap_vgModuleLocal_read_callframe_info_dwarf3(void);

void __wrap_vgModuleLocal_read_debuginfo_dwarf3(void) {}
void __wrap_vgModuleLocal_new_dwarf3_reader(void) {}
void __wrap_vgModuleLocal_read_callframe_info_dwarf3(void) {}

/* Nor does it ask debuginfod servers, which can take minutes. */

extern HChar *__real_vgPlain_getenv(const HChar *name);
extern HChar *__wrap_vgPlain_getenv(const HChar *name);

HChar *__wrap_vgPlain_getenv(const HChar *name)
{
	return VG_(strcmp)(name, "DEBUGINFOD_URLS") == 0 ? NULL : __real_vgPlain_getenv(name);
}
