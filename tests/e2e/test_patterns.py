# SPDX-License-Identifier: MIT
"""test_patterns.py - access patterns: the view sites, the report patterns, the advice that they give."""

import csv

from harness import SPEC, at, main, nearmiss, need, program, record, rows, run


def site(tag):
    found = rows("SELECT sampled, stride, followed FROM sites WHERE object = 'matrix' AND file LIKE '%matrix.c' "
                 "AND line = ?", at("examples/matrix.c", tag))
    assert len(found) == 1, found
    return found[0]


def case_wrong_order():
    done = record([program("matrix"), "columns"])
    sampled, stride, followed = site("column")
    assert stride == 4000, stride
    assert 1_000_000 // 256 < sampled < 1_000_000 // 2, sampled
    assert 0.998 * sampled < followed < sampled, (followed, sampled)  # a column has 1,000 elements
    assert b"accesses step 4000 bytes" in done.stderr + done.stdout, done
    done = nearmiss("report", "patterns", "-i", "p.nmp", "--limit", "1", "--format", "csv")
    row = next(csv.DictReader(done.stdout.decode().splitlines()))
    assert (row["object"], row["line"], row["stride"], row["walk"]) == \
        ("matrix", str(at("examples/matrix.c", "column")), "4000", "a line each"), row
    done = nearmiss("report", "pairs", "-i", "p.nmp", "--limit", "1", "--format", "csv", "--columns", "stride,follow")
    row = next(csv.DictReader(done.stdout.decode().splitlines()))
    assert row["stride"] == "4000" and float(row["follow"]) > 99.8, row


def case_right_order():
    done = record([program("matrix"), "rows"])
    sampled, stride, followed = site("row")
    assert stride == 4 and followed > 0.99 * sampled, (sampled, stride, followed)
    assert b"accesses step" not in done.stderr + done.stdout, done
    assert rows("SELECT count(*) FROM sites WHERE sampled < followed OR followed < 0") == [(0,)]


def case_same_each_time():
    sql = "SELECT * FROM sites ORDER BY function, file, line, object"
    record([program("matrix"), "columns"])
    first = rows(sql)
    record([program("matrix"), "columns"])
    assert first and rows(sql) == first


SHORT_LOOPS = """#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
struct wide { long key; char rest[192]; };
int main(void)
{
	const unsigned long g = 1ul << 30;
	long sum = 0;
	char *large = mmap(NULL, 6 * g, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct wide *w = malloc(4000 * sizeof *w);

	for (int r = 0; r < 300000; r++)
		sum += large[r % 4096];
	for (int i = 0; i < 4000; i++)
		sum += w[i].key; /* @wide */
	for (int r = 0; r < 2000; r++)
		sum += large[(r & 1) * 3 * g + r / 2 * 4096]; /* @far */
	for (long i = 6 * g - 1; i > 0; i -= 1 << 22)
		sum += large[i]; /* @down */
	return sum == 1;
}
"""


def case_loops_that_run_once():
    """Shorter than the gaps between samples, with steps of bytes to gigabytes."""
    with open("short.c", "w", encoding="ascii") as f:
        f.write(SHORT_LOOPS)
    assert run([need("gcc"), "-g", "-O1", "-o", "short", "short.c"]).returncode == 0
    record(["./short"])
    lines = SHORT_LOOPS.splitlines()
    for tag, steps in (("wide", {200}), ("far", {-3 * 2**30 + 4096, 3 * 2**30}), ("down", {-2**22})):
        line = next(n for n, text in enumerate(lines, 1) if f"@{tag}" in text)
        found = rows("SELECT stride, followed > 0.4 * sampled FROM sites WHERE file LIKE '%short.c' AND line = ?", line)
        assert len(found) == 1 and found[0][0] in steps and found[0][1], (tag, found)


def case_stored_trace():
    """However the stream is cut on its way: the same references are looked at."""
    sql = "SELECT * FROM sites ORDER BY function, file, line, object"
    record([program("matrix"), "columns"], "--trace", "t.nmt")
    done = nearmiss("replay", "-o", "r.nmp", "--cache", SPEC, "t.nmt")
    assert done.returncode == 0, done.stderr
    assert rows(sql) and rows(sql, profile="r.nmp") == rows(sql)


if __name__ == "__main__":
    main(globals())
