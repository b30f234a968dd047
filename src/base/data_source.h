/* SPDX-License-Identifier: MIT
 *
 * data_source.h - what a sampled instruction did with memory, and where a processor says that it found the data.
 *
 * UNKNOWN, the first of each, stands for what the processor does not say.
 */
#ifndef NM_DATA_SOURCE_H
#define NM_DATA_SOURCE_H

enum nm_operation {
	NM_OPERATION_UNKNOWN,
	NM_OPERATION_NONE, /* it did not access memory */
	NM_OPERATION_LOAD,
	NM_OPERATION_STORE,
	NM_OPERATION_BOTH,
	NM_OPERATION_PREFETCH,
	NM_OPERATION_EXECUTE,
	NM_OPERATIONS
};

enum nm_served {
	NM_SERVED_UNKNOWN,
	NM_SERVED_L1,
	NM_SERVED_FILL_BUFFER, /* the line was on its way already */
	NM_SERVED_L2,
	NM_SERVED_L3,
	NM_SERVED_L4,
	NM_SERVED_OTHER_CACHE, /* of the same node, which level is not known */
	NM_SERVED_MEMORY,
	NM_SERVED_REMOTE_CACHE, /* of another node */
	NM_SERVED_REMOTE_MEMORY,
	NM_SERVED_UNCACHED,
	NM_SERVED_KINDS
};

/* What other caches had of the line. */
enum nm_snoop {
	NM_SNOOP_UNKNOWN,
	NM_SNOOP_NONE,
	NM_SNOOP_MISS,
	NM_SNOOP_HIT,
	NM_SNOOP_HITM /* modified */,
	NM_SNOOPS
};

enum nm_tlb { NM_TLB_UNKNOWN, NM_TLB_L1, NM_TLB_L2, NM_TLB_HIT /* in either */, NM_TLB_MISS, NM_TLBS };

/* The words for them in profiles and reports; NULL of UNKNOWN. */
extern const char *const nm_operation_names[NM_OPERATIONS],
    *const nm_served_names[NM_SERVED_KINDS], *const nm_snoop_names[NM_SNOOPS], *const nm_tlb_names[NM_TLBS];

#endif
