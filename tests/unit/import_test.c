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

static void say_block(struct telling *t, const struct nm_wire_record *r)
{
	const struct nm_wire_block_info *b = &t->blocks[r->arg];

	say(t, "%u@%llx+%u", t->thread, (unsigned long long)b->def.pc,
	    nm_wire_instruction_bytes(b->instructions[0]));
	for (size_t i = 0; i < r->words; i++)
		say(t, " %c%llx/%u", nm_wire_access_flags(b->accesses[i]) == NM_WIRE_READ ? 'r' : 'w',
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
	assert_int_equal(nm_wire_check_new(&t->check, NULL), 0);
	while ((status = nm_import_next(import, &words, &count, err)) > 0) {
		tell(t, words, count);
		assert_int_equal(nm_wire_check_feed(t->check, words, count, NULL), 0);
	}
	if (!status)
		assert_int_equal(nm_wire_check_finish(t->check, 1, NULL), 0);
	nm_wire_check_free(t->check);
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

/* ---- formats ---- */

static void test_din(void **state)
{
	(void)state;
	expect("din", "2 401000\n0 10\n1 0x1a 8 is a comment\n3 7\n4 0\n5 0\n 2\t401004\n",
	       "1@401000+4 r10/4 w1a/2 r7/1\n1@401004+4\n");
	expect("din", "i 401004 0x3\nr 20 10 and more\nW 30 8\nm 7 1\nc 0 1\nv 0 1\n",
	       "1@401004+3 r20/16 w30/8 r7/1\n");
	expect_fault("din", "r 20\n", "", "no trace format");
	expect("din", "0 10\n\n1 18\n", "1@0+1 r10/4 w18/4\n");
	expect_fault("din", "0 10\n0 20\n0 xyz\n0 30\n", "", "no trace format");
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
	    "1@401012+8\n2@401020+2 r1000/1\n2@401020+2 w2000/1\n2@401030+1 r3000/8\n"
	    "1@401030+1 r3008/8 w3008/8\n");
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
	expect_fault("csv", text, "", "line 2: there are more than 64 fields");
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

/* ---- damage ---- */

static void test_damage_tells_the_line(void **state)
{
	char text[40000] = "";
	struct nm_import *import;
	const uint64_t *words;
	size_t n = 0, count, all = 0;
	struct nm_error err;
	int status;

	(void)state;
	for (int i = 0; i < 2000; i++) /* more than the probe reads */
		n += (size_t)snprintf(text + n, sizeof text - n, "2 401000\n");
	strcpy(text + n, "9 10\n");
	write_file(text, strlen(text));
	assert_int_equal(nm_import_open(&import, path, NULL, &err), 0);
	while ((status = nm_import_next(import, &words, &count, &err)) > 0)
		all += count;
	assert_int_equal(status, NM_EFORMAT);
	assert_non_null(strstr(err.text, "line 2001: a label"));
	assert_true(all > 2000);
	assert_int_equal(nm_import_next(import, &words, &count, &err), 0);
	nm_import_free(import);
	expect_fault("csv", "addr,rw\n16,r\n16,x\n16,w\n", "1@0+1 r10/8\n", "line 3: rw is neither");
	expect_fault("csv", "addr,rw,size\n16,r,8\n16\n", "1@0+1 r10/8\n", "line 3: there are fewer fields");
	expect_fault("csv", "addr,rw,size\n16,r,8\n17,w\n", "1@0+1 r10/8\n",
		     "line 3: there are fewer fields");
	expect_fault("csv", "addr,rw,other\n16,r,8\n17,w\n", "1@0+1 r10/8\n",
		     "line 3: there are fewer fields");
	expect_fault("csv", "addr,rw\n16,r\n-1,r\n", "1@0+1 r10/8\n", "line 3: addr is no number");
	expect_fault("csv", "addr,rw\n16,r\n0xffffffffffffffff,r\n", "1@0+1 r10/8\n",
		     "line 3: the address is out of range");
	expect_fault("csv", "addr,rw,object\n16,r,\"A\n", "", "line 2: a quoted field does not end");
}

static void test_nothing_is_known(void **state)
{
	static struct telling t;
	static const char *const texts[] = {"", "hello world\n", "addr\n1\n"};
	struct nm_import *import;
	struct nm_error err;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		write_file(texts[i], strlen(texts[i]));
		assert_int_equal(import_file(&t, "", &err), NM_EFORMAT);
	}
	assert_int_equal(nm_import_open(&import, path, "no-such", &err), NM_EINVAL);
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
	    cmocka_unit_test(test_drmemtrace),
	    cmocka_unit_test(test_drmemtrace_workloads),
	    cmocka_unit_test(test_csv),
	    cmocka_unit_test(test_csv_objects_that_overlap),
	    cmocka_unit_test(test_csv_most_fields),
	    cmocka_unit_test(test_champsim),
	    cmocka_unit_test(test_damage_tells_the_line),
	    cmocka_unit_test(test_gzip),
	    cmocka_unit_test(test_xz),
	    cmocka_unit_test(test_zstd),
	    cmocka_unit_test(test_nothing_is_known),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
