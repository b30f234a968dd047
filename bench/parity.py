#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""parity.py - nearmiss's reuse and bytes used beside Callgrind's --cacheuse, program by program, same geometry.

Callgrind gives, for each place that loads lines, AcCost = the sum over these lines of 1000 / accesses, rounded down
line by line, and SpLoss = their bytes that were not touched, each for the first levels (instruction and data
cache added up) and for the last. nearmiss gives the sum of the accesses (reuse) and of the bytes used.

    SpLoss = loaded bytes - used bytes            can be converted
    AcCost: a sum of reciprocals                  cannot: a sum of accesses does not show how they were spread

So parity_twin.c counts the references of the collector's stream by both tools' rules. By nearmiss's rules it must
give nearmiss's loads, reuse and used bytes (differences are printed; one above a hundred-thousandth is a failure),
and by Callgrind's rules Callgrind's figures; the steps between show the effect of each rule. docs/parity.md explains
them.

Programs, stack and environment are as in accuracy.py. The twin's second run is made with
--vex-guest-chase=no, as Callgrind translates: Valgrind otherwise executes both halves of `a && b`.

Exit status: 0 if every figure is within --limit percent of Callgrind's, else 3.
"""

import argparse
import os
import shutil
import signal
import sqlite3
import subprocess
import sys

import accuracy
import run
import workloads

SPEC = "L1i=32K,8,64:" + run.SPEC
LEVELS = ("L1i", "L1d", "L2")
FIGURES = ("AcCost1", "SpLoss1", "AcCost2", "SpLoss2")
TOLERANCE = 0.001  # percent, between nearmiss and its twin
# Figures of the twin: what each step adds to the one before.
STEPS = ("order", "modify", "granule", "slot", "callgrind")


def collector_folder(nearmiss):
    """The folder that nearmiss gives to Valgrind, spelt as it spells it: its length moves the stack."""
    shown = subprocess.run([nearmiss, "record", "-o", "parity.nmp", "--", "/usr/bin/env"], capture_output=True, text=True,
                           env=workloads.ENVIRONMENT, check=True).stdout
    return next(line.split("=", 1)[1] for line in shown.splitlines() if line.startswith("VALGRIND_LIB="))


def run_callgrind(workload, library):
    accuracy.execute([run.find_valgrind(), "-q", "--run-libc-freeres=no", "--run-cxx-freeres=no", "--tool=callgrind",
                      "--cache-sim=yes", "--cacheuse=yes", *run.GEOMETRY, "--callgrind-out-file=parity.out"], workload,
                     dict(workloads.ENVIRONMENT, VALGRIND_LIB=library))
    names, totals = [], []
    with open("parity.out", encoding="utf-8", errors="replace") as f:
        for line in f:
            if line.startswith("events:"):
                names = line.split()[1:]
            elif line.startswith("totals:"):
                totals = map(int, line.split()[1:])
    found = dict(zip(names, totals))
    return {name: found[name] for name in FIGURES}


def run_twin(twin, workload, library, chase):
    """Rules -> level -> (loads, uses, used bytes, 1000 / uses, bytes not used)."""
    accuracy.execute([twin, "parity.twin", run.find_valgrind(), "-q", "--run-libc-freeres=no", "--run-cxx-freeres=no",
                      f"--vex-guest-chase={chase}", "--tool=nearmiss", "--arena=@FD@", "--all-blocks=yes"], workload,
                     dict(workloads.ENVIRONMENT, VALGRIND_LIB=library))
    found = {}
    with open("parity.twin", encoding="ascii") as f:
        for line in f:
            rules, level, *figures = line.split()
            found.setdefault(rules, {})[level] = tuple(map(int, figures))
    return found


def run_nearmiss(nearmiss, workload):
    """Level -> (loads, reuse, used bytes)."""
    accuracy.execute([nearmiss, "record", "-o", "parity.nmp", "--instr", "--cache", SPEC, "--"], workload)
    with sqlite3.connect("file:parity.nmp?mode=ro", uri=True) as db:
        rows = db.execute("SELECT level, sum(loads), sum(reuse), sum(used_bytes) FROM counts GROUP BY level").fetchall()
    db.close()
    return {row[0]: tuple(row[1:]) for row in rows}


def figures(levels):
    """Callgrind's four from a twin's levels."""
    first = [a + b for a, b in zip(levels["L1i"], levels["L1d"])]
    return dict(zip(FIGURES, (first[3], first[4], levels["L2"][3], levels["L2"][4])))


def agree(workload, ours, twin):
    """Prints what nearmiss and its twin count differently; false if that is more than TOLERANCE percent."""
    worst = 0.0
    for level in LEVELS:
        for name, got, want in zip(("loads", "reuse", "used bytes"), ours[level], twin[level]):
            if got != want:
                print(f"{workload.name}: {level}: nearmiss has {got:,} {name}, its twin {want:,}")
                worst = max(worst, abs(accuracy.percent(got, want)))
    return worst <= TOLERANCE


def compare(workload, options, libraries):
    """Prints the program's four rows; returns its worst difference in percent, or None if the twin disagrees."""
    ours = run_nearmiss(options.nearmiss, workload)
    chased = run_twin(options.twin, workload, libraries[0], "yes")
    plain = run_twin(options.twin, workload, libraries[0], "no")
    callgrind = run_callgrind(workload, libraries[1])
    if not agree(workload, ours, chased["nearmiss"]):
        return None
    steps = [figures(chased["nearmiss"]), figures(plain["nearmiss"])] + [figures(plain[s]) for s in STEPS]
    worst = 0.0
    for name in FIGURES:
        values = [step[name] for step in steps]
        effects = [accuracy.percent(b, a) for a, b in zip(values, values[1:])]
        differ = accuracy.percent(values[-1], callgrind[name])
        worst = max(worst, abs(differ))
        print(f"{workload.name:8} {name:8} {values[0]:13,}" + "".join(f" {e:+8.3f}" for e in effects)
              + f" {values[-1]:13,} {callgrind[name]:13,} {differ:+8.3f}%", flush=True)
    return worst


def main():
    parser = argparse.ArgumentParser(description="nearmiss's reuse and bytes used beside Callgrind's --cacheuse.")
    parser.add_argument("--only", help="programs to run, separated by commas")
    parser.add_argument("--nearmiss", help="the executable (default: build/src/cli/nearmiss, then the PATH)")
    parser.add_argument("--twin", default=os.path.join(run.TOP, "build/bench/parity_twin"), help="parity_twin's executable")
    parser.add_argument("--work", default=os.path.join(run.TOP, "build-bench"), help="folder for inputs and outputs")
    parser.add_argument("--scale", type=float, default=0.05, help="size of the inputs (default 0.05)")
    parser.add_argument("--limit", type=float, default=0.5, help="largest difference in percent (default 0.5)")
    options = parser.parse_args()
    options.nearmiss, options.twin = run.find_nearmiss(options.nearmiss), os.path.abspath(options.twin)
    if not options.nearmiss or not os.access(options.twin, os.X_OK) or not run.find_valgrind():
        sys.exit("parity.py: needs nearmiss, parity_twin and Valgrind")
    for number in (signal.SIGINT, signal.SIGQUIT):  # ignored in the background; programs ask, and do other work then
        signal.signal(number, signal.SIG_DFL)
    programs, _ = workloads.make(options.work, options.scale)
    libraries = collector_folder(options.nearmiss), accuracy.peer_library(options.nearmiss)
    print(f"{'':17} {'nearmiss':>13}" + "".join(f" {name:>8}" for name in ("&&",) + STEPS[:-1] + ("empty",))
          + f" {'twin':>13} {'Callgrind':>13} {'differ':>9}")
    worst = [compare(w, options, libraries) for w in programs if not options.only or w.name in options.only.split(",")]
    shutil.rmtree(os.path.join("/tmp", libraries[1].split("/")[2]))
    if None in worst:
        return 1
    return 3 if max(worst) > options.limit else 0


if __name__ == "__main__":
    sys.exit(main())
