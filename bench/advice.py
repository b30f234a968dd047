#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""advice.py - what nearmiss says of programs that its rules were not made for: the table of docs/evaluation/advice.md.

The programs of bench/advice have one fault each, and are built a second time with its repair; those of the distribution
that are installed run on inputs made here. Each is recorded once, with the default settings unless --machine says
otherwise. The table has the row with the highest cost, its cause, the first advice with the misses that it promises to
save, and what the repair saved: misses of the first level, of the whole run. Whether all that is right, you judge.
"""

import argparse
import csv
import os
import random
import re
import subprocess
import tempfile

import run

FOLDER = os.path.join(run.TOP, "bench/advice")
COMPILERS = {".c": ["gcc", "-O2", "-g"], ".cpp": ["g++", "-O2", "-g", "-std=c++17"], ".f90": ["gfortran", "-O2", "-g", "-cpp"],
             ".rs": ["rustc", "-C", "opt-level=2", "-g"]}
INSTALLED = {
    "bzip2": ["bzip2", "-kc", "text"],
    "xz": ["xz", "-3kc", "text"],
    "zstd": ["zstd", "-qc", "text"],
    "sort": ["sort", "--parallel=1", "lines"],
    "jq": ["jq", "group_by(.group) | map(length)", "records"],
    "sqlite3": ["sqlite3", ":memory:", ".read queries"],
    "perl": ["perl", "-ne", "for (split) { $n{$_}++ } END { print scalar(keys %n), qq(\\n) }", "lines"],
    "python3": ["/usr/bin/python3", "-c",
                "import random\nrandom.seed(1)\nd = {random.random(): i for i in range(40000)}\nprint(sum(d[k] for k in sorted(d)))"],
    "mawk": ["mawk", "{ for (i = 1; i <= NF; i++) n[$i]++ } END { for (w in n) if (n[w] > 9) print w, n[w] }", "lines"],
    "rg": ["rg", "-j1", "-c", "w[0-9]*77 w", "lines"],
}
# Sentences about the recording.
NO_ADVICE = "no debug information"


def write_inputs():
    draw = random.Random(1)
    with open("lines", "w", encoding="utf-8") as f:
        f.writelines(" ".join(f"w{int(draw.paretovariate(0.4)) % 50000}" for _ in range(5)) + "\n" for _ in range(40000))
    with open("text", "w", encoding="utf-8") as f:
        f.writelines(f"{draw.choice(('alpha', 'beta', 'gamma'))} {draw.randrange(1 << 30)} {i}\n" for i in range(50000))
    with open("records", "w", encoding="utf-8") as f:
        f.write("[" + ",".join(f'{{"id": {i}, "group": {draw.randrange(100)}, "name": "n{i}"}}' for i in range(15000)) + "]")
    with open("queries", "w", encoding="utf-8") as f:
        f.write("CREATE TABLE a(id INTEGER PRIMARY KEY, b INTEGER, name TEXT); CREATE TABLE b(id INTEGER PRIMARY KEY, v REAL);\n"
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) "
                "INSERT INTO b SELECT i, i * 0.5 FROM n;\nINSERT INTO a SELECT id, (id * 7919) % 30000 + 1, 'n' || id FROM b;\n"
                "SELECT sum(v) FROM a JOIN b ON b.id = a.b; CREATE INDEX names ON a(name); SELECT count(DISTINCT name) FROM a;\n")


def build(source, output, repaired):
    compiler = COMPILERS[os.path.splitext(source)[1]]
    define = (["--cfg", "repaired"] if compiler[0] == "rustc" else ["-DREPAIRED"]) if repaired else []
    subprocess.run([*compiler, *define, source, "-o", output], check=True, stderr=subprocess.DEVNULL)
    return [os.path.abspath(output)]


def has_repair(source):
    with open(source, encoding="utf-8") as f:
        return re.search("REPAIRED|cfg.*repaired", f.read())


def lines_of(options, *arguments):
    return subprocess.run([options.nearmiss, *arguments], capture_output=True, text=True, check=True).stdout


def record(options, command, profile):
    """Misses of the first level."""
    machine = ["--machine", options.machine] if options.machine else []
    subprocess.run([options.nearmiss, "record", "-q", *machine, "-o", profile, "--", *command], stdout=subprocess.DEVNULL,
                   check=True)
    return int(next(csv.DictReader(lines_of(options, "report", "levels", "-i", profile, "--format", "csv").splitlines()))["misses"])


def first(options, profile):
    """The row with the highest cost, the verdict's percent, and the sentences of advice."""
    rows = csv.DictReader(lines_of(options, "report", "pairs", "-i", profile, "--limit", "1", "--format", "csv").splitlines())
    summary = lines_of(options, "report", "-i", profile, "--width", "0")
    advice = [text for text in re.findall(r"^- (.*)$", summary, re.MULTILINE) if not re.match(NO_ADVICE, text)]
    return next(rows), int(re.search(r"about ([0-9]+) %", summary)[1]), advice


def cell(text):
    return text.replace("|", "\\|")


def show(options, name, command, repaired):
    before = record(options, command, f"{options.keep}/{name}.nmp")
    row, waits, advice = first(options, f"{options.keep}/{name}.nmp")
    said = advice[0] if advice else ""
    promise = re.search(r"saves (about|at most) ([0-9,]+) misses", said)
    saved = f"{before - record(options, repaired, f'{options.keep}/{name}-repaired.nmp'):,}" if repaired else ""
    where = f"{os.path.basename(row['file'] or row['function'])}:{row['line']}"
    print(f"| {name} | {waits} | {cell(row['object'])} | {where} | {row['cause']} | {cell(said)} | {before:,} | "
          f"{promise[2] if promise else ''} | {saved} |", flush=True)
    for sentence in advice[1:] if options.all else []:
        print("    " + sentence)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nearmiss", default=os.path.join(run.TOP, "build/src/cli/nearmiss"))
    parser.add_argument("--machine", help="instead of this machine's caches")
    parser.add_argument("--keep", help="the folder for profiles, instead of one that goes away")
    parser.add_argument("--all", action="store_true", help="print all sentences of advice")
    parser.add_argument("program", nargs="*", help="names of sources, or of programs of the distribution; all of them by default")
    options = parser.parse_args()
    options.nearmiss = os.path.abspath(options.nearmiss)
    names = options.program or sorted(os.listdir(FOLDER)) + list(INSTALLED)
    print("| program | waits % | object | line | cause | first advice | misses | promised | saved |\n"
          "|---|---:|---|---|---|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        options.keep = os.path.abspath(options.keep or folder)
        os.chdir(folder)
        write_inputs()
        for name in names:
            source = os.path.join(FOLDER, name)
            if name in INSTALLED:
                show(options, name, INSTALLED[name], None)
            else:
                repaired = build(source, f"{name}-repaired", True) if has_repair(source) else None
                show(options, name, build(source, f"{name}-built", False), repaired)


if __name__ == "__main__":
    main()
