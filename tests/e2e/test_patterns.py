# SPDX-License-Identifier: MIT
"""test_patterns.py - access patterns: the view sites, the report patterns, the advice that they give."""

import csv

from harness import SPEC, at, main, nearmiss, program, record, rows


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


def case_stored_trace():
    """However the stream is cut on its way: the same references are looked at."""
    sql = "SELECT * FROM sites ORDER BY function, file, line, object"
    record([program("matrix"), "columns"], "--trace", "t.nmt")
    done = nearmiss("replay", "-o", "r.nmp", "--cache", SPEC, "t.nmt")
    assert done.returncode == 0, done.stderr
    assert rows(sql) and rows(sql, profile="r.nmp") == rows(sql)


if __name__ == "__main__":
    main(globals())
