#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""protocols.py - kernels with the access patterns of FFT, LU, RADIX, OCEAN and WATER on 32 simulated cores: invalidations, and
coherence misses that are false sharing, by MESI, FULL, OPT and SCOPE side by side in one run.

    bench/protocols.py [--only NAME,...]        a table in Markdown

The programs are programs/splash; docs/evaluation/sharing.md has the table and discusses it.
"""

import argparse
import os
import sqlite3
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
NEARMISS = os.path.join(HERE, "../build/src/cli/nearmiss")
KERNELS = ("fft", "lu", "radix", "ocean", "water")
PROTOCOLS = ("opt", "mesi", "scope", "full")


def figures(kernel):
    program = os.path.join(HERE, "programs/splash", kernel + ".c")
    subprocess.run(["gcc", "-O2", "-g", "-pthread", program, "-lm", "-o", kernel], check=True)
    machines = [o for p in PROTOCOLS for o in ("-c", f"L1d=64K,8,64,protocol={p}:L2=8M,16,64")]
    subprocess.run([NEARMISS, "record", "-q", "-o", "p.nmp", "--cores", "32", *machines, "--", "./" + kernel],
                   stdout=subprocess.DEVNULL, check=True)
    with sqlite3.connect("p.nmp") as db:
        levels = dict(db.execute("SELECT protocol, level FROM levels WHERE level LIKE '%L1d'"))
        lost = dict(db.execute("SELECT level, sum(invalidations) FROM contenders GROUP BY level"))
        false = dict(db.execute("SELECT level, sum(false_sharing) FROM coherence GROUP BY level"))
    return {p: (lost.get(levels[p], 0), false.get(levels[p], 0)) for p in PROTOCOLS}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default=",".join(KERNELS))
    chosen = parser.parse_args().only.split(",")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        print("| kernel | " + " | ".join(f"{p.upper()} | of it false" for p in PROTOCOLS) + " |")
        print("|---" * (2 * len(PROTOCOLS) + 1) + "|")
        for kernel in chosen:
            found = figures(kernel)
            print(f"| {kernel.upper()} | " + " | ".join(f"{a:,} | {b:,}" for a, b in (found[p] for p in PROTOCOLS)) + " |",
                  flush=True)


if __name__ == "__main__":
    main()
