/* SPDX-License-Identifier: MIT
 *
 * import_test.c - each format becomes the right stream, and damage is reported with its line or byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "check.h"
#include "decode.h"
#include "import.h"

static char path[] = "/tmp/import_test.XXXXXX";

static void write_file(const void *bytes, size_t count)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, count, file), count);
	fclose(file);
}

/* ---- a stream as text: "2@401000+3 r10/8 w18/4" is an instruction of thread 2 ---- */

struct telling {
	char text[8192];
	size_t length;
	uint32_t thread;
	struct nm_wire_block_info blocks[64];
	uint64_t kept[64][68];
	struct nm_wire_check *check;
	char remark[400]; /* the first */
};

static void say(struct telling *t, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	t->length += (size_t)vsnprintf(t->text + t->length, sizeof t->text - t->length, format, arguments);
	va_end(arguments);
	assert_true(t->length < sizeof t->text);
}

static void keep_block(struct telling *t, const struct nm_wire_record *r)
{
	struct nm_wire_record copy = *r;

	assert_true(r->arg < 64 && r->words <= 68);
	memcpy(t->kept[r->arg], r->payload, r->words * sizeof(uint64_t));
	copy.payload = t->kept[r->arg];
	assert_int_equal(nm_wire_block_decode(&copy, &t->blocks[r->arg], NULL), 0);
}

static const char *sort_of(unsigned flags)
{
	switch (flags) {
	case NM_WIRE_READ: return "r";
	case NM_WIRE_WRITE: return "w";
	case NM_WIRE_WRITE | NM_WIRE_NON_TEMPORAL: return "nw";
	case NM_WIRE_PREFETCH: return "p";
	case NM_WIRE_PREFETCH | NM_WIRE_NON_TEMPORAL: return "np";
	case NM_WIRE_PREFETCH | NM_WIRE_TO_L2: return "p2:";
	case NM_WIRE_PREFETCH | NM_WIRE_TO_L3: return "p3:";
	default: return "?";
	}
}

static void say_block(struct telling *t, const struct nm_wire_record *r)
{
	const struct nm_wire_block_info *b = &t->blocks[r->arg];

	say(t, "%u@%llx+%u", t->thread, (unsigned long long)b->def.pc,
	    nm_wire_instruction_bytes(b->instructions[0]));
	for (size_t i = 0; i < r->words; i++)
		say(t, " %s%llx/%u", sort_of(nm_wire_access_flags(b->accesses[i])),
		    (unsigned long long)r->payload[i], nm_wire_access_size(b->accesses[i]));
	say(t, "\n");
}

static void tell(struct telling *t, const uint64_t *words, size_t count)
{
	struct nm_wire_scan scan = nm_wire_scan_over(words, count);
	struct nm_wire_record r;
	struct nm_wire_place place;
	struct nm_wire_name name;

	while (nm_wire_scan_next(&scan, &r, NULL) > 0)
		switch (r.kind) {
		case NM_WIRE_THREAD: t->thread = r.arg; break;
		case NM_WIRE_BLOCK_DEF: keep_block(t, &r); break;
		case NM_WIRE_BLOCK: say_block(t, &r); break;
		case NM_WIRE_PLACE:
			assert_int_equal(nm_wire_place_decode(&r, &place, NULL), 0);
			say(t, "%llx is %s %s:%u\n", (unsigned long long)place.pc, place.function, place.file,
			    place.line);
			break;
		case NM_WIRE_NAME:
			assert_int_equal(nm_wire_name_decode(&r, &name, NULL), 0);
			say(t, "%llx+%llu is %s\n", (unsigned long long)name.address,
			    (unsigned long long)name.bytes, name.name);
			break;
		case NM_WIRE_UNNAME: say(t, "%llx is nothing\n", (unsigned long long)r.payload[0]); break;
		default: break;
		}
}

/* Imports what is in the file; the stream must be well-formed as far as it goes. */
static int import_file(struct telling *t, const char *format, struct nm_error *err)
{
	struct nm_import *import;
	const uint64_t *words;
	size_t count;
	int status = nm_import_open(&import, path, NULL, err);

	memset(t, 0, sizeof *t);
	if (status)
		return status;
	assert_string_equal(nm_import_format(import), format);
	assert_int_equal(wire_check_new(&t->check, NULL), 0);
	while ((status = nm_import_next(import, &words, &count, err)) > 0) {
		tell(t, words, count);
		assert_int_equal(wire_check_feed(t->check, words, count, NULL), 0);
	}
	if (!status)
		assert_int_equal(wire_check_finish(t->check, 1, NULL), 0);
	wire_check_free(t->check);
	nm_import_remark(import, 0, t->remark, sizeof t->remark);
	nm_import_free(import);
	return status;
}

static void expect_bytes(const char *format, const void *bytes, size_t count, const char *stream)
{
	static struct telling t;
	struct nm_error err;

	write_file(bytes, count);
	assert_int_equal(import_file(&t, format, &err), 0);
	assert_string_equal(t.text, stream);
}

static void expect(const char *format, const char *text, const char *stream)
{
	expect_bytes(format, text, strlen(text), stream);
}

/* Records before the fault are there, and the fault is reported. */
static void expect_fault(const char *format, const char *text, const char *stream, const char *fault)
{
	static struct telling t;
	struct nm_error err;

	write_file(text, strlen(text));
	assert_int_equal(import_file(&t, format, &err), NM_EFORMAT);
	assert_string_equal(t.text, stream);
	if (!strstr(err.text, fault))
		fail_msg("\"%s\" is not in \"%s\"", fault, err.text);
}

/* The stream is there, and what was passed over is told. */
static void expect_remark(const char *format, const char *text, const char *stream, const char *told)
{
	static struct telling t;
	struct nm_error err;

	write_file(text, strlen(text));
	assert_int_equal(import_file(&t, format, &err), 0);
	assert_string_equal(t.text, stream);
	if (!strstr(t.remark, told))
		fail_msg("\"%s\" is not in \"%s\"", told, t.remark);
}

/* ---- formats ---- */

static void test_din(void **state)
{
	(void)state;
	expect("din", "2 401000\n0 10\n1 0x1a 8 is a comment\n3 7\n4 0\n5 0\n 2\t401004\n",
	       "1@401000+4 r10/4 w1a/2 r7/1\n1@401004+4\n");
	expect("din", "i 401004 0x3\nr 20 10 and more\nW 30 8\nm 7 1\nc 0 1\nv 0 1\n",
	       "1@401004+3 r20/16 w30/8 r7/1\n");
	expect_fault("din", "r 20\n", "", "no trace format");
	expect("din", "0 10\n\n1 18\n", "1@0+1 r10/4\n1@0+1 w18/4\n"); /* each access is an instruction */
	expect_remark(
	    "din", "# made by x\n0 10\n0 20\n0 xyz\n0 30\n", "1@0+1 r10/4\n1@0+1 r20/4\n1@0+1 r30/4\n",
	    "2 of 5 lines have no din record, or other text before one, and that was skipped; the first is line 1");
	expect_fault("din", "hello\n0 20\nworld\n", "", "no trace format");
}

static void test_lackey(void **state)
{
	(void)state;
	expect(
	    "lackey",
	    "==4711== Lackey\nI  04001090,3\n L 1ffe80,8\n M 0421c7cc,4\nI  04001093,1\n S 10,1\n==4711==\n",
	    "1@4001090+3 r1ffe80/8 r421c7cc/4 w421c7cc/4\n1@4001093+1 w10/1\n");
	expect("lackey",
	       "I  1000,8\n L 20,4\n M 20,4\nI  1008,4\n L 20,4\nI  100c,4\n M 20,4\n L 20,4\n L 20,4\n",
	       "1@1000+8 r20/4 w20/4\n1@1008+4 r20/4\n1@100c+4 r20/4 w20/4 r20/4 r20/4\n");
}

/* What 2>&1 gives: the program's lines, and records behind text without an end of line. */
static void test_lackey_among_other_lines(void **state)
{
	(void)state;
	expect_remark(
	    "lackey",
	    "==12== Lackey\n==12== \nI  04001100,3\n S 1ffefffe48,8\nstep 0I  04001103,5\n L 04222c40,8\n"
	    " L was here\nI am done\n\r10 % M 04222c90,4\nresult: L 10,8\n",
	    "1@4001100+3 w1ffefffe48/8\n1@4001103+5 r4222c40/8 r4222c90/4 w4222c90/4\n",
	    "5 of 10 lines have no lackey record, or other text before one, and that was skipped; the first "
	    "is line 5: other text stands before a record");
	expect_remark("lackey",
		      "I  04001100,3\n S 1ffefffe48,8\n L 04001103,0\n S 04222c40,70000\nI  04001100,300\n",
		      "1@4001100+3 w1ffefffe48/8\n", "3 of 5 lines");
}

static void test_drmemtrace(void **state)
{
	(void)state;
	expect(
	    "drmemtrace",
	    "Output format:\n<--record#-> <--instr#->: <---tid---> <record details>\n"
	    "------------------------------------------------------------\n"
	    "           1           0:      500 <marker: version 6>\n"
	    "          87          63:      500 ifetch       2 byte(s) @ 0x0000000000401026 0f 05   syscall\n"
	    "          88          63:      500 read         8 byte(s) @ 0x00007ffd00000008 by PC 0x0000000000401026\n"
	    "          88          63:      500                                             00\n"
	    "          89          64:      501 ifetch       8 byte(s) @ 0x0000000000401012 non-branch\n"
	    "          90          64:      501 write        4 byte(s) @ 0x0000000000001000 by PC 0x0000000000401012\n"
	    "View tool results:\n              2 : total instructions\n\nanything\n",
	    "1@401026+2 r7ffd00000008/8\n2@401012+8 w1000/4\n");
	expect(
	    "drmemtrace",
	    "  7: T342 ifetch       3 byte(s) @ 0x00401ab0 non-branch\n  8: T342 read         4 byte(s) @ 0x10 by PC 0x401ab0\n",
	    "1@401ab0+3 r10/4\n");
}

static void test_drmemtrace_hints(void **state)
{
	(void)state;
	expect("drmemtrace",
	       "1 1: 500 ifetch       3 byte(s) @ 0x401000 0f 18 08  prefetcht0 (%rax)\n"
	       "2 1: 500 pref-r-L1    1 byte(s) @ 0x1040 by PC 0x401000\n"
	       "3 2: 500 ifetch       3 byte(s) @ 0x401003 0f 18 10  prefetcht1 (%rax)\n"
	       "4 2: 500 pref-r-L2    1 byte(s) @ 0x1080 by PC 0x401003\n"
	       "5 3: 500 ifetch       3 byte(s) @ 0x401006 0f 18 18  prefetcht2 (%rax)\n"
	       "6 3: 500 pref-r-L3-NT 1 byte(s) @ 0x10c0 by PC 0x401006\n"
	       "7 4: 500 ifetch       3 byte(s) @ 0x401009 0f 18 00  prefetchnta (%rax)\n"
	       "8 4: 500 pref-NTA     1 byte(s) @ 0x1100 by PC 0x401009\n"
	       "8 4: 500 pref-HW      1 byte(s) @ 0x1140 by PC 0x401009\n"
	       "9 5: 500 ifetch       3 byte(s) @ 0x40100c 0f 0d 08  prefetchw (%rax)\n"
	       "10 5: 500 pref-w       1 byte(s) @ 0x1180 by PC 0x40100c\n"
	       "11 6: 500 ifetch       3 byte(s) @ 0x40100f 0f c3 08  movnti %ecx -> (%rax)\n"
	       "12 6: 500 write        4 byte(s) @ 0x11c0 by PC 0x40100f\n"
	       "13 7: 500 write        4 byte(s) @ 0x1200 by PC 0x401012\n",
	       "1@401000+3 p1040/1\n1@401003+3 p2:1080/1\n1@401006+3 p3:10c0/1\n1@401009+3 np1100/1\n"
	       "1@40100c+3 p1180/1\n1@40100f+3 nw11c0/4\n1@401012+1 w1200/4\n");
}

/* As the tool writes it since 2025, and with a filter that leaves instructions out. */
static void test_drmemtrace_workloads(void **state)
{
	(void)state;
	expect(
	    "drmemtrace",
	    "Output format:\n<--record#-> <--instr#->: <Wrkld.Tid> <record details>\n"
	    "------------------------------------------------------------\n"
	    "         114          62: W0.T7 <marker: timestamp 13352268558646596>\n"
	    "         114          62: W0.T7 <marker: W0.T7 on core 10>\n"
	    "         115          63: W0.T7 ifetch       8 byte(s) @ 0x0000000000401012 48 8d 34 25 00 20 40 lea\n"
	    "         115          63: W0.T7                                             00\n"
	    "------------------------------------------------------------\n"
	    "         116          64: W1.T7 ifetch       2 byte(s) @ 0x0000000000401020 f3 a4  rep movs\n"
	    "         117          64: W1.T7 read         1 byte(s) @ 0x0000000000001000 by PC 0x0000000000401020\n"
	    "         118          65: W1.T7 non-fetched  2 byte(s) @ 0x0000000000401020 f3 a4  rep movs\n"
	    "         119          65: W1.T7 write        1 byte(s) @ 0x0000000000002000 by PC 0x0000000000401020\n"
	    "         120          65: W1.T7 pref-r-L1    0 byte(s) @ 0x0000000000002000 by PC 0x0000000000401020\n"
	    "         121          65: W1.T7 read         8 byte(s) @ 0x0000000000003000 by PC 0x0000000000401030\n"
	    "         122          65: W0.T7 read         8 byte(s) @ 0x0000000000003008 by PC 0x0000000000401030\n"
	    "         123          65: W0.T7 write        8 byte(s) @ 0x0000000000003008 by PC 0x0000000000401030\n"
	    "         124          65: W0.T7 <thread W0.T7 exited>\n<marker: type 9; value 1>\n",
	    "1@401012+8\n2@401020+2 r1000/1\n2@401020+2 w2000/1 p2000/1\n2@401030+1 r3000/8\n"
	    "1@401030+1 r3008/8 w3008/8\n");
}

static const char kernel_view[] =
    "hello\n"
    " 1 1: W0.T7 ifetch 4 byte(s) @ 0x0000000000401000 48 mov\n"
    "done  2 1: W0.T7 read 8 byte(s) @ 0x00007f0000001000 by PC 0x0000000000401000\n"
    " 3 1: W0.T7 read 8 byte(s) @ 0xffff888000001000 by PC 0x0000000000401000\n"
    " 4 2: W0.T7 ifetch 4 byte(s) @ 0xffffffff81e00000 48 mov\n"
    " 5 2: W0.T7 write 8 byte(s) @ 0xffff888000001000 by PC 0xffffffff81e00000\n"
    " 6 2: W0.T7 read 8 byte(s) @ 0x00007f0000001000 by PC 0xffffffff81e00000\n"
    " 7 3: W0.T7 ifetch 4 byte(s) @ 0x0000000000401004 48 mov\n"
    " 8 3: W0.T7 write 4 byte(s) @ 0x00007f0000001000 by PC 0x0000000000401004\n";

static void test_drmemtrace_with_the_kernel(void **state)
{
	const struct nm_import_options options = {.kernel = 1};
	static struct telling t;
	struct nm_import *import;
	const uint64_t *words;
	char text[400];
	size_t count;

	(void)state;
	expect_remark("drmemtrace", kernel_view, "1@401000+4 r7f0000001000/8\n1@401004+4 w7f0000001000/4\n",
		      "2 of 9 lines");
	assert_int_equal(nm_import_open(&import, path, &options, NULL), 0);
	memset(&t, 0, sizeof t);
	while (nm_import_next(import, &words, &count, NULL) > 0)
		tell(&t, words, count);
	assert_string_equal(
	    t.text, "1@401000+4 r7f0000001000/8 r7fff888000001000/8\n"
		    "1@ffff81e00000+4 w7fff888000001000/8 r7f0000001000/8\n1@401004+4 w7f0000001000/4\n");
	assert_int_equal(nm_import_remark(import, 1, text, sizeof text), 0);
	nm_import_free(import);
	assert_int_equal(nm_import_open(&import, path, NULL, NULL), 0);
	while (nm_import_next(import, &words, &count, NULL) > 0)
		;
	assert_int_equal(nm_import_remark(import, 1, text, sizeof text), 1);
	assert_non_null(strstr(text, "1 instructions and 3 references of the kernel"));
	nm_import_free(import);
	expect_fault(
	    "drmemtrace",
	    "1 1: T7 ifetch 4 byte(s) @ 0xffffffff81e00000 x\n2 1: T7 read 4 byte(s) @ 0xffffffff81e00000 x\n",
	    "", "there is no reference: 1 instructions and 1 references of the kernel");
}

static void test_csv(void **state)
{
	(void)state;
	expect("csv", "Addr, RW,size\n0x10,r,8\n32,W,4\n0x26,load,\n",
	       "1@0+1 r10/8\n1@0+1 w20/4\n1@0+1 r26/2\n");
	expect("csv", "rw,addr,pc,thread,other\nr,16,0x400,7,x\nw,16,0x404,8,y\n1,16,0x400,7,\n",
	       "1@400+1 r10/8\n2@404+1 w10/8\n1@400+1 w10/8\n");
	expect(
	    "csv",
	    "addr,rw,object,function,file,line\r\n16,r,A,f,m.c,3\r\n16,r,A,f,m.c,3\r\n24,w,\"B(i,\"\"j\"\")\",f,m.c,4\r\n16,r,,,,\r\n",
	    "10 is f m.c:3\n10+8 is A\n1@10+1 r10/8\n1@10+1 r10/8\n20 is f m.c:4\n18+8 is B(i,\"j\")\n1@20+1 w18/8\n"
	    "10 is nothing\n1@0+1 r10/8\n");
}

/* Overlapping accesses: each byte has the object of the last row, and the wire's ranges never overlap. */
static void test_csv_objects_that_overlap(void **state)
{
	(void)state;
	expect("csv", "addr,rw,size,object\n16,r,8,A\n20,r,8,A\n60,r,8,A\n16,r,16,A\n",
	       "10+8 is A\n1@0+1 r10/8\n18+4 is A\n1@0+1 r14/8\n3c+4 is A\n40+4 is A\n1@0+1 r3c/8\n"
	       "1c+4 is A\n1@0+1 r10/16\n");
	expect("csv", "addr,rw,size,object\n16,r,16,A\n20,r,4,B\n22,r,1,\n16,r,16,A\n",
	       "10+16 is A\n1@0+1 r10/16\n14+4 is B\n10+4 is A\n18+8 is A\n1@0+1 r14/4\n"
	       "14 is nothing\n14+2 is B\n17+1 is B\n1@0+1 r16/1\n14+4 is A\n1@0+1 r10/16\n");
}

/* 64 fields are read, 65 are not. */
static void test_csv_most_fields(void **state)
{
	char text[1024];
	int n = snprintf(text, sizeof text, "addr,rw");

	(void)state;
	for (int i = 2; i < 63; i++)
		n += snprintf(text + n, sizeof text - (size_t)n, ",x");
	n += snprintf(text + n, sizeof text - (size_t)n, ",size\n16,w");
	for (int i = 2; i < 63; i++)
		n += snprintf(text + n, sizeof text - (size_t)n, ",");
	n += snprintf(text + n, sizeof text - (size_t)n, ",4");
	expect("csv", text, "1@0+1 w10/4\n");
	snprintf(text + n, sizeof text - (size_t)n, ",5");
	expect_fault("csv", text, "", "there is no reference: 1 of 2 lines");
	expect_fault("csv", text, "", "line 2: there are more than 64 fields");
}

/* The same two references, as other programs write them. */
static void test_csv_of_others(void **state)
{
	static const char *const texts[] = {
	    "addr;rw;size\n0x10;r;8\n32;w;4\n",
	    "Address\tType\tBytes\n0x10\tLOAD\t8\n0x20\tSTORE\t4\n",
	    "address  op  size\n0x10  r  8\n0x20  w  4\n",
	    "data_address|is_write|size\n16|0|8\n32|1|4\n",
	    "addr,rw,size\r0x10,r,8\r32,w,4\r",
	    "\357\273\277addr,rw,size\r\n0x10,r,8\r\n32,w,4\r\n",
	    "# addr, rw, size\n0x10,r,8\n32,w,4\n",
	    "addr,rw,size\n00000010,r,8\n00000020,w,4\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		expect("csv", texts[i], "1@0+1 r10/8\n1@0+1 w20/4\n");
	expect("csv", "addr,rw,pc\n10,r,400\n7f20,w,404\n20,w,404\n",
	       "1@190+1 r10/8\n1@194+1 w7f20/8\n1@194+1 w20/8\n");
	expect("csv", "addr,rw\n10,r\n20,w\n",
	       "1@0+1 ra/6\n1@0+1 w14/4\n"); /* decimal, where nothing tells */
	expect_remark("csv", "# x\nrun 3\naddr,rw\n16,r\n# y\n32,w\n", "1@0+1 r10/8\n1@0+1 w20/8\n",
		      "3 of 6 lines have no csv record");
	expect_fault("csv", "addr,size\n16,8\n", "", "no column has the title rw");
	expect_fault("csv", "addr,rw\n16,x\n", "", "there is no reference: 1 of 2 lines");
	expect_fault("csv", "addr,rw\n", "", "there is no reference");
}

static void test_champsim(void **state)
{
	uint64_t records[2][8] = {{0x401000, 0x0000010000000000, 0x2000, 0, 0x1004, 0x1010, 0, 0},
				  {0x401004, 0x0101, 0, 0, 0, 0, 0, 0}};
	static struct telling t;
	struct nm_error err;

	(void)state;
	expect_bytes("champsim", records, sizeof records, "1@401000+4 r1004/4 r1010/8 w2000/8\n1@401004+4\n");
	records[1][0] = 0;
	write_file(records, sizeof records);
	assert_int_equal(import_file(&t, "champsim", &err), NM_EFORMAT);
	assert_non_null(strstr(err.text, "no trace format"));
}

static void test_cloudsuite(void **state)
{
	uint64_t records[2][12] = {
	    {0x401000, 0x0000010000000000, 0, 0x2000, 0, 0, 0x3000, 0x1004, 0, 0, 0x1010, 0x0202},
	    {0x401004, 0x0101, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}};

	(void)state;
	expect_bytes("cloudsuite", records, sizeof records,
		     "1@401000+4 r1004/4 r1010/8 w2000/8 w3000/8\n1@401004+4\n");
}

/* Files of other kinds say what they are. */
static void test_files_of_other_kinds(void **state)
{
	static const struct {
		const char bytes[16], *told;
	} files[] = {{"SQLite format 3", "is a profile"}, {"\177ELF\2\1\1", "is a program"},
		     {"PERFILE2", "perf record"},         {"PK\3\4", "zip"},
		     {"\377\376a\0d\0d\0r\0", "UTF-16"},  {"a\0d\0d\0r\0,\0r\0w\0\n", "UTF-16LE"}};
	static struct telling t;
	struct nm_error err;

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		write_file(files[i].bytes, sizeof files[i].bytes);
		assert_int_equal(import_file(&t, "", &err), NM_EFORMAT);
		if (!strstr(err.text, files[i].told))
			fail_msg("\"%s\" is not in \"%s\"", files[i].told, err.text);
	}
}

/* ---- damage ---- */

static void test_lines_that_are_no_records_are_told(void **state)
{
	static char text[100000];
	char remark[400];
	struct nm_import *import;
	const uint64_t *words;
	size_t n = 0, count, all = 0;
	struct nm_error err;
	int status;

	(void)state;
	for (int i = 0; i < 9000; i++) /* more than the probe reads */
		n += (size_t)snprintf(text + n, sizeof text - n, "0 401000\n");
	strcpy(text + n, "9 10\n");
	write_file(text, strlen(text));
	assert_int_equal(nm_import_open(&import, path, NULL, &err), 0);
	while ((status = nm_import_next(import, &words, &count, &err)) > 0)
		all += count;
	assert_int_equal(status, 0);
	assert_true(nm_import_remark(import, 0, remark, sizeof remark));
	assert_non_null(strstr(remark, "1 of 9001 lines"));
	assert_non_null(strstr(remark, "line 9001: a label"));
	assert_int_equal(nm_import_references(import), 9000);
	assert_true(all > 9000);
	nm_import_free(import);
	expect_remark("csv", "addr,rw\n16,r\n16,x\n16,w\n", "1@0+1 r10/8\n1@0+1 w10/8\n",
		      "line 3: rw is neither");
	expect_remark("csv", "addr,rw,size\n16,r,8\n16\n", "1@0+1 r10/8\n", "line 3: there are fewer fields");
	expect_remark("csv", "addr,rw,size\n16,r,8\n17,w\n", "1@0+1 r10/8\n",
		      "line 3: there are fewer fields");
	expect_remark("csv", "addr,rw,other\n16,r,8\n17,w\n", "1@0+1 r10/8\n",
		      "line 3: there are fewer fields");
	expect_remark("csv", "addr,rw\n16,r\n-1,r\n", "1@0+1 r10/8\n", "line 3: addr is no number");
	expect_remark("csv", "addr,rw,size\n16,r,8\n0x7ffffffffffffff9,r,8\n", "1@0+1 r10/8\n",
		      "line 3: the address is out of range");
	expect_fault("csv", "addr,rw,object\n16,r,\"A\n", "", "line 2: a quoted field does not end");
}

static void test_nothing_is_known(void **state)
{
	static struct telling t;
	static const char *const texts[] = {"", "hello world\n", "addr\n1\n", "nothing of the kind\n"};
	struct nm_import *import;
	struct nm_error err;

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		write_file(texts[i], strlen(texts[i]));
		assert_int_equal(import_file(&t, "", &err), NM_EFORMAT);
	}
	assert_int_equal(
	    nm_import_open(&import, path, &(struct nm_import_options){.format = "no-such"}, &err), NM_EINVAL);
	assert_int_equal(nm_import_open(&import, "/no/such", NULL, &err), NM_ENOENT);
}

/* ---- packed ---- */

static void pack(const char *with)
{
	char command[256];

	snprintf(command, sizeof command, "%s -c < %s > %s.packed && mv %s.packed %s", with, path, path, path,
		 path);
	if (system(command))
		skip();
}

static void check_packed(const char *with)
{
	static struct telling t;
	struct nm_error err;
	char cut[200];
	FILE *file;
	size_t n;

	write_file("i 401000 3\nr 10 8\n", 18);
	pack(with);
	assert_int_equal(import_file(&t, "din", &err), 0);
	assert_string_equal(t.text, "1@401000+3 r10/8\n");
	file = fopen(path, "rb");
	n = fread(cut, 1, sizeof cut, file);
	fclose(file);
	assert_in_range(n, 20, sizeof cut);
	write_file(cut, n - 9);
	assert_int_equal(import_file(&t, "din", &err), NM_EFORMAT);
	assert_non_null(strstr(err.text, "damaged or cut off"));
}

static void test_gzip(void **state)
{
	(void)state;
	check_packed("gzip");
}

static void test_xz(void **state)
{
	(void)state;
	check_packed("xz");
}

static void test_zstd(void **state)
{
	(void)state;
	check_packed("zstd -q");
}

static void test_bzip2(void **state)
{
	(void)state;
	check_packed("bzip2");
}

/* Packed or not, in a folder or not; several files are refused. */
static void test_tar(void **state)
{
	static const char *const make[] = {"tar cf -", "tar cf - ../$(basename $PWD)",
					   "tar --format=gnu -cf - --mtime=@1", "tar --format=pax -cf -"};
	static struct telling t;
	struct nm_error err;
	char command[1024];

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		snprintf(
		    command, sizeof command,
		    "d=$(mktemp -d) && printf 'i 401000 3\nr 10 8\n' > $d/trace && cd $d && %s %s 2>/dev/null | %s > %s; "
		    "rm -r $d",
		    make[i % 4], i % 4 == 1 ? "" : "trace", i < 4 ? "cat" : "xz", path);
		if (system(command))
			skip();
		assert_int_equal(import_file(&t, "din", &err), 0);
		assert_string_equal(t.text, "1@401000+3 r10/8\n");
	}
	snprintf(command, sizeof command,
		 "d=$(mktemp -d) && cd $d && seq -f '0 %%g' 10 99 > a && cp a b && tar cf %s a b; rm -r $d",
		 path);
	assert_int_equal(system(command), 0);
	assert_int_equal(import_file(&t, "din", &err), NM_EFORMAT);
	assert_non_null(strstr(err.text, "holds several files"));
	assert_int_equal(truncate(path, 700), 0);
	assert_int_equal(import_file(&t, "din", &err), NM_EFORMAT);
	assert_non_null(strstr(err.text, "cut off"));
}

static int make_file(void **state)
{
	(void)state;
	int fd = mkstemp(path);

	close(fd);
	return fd < 0;
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_din),
	    cmocka_unit_test(test_lackey),
	    cmocka_unit_test(test_lackey_among_other_lines),
	    cmocka_unit_test(test_drmemtrace),
	    cmocka_unit_test(test_drmemtrace_hints),
	    cmocka_unit_test(test_drmemtrace_with_the_kernel),
	    cmocka_unit_test(test_drmemtrace_workloads),
	    cmocka_unit_test(test_csv),
	    cmocka_unit_test(test_csv_objects_that_overlap),
	    cmocka_unit_test(test_csv_most_fields),
	    cmocka_unit_test(test_champsim),
	    cmocka_unit_test(test_cloudsuite),
	    cmocka_unit_test(test_csv_of_others),
	    cmocka_unit_test(test_files_of_other_kinds),
	    cmocka_unit_test(test_lines_that_are_no_records_are_told),
	    cmocka_unit_test(test_gzip),
	    cmocka_unit_test(test_xz),
	    cmocka_unit_test(test_zstd),
	    cmocka_unit_test(test_bzip2),
	    cmocka_unit_test(test_tar),
	    cmocka_unit_test(test_nothing_is_known),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
