#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run.py - what profiling costs: nearmiss beside its peers on real programs.

Every round runs each program under each contender in turn, so that changes of the machine affect all of them, in a
random order (the same in every benchmark), since what ran just before matters by some percent; ratios are taken
within a round, and the median over rounds is reported. CPU time is user + system time of the whole process tree (for
nearmiss: collector and engine). Peak memory is the high-water mark of the profiled process and, apart from it, of the
engine's process, read from /proc every 20 ms of the first round; it lags by at most that. (ru_maxrss would also count
the spawner's memory before exec.) Sampling takes 2 % of a processor, so the other rounds go without.

All contenders that simulate caches have the same geometry, except "host": nearmiss with the caches of this machine,
its default. nearmiss keeps what it has read of debug information for later recordings of a program, so there is
"first", the first recording, beside any later one (one before the first round is not counted).

Tables are made by class of programs (workloads.py), and one by the share of data references that miss the first level.

    bench/run.py                      five rounds of everything, some two hours on two cores
    bench/run.py --class miss --contenders native,cachegrind,cacheuse,nearmiss,host --rounds 3
                                      programs that miss much, some fifteen minutes
    bench/run.py --quick              small inputs, one round
    bench/run.py --from F --markdown  the tables of stored results, as in docs/performance.md
"""

import argparse
import json
import os
import platform
import random
import select
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

import workloads

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GEOMETRY = ["--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,16,64"]
SPEC = "L1d=32K,8,64:L2=1M,16,64"
TITLES = {"native": "native", "none": "Valgrind alone", "cachegrind": "Cachegrind", "callgrind": "Callgrind",
          "cacheuse": "Callgrind --cacheuse", "nearmiss": "nearmiss", "first": "nearmiss, first time",
          "host": "nearmiss, host's caches"}
OURS = ("nearmiss", "first", "host")
BANDS = (0, 3, 6, 12, 100)  # miss ratios, percent


def find_valgrind():
    """Debian's `valgrind` is a script that adds to the environment; what it starts is preferred."""
    return shutil.which("valgrind.bin") or shutil.which("valgrind")


def contenders(nearmiss):
    """Name -> command to put before the program.  A missing tool is left out and named."""
    valgrind = find_valgrind()
    record = [nearmiss, "record", "-o", "bench.nmp", "--cache", SPEC, "--"]
    callgrind = [valgrind, "-q", "--tool=callgrind", "--cache-sim=yes", *GEOMETRY, "--callgrind-out-file=/dev/null"]
    table = {
        "native": [],
        "none": [valgrind, "-q", "--tool=none"],
        "cachegrind": [valgrind, "-q", "--tool=cachegrind", "--cache-sim=yes", *GEOMETRY,
                       "--cachegrind-out-file=/dev/null"],
        "callgrind": callgrind,
        "cacheuse": callgrind + ["--cacheuse=yes"],
        "nearmiss": record,
        "first": record,
        "host": [nearmiss, "record", "-o", "bench.nmp", "--"],
    }
    for name, tool in [(n, c[0]) for n, c in table.items() if c]:
        if not tool:
            print(f"run.py: {TITLES[name]} is not here: left out", file=sys.stderr)
            del table[name]
    return table


def find_nearmiss(given):
    for path in (given, os.path.join(TOP, "build/src/cli/nearmiss"), shutil.which("nearmiss")):
        if path and os.access(path, os.X_OK):
            return os.path.abspath(path)
    return None


def descendants(pid):
    found = [pid]
    for p in found:
        try:
            with open(f"/proc/{p}/task/{p}/children", encoding="ascii") as f:
                found += [int(child) for child in f.read().split()]
        except OSError:
            pass
    return found


def note_memory(root, engine_path, peaks):
    """Raises peaks["engine"] and peaks["program"] (KiB) to the high-water marks of the processes of now."""
    for pid in descendants(root):
        try:
            role = "engine" if os.readlink(f"/proc/{pid}/exe") == engine_path else "program"
            with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
                peak = next((int(line.split()[1]) for line in f if line.startswith("VmHWM:")), 0)
        except OSError:
            continue
        peaks[role] = max(peaks[role], peak)


def measure(argv, stdin, engine_path, names, memory=None):
    """Runs argv and returns its figures; a run that fails stops the benchmark.  names: the folder where nearmiss keeps
    names; memory: look at it every so many seconds."""
    null = os.open(os.devnull, os.O_RDWR)
    messages = os.open("messages", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o666)
    source = os.open(stdin, os.O_RDONLY) if stdin else null
    peaks = {"engine": 0, "program": 0}
    start = time.monotonic()
    pid = os.posix_spawn(argv[0], argv, {**workloads.ENVIRONMENT, "NEARMISS_CACHE_DIR": names},
                         file_actions=[(os.POSIX_SPAWN_DUP2, source, 0), (os.POSIX_SPAWN_DUP2, null, 1),
                                       (os.POSIX_SPAWN_DUP2, messages, 2)])
    ended = os.pidfd_open(pid)
    while not select.select([ended], [], [], memory)[0]:
        note_memory(pid, engine_path, peaks)
    wall = time.monotonic() - start
    _, status, usage = os.wait4(pid, 0)
    for fd in {null, source, ended, messages}:
        os.close(fd)
    if os.waitstatus_to_exitcode(status) not in workloads.ENDED:
        with open("messages", encoding="utf-8", errors="replace") as f:
            sys.exit(f"run.py: status {os.waitstatus_to_exitcode(status)}: {' '.join(argv)}\n{f.read()}")
    return {"wall": round(wall, 4), "cpu": round(usage.ru_utime + usage.ru_stime, 4),
            "program_kib": peaks["program"], "engine_kib": peaks["engine"]}


def miss_ratio(profile):
    """The share of data references that missed the first level; None if there is no such profile."""
    if not os.path.exists(profile):
        return None
    with sqlite3.connect(profile) as db:
        ratio, = db.execute("SELECT sum(read_misses + write_misses) * 1.0 / sum(reads + writes) FROM counts "
                            "WHERE level = 'L1d'").fetchone()
    db.close()
    return ratio


def run_all(options, table, programs):
    """Name -> contender -> figures of each round, and name -> class and miss ratio."""
    about = {w.name: {"class": w.kind, "miss_ratio": None} for w in programs}
    results = {w.name: {name: [] for name in table} for w in programs}
    names = tempfile.mkdtemp()
    kept, none = os.path.join(names, "kept"), os.path.join(names, "none")
    lots = random.Random(0)
    for w in programs if "nearmiss" in table else []:
        measure(table["nearmiss"] + w.argv, w.stdin, table["nearmiss"][0], kept)
        about[w.name]["miss_ratio"] = miss_ratio("bench.nmp")
    for turn in range(options.rounds):
        for w in programs:
            for name in lots.sample(list(table), len(table)):
                before = table[name]
                shutil.rmtree(none, ignore_errors=True)
                figures = measure(before + w.argv, w.stdin, before[0] if before else "",
                                  none if name == "first" else kept,
                                  None if turn else 0.02 if before else 0.002)
                results[w.name][name].append(figures)
                print(f"\rround {turn + 1}/{options.rounds}  {w.name:11} {TITLES[name]:20} {figures['wall']:7.2f} s",
                      end="", file=sys.stderr, flush=True)
    print("\r" + " " * 60 + "\r", end="", file=sys.stderr)
    shutil.rmtree(names)
    return results, about


def ratio(program, over, under, what):
    """Median over the rounds of one contender's figure divided by another's; None if either is missing."""
    if over not in program or under not in program:
        return None
    return statistics.median(a[what] / b[what] for a, b in zip(program[over], program[under]))


def column(results, over, under, what):
    cells = [ratio(program, over, under, what) for program in results.values()]
    return cells if None not in cells else None


def table_of(results, title, columns, style):
    """Rows are programs, then median and geometric mean; columns are (heading, cells) with cells or None."""
    columns = [(heading, cells) for heading, cells in columns if cells is not None]
    rows = [[title] + [heading for heading, _ in columns]]
    for n, name in enumerate(results):
        rows.append([name] + [f"{cells[n]:.2f}" for _, cells in columns])
    rows.append(["median"] + [f"{statistics.median(cells):.2f}" for _, cells in columns])
    rows.append(["geometric mean"] + [f"{statistics.geometric_mean(cells):.2f}" for _, cells in columns])
    return render(rows, style)


def render(rows, style):
    if style == "markdown":
        lines = ["| " + " | ".join(row) + " |" for row in rows]
        lines.insert(1, "|---|" + "---:|" * (len(rows[0]) - 1))
        return "\n".join(lines) + "\n"
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    return "\n".join(row[0].ljust(widths[0]) + "".join("  " + cell.rjust(w) for cell, w in zip(row[1:], widths[1:]))
                     for row in rows) + "\n"


def memory_table(results, style):
    rows = [["peak memory, MiB"] + [TITLES[n] for n in TITLES] + [f"engine of {TITLES[n]}" for n in OURS]]
    for name, program in results.items():
        cells = [max((r["program_kib"] for r in program.get(n, [])), default=0) for n in TITLES]
        cells += [max((r["engine_kib"] for r in program.get(n, [])), default=0) for n in OURS]
        rows.append([name] + [f"{kib / 1024:.0f}" if kib else "-" for kib in cells])
    return render(rows, style)


def summary(results, over, under, what):
    """Median and worst of a ratio, as text."""
    cells = column(results, over, under, what)
    return f"{statistics.median(cells):.2f} ({max(cells):.2f})" if cells else "-"


COMPARED = [("nearmiss", "cachegrind"), ("nearmiss", "cacheuse"), ("host", "cachegrind"), ("host", "nearmiss")]


def group_table(results, groups, title, style):
    """Medians, and the worst in brackets, of groups of programs: (name, members)."""
    rows = [[title, "programs"] + [f"{TITLES[a]} / {TITLES[b]}, {what}" for a, b in COMPARED for what in ("wall", "CPU")]]
    for name, members in groups:
        chosen = {n: results[n] for n in members}
        if chosen:
            rows.append([name, str(len(chosen))] +
                        [summary(chosen, a, b, what) for a, b in COMPARED for what in ("wall", "cpu")])
    return render(rows, style)


def classes_of(results, about):
    return [(name, [n for n in results if about[n]["class"] in kinds]) for name, kinds in workloads.CLASSES.items()]


def bands_of(results, about):
    known = {n: 100 * about[n]["miss_ratio"] for n in results if about[n]["miss_ratio"] is not None}
    return [(f"{low} to {high} %", [n for n in known if low <= known[n] < high]) for low, high in zip(BANDS, BANDS[1:])]


def peak(program, name, what):
    return max((r[what] for r in program.get(name, [])), default=0) / 1024


def miss_table(results, about, style):
    """Programs by miss ratio; the engine's memory beside its limit, 15 % of that of the program by itself and 100 MiB."""
    known = sorted((n for n in results if about[n]["miss_ratio"] is not None), key=lambda n: about[n]["miss_ratio"])
    pairs = [("nearmiss", "cachegrind"), ("host", "nearmiss")]
    rows = [["by miss ratio", "class", "misses, %"] +
            [f"{TITLES[a]} / {TITLES[b]}, {what}" for a, b in pairs for what in ("wall", "CPU")] +
            ["program, MiB", "limit", "engine, MiB", "engine, host's caches"]]
    for n in known:
        ratios = [ratio(results[n], a, b, what) for a, b in pairs for what in ("wall", "cpu")]
        own = peak(results[n], "native", "program_kib")
        rows.append([n, about[n]["class"], f"{100 * about[n]['miss_ratio']:.1f}"] +
                    ["-" if r is None else f"{r:.2f}" for r in ratios] + [f"{own:.0f}", f"{0.15 * own + 100:.0f}"] +
                    [f"{peak(results[n], name, 'engine_kib'):.0f}" for name in ("nearmiss", "host")])
    return render(rows, style)


def report_set(results, style):
    peers = ["none", "cachegrind", "callgrind", "cacheuse", "first", "nearmiss", "host"]
    for what, title in (("wall", "wall time / native"), ("cpu", "CPU time / native")):
        print(table_of(results, title, [(TITLES[p], column(results, p, "native", what)) for p in peers], style))
    for name in OURS:
        against = [(f"/ {TITLES[p]}, {what}", column(results, name, p, {"wall": "wall", "CPU": "cpu"}[what]))
                   for p in ("cachegrind", "cacheuse") for what in ("wall", "CPU")]
        if any(cells for _, cells in against):
            print(table_of(results, TITLES[name], against, style))
    print(memory_table(results, style))


def report(stored, style):
    results, m = stored["programs"], stored["machine"]
    about = stored.get("about", {name: {"class": "tools", "miss_ratio": None} for name in results})
    print(f"{m['processor']}, {m['cores']} cores, {m['system']}, {m['valgrind']}; rounds: {stored['rounds']}; "
          f"{stored['date']}.\n")
    for name in ("tools", "miss", "unseen"):
        chosen = {n: r for n, r in results.items() if about[n]["class"] in workloads.CLASSES[name]}
        if chosen:
            print(f"Class {name}:\n")
            report_set(chosen, style)
    print(group_table(results, classes_of(results, about), "by class", style))
    print(group_table(results, bands_of(results, about), "by miss ratio", style))
    print(miss_table(results, about, style))


def machine():
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as f:
        processor = next((line.split(":")[1].strip() for line in f if line.startswith("model name")), "?")
    version = subprocess.run(["valgrind", "--version"], capture_output=True, text=True).stdout.strip()
    return {"processor": processor, "cores": len(os.sched_getaffinity(0)), "system": f"Linux {platform.release().split('-')[0]}",
            "valgrind": version}


def parse_options():
    parser = argparse.ArgumentParser(description="What profiling costs: nearmiss beside its peers.")
    parser.add_argument("--rounds", type=int, help="how often everything runs (default 5)")
    parser.add_argument("--scale", type=float, help="size of the inputs (default 1)")
    parser.add_argument("--quick", action="store_true", help="small inputs, one round: --scale 0.15 --rounds 1")
    parser.add_argument("--class", dest="classes", default="tools,miss",
                        help="classes of programs to run: " + ",".join(workloads.CLASSES) + " (default tools,miss)")
    parser.add_argument("--only", help="programs to run, separated by commas")
    parser.add_argument("--contenders", help="contenders to run, separated by commas: " + ",".join(TITLES))
    parser.add_argument("--nearmiss", help="the executable (default: build/src/cli/nearmiss, then the PATH)")
    parser.add_argument("--work", default=os.path.join(TOP, "build-bench"), help="folder for inputs and outputs")
    parser.add_argument("--json", help="where the results go (default: results.json in the work folder)")
    parser.add_argument("--from", dest="stored", help="print stored results instead of running")
    parser.add_argument("--markdown", action="store_true", help="tables in Markdown")
    options = parser.parse_args()
    options.rounds = options.rounds or (1 if options.quick else 5)
    options.scale = options.scale or (0.15 if options.quick else 1.0)
    return options


def main():
    options = parse_options()
    style = "markdown" if options.markdown else "text"
    if options.stored:
        with open(options.stored, encoding="utf-8") as f:
            report(json.load(f), style)
        return
    table = contenders(find_nearmiss(options.nearmiss))
    if options.contenders:
        table = {n: c for n, c in table.items() if n in options.contenders.split(",")}
    target = os.path.abspath(options.json or os.path.join(options.work, "results.json"))
    programs, missing = workloads.make(options.work, options.scale, workloads.members(options.classes))
    for name in missing:
        print(f"run.py: the program {name} is not here: left out", file=sys.stderr)
    if options.only:
        programs = [w for w in programs if w.name in options.only.split(",")]
    results, about = run_all(options, table, programs)
    stored = {"version": 1, "date": time.strftime("%Y-%m-%d"), "rounds": options.rounds, "scale": options.scale,
              "machine": machine(), "about": about, "programs": results}
    with open(target, "w", encoding="utf-8") as f:
        json.dump(stored, f, indent=1)
    report(stored, style)


if __name__ == "__main__":
    main()
