# SPDX-License-Identifier: MIT
"""test_timeline.py - when a program misses: intervals add up to the run, windows that meet too, to the last miss."""

import json
import os

from harness import ENVIRONMENT, at, main, need, nearmiss, program, record, rows

FIGURES = ("reads", "writes", "read_misses", "write_misses", "cold", "capacity", "conflict", "coherence", "loads")
SUMS = ", ".join(f"sum({name})" for name in FIGURES)
USAGE = 2


def check_sums(profile="p.nmp"):
    """The rows of the timeline lie side by side, and their sums are those of the process and its levels."""
    by_level = rows(f"SELECT process, level, {SUMS} FROM timeline GROUP BY 1, 2 ORDER BY 1, 2", profile=profile)
    assert by_level == rows(f"SELECT process, level, {SUMS} FROM levels GROUP BY 1, 2 ORDER BY 1, 2", profile=profile)
    last = {}
    for process, begin, instructions in rows(
            "SELECT DISTINCT process, begin, instructions FROM timeline ORDER BY process, interval", profile=profile):
        assert begin == last.get(process, 0), (process, begin, last)
        last[process] = begin + instructions
    assert last == dict(rows("SELECT process, instructions FROM processes", profile=profile))
    for view, keys in (("timeline_objects", "object"), ("timeline_lines", "user_function, user_file, user_line")):
        seen = rows(f"SELECT process, level, {keys.replace('user_', '')}, sum(read_misses), sum(write_misses), sum(loads) "
                    f"FROM {view} GROUP BY process, level, {keys.replace('user_', '')}", profile=profile)
        whole = rows(f"SELECT process, level, {keys}, sum(read_misses), sum(write_misses), sum(loads) "
                     f"FROM counts GROUP BY process, level, {keys}", profile=profile)
        assert seen and set(seen) <= set(whole), sorted(set(seen) - set(whole), key=repr)[:3]


def case_sums():
    record([need("sh"), "-c", "seq 1 9000 | awk '{ n[$1 * 7919 % 4001] += $1 } END { for (i in n) print n[i] }' | sort -n | tail -n 1"])
    assert rows("SELECT count(DISTINCT process) FROM timeline")[0][0] >= 4
    check_sums()
    record([program("phases")], "--cores", "2", "--cache", "L1d=4K,4,64:L1i=4K,4,64:L2=64K,8,64", "--instr")
    check_sums()


def case_known_phases():
    """Which object and line dominate L1d follows the source: wide, table, nothing, wide."""
    record([program("phases")])
    check_sums()
    source = "tests/programs/phases.c"
    lines = {"wide": at(source, "sweep"), "table": at(source, "visit")}
    course = []
    for misses, name, line in rows("SELECT read_misses + write_misses, object, line FROM timeline WHERE level = 'L1d' ORDER BY interval"):
        name = name if misses > 50 else "none"  # `stay` and the start of the program
        assert name not in lines or line == lines[name], (name, line)
        if not course or course[-1] != name:
            course.append(name)
    course = [name for name in course if name in ("wide", "table", "none")]
    assert course[-4:] == ["wide", "table", "none", "wide"] or course[-5:] == ["wide", "table", "none", "wide", "none"], course
    for estimate, loads in rows("SELECT working_set, loads FROM timeline WHERE level = 'L1d' AND object = 'wide'"):
        assert 0.9 * 64 * loads < estimate < 1.1 * 64 * loads, (estimate, loads)  # an interval is shorter than a sweep
    done = nearmiss("timeline", "--format", "json", "p.nmp")
    parts = {row["name"]: row["misses"] for row in json.loads(done.stdout)["rows"]}
    assert sum(parts["wide"]) >= 30 * (1 << 15) and sum(parts["table"]) > 100000, parts


def counts(profile):
    """By place, without objects: which get a number behind their name depends on what else was referenced."""
    table = {}
    for row in rows(f"SELECT process, thread, level, function, file, line, inlined, {SUMS} FROM counts "
                    "GROUP BY 1, 2, 3, 4, 5, 6, 7", profile=profile):
        if any(row[7:]):
            table[row[:7]] = row[7:]
    run = rows("SELECT process, refs, instructions FROM processes", profile=profile)
    table.update({("run", process): figures for process, *figures in run})
    return table


def add(profiles):
    total = {}
    for profile in profiles:
        for place, figures in counts(profile).items():
            total[place] = tuple(map(sum, zip(total.get(place, [0] * len(figures)), figures)))
    return total


def check_windows(make, unit, cuts):
    """make(profile, *options) simulates the run, or a window of it."""
    make("whole.nmp")
    ends, parts = [None, *cuts, None], []
    for number, (begin, end) in enumerate(zip(ends, ends[1:])):
        options = ([f"--from={begin}{unit}"] if begin else []) + ([f"--until={end}{unit}"] if end else [])
        parts.append(f"part{number}.nmp")
        make(parts[-1], *options)
        assert sum(sum(figures) for place, figures in counts(parts[-1]).items() if place[0] == "run"), options
        check_sums(parts[-1])
    whole, total = {k: tuple(v) for k, v in counts("whole.nmp").items()}, add(parts)
    differ = [(place, whole.get(place), total.get(place)) for place in {*whole, *total} if whole.get(place) != total.get(place)]
    assert not differ, differ[:3]


def case_windows_of_traces():
    """Three programs of the distribution; positions in instructions and in references."""
    with open("numbers", "w", encoding="ascii") as f:
        f.writelines(f"{n * 7919 % 4001} {n}\n" for n in range(4000))
    for command in ([need("sort"), "-n", "numbers"], [need("gzip"), "-c", "numbers"],
                    [need("awk"), "{ n[$1 % 100] += $2 } END { for (i in n) print n[i] }", "numbers"]):
        record(command, "--trace", "t.nmt", "-q")
        refs, instructions = rows("SELECT refs, instructions FROM processes")[0]

        def replay(profile, *options):
            done = nearmiss("replay", "-q", "--cache", "L1d=4K,4,64:L2=32K,8,64", "-o", profile, *options, "t.nmt")
            assert done.returncode == 0 and not done.stderr, done.stderr

        check_windows(replay, "", [instructions // 3, instructions // 2])
        check_windows(replay, "refs", [refs // 4, refs // 4 * 3])
        assert rows("SELECT value FROM info WHERE key = 'window_from'", profile="part1.nmp") == [(f"{refs // 4} references",)]


def case_windows_of_recordings():
    """Two processes, each with a window of its own."""
    environment = {**ENVIRONMENT, "PATH": os.path.dirname(need("sort"))}

    def make(profile, *options):
        record([need("sh"), "-c", f"{program('phases')} | sort"], "-q", *options, profile=profile, environment=environment)

    check_windows(make, "", [100000, 150000])
    record([program("phases")], "-q", "--from=1e15")
    assert rows("SELECT refs, instructions FROM processes") == [(0, 0)]


def case_window_that_is_none():
    for options in (["--from=x"], ["--from=-1"], ["--until=0"], ["--from=9", "--until=9"], ["--from=1e6ref"]):
        done = nearmiss("record", *options, "--", need("true"))
        assert done.returncode == USAGE and options[-1].split("=")[0].encode() in done.stderr, (options, done.stderr)
    done = nearmiss("record", "--sample=1e-3", "--from=9", "--", need("true"))
    assert done.returncode == USAGE and b"--from" in done.stderr, done.stderr


if __name__ == "__main__":
    main(globals())
