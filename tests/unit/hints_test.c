/* SPDX-License-Identifier: MIT
 *
 * hints_test.c - prefetches and non-temporal stores in machine code, as an assembler encodes them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hints.h"
#include <nearmiss/wire.h>

enum { PC = 0x401000, RAX = 0, RCX = 1, RBX = 3, RSP = 4, RBP = 5, RDI = 7, R8 = 8, R12 = 12, R13 = 13 };

struct example {
	const char *text;
	unsigned char code[16];
	struct nm_hint hint;
};

#define PREFETCH(flags, b, i, s, d)                                                               \
	{                                                                                         \
		NM_HINT_PREFETCH, flags, { .base = b, .index = i, .shift = s, .displacement = d } \
	}
#define OTHER(...)                                                             \
	{                                                                      \
		NM_HINT_PREFETCH, 0, { .base = RAX, .index = -1, __VA_ARGS__ } \
	}
#define STORE                                              \
	{                                                  \
		NM_HINT_STORE, NM_WIRE_NON_TEMPORAL, { 0 } \
	}

static const struct example examples[] = {
    {"prefetchnta (%rax)", {0x0f, 0x18, 0x00}, PREFETCH(NM_WIRE_NON_TEMPORAL, RAX, -1, 0, 0)},
    {"prefetcht0 (%rax)", {0x0f, 0x18, 0x08}, PREFETCH(0, RAX, -1, 0, 0)},
    {"prefetcht1 8(%rcx)", {0x0f, 0x18, 0x51, 0x08}, PREFETCH(NM_WIRE_TO_L2, RCX, -1, 0, 8)},
    {"prefetcht2 -8(%rcx)", {0x0f, 0x18, 0x59, 0xf8}, PREFETCH(NM_WIRE_TO_L3, RCX, -1, 0, -8)},
    {"prefetchw (%rdi)", {0x0f, 0x0d, 0x0f}, PREFETCH(0, RDI, -1, 0, 0)},
    {"prefetchwt1 (%rdi)", {0x0f, 0x0d, 0x17}, PREFETCH(NM_WIRE_TO_L2, RDI, -1, 0, 0)},
    {"prefetcht0 0x12345678(%rbx)",
     {0x0f, 0x18, 0x8b, 0x78, 0x56, 0x34, 0x12},
     PREFETCH(0, RBX, -1, 0, 0x12345678)},
    {"prefetcht0 (%rax,%rcx,8)", {0x0f, 0x18, 0x0c, 0xc8}, PREFETCH(0, RAX, RCX, 3, 0)},
    {"prefetcht0 (%r8,%r12,4)", {0x43, 0x0f, 0x18, 0x0c, 0xa0}, PREFETCH(0, R8, R12, 2, 0)},
    {"prefetcht0 (%rsp)", {0x0f, 0x18, 0x0c, 0x24}, PREFETCH(0, RSP, -1, 0, 0)},
    {"prefetcht0 (%r12)", {0x41, 0x0f, 0x18, 0x0c, 0x24}, PREFETCH(0, R12, -1, 0, 0)},
    {"prefetcht0 0(%rbp)", {0x0f, 0x18, 0x4d, 0x00}, PREFETCH(0, RBP, -1, 0, 0)},
    {"prefetcht0 0(%r13)", {0x41, 0x0f, 0x18, 0x4d, 0x00}, PREFETCH(0, R13, -1, 0, 0)},
    {"prefetcht0 0x10(%r13,%rax,2)", {0x41, 0x0f, 0x18, 0x4c, 0x45, 0x10}, PREFETCH(0, R13, RAX, 1, 16)},
    {"prefetcht0 0x100(,%rax,4)",
     {0x0f, 0x18, 0x0c, 0x85, 0x00, 0x01, 0x00, 0x00},
     PREFETCH(0, -1, RAX, 2, 256)},
    {"prefetcht0 -256", {0x0f, 0x18, 0x0c, 0x25, 0x00, 0xff, 0xff, 0xff}, PREFETCH(0, -1, -1, 0, -256)},
    {"prefetcht0 0x10(%rip)",
     {0x0f, 0x18, 0x0d, 0x10, 0x00, 0x00, 0x00},
     PREFETCH(0, -1, -1, 0, PC + 7 + 16)},
    {"prefetcht0 %fs:(%rax)", {0x64, 0x0f, 0x18, 0x08}, OTHER(.segment = NM_SEGMENT_FS)},
    {"prefetcht0 %gs:(%rax)", {0x65, 0x0f, 0x18, 0x08}, OTHER(.segment = NM_SEGMENT_GS)},
    {"prefetcht0 (%eax)", {0x67, 0x0f, 0x18, 0x08}, OTHER(.is_narrow = 1)},
    {"movnti %ecx,(%rax)", {0x0f, 0xc3, 0x08}, STORE},
    {"movnti %r9,(%r8)", {0x4d, 0x0f, 0xc3, 0x08}, STORE},
    {"movntq %mm0,(%rax)", {0x0f, 0xe7, 0x00}, STORE},
    {"movntps %xmm0,(%rax)", {0x0f, 0x2b, 0x00}, STORE},
    {"movntpd %xmm0,(%rax)", {0x66, 0x0f, 0x2b, 0x00}, STORE},
    {"movntdq %xmm0,(%rax)", {0x66, 0x0f, 0xe7, 0x00}, STORE},
    {"movntdq %xmm9,(%r8)", {0x66, 0x45, 0x0f, 0xe7, 0x08}, STORE},
    {"vmovntps %ymm0,(%rax)", {0xc5, 0xfc, 0x2b, 0x00}, STORE},
    {"vmovntpd %ymm0,(%rax)", {0xc5, 0xfd, 0x2b, 0x00}, STORE},
    {"vmovntdq %ymm0,(%rax)", {0xc5, 0xfd, 0xe7, 0x00}, STORE},
    {"vmovntdq %ymm0,(%r8)", {0xc4, 0xc1, 0x7d, 0xe7, 0x00}, STORE},
    /* Near misses. */
    {"mov %rax,(%rcx)", {0x48, 0x89, 0x01}, {0}},
    {"endbr64", {0xf3, 0x0f, 0x1e, 0xfa}, {0}},
    {"nopw (%rax)", {0x66, 0x0f, 0x1f, 0x00}, {0}},
    {"a reserved hint, /4", {0x0f, 0x18, 0x20}, {0}},
    {"a hint of registers", {0x0f, 0x18, 0xc8}, {0}},
    {"prefetch of 3DNow!, /0", {0x0f, 0x0d, 0x07}, {0}},
    {"ret; next begins with 0f", {0xc3, 0x0f, 0x18, 0x08}, {0}},
    {"cvtdq2pd %xmm0,%xmm0", {0xf3, 0x0f, 0xe6, 0xc0}, {0}},
    {"vmovaps %ymm0,(%rax)", {0xc5, 0xfc, 0x29, 0x00}, {0}},
    {"vmovntdqa (%rax),%ymm0", {0xc4, 0xe2, 0x7d, 0x2a, 0x00}, {0}},
    {"movntdqa (%rax),%xmm0", {0x66, 0x0f, 0x38, 0x2a, 0x00}, {0}},
    {"mov $0x1808180f,%eax", {0xb8, 0x0f, 0x18, 0x08, 0x18}, {0}},
};

static void assert_same(const struct example *e, struct nm_hint h)
{
	const struct nm_operand *want = &e->hint.operand, *is = &h.operand;

	if (h.kind != e->hint.kind || h.flags != e->hint.flags || is->base != want->base ||
	    is->index != want->index || is->shift != want->shift || is->segment != want->segment ||
	    is->is_narrow != want->is_narrow || is->displacement != want->displacement)
		fail_msg(
		    "%s: kind %d, flags %u, base %d, index %d, shift %d, segment %d, narrow %d, displacement %lld",
		    e->text, (int)h.kind, h.flags, is->base, is->index, is->shift, (int)is->segment,
		    is->is_narrow, (long long)is->displacement);
}

static void test_examples(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
		assert_same(&examples[i], nm_hint_decode(examples[i].code, PC));
}

/* What keeps registers current must find every prefetch, wherever in a run of code it stands. */
static void test_search(void **state)
{
	const unsigned char none[] = {0x0f, 0x1e, 0xfa, 0x18, 0x0d, 0x0f};

	(void)state;
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
		if (examples[i].hint.kind == NM_HINT_PREFETCH)
			assert_true(nm_hint_may_prefetch(examples[i].code, sizeof examples[i].code));
	assert_false(nm_hint_may_prefetch(none, sizeof none));
	assert_false(nm_hint_may_prefetch(examples[0].code, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_examples), cmocka_unit_test(test_search)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
