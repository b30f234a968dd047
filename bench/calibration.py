#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""calibration.py - the verdict beside a clock: the tables of docs/evaluation/cost.md.

    bench/calibration.py kernels|others|pairs [NAME...]
    bench/calibration.py repairs

*kernels* and *others* run the loops of calibration/kernels.c or others.c over 16K, 1M and 32M: the same instructions, so what a
loop takes longer over much memory than over 16K is what it waits. That share of its processor time should lie in the interval of
its verdict, or at most SCATTER percent beside it: the ends are whole percents, and the clock is not exact to one.

*pairs* runs the faults of calibration/placed.c, walked.c and later.c, their repairs, and the faults over 16K: the same work. What
a fault takes longer than the quicker one of the other two is what it waits.

*repairs* runs the programs of examples/faults and their repairs, which need not do the same work: their user time with many
rounds, and the verdict with few.

Each time is the least of some runs, all in turn. --real-time runs them by chrt(1) before all else, so that other work on the
machine does not empty their caches; that takes root.
"""

import argparse
import os
import re
import subprocess
import tempfile

import faults
import run
import studies

SCATTER = 1
RECORDED = "4000000"  # steps of a loop: the share does not depend on them
SHOWN = re.compile(r"about ([0-9]+) % of the run \(([0-9]+) to ([0-9]+) %\)")


def estimate(nearmiss, command):
    """The likely, least and greatest percent of the instructions' cycles and the waits that are waits."""
    subprocess.run([nearmiss, "record", "-q", "-o", "run.nmp", "--", *command], stdout=subprocess.DEVNULL, check=True)
    summary = subprocess.run([nearmiss, "report", "-i", "run.nmp", "--width", "0"], capture_output=True, text=True, check=True)
    return [int(percent) for percent in SHOWN.search(summary.stdout).groups()]


def printed(command):
    """The processor time that a loop prints."""
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[1])


def least(measure, commands, options):
    """The least time of each command, all run in turn."""
    before = ["chrt", "-f", "10"] if options.real_time else []
    return [min(column) for column in zip(*([measure(before + command) for command in commands] for _ in range(options.rounds)))]


def build(file, *flags):
    subprocess.run(["gcc", "-O2", "-g", *flags, "-I", os.path.join(run.TOP, "include"),
                    os.path.join(run.TOP, "bench/calibration", f"{file}.c"), "-o", file], check=True)
    return subprocess.run([f"./{file}"], capture_output=True, text=True, check=True).stdout.split()


def longer(time, base):
    """In percent of it."""
    return max(0, round(100 * (1 - base / time)))


def loops(options):
    little, sizes = 16 << 10, {"1M": 1 << 20, "32M": 32 << 20}
    found, close = dict.fromkeys(sizes, 0), dict.fromkeys(sizes, 0)
    all_names = build(options.what)
    names = options.names or all_names
    print(f"{'loop':20}" + "".join(f" {'waits %, ' + size:>15} {'measured':>9}" for size in sizes))
    for name in names:
        commands = [[f"./{options.what}", name, str(size)] for size in (little, *sizes.values())]
        base, *times = least(printed, commands, options)
        cells = []
        for size, command, time in zip(sizes, commands[1:], times):
            likely, low, high = estimate(options.nearmiss, [*command, RECORDED])
            measured = longer(time, base)
            inside = low <= measured <= high
            found[size] += inside
            close[size] += low - SCATTER <= measured <= high + SCATTER
            cells.append(f"{f'{likely} ({low}–{high})':>15} {measured:>8}{' ' if inside else '*'}")
        print(f"{name.replace('_', ' '):20} " + " ".join(cells), flush=True)
    print(f"{len(names)} loops; inside: " + ", ".join(f"{found[size]} over {size} ({close[size]} but for {SCATTER} %)"
                                                      for size in sizes))


def pairs(options):
    inside = []
    print(f"{'pair':22} {'waits %':>14} {'measured':>9} {'saved':>6}")
    for file in ("placed", "walked", "later"):
        for name in build(file, "-fno-tree-vectorize"):
            if options.names and name not in options.names:
                continue
            commands = [[f"./{file}", name, variant] for variant in ("fault", "repaired", "still")]
            fault, repaired, still = least(printed, commands, options)
            likely, low, high = estimate(options.nearmiss, commands[0])
            measured = longer(fault, min(repaired, still))
            inside.append(low <= measured <= high)
            print(f"{name.replace('_', ' '):22} {f'{likely} ({low}–{high})':>14} {measured:>8}{' ' if inside[-1] else '*'} "
                  f"{longer(fault, repaired):>6}", flush=True)
    print(f"{len(inside)} pairs, {sum(inside)} inside")


def repairs(options):
    inside = []
    print(f"{'program':14} {'waits %':>14} {'saved':>6} {'repaired waits %':>17}")
    for name, (compiler, rounds) in faults.FAULTS.items():
        commands = [[path] for path in faults.build(name, compiler, os.getcwd())]
        (likely, low, high), mended = (estimate(options.nearmiss, command) for command in commands)
        fault, repaired = least(studies.user_time, [[*command, str(rounds)] for command in commands], options)
        saved = longer(fault, repaired)
        inside.append(low <= saved <= high)
        print(f"{name:14} {f'{likely} ({low}–{high})':>14} {saved:>5}{' ' if inside[-1] else '*'} "
              f"{'{} ({}–{})'.format(*mended):>17}", flush=True)
    print(f"{len(inside)} programs, {sum(inside)} inside")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("kernels", "others", "pairs", "repairs"))
    parser.add_argument("names", nargs="*", help="loops or pairs; all unless named")
    parser.add_argument("--nearmiss", default=os.path.join(run.TOP, "build/src/cli/nearmiss"))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--real-time", action="store_true")
    options = parser.parse_args()
    options.nearmiss = os.path.abspath(options.nearmiss)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        {"pairs": pairs, "repairs": repairs}.get(options.what, loops)(options)


if __name__ == "__main__":
    main()
