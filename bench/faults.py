#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""faults.py - what following the advice brings for the programs of examples/faults: misses as nearmiss counts them,
the verdict, and user CPU time of the programs by themselves, with the fault and repaired. Each is recorded once on
one machine of the table. Then both run by themselves, long enough to be timed, in turn; times are divided within a
round, and the median over the rounds is printed with the smallest and the largest.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile

import run
import studies

# program -> compiler, rounds of the timed runs
FAULTS = {
    "aos.c": ("gcc", 1000), "column.f90": ("gfortran", 40), "transpose.c": ("gcc", 2000), "list.c": ("gcc", 100),
    "hash.c": ("gcc", 100), "gather.c": ("gcc", 800), "loops.c": ("gcc", 600), "map.cpp": ("g++", 100),
    "pointers.cpp": ("g++", 1000), "conflict.f90": ("gfortran", 40000), "cold.c": ("gcc", 2000),
    "blocks.c": ("gcc", 2000), "stream.c": ("gcc", 40),
}


def build(name, compiler, folder):
    source = os.path.join(run.TOP, "examples/faults", name)
    paths = [os.path.join(folder, name.split(".")[0] + suffix) for suffix in ("", "-repaired")]
    for path, define in zip(paths, ([], ["-DREPAIRED"])):
        subprocess.run([compiler, "-g", "-O2", *(["-cpp"] if compiler == "gfortran" else []), *define, source, "-o", path],
                       check=True)
    return paths


def record(nearmiss, path):
    """(L1d misses, percent of the run that waits, the cause of the first row)."""
    subprocess.run([nearmiss, "record", "-o", "faults.nmp", "--machine", "zen3", "--", path], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True)
    summary = subprocess.run([nearmiss, "report", "-i", "faults.nmp"], capture_output=True, text=True, check=True).stdout
    levels = re.search(r"^L1d .*", summary, re.MULTILINE)[0].split()
    rows = subprocess.run([nearmiss, "report", "pairs", "-i", "faults.nmp", "--limit", "1", "--columns", "cause", "--format",
                           "csv"], capture_output=True, text=True, check=True).stdout.splitlines()
    cause = dict(zip(rows[0].split(","), re.split(r",(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)", rows[1])))["cause"]
    return int(levels[3].replace(",", "")), re.search(r"about ([0-9]+) %", summary)[1], cause


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nearmiss", default=os.path.join(run.TOP, "build/src/cli/nearmiss"))
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print("| program | cause | waits % | L1d misses | repaired | waits % | s | repaired: time | |\n|---|---|---:|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, (compiler, rounds) in FAULTS.items():
            paths = build(name, compiler, folder)
            counted = [record(os.path.abspath(options.nearmiss), path) for path in paths]
            times = [[studies.user_time([path, str(rounds)]) for path in paths] for _ in range(options.rounds)]
            ratios = [after / before for before, after in times]
            print(f"| {name} | {counted[0][2]} | {counted[0][1]} | {counted[0][0]:,} | {counted[1][0]:,} | {counted[1][1]} | "
                  f"{statistics.median(t[0] for t in times):.2f} | {statistics.median(ratios):.2f} | "
                  f"{min(ratios):.2f}-{max(ratios):.2f} |")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
