# SPDX-License-Identifier: MIT
"""test_distances.py - curves from stack distances: equal to direct simulation of fully associative caches to the last
miss, of the whole and of each object, and with their knees where theory has them."""

import collections
import os

from harness import TOP, main, nearmiss, need, program, record, rows

LINE = 64
SIZES = [size for k in range(10, 22) for size in (1 << k, 3 << (k - 1))]  # 24, from 1K to 3M


def spec(size, number):
    return f"{'' if not number else 'm' + 'abcdefghijklmnopqrstuvwx'[number] + '/'}L1d={size},full,{LINE}"


def curves(scope, profile="p.nmp"):
    """Of each (process, name): (size, misses) where the curve falls; at first all miss."""
    found = collections.defaultdict(list)
    for process, name, size, misses, refs in rows(
            "SELECT process, name, size, CAST(round(miss_ratio * refs) AS INTEGER), refs FROM curve "
            f"WHERE scope = '{scope}' AND method = 'exact' ORDER BY 1, 2, 3", profile=profile):
        found[process, name] = found[process, name] or [(0, refs)]
        found[process, name].append((size, misses))
    return found


def misses_at(curve, size):
    """Of the last row up to the size."""
    return [misses for at, misses in curve if at <= size][-1]


def check_against_simulation(command):
    options = [option for i, size in enumerate(SIZES) for option in ("--cache", spec(size, i))]
    record(command, "-q", "--distances", *options)
    levels = dict(enumerate(level for level, in rows("SELECT level FROM levels GROUP BY position")))
    simulated = collections.defaultdict(dict)
    for process, name, level, misses in rows(
            "SELECT process, object, level, sum(read_misses + write_misses) FROM counts GROUP BY 1, 2, 3"):
        simulated[process, name][level] = misses
    objects, total = curves("object"), curves("total")
    compared = 0
    for key, curve in objects.items():
        for i, size in enumerate(SIZES):
            found = misses_at(curve, size)
            assert found == simulated[key].get(levels[i], 0), (key, size, found)
            compared += 1
    for (process, _), curve in total.items():
        for i, size in enumerate(SIZES):
            expected = sum(of[levels[i]] for (p, _), of in simulated.items() if p == process and levels[i] in of)
            assert misses_at(curve, size) == expected, (process, size)
    return compared


def case_equal_to_simulation():
    """Three programs of Debian's."""
    with open("input", "w", encoding="utf-8") as f:
        for i in range(3000):
            f.write(f"{i * 7919 % 3001} the quick brown fox {i % 17} jumps\n")
    assert check_against_simulation([need("gzip"), "-k", "-f", "input"]) > 300
    assert check_against_simulation([need("sort"), "-n", "-o", "sorted", "input"]) > 300
    assert check_against_simulation([need("bzip2"), "-k", "-f", "input"]) > 300


def curve_of(name):
    return [curve for (_, whose), curve in curves("object").items() if whose == name][0]


def nest(text, *options):
    with open("n.nest", "w", encoding="utf-8") as f:
        f.write(text)
    done = nearmiss("nest", "-q", "--distances", "--cache", f"L1d=32K,8,{LINE}", "-o", "p.nmp", *options, "n.nest")
    assert done.returncode == 0, done


def case_repeated_scans():
    """A scan of n lines, ten times: until n lines fit one reference in eight misses, then the first scan alone does."""
    lines = 1000
    nest(f"array a[{8 * lines}] of double align 64\n"
         f"for k = 0 to 9\n for i = 0 to {8 * lines - 1}\n  read a[i]\n end\nend\n")
    curve = curve_of("a")
    assert misses_at(curve, LINE) == 10 * lines and misses_at(curve, 960 * LINE) == 10 * lines, curve
    assert misses_at(curve, 1024 * LINE) == lines, curve
    assert len(curve) == 3, curve


def case_blocked_product():
    """Blocks of B x B REAL*4: Y hits from where its block fits, and with it a few lines of X and Z."""
    knees = {}
    for block in (8, 16, 32):
        done = nearmiss("nest", "-q", "--distances", "--cache", f"L1d=8K,1,{LINE}", "-o", "p.nmp",
                        os.path.join(TOP, "examples/blocked.nest"), "N=64", f"B={block}")
        assert done.returncode == 0, done
        y = curve_of("Y")
        knees[block] = next(size for size, misses in y if misses <= 2 * y[-1][1])
        lines = block * max(block // 16, 1)
        assert lines * LINE < knees[block] <= (lines + 8) * LINE, (block, knees)
    assert knees[8] < knees[16] < knees[32], knees


def case_limit_and_edges():
    """What is beyond the limit misses at any size; ten references, one line."""
    nest("array a[16384] of double align 64\nfor k = 0 to 9\n for i = 0 to 16383 step 8\n  read a[i]\n end\nend\n",
         "--distance-limit", "64K")
    assert len(rows("SELECT * FROM distances WHERE unit = 'lines' AND low IS NULL")) == 1
    assert misses_at(curve_of("a"), 1 << 40) == 20480
    nest("array a[1] of double align 64\nfor k = 0 to 9\n read a[0]\nend\n", "--estimate", "statcache@1,shards@1e-6")
    assert curve_of("a") == [(0, 10), (LINE, 1)]
    for option, said in (("--estimate=shards@0", b"rates from 1e-6 to 1"), ("--estimate=x", b"METHOD[@RATE]"),
                         ("--distance-limit=1K", b"from 64K on")):
        done = nearmiss("nest", "-q", "--distances", option, "n.nest")
        assert done.returncode and said in done.stderr, done


def case_threads_change_nothing():
    """Distances and estimates have a thread of their own if there are enough."""
    record([program("containers")], "-q", "--trace", "t.nmt")
    found = []
    for threads in "1234":
        done = nearmiss("replay", "-q", "-o", "p.nmp", "--threads", threads, "--distances", "--estimate", "shards,statcache@1e-2",
                        "t.nmt")
        assert done.returncode == 0, done
        found.append([sorted(rows(f"SELECT * FROM {view}"), key=repr) for view in ("distances", "curve", "counts")])
    assert all(found[0]) and found.count(found[0]) == len(found)


if __name__ == "__main__":
    main(globals())
