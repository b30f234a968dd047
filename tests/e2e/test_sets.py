# SPDX-License-Identifier: MIT
"""test_sets.py - loads and evictions by set: they add up to those of the levels, and show conflicts."""

import csv

from harness import SPEC, main, nearmiss, program, record, rows

SIDES = "L1i=8K,4,64:L1d=4K,2,64:L2=64K,8,64"


def table(*options, profile="p.nmp"):
    done = nearmiss("evictions", "--sets", "-i", profile, "--format=csv", "--limit=0", *options)
    assert done.returncode == 0, done
    return list(csv.DictReader(done.stdout.decode().splitlines()))


def pairs(view, condition, profile="p.nmp"):
    evictor = "object" if view == "events" else "evictor"
    return rows(f"SELECT process, level, {evictor}, victim, sum(count) FROM {view} WHERE {condition} "
                "GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4", profile=profile)


def check_sums(profile):
    found = rows("SELECT process, level, sum(loads), sum(evictions) FROM sets GROUP BY 1, 2 ORDER BY 1, 2",
                 profile=profile)
    assert found and found == rows("SELECT process, level, loads, evictions FROM levels WHERE loads > 0 ORDER BY 1, 2",
                                   profile=profile)
    assert pairs("events", "event = 'replace'", profile) == pairs("evictions", "1", profile)
    loads = "SELECT process, level, object, sum({}) FROM {} WHERE {} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
    assert rows(loads.format("count", "events", "event = 'load'"), profile=profile) == \
        rows(loads.format("loads", "counts", "loads > 0"), profile=profile)
    outside = rows("SELECT * FROM sets JOIN levels USING (process, level) WHERE cache_set NOT BETWEEN 0 AND sets - 1",
                   profile=profile)
    assert not outside, outside


def case_sums_close():
    """By level, pair of objects and object; in several levels, processes, threads; with fetches; by call chain."""
    for name, options in (("list", []), ("threads", ["--instr", "--cache", SIDES]), ("processes", ["--callgraph"])):
        record([program(name)], "-q", "--sets", *options)
        check_sums("p.nmp")


def case_other_figures_stay():
    record([program("list")], "-q", "--trace", "t.nmt", profile="plain.nmp")
    for options in ([], ["--threads", "1"]):
        done = nearmiss("replay", "-q", "--sets", "--cache", SPEC, "-o", "sets.nmp", *options, "t.nmt")
        assert done.returncode == 0, done
        for view in ("levels", "counts", "evictions", "objects", "sites"):
            query = f"SELECT * FROM {view}"
            assert rows(query, profile="sets.nmp") == rows(query, profile="plain.nmp"), view
    assert not rows("SELECT * FROM events", profile="plain.nmp")


def case_power_of_two():
    """The border of a grid whose rows are 8 KiB wants one set; with rows of a line more it has all."""
    record([program("border")], "-q", "--sets")
    ours = table("--evictor=grid", "--victim=grid")
    assert len(ours) == 1 and int(ours[0]["lines"]) > 63_900 and float(ours[0]["share_of_set"]) > 99, ours
    assert table()[0]["cache_set"] == ours[0]["cache_set"]
    done = nearmiss("evictions", "--sets", "--victim=grid", "-i", "p.nmp")
    assert b"lines of grid from L1d; half of them from 1 of its 64 sets\n" in done.stdout, done
    record([program("border-padded")], "-q", "--sets")
    assert sum(int(row["lines"]) for row in table("--evictor=grid", "--victim=grid")) == 0
    loads = rows("SELECT max(loads), min(loads) FROM sets WHERE level = 'L1d'")[0]
    assert loads[0] < 3 * loads[1], loads


def case_refusals():
    record([program("list")], "-q")
    done = nearmiss("evictions", "--sets", "-i", "p.nmp")
    assert done.returncode == 2 and not done.stdout, done
    assert done.stderr == b"nearmiss: the profile has no counts by set: record with --sets\n", done


if __name__ == "__main__":
    main(globals())
