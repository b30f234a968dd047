# SPDX-License-Identifier: MIT
"""test_studies.py - the case studies of docs/case-studies at small sizes: the first row of the report names the data
and the lines that are at fault, and the repaired versions print the same and miss less."""

import csv

from harness import MISSES, SPEC, at, main, nearmiss, program, record, rows


def first_row(level="L1d"):
    done = nearmiss("report", "pairs", "-i", "p.nmp", "--level", level, "--limit", "1", "--format", "csv")
    assert done.returncode == 0, done.stderr
    return next(csv.DictReader(done.stdout.decode().splitlines()))


def expect_first(source, objects, first_tag, last_tag, level="L1d"):
    """The row with the most misses is one of the objects, between two tagged lines of the source."""
    row = first_row(level)
    assert row["object"] in objects, (row["object"], objects)
    assert row["file"].endswith(source), row["file"]
    assert at(source, first_tag) <= int(row["line"]) <= at(source, last_tag), row["line"]
    return row


def misses(name, *arguments, cache):
    """Level -> misses of a run, and the program's output."""
    done = nearmiss("record", "-o", f"{name}.nmp", "--cache", cache, "--", program(name), *arguments)
    assert done.returncode == 0, done.stderr.decode()
    return dict(rows(f"SELECT level, {MISSES} FROM counts GROUP BY level", profile=f"{name}.nmp")), done.stdout


def expect_fewer(name, repaired, *arguments, cache=SPEC, **most):
    """The repaired program prints the same as the other, and has at most the given share of its misses."""
    before, said = misses(name, *arguments, cache=cache)
    after, says = misses(repaired, *arguments, cache=cache)
    assert said and said == says, (said, says)
    for level, share in most.items():
        assert after[level] <= share * before[level], f"{repaired}, {level}: {after} misses, {name}: {before}"


def case_quake():
    """Rows of 24 bytes, each from its own malloc: 6 of 8 bytes are used, and pointers are loaded too."""
    source = "examples/quake.c"
    record([program("quake"), "12", "3"])
    bucket = f"blocks[i][j] (quake.c:{at(source, 'row')})"
    row = expect_first(source, [bucket], "block", "third")
    assert 24 <= float(row["waste"]) <= 27, row["waste"]
    assert row["cause"] == "small blocks", row["cause"]
    blocks, size, largest = rows("SELECT blocks, bytes, largest FROM objects WHERE object = ?", bucket)[0]
    assert largest == 24 and size == 24 * blocks and blocks > 30000, (blocks, size, largest)
    expect_fewer("quake", "quake-packed", "12", "3", L1d=0.80, L2=0.80)
    expect_fewer("quake", "quake-arrays", "12", "3", L1d=0.60, L2=0.60)


def case_placement():
    """Pins of 16 bytes, scattered: three quarters of each line that a net's walk loads are not used."""
    source = "examples/placement.c"
    record([program("placement"), "3000", "4000"])
    bucket = f"net->pins (placement.c:{at(source, 'pin')})"
    row = expect_first(source, [bucket], "walk", "x")
    assert 70 <= float(row["waste"]) <= 80, row["waste"]
    assert row["cause"] == "small blocks", row["cause"]
    assert rows("SELECT largest FROM objects WHERE object = ?", bucket) == [(16,)]
    expect_fewer("placement", "placement-near", "3000", "4000", L1d=0.60)


def case_multigrid():
    """Three planes of u do not fit the first level: u drives out u.  Tiles help there, joined passes below."""
    source = "examples/multigrid.c"
    record([program("multigrid"), "5", "2"])
    row = expect_first(source, ["u"], "corners", "faces")
    assert int(row["capacity"]) > 0.8 * int(row["loads"]), row
    assert row["cause"] == "too large", row["cause"]
    small = "L1d=16K,8,64:L2=256K,16,64"  # for the grid of 32 points a side what the usual caches are for one of 64
    expect_fewer("multigrid", "multigrid-tiled", "5", "2", cache=small, L1d=0.80)
    expect_fewer("multigrid", "multigrid-joined", "5", "2", cache=small, L2=0.90)


if __name__ == "__main__":
    main(globals())
