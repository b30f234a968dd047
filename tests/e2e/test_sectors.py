# SPDX-License-Identifier: MIT
"""test_sectors.py - levels with sectors: bytes moved, sector misses, and that a trace
gives the same."""

import csv

from harness import at, counts, main, nearmiss, program, record, rows

PLAIN = "L1d=32K,8,128:L2=1M,16,128"
SECTORS = "L1d=32K,8,128,sector=32:L2=1M,16,128,sector=64"


def figure(column, level="L1d", view="counts", profile="p.nmp"):
    return rows(f"SELECT sum({column}) FROM {view} WHERE object = 'matrix' AND level = ? AND line = ?", level,
                at("examples/matrix.c", "column"), profile=profile)[0][0]


def case_columns_load_less():
    """Down the columns four of 128 bytes of a line are used before it leaves: by sectors a quarter of it is loaded."""
    record([program("matrix"), "columns"], "--cache", PLAIN, profile="plain.nmp")
    record([program("matrix"), "columns"], "--cache", SECTORS)
    assert figure("loads", profile="plain.nmp") > 900_000
    assert figure("loads") == figure("loads", profile="plain.nmp")  # each line is loaded for one element
    assert figure("loaded_bytes") * 4 == figure("loaded_bytes", profile="plain.nmp")
    assert figure("used_bytes") == figure("used_bytes", profile="plain.nmp")
    assert rows("SELECT level, line_size, sector_size FROM levels ORDER BY position") == \
        [("L1d", 128, 32), ("L2", 128, 64)]
    assert rows("SELECT DISTINCT sector_size FROM levels", profile="plain.nmp") == [(None,)]


def case_rows_miss_sectors():
    """Along the rows each line is found three times without the sector that comes next."""
    record([program("matrix"), "rows"], "--cache", SECTORS)
    line = at("examples/matrix.c", "row")
    loads, = rows("SELECT sum(loads) FROM counts WHERE object = 'matrix' AND level = 'L1d' AND line = ?", line)[0]
    missed, = rows("SELECT sum(sector_misses) FROM sectors WHERE object = 'matrix' AND level = 'L1d' AND line = ?",
                   line)[0]
    assert loads == 125_000, loads
    assert missed == 93_750, missed
    done = nearmiss("report", "sectors", "-i", "p.nmp", "--format", "csv")
    row = next(csv.DictReader(done.stdout.decode().splitlines()))
    assert (row["object"], row["sector_misses"], row["sector_share"]) == ("matrix", "93750", "75"), row


def case_trace_gives_the_same():
    record([program("matrix"), "rows"], "--cache", SECTORS, "--trace", "t.nmt")
    assert nearmiss("replay", "-o", "r.nmp", "--cache", SECTORS, "t.nmt").returncode == 0
    assert counts() == counts("r.nmp")
    view = "SELECT * FROM sectors ORDER BY 1, 2, 3, 4, 5, 6, 7"
    assert rows(view) == rows(view, profile="r.nmp") != []


def case_refusals():
    record([program("matrix"), "rows"], profile="plain.nmp")
    done = nearmiss("report", "sectors", "-i", "plain.nmp")
    assert done.returncode == 2 and b"no sector misses" in done.stderr, done
    with open("m.machine", "w", encoding="ascii") as f:
        f.write("L1d = 32K, 8, 128, sector=48\n")
    done = nearmiss("machines", "m.machine")
    assert done.returncode == 2 and b"m.machine:1: a sector is a power of two" in done.stderr, done
    assert done.stderr.splitlines()[2].index(b"^") - 2 == len("L1d = 32K, 8, 128, sector="), done


if __name__ == "__main__":
    main(globals())
