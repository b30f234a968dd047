#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""curves.py - how right miss-ratio curves are, and what they cost.

    bench/curves.py accuracy        estimates beside simulated caches (docs/evaluation/curves.md), some minutes a program on a busy machine
    bench/curves.py sampling        time of whole sampled recordings, of short and of long runs, some minutes a program
    bench/curves.py distances       time of --distances
    options: --only PROGRAMS, --scale N, --rounds N, --nearmiss FILE, --svg FILE, --from FILE

Accuracy repeats the evaluation of the StatCache paper (Berg and Hagersten, ISPASS 2004): lines of 32 bytes, 2 KB to 4 MB.
One run of each program simulates fully associative caches of random replacement and set-associative ones, counts exact stack
distances (fully associative LRU), and writes a trace, from which estimates are made at each rate. A second run is a sampled
recording. Set-associative caches are beside what the distances predict of them. An error is the
absolute difference of two miss ratios without cold misses. What an interval should hold is the simulated miss ratio with
them.
"""

import argparse
import json
import math
import os
import random
import sqlite3
import statistics
import subprocess
import sys

import run
import workloads

SIZES = [1 << n for n in range(11, 23)]  # 2 KB ... 4 MB
LINE = 32
SETS = {"8K,2": 1 << 13, "32K,8": 1 << 15, "256K,8": 1 << 18, "2M,16": 1 << 21}  # LRU caches whose misses distances predict
METHODS = ["statcache", "statstack", "shards"]
RATES = ["1e-2", "1e-3", "1e-4"]
RECORDED_RATE = "1e-3"
PROGRAMS = ["gzip", "bzip2", "xz", "sqlite3", "jq", "python3", "troff", "perl", "mawk", "sort", "hash", "graph", "sparse",
            "stencil", "sat", "tsort"]
DETAILED = ["statcache 1e-2", "statcache 1e-3", "statcache 1e-4", "statstack 1e-3", "shards 1e-2"]  # program by program


# ---- recordings ------------------------------------------------------------------------------------


def run_nearmiss(argv, workload=None):
    with open(workload and workload.stdin or os.devnull, "rb") as stdin:
        done = subprocess.run([*argv, *(["--", *workload.argv] if workload else [])], stdin=stdin, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, env=workloads.ENVIRONMENT)
    if done.returncode:
        sys.exit(f"curves.py: {' '.join(argv)}: {done.stderr.decode()}")


def kept(name, what):
    return f"curves-{name}-{what}"


def record_truth(nearmiss, workload):
    """What no estimate has a part in: kept from one evaluation to the next."""
    profile, trace = kept(workload.name, "truth.nmp"), kept(workload.name, "truth.nmt")
    caches = [f"L1d={size},full,{LINE},policy=random" for size in SIZES] + [f"L1d={spec},{LINE}" for spec in SETS]
    if not os.path.exists(profile):
        run_nearmiss([nearmiss, "record", "-q", "-o", "unfinished.nmp",
                      *[word for spec in caches for word in ("--cache", spec)],
                      "--distances", "-t", trace], workload)
        os.rename("unfinished.nmp", profile)


def record_estimates(nearmiss, workload):
    for rate in RATES:
        estimates = ",".join(f"{method}@{rate}" for method in METHODS)
        run_nearmiss([nearmiss, "replay", "-q", "-o", kept(workload.name, f"{rate}.nmp"), "--cache", f"L1d=32K,8,{LINE}",
                      "--estimate", estimates, kept(workload.name, "truth.nmt")])
    run_nearmiss([nearmiss, "record", "-q", "-o", kept(workload.name, "sampled.nmp"),
                  "--sample", f"{RECORDED_RATE},line={LINE}"], workload)


# ---- curves of profiles ----------------------------------------------------------------------------


def value_at(points, size):
    """Of a curve of steps: the last point that is not larger."""
    below = [p for p in points if p[0] <= size]
    return below[-1][1:] if below else (1.0, 1.0, 1.0, 0.0)


def between(points, size):
    """Of an estimated curve: interpolated between its points."""
    above = next((n for n, p in enumerate(points) if p[0] > size), len(points))
    if above in (0, len(points)):
        return points[min(above, len(points) - 1)][1:]
    low, high = points[above - 1], points[above]
    part = math.log(size / low[0]) / math.log(high[0] / low[0])
    return tuple(a + part * (b - a) for a, b in zip(low[1:], high[1:]))


def curves_of(profile, scope):
    """(method, name) -> [(size, miss ratio, low, high, cold ratio)]"""
    found = {}
    with sqlite3.connect(profile) as db:
        for method, name, *point in db.execute(
                "SELECT method, name, size, miss_ratio, low, high, cold_ratio FROM curve WHERE scope = ? "
                "AND miss_ratio IS NOT NULL ORDER BY size", (scope,)):
            found.setdefault((method, name), []).append(point)
    db.close()
    return found


def simulated(profile, scope):
    """name -> size -> (miss ratio, cold ratio) of the caches with random replacement."""
    name = "l.process" if scope == "total" else "c.object"
    sums = ("sum(c.read_misses + c.write_misses), sum(c.cold), sum(c.reads + c.writes)")
    found = {}
    with sqlite3.connect(profile) as db:
        for level_size, key, misses, cold, references in db.execute(
                f"SELECT l.size, {name}, {sums} FROM counts c JOIN levels l ON l.level = c.level AND l.process = c.process "
                f"WHERE l.policy = 'random' GROUP BY 1, 2"):
            if references:
                found.setdefault(key, {})[level_size] = (misses / references, cold / references, misses)
    db.close()
    return found


def predicted(profile):
    """SPEC of a set-associative cache -> (miss ratio of the whole, what distances predict, [error of each heavy object])."""
    found = {}
    with sqlite3.connect(profile) as db:
        for spec, size in SETS.items():
            rows = db.execute("SELECT p.predicted, p.misses, p.refs FROM predictions p JOIN levels l ON l.level = p.level "
                              "AND l.process = p.process WHERE l.size = ? AND l.sets > 1", (size,)).fetchall()
            predictions, misses, references = (sum(column) for column in zip(*rows))
            found[spec] = (misses / references, predictions / references,
                           [(p - m) / r for p, m, r in rows if m >= misses / 100])
    db.close()
    return found


def heavy(truth):
    """Objects with at least a hundredth of the misses of the cache in the middle of the sizes."""
    middle = SIZES[len(SIZES) // 2]
    misses = {name: sizes[middle][2] for name, sizes in truth.items() if middle in sizes}
    total = sum(misses.values())
    return [name for name, n in misses.items() if total and n >= total / 100]


def compare(points, truth):
    """[(size, error, whether the interval holds the truth)]"""
    rows = []
    for size in SIZES:
        ratio, low, high, cold = value_at(points, size)
        true, true_cold = truth[size][:2]
        rows.append((size, abs((ratio - cold) - (true - true_cold)), low - 1e-6 <= true <= high + 1e-6))
    return rows


def exact_truth(points):
    return {size: (value_at(points, size)[0], value_at(points, size)[3], 0) for size in SIZES}


def truth_of(method, name, random_truth, exact):
    """Random replacement or LRU, whichever the method estimates."""
    if method.startswith("statcache"):
        return random_truth.get(name)
    points = exact.get(name)
    return exact_truth(points) if points else None


def estimates_of(program, scope):
    """(method and rate, name) -> points"""
    found = {}
    for rate in RATES:
        found.update({(f"{method} {rate}", name): points
                      for (method, name), points in curves_of(kept(program, f"{rate}.nmp"), scope).items()})
    found.update({(f"{method} recorded at {RECORDED_RATE}", name): points
                  for (method, name), points in curves_of(kept(program, "sampled.nmp"), scope).items()})
    return found


def evaluate_scope(program, scope):
    """method -> [rows of compare] of the scope's names."""
    truth_profile = kept(program, "truth.nmp")
    random_truth = simulated(truth_profile, scope)
    exact = {name: points for (method, name), points in curves_of(truth_profile, scope).items() if method == "exact"}
    names = heavy(random_truth) if scope == "object" else list(random_truth)
    found = {}
    for (method, name), points in estimates_of(program, scope).items():
        truth = truth_of(method, name, random_truth, exact)
        if name in names and truth and all(size in truth for size in SIZES):
            found.setdefault(method, []).append(compare(points, truth))
    return found


def evaluate(nearmiss, workload):
    record_truth(nearmiss, workload)
    record_estimates(nearmiss, workload)
    profile = kept(workload.name, "truth.nmp")
    with sqlite3.connect(profile) as db:
        references, = db.execute("SELECT sum(refs) FROM processes").fetchone()
    db.close()
    truth = simulated(profile, "total")
    process = next(iter(truth))
    curves = {method: points for (method, name), points in estimates_of(workload.name, "total").items() if name == process}
    return {"references": references, "total": evaluate_scope(workload.name, "total"),
            "object": evaluate_scope(workload.name, "object"), "simulated": truth[process], "curves": curves,
            "predicted": predicted(profile)}


# ---- tables ----------------------------------------------------------------------------------------


def errors(rows):
    return [error for _, error, _ in rows]


def methods_of(results, scope):
    return sorted({method for r in results.values() for method in r[scope]})


def total_table(results):
    methods = DETAILED
    rows = [["program", "references"] + methods]
    for name, r in results.items():
        cells = [errors(r["total"][m][0]) if m in r["total"] else [] for m in methods]
        rows.append([name, f"{r['references'] / 1e6:.0f} M"] +
                    [f"{statistics.mean(c):.4f} / {max(c):.3f}" if c else "-" for c in cells])
    every = [[e for r in results.values() if m in r["total"] for e in errors(r["total"][m][0])] for m in methods]
    rows.append(["all", ""] + [f"{statistics.mean(c):.4f} / {max(c):.3f}" for c in every])
    return rows


def summary_table(results):
    rows = [["method", "mean error", "largest", "in the interval, %", "objects", "mean error", "largest",
             "in the interval, %"]]
    for m in methods_of(results, "total"):
        total = [row for r in results.values() for rows_ in r["total"].get(m, []) for row in rows_]
        objects = [rows_ for r in results.values() for rows_ in r["object"].get(m, [])]
        per_object = [e for rows_ in objects for e in errors(rows_)]
        rows.append([m, f"{statistics.mean(errors(total)):.4f}", f"{max(errors(total)):.3f}",
                     f"{100 * statistics.mean(held for _, _, held in total):.0f}", str(len(objects)),
                     f"{statistics.mean(per_object):.4f}" if per_object else "-",
                     f"{max(per_object):.3f}" if per_object else "-",
                     f"{100 * statistics.mean(held for rows_ in objects for _, _, held in rows_):.0f}" if objects else "-"])
    return rows


def predicted_table(results):
    rows = [["cache", "mean error", "largest", "objects", "mean error", "largest"]]
    for spec in SETS:
        whole = [abs(predictions - misses) for misses, predictions, _ in (r["predicted"][spec] for r in results.values())]
        objects = [abs(e) for r in results.values() for e in r["predicted"][spec][2]]
        rows.append([spec, f"{statistics.mean(whole):.4f}", f"{max(whole):.3f}", str(len(objects)),
                     f"{statistics.mean(objects):.4f}", f"{max(objects):.3f}"])
    return rows


# ---- the picture -----------------------------------------------------------------------------------

PANEL, GAP, ACROSS = (210, 130), (58, 52), 4


def panel(name, r, left, top):
    """One program: simulated points, and what StatCache says at 1e-3."""
    top_ratio = max([s[0] - s[1] for s in map(tuple, r["simulated"].values())] + [1e-4])
    x = lambda size: left + PANEL[0] * math.log2(size / SIZES[0]) / math.log2(SIZES[-1] / SIZES[0])
    y = lambda ratio: top + PANEL[1] * (1 - min(1, ratio / top_ratio / 1.08))
    method = "statcache 1e-3" if "statcache 1e-3" in r["curves"] else None
    out = [f'<text x="{left}" y="{top - 8}" font-weight="bold">{name}</text>',
           f'<path d="M{left} {top}V{top + PANEL[1]}H{left + PANEL[0]}" fill="none" stroke="#222"/>',
           f'<text x="{left - 4}" y="{y(top_ratio) + 4:.0f}" text-anchor="end">{100 * top_ratio:.2g} %</text>',
           f'<text x="{left - 4}" y="{top + PANEL[1]}" text-anchor="end">0</text>']
    out += [f'<text x="{x(s):.0f}" y="{top + PANEL[1] + 14}" text-anchor="middle">{t}</text>'
            for s, t in ((2048, "2K"), (32768, "32K"), (524288, "512K"), (4194304, "4M"))]
    if method:
        points = [(s, between(r["curves"][method], s)) for s in [SIZES[0] * 2 ** (k / 8) for k in range(89)]]
        out.append('<path fill="none" stroke="#d55e00" stroke-width="1.6" d="M' +
                   "L".join(f"{x(s):.1f} {y(p[0] - p[3]):.1f}" for s, p in points) + '"/>')
    out += [f'<circle cx="{x(int(s)):.1f}" cy="{y(p[0] - p[1]):.1f}" r="2.6" fill="none" stroke="#000"/>'
            for s, p in r["simulated"].items()]
    return "\n".join(out)


def picture(results):
    rows = -(-len(results) // ACROSS)
    width, height = ACROSS * (PANEL[0] + GAP[0]) + 20, rows * (PANEL[1] + GAP[1]) + 40
    panels = [panel(name, r, GAP[0] + (n % ACROSS) * (PANEL[0] + GAP[0]), 50 + (n // ACROSS) * (PANEL[1] + GAP[1]))
              for n, (name, r) in enumerate(results.items())]
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            f'font-family="Helvetica, Arial, \'DejaVu Sans\', sans-serif" font-size="10.5" fill="#222">\n'
            f'<rect width="100%" height="100%" fill="#fff"/>\n'
            f'<text x="{GAP[0]}" y="20" font-size="13">Miss ratio without cold misses against cache size, random replacement: '
            f'circles simulated, lines StatCache at 1e-3</text>\n' + "\n".join(panels) + "\n</svg>\n")


def accuracy(options, nearmiss):
    if options.stored:
        with open(options.stored, encoding="utf-8") as f:
            results = json.load(f)
    else:
        programs, _ = workloads.make(options.work, options.scale or 0.06, ("tools", "pointers", "arrays", "objects"))
        wanted = options.only.split(",") if options.only else PROGRAMS
        results = {}
        for w in programs:
            if w.name in wanted:
                print(f"{w.name} ...", end=" ", file=sys.stderr, flush=True)
                results[w.name] = evaluate(nearmiss, w)
                with open("curves.json", "w", encoding="utf-8") as f:
                    json.dump(results, f)
        print(file=sys.stderr)
    if options.svg:
        with open(options.svg, "w", encoding="utf-8") as f:
            f.write(picture(results))
    print(run.render(summary_table(results), "markdown"))
    print(run.render(total_table(results), "markdown"))
    print(run.render(predicted_table(results), "markdown"))


# ---- cost ------------------------------------------------------------------------------------------

LENGTHS = [1.0, 4.0]  # scales of inputs: 0.1 to 0.2 s natively, and four times as much work


def chosen_programs(options, scale):
    """In a folder for each scale, which it enters."""
    folder = os.path.join(options.work, f"cost-{scale:g}")
    programs, _ = workloads.make(folder, scale, ("tools", "pointers", "arrays", "objects"))
    return [w for w in programs if not options.only or w.name in options.only.split(",")]


def rounds_of(options, table, workload):
    """Figures of each contender in each round; names are kept from a round before."""
    names = os.path.join(os.getcwd(), "names")
    lots = random.Random(0)
    for before in table.values():
        if "record" in before:
            run.measure(before + workload.argv, workload.stdin, before[0], names)
    return [{name: run.measure(table[name] + workload.argv, workload.stdin, "", names)
             for name in lots.sample(list(table), len(table))} for _ in range(options.rounds)]


def cost_row(rounds, name, ratios):
    row = [name] + [statistics.median(r[over][what] / r[under][what] for r in rounds) for over, under, what in ratios]
    print(" ".join(f"{c:.2f}" if isinstance(c, float) else c for c in row), file=sys.stderr, flush=True)
    return row


def print_costs(heading, rows):
    columns = range(1, len(heading))
    rows = [*rows, ["median"] + [statistics.median(row[n] for row in rows) for n in columns],
            ["largest"] + [max(row[n] for row in rows) for n in columns]]
    print(run.render([heading] + [[f"{c:.2f}" if isinstance(c, float) else c for c in row] for row in rows], "markdown"))


def record(nearmiss, *options):
    return [nearmiss, "record", "--cache", run.SPEC, "-q", "-o", "cost.nmp", *options, "--"]


def sampling(options, nearmiss):
    table = {"native": [], "none": [run.find_valgrind(), "-q", "--tool=none"], "sampled": record(nearmiss, "--sample", "1e-4")}
    rows = []
    for scale in [options.scale] if options.scale else LENGTHS:
        for w in chosen_programs(options, scale):
            rounds = rounds_of(options, table, w)
            seconds = statistics.median(r["none"]["cpu"] for r in rounds)
            row = cost_row(rounds, f"{w.name} x {scale:g}", [("sampled", "none", "wall"), ("sampled", "none", "cpu"),
                                                             ("sampled", "native", "cpu")])
            rows.append([row[0], seconds, *row[1:]])
    print_costs(["program", "none, CPU s", "sampled / none, wall", "CPU", "sampled / native, CPU"], rows)


def distances(options, nearmiss):
    table = {"record": record(nearmiss), "distances": record(nearmiss, "--distances")}
    rows = [cost_row(rounds_of(options, table, w), w.name, [("distances", "record", "wall"), ("distances", "record", "cpu")])
            for w in chosen_programs(options, options.scale or LENGTHS[0])]
    print_costs(["program", "--distances / record, wall", "CPU"], rows)


def main():
    parser = argparse.ArgumentParser(description="How right miss-ratio curves are, and what they cost.")
    parser.add_argument("what", choices=["accuracy", "sampling", "distances"])
    parser.add_argument("--only", help="programs, separated by commas")
    parser.add_argument("--scale", type=float, default=None, help="of the inputs (0.06 for accuracy, 1 and 4 for sampling, 1 for "
                        "distances)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--nearmiss", help="the executable (default: build/src/cli/nearmiss, then the PATH)")
    parser.add_argument("--work", default=os.path.join(run.TOP, "build-bench"), help="folder for inputs and outputs")
    parser.add_argument("--svg", type=os.path.abspath, help="where the picture goes")
    parser.add_argument("--from", dest="stored", type=os.path.abspath, help="tables of stored results (curves.json)")
    options = parser.parse_args()
    nearmiss = run.find_nearmiss(options.nearmiss)
    {"accuracy": accuracy, "sampling": sampling, "distances": distances}[options.what](options, nearmiss)


if __name__ == "__main__":
    main()
