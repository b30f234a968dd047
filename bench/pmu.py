#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pmu.py - how right samples of misses are: the studies of Buck's thesis (chapters 3 and 5) on programs of Debian, and the bias
of each rule by which processors sample, on the kernels of bench/programs/tagging.c.

    bench/pmu.py misses       2 MB, two-way: shares of objects, extra misses and time at each period
    bench/pmu.py evictions    64 KB, four-way, lines of 32 bytes: shares of objects, of pairs, and of pairs at a line
    bench/pmu.py rules        what each rule says of three kernels, in percent, with fixed and random periods

Each program is recorded once; all samplers see the same run. Tables are those of docs/evaluation/samples.md.
"""

import argparse
import csv
import io
import os
import statistics
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


def record(nearmiss, workload, cache, samplers):
    with open(workload.stdin or "/dev/null", "rb") as stdin:
        done = subprocess.run([nearmiss, "record", "-q", "-o", "pmu.nmp", "--cache", cache, "--pmu", samplers, "--",
                               *workload.argv], stdin=stdin, stdout=subprocess.DEVNULL, env=workloads.ENVIRONMENT, check=False)
    if done.returncode not in workloads.ENDED:
        sys.exit(f"pmu.py: {workload.name} ended with {done.returncode}")


def loads_of(nearmiss):
    text = subprocess.run([nearmiss, "query", "-i", "pmu.nmp", "--format=csv", "SELECT sum(loads) FROM counts"],
                          stdout=subprocess.PIPE, check=True).stdout
    return int(text.split()[1])


def number(text, digits=1):
    return f"{float(text):.{digits}f}" if text else "–"


def spread(values, digits):
    """"median (largest)"."""
    values = [float(value) for value in values if value]
    return f"{statistics.median(values):.{digits}f} ({max(values):.{digits}f})" if values else "–"


def show(periods, wanted, results):
    """Errors by program and period; then what all programs have in common. results: (name, loads, {part: rows by period})."""
    head = " | ".join(f"1 in {n:,}" for n in periods)
    print(f"| program | misses | {head} |\n|---|{'---:|' * (len(periods) + 1)}")
    for name, loads, by in results:
        cells = [" / ".join(number(by[part][i]["error"]) for part in wanted) for i in range(len(periods))]
        print(f"| {name} | {loads:,} | {' | '.join(cells)} |")
    rows = [[by["object"][i] for _, _, by in results] for i in range(len(periods))]
    lines = [("extra misses, %", [spread([r["extra_misses"] for r in at], 2) for at in rows]),
             ("time, %", [spread([r["overhead"] for r in at], 2) for at in rows]),
             ("tau of objects", [number(statistics.median(float(r["tau"]) for r in at if r["tau"]), 2)
                                 if any(r["tau"] for r in at) else "–" for at in rows]),
             ("in 95 %", [f"{sum(int(r['covered'] or 0) for r in at)} of {sum(int(r['ranked']) for r in at if r['covered'])}"
                          for at in rows])]
    print(f"\n| | {head} |\n|---|{'---:|' * len(periods)}")
    for title, cells in lines:
        print(f"| {title} | {' | '.join(cells)} |")


def rates(nearmiss, study, scale, names):
    found, missing = workloads.make("inputs", scale, ("tools", "unseen"))
    if missing:
        print("left out:", ", ".join(missing), file=sys.stderr)
    samplers = ",".join(f"miss@{n}" for n in PERIODS[study]) + ",random=1"
    wanted = ["object"] if study == "misses" else ["object", "pair", "pair-line"]
    results = []
    for workload in found:
        if workload.name not in names:
            continue
        record(nearmiss, workload, SIZES[study], samplers)
        results.append((workload.name, loads_of(nearmiss),
                        {part: accuracy(nearmiss, "pmu.nmp", "--by", part) for part in wanted}))
    show(PERIODS[study], wanted, results)


def rules(nearmiss, period):
    path = os.path.abspath("tagging")
    subprocess.run(["gcc", "-g", "-O1", "-fno-tree-vectorize", "-o", path, os.path.join(workloads.HERE, "programs/tagging.c")],
                   check=True)
    print("| kernel | object | counted % |", " | ".join(f"{rule} | random" for rule in RULES), f"|\n|---|---|{'---:|' * 9}")
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
                      " | ".join(f"{number(a)} | {number(b)}" for a, b in zip(fixed, random)), "|", flush=True)


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
