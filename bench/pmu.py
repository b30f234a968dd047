#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pmu.py - how right samples of misses are: the studies of Buck's thesis (chapters 3 and 5) on programs of Debian, and the bias
of each rule by which processors sample, on the kernels of bench/programs/tagging.c.

    bench/pmu.py misses       2 MB, two-way: shares of objects, extra misses and time at each period
    bench/pmu.py evictions    64 KB, four-way, lines of 32 bytes: shares of objects, of pairs, and of pairs at a line
    bench/pmu.py rules        what each rule says of three kernels, with fixed and random periods

Each program is recorded once; all samplers see the same run. Tables are those of docs/evaluation/samples.md.
"""

import argparse
import csv
import io
import os
import subprocess
import sys
import tempfile

import run
import workloads

PROGRAMS = ["gzip", "bzip2", "xz", "sqlite3", "jq", "python3", "cc1", "perl", "sort", "minisat"]
SIZES = {"misses": "L1d=2M,2,64", "evictions": "L1d=64K,4,32"}
PERIODS = {"misses": [10, 100, 1000, 10000, 50000, 1000000], "evictions": [25, 250, 2500, 25000]}
RULES = ["miss", "precise", "pebs", "ibs"]
KERNELS = {"loop": ["300000"], "chase": ["200000"], "product": ["120"]}
KERNEL_CACHE = "L1d=32K,8,64"


def accuracy(nearmiss, *arguments):
    text = subprocess.run([nearmiss, "accuracy", "--format=csv", *arguments], stdout=subprocess.PIPE, check=True).stdout
    return list(csv.DictReader(io.StringIO(text.decode())))


def record(nearmiss, workload, cache, samplers, profile="pmu.nmp"):
    done = subprocess.run([nearmiss, "record", "-q", "-o", profile, "--cache", cache, "--pmu", samplers, "--", *workload.argv],
                          stdin=open(workload.stdin or "/dev/null", "rb"), stdout=subprocess.DEVNULL,
                          env=workloads.ENVIRONMENT, check=False)
    if done.returncode not in workloads.ENDED:
        sys.exit(f"pmu.py: {workload.name} ended with {done.returncode}")


def total(nearmiss, view, figure):
    text = subprocess.run([nearmiss, "query", "-i", "pmu.nmp", "--format=csv", f"SELECT sum({figure}) FROM {view}"],
                          stdout=subprocess.PIPE, check=True).stdout
    return int(text.split()[1])


def points(row):
    return f"{float(row['error']):.1f}" if row["error"] else "–"


def number(text, digits):
    return f"{float(text):.{digits}f}" if text else "–"


def rates(nearmiss, study, scale, names):
    found, missing = workloads.make("inputs", scale, ("tools", "unseen"))
    if missing:
        print("left out:", ", ".join(missing), file=sys.stderr)
    samplers = ",".join(f"miss@{n}" for n in PERIODS[study]) + ",random=1"
    wanted = ["object"] if study == "misses" else ["object", "pair", "pair-line"]
    print("| program | loads | period | samples |", " | ".join(wanted), "| tau | in 95 % | extra misses % | time % |", flush=True)
    for workload in found:
        if workload.name not in names:
            continue
        record(nearmiss, workload, SIZES[study], samplers)
        loads = total(nearmiss, "counts", "loads")
        by = {name: accuracy(nearmiss, "pmu.nmp", "--by", name) for name in wanted}
        for i, row in enumerate(by["object"]):
            print(f"| {workload.name} | {loads:,} | {PERIODS[study][i]:,} | {int(row['samples']):,} |",
                  " | ".join(points(by[name][i]) for name in wanted),
                  f"| {number(row['tau'], 2)} | {row['covered'] or 0} of {row['ranked']} | {number(row['extra_misses'], 2)} |",
                  f"{number(row['overhead'], 2)} |", flush=True)


def rules(nearmiss, period):
    path = os.path.abspath("tagging")
    subprocess.run(["gcc", "-g", "-O1", "-fno-tree-vectorize", "-o", path, os.path.join(workloads.HERE, "programs/tagging.c")],
                   check=True)
    print("| kernel | object | counted % |", " | ".join(f"{rule} | random" for rule in RULES), "|")
    for kernel, arguments in KERNELS.items():
        shares = {}
        for periods in ("", ",random=1"):
            samplers = ",".join(f"{rule}@{period}" for rule in RULES)
            record(nearmiss, workloads.Workload(kernel, [path, kernel, *arguments]), KERNEL_CACHE, samplers + periods)
            for rule in RULES:
                for row in accuracy(nearmiss, "pmu.nmp", "--limit=4", f"--sampler={rule}@{period}"):
                    shares.setdefault((row["object"], row["share"]), []).append(row["estimate"])
        for (name, share), estimates in shares.items():
            if float(share) >= 1:
                fixed, random = estimates[:len(RULES)], estimates[len(RULES):]
                print(f"| {kernel} | {name} | {float(share):.1f} |",
                      " | ".join(f"{number(a, 1)} | {number(b, 1)}" for a, b in zip(fixed, random)), "|", flush=True)


def main():
    parser = argparse.ArgumentParser(description="How right samples of misses are.")
    parser.add_argument("study", choices=["misses", "evictions", "rules"])
    parser.add_argument("--nearmiss", default=os.path.join(run.TOP, "build/src/cli/nearmiss"))
    parser.add_argument("--scale", type=float, default=0.25, help="of the inputs (0.25)")
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--period", type=int, default=100, help="of the rules (100)")
    options = parser.parse_args()
    nearmiss = os.path.abspath(options.nearmiss)
    if not os.path.exists(nearmiss):
        sys.exit("pmu.py: nearmiss is not built")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        if options.study == "rules":
            rules(nearmiss, options.period)
        else:
            rates(nearmiss, options.study, options.scale, options.programs.split(","))


if __name__ == "__main__":
    main()
