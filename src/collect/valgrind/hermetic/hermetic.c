/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A program that another executes goes on with its clock, which also seeds its random numbers: two programs
 * that run one after the other get different ones. They are of splitmix64 (Steele, Lea, Flood, Fast splittable
 * pseudorandom number generators, 2014).
 */
#include "hermetic_priv.h"

#define TIME_OPTION "--hermetic-time"

Bool nm_hermetic;
static Long started; /* by exec, at this time; 0: by the recorder */
static ULong random_state;

Bool nm_hermetic_option(const HChar *option)
{
	if VG_BOOL_CLO (option, "--hermetic", nm_hermetic) {
		return True;
	}
	return VG_BINT_CLO(option, TIME_OPTION, started, 0, 0x7fffffffffffffff);
}

static ULong draw_random(void)
{
	ULong z = random_state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

void nm_random_fill(void *at, SizeT bytes)
{
	UChar *to = at;

	while (bytes > 0) {
		const ULong word = draw_random();
		const SizeT n = bytes < sizeof word ? bytes : sizeof word;

		VG_(memcpy)(to, &word, n);
		to += n;
		bytes -= n;
	}
}

/* Programs choose code by what CPUID says, which Valgrind answers alike on all processors of a kind. */
static void tell_instructions(void)
{
	VexArch arch;
	VexArchInfo info;

	VG_(machine_get_VexArchInfo)(&arch, &info);
	VG_(umsg)
	(NM_PINNED_INSTRUCTIONS "%s\n", info.hwcaps & VEX_HWCAPS_AMD64_AVX2    ? "AVX2"
					: info.hwcaps & VEX_HWCAPS_AMD64_AVX   ? "AVX"
					: info.hwcaps & VEX_HWCAPS_AMD64_SSSE3 ? "SSSE3"
									       : "SSE2");
}

void nm_hermetic_begin(void)
{
	if (started > 0)
		nm_clock_set((ULong)started);
	else
		tell_instructions();
	random_state = NM_PINNED_SEED + (ULong)started;
}

void nm_hermetic_forked(UInt n) { random_state = NM_PINNED_SEED + nm_clock_now() + ((ULong)n << 48); }

UInt nm_hermetic_instructions(UInt capabilities)
{
	return capabilities & ~(UInt)(VEX_HWCAPS_AMD64_RDRAND | VEX_HWCAPS_AMD64_RDSEED);
}

void nm_hermetic_before_syscall(ThreadId thread, UInt number, const UWord *args)
{
	nm_clock_before_syscall(thread, number, args);
	if (number == __NR_execve || number == __NR_execveat)
		nm_option_set_for_exec(TIME_OPTION "=", nm_clock_now());
}

void nm_hermetic_after_syscall(ThreadId thread, UInt number, const UWord *args, SysRes result)
{
	nm_clock_after_syscall(thread, number, result);
	nm_answer(thread, number, args, result);
	nm_unpinned_after_syscall(number, args, result);
}
