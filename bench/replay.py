#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""replay.py - how large traces are and how fast they are replayed.

Records a trace of each program of workloads.py, a tenth of its size, and replays it with one thread and with two, in
turn, round after round. A rate is the references over the wall time of one replay without its start and end
(`wall_seconds` of the profile), so without reading names and writing the profile. The table has the median over the
rounds; CPU time is the least of all rounds. Replays with one thread and with two must have the counts of the
recording.

    bench/replay.py                        five rounds, about five minutes on two cores
    bench/replay.py --only jq --rounds 9   one program
    bench/replay.py --from F --markdown    the table of stored results, as in docs/performance.md
"""

import argparse
import json
import os
import resource
import sqlite3
import statistics
import subprocess
import sys

import run
import workloads

COUNTS = "SELECT level, process, object, file, line, sum(reads), sum(writes), sum(read_misses), sum(write_misses), " \
         "sum(cold), sum(capacity), sum(conflict), sum(evictions), sum(reuse) FROM counts " \
         "GROUP BY level, process, object, file, line ORDER BY 1, 2, 3, 4, 5"


def look(profile, query):
    with sqlite3.connect(f"file:{profile}?mode=ro", uri=True) as db:
        found = db.execute(query).fetchall()
    db.close()
    return found


def info(profile, key):
    return float(look(profile, f"SELECT value FROM info WHERE key = '{key}'")[0][0])


def record(nearmiss, workload):
    """Leaves the trace and the profile in files of the program's name; returns (references, bytes)."""
    stdin = open(workload.stdin, "rb") if workload.stdin else subprocess.DEVNULL
    subprocess.run([nearmiss, "record", "-q", "-o", workload.name + ".nmp", "--cache", run.SPEC, "--trace",
                    workload.name + ".nmt", "--", *workload.argv], stdin=stdin, stdout=subprocess.DEVNULL,
                   env=workloads.ENVIRONMENT, check=True)
    return int(info(workload.name + ".nmp", "references")), os.path.getsize(workload.name + ".nmt")


def replay(nearmiss, name, threads):
    """(wall seconds of the simulation, CPU seconds of the whole command)."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([nearmiss, "replay", "-q", "-o", f"replay{threads}.nmp", "--cache", run.SPEC, "--threads",
                    str(threads), name + ".nmt"], env=workloads.ENVIRONMENT, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return info(f"replay{threads}.nmp", "wall_seconds"), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def demand_equal(name):
    direct = look(name + ".nmp", COUNTS)
    for threads in (1, 2):
        if look(f"replay{threads}.nmp", COUNTS) != direct:
            sys.exit(f"replay.py: {name}: a replay with {threads} threads differs from the recording")


def measure(nearmiss, programs, rounds):
    results = {}
    for workload in programs:
        references, size = record(nearmiss, workload)
        results[workload.name] = {"references": references, "bytes": size, "runs": {"1": [], "2": []}}
    for turn in range(rounds):
        for name, found in results.items():
            for threads in ("1", "2"):
                wall, cpu = replay(nearmiss, name, int(threads))
                found["runs"][threads].append({"wall": wall, "cpu": cpu})
            if turn == 0:
                demand_equal(name)
            print(f"round {turn + 1} of {rounds}: {name}", file=sys.stderr)
    return results


def figures(found):
    """Bytes a reference, M references/s with one thread and with two, and how many times one is two."""
    rate = [found["references"] / 1e6 / statistics.median(r["wall"] for r in found["runs"][t]) for t in ("1", "2")]
    ratio = statistics.median(a["wall"] / b["wall"] for a, b in zip(found["runs"]["1"], found["runs"]["2"]))
    cpu = [min(r["cpu"] for r in found["runs"][t]) * 1e9 / found["references"] for t in ("1", "2")]
    return [found["bytes"] / found["references"], rate[0], rate[1], ratio, cpu[0], cpu[1]]


def table(results, markdown):
    head = ["program", "M refs", "bytes/ref", "M refs/s, 1 thread", "2 threads", "ratio", "CPU ns/ref, 1", "2"]
    rows = [[name, f"{found['references'] / 1e6:.1f}"] + [format(x, f) for x, f in zip(figures(found), FORMATS)]
            for name, found in results.items()]
    all_figures = list(zip(*(figures(found) for found in results.values())))
    rows.append(["median", ""] + [format(statistics.median(x), f) for x, f in zip(all_figures, FORMATS)])
    if markdown:
        print("| " + " | ".join(head) + " |\n|---|" + "---:|" * (len(head) - 1))
        for row in rows:
            print("| " + " | ".join(row) + " |")
        return
    widths = [max(len(row[i]) for row in [head] + rows) for i in range(len(head))]
    for row in [head] + rows:
        print("  ".join(cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths))))


FORMATS = [".3f", ".1f", ".1f", ".2f", ".1f", ".1f"]


def main():
    parser = argparse.ArgumentParser(description="Size of traces and speed of replays.")
    parser.add_argument("--only", action="append", help="one program (may be given again)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=0.1, help="size of the inputs (default 0.1)")
    parser.add_argument("--nearmiss", help="the executable (default: build/src/cli/nearmiss, then the PATH)")
    parser.add_argument("--work", default=os.path.join(run.TOP, "build-bench"), help="folder for inputs and traces")
    parser.add_argument("--json", help="write all figures there")
    parser.add_argument("--from", dest="stored", help="show the figures of such a file; run nothing")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    if options.stored:
        with open(options.stored, encoding="utf-8") as f:
            return table(json.load(f), options.markdown)
    nearmiss = run.find_nearmiss(options.nearmiss)
    if not nearmiss:
        sys.exit("replay.py: nearmiss is not built")
    path = os.path.abspath(options.json) if options.json else None
    programs, missing = workloads.make(os.path.abspath(options.work), options.scale)
    for name in missing:
        print(f"replay.py: {name} is not here: left out", file=sys.stderr)
    results = measure(nearmiss, [w for w in programs if not options.only or w.name in options.only], options.rounds)
    if path:
        with open(path, "w", encoding="utf-8") as f:
            json.dump(results, f, indent=1)
    table(results, options.markdown)
    return None


if __name__ == "__main__":
    main()
