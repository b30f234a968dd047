/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * main.c - the nearmiss collector for Valgrind: registers the tool and its options.
 */
#include "tool.h"

static const HChar *run_directory;
static Int consumer;

static Bool process_option(const HChar *option)
{
	if VG_STR_CLO (option, "--run-dir", run_directory) {
	} else if VG_INT_CLO (option, "--consumer", consumer) {
	} else {
		return False;
	}
	return True;
}

static void print_usage(void)
{
	VG_(printf)
	("    --run-dir=DIR             absolute path of the directory with the ring files\n"
	 "    --consumer=PID            stop recording when this process is gone\n");
}

static void print_debug_usage(void) { VG_(printf)("    (none)\n"); }

static void after_options(void)
{
	if (run_directory == NULL || run_directory[0] != '/')
		VG_(fmsg_bad_option)("--run-dir", "an absolute path is needed; nearmiss record gives one\n");
	nm_events_process_start(run_directory, consumer);
}

static void before_options(void)
{
	VG_(details_name)("nearmiss");
	VG_(details_version)(NULL);
	VG_(details_description)("a collector of memory references");
	VG_(details_copyright_author)("Part of nearmiss; GNU GPL, version 2 or later.");
	VG_(details_bug_reports_to)("the nearmiss project");
	VG_(details_avg_translation_sizeB)(500);
	VG_(basic_tool_funcs)(after_options, nm_instrument, nm_events_process_end);
	VG_(needs_command_line_options)(process_option, print_usage, print_debug_usage);
	VG_(needs_client_requests)(nm_client_request);
	nm_allocator_init();
	nm_events_init();
	nm_maps_init();
}

VG_DETERMINE_INTERFACE_VERSION(before_options)

/* ---- The core reads symbols of ELF files for us, but no debug information: the engine reads that, and
 * Valgrind 3.19 refuses programs with clang's DWARF 5. ---- */

extern void __wrap_vgModuleLocal_read_debuginfo_dwarf3(void);
extern void __wrap_vgModuleLocal_new_dwarf3_reader(void);
extern void __wrap_vgModuleLocal_read_callframe_info_dwarf3(void);

void __wrap_vgModuleLocal_read_debuginfo_dwarf3(void) {}
void __wrap_vgModuleLocal_new_dwarf3_reader(void) {}
void __wrap_vgModuleLocal_read_callframe_info_dwarf3(void) {}
