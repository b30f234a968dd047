# SPDX-License-Identifier: MIT
"""test_timeline.py - when a program misses: intervals add up to the run, windows that meet too, to the last miss."""

import json
import os

from harness import ENVIRONMENT, SPEC, at, main, need, nearmiss, program, record, rows

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


def case_phases():
    """Each phase is cut within an interval of where its function is entered, both sweeps are one phase, and a window of a
    phase's instructions counts what the timeline has of it. Rows of a phase are those of its intervals."""
    record([program("phases")], "--trace", "t.nmt", "-q", "--cache", SPEC)
    found = rows("SELECT name, phase, begin, instructions, instructions / intervals FROM phases ORDER BY interval")
    assert [(name, phase) for name, phase, *_ in found] == [("sweep, wide", 0), ("visit, table", 1), ("few misses", 2),
                                                           ("sweep, wide", 0)], found
    assert [begin + length for _, _, begin, length, _ in found] == [begin for _, _, begin, *_ in found[1:]] + [
        rows("SELECT instructions FROM processes")[0][0]], found
    sums = rows("SELECT h.interval, sum(reads), sum(writes), sum(read_misses), sum(write_misses), sum(cold), sum(t.loads) FROM phases h "
                "JOIN timeline t ON t.process = h.process AND t.interval BETWEEN h.interval AND h.interval + h.intervals - 1 "
                "WHERE level = 'L1d' GROUP BY 1 ORDER BY 1")
    shown = json.loads(nearmiss("report", "phases", "--format", "json", "p.nmp").stdout)["rows"]
    assert sum(row["misses"] for row in shown) == sum(row[3] + row[4] for row in sums) and len(shown) == 3, shown
    done = nearmiss("timeline", "--phase", "visit, table", "--format", "json", "p.nmp")
    of_phase = {row["name"]: sum(row["misses"]) for row in json.loads(done.stdout)["rows"]}
    assert of_phase["table"] > 0.99 * (sums[1][3] + sums[1][4]) and of_phase.get("wide", 0) < 10000, of_phase
    done = nearmiss("timeline", "--phase", "visit", "p.nmp")
    assert done.returncode == USAGE and b'no phase "visit"; it has few misses, sweep, wide, visit, table' in done.stderr, done

    done = nearmiss("timeline", "--phase", "B", "--format", "json", "p.nmp")
    assert {row["name"]: sum(row["misses"]) for row in json.loads(done.stdout)["rows"]} == of_phase, done

    def replay(*options):
        done = nearmiss("replay", "-q", "--cache", SPEC, "-o", "part.nmp", *options, "t.nmt")
        assert done.returncode == 0 and not done.stderr, done
        return rows("SELECT instructions, reads, writes, read_misses, write_misses, cold, loads FROM processes JOIN levels "
                    "USING (process) WHERE level = 'L1d'", profile="part.nmp")[0]

    for (_, _, begin, length, interval), entered in zip(found[1:], ("visit", "stay", "sweep#2")):
        function, _, time = entered.partition("#")
        truth = replay(f"--until=enter#{time or 1}:{function}")[0]
        assert abs(begin - truth) <= 1.5 * interval, (entered, begin, truth, interval)
    for (_, _, begin, length, _), wanted in zip(found, sums):
        options = ([f"--from={begin}"] if begin else []) + [f"--until={begin + length}"]
        assert replay(*options) == (length, *wanted[1:]), (options, wanted)


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
        record(command, "--trace", "t.nmt", "--callgraph", "-q")
        function, calls = rows("SELECT function, sum(calls) FROM contexts WHERE level = 'L1d' GROUP BY 1 "
                               "HAVING sum(calls) BETWEEN 9 AND 999 ORDER BY 2 DESC, 1")[0]
        refs, instructions = rows("SELECT refs, instructions FROM processes")[0]

        def replay(profile, *options):
            done = nearmiss("replay", "-q", "--cache", "L1d=4K,4,64:L2=32K,8,64", "-o", profile, *options, "t.nmt")
            assert done.returncode == 0 and not done.stderr, done.stderr

        check_windows(replay, "", [instructions // 3, instructions // 2])
        check_windows(replay, "refs", [refs // 4, refs // 4 * 3])
        assert rows("SELECT value FROM info WHERE key = 'window_from'", profile="part1.nmp") == [(f"{refs // 4} references",)]
        cuts = [f"enter#{calls // 3}:{function}", f"leave#{calls // 3 * 2}:{function}"]
        check_windows(replay, "", cuts)
        assert rows("SELECT value FROM info WHERE key = 'window_from'", profile="part1.nmp") == [(cuts[0],)]


def case_windows_of_recordings():
    """Two processes, each with a window of its own."""
    environment = {**ENVIRONMENT, "PATH": os.path.dirname(need("sort"))}

    def make(profile, *options):
        record([need("sh"), "-c", f"{program('phases')} > phases.txt; sort -S 1M phases.txt"], "-q", *options, profile=profile,
               environment=environment)

    check_windows(make, "", [100000, 150000])
    record([program("phases")], "-q", "--from=1e15")
    assert rows("SELECT refs, instructions FROM processes") == [(0, 0)]


def inclusive(function, level="L1d"):
    """(reads, writes) of a function and all that it calls, by its outermost call chains."""
    return rows("WITH RECURSIVE below(process, context, counts) AS (SELECT process, context, 0 FROM contexts WHERE parent IS NULL "
                "AND level = ?1 UNION ALL SELECT c.process, c.context, b.counts + (c.function IS ?2) FROM below b JOIN contexts c "
                "ON c.process = b.process AND c.parent = b.context AND c.level = ?1 WHERE NOT b.counts) "
                "SELECT sum(reads), sum(writes) FROM below b JOIN contexts c USING (process, context) "
                "WHERE b.counts AND c.level = ?1", level, function)[0]


def case_functions():
    """While a function runs, what its call chains count is counted; entries, marks and ends cut the run where they are."""
    record([program("phases")], "--trace", "t.nmt", "-q", "--callgraph", "--cache", SPEC)
    for function, wanted in [(function, inclusive(function)) for function in ("sweep", "visit", "main")]:
        for command in (["replay", "-q", "--cache", SPEC, "t.nmt"], ["record", "-q", "--cache", SPEC, "--", program("phases")]):
            done = nearmiss(command[0], f"--in={function}", "-o", "p.nmp", *command[1:])
            assert done.returncode == 0, done
            assert rows("SELECT reads, writes FROM levels WHERE level = 'L1d'") == [wanted], (function, wanted)
    record([program("regions")], "--trace", "t.nmt", "-q")
    for cuts in (["mark:step", "end:step"], ["mark#2:tree", "end#3:tree"]):
        parts = []
        for options in ([f"--until={cuts[0]}"], [f"--from={cuts[0]}", f"--until={cuts[1]}"], [f"--from={cuts[1]}"]):
            done = nearmiss("replay", "-q", "-o", "p.nmp", *options, "t.nmt")
            assert done.returncode == 0 and not done.stderr, done
            parts.append(rows("SELECT sum(reads) FROM counts WHERE object = 'table' AND level = 'L1d' AND process = 'regions'")[0][0] // 1000)
        assert parts == {"mark:step": [1, 8, 1], "mark#2:tree": [3, 2, 5]}[cuts[0]], (cuts, parts)


def case_window_that_is_none():
    for options in (["--in=nothing"], ["--from=enter:nothing"], ["--until=mark:nothing"], ["--from=leave#99:main"]):
        done = nearmiss("record", "-q", "-o", "p.nmp", *options, "--", need("true"))
        assert done.returncode == 0 and options[0].split(":")[0].replace("=", " ").split("#")[0].encode() in done.stderr, done
        assert (rows("SELECT sum(refs) FROM processes")[0][0] == 0) == ("until" not in options[0]), options
    for options in (["--from=x"], ["--from=-1"], ["--until=0"], ["--from=9", "--until=9"], ["--from=1e6ref"],
                    ["--from=enter:"], ["--from=enter#0:main"], ["--from=into:main"], ["--from=enter#2:main", "--until=enter:main"],
                    ["--in="]):
        done = nearmiss("record", *options, "--", need("true"))
        assert done.returncode == USAGE and options[-1].split("=")[0].encode() in done.stderr, (options, done.stderr)
    done = nearmiss("record", "--sample=1e-3", "--from=9", "--", need("true"))
    assert done.returncode == USAGE and b"--from" in done.stderr, done.stderr


COUNTS = ("SELECT process, thread, level, function, file, line, object, region, sum(used_bytes), sum(evictions), "
          "sum(writebacks), " + SUMS + " FROM counts GROUP BY 1, 2, 3, 4, 5, 6, 7, 8")


def replay(profile, *options):
    done = nearmiss("replay", "-q", "--cache", SPEC, "-o", profile, *options, "t.nmt")
    assert done.returncode == 0 and not done.stderr, done
    return rows(COUNTS, profile=profile)


def case_by_phase_programs():
    """Three programs of the distribution, and one with forks, regions and threads: sums over phases are the same replay without
    them, row by row, and each phase counted alone is what it has among all."""
    with open("numbers", "w", encoding="ascii") as f:
        f.writelines(f"{n * 7919 % 4001} {n}\n" for n in range(9000))
    for command, options in (([need("sort"), "-n", "numbers"], []), ([need("gzip"), "-c", "numbers"], ["--callgraph"]),
                             ([need("awk"), "{ n[$1] += $2 } END { for (i in n) print n[i] }", "numbers"], ["--asm", "--distances"]),
                             ([program("regions")], ["--cores", "2"])):
        record(command, "--trace", "t.nmt", "-q")
        whole = replay("whole.nmp", *options)
        assert replay("p.nmp", "--by-phase", *options) == whole, (command, options)
        by_phase = rows("SELECT phase, sum(instructions) FROM regions GROUP BY 1 ORDER BY 1")
        assert sum(n for _, n in by_phase) == rows("SELECT sum(instructions) FROM processes", profile="whole.nmp")[0][0], by_phase
        assert None not in dict(by_phase) and (len(by_phase) > 1 or command == [program("regions")]), (command, by_phase)
        assert rows("SELECT count(*) FROM counts WHERE phase IS NULL") == [(0,)]
        if options:
            continue
        for phase, instructions in by_phase:
            replay("one.nmp", "--phase", phase)
            assert rows("SELECT instructions FROM processes", profile="one.nmp") == [(instructions,)], phase
            sums = f"SELECT level, {SUMS} FROM counts %s GROUP BY 1 ORDER BY 1"
            assert rows(sums % "", profile="one.nmp") == rows(sums % "WHERE phase = ?1", phase), phase


def case_by_phase_reports():
    """Each report of a phase has its part of the whole; of a profile without phases it says how to count by them."""
    record([program("phases")], "--trace", "t.nmt", "-q", "--cache", SPEC)
    done = nearmiss("report", "--phase", "B", "p.nmp")
    assert done.returncode == USAGE and b"--by-phase" in done.stderr and done.stderr.count(b"\n") == 1, done
    done = nearmiss("report", "--by", "phase", "p.nmp")
    assert done.returncode == USAGE and b"--by-phase" in done.stderr, done
    replay("p.nmp", "--by-phase")
    done = nearmiss("report", "--by", "phase", "--format", "csv", "-n", "0", "p.nmp")
    assert {row.split('"')[1] if '"' in row else row.split(",")[0] for row in done.stdout.decode().splitlines()[1:]} == {
        "sweep, wide", "visit, table", "few misses"}, done
    misses = str(rows("SELECT sum(read_misses + write_misses) FROM counts WHERE level = 'L1d' AND phase = 'visit, table'")[0][0])
    for name in ("B", "visit, table"):
        for report in ("summary", "objects", "functions", "lines", "pairs", "patterns"):
            done = nearmiss("report", report, "--phase", name, "--format", "json", "-n", "0", "p.nmp")
            assert done.returncode == 0 and (b"table" in done.stdout or b"visit" in done.stdout), (report, done)
        done = nearmiss("report", "levels", "--phase", name, "--format", "csv", "p.nmp")
        assert misses in done.stdout.decode().splitlines()[1].split(","), done
        for command, said in ((["evictions"], "table"), (["annotate"], "@visit"), (["export", "callgrind"], "visit"),
                              (["diff", "p.nmp"], f"{int(misses):,}")):
            done = nearmiss(*command, "--phase", name, "p.nmp")
            assert done.returncode == 0 and said in done.stdout.decode(), (command, done)
    done = nearmiss("export", "csv", "--phase", "B", "p.nmp")
    assert done.returncode == USAGE and b"columns" in done.stderr, done
    for options, said in ((["--phase", "nope"], b"sweep, wide; visit, table; few misses"), (["--phase", "B", "--by-phase"], b"choose one")):
        done = nearmiss("replay", "-q", "-o", "q.nmp", *options, "t.nmt")
        assert done.returncode == USAGE and said in done.stderr and not os.path.exists("q.nmp"), done
    done = nearmiss("merge", "-o", "m.nmp", "p.nmp", "p.nmp")
    assert done.returncode == 0 and rows("SELECT count(*) FROM counts WHERE phase IS NOT NULL", profile="m.nmp") == [(0,)], done


if __name__ == "__main__":
    main(globals())
