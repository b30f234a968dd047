# SPDX-License-Identifier: MIT
"""test_nest.py - the nests of examples/ through the command: the figures that papers print for them."""

import csv
import json
import os

from harness import MISSES, TOP, counts, main, nearmiss, program, rows

USAGE, BAD_INPUT, NO_OUTPUT = 2, 121, 122
ALPHA = "L1d=8K,1,32"  # of the Alpha 21164, as in "A Cache Visualization Tool"


def example(name):
    return os.path.join(TOP, "examples", name)


def nest(name, *arguments, cache=ALPHA):
    done = nearmiss("nest", example(name), "-q", "-o", "p.nmp", "--cache", cache, *arguments)
    assert done.returncode == 0 and not done.stdout and not done.stderr, done
    found = rows(f"SELECT function, {MISSES}, sum(cold), sum(conflict) FROM counts WHERE level = 'L1d' GROUP BY 1")
    return {function: (misses, cold, conflict) for function, misses, cold, conflict in found}


def table(name, *arguments, cache=ALPHA):
    """The rows of a sweep, as numbers."""
    done = nearmiss("nest", example(name), "--cache", cache, "--format=csv", *arguments)
    assert done.returncode == 0, done
    return [{key: int(value) for key, value in row.items()} for row in csv.DictReader(done.stdout.decode().splitlines())]


def case_blocked_product():
    """Paper 2, figures 4, 5 and 8.  Each line serves eight iterations: 120 = 30 * 32 / 8."""
    rest = {"X(k,i)": (16, 16, 0), "Z(j,i)": (16, 16, 0), "Z(j,i) =": (0, 0, 0)}
    assert nest("blocked.nest") == {**rest, "Y(j,k)": (120, 120, 0)}
    assert nest("blocked.nest", "--set", "N=256") == {**rest, "Y(j,k)": (480, 120, 360)}
    assert nest("blocked.nest", "N=256", cache=ALPHA + ",sets=253") == {**rest, "Y(j,k)": (252, 120, 132)}
    warm = nest("blocked.nest", "N=256", "WARM=1", cache=ALPHA + ",sets=253")
    assert warm["Y(j,k)"] == (176, 0, 176), warm
    assert warm["Y(j,k) (warm-up)"] == (120, 120, 0), warm
    objects = rows("SELECT object, kind, bytes FROM objects WHERE kind = 'named' ORDER BY 1")
    assert objects == [(name, "named", 256 * 256 * 4) for name in "XYZ"], objects
    lines = rows("SELECT DISTINCT file, line FROM counts WHERE object = 'Y'")
    assert lines == [(example("blocked.nest"), 20)], lines


def all_counts(name, *arguments, cache):
    """Every count of every row and level, and all evictions."""
    nest(name, *arguments, cache=cache)
    evictions = rows("SELECT level, file, line, evictor, victim, count FROM evictions")
    return counts(), sorted(evictions, key=repr)


def case_belady():
    """A nest is run twice for policy=opt; its profile and its table agree, and no policy loads less."""
    small = "L1d=2K,4,32"
    misses = {p: {name: n for name, (n, _, _) in nest("blocked.nest", "N=256", cache=f"{small},policy={p}").items()}
              for p in ("lru", "fifo", "tree-plru", "srrip", "opt")}
    total = {p: sum(found.values()) for p, found in misses.items()}
    assert total["opt"] < min(n for p, n in total.items() if p != "opt"), total
    row = table("blocked.nest", "--sweep", "N=256:256", "--by", "references", cache=f"{small},policy=opt")[0]
    assert sum(row.values()) - 256 == total["opt"], (row, misses)


def case_mersenne_caches():
    """The designs of paper 2, 2^n - 1 and 2^n - 3 lines, are the same by division and by the plug-in, which adds."""
    design = program("mersenne.so")
    for size in (224, 256):
        whole = ("blocked.nest", f"N={size}", "WARM=1")
        for sets in (253, 255):
            option = all_counts(*whole, cache=f"{ALPHA},sets={sets}:L2=64K,4,64")
            assert option == all_counts(*whole, cache=f"{ALPHA},sets={sets},plugin={design}:L2=64K,4,64")
        assert all_counts(*whole, cache="L1d=2K,2,32:L2=64K,1,64,sets=1021") == \
            all_counts(*whole, cache=f"L1d=2K,2,32:L2=64K,1,64,sets=1021,plugin={design}")
    assert nest("blocked.nest", "N=256", cache=f"{ALPHA},sets=253,plugin={design}")["Y(j,k)"] == (252, 120, 132)
    assert nest("blocked.nest", "N=256", cache=ALPHA)["Y(j,k)"] == (480, 120, 360)
    assert rows("SELECT policy FROM levels") == [("lru",)]


def case_plugins():
    """A plug-in that does what nearmiss does by itself changes no count, at any level."""
    design = program("design.so")
    for l1, l2 in ((",policy=lru", ""), ("", ",write=through"), (",allocate=no", ""), ("", ",inclusion=inclusive"),
                   ("", ",inclusion=exclusive")):
        spec = "L1d=1K,2,32{}:L2=2K,4,32{}:L3=4K,full,32"
        without = all_counts("blocked.nest", "N=256", cache=spec.format(l1, l2))
        plugged = f",plugin={design}"
        first = l1.replace(",policy=lru", "") + plugged
        assert without == all_counts("blocked.nest", "N=256", cache=spec.format(first, l2))
        assert without == all_counts("blocked.nest", "N=256", cache=spec.format(l1, l2 + plugged))
        assert without == all_counts("blocked.nest", "N=256", cache=spec.format(l1, l2) + plugged)
    assert rows("SELECT level, policy FROM levels ORDER BY 1") == [("L1d", "lru"), ("L2", "lru"), ("L3", "plugin")]


def case_sets():
    """Blocks of 30 columns, each of 4 lines, with 32 lines from one to the next: 8 columns fill the sets once, so 6 of
    8 have four columns upon each other, the others three.  In 4 iterations each load but the first evicts."""
    assert nest("blocked.nest", "N=256", "--sets", "--trace=p.nmt")["Y(j,k)"] == (480, 120, 360)
    by_set = rows("SELECT sum(count * (event = 'load')), sum(count * (event = 'replace')) FROM events WHERE object = 'Y' AND "
                  "coalesce(victim, 'Y') = 'Y' GROUP BY cache_set ORDER BY 1")
    assert by_set == [(4 * 3, 4 * 3 - 1)] * 8 + [(4 * 4, 4 * 4 - 1)] * 24, by_set
    events = rows("SELECT * FROM events")
    assert rows("SELECT level, sum(loads), sum(evictions) FROM sets GROUP BY 1") == rows("SELECT level, loads, evictions FROM levels")
    done = nearmiss("evictions", "--sets", "-i", "p.nmp")
    assert done.returncode == 0 and b"All objects evicted 448 lines from L1d; half of them from 15 of its 256 sets" in \
        done.stdout, done
    with_sets = counts()
    done = nearmiss("replay", "-q", "--sets", "--cache", ALPHA, "-o", "p.nmp", "p.nmt")
    assert done.returncode == 0 and rows("SELECT * FROM events") == events, done
    nest("blocked.nest", "N=256")
    assert counts() == with_sets and not rows("SELECT * FROM events")
    nest("blocked.nest", "N=256", "--sets", cache="L1d=8K,4,32,policy=opt")  # looks ahead in a run of its own
    assert rows("SELECT sum(loads), sum(evictions) FROM sets") == rows("SELECT loads, evictions FROM levels")
    for option in ("--print", "--list=1:2", "--sweep=N=8:9"):
        done = nearmiss("nest", example("blocked.nest"), "--sets", option)
        assert done.returncode == USAGE and b"--sets" in done.stderr and not done.stdout, done


def case_cross_interference():
    """Paper 2, figures 2 and 3: without the fix both X miss almost equally often, with it X(j,i) hardly does."""
    without = nest("interference.nest")
    assert without == {"X(j,i+1)": (1251, 1251, 0), "Y(j,i)": (1250, 1250, 0), "X(j,i) =": (1250, 12, 1238)}, without
    with_fix = nest("interference.nest", "--set=Y=X+40448")
    assert with_fix == {"X(j,i+1)": (1251, 1251, 0), "Y(j,i)": (1250, 1250, 0), "X(j,i) =": (12, 12, 0)}, with_fix


def case_distance_of_two_arrays():
    """The same over d = (Y - X) mod 8192: interference from 28 to 372, none from 432 to 8160, between them ping-pong."""
    first = 0x100000 + 81920
    found = []
    for low, high, step in ((0, 508, 4), (512, 8128, 32), (8132, 8188, 4)):
        found += table("interference.nest", "--by=references", f"--sweep=Y={first + low}:{first + high}:{step}")
    assert len(found) == 128 + 239 + 15
    most = 0
    for row in found:
        d = row["Y"] - first
        figures = (row["X(j,i+1)"], row["Y(j,i)"] - (d % 32 != 0), row["X(j,i) ="])  # Y starts within a line
        if 28 <= d <= 372:
            assert figures == (1251, 1250, 1250), row
        elif 432 <= d <= 8160:
            assert figures == (1251, 1250, 12), row
        else:
            most = max(most, *figures)
    assert most == 10000, most


def case_sweep():
    found = table("blocked.nest", "--sweep", "N=200:256:8")
    assert [row["N"] for row in found] == [200, 208, 216, 224, 232, 240, 248, 256]
    for row in found:
        single = nest("blocked.nest", f"N={row['N']}")
        assert row["Y"] == single["Y(j,k)"][0] and row["X"] == single["X(k,i)"][0], (row, single)
        assert row["Z"] == single["Z(j,i)"][0] + single["Z(j,i) ="][0], (row, single)
    warm = table("blocked.nest", "--sweep=N=256:256", "WARM=1", cache=ALPHA + ",sets=253")
    assert warm == [{"N": 256, "X": 16, "Z": 16, "Y": 176}], warm  # what warms up is left out
    second = table("blocked.nest", "--sweep=N=224:256:32", "--level=L2", cache=ALPHA + ":L2=1M,16,64")
    assert [row["Y"] for row in second] == [60, 60], second
    done = nearmiss("nest", example("blocked.nest"), "--cache", ALPHA, "--sweep=N=224:256:32", "--format=json")
    document = json.loads(done.stdout)
    assert document["report"] == "sweep" and document["level"] == "L1d", document
    assert document["rows"][1] == {"N": 256, "X": 16, "Z": 16, "Y": 480}, document


def case_one_sum_in_two_orders():
    """Paper 1, table 1: loads and reuse of the line that sums."""
    def sums():
        return rows("SELECT level, sum(loads), sum(used_bytes) * 100.0 / sum(loaded_bytes), sum(reuse) * 1.0 / sum(loads) "
                    "FROM counts WHERE line = 18 GROUP BY 1 ORDER BY 1")

    caches = "L1d=32K,8,64:L2=1M,8,64"
    nest("order.nest", cache=caches)
    assert sums() == [("L1d", 62500, 100, 16), ("L2", 62500, 100, 16)], sums()
    nest("order.nest", "WRONG=1", cache=caches)
    l1, l2 = sums()
    assert l1 == ("L1d", 1000000, 6.25, 1), l1
    assert l2[1] == 60190 and round(l2[2], 1) == 99.3 and round(l2[3], 1) == 15.9, l2


def case_product_with_a_transpose():
    """Paper 1, table 2, with the addresses and the stack line of that time."""
    for settings, first, second in (((), 1124001, 176399), (("BLOCK=50",), 219513, 175796)):
        nest("transpose.nest", *settings, cache="L1d=32K,8,64:L2=1M,8,64")
        found = rows("SELECT sum(loads) FROM counts WHERE line = 23 GROUP BY level ORDER BY level")
        assert found == [(first,), (second,)], found


def case_sparse_matrix():
    """Index arrays: their values are used as subscripts, and reading them counts."""
    nest("sparse.nest")
    found = dict(rows("SELECT object, sum(reads + writes) FROM counts GROUP BY 1"))
    assert found == {"ROW": 12, "COLUMN": 13, "VALUE": 13, "x": 13, "y": 26}, found


def case_summary_and_reports():
    done = nearmiss("nest", example("blocked.nest"), "--cache", ALPHA, "-s", "N=256", "-s", "WARM=1")
    assert done.returncode == 0 and not done.stdout, done
    text = done.stderr.decode()
    assert f"command     {example('blocked.nest')} N=256 WARM=1\n" in text, text
    assert "blocked.nest:20 (Y(j,k))" in text, text
    assert rows("SELECT value FROM info WHERE key = 'collector'", profile="nearmiss.nmp") == [("nest",)]
    text = nearmiss("report", "pairs", "--format=csv").stdout.decode()
    assert "Y(j,k)" in text and example("blocked.nest") in text, text
    text = nearmiss("annotate", "--context=0").stdout.decode()
    assert "Z(j, i) = Z(j, i) + reg * Y(j, k)" in text, text
    one, two = (nest("blocked.nest", "I=N", f"--threads={n}", cache="L1d=32K,8,64:L2=64K,8,64") for n in (1, 2))
    assert one == two


def case_trace():
    """A nest's trace gives the nest's profile again."""
    cache = "L1d=8K,1,32:L2=64K,4,64"
    nest("blocked.nest", "N=100", "I=50", "K=2", "WARM=1", "--trace=t.nmt", cache=cache)
    assert os.path.getsize("t.nmt") > 0
    direct = rows("SELECT * FROM counts ORDER BY 1, 2, 3, 4, 5, 6, 7")
    assert len(direct) > 10
    done = nearmiss("replay", "t.nmt", "-q", "-o", "r.nmp", "--cache", cache)
    assert done.returncode == 0, done
    assert rows("SELECT * FROM counts ORDER BY 1, 2, 3, 4, 5, 6, 7", profile="r.nmp") == direct


def refused(status, *arguments, words=()):
    done = nearmiss("nest", *arguments)
    text = done.stderr.decode()
    assert done.returncode == status and not done.stdout, (arguments, done)
    assert text.startswith("nearmiss: ") and all(word in text for word in words), text
    assert "Sanitizer" not in text and "runtime error" not in text, text


def case_refusals():
    blocked = example("blocked.nest")
    with open("bad.nest", "w", encoding="ascii") as f:
        f.write("array X(3)\nfor i = 1 to 4\n\tread X(i)\nend\n")
    refused(BAD_INPUT, "bad.nest", words=["bad.nest:3:7: subscript 1 is 4 at i = 4", "\n  \tread X(i)\n  \t     ^\n"])
    assert not os.path.exists("nearmiss.nmp")
    refused(BAD_INPUT, "bad.nest", "--sweep=X=4096:8192:4096", words=["bad.nest:3:7"])
    refused(BAD_INPUT, "no-such.nest", words=["no-such.nest", "No such file"])
    refused(BAD_INPUT, blocked, "--set=M=3", words=["no parameter or array 'M'"])
    refused(BAD_INPUT, blocked, "N=3 3", words=["N=3 3\n      ^\n"])
    refused(USAGE, words=["name a loop nest"])
    refused(USAGE, blocked, blocked, words=["one nest at a time"])
    refused(USAGE, blocked, "--print", "--sweep=N=1:2")
    for numbers in ("", "x", "0:3", "3:2", "1:", ":2", "1:2:3", "1:9999999"):
        refused(USAGE, blocked, "--list=" + numbers, words=["--list"])
    refused(USAGE, blocked, "--print", "--list=1:2")
    refused(BAD_INPUT, "bad.nest", "--list=4", words=["bad.nest:3:7"])
    for sweep in ("N", "N=", "N=1", "N=1:", "N=2:1", "N=1:2:0", "N=1:2:3:4", "N=1:x", "=1:2", "N=0:9999999"):
        refused(USAGE, blocked, "--cache", ALPHA, "--sweep", sweep, words=["\n"])
    refused(USAGE, blocked, "--cache", ALPHA, "--sweep=N=1:2", "--level=L2", words=["no level"])
    refused(BAD_INPUT, blocked, "--cache", ALPHA, "--sweep=M=1:2", words=["'M'"])
    refused(USAGE, blocked, "--cache=L1d", words=["L1d"])
    refused(NO_OUTPUT, blocked, "--cache", ALPHA, "-o", "no/such/folder/p.nmp")
    refused(NO_OUTPUT, blocked, "--cache", ALPHA, "--trace=no/such/folder/t.nmt")


if __name__ == "__main__":
    main(globals())
