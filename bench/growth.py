#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""growth.py - what a reference costs as a program's heap grows: natively, in Cachegrind, in nearmiss.

Runs programs/growth.c with 1e4 to 1e7 nodes of a tree that is built recursively, of one that is built by a loop, and
of a list in random order, and as many steps through them as make STEPS references or more. CPU time of all processes
over the program's references (as nearmiss counts them), least of the rounds, minus the start-up, which is that of a
run with one node. Writes growth.json, growth.svg and a table.

    bench/growth.py                       one round, about fifteen minutes
    bench/growth.py --most 1e6            up to a million nodes, about three minutes
"""

import argparse
import json
import os
import sqlite3
import sys
import tempfile

import run
import workloads

SHAPES = {"tree": "tree, built recursively", "loop": "tree, built by a loop", "list": "list in random order"}
STEPS = 3000000
COLOURS = {"native": "#777777", "cachegrind": "#c4572b", "nearmiss": "#1f6fb4"}


def references():
    with sqlite3.connect("file:bench.nmp?mode=ro", uri=True) as db:
        found, = db.execute("SELECT value FROM info WHERE key = 'references'").fetchone()
    db.close()
    return int(found)


def measure(table, program, shape, nodes, steps, rounds, names):
    """Contender -> CPU seconds and the engine's MiB; and the references."""
    figures = {}
    for name, before in table.items():
        runs = [run.measure(before + [program, shape, str(nodes), str(steps)], None, before[0] if before else "", names,
                            0.02 if before else None) for _ in range(rounds)]
        figures[name] = {"cpu": min(r["cpu"] for r in runs), "engine_mib": runs[0]["engine_kib"] / 1024}
    return figures, references()


def study(options, table, program, names):
    sizes = [n for power in range(4, 8) for n in (10 ** power, 3 * 10 ** power) if n <= options.most]
    start, _ = measure(table, program, "list", 1, 1, 3, names)
    rows = []
    for shape in SHAPES:
        for nodes in sizes:
            figures, count = measure(table, program, shape, nodes, STEPS, options.rounds, names)
            row = {"shape": shape, "nodes": nodes, "references": count,
                   "engine_mib": figures["nearmiss"]["engine_mib"]}
            for name in table:
                row[name] = max(0.0, figures[name]["cpu"] - start[name]["cpu"]) / count * 1e9
            rows.append(row)
            print("\r" + line_of(row), file=sys.stderr, flush=True)
    return rows


def line_of(row):
    return f"| {SHAPES[row['shape']]} | {row['nodes']:,} | {row['references'] / 1e6:.0f} | {row['native']:.2f} | " \
           f"{row['cachegrind']:.1f} | {row['nearmiss']:.1f} | {row['nearmiss'] / row['cachegrind']:.2f} | " \
           f"{row['engine_mib']:.0f} |"


def table_of(rows):
    return "\n".join(["| shape | nodes | M references | native, ns | Cachegrind, ns | nearmiss, ns | nearmiss / Cachegrind | "
                      "engine, MiB |", "|---|" + "---:|" * 7] + [line_of(row) for row in rows])


def plot(rows):
    """One panel for each shape: nodes to the right, nanoseconds a reference upwards, both by powers of ten."""
    import math
    width, height, left, top, gap = 220, 200, 50, 30, 50
    low, high = -1, 3
    first, last = math.log10(min(r["nodes"] for r in rows)), math.log10(max(r["nodes"] for r in rows))
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + 3 * (width + gap)}" height="{height + 80}" '
           'font-family="sans-serif" font-size="11">']
    for n, (shape, title) in enumerate(SHAPES.items()):
        x0 = left + n * (width + gap)
        across = lambda v: x0 + (math.log10(v) - first) / max(last - first, 1) * width
        up = lambda v: top + height - (math.log10(max(v, 10.0 ** low)) - low) / (high - low) * height
        out.append(f'<text x="{x0}" y="{top - 12}">{title}</text>')
        for power in range(low, high + 1):
            y = up(10.0 ** power)
            out.append(f'<line x1="{x0}" x2="{x0 + width}" y1="{y}" y2="{y}" stroke="#ddd"/>'
                       f'<text x="{x0 - 6}" y="{y + 4}" text-anchor="end">{10.0 ** power:g}</text>')
        for power in range(round(first), round(last) + 1):
            out.append(f'<text x="{across(10 ** power)}" y="{top + height + 16}" text-anchor="middle">1e{power}</text>')
        for name, colour in COLOURS.items():
            points = [(across(r["nodes"]), up(r[name])) for r in rows if r["shape"] == shape]
            out.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="'
                       + " ".join(f"{x:.1f},{y:.1f}" for x, y in points) + '"/>')
    for n, (name, colour) in enumerate(COLOURS.items()):
        out.append(f'<text x="{left + 110 * n}" y="{height + 72}" fill="{colour}">{run.TITLES[name]}</text>')
    out.append(f'<text x="{left + 340}" y="{height + 72}">nanoseconds of CPU a reference, by nodes</text></svg>')
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description="What a reference costs as the heap grows.")
    parser.add_argument("--most", type=float, default=1e7, help="nodes at most (default 1e7)")
    parser.add_argument("--rounds", type=int, default=1, help="how often each runs (default 1)")
    parser.add_argument("--nearmiss", help="the executable (default: build/src/cli/nearmiss, then the PATH)")
    parser.add_argument("--work", default=os.path.join(run.TOP, "build-bench"), help="folder for the program and results")
    options = parser.parse_args()
    table = run.contenders(run.find_nearmiss(options.nearmiss))
    table = {name: table[name] for name in COLOURS}
    os.makedirs(options.work, exist_ok=True)
    os.chdir(options.work)
    program = workloads.compiled("growth.c")
    with tempfile.TemporaryDirectory() as names:
        rows = study(options, table, os.path.abspath(program), names)
    with open("growth.json", "w", encoding="utf-8") as f:
        json.dump(rows, f, indent=1)
    with open("growth.svg", "w", encoding="utf-8") as f:
        f.write(plot(rows))
    print(table_of(rows))


if __name__ == "__main__":
    main()
