#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""families.py - how right estimated curves are, family by family of streams: summed up in docs/evaluation/curves.md.

    bench/families.py                 1e5 and 1e6 references, four streams of each family
    bench/families.py 1e7:1 1e8:1     these numbers of references, and of streams

Each stream's estimates stand beside simulated caches of random replacement (StatCache) or exact stack distances, at
12 sizes, for the whole, three objects and their lines of code; those of fewer than 30 samples are left out, but for
the whole. `wide` is by what part of their width intervals could be scaled and still hold 90 % of the points.
"""

import csv
import os
import subprocess
import sys
from collections import defaultdict

BENCH = os.path.join(os.path.dirname(__file__), "..", "build", "bench", "engine", "families_bench")
EXACT = 1e-4  # closer is right


def points(sizes):
    for size in sizes:
        references, seeds = size.split(":")
        text = subprocess.run([BENCH, references, seeds], check=True, capture_output=True, text=True).stdout
        for row in csv.DictReader(text.splitlines()):
            yield {**row, **{name: float(row[name]) for name in ("truth", "estimate", "low", "high", "rate")}}


def is_inside(p):
    return p["low"] - EXACT <= p["truth"] <= p["high"] + EXACT


def scale_needed(family):
    """By how much intervals would have to be scaled to hold 90 % of the points."""
    needed = []
    for p in family:
        error = p["truth"] - p["estimate"]
        half = p["high"] - p["estimate"] if error > 0 else p["estimate"] - p["low"]
        needed.append(max(0, abs(error) - EXACT) / max(half, 1e-9))
    return sorted(needed)[int(0.9 * (len(needed) - 1))]


def print_row(method, name, family):
    worst = max(family, key=lambda p: abs(p["truth"] - p["estimate"]))
    inside = 100 * sum(map(is_inside, family)) / len(family)
    error = sum(abs(p["truth"] - p["estimate"]) for p in family) / len(family)
    print(f"| {method} | {name} | {len(family):,} | {inside:.1f} | {scale_needed(family):.2f} | {error:.4f} | "
          f"{worst['estimate']:.3f} [{worst['low']:.3f}, {worst['high']:.3f}], truth {worst['truth']:.3f}: {worst['scope']}, "
          f"{int(worst['lines']):,} lines, {worst['rate']:g} of {float(worst['references']):.0e} |")


def main():
    families = defaultdict(list)
    for point in points(sys.argv[1:] or ["1e5:4", "1e6:4"]):
        families[point["method"], point["family"]].append(point)
    print("| method | family | points | inside, % | wide | mean error | worst |\n|---|---|" + "---:|" * 4 + "---|")
    for (method, name), family in sorted(families.items()):
        print_row(method, name, family)


if __name__ == "__main__":
    main()
