# SPDX-License-Identifier: MIT
"""test_diff.py - what changed between two recordings, through edits of the source between them."""

import csv
import json
import os

from harness import SPEC, TOP, main, nearmiss, need, program, record, rows, run

NOT_MET = 3

# Three functions that miss on arrays of their own, each by one line.
SOURCE = """#include <stdio.h>
#include <stdlib.h>
enum { N = 1 << 16 };
long wide[N][8], steps[N], table[N];
int *places;
static void fill(void)
{
\tunsigned x = 1;
\tfor (int i = 0; i < N; i++) {
\t\tx = x * 1664525u + 1013904223u;
\t\tplaces[i] = (int)(x >> 8) % N;
\t}
}
static long gather(void)
{
\tlong sum = 0;
\tfor (int i = 0; i < N; i++)
\t\tsum += wide[places[i]][0];
\treturn sum;
}
static long walk(void)
{
\tlong sum = 0;
\tfor (int i = 0; i < N; i++)
\t\tsum += steps[i];
\treturn sum;
}
static void count(void)
{
\tfor (int i = 0; i < N; i++)
\t\ttable[places[i]]++;
}
int main(void)
{
\tplaces = malloc(N * sizeof *places);
\tfill();
\tlong sum = gather() + walk();
\tcount();
\tprintf("%ld\\n", sum);
\treturn 0;
}
"""


def build(source, profile):
    """Compiles and records a version of the same file: its texts are not in the profile, and the file changes."""
    with open("p.c", "w", encoding="ascii") as f:
        f.write(source)
    done = run([need("gcc"), "-g", "-O1", "-o", "p", os.path.abspath("p.c")])
    assert done.returncode == 0, done.stderr
    record([os.path.abspath("p")], "-o", profile)


def diff(*arguments, status=0):
    done = nearmiss("diff", *arguments)
    assert done.returncode == status, (done.returncode, done.stderr)
    return done


def compared(*profiles):
    return json.loads(diff("--format=json", "--limit=0", *profiles).stdout)


def case_edits_without_effect():
    """Lines move, functions move and have other names: nothing missed more or less."""
    walk = SOURCE[SOURCE.index("static long walk"):SOURCE.index("static void count")]
    build(SOURCE, "a.nmp")
    versions = {
        "comment": "/* one line more */\n" + SOURCE,
        "inside": SOURCE.replace("\tlong sum = 0;\n", "\tlong sum = 0;\n\n\t/* in order */\n"),
        "moved": SOURCE.replace(walk, "").replace("int main", walk + "int main"),
        "renamed": SOURCE.replace("gather(", "collect(").replace("count(", "tally("),
    }
    for name, source in versions.items():
        build(source, name + ".nmp")
        found = compared("a.nmp", name + ".nmp")
        assert found["verdict"] == "no effect: A and B have the same misses of L1d", (name, found["verdict"])
        assert found["rows"] == [], (name, found["rows"])


def case_change_among_edits():
    """A walk gets a longer step while all lines around it move: its row comes first, and names its old line."""
    build(SOURCE, "a.nmp")
    edited = "/* new */\n\n" + SOURCE.replace("sum += steps[i]", "sum += steps[i * 8 % N]").replace("walk(", "stride(")
    build(edited, "b.nmp")
    found = compared("a.nmp", "b.nmp")
    first = found["rows"][0]
    assert first["object"] == "steps" and first["function"] == "stride", first
    assert first["before"] == "p.c:25" and first["line"] == 27, first
    assert first["misses_change"] > 0.8 * (1 << 16) * 7 / 8, first
    assert " rise by " in found["verdict"] and "steps at p.c:27" in found["verdict"], found["verdict"]
    text = diff("--width=100", "a.nmp", "b.nmp").stdout.decode()
    assert "p.c:27 (stride)" in text and max(map(len, text.splitlines())) <= 100, text


def case_repaired_programs():
    """The object and line of each fault come first when it has been repaired."""
    for name, builder, compiler, wanted in (("aos", "gcc", (), "particles"), ("pointers", "g++", (), "world[]"),
                                            ("conflict", "gfortran", ("-cpp",), "fields/")):
        source = os.path.join(TOP, "examples/faults", name + {"gcc": ".c", "g++": ".cpp", "gfortran": ".f90"}[builder])
        for profile, define in (("a.nmp", ()), ("b.nmp", ("-DREPAIRED",))):
            done = run([need(builder), "-g", "-O2", *compiler, *define, source, "-o", "p"])
            assert done.returncode == 0, done.stderr
            record([os.path.abspath("p")], "-o", profile)
        found = compared("a.nmp", "b.nmp")
        assert found["rows"][0]["object"].startswith(wanted), (name, found["rows"][0])
        assert " fall by " in found["verdict"], found["verdict"]


def case_budget():
    build(SOURCE, "a.nmp")
    build(SOURCE.replace("sum += steps[i]", "sum += steps[i * 8 % N]"), "b.nmp")
    worse = diff("--fail-on=misses:1%", "a.nmp", "b.nmp", status=NOT_MET)
    assert b"misses of L1d rose from " in worse.stderr and b"the 1 % allowed" in worse.stderr, worse.stderr
    assert worse.stdout
    for allowed in ("misses:90%", "misses:1000000", "cycles:1000%"):
        assert not diff("--fail-on=" + allowed, "a.nmp", "b.nmp").stderr
    assert not diff("--fail-on=misses", "b.nmp", "a.nmp").stderr


def case_machines_side_by_side():
    """Three profiles of one program: each has its own figures, and levels that all have are totalled."""
    build(SOURCE, "a.nmp")
    for profile, cache in (("b.nmp", "L1d=64K,8,64:L2=1M,16,64"), ("c.nmp", "L1d=128K,8,64")):
        done = nearmiss("record", "-q", "-o", profile, "--cache", cache, "--", os.path.abspath("p"))
        assert done.returncode == 0, done.stderr
    found = compared("a.nmp", "b.nmp", "c.nmp")
    assert [side["machine"] for side in found["profiles"]] == [SPEC, "L1d=64K,8,64:L2=1M,16,64", "L1d=128K,8,64"]
    misses = [side["misses"] for side in found["profiles"]]
    assert misses == sorted(misses, reverse=True) and misses[0] > misses[2], misses
    for row in found["rows"]:
        assert row["misses_change"] == row["misses_c"] - row["misses_a"], row
    for i, side in enumerate("abc"):
        unlisted = misses[i] - sum(row["misses_" + side] for row in found["rows"])
        assert unlisted == misses[0] - sum(row["misses_a"] for row in found["rows"]), side
    text = diff("a.nmp", "b.nmp", "c.nmp").stdout.decode()
    assert "\nL1d " in text and "\nL2 " not in text, text


def case_machines_in_columns():
    """One profile of two machines and code: columns add up to the levels of each, and are ranked by any."""
    record([program("matrix"), "columns"], "-q", "--instr", "--cache", "L1i=32K,8,64:L1d=32K,8,64:L2=256K,8,64", "--cache",
           "big/L1i=32K,8,64:big/L1d=64K,8,64:big/L2=2M,8,64", profile="p.nmp")
    for report in ("objects", "lines", "pairs"):
        done = nearmiss("report", report, "--machines", "--limit", "0", "--sort", "big/L2_misses", "--format", "csv", "p.nmp")
        assert done.returncode == 0, done.stderr
        found = list(csv.DictReader(done.stdout.decode().splitlines()))
        assert "L1i_misses" not in found[0], found[0]
        ranked = [int(row["big/L2_misses"]) for row in found]
        assert ranked == sorted(ranked, reverse=True) and ranked[0] > 1000, ranked[:4]
        for level in ("L1d", "big/L1d"):
            total = rows("SELECT sum(read_misses + write_misses) FROM levels WHERE level = ?", level)[0][0]
            assert sum(int(row[level + "_misses"]) for row in found) == total, (report, level)
        data = rows("SELECT sum(read_misses + write_misses) FROM counts WHERE level = 'big/L2' AND object NOT IN "
                    "(SELECT object FROM objects WHERE kind = 'code')")[0][0]
        assert sum(ranked) == data, (report, sum(ranked), data)


main(globals())
