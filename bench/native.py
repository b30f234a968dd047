#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""native.py - what false sharing costs on this machine, without Valgrind: pairs of runs, first with a shared line, then without.

    bench/native.py [--pairs N] [--real-time]      ratios of wall times in Markdown: median, least, greatest

Pairs: examples/sharing.c and its repair (four threads), and programs/counters.c: two threads that do nothing but increment a
counter each. --real-time runs them by chrt(1) before all else, so that threads run at the same time on a busy machine too; that
takes root.
"""

import argparse
import os
import statistics
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
POINTS, ROUNDS = "100000", "1000"


def build(source, name, *options):
    subprocess.run(["gcc", "-g", "-O2", "-pthread", *options, os.path.join(HERE, source), "-o", name], check=True)


def wall(command):
    start = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - start


def printed(command):
    return float(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=11)
    parser.add_argument("--real-time", action="store_true")
    arguments = parser.parse_args()
    before = ["chrt", "-f", "50"] if arguments.real_time else []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        build("../examples/sharing.c", "sharing")
        build("../examples/sharing.c", "padded", "-DPADDED")
        build("programs/counters.c", "counters")
        pairs = {"examples/sharing.c, four threads": (wall, ["./sharing", POINTS, ROUNDS], ["./padded", POINTS, ROUNDS])}
        for kind in ("plain", "atomic"):
            pairs[f"two counters, {kind} increments"] = (printed, ["./counters", "together", kind], ["./counters", "apart", kind])
        print("| program | one line / lines apart | least | greatest |\n|---|---|---|---|")
        for name, (measure, together, apart) in pairs.items():
            ratios = [measure(before + together) / measure(before + apart) for _ in range(arguments.pairs)]
            print(f"| {name} | {statistics.median(ratios):.2f} | {min(ratios):.2f} | {max(ratios):.2f} |", flush=True)
        handovers = [printed(before + ["./counters", "handover"]) for _ in range(arguments.pairs)]
        print(f"\nA line goes from one processor to the other in {statistics.median(handovers):.0f} ns.")


if __name__ == "__main__":
    main()
