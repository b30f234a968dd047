/* SPDX-License-Identifier: MIT
 *
 * machine_table.c - machines by name.
 *
 * Every geometry has a source: CPUID, a manual of the maker, or the tool or paper that is reproduced
 * (docs/machines.md). A row describes what one core sees: of a last level that is split over clusters of
 * cores, one cluster's part. By default levels are LRU, non-inclusive, write-back and without prefetchers,
 * whatever the silicon does, since makers publish little; a SPEC or a description (docs/machine-files.md) can
 * say more. Loads that the processor's prefetchers would have made, and page walks, are counted separately
 * (prefetch_coverage.h). Latencies are from published measurements; that of memory depends on the modules
 * and clock of the measured machine.
 *
 * TLBs are separate machines, to be simulated beside the caches.
 */
#include <string.h>

#include "machine.h"

#define KIB 1024ull
#define MIB (1024ull * 1024)
#define LEVEL_IN(cycles, level, bytes, n, which)                                                     \
	{                                                                                            \
		.name = level, .size = (bytes), .ways = (n), .line = 64, .sets = (bytes) / ((n)*64), \
		.side = NM_SIDE_##which, .latency = (cycles)                                         \
	}
#define LEVEL(level, bytes, n, which) LEVEL_IN(0, level, bytes, n, which)
#define L1I(bytes, ways) LEVEL("L1i", bytes, ways, INSTRUCTION)
#define L1D(bytes, ways) LEVEL("L1d", bytes, ways, DATA)
#define L2(bytes, ways) LEVEL("L2", bytes, ways, UNIFIED)
#define L3(bytes, ways) LEVEL("L3", bytes, ways, UNIFIED)
#define L2_IN(cycles, bytes, ways) LEVEL_IN(cycles, "L2", bytes, ways, UNIFIED)
#define L3_IN(cycles, bytes, ways) LEVEL_IN(cycles, "L3", bytes, ways, UNIFIED)

#define TLB(level, count, n, which, bytes, all)                                               \
	{                                                                                     \
		.name = level, .size = (count)*bytes, .ways = (n), .line = (uint32_t)(bytes), \
		.sets = (count) / (n), .side = NM_SIDE_##which, .pages = (all)                \
	}
#define TLB_4K(level, count, n, which, more) TLB(level, count, n, which, 4 * KIB, 1u << NM_PAGE_4K | (more))
#define TLB_2M(level, count, n, which) TLB(level, count, n, which, 2 * MIB, AND_2M)
#define TLB_1G(level, count, n, which) TLB(level, count, n, which, 1024 * MIB, 1u << NM_PAGE_1G)
#define AND_2M (1u << NM_PAGE_2M)

static const struct nm_machine machines[] = {
    {"cachegrind",
     "what Cachegrind simulates where it cannot detect a cache (its cg_arch.c, defaults for x86)",
     {L1I(64 * KIB, 2), L1D(64 * KIB, 2), LEVEL("LL", 256 * KIB, 8, UNIFIED)},
     .count = 3},
    {"pentium-m",
     "Intel Pentium M: 32K and 1M, 8 ways each, as in Weidendorfer and Trinitis on reuse metrics",
     {L1I(32 * KIB, 8), L1D(32 * KIB, 8), L2(1 * MIB, 8)},
     .count = 3},
    {"alpha-21164",
     "DEC Alpha 21164 without the board's cache, first level write-through (DEC data sheet EC-QAEPD-TE)",
     {{.name = "L1i", .size = 8 * KIB, .ways = 1, .line = 32, .sets = 256, .side = NM_SIDE_INSTRUCTION},
      {.name = "L1d",
       .size = 8 * KIB,
       .ways = 1,
       .line = 32,
       .sets = 256,
       .side = NM_SIDE_DATA,
       .write_through = 1,
       .no_allocate = 1},
      L2(96 * KIB, 3)},
     .count = 3},
    {"haswell",
     "Intel Core i7-4770, Haswell (CPUID leaf 4 of one, InstLatx64 00306C3; latencies 7-cpu.com)",
     {L1I(32 * KIB, 8), L1D(32 * KIB, 8), L2_IN(12, 256 * KIB, 8), L3_IN(36, 8 * MIB, 16)},
     .count = 4,
     .prefetchers = NM_PREFETCHER_ALL,
     .tlb = 1024,
     .memory_latency = 230},
    {"skylake",
     "Intel Core i7-6700K, Skylake client (CPUID leaf 4 of one, InstLatx64 00506E3; latencies 7-cpu.com)",
     {L1I(32 * KIB, 8), L1D(32 * KIB, 8), L2_IN(12, 256 * KIB, 4), L3_IN(42, 8 * MIB, 16)},
     .count = 4,
     .prefetchers = NM_PREFETCHER_ALL,
     .tlb = 1536,
     .memory_latency = 246},
    {"ice-lake",
     "Intel Core i7-1065G7, Ice Lake client (CPUID leaf 4 of one, InstLatx64 00706E5)",
     {L1I(32 * KIB, 8), L1D(48 * KIB, 12), L2(512 * KIB, 8), L3(8 * MIB, 16)},
     .count = 4,
     .prefetchers = NM_PREFETCHER_ALL,
     .tlb = 2048},
    {"tiger-lake",
     "Intel Core i7-1165G7, Tiger Lake (CPUID leaf 4 of one, InstLatx64 00806C1)",
     {L1I(32 * KIB, 8), L1D(48 * KIB, 12), L2(1280 * KIB, 20), L3(12 * MIB, 12)},
     .count = 4,
     .prefetchers = NM_PREFETCHER_ALL,
     .tlb = 2048},
    {"alder-lake",
     "Intel Core i9-12900K, performance core: Golden Cove (CPUID leaf 4 of one, InstLatx64 0090672)",
     {L1I(32 * KIB, 8), L1D(48 * KIB, 12), L2(1280 * KIB, 10), L3(30 * MIB, 12)},
     .count = 4,
     .prefetchers = NM_PREFETCHER_ALL,
     .tlb = 2048},
    {"alder-lake-e",
     "Intel Core i9-12900K, efficiency core: Gracemont, L2 of four (CPUID leaf 4 of one, InstLatx64 0090672)",
     {L1I(64 * KIB, 8), L1D(32 * KIB, 8), L2(2 * MIB, 16), L3(30 * MIB, 12)},
     .count = 4,
     .prefetchers = NM_PREFETCHER_ALL,
     .tlb = 2048},
    {"raptor-lake",
     "Intel Core i9-13900K, performance core: Raptor Cove (CPUID leaf 4 of one, InstLatx64 00B0671)",
     {L1I(32 * KIB, 8), L1D(48 * KIB, 12), L2(2 * MIB, 16), L3(36 * MIB, 12)},
     .count = 4,
     .prefetchers = NM_PREFETCHER_ALL,
     .tlb = 2048},
    {"skylake-sp",
     "Intel Xeon Platinum 8180, Skylake server: 28 slices of 1.375M (CPUID leaf 4 of one, InstLatx64 0050654; "
     "latencies 7-cpu.com)",
     {L1I(32 * KIB, 8), L1D(32 * KIB, 8), L2_IN(14, 1 * MIB, 16), L3_IN(68, 28 * 1408 * KIB, 11)},
     .count = 4,
     .prefetchers = NM_PREFETCHER_ALL,
     .tlb = 1536,
     .memory_latency = 229},
    {"ice-lake-sp",
     "Intel Xeon Platinum 8380, Ice Lake server: 40 slices of 1.5M (CPUID leaf 4 of an 8351N, InstLatx64 00606A6)",
     {L1I(32 * KIB, 8), L1D(48 * KIB, 12), L2(1280 * KIB, 20), L3(60 * MIB, 12)},
     .count = 4,
     .prefetchers = NM_PREFETCHER_ALL,
     .tlb = 2048},
    {"sapphire-rapids",
     "Intel Xeon Platinum 8480+, Sapphire Rapids: 56 slices of 1.875M (CPUID leaf 4 of a w7-2475X, InstLatx64 00806F8)",
     {L1I(32 * KIB, 8), L1D(48 * KIB, 12), L2(2 * MIB, 16), L3(105 * MIB, 15)},
     .count = 4,
     .prefetchers = NM_PREFETCHER_ALL,
     .tlb = 2048},
    {"zen",
     "AMD EPYC 7001, Zen, L3 of one core complex (CPUID leaf 8000001D of a 7401P, InstLatx64 0800F12)",
     {L1I(64 * KIB, 4), L1D(32 * KIB, 8), L2(512 * KIB, 8), L3(8 * MIB, 16)},
     .count = 4,
     .prefetchers = NM_PREFETCHER_ALL,
     .tlb = 1536},
    {"zen2",
     "AMD EPYC 7002, Zen 2, L3 of one core complex (CPUID leaf 8000001D of a 7742, InstLatx64 0830F10; "
     "latencies WikiChip)",
     {L1I(32 * KIB, 8), L1D(32 * KIB, 8), L2_IN(12, 512 * KIB, 8), L3_IN(39, 16 * MIB, 16)},
     .count = 4,
     .prefetchers = NM_PREFETCHER_ALL,
     .tlb = 2048},
    {"zen3",
     "AMD EPYC 7003, Zen 3, L3 of one core complex (CPUID leaf 8000001D of a 7763, InstLatx64 0A00F11; "
     "latencies 7-cpu.com)",
     {L1I(32 * KIB, 8), L1D(32 * KIB, 8), L2_IN(12, 512 * KIB, 8), L3_IN(47, 32 * MIB, 16)},
     .count = 4,
     .prefetchers = NM_PREFETCHER_ALL,
     .tlb = 2048},
    {"zen4",
     "AMD EPYC 9004, Zen 4, L3 of one core complex (CPUID leaf 8000001D of a 9654, InstLatx64 0A10F11; "
     "latencies WikiChip)",
     {L1I(32 * KIB, 8), L1D(32 * KIB, 8), L2_IN(14, 1 * MIB, 8), L3_IN(50, 32 * MIB, 16)},
     .count = 4,
     .prefetchers = NM_PREFETCHER_ALL,
     .tlb = 3072},
    {"zen5",
     "AMD EPYC 9005 and Ryzen 9000, Zen 5, L3 of one core complex (CPUID leaf 8000001D of a 9655, InstLatx64 0B00F21)",
     {L1I(32 * KIB, 8), L1D(48 * KIB, 12), L2(1 * MIB, 16), L3(32 * MIB, 16)},
     .count = 4,
     .prefetchers = NM_PREFETCHER_ALL,
     .tlb = 4096},
    {"neoverse-n1",
     "Arm Neoverse N1 with 1M of L2, e.g. AWS Graviton2, without the system cache (Arm 100616)",
     {L1I(64 * KIB, 4), L1D(64 * KIB, 4), L2(1 * MIB, 8)},
     .count = 3,
     .prefetchers = NM_PREFETCHER_STREAM | NM_PREFETCHER_STRIDE,
     .tlb = 1280},
    {"neoverse-v1",
     "Arm Neoverse V1 with 1M of L2, e.g. AWS Graviton3, without the system cache (Arm 101427)",
     {L1I(64 * KIB, 4), L1D(64 * KIB, 4), L2(1 * MIB, 8)},
     .count = 3,
     .prefetchers = NM_PREFETCHER_STREAM | NM_PREFETCHER_STRIDE,
     .tlb = 2048},
    {"neoverse-n2",
     "Arm Neoverse N2 with 1M of L2, e.g. Azure Cobalt 100, without the system cache (Arm 102099)",
     {L1I(64 * KIB, 4), L1D(64 * KIB, 4), L2(1 * MIB, 8)},
     .count = 3,
     .prefetchers = NM_PREFETCHER_STREAM | NM_PREFETCHER_STRIDE,
     .tlb = 1280},
    {"neoverse-v2",
     "Arm Neoverse V2 with 2M of L2, e.g. AWS Graviton4, without the system cache (Arm 102375)",
     {L1I(64 * KIB, 4), L1D(64 * KIB, 4), L2(2 * MIB, 8)},
     .count = 3,
     .prefetchers = NM_PREFETCHER_STREAM | NM_PREFETCHER_STRIDE,
     .tlb = 2048},
    {"cortex-a53",
     "Arm Cortex-A53 with 512K of L2, e.g. Raspberry Pi 3 (Arm DDI 0500; Linux bcm2837.dtsi)",
     {L1I(32 * KIB, 2), L1D(32 * KIB, 4), L2(512 * KIB, 16)},
     .count = 3,
     .prefetchers = NM_PREFETCHER_STREAM | NM_PREFETCHER_STRIDE,
     .tlb = 512},
    {"cortex-a76",
     "Arm Cortex-A76 with 512K of L2 and 2M of L3, e.g. Raspberry Pi 5 (Arm 100798 and 100453; Linux bcm2712.dtsi)",
     {L1I(64 * KIB, 4), L1D(64 * KIB, 4), L2(512 * KIB, 8), L3(2 * MIB, 16)},
     .count = 4,
     .prefetchers = NM_PREFETCHER_STREAM | NM_PREFETCHER_STRIDE,
     .tlb = 1280},
    {"cortex-a72",
     "Arm Cortex-A72 with 1M of L2, e.g. Raspberry Pi 4 (Arm Cortex-A72 reference manual 6.1, 7.1)",
     {L1I(48 * KIB, 3), L1D(32 * KIB, 2), L2(1 * MIB, 16)},
     .count = 3,
     .prefetchers = NM_PREFETCHER_STREAM | NM_PREFETCHER_STRIDE,
     .tlb = 1024},
    {"haswell-tlb",
     "TLBs of Intel Haswell (Intel optimization reference manual, TLB parameters)",
     {TLB_4K("L1i", 128, 4, INSTRUCTION, 0), TLB_2M("L1Mi", 8, 8, INSTRUCTION), TLB_4K("L1d", 64, 4, DATA, 0),
      TLB_2M("L1Md", 32, 4, DATA), TLB_1G("L1Gd", 4, 4, DATA), TLB_4K("L2", 1024, 8, UNIFIED, AND_2M)},
     .count = 6},
    {"skylake-tlb",
     "TLBs of Intel Skylake, client and server (Intel optimization reference manual, TLB parameters)",
     {TLB_4K("L1i", 128, 8, INSTRUCTION, 0), TLB_2M("L1Mi", 8, 8, INSTRUCTION), TLB_4K("L1d", 64, 4, DATA, 0),
      TLB_2M("L1Md", 32, 4, DATA), TLB_1G("L1Gd", 4, 4, DATA), TLB_4K("L2", 1536, 12, UNIFIED, AND_2M),
      TLB_1G("L2G", 16, 4, UNIFIED)},
     .count = 7},
    {"zen3-tlb",
     "TLBs of AMD Zen 3, where 1G pages are taken as 2M (AMD software optimization guide, family 19h)",
     {TLB_4K("L1i", 64, 64, INSTRUCTION, AND_2M), TLB_4K("L2i", 512, 8, INSTRUCTION, AND_2M),
      TLB_4K("L1d", 64, 64, DATA, AND_2M), TLB_4K("L2d", 2048, 16, DATA, AND_2M)},
     .count = 4},
    {"neoverse-n1-tlb",
     "TLBs of Arm Neoverse N1 with pages of 4K and blocks of 2M (Arm N1 reference manual)",
     {TLB_4K("L1i", 48, 48, INSTRUCTION, AND_2M), TLB_4K("L1d", 48, 48, DATA, AND_2M),
      TLB_4K("L2", 1280, 5, UNIFIED, AND_2M)},
     .count = 3},
};

const struct nm_machine *nm_machine_table(size_t *ret_count)
{
	*ret_count = sizeof machines / sizeof machines[0];
	return machines;
}

const struct nm_machine *nm_machine_named(const char *name)
{
	for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
		if (!strcmp(machines[i].name, name))
			return &machines[i];
	return NULL;
}
