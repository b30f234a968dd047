/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hints.h"

#include "nearmiss/wire.h"

enum {
	ESCAPE = 0x0f,    /* before each of these opcodes: */
	HINT = 0x18,      /* prefetches by level */
	PREFETCHW = 0x0d, /* prefetches for writing */
	MOVNTP = 0x2b,    /* a vector of floats */
	MOVNTI = 0xc3,    /* an integer register */
	MOVNTQ = 0xe7,    /* a vector of integers */
	NO_REGISTER = 4,  /* as rm: a SIB byte follows; as an index: there is none */
	NO_BASE = 5, /* without a displacement byte: 32 bits, relative to the next instruction without SIB */
	REGISTER_FORM = 3, /* of mod */
};

struct prefixes {
	int operand_size, repeat, narrow; /* 66; F2 or F3; 67 */
	enum nm_segment segment;
	unsigned rex;
};

static const unsigned char *read_prefixes(const unsigned char *at, struct prefixes *ret)
{
	for (*ret = (struct prefixes){0};; at++) {
		switch (*at) {
		case 0x66: ret->operand_size = 1; break;
		case 0x67: ret->narrow = 1; break;
		case 0xf2:
		case 0xf3: ret->repeat = 1; break;
		case 0x64: ret->segment = NM_SEGMENT_FS; break;
		case 0x65: ret->segment = NM_SEGMENT_GS; break;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e: break;
		default: ret->rex = (*at & 0xf0) == 0x40 ? *at : 0; return at + (ret->rex != 0);
		}
	}
}

/* Reads a displacement of 1 or 4 bytes. */
static int64_t read_displacement(const unsigned char *at, int bytes)
{
	if (bytes == 1)
		return (int8_t)at[0];
	return (int32_t)((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
			 (uint32_t)at[3] << 24);
}

/* The operand in memory whose ModRM byte is at `at`. Nothing but it follows in the instruction. */
static struct nm_operand read_operand(const unsigned char *at, const struct prefixes *p,
				      const unsigned char *code, uint64_t pc)
{
	const int mod = *at >> 6, rm = *at & 7;
	struct nm_operand o = {
	    .base = rm | (int)(p->rex & 1) << 3, .index = -1, .segment = p->segment, .is_narrow = p->narrow};
	int low = rm;

	at++;
	if (rm == NO_REGISTER) {
		o.index = (*at >> 3 & 7) | (int)(p->rex >> 1 & 1) << 3;
		o.index = o.index == NO_REGISTER ? -1 : o.index;
		o.shift = o.index < 0 ? 0 : *at >> 6;
		low = *at & 7;
		o.base = low | (int)(p->rex & 1) << 3;
		at++;
	}
	if (mod == 1)
		o.displacement = read_displacement(at, 1);
	else if (mod == 2 || low == NO_BASE)
		o.displacement = read_displacement(at, 4);
	if (mod == 0 && low == NO_BASE) {
		o.base = -1;
		if (rm == NO_BASE)
			o.displacement += (int64_t)(pc + (uint64_t)(at + 4 - code));
	}
	return o;
}

/* The non-temporal store that an opcode is, with what its prefixes say. */
static enum nm_hint_kind store_of(unsigned opcode, unsigned mod, int operand_size, int is_vex)
{
	if (mod == REGISTER_FORM)
		return NM_HINT_NONE;
	return opcode == MOVNTP || (opcode == MOVNTI && !operand_size && !is_vex) ||
		       (opcode == MOVNTQ && (operand_size || !is_vex))
		   ? NM_HINT_STORE
		   : NM_HINT_NONE;
}

static struct nm_hint store(enum nm_hint_kind kind)
{
	return (struct nm_hint){.kind = kind, .flags = kind == NM_HINT_STORE ? NM_WIRE_NON_TEMPORAL : 0};
}

/* A VEX prefix of two bytes, C5, implies the escape; one of three, C4, names it as map 1. */
static struct nm_hint decode_vex(const unsigned char *at)
{
	const int bytes = *at == 0xc5 ? 2 : 3;
	const unsigned kind = at[bytes - 1] & 3; /* 1 stands for a 66 */

	if ((bytes == 3 && (at[1] & 0x1f) != 1) || kind > 1)
		return (struct nm_hint){0};
	return store(store_of(at[bytes], at[bytes + 1] >> 6, (int)kind, 1));
}

/* What a prefetch says of the line; -1: it is none. */
static int prefetch_flags(unsigned opcode, unsigned extension)
{
	static const int by_level[] = {NM_WIRE_NON_TEMPORAL, 0, NM_WIRE_TO_L2, NM_WIRE_TO_L3},
			 for_writing[] = {-1, 0, NM_WIRE_TO_L2, -1};

	if (extension > 3)
		return -1;
	return opcode == HINT ? by_level[extension] : opcode == PREFETCHW ? for_writing[extension] : -1;
}

struct nm_hint nm_hint_decode(const unsigned char *code, uint64_t pc)
{
	struct prefixes p;
	const unsigned char *at = read_prefixes(code, &p);
	unsigned mod;
	int flags;

	if (!p.rex && (*at == 0xc4 || *at == 0xc5))
		return decode_vex(at);
	if (*at != ESCAPE)
		return (struct nm_hint){0};
	mod = at[2] >> 6;
	flags = mod == REGISTER_FORM ? -1 : prefetch_flags(at[1], at[2] >> 3 & 7);
	if (flags >= 0)
		return (struct nm_hint){NM_HINT_PREFETCH, (unsigned)flags,
					read_operand(at + 2, &p, code, pc)};
	return store(p.repeat ? NM_HINT_NONE : store_of(at[1], mod, p.operand_size, 0));
}

int nm_hint_may_prefetch(const unsigned char *code, size_t bytes)
{
	for (size_t i = 0; i + 1 < bytes; i++)
		if (code[i] == ESCAPE && (code[i + 1] == HINT || code[i + 1] == PREFETCHW))
			return 1;
	return 0;
}
