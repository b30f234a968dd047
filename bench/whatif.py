#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""whatif.py - what nearmiss whatif predicts of a layout, beside the recording of the program that was rebuilt with it.

Programs: the repairs of examples/faults that are layouts, and programs/layouts.c, built once for each kind. A row is a
candidate: the misses of each level as the program was, as predicted, and as recorded after the rebuild. It is good if at each
level the prediction is at most 3 % off, or the rebuilt count lies between the least and the greatest of the relocations; else
the levels that are not are named. Prints the table of docs/evaluation/whatif.md.
"""

import argparse
import csv
import os
import subprocess
import tempfile

import run

FAULTS = {
    "aos.c": "soa struct particle",
    "cold.c": "split struct order hot(price, count, state) parallel",
    "transpose.c": "pad from rows of 2048 by 64; pad to rows of 2048 by 64",
    "conflict.f90": "; ".join(f"offset fields/{a} against fields/u by {65600 * (i + 1)}" for i, a in enumerate("vwpqrstxyze")),
    "blocks.c": "pool points[i]",
}
KINDS = [
    "reorder struct item: key, weight, count, flags", "pad struct item to 128", "shrink item.name to 16",
    "split struct item hot(key, count) parallel", "split struct item hot(key, count) by pointer", "soa struct item",
    "align items to 64", "merge xs of 8, ys of 8", "pool nodes[i]", "pool nodes[i] by first use", "transpose square 256x256x8",
    "pad square rows of 2048 by 64", "offset v against u by 65600; offset w against u by 131200; offset p against u by 196800",
]
AT_ONCE = 7  # candidates


def build(path, source, *options):
    compiler = ["gfortran", "-cpp"] if source.endswith(".f90") else ["gcc"]
    subprocess.run([*compiler, "-g", *options, os.path.join(run.TOP, source), "-o", path], check=True)


def record(nearmiss, machine, path, *options):
    subprocess.run([nearmiss, "record", "-q", "-m", machine, "-o", "p.nmp", *options, "--", path], stdout=subprocess.DEVNULL,
                   check=True)
    rows = subprocess.run([nearmiss, "query", "-i", "p.nmp", "-f", "csv", "SELECT level, sum(read_misses + write_misses) AS misses "
                           "FROM levels GROUP BY level ORDER BY min(position)"], capture_output=True, text=True, check=True).stdout
    return {row["level"]: int(row["misses"]) for row in csv.DictReader(rows.splitlines())}


def predict(nearmiss, machine, relocations, candidates):
    """Of each: {level: (misses, least, greatest)}."""
    table = []
    for i in range(0, len(candidates), AT_ONCE):
        some = [word for candidate in candidates[i:i + AT_ONCE] for word in ("--apply", candidate)]
        rows = subprocess.run([nearmiss, "whatif", "-q", "t.nmt", "-m", machine, "--relocate", relocations, "-f", "csv", *some],
                              capture_output=True, text=True, check=True).stdout
        these = {}
        for row in csv.DictReader(rows.splitlines()):
            these.setdefault(row["candidate"], {})[row["level"]] = tuple(int(row[c]) for c in ("misses", "least", "greatest"))
        table += [levels for name, levels in these.items() if name != "A"]
    return table


def show(program, candidate, before, predicted, after):
    cells, bad = [], []
    for level, (misses, least, greatest) in predicted.items():
        cells.append(f"{before[level]:,}|{misses:,}|{after[level]:,}")
        if abs(misses - after[level]) > 0.03 * after[level] and not least <= after[level] <= greatest:
            bad.append(f"{level} {100 * (misses - after[level]) / after[level]:+.1f} %")
    text = candidate.split("; ")[0] + ("; ..." if "; " in candidate else "")
    print(f"|`{program}`|{text}|{'|'.join(cells[:2])}|{', '.join(bad) or 'good'}|", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nearmiss", default=os.path.join(run.TOP, "build/src/cli/nearmiss"))
    parser.add_argument("--machine", default="zen3")
    parser.add_argument("--relocate", default="7")
    options = parser.parse_args()
    nearmiss = os.path.abspath(options.nearmiss)
    print("|program|candidate|L1d|predicted|rebuilt|L2|predicted|rebuilt|prediction|")
    print("|---|---|--:|--:|--:|--:|--:|--:|---|")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, candidate in FAULTS.items():
            source = "examples/faults/" + name
            build("before", source, "-O2")
            build("after", source, "-O2", "-DREPAIRED")
            before = record(nearmiss, options.machine, "./before", "--trace", "t.nmt")
            predicted = predict(nearmiss, options.machine, options.relocate, [candidate])[0]
            show(name, candidate, before, predicted, record(nearmiss, options.machine, "./after"))
        build("before", "bench/programs/layouts.c", "-O1")
        before = record(nearmiss, options.machine, "./before", "--trace", "t.nmt")
        for kind, predicted in enumerate(predict(nearmiss, options.machine, options.relocate, KINDS)):
            build("after", "bench/programs/layouts.c", "-O1", f"-DKIND={kind + 1}")
            show("layouts.c", KINDS[kind], before, predicted, record(nearmiss, options.machine, "./after"))


if __name__ == "__main__":
    main()
