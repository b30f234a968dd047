#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""prefetches.py - what nearmiss whatif --prefetch predicts, beside the program that was rebuilt with the prefetch.

examples/join.c looks keys up in a table of three sizes: one that fits the second level, one that fits the third, one that fits
none. For each some distances, and that which is predicted to be best (*). Misses and redundant prefetches are of the first
level; cycles, and nanoseconds of user time (the least of some runs, less that of a run without look-ups), are for each look-up.
Prints the table of docs/evaluation/whatif.md.
"""

import argparse
import csv
import os
import resource
import subprocess
import tempfile

import run

SIZES = {"128K": 1 << 13, "4M": 1 << 18, "64M": 1 << 22}
DISTANCES = [2, 8]
PROBES, TIMED = 200000, 10000000


def build(path, *options):
    source = os.path.join(run.TOP, "examples/join.c")
    subprocess.run(["gcc", "-g", "-O2", *options, source, "-o", path], check=True)


def rows(*command):
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return list(csv.DictReader(text.splitlines()))


def record(nearmiss, path, slots, *options):
    """Misses and redundant prefetches of the first level."""
    subprocess.run([nearmiss, "record", "-q", "-m", "zen3", "-o", "p.nmp", *options, "--", path, str(slots), str(PROBES)],
                   stdout=subprocess.DEVNULL, check=True)
    query = [nearmiss, "query", "-i", "p.nmp", "-f", "csv"]
    misses = rows(*query, "SELECT sum(read_misses + write_misses) AS n FROM levels WHERE level = 'L1d'")
    redundant = rows(*query, "SELECT coalesce(sum(redundant), 0) AS n FROM prefetches WHERE level = 'L1d'")
    return int(misses[0]["n"]), int(redundant[0]["n"])


def predict(nearmiss, by):
    return rows(nearmiss, "whatif", "t.nmt", "-q", "-m", "zen3", "--prefetch", "join.c:34", "--by", by, "-f", "csv")


def clock(path, slots, rounds):
    """Nanoseconds of the processor for a look-up."""
    least = {}
    for _ in range(rounds):
        for probes in (0, TIMED):
            begin = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            subprocess.run([path, str(slots), str(probes)], stdout=subprocess.DEVNULL, check=True)
            least[probes] = min(least.get(probes, 1e9), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begin)
    return 1e9 * (least[TIMED] - least[0]) / TIMED


def best_of(table):
    """As the command chooses: the least that saves at most 2 % less than any."""
    most = max(int(row["saved_cycles"]) for row in table[1:])
    return next(int(row["distance"]) for row in table[1:] if int(row["saved_cycles"]) >= most - abs(most) / 50)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nearmiss", default=os.path.join(run.TOP, "build/src/cli/nearmiss"))
    parser.add_argument("--rounds", type=int, default=5, help="of the clock")
    options = parser.parse_args()
    nearmiss = os.path.abspath(options.nearmiss)
    print("|table|distance|misses|predicted|rebuilt|redundant|rebuilt|cycles saved, predicted|ns saved, measured|")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        build("before")
        for size, slots in SIZES.items():
            before, _ = record(nearmiss, "./before", slots, "--trace", "t.nmt")
            table = predict(nearmiss, "distance")
            best = best_of(table)
            plain = clock("./before", slots, options.rounds)
            for distance in sorted({*DISTANCES, best}):
                row = next(row for row in table if int(row["distance"]) == distance)
                build("after", f"-DDISTANCE={distance}")
                misses, redundant = record(nearmiss, "./after", slots)
                saved = plain - clock("./after", slots, options.rounds)
                print(f"|{size}|{distance}{'*' * (distance == best)}|{before:,}|{int(row['all_misses']):,}|{misses:,}|"
                      f"{int(row['redundant']):,}|{redundant:,}|{int(row['saved_cycles']) / PROBES:.2f}|{saved:.2f}|", flush=True)


if __name__ == "__main__":
    main()
