#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""threads.py - what several cores cost: threaded programs recorded with and without them, beside Helgrind and DRD;
and how much figures depend on the order of threads.

    bench/threads.py [--rounds N] [--only NAME,...]     ratios of processor and wall time, in Markdown
    bench/threads.py --spread [--only NAME,...]         coherence misses over 16 seeds, and over quanta from 16 to 1024

Programs: xz, zstd and sort of Debian and ripgrep (Rust) with four threads, and programs/team.c: a stencil by OpenMP,
and a queue with a mutex and conditions. Each round runs all recorders of a program one after the other; a time is the
minimum over the rounds, divided by that of `nearmiss record` without cores.
"""

import argparse
import os
import random
import resource
import shutil
import sqlite3
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
NEARMISS = os.path.join(HERE, "../build/src/cli/nearmiss")
SPEC = ["-c", "L1d=32K,8,64:L2=1M,16,64"]
RECORDERS = {
    "nearmiss": [NEARMISS, "record", "-q", "-o", "p.nmp", *SPEC, "--"],
    "--cores 4": [NEARMISS, "record", "-q", "-o", "p.nmp", *SPEC, "--cores", "4", "--"],
    "Helgrind": ["valgrind", "-q", "--tool=helgrind", "--log-file=log"],
    "DRD": ["valgrind", "-q", "--tool=drd", "--log-file=log"],
}


def programs():
    rng = random.Random(1)
    with open("text", "w", encoding="ascii") as file:
        for _ in range(60000):
            file.write("%08d %s\n" % (rng.randrange(10**8), "".join(rng.choices("abcdefgh", k=20))))
    os.mkdir("tree")
    for i in range(40):
        shutil.copy("text", f"tree/{i}") if i < 8 else open(f"tree/{i}", "w", encoding="ascii").write("needle\n" * 2000)
    subprocess.run(["gcc", "-O2", "-g", "-fopenmp", os.path.join(HERE, "programs/team.c"), "-o", "team"], check=True)
    return {
        "xz -T4": ["xz", "-T4", "-1", "--block-size=400000", "-kc", "text"],
        "zstd -T4": ["zstd", "-T4", "-1", "-B512K", "-qc", "text"],
        "sort": ["sort", "--parallel=4", "-S4M", "text"],
        "rg -j4": ["rg", "-j4", "needle", "tree"],
        "stencil": ["./team", "stencil"],
        "queue": ["./team", "queue"],
    }


def seconds(command):
    """Processor and wall time."""
    start = time.monotonic()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)}: status {done.returncode}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - start


def cost(chosen, rounds):
    others = list(RECORDERS)[1:]
    print("| program | " + " | ".join(f"{name}, {what}" for name in others for what in ("processor", "wall")) + " |")
    print("|---" * (2 * len(others) + 1) + "|")
    for name, command in chosen.items():
        times = {recorder: [] for recorder in RECORDERS}
        for _ in range(rounds):
            for recorder, prefix in RECORDERS.items():
                times[recorder].append(seconds(prefix + command))
        least = {recorder: [min(t) for t in zip(*both)] for recorder, both in times.items()}
        ratios = [least[other][k] / least["nearmiss"][k] for other in others for k in (0, 1)]
        print(f"| {name} | " + " | ".join(f"{r:.2f}" for r in ratios) + " |", flush=True)


def coherence(*options):
    subprocess.run([NEARMISS, "replay", "-q", "-o", "r.nmp", *SPEC, "--cores", "4", *options, "t.nmt"], check=True)
    with sqlite3.connect("r.nmp") as db:
        return db.execute("SELECT sum(coherence), sum(read_misses + write_misses) FROM levels WHERE level = 'L1d'").fetchone()


def spread(chosen):
    print("| program | coherence misses, 16 seeds | all L1d misses, 16 seeds | coherence misses, quantum 16 | 64 | 256 | 1024 |")
    print("|---|---|---|---|---|---|---|")
    for name, command in chosen.items():
        subprocess.run([NEARMISS, "record", "-q", "-o", "p.nmp", *SPEC, "--trace", "t.nmt", "--", *command],
                       stdout=subprocess.DEVNULL, check=True)
        drawn = [coherence("--schedule", f"random:{seed}") for seed in range(1, 17)]
        quanta = [coherence("--quantum", str(quantum))[0] for quantum in (16, 64, 256, 1024)]
        ranges = [f"{min(f):,} to {max(f):,}" for f in zip(*drawn)]
        print(f"| {name} | {ranges[0]} | {ranges[1]} | " + " | ".join(f"{q:,}" for q in quanta) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--spread", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        chosen = {n: c for n, c in programs().items()
                  if shutil.which(c[0]) and (not arguments.only or n in arguments.only.split(","))}
        if arguments.spread:
            spread(chosen)
        else:
            cost(chosen, arguments.rounds)


if __name__ == "__main__":
    main()
