#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""same.py - whether two builds of nearmiss count the same.

Records a trace of each program of workloads.py with the older, replays it with both, and compares the profiles: every
count by level, by (level, thread, function, file, line), and by (level, object); and blocks and bytes of objects. The
last two may differ if names of objects have changed: then the numbers of objects are printed. (Two recordings would
differ: the folders of the builds move the program's stack.)

    bench/same.py --class miss OLD/nearmiss NEW/nearmiss

Exit status: 0 if counts by level and by line agree on every program, else 3.
"""

import argparse
import os
import sqlite3
import subprocess
import sys

import run
import workloads

FIGURES = "reads writes read_misses write_misses cold capacity conflict coherence loads reuse used_bytes loaded_bytes evictions"
SUMS = ", ".join(f"sum({figure})" for figure in FIGURES.split())
QUERIES = {
    "level": f"SELECT level, {SUMS} FROM counts GROUP BY 1",
    "line": f"SELECT level, thread, function, file, line, {SUMS} FROM counts GROUP BY 1, 2, 3, 4, 5",
    "object": f"SELECT level, object, {SUMS} FROM counts GROUP BY 1, 2",
    "blocks": "SELECT object, blocks, bytes, largest FROM objects",
}


def record(nearmiss, workload):
    stdin = open(workload.stdin, "rb") if workload.stdin else subprocess.DEVNULL
    done = subprocess.run([nearmiss, "record", "-q", "-o", "same.nmp", "--cache", run.SPEC, "--trace", "same.nmt", "--",
                           *workload.argv], stdin=stdin, stdout=subprocess.DEVNULL, env=workloads.ENVIRONMENT)
    if done.returncode not in workloads.ENDED:
        done.check_returncode()


def replay(nearmiss, spec):
    """Each query's rows."""
    subprocess.run([nearmiss, "replay", "-q", "-o", "same.nmp", *spec, "same.nmt"], env=workloads.ENVIRONMENT, check=True)
    with sqlite3.connect("file:same.nmp?mode=ro", uri=True) as db:
        found = {name: set(db.execute(query)) for name, query in QUERIES.items()}
    db.close()
    return found


def main():
    parser = argparse.ArgumentParser(description="Whether two builds of nearmiss count the same.")
    parser.add_argument("nearmiss", nargs=2, help="the executables, the older first")
    parser.add_argument("--class", dest="classes", default="tools,miss", help="classes of programs (default tools,miss)")
    parser.add_argument("--only", help="programs to run, separated by commas")
    parser.add_argument("--host", action="store_true", help="simulate the host's caches")
    parser.add_argument("--show", action="store_true", help="print rows that differ")
    parser.add_argument("--scale", type=float, default=0.3, help="size of the inputs (default 0.3)")
    parser.add_argument("--work", default=os.path.join(run.TOP, "build-bench"), help="folder for inputs and outputs")
    options = parser.parse_args()
    executables = [os.path.abspath(path) for path in options.nearmiss]
    programs, _ = workloads.make(options.work, options.scale, workloads.members(options.classes))
    failed = False
    for w in programs:
        if options.only and w.name not in options.only.split(","):
            continue
        record(executables[0], w)
        old, new = (replay(path, [] if options.host else ["--cache", run.SPEC]) for path in executables)
        cells = [f"{name} {'same' if old[name] == new[name] else f'{len(old[name] ^ new[name])} rows differ'}"
                 for name in QUERIES]
        failed |= any(old[name] != new[name] for name in ("level", "line"))
        print(f"{w.name:12} {', '.join(cells)}; {len(old['blocks'])} objects, then {len(new['blocks'])}", flush=True)
        for name in QUERIES if options.show else ():
            for row in sorted(old[name] ^ new[name], key=str)[:40]:
                print("   ", "-" if row in old[name] else "+", row)
    return 3 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
