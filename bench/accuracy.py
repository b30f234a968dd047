#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""accuracy.py - nearmiss's counts beside Cachegrind's, program by program, with the same geometry.

Cachegrind counts an instruction that reads and writes one place (a "modify") as one read; nearmiss
counts a read and a write. So, with M modifies executed,

    reads = Dr of Cachegrind                 writes = Dw of Cachegrind + M

Callgrind counts the same modify as one write, so M = Dr of Cachegrind - Dr of Callgrind: both peers
together give every total, and nothing of nearmiss's own goes into the expectation. Misses need no
correction: the modify's miss is the read's in Cachegrind and in nearmiss (in Callgrind the write's).

Arguments and environment lie on the program's stack and move it, and where it lies decides which lines
collide. So they are the same for all, to the byte: Valgrind adds the folder of its tools to the program's
environment twice, and the peers get theirs through links in a folder whose name is as long as that of
nearmiss's collector, and Debian's script around Valgrind, which sets variables of its own, is left out.
Nobody frees the C library's memory at exit, which Valgrind's tools do unless told.

What is left is that Cachegrind counts two reads for a locked addition or exchange, because Valgrind makes a
load and a compare-and-swap of it; nearmiss counts the one read that the program makes. With --explain the
functions whose counts differ most are listed.

Exit status: 0 if first-level misses are within --limit percent on every program, else 3.
"""

import argparse
import collections
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import run
import workloads

EVENTS = ("reads", "writes", "read_misses", "write_misses")


def execute(command, workload, environment=None):
    with open(workload.stdin or os.devnull, "rb") as source:
        done = subprocess.run(command + workload.argv, stdin=source, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, env=environment or workloads.ENVIRONMENT, check=False)
    if done.returncode:
        sys.exit(f"accuracy.py: status {done.returncode}: {' '.join(command)}\n{done.stderr.decode()}")


def read_peer(path):
    """Function -> {event: count} from a file of Cachegrind or Callgrind; the name "" holds the total."""
    functions, names, function = collections.defaultdict(collections.Counter), [], "?"
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            key, _, rest = line.partition(":")
            if key == "events":
                names = rest.split()
            elif key in ("summary", "totals"):
                functions[""] = collections.Counter(dict(zip(names, map(int, rest.split()))))
            elif line.startswith("fn="):
                function = line[3:].strip()
            elif line[0].isdigit():
                functions[function].update(dict(zip(names, map(int, line.split()[1:]))))
    return functions


def peer_library(nearmiss):
    """Makes a folder of links to Valgrind's tools, with a name as long as the one of nearmiss's collector."""
    shown = subprocess.run([nearmiss, "record", "-o", "accuracy.nmp", "--", "/usr/bin/env"], capture_output=True,
                           text=True, env=workloads.ENVIRONMENT, check=True).stdout
    ours = next(line.split("=", 1)[1] for line in shown.splitlines() if line.startswith("VALGRIND_LIB="))
    tools = os.path.dirname(os.path.realpath(os.path.join(ours, "vgpreload_core-amd64-linux.so")))
    folder = tempfile.mkdtemp(prefix="", dir="/tmp")
    if len(ours) < len(folder):
        sys.exit(f"accuracy.py: {ours} is too short a name to imitate")
    if len(ours) > len(folder) + 1:
        folder = os.path.join(folder, "x" * (len(ours) - len(folder) - 1))
        os.mkdir(folder)
    for name in os.listdir(tools):
        os.symlink(os.path.join(tools, name), os.path.join(folder, name))
    return folder


def run_peer(tool, workload, library):
    out = f"{tool}.out"
    execute([run.find_valgrind(), "-q", "--run-libc-freeres=no", "--run-cxx-freeres=no", f"--tool={tool}",
             "--cache-sim=yes", *run.GEOMETRY, f"--{tool}-out-file={out}"], workload,
            dict(workloads.ENVIRONMENT, VALGRIND_LIB=library))
    return read_peer(out)


def run_nearmiss(nearmiss, workload):
    execute([nearmiss, "record", "-o", "accuracy.nmp", "--cache", run.SPEC, "--"], workload)
    sums = ", ".join(f"sum({event})" for event in EVENTS)
    functions = {}
    with sqlite3.connect("file:accuracy.nmp?mode=ro", uri=True) as db:
        for row in db.execute(f"SELECT function, {sums} FROM counts WHERE level = 'L1d' GROUP BY function"):
            functions[row[0] or "?"] = dict(zip(EVENTS, row[1:]))
        row = db.execute(f"SELECT {sums} FROM counts WHERE level = 'L1d'").fetchone()
    db.close()
    functions[""] = dict(zip(EVENTS, row))
    return functions


def expected(cachegrind, callgrind, function=""):
    c = cachegrind[function]
    modifies = c["Dr"] - callgrind[function]["Dr"]
    return {"reads": c["Dr"], "writes": c["Dw"] + modifies, "read_misses": c["D1mr"], "write_misses": c["D1mw"]}


def percent(got, want):
    return 0.0 if got == want else 100.0 * (got - want) / want if want else float("inf")


def explain(ours, cachegrind):
    """Functions by how much their misses and reads differ; writes are left out (modifies are not known)."""
    print(f"    {'function':50} {'reads':>12} {'Dr':>12} {'misses':>10} {'D1mr+D1mw':>10}")
    rows = []
    for function in (set(ours) | set(cachegrind)) - {""}:
        o, c = ours.get(function, dict.fromkeys(EVENTS, 0)), cachegrind.get(function, collections.Counter())
        misses, theirs = o["read_misses"] + o["write_misses"], c["D1mr"] + c["D1mw"]
        rows.append((abs(misses - theirs), abs(o["reads"] - c["Dr"]), function, o["reads"], c["Dr"], misses, theirs))
    for row in sorted(rows, reverse=True)[:25]:
        print(f"    {row[2][:50]:50} {row[3]:12} {row[4]:12} {row[5]:10} {row[6]:10}")


def compare(workload, nearmiss, library, want_explanation):
    """Prints the program's row and returns its worst difference in first-level misses, in percent."""
    cachegrind, callgrind = (run_peer(tool, workload, library) for tool in ("cachegrind", "callgrind"))
    want = expected(cachegrind, callgrind)
    ours = run_nearmiss(nearmiss, workload)
    got = ours[""]
    cells = "".join(f" {got[event]:13,} {percent(got[event], want[event]):+8.3f}%" for event in EVENTS)
    print(f"{workload.name:11}{cells}", flush=True)
    if want_explanation:
        explain(ours, cachegrind)
    return max(abs(percent(got[event], want[event])) for event in ("read_misses", "write_misses"))


def main():
    parser = argparse.ArgumentParser(description="nearmiss's counts beside Cachegrind's.")
    parser.add_argument("--class", dest="classes", default="tools", help="classes of programs (default tools)")
    parser.add_argument("--only", help="programs to run, separated by commas")
    parser.add_argument("--explain", action="store_true", help="list the functions that differ most")
    parser.add_argument("--nearmiss", help="the executable (default: build/src/cli/nearmiss, then the PATH)")
    parser.add_argument("--work", default=os.path.join(run.TOP, "build-bench"), help="folder for inputs and outputs")
    parser.add_argument("--scale", type=float, default=0.5, help="size of the inputs (default 0.5)")
    parser.add_argument("--limit", type=float, default=0.5, help="largest difference in misses, percent (default 0.5)")
    options = parser.parse_args()
    nearmiss = run.find_nearmiss(options.nearmiss)
    if not nearmiss or not run.find_valgrind():
        sys.exit("accuracy.py: needs nearmiss and Valgrind")
    programs, _ = workloads.make(options.work, options.scale, workloads.members(options.classes))
    programs = [w for w in programs if not options.only or w.name in options.only.split(",")]
    if not programs:
        sys.exit("accuracy.py: there are no such programs")
    print(f"{'':11}" + "".join(f" {event:>13} {'differ':>9}" for event in EVENTS))
    library = peer_library(nearmiss)
    worst = [compare(w, nearmiss, library, options.explain) for w in programs]
    shutil.rmtree(os.path.join("/tmp", library.split("/")[2]))
    return 3 if max(worst) > options.limit else 0


if __name__ == "__main__":
    sys.exit(main())
