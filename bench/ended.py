#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ended.py - what grows with what has ended: wall time and the engine's peak memory of programs/ended.c, which makes N,
4 N and 16 N processes, commands, threads, libraries, mappings or blocks that end again, beside Cachegrind.

    bench/ended.py                       all kinds, about ten minutes
    bench/ended.py --only threads
"""

import argparse
import os
import subprocess
import sys
import time

import run
import workloads

KINDS = {"children": 60, "at-once": 60, "commands": 60, "threads": 1250, "libraries": 250, "mappings": 5000, "blocks": 250000}
MACHINE = "L1d=48K,12,64:L2=2M,16,64:L3=256M,16,64"  # a large last level


def measure(command):
    """Wall seconds, and the largest peak of a process, in MiB."""
    start = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as child:
        said = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{command}: {child.returncode}: {said.decode()}")
    return time.monotonic() - start, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description="What grows with what has ended.")
    parser.add_argument("--only", choices=KINDS, help="this kind alone")
    parser.add_argument("--most", type=int, default=16, help="times the first number (default 16)")
    parser.add_argument("--nearmiss", help="the executable (default: build/src/cli/nearmiss, then the PATH)")
    parser.add_argument("--work", default=os.path.join(run.TOP, "build-bench"), help="folder for the program and results")
    options = parser.parse_args()
    nearmiss = run.find_nearmiss(options.nearmiss)
    os.makedirs(options.work, exist_ok=True)
    os.chdir(options.work)
    program = os.path.abspath(workloads.compiled("ended.c"))
    print("| kind | N | Cachegrind, s | nearmiss, s | ratio | engine, MiB |\n|---|" + "---:|" * 5)
    for kind, first in KINDS.items():
        for factor in (1, 4, 16):
            if (options.only and kind != options.only) or factor > options.most:
                continue
            work = [program, kind, str(first * factor)]
            peer, _ = measure(["valgrind", "-q", "--tool=cachegrind", "--cache-sim=yes", "--trace-children=yes",
                               "--cachegrind-out-file=/dev/null", *work])
            own, mib = measure([nearmiss, "record", "-q", "-o", "ended.nmp", "--cache", MACHINE, "--", *work])
            print(f"| {kind} | {first * factor:,} | {peer:.2f} | {own:.2f} | {own / peer:.2f} | {mib:.0f} |", flush=True)


if __name__ == "__main__":
    main()
