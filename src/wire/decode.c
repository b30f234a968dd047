/* SPDX-License-Identifier: MIT
 *
 * decode.c - see decode.h.
 *
 * A decoder takes its fixed words first, then its strings with a struct text, and lastly demands that
 * nothing is left over: within one version a record has exactly the fields of the specification.
 */
#include "decode.h"

#include <string.h>

_Static_assert(sizeof(struct nm_wire_block_def) == 16, "the head of a block definition is two words");

enum { HEAD_WORDS = sizeof(struct nm_wire_block_def) / sizeof(uint64_t), PC_BITS = 48 };

static const char *const kind_names[NM_WIRE_KINDS] = {
    "BLOCK",       "BLOCK_DEF", "PROCESS",        "FORK",   "EXEC",   "EXIT",        "THREAD_START",
    "THREAD_EXIT", "THREAD",    "THREAD_POINTER", "SIGNAL", "ALLOC",  "FREE",        "REALLOC",
    "MAP",         "UNMAP",     "REMAP",          "BRK",    "MODULE", "MODULE_GONE", "NAME",
    "UNNAME",      "REGION",    "MEASURE",        "LOST",   "PAD",    "PLACE",       "PAGES",
    "RAN",         "SAMPLING",  "SAMPLE",         "REUSE",  "FRAMES", "CLOCK",       "SYNC"};

const char *nm_wire_kind_name(unsigned kind) { return kind < NM_WIRE_KINDS ? kind_names[kind] : "?"; }

/* ---- The walker -------------------------------------------------------------------------- */

static int scan_one(struct nm_wire_scan *scan, struct nm_wire_record *ret, struct nm_error *err)
{
	unsigned long long offset = scan->origin + scan->at;
	uint64_t header = scan->words[scan->at];
	size_t left = scan->count - scan->at - 1;
	size_t words = nm_wire_words(header);
	enum nm_wire_kind kind = nm_wire_kind(header);

	if (!nm_wire_is_header(header))
		return nm_fail(err, NM_EFORMAT, "word %llu is no record header: %#llx", offset,
			       (unsigned long long)header);
	if ((unsigned)kind >= NM_WIRE_KINDS)
		return nm_fail(err, NM_EFORMAT, "word %llu starts a record of unknown kind %u", offset,
			       (unsigned)kind);
	if (kind == NM_WIRE_BLOCK) {
		if (words)
			return nm_fail(err, NM_EFORMAT, "word %llu: a BLOCK header stores a length", offset);
		while (words < left && !nm_wire_is_header(scan->words[scan->at + 1 + words]))
			words++;
	}
	if (words > left)
		return nm_fail(err, NM_EFORMAT, "word %llu: a %s record of %zu words is cut after %zu",
			       offset, kind_names[kind], words, left);
	*ret = (struct nm_wire_record){kind, nm_wire_arg(header), scan->words + scan->at + 1, words, offset};
	scan->at += 1 + words;
	return 1;
}

int nm_wire_scan_next(struct nm_wire_scan *scan, struct nm_wire_record *ret, struct nm_error *err)
{
	struct nm_wire_record r;

	while (scan->at < scan->count) {
		int status = scan_one(scan, &r, err);

		if (status < 0)
			return status;
		if (r.kind != NM_WIRE_PAD) {
			*ret = r;
			return 1;
		}
	}
	return 0;
}

/* ---- Parts of a payload ------------------------------------------------------------------ */

int nm_wire_fault(const struct nm_wire_record *r, struct nm_error *err, const char *what)
{
	return nm_fail(err, NM_EFORMAT, "word %llu: %s in a %s record", (unsigned long long)r->offset, what,
		       nm_wire_kind_name(r->kind));
}

static int exactly(const struct nm_wire_record *r, size_t words, struct nm_error *err)
{
	return r->words == words ? 0 : nm_wire_fault(r, err, "wrong number of words");
}

static int wraps(uint64_t address, uint64_t bytes) { return address + bytes < address; }

const char *nm_wire_string_after(const char *s) { return s + (strlen(s) + 8) / 8 * 8; }

/* The string at word *at, which it moves past; NULL if its end is not inside the payload. */
static const char *text(const struct nm_wire_record *r, size_t *at)
{
	const char *s, *end;

	if (*at >= r->words)
		return NULL;
	s = (const char *)(r->payload + *at);
	end = memchr(s, 0, (r->words - *at) * sizeof(uint64_t));
	if (!end)
		return NULL;
	*at += (size_t)(end - s) / sizeof(uint64_t) + 1;
	return s;
}

/* The one string that ends the payload. */
static int last_text(const struct nm_wire_record *r, size_t at, const char **ret, struct nm_error *err)
{
	const char *s = text(r, &at);

	if (!s)
		return nm_wire_fault(r, err, "unterminated or missing string");
	if (at != r->words)
		return nm_wire_fault(r, err, "words left over after the string");
	*ret = s;
	return 0;
}

/* ---- Blocks ------------------------------------------------------------------------------ */

static const char *fault_of_instructions(const struct nm_wire_block_info *b)
{
	if (!b->def.instructions)
		return "no instruction";
	for (size_t i = 0; i < b->def.instructions; i++)
		if (b->instructions[i] >> 56 || !nm_wire_instruction_bytes(b->instructions[i]))
			return "malformed instruction word";
	if (b->def.pc >> PC_BITS || nm_wire_instruction_pc(b->instructions[0]) != b->def.pc)
		return "pc that is not that of the first instruction";
	return NULL;
}

static int follows(const struct nm_wire_block_info *b, size_t access)
{
	return (nm_wire_access_flags(b->accesses[access]) & NM_WIRE_FOLLOWS) != 0;
}

/* With others. */
static int is_in_group(const struct nm_wire_block_info *b, size_t access)
{
	return follows(b, access) || (access + 1u < b->def.accesses && follows(b, access + 1));
}

/* A group starts at its lowest address. */
static const char *fault_of_groups(const struct nm_wire_block_info *b)
{
	unsigned least = 0;

	for (size_t i = 0; i < b->def.accesses; i++) {
		unsigned distance = nm_wire_access_distance(b->accesses[i]);

		least = !follows(b, i) || distance < least ? distance : least;
		if (least && (i + 1u == b->def.accesses || !follows(b, i + 1)))
			return "group without an access at its address";
	}
	return NULL;
}

static const char *fault_of_accesses(const struct nm_wire_block_info *b)
{
	const unsigned known = NM_WIRE_READ | NM_WIRE_WRITE | NM_WIRE_PREFETCH | NM_WIRE_ATOMIC |
			       NM_WIRE_GUARDED | NM_WIRE_FRAME | NM_WIRE_FOLLOWS | NM_WIRE_CHASES |
			       NM_WIRE_COMMUTES;
	unsigned at = 0;

	for (size_t i = 0; i < b->def.accesses; i++) {
		uint64_t w = b->accesses[i];
		unsigned flags = nm_wire_access_flags(w);
		unsigned sort = flags & (NM_WIRE_READ | NM_WIRE_WRITE | NM_WIRE_PREFETCH);

		if (flags & ~known || !nm_wire_access_size(w))
			return "malformed access word";
		if (!sort || (sort & (sort - 1)))
			return "access that is not one of read, write, prefetch";
		if (flags & NM_WIRE_COMMUTES && !(flags & NM_WIRE_ATOMIC))
			return "access that commutes and is not atomic";
		if (nm_wire_access_instruction(w) >= b->def.instructions ||
		    nm_wire_access_instruction(w) < at)
			return "access whose instruction is out of range or out of order";
		if (flags & NM_WIRE_CHASES && !(flags & NM_WIRE_READ))
			return "access that chases but does not read";
		if (flags & NM_WIRE_FOLLOWS && !i)
			return "first access that follows another";
		if (flags & (NM_WIRE_GUARDED | NM_WIRE_PREFETCH) && is_in_group(b, i))
			return "guarded access or prefetch in a group";
		if (flags & NM_WIRE_FRAME && (i + 1 != b->def.accesses || b->def.end == NM_WIRE_JUMP))
			return "frame access that does not end a call or return";
		at = nm_wire_access_instruction(w);
	}
	return NULL;
}

static const char *fault_of_end(const struct nm_wire_block_info *b)
{
	unsigned flags, want;

	if (b->def.end == NM_WIRE_JUMP)
		return NULL;
	if (!b->def.accesses)
		return "call or return without an access";
	flags = nm_wire_access_flags(b->accesses[b->def.accesses - 1]);
	want = NM_WIRE_FRAME | (b->def.end == NM_WIRE_CALL ? NM_WIRE_WRITE : NM_WIRE_READ);
	return (flags & ~NM_WIRE_FOLLOWS) == want
		   ? NULL
		   : "call or return whose last access is not that of its frame";
}

static const char *fault_of_exits(const struct nm_wire_block_info *b)
{
	unsigned instructions = 0;
	int accesses = -1;

	for (size_t i = 0; i < b->def.exits; i++) {
		uint64_t w = b->exits[i];

		if (w >> 32)
			return "malformed exit word";
		if (nm_wire_exit_accesses(w) >= b->def.accesses ||
		    nm_wire_exit_instructions(w) > b->def.instructions)
			return "exit beyond the block";
		if ((int)nm_wire_exit_accesses(w) <= accesses || nm_wire_exit_instructions(w) < instructions)
			return "exits that do not ascend";
		if (follows(b, nm_wire_exit_accesses(w)))
			return "group that goes on behind an exit";
		accesses = (int)nm_wire_exit_accesses(w);
		instructions = nm_wire_exit_instructions(w);
	}
	return NULL;
}

/* How many address words `accesses` accesses have. */
static uint32_t groups_before(const struct nm_wire_block_info *b, size_t accesses)
{
	uint32_t groups = 0;

	for (size_t i = 0; i < accesses; i++)
		groups += !follows(b, i);
	return groups;
}

int nm_wire_block_decode(const struct nm_wire_record *r, struct nm_wire_block_info *ret, struct nm_error *err)
{
	struct nm_wire_block_info b = {.id = r->arg};
	const char *fault;
	int status;

	if (r->words < HEAD_WORDS)
		return nm_wire_fault(r, err, "wrong number of words");
	memcpy(&b.def, r->payload, sizeof b.def);
	status = exactly(r, HEAD_WORDS + (size_t)b.def.instructions + b.def.accesses + b.def.exits, err);
	if (status)
		return status;
	if (b.def.end > NM_WIRE_RETURN || b.def.flags & ~NM_WIRE_BLOCK_CONTINUES)
		return nm_wire_fault(r, err, "unknown end or flag");
	b.instructions = r->payload + HEAD_WORDS;
	b.accesses = b.instructions + b.def.instructions;
	b.exits = b.accesses + b.def.accesses;
	if ((fault = fault_of_instructions(&b)) || (fault = fault_of_accesses(&b)) ||
	    (fault = fault_of_groups(&b)) || (fault = fault_of_end(&b)) || (fault = fault_of_exits(&b)))
		return nm_wire_fault(r, err, fault);
	b.groups = groups_before(&b, b.def.accesses);
	*ret = b;
	return 0;
}

int nm_wire_block_executed(const struct nm_wire_block_info *block, size_t words, unsigned *ret_accesses)
{
	*ret_accesses = block->def.accesses;
	if (words == block->groups)
		return block->def.instructions;
	for (size_t i = 0; i < block->def.exits; i++) {
		*ret_accesses = nm_wire_exit_accesses(block->exits[i]);
		if (groups_before(block, *ret_accesses) == words)
			return (int)nm_wire_exit_instructions(block->exits[i]);
	}
	return -1;
}

/* ---- All other records ------------------------------------------------------------------- */

NM_WIRE_DECODER(process)
{
	struct nm_wire_process p = {.start = r->arg};
	const uint64_t *w = r->payload;
	size_t at = 5;

	if (r->words && w[0] > NM_WIRE_VERSION)
		return nm_fail(err, NM_EVERSION,
			       "the stream has format version %llu, this program reads up to %u",
			       (unsigned long long)w[0], NM_WIRE_VERSION);
	if (r->words < 5 + 2)
		return nm_wire_fault(r, err, "wrong number of words");
	if (!w[0] || r->arg > NM_WIRE_EXECED || w[1] > UINT32_MAX || w[2] > UINT32_MAX || w[3] > UINT32_MAX ||
	    w[4] > r->words)
		return nm_wire_fault(r, err, "value out of range");
	p.version = (uint32_t)w[0];
	p.pid = (uint32_t)w[1];
	p.parent = (uint32_t)w[2];
	p.ordinal = (uint32_t)w[3];
	p.argc = (uint32_t)w[4];
	p.executable = text(r, &at);
	p.directory = text(r, &at);
	for (uint32_t i = 0; i < p.argc; i++) {
		const char *s = text(r, &at);

		if (!s)
			return nm_wire_fault(r, err, "unterminated or missing string");
		if (!i)
			p.arguments = s;
	}
	if (!p.executable || !p.directory)
		return nm_wire_fault(r, err, "unterminated or missing string");
	if (at != r->words)
		return nm_wire_fault(r, err, "words left over after the strings");
	*ret = p;
	return 0;
}

NM_WIRE_DECODER(fork)
{
	int status = exactly(r, 2, err);

	if (status)
		return status;
	if (r->payload[0] > UINT32_MAX || r->payload[1] > UINT32_MAX)
		return nm_wire_fault(r, err, "value out of range");
	*ret = (struct nm_wire_fork){(uint32_t)r->payload[0], (uint32_t)r->payload[1]};
	return 0;
}

NM_WIRE_DECODER(exec) { return last_text(r, 0, &ret->path, err); }

NM_WIRE_DECODER(exit)
{
	int status = exactly(r, 0, err);

	if (!status)
		ret->status = r->arg;
	return status;
}

NM_WIRE_DECODER(thread_start)
{
	int status = exactly(r, 3, err);

	if (status)
		return status;
	if (!r->arg || r->payload[0] > UINT32_MAX || r->payload[1] > r->payload[2])
		return nm_wire_fault(r, err, "value out of range");
	*ret = (struct nm_wire_thread_start){r->arg, (uint32_t)r->payload[0], r->payload[1], r->payload[2]};
	return 0;
}

NM_WIRE_DECODER(thread)
{
	int status = exactly(r, 0, err);

	if (!status)
		ret->thread = r->arg;
	return status;
}

NM_WIRE_DECODER(thread_pointer)
{
	int status = exactly(r, 1, err);

	if (!status)
		*ret = (struct nm_wire_thread_pointer){r->arg, r->payload[0]};
	return status;
}

NM_WIRE_DECODER(signal)
{
	int status = exactly(r, 1, err);

	if (!status)
		*ret = (struct nm_wire_signal){r->arg, r->payload[0]};
	return status;
}

NM_WIRE_DECODER(alloc)
{
	const uint64_t *w = r->payload;
	int status = exactly(r, 3, err);

	if (status)
		return status;
	if (r->arg >= NM_WIRE_ALLOCATORS || wraps(w[0], w[1]))
		return nm_wire_fault(r, err, "value out of range");
	*ret = (struct nm_wire_alloc){r->arg, w[0], w[1], w[2]};
	return 0;
}

NM_WIRE_DECODER(free)
{
	int status = exactly(r, 1, err);

	if (status)
		return status;
	if (r->arg >= NM_WIRE_ALLOCATORS)
		return nm_wire_fault(r, err, "value out of range");
	*ret = (struct nm_wire_free){r->arg, r->payload[0]};
	return 0;
}

NM_WIRE_DECODER(realloc)
{
	const uint64_t *w = r->payload;
	int status = exactly(r, 4, err);

	if (status)
		return status;
	if (r->arg >= NM_WIRE_ALLOCATORS || wraps(w[1], w[2]))
		return nm_wire_fault(r, err, "value out of range");
	*ret = (struct nm_wire_realloc){r->arg, w[0], w[1], w[2], w[3]};
	return 0;
}

NM_WIRE_DECODER(map)
{
	const uint64_t *w = r->payload;
	const char *path = NULL;
	int status =
	    r->words < 4 ? nm_wire_fault(r, err, "wrong number of words") : last_text(r, 3, &path, err);

	if (status)
		return status;
	if (!w[1] || wraps(w[0], w[1]))
		return nm_wire_fault(r, err, "value out of range");
	*ret = (struct nm_wire_map){r->arg, w[0], w[1], w[2], path};
	return 0;
}

NM_WIRE_DECODER(unmap)
{
	const uint64_t *w = r->payload;
	int status = exactly(r, 2, err);

	if (status)
		return status;
	if (!w[1] || wraps(w[0], w[1]))
		return nm_wire_fault(r, err, "value out of range");
	*ret = (struct nm_wire_unmap){w[0], w[1]};
	return 0;
}

NM_WIRE_DECODER(remap)
{
	const uint64_t *w = r->payload;
	int status = exactly(r, 4, err);

	if (status)
		return status;
	if (!w[3] || wraps(w[0], w[1]) || wraps(w[2], w[3]))
		return nm_wire_fault(r, err, "value out of range");
	*ret = (struct nm_wire_remap){w[0], w[1], w[2], w[3]};
	return 0;
}

NM_WIRE_DECODER(brk)
{
	int status = exactly(r, 2, err);

	if (status)
		return status;
	if (r->payload[0] > r->payload[1])
		return nm_wire_fault(r, err, "value out of range");
	*ret = (struct nm_wire_brk){r->payload[0], r->payload[1]};
	return 0;
}

NM_WIRE_DECODER(module)
{
	size_t id_words = ((size_t)r->arg + 7) / 8;
	const char *path = NULL;
	int status = r->words < 2 + id_words ? nm_wire_fault(r, err, "wrong number of words")
					     : last_text(r, 1 + id_words, &path, err);

	if (status)
		return status;
	*ret = (struct nm_wire_module){r->payload[0], (const unsigned char *)(r->payload + 1), r->arg, path};
	return 0;
}

NM_WIRE_DECODER(module_gone)
{
	int status = exactly(r, 1, err);

	if (!status)
		ret->base = r->payload[0];
	return status;
}

NM_WIRE_DECODER(name)
{
	const uint64_t *w = r->payload;
	const char *name = NULL;
	int status =
	    r->words < 3 ? nm_wire_fault(r, err, "wrong number of words") : last_text(r, 2, &name, err);

	if (status)
		return status;
	if (wraps(w[0], w[1]))
		return nm_wire_fault(r, err, "value out of range");
	*ret = (struct nm_wire_name){w[0], w[1], name};
	return 0;
}

NM_WIRE_DECODER(unname)
{
	int status = exactly(r, 1, err);

	if (!status)
		ret->address = r->payload[0];
	return status;
}

NM_WIRE_DECODER(region)
{
	const char *name = NULL;
	int status = last_text(r, 0, &name, err);

	if (status)
		return status;
	if (r->arg > 1)
		return nm_wire_fault(r, err, "value out of range");
	*ret = (struct nm_wire_region){(int)r->arg, name};
	return 0;
}

NM_WIRE_DECODER(measure)
{
	int status = exactly(r, 0, err);

	if (status)
		return status;
	if (r->arg > 1)
		return nm_wire_fault(r, err, "value out of range");
	ret->on = (int)r->arg;
	return 0;
}

NM_WIRE_DECODER(lost)
{
	int status = exactly(r, 1, err);

	if (!status)
		ret->words = r->payload[0];
	return status;
}

NM_WIRE_DECODER(place)
{
	const char *function = NULL, *file = NULL;
	size_t at = 2;
	int status;

	if (r->words < 2 + 2)
		return nm_wire_fault(r, err, "wrong number of words");
	function = text(r, &at);
	if (!function)
		return nm_wire_fault(r, err, "unterminated or missing string");
	status = last_text(r, at, &file, err);
	if (status)
		return status;
	if (r->payload[0] >> PC_BITS || r->payload[1] > UINT32_MAX)
		return nm_wire_fault(r, err, "value out of range");
	*ret = (struct nm_wire_place){r->payload[0], (uint32_t)r->payload[1], function, file};
	return 0;
}

NM_WIRE_DECODER(pages)
{
	const uint64_t *w = r->payload;
	int status = exactly(r, 2, err);

	if (status)
		return status;
	if (r->arg > NM_WIRE_PAGES_1G || !w[1] || wraps(w[0], w[1]))
		return nm_wire_fault(r, err, "value out of range");
	*ret = (struct nm_wire_pages){(enum nm_wire_page_size)r->arg, w[0], w[1]};
	return 0;
}

NM_WIRE_DECODER(ran)
{
	int status = exactly(r, 1, err);

	if (status)
		return status;
	if (r->arg)
		return nm_wire_fault(r, err, "value out of range");
	*ret = (struct nm_wire_ran){r->payload[0]};
	return 0;
}

NM_WIRE_DECODER(sync_event)
{
	int status = exactly(r, 1, err), has_object;

	if (status)
		return status;
	if (r->arg >= NM_WIRE_SYNCS)
		return nm_wire_fault(r, err, "value out of range");
	has_object = r->arg == NM_WIRE_SYNC_CREATE || r->arg >= NM_WIRE_SYNC_LOCK;
	if (!has_object != !r->payload[0] || (r->arg == NM_WIRE_SYNC_CREATE && r->payload[0] > UINT32_MAX))
		return nm_wire_fault(r, err, "value out of range");
	*ret = (struct nm_wire_sync_event){(enum nm_wire_sync)r->arg, r->payload[0]};
	return 0;
}
