#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""calibration.py - the verdict beside a clock, for faults and their repairs: the table of docs/cost.md.

The programs of examples/faults and bench/advice that have a repair are recorded once, on this machine's caches. Then both run
by themselves, in turn; each has its least wall time, which counts the kernel's work too. What the repair saves of the time is
compared with two estimates: the verdict of the faulty program, as if the repaired one did not wait and had the same work; and
both verdicts. A program whose instructions take e cycles each and of which a share s waits takes instructions * e / (1 - s), so
two verdicts say which part of the time the repair saves: e cancels out. Their range is from both low ends to both high ends.
The column "instructions" is the repaired program's number divided by the other's; pairs are alike if it is 0.9 to 1.1.
"""

import argparse
import os
import re
import subprocess
import tempfile

import advice
import native
import run

FOLDERS = ("examples/faults", "bench/advice")
SHOWN = re.compile(r"about ([0-9]+) % of the run \(([0-9]+) to ([0-9]+) %\)")


def sources():
    for folder in FOLDERS:
        for name in sorted(os.listdir(os.path.join(run.TOP, folder))):
            if advice.has_repair(os.path.join(run.TOP, folder, name)):
                yield os.path.join(run.TOP, folder, name)


def estimate(nearmiss, command):
    """Instructions, and the likely, least and greatest percent that wait."""
    subprocess.run([nearmiss, "record", "-q", "-o", "run.nmp", "--", *command], stdout=subprocess.DEVNULL, check=True)
    summary = subprocess.run([nearmiss, "report", "-i", "run.nmp", "--width", "0"], capture_output=True, text=True, check=True)
    total = subprocess.run([nearmiss, "query", "-i", "run.nmp", "--format", "csv", "SELECT sum(instructions) FROM processes"],
                           capture_output=True, text=True, check=True)
    return int(total.stdout.split()[-1]), [int(percent) for percent in SHOWN.search(summary.stdout).groups()]


def saving(before, after, instructions):
    """Percent of the time, of two percents that wait and the ratio of instructions."""
    return 100 * (1 - instructions * (100 - before) / (100 - after))


def place(measured, figures):
    return "below" if measured < min(figures) else "above" if measured > max(figures) else "inside"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nearmiss", default=os.path.join(run.TOP, "build/src/cli/nearmiss"))
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    nearmiss, found = os.path.abspath(options.nearmiss), []
    print("| program | waits | repaired | instructions | saved, estimated | measured | of the verdict |\n"
          "|---|---:|---:|---:|---:|---:|---|")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for source in sources():
            commands = [advice.build(source, name, name == "repaired") for name in ("fault", "repaired")]
            (before, faulty), (after, mended) = (estimate(nearmiss, command) for command in commands)
            times = [[native.wall(command) for command in commands] for _ in range(options.rounds)]
            fault, repaired = (min(column) for column in zip(*times))
            estimated = [saving(f, m, after / before) for f, m in zip(faulty, mended)]
            measured = 100 * (1 - repaired / fault)
            verdict = place(measured, faulty[1:])
            found.append((0.9 <= after / before <= 1.1, verdict == "inside", place(measured, estimated) == "inside"))
            print(f"| `{os.path.basename(source)}` | {faulty[0]} % ({faulty[1]} to {faulty[2]}) | {mended[0]} % | "
                  f"{after / before:.2f} | {estimated[0]:.0f} % ({min(estimated):.0f} to {max(estimated):.0f}) | "
                  f"{measured:.0f} % | {verdict} |", flush=True)
    for name, pairs in ("all", found), ("alike", [pair for pair in found if pair[0]]):
        print(f"{name}: {len(pairs)} pairs, {sum(p[1] for p in pairs)} in the verdict's interval, "
              f"{sum(p[2] for p in pairs)} in that of both")


if __name__ == "__main__":
    main()
