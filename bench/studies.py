#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""studies.py - what the repairs of docs/case-studies gain: misses and bytes as nearmiss counts them, and time.

Each version of each program is recorded once at its default size with the caches of the documents. Then the
versions run by themselves at larger sizes, one after the other, round after round; a version's time is
divided by the first version's of the same round, and the median over the rounds is printed with the
smallest and the largest. Time is user CPU time, because other users of the machine change it least.
Only ratios are meaningful, and only for the machine that they were measured on.
"""

import argparse
import os
import resource
import sqlite3
import statistics
import subprocess
import sys

import run
import workloads

CC = ["gcc", "-g"]
# program -> compiler options, versions (name, REPAIRED), arguments of the timed runs
STUDIES = {
    "quake": (["-O1"], ["as written", "packed", "arrays"], [["20", "1000"], ["60", "40"]]),
    "placement": (["-O1"], ["as written", "near"], [["5000", "1000000"], ["200000", "1000000"]]),
    "multigrid": (["-O3"], ["as written", "tiled", "joined"], [["7", "20"], ["8", "4"]]),
}


def build(name, folder):
    options, versions, _ = STUDIES[name]
    source = os.path.join(run.TOP, "examples", name + ".c")
    paths = []
    for number, _ in enumerate(versions):
        paths.append(os.path.join(folder, f"{name}-{number}"))
        subprocess.run(CC + options + [f"-DREPAIRED={number}", source, "-o", paths[-1]], check=True)
    return paths


def count(nearmiss, path):
    """(references, L1d misses, L2 misses, percent of the bytes loaded into L1d that were never used)."""
    subprocess.run([nearmiss, "record", "-o", "studies.nmp", "--cache", run.SPEC, "--", path],
                   stdout=subprocess.DEVNULL, env=workloads.ENVIRONMENT, check=True)
    with sqlite3.connect("file:studies.nmp?mode=ro", uri=True) as db:
        levels = dict((row[0], row[1:]) for row in db.execute(
            "SELECT level, sum(reads + writes), sum(read_misses + write_misses), "
            "100.0 - 100.0 * sum(used_bytes) / sum(loaded_bytes) FROM counts GROUP BY level"))
    db.close()
    return levels["L1d"][0], levels["L1d"][1], levels["L2"][1], levels["L1d"][2]


def user_time(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, stdout=subprocess.DEVNULL, env=workloads.ENVIRONMENT, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def ratios(paths, arguments, rounds):
    """For each version its times over the first version's."""
    found = [[] for _ in paths]
    for _ in range(rounds):
        times = [user_time([path] + arguments) for path in paths]
        for version, time in zip(found, times):
            version.append(time / times[0])
    return found


def change(value, first):
    return f"{value:,} ({round(100.0 * (value - first) / first):+d} %)" if value != first else f"{value:,}"


def study(name, options):
    _, versions, sizes = STUDIES[name]
    paths = build(name, options.work)
    timed = [ratios(paths, size, options.rounds) for size in sizes]
    counted = [count(options.nearmiss, path) for path in paths]
    print(f"\n| {name} | references | L1d misses | L2 misses | waste, L1d |"
          + "".join(f" time, {' '.join(size)} |" for size in sizes))
    print("|---|" + "---:|" * (4 + len(sizes)))
    for number, version in enumerate(versions):
        figures = [change(value, first) for value, first in zip(counted[number][:3], counted[0][:3])]
        times = [f"{statistics.median(t[number]):.2f} ({min(t[number]):.2f}-{max(t[number]):.2f})" for t in timed]
        print(f"| {version} | " + " | ".join(figures + [f"{counted[number][3]:.0f} %"] + times) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description="What the repairs of the case studies bring.")
    parser.add_argument("--only", choices=STUDIES, help="one program")
    parser.add_argument("--nearmiss", help="the executable (default: build/src/cli/nearmiss, then the PATH)")
    parser.add_argument("--work", default=os.path.join(run.TOP, "build-bench"), help="folder for programs and profiles")
    parser.add_argument("--rounds", type=int, default=9, help="timed runs of each version (default 9)")
    options = parser.parse_args()
    options.nearmiss = run.find_nearmiss(options.nearmiss)
    if not options.nearmiss:
        sys.exit("studies.py: nearmiss is not built")
    os.makedirs(options.work, exist_ok=True)
    options.work = os.path.abspath(options.work)
    os.chdir(options.work)
    for name in [options.only] if options.only else STUDIES:
        study(name, options)


if __name__ == "__main__":
    main()
