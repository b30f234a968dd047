#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""calibration.py - the verdict beside a clock: the tables of docs/evaluation/cost.md.

    bench/calibration.py kernels|others [NAME...]
    bench/calibration.py repairs

*kernels* and *others* run the loops of calibration/kernels.c or others.c over 16K, 1M and 32M: the same instructions, so what a
loop takes longer over much memory than over 16K is what it waits. That share of its processor time should lie in the interval of
its verdict, or at most SCATTER percent beside it: the ends are whole percents, and the clock is not exact to one.

*repairs* runs faults and their repairs. The programs of examples/faults and bench/advice that have a repair are recorded once, on this machine's caches. Then both run
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

SCATTER = 1
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


def least_times(commands, rounds):
    """The least wall time of each command, all run in turn."""
    return [min(column) for column in zip(*([native.wall(command) for command in commands] for _ in range(rounds)))]


def loop_times(commands, rounds):
    """The least processor time that each loop prints, all run in turn."""
    def once(command):
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[1])
    return [min(column) for column in zip(*([once(command) for command in commands] for _ in range(rounds)))]


def loops(nearmiss, rounds, file, names):
    little, sizes = 16 << 10, {"1M": 1 << 20, "32M": 32 << 20}
    found, close = dict.fromkeys(sizes, 0), dict.fromkeys(sizes, 0)
    subprocess.run(["gcc", "-O2", "-g", "-I", os.path.join(run.TOP, "include"),
                    os.path.join(run.TOP, "bench/calibration", f"{file}.c"), "-o", "loops"], check=True)
    names = names or subprocess.run(["./loops"], capture_output=True, text=True, check=True).stdout.split()
    print(f"{'loop':20}" + "".join(f" {'waits %, ' + size:>15} {'measured':>9}" for size in sizes))
    for name in names:
        commands = [["./loops", name, str(size)] for size in (little, *sizes.values())]
        base, *times = loop_times(commands, rounds)
        cells = []
        for size, command, time in zip(sizes, commands[1:], times):
            _, (likely, low, high) = estimate(nearmiss, command)
            measured = max(0, round(100 * (1 - base / time)))
            found[size] += place(measured, (low, high)) == "inside"
            close[size] += place(measured, (low - SCATTER, high + SCATTER)) == "inside"
            outside = " " if place(measured, (low, high)) == "inside" else "*"
            cells.append(f"{f'{likely} ({low}–{high})':>15} {measured:>8}{outside}")
        print(f"{name.replace('_', ' '):20} " + " ".join(cells), flush=True)
    print(f"{len(names)} loops; inside: " + ", ".join(f"{found[size]} over {size} ({close[size]} but for {SCATTER} %)"
                                                      for size in sizes))


def repairs(nearmiss, rounds):
    found = []
    print("| program | waits | repaired | instructions | saved, estimated | measured | of the verdict |\n"
          "|---|---:|---:|---:|---:|---:|---|")
    for source in sources():
        commands = [advice.build(source, name, name == "repaired") for name in ("fault", "repaired")]
        (before, faulty), (after, mended) = (estimate(nearmiss, command) for command in commands)
        fault, repaired = least_times(commands, rounds)
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("kernels", "others", "repairs"))
    parser.add_argument("names", nargs="*", help="loops; all unless named")
    parser.add_argument("--nearmiss", default=os.path.join(run.TOP, "build/src/cli/nearmiss"))
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    nearmiss = os.path.abspath(options.nearmiss)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        if options.what == "repairs":
            repairs(nearmiss, options.rounds)
        else:
            loops(nearmiss, options.rounds, options.what, options.names)


if __name__ == "__main__":
    main()
