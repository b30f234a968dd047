/* SPDX-License-Identifier: MIT
 *
 * A place holds the pointer (or one derived from it by an offset or a mask), the address of a variable, or
 * nothing that is known. Places are the registers, both halves of the vector registers, and slots of the frame
 * by their distance from the stack pointer at the call. The path takes the branch that a null pointer does not
 * take, follows jumps within the function, and ends at its return, at an unknown jump, or after some
 * instructions.
 */
#include "stored.h"

#include <stdlib.h>
#include <string.h>

#include "capstone.h"

enum { MOST_INSTRUCTIONS = 160, CODE_ROOM = 1024, SLOTS = 64, REGISTERS = 16, VECTORS = 16 };

struct value {
	enum { IS_NOTHING, IS_POINTER, IS_ADDRESS, IS_FRAME } what;
	uint64_t number; /* a vaddr, or a distance from the stack pointer at the call */
};

struct nm_decoder_of_code {
	struct nm_capstone cs;
	csh handle;
	cs_insn *instruction;
};

struct slot {
	uint64_t at;
	struct value value;
};

struct path {
	struct nm_decoder_of_code *decoder;
	struct nm_module *module;
	struct value registers[REGISTERS], vectors[VECTORS][2];
	struct slot slots[SLOTS];
	unsigned slot_count;
	int tested;  /* the flags compare the pointer with 0 */
	int is_read; /* something has read the result */
	struct nm_stored found;
	int is_done;
};

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11 };

/* 0 to 15 of a general register of 8, 4, 2 or 1 bytes; -1: another. Only whole ones hold pointers. */
static int general_register(unsigned reg, int *ret_whole)
{
	static const uint16_t whole[REGISTERS] = {X86_REG_RAX, X86_REG_RCX, X86_REG_RDX, X86_REG_RBX,
						  X86_REG_RSP, X86_REG_RBP, X86_REG_RSI, X86_REG_RDI,
						  X86_REG_R8,  X86_REG_R9,  X86_REG_R10, X86_REG_R11,
						  X86_REG_R12, X86_REG_R13, X86_REG_R14, X86_REG_R15};
	static const uint16_t half[REGISTERS] = {X86_REG_EAX,  X86_REG_ECX,  X86_REG_EDX,  X86_REG_EBX,
						 X86_REG_ESP,  X86_REG_EBP,  X86_REG_ESI,  X86_REG_EDI,
						 X86_REG_R8D,  X86_REG_R9D,  X86_REG_R10D, X86_REG_R11D,
						 X86_REG_R12D, X86_REG_R13D, X86_REG_R14D, X86_REG_R15D};
	static const uint16_t low[REGISTERS] = {X86_REG_AL,   X86_REG_CL,   X86_REG_DL,   X86_REG_BL,
						X86_REG_SPL,  X86_REG_BPL,  X86_REG_SIL,  X86_REG_DIL,
						X86_REG_R8B,  X86_REG_R9B,  X86_REG_R10B, X86_REG_R11B,
						X86_REG_R12B, X86_REG_R13B, X86_REG_R14B, X86_REG_R15B};

	for (int i = 0; i < REGISTERS; i++)
		if (reg == whole[i] || reg == half[i] || reg == low[i]) {
			*ret_whole = reg == whole[i];
			return i;
		}
	return -1;
}

static int vector_register(unsigned reg)
{
	return reg >= X86_REG_XMM0 && reg < X86_REG_XMM0 + VECTORS ? (int)(reg - X86_REG_XMM0) : -1;
}

/* ---- memory ---- */

/* Where an operand is. */
static struct value address_of(struct path *p, const cs_insn *in, const x86_op_mem *m)
{
	struct value base = {.what = IS_ADDRESS};
	int whole, reg;

	if (m->index != X86_REG_INVALID || m->segment != X86_REG_INVALID)
		return (struct value){0};
	if (m->base == X86_REG_RIP)
		return (struct value){IS_ADDRESS, in->address + in->size + (uint64_t)m->disp};
	if (m->base == X86_REG_INVALID)
		return (struct value){IS_ADDRESS, (uint64_t)m->disp};
	reg = general_register(m->base, &whole);
	p->is_read |= reg >= 0 && p->registers[reg].what == IS_POINTER;
	if (reg >= 0 && whole)
		base = p->registers[reg];
	else
		base.what = IS_NOTHING;
	base.number += (uint64_t)m->disp;
	return base;
}

static struct value load_value(const struct path *p, struct value at)
{
	for (unsigned i = 0; at.what == IS_FRAME && i < p->slot_count; i++)
		if (p->slots[i].at == at.number)
			return p->slots[i].value;
	return (struct value){0};
}

static void store_in_frame(struct path *p, uint64_t at, struct value v)
{
	unsigned i = 0;

	while (i < p->slot_count && p->slots[i].at != at)
		i++;
	if (i == SLOTS)
		return;
	p->slots[i] = (struct slot){at, v};
	p->slot_count += i == p->slot_count;
}

static void store_value(struct path *p, struct value at, struct value v)
{
	struct nm_variable variable;

	if (at.what == IS_FRAME) {
		store_in_frame(p, at.number, v);
		return;
	}
	if (v.what != IS_POINTER || at.what == IS_POINTER) /* a pointer to itself, in the block */
		return;
	if (at.what != IS_ADDRESS || !nm_module_variable(p->module, at.number, &variable) ||
	    variable.kind == NM_VAR_SECTION) {
		p->found.kind = NM_STORED_MEMORY;
		return;
	}
	p->found = (struct nm_stored){NM_STORED_VARIABLE, variable.name, at.number - variable.low, 0};
	p->is_done = 1;
}

/* ---- instructions ---- */

static struct value read_operand(struct path *p, const cs_insn *in, const cs_x86_op *op)
{
	int whole, reg;

	if (op->type == X86_OP_IMM)
		return (struct value){IS_ADDRESS, (uint64_t)op->imm};
	if (op->type == X86_OP_MEM)
		return op->size == 8 ? load_value(p, address_of(p, in, &op->mem)) : (struct value){0};
	reg = general_register(op->reg, &whole);
	if (reg >= 0) {
		p->is_read |= p->registers[reg].what == IS_POINTER;
		return whole ? p->registers[reg] : (struct value){0};
	}
	reg = vector_register(op->reg);
	return reg >= 0 ? p->vectors[reg][0] : (struct value){0};
}

static void write_operand(struct path *p, const cs_insn *in, const cs_x86_op *op, struct value v)
{
	int whole, reg;

	if (op->type == X86_OP_MEM) {
		store_value(p, address_of(p, in, &op->mem), op->size == 8 ? v : (struct value){0});
		return;
	}
	reg = general_register(op->reg, &whole);
	if (reg >= 0)
		p->registers[reg] = v;
	reg = vector_register(op->reg);
	if (reg >= 0) {
		p->vectors[reg][0] = v;
		p->vectors[reg][1] = (struct value){0};
	}
}

/* Both halves of a vector: compilers store two pointers at once. */
static void move_vector(struct path *p, const cs_insn *in, const cs_x86_op *to, const cs_x86_op *from)
{
	struct value half[2], at;

	for (unsigned i = 0; i < 2; i++)
		if (from->type == X86_OP_MEM) {
			at = address_of(p, in, &from->mem);
			at.number += 8 * i;
			half[i] = load_value(p, at);
		} else {
			half[i] = vector_register(from->reg) >= 0 ? p->vectors[vector_register(from->reg)][i]
								  : (struct value){0};
		}
	for (unsigned i = 0; i < 2 && !p->is_done; i++)
		if (to->type == X86_OP_MEM) {
			at = address_of(p, in, &to->mem);
			at.number += 8 * i;
			store_value(p, at, half[i]);
		} else if (vector_register(to->reg) >= 0) {
			p->vectors[vector_register(to->reg)][i] = half[i];
		}
}

/* The address that an instruction loads, or what is left of one by an offset or a mask. */
static struct value computed_address(struct path *p, const cs_insn *in, const cs_x86 *x)
{
	struct value v = x->operands[1].type == X86_OP_MEM && in->id == X86_INS_LEA
			     ? address_of(p, in, &x->operands[1].mem)
			     : read_operand(p, in, &x->operands[0]);

	if (in->id == X86_INS_LEA)
		return v;
	if (x->operands[1].type != X86_OP_IMM)
		return (struct value){0};
	if (in->id == X86_INS_ADD)
		v.number += (uint64_t)x->operands[1].imm;
	else if (in->id == X86_INS_SUB)
		v.number -= (uint64_t)x->operands[1].imm;
	else if (v.what != IS_POINTER) /* and */
		v = (struct value){0};
	return v;
}

/* What all other instructions write is unknown. */
static void forget_written(struct path *p, const cs_insn *in)
{
	cs_regs read, written;
	uint8_t reads = 0, writes = 0;
	int whole, reg;

	if (p->decoder->cs.regs_access(p->decoder->handle, in, read, &reads, written, &writes))
		return;
	for (uint8_t i = 0; i < reads; i++)
		p->is_read |=
		    (reg = general_register(read[i], &whole)) >= 0 && p->registers[reg].what == IS_POINTER;
	for (uint8_t i = 0; i < writes; i++) {
		if ((reg = general_register(written[i], &whole)) >= 0 && reg != RSP)
			p->registers[reg] = (struct value){0};
		if ((reg = vector_register(written[i])) >= 0)
			memset(p->vectors[reg], 0, sizeof p->vectors[reg]);
	}
}

/* Does a function return its first argument? */
static int returns_argument(struct nm_module *module, uint64_t vaddr)
{
	static const char *const names[] = {"memset", "memcpy", "memmove", "strcpy", "strncpy", NULL};
	struct nm_function f;

	if (!nm_module_function(module, vaddr, &f))
		return 0;
	for (size_t i = 0; names[i]; i++)
		if (!strncmp(f.name + (strncmp(f.name, "__", 2) ? 0 : 2), names[i], strlen(names[i])))
			return 1;
	return 0;
}

static int is_call_of_copy(struct path *p, const cs_x86 *x)
{
	return x->operands[0].type == X86_OP_IMM && p->registers[RDI].what == IS_POINTER &&
	       returns_argument(p->module, (uint64_t)x->operands[0].imm);
}

static void step_over_call(struct path *p, const cs_x86 *x)
{
	static const int clobbered[] = {RAX, RCX, RDX, RSI, RDI, R8, R9, R10, R11};
	const int returns = is_call_of_copy(p, x);

	for (size_t i = 0; i < sizeof clobbered / sizeof *clobbered; i++)
		p->registers[clobbered[i]] = (struct value){0};
	memset(p->vectors, 0, sizeof p->vectors);
	p->registers[RAX].what = returns ? IS_POINTER : IS_NOTHING;
}

static void finish_path(struct path *p, int returns)
{
	if (returns)
		p->found.kind = NM_STORED_RETURNED;
	p->is_done = 1;
}

/* 1 and the target if the path goes on elsewhere. */
static int step_over_jump(struct path *p, const cs_insn *in, const cs_x86 *x, const struct nm_function *f,
			  uint64_t *ret_at)
{
	const uint64_t target = x->operands[0].type == X86_OP_IMM ? (uint64_t)x->operands[0].imm : 0;
	const int is_within = target >= f->low && target < f->end;

	if (in->id == X86_INS_JMP && !is_within) {
		finish_path(p, is_call_of_copy(p, x));
		return 0;
	}
	*ret_at = target;
	return is_within && (in->id == X86_INS_JMP || (in->id == X86_INS_JNE && p->tested));
}

static void push_or_pop(struct path *p, const cs_insn *in, const cs_x86_op *op)
{
	struct value *top = &p->registers[RSP];

	if (in->id == X86_INS_PUSH) {
		top->number -= 8;
		store_value(p, *top, read_operand(p, in, op));
		return;
	}
	write_operand(p, in, op, load_value(p, *top));
	top->number += 8;
}

static void step_instruction(struct path *p, const cs_insn *in)
{
	const cs_x86 *x = &in->detail->x86;
	int both = x->op_count == 2;

	switch (in->id) {
	case X86_INS_MOV:
	case X86_INS_MOVABS:
	case X86_INS_MOVQ:
	case X86_INS_MOVSD:
		if (both)
			write_operand(p, in, &x->operands[0], read_operand(p, in, &x->operands[1]));
		return;
	case X86_INS_MOVAPS:
	case X86_INS_MOVUPS:
	case X86_INS_MOVDQA:
	case X86_INS_MOVDQU: move_vector(p, in, &x->operands[0], &x->operands[1]); return;
	case X86_INS_MOVHPS:
		if (x->operands[0].type == X86_OP_REG && vector_register(x->operands[0].reg) >= 0)
			p->vectors[vector_register(x->operands[0].reg)][1] =
			    read_operand(p, in, &x->operands[1]);
		else if (vector_register(x->operands[1].reg) >= 0)
			store_value(p, address_of(p, in, &x->operands[0].mem),
				    p->vectors[vector_register(x->operands[1].reg)][1]);
		return;
	case X86_INS_PUNPCKLQDQ:
		if (vector_register(x->operands[0].reg) >= 0)
			p->vectors[vector_register(x->operands[0].reg)][1] =
			    read_operand(p, in, &x->operands[1]);
		return;
	case X86_INS_LEA:
	case X86_INS_ADD:
	case X86_INS_SUB:
	case X86_INS_AND:
		if (both && x->operands[0].type == X86_OP_REG) {
			write_operand(p, in, &x->operands[0], computed_address(p, in, x));
			return;
		}
		break;
	case X86_INS_PUSH:
	case X86_INS_POP: push_or_pop(p, in, &x->operands[0]); return;
	case X86_INS_LEAVE:
		p->registers[RSP] = p->registers[RBP];
		p->registers[RSP].number += 8;
		p->registers[RBP] = (struct value){0};
		return;
	case X86_INS_CALL: step_over_call(p, x); return;
	case X86_INS_RET:
		p->found.kind = NM_STORED_MEMORY;
		finish_path(p, p->registers[RAX].what == IS_POINTER);
		return;
	default: break;
	}
	forget_written(p, in);
}

/* From behind the call to the end of the path. */
static void follow_path(struct path *p, const struct nm_function *f, uint64_t call_at)
{
	const struct nm_capstone *cs = &p->decoder->cs;
	cs_insn *in = p->decoder->instruction;
	uint8_t bytes[CODE_ROOM];
	const uint64_t behind = f->end - call_at;
	const size_t count =
	    nm_module_code(p->module, call_at, bytes, behind < CODE_ROOM ? behind : CODE_ROOM);
	uint64_t at = call_at;

	for (unsigned n = 0; n < MOST_INSTRUCTIONS && !p->is_done && at - call_at < count; n++) {
		const uint8_t *code = bytes + (at - call_at);
		size_t left = count - (at - call_at);
		const cs_x86 *x = &in->detail->x86;
		uint64_t target;

		if (!cs->disasm_iter(p->decoder->handle, &code, &left, &at, in) ||
		    (!n && in->id != X86_INS_CALL))
			return;
		if (!n) /* the call itself */
			continue;
		if (cs->insn_group(p->decoder->handle, in, CS_GRP_JUMP)) {
			if (step_over_jump(p, in, x, f, &target))
				at = target;
		} else if (in->id == X86_INS_TEST || in->id == X86_INS_CMP) {
			p->tested = read_operand(p, in, &x->operands[0]).what == IS_POINTER;
		} else {
			step_instruction(p, in);
		}
	}
}

static struct nm_decoder_of_code *new_decoder(void)
{
	struct nm_decoder_of_code *d = calloc(1, sizeof *d);

	if (!d || nm_capstone_load(&d->cs, NULL) ||
	    d->cs.open(CS_ARCH_X86, CS_MODE_64, &d->handle) != CS_ERR_OK) {
		free(d);
		return NULL;
	}
	d->cs.option(d->handle, CS_OPT_DETAIL, CS_OPT_ON);
	d->instruction = d->cs.malloc(d->handle);
	if (!d->instruction) {
		d->cs.close(&d->handle);
		free(d);
		return NULL;
	}
	return d;
}

static struct nm_stored find_code(struct nm_stores *s, struct nm_module *module, uint64_t vaddr)
{
	struct path p = {.module = module};
	struct nm_function f;

	if (!s->decoder && !s->is_missing)
		s->is_missing = !(s->decoder = new_decoder());
	if (s->is_missing)
		return p.found;
	if (!nm_module_function(module, vaddr, &f)) /* stripped: the path ends at its return */
		f = (struct nm_function){.low = vaddr, .end = vaddr + CODE_ROOM};
	p.decoder = s->decoder;
	p.registers[RAX].what = IS_POINTER;
	p.registers[RSP] = (struct value){IS_FRAME, 1ull << 32};
	p.registers[RBP] =
	    (struct value){IS_FRAME, 1ull << 40}; /* where it is the frame's base: some distance */
	follow_path(&p, &f, vaddr);
	p.found.is_ignored = p.registers[RAX].what != IS_POINTER && !p.is_read;
	return p.found;
}

struct nm_stored nm_stored_result(struct nm_stores *s, struct nm_module *module, uint64_t vaddr)
{
	const uint64_t key = nm_mix64((uintptr_t)module) ^ vaddr;
	const uint64_t known = nm_map_get(&s->known, key, 0);
	struct nm_stored found;

	if (known)
		return s->list[known - 1];
	found = find_code(s, module, vaddr);
	if (s->count == s->room) {
		struct nm_stored *more = realloc(s->list, (2 * s->room + 64) * sizeof *more);

		if (!more)
			return found;
		s->list = more;
		s->room = 2 * s->room + 64;
	}
	s->list[s->count++] = found;
	(void)nm_map_put(&s->known, key, s->count);
	return found;
}

void nm_stores_done(struct nm_stores *s)
{
	if (s->decoder) {
		s->decoder->cs.free(s->decoder->instruction, 1);
		s->decoder->cs.close(&s->decoder->handle);
	}
	free(s->decoder);
	free(s->list);
	nm_map_done(&s->known);
	*s = (struct nm_stores){0};
}
