/* SPDX-License-Identifier: MIT
 *
 * decode.c - what a record of perf.data says.
 *
 * A sample holds the parts that its event's sample_type names, in one fixed order (perf_event.h,
 * PERF_RECORD_SAMPLE). Other records end with TID, TIME, ID, STREAM_ID, CPU and IDENTIFIER, as far as the
 * sample_type has them, if the event asked for it (sample_id_all).
 */
#include "perf_priv.h"

enum { HEADER = 8, MISC_MODE = 7, MISC_MAP_DATA = 1 << 13, MISC_EXEC = 1 << 13, MISC_MAP_BUILD_ID = 1 << 14 };

enum {
	PROT_EXECUTE = 4,
	FORMAT_ENABLED = 1,
	FORMAT_RUNNING = 2,
	FORMAT_ID = 4,
	FORMAT_GROUP = 8,
	FORMAT_LOST = 16
};

enum { BRANCH_HW_INDEX = 1 << 17, BRANCH_COUNTERS = 1 << 19, BRANCH_BYTES = 24 };

const char *perf_text(struct nm_perf *perf, struct perf_cursor *c)
{
	const uint8_t *end = c->is_short ? NULL : memchr(c->at, 0, (size_t)(c->end - c->at));
	const char *text = (const char *)c->at;

	if (!end) {
		c->is_short = 1;
		return NULL;
	}
	c->at = end + 1;
	return nm_intern(&perf->strings, text);
}

/* ---- where data came from ---- */

/* Fields of DATA_SRC (union perf_mem_data_src). */
static unsigned bit_field(uint64_t word, unsigned shift, unsigned count)
{
	return (unsigned)(word >> shift & ((1u << count) - 1));
}

static enum nm_operation operation_of(unsigned op)
{
	enum { NA = 1, LOAD = 2, STORE = 4, PREFETCH = 8, EXECUTE = 16 };

	if (op & LOAD)
		return op & STORE ? NM_OPERATION_BOTH : NM_OPERATION_LOAD;
	return op & STORE      ? NM_OPERATION_STORE
	       : op & PREFETCH ? NM_OPERATION_PREFETCH
	       : op & EXECUTE  ? NM_OPERATION_EXECUTE
	       : op & NA       ? NM_OPERATION_NONE
			       : NM_OPERATION_UNKNOWN;
}

/* The older field: a bit for each level. */
static enum nm_served level_of_bits(unsigned level)
{
	enum {
		L1 = 0x8,
		FILL_BUFFER = 0x10,
		L2 = 0x20,
		L3 = 0x40,
		RAM = 0x80,
		REMOTE_RAM = 0x300,
		REMOTE_CACHE = 0xc00,
		UNCACHED = 0x3000
	};

	return level & REMOTE_CACHE  ? NM_SERVED_REMOTE_CACHE
	       : level & REMOTE_RAM  ? NM_SERVED_REMOTE_MEMORY
	       : level & RAM         ? NM_SERVED_MEMORY
	       : level & L3          ? NM_SERVED_L3
	       : level & L2          ? NM_SERVED_L2
	       : level & FILL_BUFFER ? NM_SERVED_FILL_BUFFER
	       : level & L1          ? NM_SERVED_L1
	       : level & UNCACHED    ? NM_SERVED_UNCACHED
				     : NM_SERVED_UNKNOWN;
}

/* The newer fields: a number, and whether it is another node's (hops: or another core's). */
static enum nm_served level_of_number(unsigned number, int is_remote, unsigned hops)
{
	static const enum nm_served levels[16] = {
	    [1] = NM_SERVED_L1,        [2] = NM_SERVED_L2,           [3] = NM_SERVED_L3,
	    [4] = NM_SERVED_L4,        [5] = NM_SERVED_L2,           [6] = NM_SERVED_OTHER_CACHE,
	    [7] = NM_SERVED_L1,        [8] = NM_SERVED_UNCACHED,     [9] = NM_SERVED_REMOTE_MEMORY,
	    [10] = NM_SERVED_UNCACHED, [11] = NM_SERVED_OTHER_CACHE, [12] = NM_SERVED_FILL_BUFFER,
	    [13] = NM_SERVED_MEMORY,   [14] = NM_SERVED_MEMORY};
	const enum nm_served level = levels[number];
	enum { SAME_NODE = 1 }; /* hops: another core of this node */

	if (!is_remote || hops == SAME_NODE)
		return level;
	return level == NM_SERVED_MEMORY ? NM_SERVED_REMOTE_MEMORY
	       : level == NM_SERVED_L2 || level == NM_SERVED_L3 || level == NM_SERVED_OTHER_CACHE
		   ? NM_SERVED_REMOTE_CACHE
		   : level;
}

struct nm_perf_source perf_source_of(uint64_t word)
{
	enum {
		HIT = 2,
		MISS = 4,
		TLB_L1 = 8,
		TLB_L2 = 16,
		SNOOP_NONE = 2,
		SNOOP_HIT = 4,
		SNOOP_MISS = 8,
		SNOOP_HITM = 16,
		LOCKED = 2,
		NO_NUMBER = 15
	};
	const unsigned level = bit_field(word, 5, 14), snoop = bit_field(word, 19, 5),
		       tlb = bit_field(word, 26, 7), number = bit_field(word, 33, 4);
	struct nm_perf_source source = {.operation = operation_of(bit_field(word, 0, 5)),
					.is_locked = (bit_field(word, 24, 2) & LOCKED) != 0};

	source.level = level_of_bits(level);
	if (source.level == NM_SERVED_UNKNOWN && number && number != NO_NUMBER)
		source.level = level_of_number(number, bit_field(word, 37, 1) != 0, bit_field(word, 43, 3));
	source.is_miss = (level & MISS) && !(level & HIT);
	source.snoop = snoop & SNOOP_HITM       ? NM_SNOOP_HITM
		       : snoop & SNOOP_HIT      ? NM_SNOOP_HIT
		       : bit_field(word, 38, 2) ? NM_SNOOP_HIT /* forwarded by a peer */
		       : snoop & SNOOP_MISS     ? NM_SNOOP_MISS
		       : snoop & SNOOP_NONE     ? NM_SNOOP_NONE
						: NM_SNOOP_UNKNOWN;
	source.tlb = tlb & MISS                                     ? NM_TLB_MISS
		     : tlb & HIT && tlb & TLB_L1 && !(tlb & TLB_L2) ? NM_TLB_L1
		     : tlb & HIT && tlb & TLB_L2 && !(tlb & TLB_L1) ? NM_TLB_L2
		     : tlb & HIT                                    ? NM_TLB_HIT
								    : NM_TLB_UNKNOWN;
	return source;
}

/* ---- which event, which time ---- */

static size_t words_before_id(uint64_t type)
{
	return (size_t)__builtin_popcountll(type & (SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_ADDRESS));
}

/* Words of the trailer of other records. */
static size_t trailer_words(uint64_t type)
{
	return (size_t)__builtin_popcountll(type & (SAMPLE_TID | SAMPLE_TIME | SAMPLE_ID | SAMPLE_STREAM_ID |
						    SAMPLE_CPU | SAMPLE_IDENTIFIER));
}

static uint64_t word_at(const struct perf_bytes *bytes, size_t word, uint64_t absent)
{
	uint64_t value = absent;

	if (word < bytes->count / 8)
		memcpy(&value, bytes->at + 8 * word, sizeof value);
	return value;
}

/* The index of the event that a record belongs to: all events of a file keep their ids at the same place. */
static size_t attr_index(const struct nm_perf *perf, const struct perf_bytes *bytes)
{
	const struct perf_attr *first = &perf->attrs.at[0];
	const uint64_t type = first->sample_type;
	const size_t words = bytes->count / 8, trailer = trailer_words(type);
	size_t at;

	if (perf->attrs.count < 2 || !(type & (SAMPLE_IDENTIFIER | SAMPLE_ID)))
		return 0;
	if (bytes->type == RECORD_SAMPLE)
		at = type & SAMPLE_IDENTIFIER ? 0 : words_before_id(type);
	else if (!first->has_trailer || words < trailer)
		return 0;
	else if (type & SAMPLE_IDENTIFIER)
		at = words - 1;
	else
		at = words - trailer + (size_t)__builtin_popcountll(type & (SAMPLE_TID | SAMPLE_TIME));
	return nm_map_get(&perf->attr_of, word_at(bytes, at, 0), 0);
}

uint64_t perf_time_of(const struct nm_perf *perf, const struct perf_bytes *bytes)
{
	const struct perf_attr *attr = perf->attrs.count ? &perf->attrs.at[attr_index(perf, bytes)] : NULL;
	const uint64_t type = attr ? attr->sample_type : 0;
	const size_t words = bytes->count / 8, trailer = trailer_words(type);

	if (!(type & SAMPLE_TIME))
		return 0;
	if (bytes->type == RECORD_SAMPLE)
		return word_at(
		    bytes, (size_t)__builtin_popcountll(type & (SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID)),
		    0);
	if (!attr->has_trailer || words < trailer)
		return 0;
	return word_at(bytes, words - trailer + ((type & SAMPLE_TID) != 0), 0);
}

/* ---- samples ---- */

static void pass_read(struct perf_cursor *c, uint64_t format)
{
	const uint64_t times = (format & FORMAT_ENABLED ? 8 : 0) + (format & FORMAT_RUNNING ? 8 : 0);
	const uint64_t each = 8 + (format & FORMAT_ID ? 8 : 0) + (format & FORMAT_LOST ? 8 : 0);
	const uint64_t values = format & FORMAT_GROUP ? perf_u64(c) : 1;

	perf_take(c, times);
	perf_take(c, values > (uint64_t)(c->end - c->at) ? UINT64_MAX : values * each);
}

static void pass_branches(struct perf_cursor *c, uint64_t type)
{
	const uint64_t count = perf_u64(c);
	const uint64_t room = (uint64_t)(c->end - c->at);

	if (type & BRANCH_HW_INDEX)
		perf_take(c, 8);
	perf_take(c, count > room ? UINT64_MAX : count * BRANCH_BYTES);
	if (type & BRANCH_COUNTERS)
		perf_take(c, count > room ? UINT64_MAX : count * 8);
}

static void pass_registers(struct perf_cursor *c, uint64_t mask)
{
	if (perf_u64(c)) /* the ABI; 0: none were read */
		perf_take(c, 8 * (uint64_t)__builtin_popcountll(mask));
}

static void pass_stack(struct perf_cursor *c)
{
	const uint64_t size = perf_u64(c);

	perf_take(c, size);
	if (size)
		perf_take(c, 8);
}

/* The parts up to the call chain, which have fixed places. */
static void take_first_parts(struct perf_cursor *c, const struct perf_attr *attr,
			     struct nm_perf_record *record)
{
	const uint64_t type = attr->sample_type;
	struct nm_perf_sample *s = &record->sample;

	if (type & SAMPLE_IDENTIFIER)
		perf_take(c, 8);
	if (type & SAMPLE_IP)
		s->ip = perf_u64(c);
	if (type & SAMPLE_TID) {
		record->pid = perf_u32(c);
		record->tid = perf_u32(c);
	}
	if (type & SAMPLE_TIME)
		record->time = perf_u64(c);
	if (type & SAMPLE_ADDRESS)
		s->address = perf_u64(c);
	if (type & SAMPLE_ID)
		perf_take(c, 8);
	if (type & SAMPLE_STREAM_ID)
		perf_take(c, 8);
	if (type & SAMPLE_CPU) {
		s->cpu = perf_u32(c);
		perf_take(c, 4);
	}
	if (type & SAMPLE_PERIOD)
		s->period = perf_u64(c);
	if (type & SAMPLE_READ)
		pass_read(c, attr->read_format);
}

static void take_chain(struct perf_cursor *c, struct nm_perf_sample *s)
{
	const uint64_t count = perf_u64(c);

	if (count > (uint64_t)(c->end - c->at) / 8) {
		c->is_short = 1;
		return;
	}
	s->chain = (const uint64_t *)(const void *)c->at; /* records begin at multiples of 8 */
	s->chain_count = count;
	perf_take(c, 8 * count);
}

static void take_weight(struct perf_cursor *c, const struct perf_attr *attr, struct nm_perf_sample *s)
{
	const uint64_t weight = perf_u64(c);

	if (!(attr->sample_type & SAMPLE_WEIGHT_STRUCT)) {
		s->latency = weight;
		return;
	}
	s->latency = (uint32_t)weight; /* var1: the latency; var2: that of the instruction */
	s->retire = weight >> 32 & 0xffff;
}

/* The parts behind the call chain. */
static void take_last_parts(struct perf_cursor *c, const struct perf_attr *attr, struct nm_perf_sample *s)
{
	const uint64_t type = attr->sample_type;

	if (type & SAMPLE_RAW)
		perf_take(c, perf_u32(c)); /* padded so that it ends at a multiple of 8 */
	if (type & SAMPLE_BRANCH_STACK)
		pass_branches(c, attr->branch_type);
	if (type & SAMPLE_REGS_USER)
		pass_registers(c, attr->regs_user);
	if (type & SAMPLE_STACK_USER)
		pass_stack(c);
	if (type & (SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT))
		take_weight(c, attr, s);
	if (type & SAMPLE_DATA_SRC)
		s->source = perf_source_of(perf_u64(c));
	if (type & SAMPLE_TRANSACTION)
		perf_take(c, 8);
	if (type & SAMPLE_REGS_INTR)
		pass_registers(c, attr->regs_intr);
	if (type & SAMPLE_PHYSICAL)
		s->physical = perf_u64(c);
	if (type & SAMPLE_CGROUP)
		perf_take(c, 8);
	if (type & SAMPLE_DATA_PAGE)
		s->page_bytes = perf_u64(c);
	if (type & SAMPLE_CODE_PAGE)
		perf_take(c, 8);
	if (type & SAMPLE_AUX)
		perf_take(c, perf_u64(c));
}

static int decode_sample(const struct nm_perf *perf, const struct perf_bytes *bytes, struct perf_cursor *c,
			 struct nm_perf_record *record)
{
	static const enum nm_perf_mode modes[MISC_MODE + 1] = {NM_PERF_UNKNOWN_MODE, NM_PERF_KERNEL,
							       NM_PERF_USER,         NM_PERF_HYPERVISOR,
							       NM_PERF_GUEST,        NM_PERF_GUEST};
	const size_t index = attr_index(perf, bytes);
	const struct perf_attr *attr = &perf->attrs.at[index];
	struct nm_perf_sample *s = &record->sample;

	*s = (struct nm_perf_sample){.event = (unsigned)index,
				     .mode = modes[bytes->misc & MISC_MODE],
				     .period = attr->event.is_frequency ? 1 : attr->event.period,
				     .cpu = UINT32_MAX};
	take_first_parts(c, attr, record);
	if (attr->sample_type & SAMPLE_CALLCHAIN)
		take_chain(c, s);
	take_last_parts(c, attr, s);
	if (attr->type < TYPE_RAW && s->source.operation == NM_OPERATION_NONE)
		s->source.operation =
		    NM_OPERATION_UNKNOWN; /* events that never know their source, as page faults */
	s->has_address =
	    (attr->sample_type & SAMPLE_ADDRESS) && s->address && s->source.operation != NM_OPERATION_NONE;
	return !c->is_short;
}

/* ---- other records ---- */

static int decode_map(struct nm_perf *perf, const struct perf_bytes *bytes, struct perf_cursor *c,
		      struct nm_perf_record *record)
{
	struct nm_perf_mapping *map = &record->map;

	*map = (struct nm_perf_mapping){.path = NULL};
	record->pid = perf_u32(c);
	record->tid = perf_u32(c);
	map->address = perf_u64(c);
	map->bytes = perf_u64(c);
	map->offset = perf_u64(c);
	map->is_executable = !(bytes->misc & MISC_MAP_DATA);
	if (bytes->type == RECORD_MMAP2) {
		const uint8_t *identity = perf_take(c, 24); /* device and inode, or the build id */

		if (identity && (bytes->misc & MISC_MAP_BUILD_ID) && identity[0] <= NM_PERF_BUILD_ID) {
			map->build_id_bytes = identity[0];
			memcpy(map->build_id, identity + 4, map->build_id_bytes);
		}
		map->is_executable = (perf_u32(c) & PROT_EXECUTE) != 0;
		perf_take(c, 4); /* flags */
	}
	map->path = perf_text(perf, c);
	return map->path != NULL;
}

static int decode_comm(struct nm_perf *perf, const struct perf_bytes *bytes, struct perf_cursor *c,
		       struct nm_perf_record *record)
{
	record->pid = perf_u32(c);
	record->tid = perf_u32(c);
	record->comm.name = perf_text(perf, c);
	record->comm.is_exec = (bytes->misc & MISC_EXEC) != 0;
	return record->comm.name != NULL;
}

static int decode_task(struct perf_cursor *c, struct nm_perf_record *record)
{
	record->pid = perf_u32(c);
	record->fork.parent_pid = perf_u32(c);
	record->tid = perf_u32(c);
	record->fork.parent_tid = perf_u32(c);
	return !c->is_short;
}

static int decode_lost(const struct perf_bytes *bytes, struct perf_cursor *c, struct nm_perf_record *record)
{
	if (bytes->type == RECORD_LOST)
		perf_take(c, 8); /* the event's id */
	record->lost = perf_u64(c);
	return !c->is_short;
}

int perf_decode(struct nm_perf *perf, const struct perf_bytes *bytes, struct nm_perf_record *ret,
		struct nm_error *err)
{
	struct perf_cursor c = {bytes->at, bytes->at + bytes->count, 0};
	int good = 1;

	*ret = (struct nm_perf_record){.time = perf_time_of(perf, bytes)};
	switch (bytes->type) {
	case RECORD_MMAP:
	case RECORD_MMAP2:
		ret->kind = NM_PERF_MAP;
		good = decode_map(perf, bytes, &c, ret);
		break;
	case RECORD_COMM:
		ret->kind = NM_PERF_COMM;
		good = decode_comm(perf, bytes, &c, ret);
		break;
	case RECORD_EXIT:
	case RECORD_FORK:
		ret->kind = bytes->type == RECORD_EXIT ? NM_PERF_EXIT : NM_PERF_FORK;
		good = decode_task(&c, ret);
		break;
	case RECORD_SAMPLE:
		ret->kind = NM_PERF_SAMPLE;
		good = perf->attrs.count && decode_sample(perf, bytes, &c, ret);
		break;
	case RECORD_LOST:
	case RECORD_LOST_SAMPLES:
		ret->kind = NM_PERF_LOST;
		good = decode_lost(bytes, &c, ret);
		break;
	default: perf->origin.skipped++; return 0;
	}
	return good ? 1
		    : nm_fail(err, NM_EFORMAT,
			      "%s is damaged: a record of type %u with %zu bytes is too short", perf->path,
			      bytes->type, bytes->count + HEADER);
}
