# SPDX-License-Identifier: MIT
"""test_prefetch.py - levels that prefetch: what they cover of walks whose lines are known, what they waste, which lines they
evict, and that a trace and a nest give the same as a run."""

import csv
import os
import subprocess

from harness import at, main, nearmiss, program, record, rows

PLAIN = "L1d=32K,8,64:L2=256K,8,64"
NEXT = "L1d=32K,8,64,prefetch=next:L2=256K,8,64"
STRIDE = "L1d=32K,8,64,prefetch=stride:L2=256K,8,64"
STREAM = "L1d=32K,8,64:L2=256K,8,64,prefetch=stream"
LINES, PAGES, STEPS, DRAWS = 16384, 256, 6554, 50000


def side_by_side():
    """All machines in one run: the first, "2/", "3/" and "4/"."""
    record([program("walks")], "--cache", PLAIN, "--cache", NEXT, "--cache", STRIDE, "--cache", STREAM)


def misses(mark, level, profile="p.nmp"):
    return rows("SELECT sum(read_misses) FROM counts WHERE object = 'table' AND level = ? AND line = ?", level,
                at("tests/programs/walks.c", mark), profile=profile)[0][0]


def prefetched(mark, level, profile="p.nmp"):
    """prefetches, useful, late_evicted, pollution"""
    found = rows("SELECT sum(prefetches), sum(useful), sum(late_evicted), sum(pollution) FROM prefetches "
                 "WHERE object = 'table' AND level = ? AND line = ?", level, at("tests/programs/walks.c", mark),
                 profile=profile)[0]
    return [n or 0 for n in found]


def near(found, wanted, by=20):
    assert abs(found - wanted) <= by, (found, wanted)


def case_walks():
    """Of a walk each page misses once, with streams three times; steps of 160 bytes are no next lines; what is drawn at
    random is not covered."""
    side_by_side()
    near(misses("order", "L1d"), LINES)
    near(misses("order", "2/L1d"), PAGES)
    near(misses("order", "3/L1d"), PAGES)
    near(misses("order", "4/L2"), 3 * PAGES)
    near(prefetched("order", "2/L1d")[1], LINES - PAGES)
    near(prefetched("order", "4/L2")[1], LINES - 3 * PAGES)
    near(misses("steps", "L1d"), STEPS)
    near(misses("steps", "2/L1d"), STEPS)
    near(misses("steps", "3/L1d"), PAGES)
    assert prefetched("steps", "2/L1d")[1] < 20
    assert misses("random", "2/L1d") > 0.95 * misses("random", "L1d")
    prefetches, useful, _, _ = prefetched("random", "2/L1d")
    assert prefetches > 0.9 * DRAWS and useful < 0.1 * prefetches, (prefetches, useful)


def case_without_is_as_alone():
    """A machine counts the same alone and beside others, with or without prefetching."""
    side_by_side()
    view = "SELECT {} FROM {} WHERE level IN ({}) ORDER BY {}"
    columns = "function, file, line, object, loads, cold, capacity, conflict, reuse, used_bytes, evictions"
    for cache, levels in (PLAIN, ("L1d", "L2")), (STRIDE, ("3/L1d", "3/L2")):
        record([program("walks")], "--cache", cache, profile="alone.nmp")
        for level, name in zip(levels, ("L1d", "L2")):
            assert rows(view.format(columns, "counts", f"'{level}'", columns)) == \
                rows(view.format(columns, "counts", f"'{name}'", columns), profile="alone.nmp") != []


def case_sums_close():
    """Lines that left had been loaded or prefetched; evictions by prefetches are counted apart."""
    side_by_side()
    for level, loads, evictions, lines in rows("SELECT level, loads, evictions, size / line_size FROM levels"):
        prefetches, useful, late, pollution = rows(
            "SELECT coalesce(sum(prefetches), 0), coalesce(sum(useful), 0), coalesce(sum(late_evicted), 0), "
            "coalesce(sum(pollution), 0) FROM prefetches WHERE level = ?", level)[0]
        assert 0 <= loads + prefetches - evictions <= lines, level
        assert useful + late <= prefetches
        assert pollution <= rows("SELECT conflict FROM levels WHERE level = ?", level)[0][0]
        count, by_prefetch = rows("SELECT sum(count), sum(prefetches) FROM evictions WHERE level = ?", level)[0]
        assert count == evictions
        assert 0 <= prefetches - by_prefetch <= lines, (level, prefetches, by_prefetch)
    assert rows("SELECT level, prefetch FROM levels WHERE prefetch IS NOT NULL ORDER BY position") == \
        [("2/L1d", "next"), ("3/L1d", "stride"), ("4/L2", "stream")]


def case_report():
    side_by_side()
    done = nearmiss("report", "prefetches", "-i", "p.nmp", "--format", "csv", "--level", "4/L2")
    row = next(csv.DictReader(done.stdout.decode().splitlines()))
    assert (row["level"], row["object"], row["function"]) == ("4/L2", "table", "in_order"), row
    assert float(row["accuracy"]) > 99 and float(row["coverage"]) > 95, row
    assert int(row["prefetches"]) == int(row["useful"]) + int(row["useless"])
    done = nearmiss("report", "prefetches", "-i", "p.nmp", "--format", "csv", "--limit", "0")
    levels = {row["level"] for row in csv.DictReader(done.stdout.decode().splitlines())}
    assert levels == {"2/L1d", "2/L2", "3/L1d", "3/L2", "4/L2"}, levels
    record([program("walks")], "--cache", PLAIN, profile="plain.nmp")
    done = nearmiss("report", "prefetches", "-i", "plain.nmp")
    assert done.returncode == 2 and b"no prefetches" in done.stderr, done


def case_evictions():
    """The matrix and its source lines show evictions by prefetches, if there are any."""
    side_by_side()
    count, by_prefetch = rows("SELECT sum(count), sum(prefetches) FROM evictions WHERE level = '2/L1d'")[0]
    for chosen in [], ["--evictor", "*"]:
        done = nearmiss("evictions", "-i", "p.nmp", "--level", "2/L1d", "--limit", "0", "--format", "csv", *chosen)
        pairs = list(csv.DictReader(done.stdout.decode().splitlines()))
        assert sum(int(pair["count"]) for pair in pairs) == count
        assert sum(int(pair["prefetches"]) for pair in pairs) == by_prefetch > LINES
    share = f"{100 * by_prefetch / count:.1f} % by prefetches".encode()
    assert share in nearmiss("evictions", "-i", "p.nmp", "--level", "2/L1d").stdout
    for level, told in ("2/L1d", True), ("L1d", False):
        done = nearmiss("evictions", "-i", "p.nmp", "--level", level, "--victim", "table")
        assert (b"by prefetch" in done.stdout) == told and b"table" in done.stdout, done
    assert b"prefetch" not in nearmiss("evictions", "-i", "p.nmp", "--level", "L1d").stdout


def case_trace_gives_the_same():
    """Other options change nothing: the stride table knows instructions, not how they are counted."""
    cache = "L1d=32K,8,64,prefetch=stride:L2=256K,8,64,prefetch=stream"
    record([program("walks")], "--cache", cache, "--trace", "t.nmt")
    for options in [], ["--asm"], ["--callgraph"]:
        assert nearmiss("replay", "-q", "-o", "r.nmp", "--cache", cache, *options, "t.nmt").returncode == 0
        for view in "counts", "prefetches", "evictions":
            order = ", ".join(str(i) for i in range(1, 8))
            query = f"SELECT * FROM {view} ORDER BY {order}"
            assert rows(query) == rows(query, profile="r.nmp") != [], (view, options)


def hints(profile="p.nmp"):
    """By level and object: prefetches, useful, redundant ones; non-temporal stores."""
    order = "GROUP BY level, object ORDER BY level, object"
    return (rows(f"SELECT level, object, sum(prefetches), sum(useful), sum(redundant) FROM prefetches {order}", profile=profile),
            rows(f"SELECT level, object, sum(stores) FROM non_temporal {order}", profile=profile))


def case_of_the_program():
    """hints.c prefetches 100 lines that nobody uses: T0 into both levels; T1 and T2 find them in the second, the others in the
    first. Its stores past the caches are neither hits nor misses. A replay, call chains and further cores change nothing."""
    cache = "L1d=32K,8,64:L2=256K,8,64"
    record([program("hints")], "--cache", cache, "--trace", "t.nmt")
    wanted = ([("L1d", "table", 100, 0, 200), ("L2", "table", 100, 0, 200)],
              [(level, name, 100) for level in ("L1d", "L2") for name in ("past", "vectors", "words")])
    assert hints() == wanted, hints()
    assert rows("SELECT sum(writes), sum(write_misses), sum(loads) FROM counts WHERE level = 'L1d' AND object = 'past'") == \
        [(100, 0, 0)]
    for options in ["--cores", "1"], ["--callgraph"], ["--asm"], ["--instr"], ["--cores", "3"], ["--threads", "1"]:
        assert nearmiss("replay", "-q", "-o", "r.nmp", "--cache", cache, *options, "t.nmt").returncode == 0
        assert hints("r.nmp") == wanted, (options, hints("r.nmp"))
    shown = nearmiss("report", "prefetches", "-i", "p.nmp", "--format", "csv").stdout.decode().splitlines()
    assert {(row["level"], row["prefetches"], row["redundant"]) for row in csv.DictReader(shown)} == \
        {("L1d", "100", "200"), ("L2", "100", "200")}, shown


SMALL = "L1d=16K,8,64:L2=64K,16,64,latency=14:L3=256K,16,64,latency=40:memory=100"


def case_slow_model():
    """On the stream of a hash join, and of each kind of hint, the twin of the models counts the same."""
    for command in [program("hints")], *([program("hash-join"), "17", "2000", ahead] for ahead in ("0", "1", "16", "64")):
        record(command, "--cache", SMALL, "--trace", "t.nmt")
        slow = subprocess.run([os.environ["SLOW_MODEL"], "t.nmt", SMALL], capture_output=True, check=True).stdout.decode()
        counted = rows("SELECT l.level, l.read_misses + l.write_misses, (SELECT total(prefetches) FROM prefetches p WHERE "
                       "p.level = l.level), (SELECT total(useful) FROM prefetches p WHERE p.level = l.level), (SELECT "
                       "total(redundant) FROM prefetches p WHERE p.level = l.level), (SELECT total(late) FROM prefetches p "
                       "WHERE p.level = l.level), (SELECT total(stores) FROM non_temporal n WHERE n.level = l.level) "
                       "FROM levels l ORDER BY l.position")
        assert [tuple([name, *map(int, figures)]) for name, *figures in (line.split() for line in slow.splitlines())] == \
            [(level, *map(int, figures)) for level, *figures in counted], (command, slow, counted)


def case_advice():
    """Of a join: a table that fits the second level needs no prefetches; one probe ahead is too late, 600 lines are more than
    the first level holds, and 40 are well."""
    for bits, ahead, wanted in (("15", "40", b"prefetch useless"), ("19", "1", b"prefetch too late"),
                                ("19", "600", b"prefetch too early"), ("19", "40", None)):
        record([program("hash-join"), bits, "20000", ahead], "--cache", SMALL)
        shown = b" ".join(nearmiss("report", "-i", "p.nmp").stdout.split())
        assert (wanted in shown) if wanted else (b"prefetch useless" not in shown and b"prefetch too" not in shown), shown
        assert (b"the program's prefetches save" in shown) == (wanted != b"prefetch too early"), shown


def case_nest():
    """Two references of one source line to one array, each with its own stride."""
    with open("n.nest", "w", encoding="ascii") as f:
        f.write("array X(8192) of real*8\narray Y(8192) of real*8\n"
                "for i = 1 to 4000\n  read X(i), X(8001 - 2*i + 191)\nend\n")
    done = nearmiss("nest", "-q", "-o", "n.nmp", "--cache", "L1d=32K,8,64,prefetch=stride,cross=yes", "n.nest")
    assert done.returncode == 0, done
    loads, prefetches, useful = rows("SELECT (SELECT loads FROM levels), sum(prefetches), sum(useful) FROM prefetches",
                                     profile="n.nmp")[0]
    assert loads < 10 and prefetches > 1000 and useful > 0.95 * prefetches, (loads, prefetches, useful)


def case_monitor():
    """Prefetches are events of their own, not loads."""
    record([program("walks")], "--cache", NEXT, "--trace", "t.nmt")
    done = nearmiss("monitor", "-i", "t.nmt", "--cache", NEXT, "--format", "csv")
    first = next(csv.DictReader(done.stdout.decode().splitlines()))
    assert first["level"] == "L1d" and int(first["prefetch"]) == rows(
        "SELECT sum(prefetches) FROM prefetches WHERE level = 'L1d'")[0][0], first
    assert int(first["load"]) == rows("SELECT loads FROM levels WHERE level = 'L1d'")[0][0], first


def case_refusals():
    for spec, column, why in (
            ("L1d=32K,8,64,prefetch=all", 22, b"no, next, stride or stream"),
            ("L1d=32K,8,64,degree=2", 20, b"are of prefetch="),
            ("L1d=32K,8,64,prefetch=next,table=4", 33, b"no table"),
            ("L1d=32K,8,64:L2=1M,16,64,inclusion=exclusive,prefetch=next", 54, b"does not prefetch"),
            ("L1d=32K,8,64,prefetch=next:L2=1M,16,64,policy=opt", 27, b"a level before it prefetches")):
        done = nearmiss("record", "--cache", spec, "--", "true")
        assert done.returncode == 2 and why in done.stderr, done
        assert done.stderr.splitlines()[2].index(b"^") - 2 == column, done


if __name__ == "__main__":
    main(globals())
