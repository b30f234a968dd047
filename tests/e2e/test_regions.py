# SPDX-License-Identifier: MIT
"""test_regions.py - regions that a program names add up to the run, to the last miss, and change no other count."""

from harness import ENVIRONMENT, MISSES, at, main, need, nearmiss, program, record, rows, run

LINES = 1000
SUMS = ", ".join(f"sum({name})" for name in ("reads", "writes", "read_misses", "write_misses", "cold", "capacity", "conflict",
                                             "loads", "evictions", "writebacks"))
USAGE = 2


def check_sums(profile="p.nmp"):
    """Sums over regions are those of levels and processes, and those of --region NAME are part of them."""
    assert rows(f"SELECT process, level, {SUMS} FROM counts GROUP BY 1, 2 ORDER BY 1, 2", profile=profile) == rows(
        f"SELECT process, level, {SUMS} FROM levels GROUP BY 1, 2 HAVING sum(reads + writes) ORDER BY 1, 2", profile=profile)
    assert rows("SELECT process, sum(instructions) FROM regions GROUP BY 1 ORDER BY 1", profile=profile) == rows(
        "SELECT process, instructions FROM processes WHERE process IN (SELECT process FROM regions) ORDER BY 1", profile=profile)


def case_nested():
    """By process and region, the walks over the table follow from the source; also from a trace, with threads' orders, and
    with call chains."""
    name = "regions"
    walks = {(name, None): 3, (name, "step"): 3, (name, "step/tree"): 3, (name, "step/left open"): 1, (name + "-1", "step"): 1}
    line = at("tests/programs/regions.c", "walk")

    def check():
        seen = rows("SELECT process, region, sum(reads) FROM counts WHERE level = 'L1d' AND object = 'table' AND line = ?1 "
                    "GROUP BY 1, 2", line)
        assert len(seen) == len(walks), seen
        assert sorted(count for *_, count in seen) == sorted(LINES * n for n in walks.values()), seen
        assert {(region, count // LINES) for _, region, count in seen} == {(region, n) for (_, region), n in walks.items()}, seen
        assert ("step/tree", 3) in rows("SELECT region, entries FROM regions"), rows("SELECT * FROM regions")
        check_sums()

    record([program(name)], "--trace", "t.nmt")
    check()
    for options in (["--cores", "2"], ["--callgraph"], ["--instr"], ["--distances"]):
        done = nearmiss("replay", "-q", "-o", "p.nmp", *options, "t.nmt")
        assert done.returncode == 0 and not done.stderr, done.stderr
        check()


def case_reports():
    record([program("regions")], "--cache", "L1d=4K,4,64:L2=256K,8,64", "-q")
    done = nearmiss("report", "--by", "region", "--format", "csv", "-n", "0", "p.nmp")
    seen = {row.split(",")[0]: row for row in done.stdout.decode().splitlines()[1:]}
    assert set(seen) == {"", "step", "step/tree", "step/left open"}, done
    for region, wanted in (("step", "region = 'step' OR region LIKE 'step/%'"), ("step/tree", "region = 'step/tree'")):
        for report in ("objects", "lines", "pairs", "patterns", "summary", "functions"):
            done = nearmiss("report", report, "--region", region, "--format", "json", "-n", "0", "p.nmp")
            assert done.returncode == 0 and b"table" in done.stdout or report in ("lines", "functions"), (report, done)
        done = nearmiss("report", "levels", "--region", region, "--format", "csv", "p.nmp")
        of_level = done.stdout.decode().splitlines()[1].split(",")
        assert str(rows(f"SELECT {MISSES} FROM counts WHERE level = 'L1d' AND ({wanted})")[0][0]) in of_level, done
        done = nearmiss("evictions", "--region", region, "p.nmp")
        assert done.returncode == 0 and b"table" in done.stdout, done
    done = nearmiss("report", "--region", "stp", "p.nmp")
    assert done.returncode == USAGE and b'no region "stp"; it has step, step/left open, step/tree' in done.stderr, done
    record([need("true")], "-q")
    for options in (["--region", "step"], ["--by", "region"]):
        done = nearmiss("report", *options, "p.nmp")
        assert done.returncode == USAGE and b"NEARMISS_REGION_BEGIN" in done.stderr, done


def case_programs():
    """Three programs of the distribution with regions around what they call of the C library: all that is counted is that of
    the same run without regions."""
    with open("numbers", "w", encoding="ascii") as f:
        f.writelines(f"{n * 7919 % 4001} {n}\n" for n in range(4000))
    for command in ([need("sort"), "-n", "numbers"], [need("gzip"), "-c", "numbers"], [need("awk"), "{ print $2, $1 }", "numbers"]):
        tables = []
        for regions in "01":
            record(["env", f"LD_PRELOAD={program('region_calls.so')}", *command], "-q", profile=f"{regions}.nmp",
                   environment={**ENVIRONMENT, "REGIONS": regions})
            tables.append(rows("SELECT process, thread, level, function, file, line, object, sum(used_bytes), " + SUMS + " FROM counts "
                               "GROUP BY 1, 2, 3, 4, 5, 6, 7", profile=f"{regions}.nmp"))
            tables[-1].append(rows("SELECT process, instructions, refs FROM processes", profile=f"{regions}.nmp"))
        assert tables[0] == tables[1], [row for row in tables[1] if row not in tables[0]][:3]
        assert rows("SELECT count(*) FROM regions", profile="0.nmp") == [(0,)]
        named = {region for region, entries in rows("SELECT region, entries FROM regions", profile="1.nmp") if entries}
        assert "read" in named or "search" in named, (command, named)
        check_sums("1.nmp")


if __name__ == "__main__":
    main(globals())
