# SPDX-License-Identifier: MIT
"""test_monitor.py - single events of programs: counts, histograms and histories agree with the profile of the same run,
and with itself."""

import csv
import io
from collections import Counter

from harness import MISSES, SPEC, main, need, nearmiss, program, record, rows

SMALL = "L1d=4K,2,64:L2=64K,8,64"


def table(*options, command=(), cache=SPEC, status=0):
    """The rows that monitor writes as CSV, numbers as such."""
    done = nearmiss("monitor", "-q", "--cache", cache, "--format=csv", "--limit=0", "-o", "t.csv", *options, *command)
    assert done.returncode == status, done
    assert not done.stderr, done
    with open("t.csv", encoding="utf-8") as f:
        return [{k: int(v) if v.isdigit() else v for k, v in row.items()} for row in csv.DictReader(f)]


def total(found, column):
    return sum(row[column] for row in found)


def levels(profile="p.nmp"):
    found = rows("SELECT level, sum(read_misses + write_misses), sum(loads), sum(evictions) FROM levels GROUP BY level "
                 "ORDER BY level", profile=profile)
    return [tuple(row) for row in found]


def case_live_and_replayed_agree():
    matrix = [program("matrix"), "rows"]
    record(matrix, "-q", "--trace", "t.nmt")
    for options in ([], ["--histogram=line"], ["--histogram=set", "--level=L2"], ["--object=matrix"],
                    ["--event=replace", "--nth=1000"],
                    ["--event=replace", "--object=matrix", "--log", "--nth=900", "--limit=40"]):
        live = table(*options, command=("--", *matrix))
        assert live
        for threads in ("1", "3"):
            assert table(*options, "-i", "t.nmt", "--threads", threads) == live, options


def case_figures_of_the_profile():
    """Counts agree with the profile: in total, by object, by function."""
    record([program("matrix"), "columns"], "-q", "--trace", "t.nmt")
    found = table("-i", "t.nmt")
    assert [(r["level"], r["miss"], r["load"], r["replace"]) for r in found] == levels()
    where = {"--object=matrix": "object = 'matrix'", "--function=main": "function = 'main'",
             "--function=*rtld*": "function GLOB '*rtld*'"}
    for option, condition in where.items():
        picked = table("-i", "t.nmt", option)
        for row in picked:
            misses, loads = rows(f"SELECT sum(read_misses + write_misses), sum(loads) FROM counts WHERE {condition} "
                                 "AND level = ?", row["level"])[0]
            assert (row["miss"], row["load"]) == (misses, loads), (option, row)
    for row in table("-i", "t.nmt", "--object=matrix", "--event=replace"):
        assert row["replace"] == rows("SELECT sum(count) FROM evictions WHERE victim = 'matrix' AND level = ?",
                                      row["level"])[0][0]
    references = rows("SELECT sum(reads + writes) FROM counts WHERE level = 'L1d' AND object = 'matrix'")[0][0]
    lines = table("-i", "t.nmt", "--histogram=line", "--object=matrix")
    assert total(lines, "L1d") + total(lines, "L2") + total(lines, "memory") == references
    assert total(lines, "memory") == rows("SELECT sum(loads) FROM counts WHERE level = 'L2' AND object = 'matrix'")[0][0]


def case_histograms_are_sums():
    """Lines, granules and sets share out the same events."""
    record([program("matrix"), "rows"], "-q", "--trace", "t.nmt")
    trace = ("-i", "t.nmt", "--level=L1d")
    whole = table(*trace, cache=SMALL)[0]
    for unit in ("line", "8", "4096", "set"):
        found = table(*trace, f"--histogram={unit}", cache=SMALL)
        for event in ("hit", "miss", "load", "replace"):
            assert total(found, f"L1d_{event}") == whole[event], (unit, event)
    assert len(table(*trace, "--histogram=set", cache=SMALL)) == 32
    found = table(*trace, "--histogram=line", "--sort=L1d_replace", cache=SMALL)
    order = [row["L1d_replace"] for row in found]
    assert order == sorted(order, reverse=True) and order[0] > order[-1]


def case_sequence_and_nth():
    """The history of the line that is replaced most often, as a whole and event by event."""
    record([program("matrix"), "columns"], "-q", "--trace", "t.nmt")
    line = table("-i", "t.nmt", "--histogram=line", "--level=L1d", "--sort=L1d_replace", cache=SMALL)[0]
    assert line["L1d_replace"] > 3
    stays = table("-i", "t.nmt", "--level=L1d", f"--sequence={line['address']}", cache=SMALL)
    gone = [stay for stay in stays if stay["replaced"]]
    assert len(stays) == line["L1d_load"] and len(gone) == line["L1d_replace"]
    assert total(stays, "hits") == line["L1d_hit"]
    at = [number for stay in stays for number in (stay["loaded"], stay["replaced"]) if number]
    assert at == sorted(at), at
    for n in (1, 2, len(gone)):
        told = table("-i", "t.nmt", "--level=L1d", "--event=replace", f"--range={line['address']}+64", f"--nth={n}",
                     cache=SMALL)[0]
        stay = gone[n - 1]
        assert (told["reference"], told["function"], told["line"], told["object"], told["memory_line"]) == \
            (stay["replaced"], stay["evictor_function"], stay["evictor_line"], stay["evictor"], line["address"])
        assert told["victim"] == stay["object"]
    limited = table("-i", "t.nmt", "--level=L1d", f"--sequence={line['address']}", "--limit=2", cache=SMALL)
    assert limited == stays[:2]


def case_log():
    """Events in their order, with names: as many as the profile has misses of an object, in a function, on a field, in a set;
    the n-th that passes is the n-th of them."""
    record([program("list")], "-q", "--trace", "t.nmt")
    nodes = ("-i", "t.nmt", "--level=L1d", "--object=node*")
    log = table(*nodes, "--event=miss", "--log")
    misses, = rows(f"SELECT {MISSES} FROM counts WHERE object GLOB 'node*' AND level = 'L1d'")[0]
    assert len(log) == misses > 100000 and {row["times"] for row in log} == {1}
    for column in ("reference", "instructions"):
        at = [row[column] for row in log]
        assert at == sorted(at) and at[0] > 0, column
    assert {row["object"] for row in log} == {log[0]["object"]}
    by_line = rows(f"SELECT line, {MISSES} FROM counts WHERE object GLOB 'node*' AND level = 'L1d' GROUP BY line HAVING "
                   f"{MISSES} > 0 ORDER BY line")
    assert [tuple(row) for row in by_line] == sorted(Counter(row["line"] for row in log).items())
    fields = Counter(row["field"] for row in log)  # the last nodes are freed before anyone looks
    assert fields["value"] > 0.8 * len(log) and set(fields) <= {"next", "value", ""}, fields
    walk = [row for row in log if row["function"] == "walk"]
    for n in (1, 7, 30000, len(walk)):
        options = (*nodes, "--event=miss", "--function=walk", f"--nth={n}")
        assert table(*options) == [walk[n - 1]], n
        assert table(*options, "--log", "--limit=3") == walk[n - 1:n + 2], n
    done = nearmiss("monitor", "-q", "--cache", SPEC, *options[:-1], f"--nth={len(walk) + 1}")
    assert f"there were only {len(walk)} such events" in done.stderr.decode(), done
    in_set = table(*nodes, "--event=miss", "--set=5", "--log")
    assert in_set == [row for row in log if row["set"] == 5] and in_set
    assert table("-i", "t.nmt", "--event=miss", "--set=5", "--log", "--nth=200", "--limit=9") == \
        table("-i", "t.nmt", "--level=L1d", "--event=miss", "--set=5", "--log")[199:208]


def case_instructions_at_the_nth():
    """How many instructions were executed by then: what was fetched in between the references, and up to the end of the
    block; the same with any number of threads, live and from a trace; so many more for each turn of a loop."""
    with open("in.csv", "w", encoding="utf-8") as f:  # a line is an instruction
        f.write("addr,rw,pc\n" + "".join(f"{64 * i},r,{4 * i % 64}\n" for i in range(20000)))
    for n in (1, 8192, 8193, 20000):
        told, = table("-i", "in.csv", "--level=L1d", "--event=load", f"--nth={n}")
        assert told["reference"] == told["instructions"] == n, told
    matrix = ("--", program("matrix"), "columns")
    record([program("matrix"), "columns"], "-q", "--trace", "t.nmt")
    cache = "L1i=4K,2,64:L1d=32K,8,64"
    at = {}
    for n in (1, 500, 20000, 20010, 20500, 60000):
        options = ["--level=L1d", "--event=replace", f"--nth={n}"]
        told, = table(*options, "-i", "t.nmt", cache=cache)
        at[n] = told["instructions"]
        for threads in ("1", "2", "3"):
            assert table(*options, "-i", "t.nmt", "--threads", threads, cache=cache) == [told], threads
        fetching, = table(*options, "-i", "t.nmt", "--instr", cache=cache)
        assert fetching["instructions"] == at[n] and fetching["line"] == told["line"], (fetching, told)
        rest = fetching["reference"] - told["reference"] - at[n]
        assert 0 <= rest < 100, (n, rest)
    assert table(*options, cache=cache, command=matrix) == [told]
    assert (at[20500] - at[20000]) == 50 * (at[20010] - at[20000]) > 0, at
    assert at[60000] < rows("SELECT instructions FROM processes")[0][0]


def case_profile():
    """The profile is that of a recording, and its events add up to the table."""
    cache = "L1d=4K,2,64:L2=4K,4,64,inclusion=inclusive"
    record([program("matrix"), "columns"], "-q", "--cache", cache, "--trace", "t.nmt")
    for options in ([], ["--histogram=line"], ["--histogram=4096", "--event=load,replace,invalidate"],
                    ["--histogram=set", "--level=L1d"]):
        found = table("-i", "t.nmt", *options, cache=cache)
        assert table("-i", "t.nmt", *options, "--profile=m.nmp", cache=cache) == found, options
        for view in ("levels", "counts", "evictions"):
            assert rows(f"SELECT * FROM {view}", profile="m.nmp") == rows(f"SELECT * FROM {view}"), (options, view)
        place = "coalesce(cache_set, address, level)"
        kept = dict(rows(f"SELECT {place}, sum(count) FROM events GROUP BY 1", profile="m.nmp"))
        names = {"process", "level", "set", "address", "object", "plot"}
        told = {}
        for row in found:
            at = int(row["address"], 16) if "address" in row else row.get("set", row.get("level"))
            told[at] = sum(n for column, n in row.items() if column not in names)
        assert kept == {at: n for at, n in told.items() if n}, options
    assert rows("SELECT level, sum(evictions) FROM sets GROUP BY 1", profile="m.nmp") == \
        rows("SELECT level, evictions FROM levels WHERE level = 'L1d'")
    assert rows("SELECT sum(count) FROM events WHERE event = 'invalidate'", profile="m.nmp")[0][0] > 100
    done = nearmiss("monitor", "-q", "--cache", cache, "--profile", "no-such-folder/p.nmp", "-i", "t.nmt")
    assert done.returncode == 122 and done.stderr.startswith(b"nearmiss: cannot write"), done


def case_debian_program():
    gzip = need("gzip")
    with open("in", "wb") as f:
        f.write(bytes(range(256)) * 300)
    record([gzip, "-c", "in"], "-q")
    found = table(command=("--", gzip, "-c", "in"))
    assert [(r["level"], r["miss"], r["load"], r["replace"]) for r in found] == levels()
    name, loads = rows("SELECT object, sum(loads) FROM counts WHERE level = 'L2' GROUP BY object ORDER BY 2 DESC")[0]
    lines = table(f"--object={name}", "--histogram=line", command=("--", gzip, "-c", "in"))
    assert total(lines, "memory") == loads > 100, (name, loads)


def references(name, *options):
    """Accesses to a slice, which are at one level or another."""
    found = table("-i", "t.nmt", f"--object={name}", "--event=hit,load", *options)
    return total(found, "hit") + found[-1]["load"]


def case_slices():
    """Row i of each array is visited i + 1 times: globals, blocks of structures, blocks whose layout is told."""
    record([program("slices")], "-q", "--trace", "t.nmt")
    names = [name for name, in rows("SELECT object FROM objects")]
    items = next(name for name in names if "struct item" in name or name.startswith("items"))
    flat = next(name for name in names if name.startswith("flat"))
    expected = {
        "grid[3]": 4 * 32, "grid[3:5]": 9 * 32, "grid[14:]": 31 * 32, "grid[:2][31]": 3, "grid[:][0:2]": 2 * 136,
        "gri*[0]": 32, f"{items}[3]": 2 * 4, f"{items}[:].price": 2 * 136, f"{items}[15].price": 2 * 16,
        f"{items}[15].count": 0, f"{flat}[33]@8": 2, f"{flat}[1:3]@8[16][32]": 5 * 32, f"{flat}(1:2,16)@8(32,16)": 2 * 16,
    }
    for name, count in expected.items():
        for threads in ("1", "2"):
            assert references(name, "--threads", threads) == count, name
    assert references("grid[3]", "--range=0+1") == 0
    lines = table("-i", "t.nmt", "--object=grid[3:5]", "--histogram=line")
    assert total(lines, "L1d") + total(lines, "L2") + total(lines, "memory") == 9 * 32 and len(lines) == 4
    live = table("--object=grid[3]", command=("--", program("slices")))
    assert live == table("-i", "t.nmt", "--object=grid[3]") == table("-i", "t.nmt", "--object=grid[3]", "--profile=m.nmp")
    assert rows("SELECT sum(count) FROM events WHERE event = 'hit'", profile="m.nmp")[0][0] == live[0]["hit"]
    refused = {"grid[16]": "reaches beyond", "grid[0][0][0]": "dimensions", f"{items}[0].weight": "no field",
               f"{flat}[3]": "[3]@8[100][64]", "none[3]": "no object"}
    for name, told in refused.items():
        done = nearmiss("monitor", "-q", "--cache", SPEC, "-i", "t.nmt", f"--object={name}")
        assert done.returncode == 2 and told in done.stderr.decode(), (name, done.stderr)
    done = nearmiss("monitor", "--object", "grid[5:3]", "-i", "t.nmt")
    assert done.returncode == 2 and b"selects nothing" in done.stderr, done
    for command in (["report", "--object=grid[3]"], ["evictions", "--victim=grid[3]"],
                    ["annotate", "--object=grid[3]", "slices.c"]):
        done = nearmiss(*command, "-i", "p.nmp")
        assert done.returncode == 2 and b"nearmiss monitor --object 'grid[3]'" in done.stderr, (command, done)


def case_slices_of_a_nest():
    with open("n.nest", "w", encoding="utf-8") as f:
        f.write("array A[8][16] of real*8\nfor i = 0 to 7\n  for j = 0 to 15\n    A[i][j] = 0\n  end\nend\n")
    done = nearmiss("nest", "--trace", "t.nmt", "--cache", SPEC, "n.nest")
    assert done.returncode == 0, done.stderr
    assert references("A[0:24]@8") == 24 and references("A[5]@8[8][16]") == 16


def case_program_keeps_its_own():
    """Input, output and status are the program's; the table goes to standard error, or where --output says."""
    command = ("monitor", "-q", "--cache", SPEC, "--event=miss", "--format=csv")
    done = nearmiss(*command, "--", "sh", "-c", "cat; exit 7", stdin=b"as it came\n")
    assert done.returncode == 7 and done.stdout == b"as it came\n", done
    found = list(csv.DictReader(io.StringIO(done.stderr.decode())))
    assert {row["level"] for row in found} == {"L1d", "L2"} and {row["process"] for row in found} > {"cat"}
    done = nearmiss(*command, "-o", "t.csv", "--", "sh", "-c", "echo out")
    assert done.returncode == 0 and done.stdout == b"out\n" and not done.stderr, done
    done = nearmiss(*command, "--", "./no-such-program")
    assert done.returncode == 127, done


def case_fetches():
    cache = "L1i=8K,4,64:L1d=4K,2,64:L2=64K,8,64"
    matrix = [program("matrix"), "rows"]
    record(matrix, "-q", "--instr", "--cache", cache, "--trace", "t.nmt")
    found = {row["level"]: row for row in table("--instr", "-i", "t.nmt", cache=cache)}
    for level, misses, loads, evictions in levels():
        row = found[level]
        assert (row["miss"], row["load"], row["replace"]) == (misses, loads, evictions), row
    served = table("--instr", "-i", "t.nmt", "--histogram=line", cache=cache)
    assert total(served, "L1i") == found["L1i"]["hit"] and total(served, "memory") == found["L2"]["load"]


def case_cores():
    """Counts are sums over the cores; each core has its own residencies, and loses some to what others write."""
    threads = [program("threads")]
    cores = ("--cores", "3", "--map", "1=1,2=0")
    record(threads, "-q", "--cache", SMALL, *cores, "--trace", "t.nmt")
    assert len({core for core, in rows("SELECT core FROM threads")}) == 3
    left = table(*cores, "-i", "t.nmt", "--event=miss,load,replace,invalidate", cache=SMALL)
    assert [(r["level"], r["miss"], r["load"], r["replace"] + r["invalidate"]) for r in left] == levels()
    found = table(*cores, "-i", "t.nmt", cache=SMALL)
    assert table(*cores, "-i", "t.nmt", "--threads", "1", cache=SMALL) == found
    assert table(*cores, cache=SMALL, command=("--", *threads)) == found
    assert table("-i", "t.nmt", cache=SMALL) != found
    lines = table(*cores, "-i", "t.nmt", "--histogram=line", "--level=L1d", cache=SMALL)
    for line in sorted(lines, key=lambda r: -r["L1d_load"])[:20]:  # one that several cores load
        stays = table(*cores, "-i", "t.nmt", "--level=L1d", f"--sequence={line['address']}", cache=SMALL)
        assert len(stays) == line["L1d_load"] and total(stays, "hits") == line["L1d_hit"]
        if len({stay["core"] for stay in stays}) > 1:
            break
    else:
        raise AssertionError("no line is loaded by several cores")
    for core in range(3):
        own = [stay for stay in stays if stay["core"] == core]
        assert all(a["replaced"] and a["replaced"] <= b["loaded"] for a, b in zip(own, own[1:])), own
    gone = sorted((stay["replaced"], stay["core"]) for stay in stays if stay["replaced"])
    for n in (1, len(gone)):
        told, = table(*cores, "-i", "t.nmt", "--level=L1d", "--event=replace", f"--range={line['address']}+64", f"--nth={n}",
                      cache=SMALL)
        assert (told["reference"], told["core"]) == gone[n - 1], (told, gone)
    shared, = table(*cores, "-i", "t.nmt", "--level=L2", "--event=load", "--nth=9", cache=SMALL)
    assert shared["core"] == "", shared
    alone, = table("-i", "t.nmt", "--level=L1d", "--event=load", "--nth=9", cache=SMALL)
    assert alone["core"] == "", alone
    done = nearmiss("monitor", "--map", "1=0", "-i", "t.nmt")
    assert done.returncode == 2 and b"--cores" in done.stderr, done


if __name__ == "__main__":
    main(globals())
