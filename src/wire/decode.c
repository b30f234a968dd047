/* SPDX-License-Identifier: MIT
 *
 * A decoder takes its fixed words first, then its strings with a struct text, and lastly demands that
 * nothing is left over: within one version a record has exactly the fields of the specification.
 */
#include "decode.h"

#include <assert.h>
#include <string.h>

enum { PC_BITS = 48 };

static const char *const kind_names[NM_WIRE_KINDS] = {
    "BLOCK",        "BLOCK_DEF",   "PROCESS", "FORK",           "EXEC",   "EXIT",
    "THREAD_START", "THREAD_EXIT", "THREAD",  "THREAD_POINTER", "SIGNAL", "ALLOC",
    "FREE",         "REALLOC",     "MAP",     "UNMAP",          "REMAP",  "BRK",
    "MODULE",       "MODULE_GONE", "NAME",    "UNNAME",         "REGION", "MEASURE",
    "LOST",         "PAD",         "PLACE",   "PAGES",          "RAN",    "SAMPLING",
    "SAMPLE",       "REUSE",       "FRAMES",  "CLOCK",          "SYNC",   "SHARED"};

const char *nm_wire_kind_name(unsigned kind) { return kind < NM_WIRE_KINDS ? kind_names[kind] : "?"; }

/* ---- The walker -------------------------------------------------------------------------- */

static int scan_one(struct nm_wire_scan *scan, struct nm_wire_record *ret, struct nm_error *err)
{
	unsigned long long offset = scan->origin + scan->at;
	uint64_t header = scan->words[scan->at];
	size_t left = scan->count - scan->at - 1;
	size_t words = nm_wire_words(header);
	enum nm_wire_kind kind = nm_wire_kind(header);

	assert(scan->at < scan->count);
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

static int require_words(const struct nm_wire_record *r, size_t words, struct nm_error *err)
{
	return r->words == words ? 0 : nm_wire_fault(r, err, "wrong number of words");
}

static int wraps_around(uint64_t address, uint64_t bytes) { return address + bytes < address; }

const char *nm_wire_string_after(const char *s) { return s + (strlen(s) + 8) / 8 * 8; }

/* The string at word *at, which it moves past; NULL if its end is not inside the payload. */
static const char *string_at(const struct nm_wire_record *r, size_t *at)
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
	const char *s = string_at(r, &at);

	if (!s)
		return nm_wire_fault(r, err, "unterminated or missing string");
	if (at != r->words)
		return nm_wire_fault(r, err, "words left over after the string");
	*ret = s;
	return 0;
}

/* ---- All other records ------------------------------------------------------------------- */

NM_WIRE_DECODER(process)
{
	struct nm_wire_process p = {.start = r->arg};
	const uint64_t *w = r->payload;
	size_t at = 5;

	if (r->words && w[0] != NM_WIRE_VERSION)
		return nm_fail(err, NM_EVERSION, "the stream has format version %llu, this program reads %u",
			       (unsigned long long)w[0], NM_WIRE_VERSION);
	if (r->words < 5 + 2)
		return nm_wire_fault(r, err, "wrong number of words");
	if (r->arg > NM_WIRE_EXECED || w[1] > UINT32_MAX || w[2] > UINT32_MAX || w[3] > UINT32_MAX ||
	    w[4] > r->words)
		return nm_wire_fault(r, err, "value out of range");
	p.version = (uint32_t)w[0];
	p.pid = (uint32_t)w[1];
	p.parent = (uint32_t)w[2];
	p.ordinal = (uint32_t)w[3];
	p.argc = (uint32_t)w[4];
	p.executable = string_at(r, &at);
	p.directory = string_at(r, &at);
	for (uint32_t i = 0; i < p.argc; i++) {
		const char *s = string_at(r, &at);

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
	int status = require_words(r, 2, err);

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
	int status = require_words(r, 0, err);

	if (!status)
		ret->status = r->arg;
	return status;
}

NM_WIRE_DECODER(thread_start)
{
	int status = require_words(r, 3, err);

	if (status)
		return status;
	if (!r->arg || r->payload[0] > UINT32_MAX || r->payload[1] > r->payload[2])
		return nm_wire_fault(r, err, "value out of range");
	*ret = (struct nm_wire_thread_start){r->arg, (uint32_t)r->payload[0], r->payload[1], r->payload[2]};
	return 0;
}

NM_WIRE_DECODER(thread)
{
	int status = require_words(r, 0, err);

	if (!status)
		ret->thread = r->arg;
	return status;
}

NM_WIRE_DECODER(thread_pointer)
{
	int status = require_words(r, 1, err);

	if (!status)
		*ret = (struct nm_wire_thread_pointer){r->arg, r->payload[0]};
	return status;
}

NM_WIRE_DECODER(signal)
{
	int status = require_words(r, 1, err);

	if (!status)
		*ret = (struct nm_wire_signal){r->arg, r->payload[0]};
	return status;
}

NM_WIRE_DECODER(alloc)
{
	const uint64_t *w = r->payload;
	int status = require_words(r, 3, err);

	if (status)
		return status;
	if (r->arg >= NM_WIRE_ALLOCATORS || wraps_around(w[0], w[1]))
		return nm_wire_fault(r, err, "value out of range");
	*ret = (struct nm_wire_alloc){r->arg, w[0], w[1], w[2]};
	return 0;
}

NM_WIRE_DECODER(free)
{
	int status = require_words(r, 1, err);

	if (status)
		return status;
	if (r->arg >= NM_WIRE_POOL)
		return nm_wire_fault(r, err, "value out of range");
	*ret = (struct nm_wire_free){r->arg, r->payload[0]};
	return 0;
}

NM_WIRE_DECODER(realloc)
{
	const uint64_t *w = r->payload;
	int status = require_words(r, 4, err);

	if (status)
		return status;
	if (r->arg >= NM_WIRE_POOL || wraps_around(w[1], w[2]))
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
	if (!w[1] || wraps_around(w[0], w[1]))
		return nm_wire_fault(r, err, "value out of range");
	*ret = (struct nm_wire_map){r->arg, w[0], w[1], w[2], path};
	return 0;
}

NM_WIRE_DECODER(unmap)
{
	const uint64_t *w = r->payload;
	int status = require_words(r, 2, err);

	if (status)
		return status;
	if (!w[1] || wraps_around(w[0], w[1]))
		return nm_wire_fault(r, err, "value out of range");
	*ret = (struct nm_wire_unmap){w[0], w[1]};
	return 0;
}

NM_WIRE_DECODER(remap)
{
	const uint64_t *w = r->payload;
	int status = require_words(r, 4, err);

	if (status)
		return status;
	if (!w[3] || wraps_around(w[0], w[1]) || wraps_around(w[2], w[3]))
		return nm_wire_fault(r, err, "value out of range");
	*ret = (struct nm_wire_remap){w[0], w[1], w[2], w[3]};
	return 0;
}

NM_WIRE_DECODER(brk)
{
	int status = require_words(r, 2, err);

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
	int status = require_words(r, 1, err);

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
	if (wraps_around(w[0], w[1]))
		return nm_wire_fault(r, err, "value out of range");
	*ret = (struct nm_wire_name){w[0], w[1], name};
	return 0;
}

NM_WIRE_DECODER(unname)
{
	int status = require_words(r, 1, err);

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
	int status = require_words(r, 0, err);

	if (status)
		return status;
	if (r->arg > 1)
		return nm_wire_fault(r, err, "value out of range");
	ret->on = (int)r->arg;
	return 0;
}

NM_WIRE_DECODER(lost)
{
	int status = require_words(r, 1, err);

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
	function = string_at(r, &at);
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
	int status = require_words(r, 2, err);

	if (status)
		return status;
	if (r->arg > NM_WIRE_PAGES_1G || !w[1] || wraps_around(w[0], w[1]))
		return nm_wire_fault(r, err, "value out of range");
	*ret = (struct nm_wire_pages){(enum nm_wire_page_size)r->arg, w[0], w[1]};
	return 0;
}

NM_WIRE_DECODER(shared)
{
	const uint64_t *w = r->payload;
	int status = require_words(r, 5, err);

	if (status)
		return status;
	if (r->arg || !w[1] || wraps_around(w[0], w[1]) || wraps_around(w[4], w[1]))
		return nm_wire_fault(r, err, "value out of range");
	*ret = (struct nm_wire_shared){w[0], w[1], w[2], w[3], w[4]};
	return 0;
}

NM_WIRE_DECODER(ran)
{
	int status = require_words(r, 1, err);

	if (status)
		return status;
	if (r->arg)
		return nm_wire_fault(r, err, "value out of range");
	*ret = (struct nm_wire_ran){r->payload[0]};
	return 0;
}

NM_WIRE_DECODER(sync_event)
{
	int status = require_words(r, 1, err), has_object;

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
