/* SPDX-License-Identifier: MIT */
#include "data_source.h"

const char *const nm_operation_names[NM_OPERATIONS] = {
    [NM_OPERATION_NONE] = "none", [NM_OPERATION_LOAD] = "load",         [NM_OPERATION_STORE] = "store",
    [NM_OPERATION_BOTH] = "both", [NM_OPERATION_PREFETCH] = "prefetch", [NM_OPERATION_EXECUTE] = "execute"};

const char *const nm_served_names[NM_SERVED_KINDS] = {[NM_SERVED_L1] = "L1",
						      [NM_SERVED_FILL_BUFFER] = "fill buffer",
						      [NM_SERVED_L2] = "L2",
						      [NM_SERVED_L3] = "L3",
						      [NM_SERVED_L4] = "L4",
						      [NM_SERVED_OTHER_CACHE] = "other cache",
						      [NM_SERVED_MEMORY] = "memory",
						      [NM_SERVED_REMOTE_CACHE] = "remote cache",
						      [NM_SERVED_REMOTE_MEMORY] = "remote memory",
						      [NM_SERVED_UNCACHED] = "uncached"};

const char *const nm_snoop_names[NM_SNOOPS] = {
    [NM_SNOOP_NONE] = "none", [NM_SNOOP_MISS] = "miss", [NM_SNOOP_HIT] = "hit", [NM_SNOOP_HITM] = "hitm"};

const char *const nm_tlb_names[NM_TLBS] = {
    [NM_TLB_L1] = "L1", [NM_TLB_L2] = "L2", [NM_TLB_HIT] = "hit", [NM_TLB_MISS] = "miss"};
