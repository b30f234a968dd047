#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""whatif.py - what nearmiss whatif predicts of a layout, beside the recording of the program that was rebuilt with it.

    bench/whatif.py [PROGRAM...]        of rebuilds.py; all of them by default

A row is a candidate: the misses of each level as the program was, as predicted, and as recorded after the rebuild. It is good
if at each level the prediction is at most 3 % off, or the rebuilt count lies between the least and the greatest of the
relocations; else the levels that are not are named. *Interval* is its greatest width at a level, in % of the prediction; then
come the estimated cycles that misses cost, predicted, as a part of what they were, and the CPU time without a profiler, after
the rebuild as a part of before: the median of ratios of pairs of runs, with the quartiles. Prints the tables of
docs/evaluation/whatif.md: the second one has the kinds of transformations.
"""

import argparse
import csv
import os
import resource
import statistics
import subprocess
import tempfile

import rebuilds
import run

AT_ONCE = 8  # candidates
ROWS = []  # (kind, is good, (deviation, its text), width of the interval) of those shown


def rows_of(*command):
    return list(csv.DictReader(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()))


def execute(command):
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


def record(options, command, *more):
    execute([options.nearmiss, "record", "-q", "-m", options.machine, "-o", "p.nmp", *more, "--", *command])
    rows = rows_of(options.nearmiss, "query", "-i", "p.nmp", "-f", "csv", "SELECT level, sum(read_misses + write_misses) AS misses "
                   "FROM levels GROUP BY level ORDER BY min(position)")
    return {row["level"]: int(row["misses"]) for row in rows}


def cycles(options, profile):
    rows = rows_of(options.nearmiss, "report", "objects", "-i", profile, "--limit", "0", "-f", "csv")
    return sum(float(row["cycles"] or 0) for row in rows)


def predict(options, candidates):
    """Of each: {level: (misses, least, greatest)}, and cycles as a part of what they were."""
    table = []
    for i in range(0, len(candidates), AT_ONCE):
        some = [word for candidate in candidates[i:i + AT_ONCE] for word in ("--apply", candidate)]
        these = {}
        for row in rows_of(options.nearmiss, "whatif", "-q", "t.nmt", "-m", options.machine, "--relocate", options.relocate, "-f",
                           "csv", "--keep", "kept", *some):
            these.setdefault(row["candidate"], {})[row["level"]] = tuple(int(row[c] or row["misses"])
                                                                         for c in ("misses", "least", "greatest"))
        was = cycles(options, "kept-a.nmp")
        table += [(levels, cycles(options, f"kept-{name.lower()}.nmp") / was) for name, levels in these.items() if name != "A"]
    return table


def cpu_time(command):
    """User and system time: only their sum is exact."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    execute(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def ratios(options, arguments):
    """Median and quartiles of the times of ./after by those of ./before."""
    pairs = [cpu_time(["./after", *arguments]) / cpu_time(["./before", *arguments]) for _ in range(options.pairs)]
    low, middle, high = statistics.quantiles(pairs, n=4)
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def kind_of(candidate):
    words = candidate.split("; ")[0].split()
    if words[0] == "pad":
        return "pad rows" if "rows" in words else "pad a structure"
    if words[0] == "split":
        return "split " + ("in parallel" if words[-1] == "parallel" else "by pointer")
    return "pool by first use" if words[0] == "pool" and words[-1] == "use" else words[0]


def show(options, program, candidate, before, predicted, after):
    cells, bad, width, worst = [], [], 0, (0, "exact")
    levels, cost = predicted
    for level, (misses, least, greatest) in levels.items():
        cells.append(f"{before[level]:,}|{misses:,}|{after[level]:,}")
        width = max(width, 100 * (greatest - least) / misses)
        off = 100 * (misses - after[level]) / after[level]
        worst = max(worst, (abs(off), f"`{program.name}`: {level} {off:+.1f} %"))
        if abs(off) > 3 and not least <= after[level] <= greatest:
            bad.append(f"{level} {off:+.1f} %")
    ROWS.append((kind_of(candidate), not bad, worst, width))
    text = candidate.split("; ")[0] + ("; ..." if "; " in candidate else "")
    print(f"|`{program.name}`|{text}|{'|'.join(cells)}|{', '.join(bad) or 'good'}|{width:.1f}|{cost:.2f}|"
          f"{ratios(options, program.arguments)}|", flush=True)


def show_kinds():
    print(f"\n{sum(row[1] for row in ROWS)} of {len(ROWS)} rows are good; the median interval is "
          f"{statistics.median(row[3] for row in ROWS):.1f} %.\n\n|kind|good|worst|\n|---|--:|---|")
    for kind in sorted({row[0] for row in ROWS}):
        these = [row for row in ROWS if row[0] == kind]
        print(f"|{kind}|{sum(row[1] for row in these)} of {len(these)}|{max(row[2] for row in these)[1]}|")


def compare(options, program):
    source = rebuilds.fetch(program, os.getcwd())
    rebuilds.build(program, source, os.path.abspath("before"))
    before = record(options, ["./before", *program.arguments], "--trace", "t.nmt")
    for change, predicted in zip(program.changes, predict(options, [change.candidate for change in program.changes])):
        rebuilds.build(program, source, os.path.abspath("after"), change.options, change.edits)
        show(options, program, change.candidate, before, predicted, record(options, ["./after", *program.arguments]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nearmiss", default=os.path.join(run.TOP, "build/src/cli/nearmiss"))
    parser.add_argument("--machine", default="zen3")
    parser.add_argument("--relocate", default="7")
    parser.add_argument("--pairs", type=int, default=15, help="of runs that are timed")
    parser.add_argument("program", nargs="*")
    options = parser.parse_args()
    options.nearmiss = os.path.abspath(options.nearmiss)
    print("|program|candidate|L1d|predicted|rebuilt|L2|predicted|rebuilt|L3|predicted|rebuilt|prediction|interval|cycles|time|")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        rebuilds.write_inputs(folder)
        for program in rebuilds.PROGRAMS:
            if not options.program or program.name in options.program:
                compare(options, program)
    show_kinds()


if __name__ == "__main__":
    main()
