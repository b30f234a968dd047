#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""no_false_sharing.py - threaded programs that share read-only data and locks: the largest false sharing of any object, as a
share of all misses of the first level. Nothing above 1 % is to be seen.

    bench/no_false_sharing.py [--only NAME,...]        a table in Markdown; programs that are not installed are left out
"""

import argparse
import os
import random
import shutil
import sqlite3
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
NEARMISS = os.path.join(HERE, "../build/src/cli/nearmiss")
MACHINE = ["--cores", "4", "-c", "L1d=32K,8,64:L2=1M,16,64"]


def programs():
    rng = random.Random(1)
    with open("text", "w", encoding="ascii") as file:
        for _ in range(20000):
            file.write("%08d %s\n" % (rng.randrange(10**8), "".join(rng.choices("abcdefgh", k=20))))
    os.mkdir("tree")
    for i in range(16):
        shutil.copy("text", f"tree/{i}")
    subprocess.run(["gcc", "-O2", "-g", "-fopenmp", os.path.join(HERE, "programs/team.c"), "-o", "team"], check=True)
    subprocess.run(["gcc", "-O2", "-g", "-pthread", "-DPADDED", os.path.join(HERE, "../examples/sharing.c"), "-o", "padded"],
                   check=True)
    return {
        "pigz -p4": ["pigz", "-p4", "-1", "-kc", "text"],
        "pbzip2 -p4": ["pbzip2", "-p4", "-1", "-kc", "text"],
        "lbzip2 -n4": ["lbzip2", "-n4", "-1", "-kc", "text"],
        "xz -T4": ["xz", "-T4", "-1", "--block-size=150000", "-kc", "text"],
        "pixz -p4": ["pixz", "-p", "4", "-1", "-i", "text", "-o", "out"],
        "plzip -n4": ["plzip", "-n4", "-1", "-kc", "text"],
        "zstd -T4": ["zstd", "-T4", "-1", "-B512K", "-qc", "text"],
        "lrzip -p4": ["lrzip", "-q", "-p4", "-f", "-o", "out2", "text"],
        "sort --parallel=4": ["sort", "--parallel=4", "-S4M", "text"],
        "rg -j4": ["rg", "-j4", "needle", "tree"],
        "stencil (OpenMP)": ["./team", "stencil"],
        "sharing, padded": ["./padded"],
    }


def worst(command):
    done = subprocess.run([NEARMISS, "record", "-q", "-o", "p.nmp", *MACHINE, "--", *command], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)}: status {done.returncode}")
    with sqlite3.connect("p.nmp") as db:
        misses = db.execute("SELECT sum(read_misses + write_misses) FROM levels WHERE level = 'L1d'").fetchone()[0]
        found = db.execute("SELECT object, sum(false_sharing) FROM coherence WHERE level = 'L1d' GROUP BY object "
                           "ORDER BY 2 DESC").fetchone()
    return misses, found or ("-", 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    only = parser.parse_args().only
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        print("| program | L1d misses | most false sharing, of object | misses | share |\n|---|---|---|---|---|")
        for name, command in programs().items():
            if shutil.which(command[0]) and (not only or name in only.split(",")):
                misses, (thing, false) = worst(command)
                print(f"| {name} | {misses:,} | {thing} | {false:,} | {100 * false / misses:.3f} % |", flush=True)


if __name__ == "__main__":
    main()
