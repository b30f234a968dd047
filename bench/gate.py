#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gate.py - false and missed alarms of `nearmiss gate`: changes without effect, and injected rises of misses.

Six programs are built from Debian's sources, which have to be unpacked first:

    cd FOLDER && apt-get source bzip2 lz4 lua5.4 mawk minisat2 picosat
    bench/gate.py FOLDER [--changes 200] [--rises 60]      a table in Markdown; a line for each alarm goes to standard error

A change without effect is a larger environment, another folder, a longer argument, a function that nobody calls, two
source files in another order, an unrelated allocation of 24 to 4,096 bytes, or a line in a README. A rise is 1 % more
misses of L1d, in code that runs before main: lines that are touched once, static or of the heap, or an array that is
walked again and again; each comes with an unrelated allocation. All are judged against one recording of the program
as it is. Plain counts, recorded without --hermetic and --relocate, stand beside it.
"""

import argparse
import collections
import glob
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import attribution
import run
import workloads

NOT_MET = 3  # exit status
RISE = 0.01

DEAD = "int nm_dead(int n);\nint nm_dead(int n)\n{{\n{}\treturn n;\n}}\n"
STEP = "\tn = n * 3 + (n >> 2);\n"
ALLOCATION = """
#include <stdlib.h>
static volatile char *nm_block;
__attribute__((constructor)) static void nm_allocate(void)
{{
	nm_block = (volatile char *)malloc({});
	nm_block[0] = 1;
}}
"""
WALK = """
#include <stdlib.h>
static volatile char nm_lines[{lines} * 64];
__attribute__((constructor)) static void nm_walk(void)
{{
	volatile char *at = {heap} ? (volatile char *)malloc({lines} * 64) : nm_lines;
	for (unsigned long i = 0; i < {touches}; i++)
		at[i % {lines} * 64]++;
}}
"""
WALKED = 1024  # lines of the array that is walked: twice L1d, so that each touch misses


def write_words(path, words, lines):
    rng = random.Random(1)
    words = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 9))) for _ in range(words)]
    workloads.write(path, "".join(" ".join(rng.choices(words, k=10)) + "\n" for _ in range(lines)))


def write_text(path):
    write_words(path, 800, 600)


def write_many_words(path):
    write_words(path, 20000, 1500)


def write_formula(path):
    attribution.write_formula(path, 3000, 8000)


def write_script(path):
    workloads.write(path, "local t, s = {}, 0\n"
                          "for i = 1, 2500 do t[i] = {key = i * 7919 % 20011, name = 'n' .. i % 300} end\n"
                          "table.sort(t, function(a, b) return a.key < b.key end)\n"
                          "for _, v in ipairs(t) do s = s + v.key * #v.name end\n"
                          "print(s)\n")


def prepare_lua(folder):
    workloads.write(os.path.join(folder, "src/lua5.4-deb-multiarch.h"), '#define DEB_HOST_MULTIARCH "x86_64-linux-gnu"\n')


def prepare_mawk(folder):
    if not os.path.exists(os.path.join(folder, "scancode.c")):
        subprocess.run(["./configure", "-q"], cwd=folder, stdout=subprocess.DEVNULL, check=True)
        subprocess.run(["make", "-s", "scancode.c"], cwd=folder, stdout=subprocess.DEVNULL, check=True)


def prepare_picosat(folder):
    names = ("VERSION", "CC", "CFLAGS")
    workloads.write(os.path.join(folder, "config.h"), "".join(f'#define PICOSAT_{name} ""\n' for name in names))


# The first source has main; @ is the input.
Program = collections.namedtuple("Program", "package compiler sources options arguments write prepare")
PROGRAMS = {
    "bzip2": Program("bzip2", "gcc", "bzip2.c blocksort.c huffman.c crctable.c randtable.c compress.c decompress.c bzlib.c",
                     ["-D_FILE_OFFSET_BITS=64"], ["-1", "-c", "@"], write_text, None),
    "lz4": Program("lz4", "gcc", "programs/lz4cli.c programs/lz4io.c programs/bench.c programs/datagen.c lib/*.c",
                   ["-Ilib"], ["-6", "-c", "@"], write_text, None),
    "lua": Program("lua5.4", "gcc", "src/lua.c src/l[!u]*.c src/lundump.c src/lutf8lib.c", ["-DLUA_USE_POSIX"], ["@"],
                   write_script, prepare_lua),
    "mawk": Program("mawk", "gcc", "main.c parse.c scan.c memory.c hash.c execute.c code.c da.c error.c init.c bi_vars.c cast.c "
                    "print.c bi_funct.c kw.c jmp.c array.c field.c split.c re_cmpl.c regexp.c zmalloc.c fin.c files.c scancode.c "
                    "matherr.c fcall.c version.c", ["-DHAVE_CONFIG_H"],
                    ["{ for (i = 1; i <= NF; i++) n[$i]++ } END { for (w in n) s += n[w] * length(w); print s }", "@"],
                    write_many_words, prepare_mawk),
    "minisat": Program("minisat2", "g++", "minisat/core/Main.cc minisat/core/Solver.cc minisat/utils/*.cc",
                       ["-fpermissive", "-D__STDC_LIMIT_MACROS", "-D__STDC_FORMAT_MACROS"], ["-verb=0", "@"],
                       write_formula, None),
    "picosat": Program("picosat", "gcc", "main.c app.c picosat.c version.c", ["-DNDEBUG"], ["-n", "@"], write_formula,
                       prepare_picosat),
}


class Build:
    """A program with its objects, from which changed ones are made."""

    def __init__(self, name, options):
        self.name, self.program, self.nearmiss, self.budget = name, PROGRAMS[name], options.nearmiss, options.budget
        self.folder = attribution.sources(options.sources, self.program.package)
        if not self.folder:
            sys.exit(f"gate.py: {options.sources} has no sources of {self.program.package}")
        if self.program.prepare:
            self.program.prepare(self.folder)
        self.sources = []
        for pattern in self.program.sources.split():
            self.sources += sorted(set(glob.glob(os.path.join(self.folder, pattern))) - set(self.sources))
        self.objects = [self.compile(source, f"{name}-{i}.o") for i, source in enumerate(self.sources)]
        self.input = os.path.abspath(name + ".in")
        self.program.write(self.input)
        self.executable = self.link(self.objects)

    def compile(self, source, out, text=""):
        """The object of a source with a text behind it; the source keeps its name."""
        copy = os.path.join(self.name + ".d", os.path.basename(source))
        os.makedirs(self.name + ".d", exist_ok=True)
        with open(source, "rb") as original, open(copy, "wb") as to:
            to.write(original.read() + text.encode())
        folders = [os.path.dirname(source), self.folder, os.path.join(self.folder, "lib")]
        subprocess.run([self.program.compiler, "-c", "-g1", "-O2", "-w", *self.program.options, *["-I" + f for f in folders], copy,
                        "-o", out], check=True)
        return os.path.abspath(out)

    def link(self, objects):
        """Always at the same path, so that only what it has may differ."""
        out = os.path.abspath(self.name + ".run")
        subprocess.run([self.program.compiler, "-o", out, *objects, "-lm", "-lz"], check=True)
        return out

    def changed(self, number, text):
        """The program with a text behind one source."""
        objects = list(self.objects)
        objects[number] = self.compile(self.sources[number], "changed.o", text)
        return self.link(objects)

    def record(self, profile, hermetic, executable=None, argument=None, environment=None, folder="."):
        options = ["--hermetic", "--relocate", "15"] if hermetic else []
        arguments = [argument or self.input if a == "@" else a for a in self.program.arguments]
        command = [self.nearmiss, "record", "-q", "-o", os.path.abspath(profile), "-c", run.SPEC, *options, "--",
                   executable or self.executable, *arguments]
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              env={**workloads.ENVIRONMENT, **(environment or {})}, check=False)
        if done.returncode not in workloads.ENDED:
            sys.exit(f"gate.py: {self.name}: {done.returncode}: {done.stderr.decode()}")

    def alarm(self, base, new):
        """Whether the gate says that the budget is not met."""
        workloads.write("nearmiss.yaml", f"budgets: [{{level: L1d, relative: {self.budget}}}]\n")
        done = subprocess.run([self.nearmiss, "gate", "--base", base, new], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              check=False)
        if done.returncode not in (0, NOT_MET):
            sys.exit(f"gate.py: {done.stderr.decode()}")
        return done.returncode == NOT_MET


def misses(profile):
    with sqlite3.connect(profile) as db:
        return db.execute("SELECT sum(read_misses + write_misses) FROM levels WHERE level = 'L1d'").fetchone()[0]


def placements(profile):
    """The misses of each placement; plain counts have one."""
    with sqlite3.connect(profile) as db:
        found = db.execute("SELECT sum(misses) FROM relocations WHERE level = 'L1d' GROUP BY relocation ORDER BY relocation")
        return [row[0] for row in found] or [misses(profile)]


# ---- Changes without effect: each returns options of record() ----

def larger_environment(_build, rng):
    return {"environment": {f"V{i}": "x" * rng.randrange(200) for i in range(rng.randrange(1, 30))}}


def other_folder(build, rng):
    folder = os.path.abspath(os.path.join("folders", "d" * rng.randrange(1, 60), "e" * rng.randrange(1, 60)))
    os.makedirs(folder, exist_ok=True)
    return {"folder": folder, "executable": shutil.copy(build.executable, folder)}


def longer_argument(build, rng):
    folder = os.path.join(os.getcwd(), "f" * rng.randrange(1, 200))
    os.makedirs(folder, exist_ok=True)
    return {"argument": shutil.copy(build.input, folder)}


def dead_function(build, rng):
    return {"executable": build.changed(rng.randrange(len(build.sources)), DEAD.format(STEP * rng.randrange(1, 200)))}


def other_order(build, rng):
    objects = list(build.objects)
    a, b = rng.sample(range(len(objects)), 2)
    objects[a], objects[b] = objects[b], objects[a]
    return {"executable": build.link(objects)}


def allocation(rng):
    return ALLOCATION.format(rng.randrange(24, 4097))


def unrelated_allocation(build, rng):
    return {"executable": build.changed(0, allocation(rng))}


def readme(build, _rng):
    with open(os.path.join(build.name + ".d", "README"), "a", encoding="ascii") as out:
        out.write("A line.\n")
    return {"executable": build.link(build.objects)}


CHANGES = [larger_environment, other_folder, longer_argument, dead_function, other_order, unrelated_allocation, readme]


def rise(build, rng, number, base):
    """1 % more misses than that, and an unrelated allocation."""
    touches = round(base * RISE)
    lines = WALKED if number % 3 == 2 else touches
    return {"executable": build.changed(0, allocation(rng) + WALK.format(heap=number % 3 % 2, lines=lines, touches=touches))}


# ---- All of them ----

class Tally:
    """Alarms of the gate and on plain counts: rises, and falls, which are rises if the two sides change places."""

    def __init__(self):
        self.tried, self.rises, self.falls, self.largest = 0, {True: 0, False: 0}, {True: 0, False: 0}, {True: 0, False: 0}


def judge(build, options, tally, what, kinds=(True, False)):
    """Records a program hermetically, and plainly, and judges it against its base, and the base against it."""
    for hermetic in kinds:
        base, new = (f"{build.name}-{side}-{int(hermetic)}.nmp" for side in ("base", "new"))
        build.record(new, hermetic, **options)
        rises, falls = build.alarm(base, new), build.alarm(new, base)
        change = misses(new) / misses(base) - 1
        tally.rises[hermetic] += rises
        tally.falls[hermetic] += falls
        tally.largest[hermetic] = max(tally.largest[hermetic], abs(change))
        print(build.name, what, "hermetic" if hermetic else "plain", f"{change:+.3%}", "rise" * rises + "fall" * falls,
              placements(base), placements(new), file=sys.stderr, flush=True)
    tally.tried += 1


def study(build, changes, rises):
    rng = random.Random(build.name)
    quiet, loud = Tally(), Tally()
    for hermetic in (True, False):
        build.record(f"{build.name}-base-{int(hermetic)}.nmp", hermetic)
    base = f"{build.name}-base-1.nmp"
    for i in range(changes):
        change = CHANGES[i % len(CHANGES)]
        judge(build, change(build, rng), quiet, change.__name__)
        build.link(build.objects)
    for i in range(rises):
        judge(build, rise(build, rng, i, misses(base)), loud, "rise", [True])
        build.link(build.objects)
    low, high = min(placements(base)), max(placements(base))
    cells = [build.name, f"{misses(base):,}", f"{(high - low) / low:.2%}", quiet.tried, quiet.rises[True] + quiet.falls[True],
             quiet.rises[False] + quiet.falls[False], f"{quiet.largest[False]:.2%}", f"{loud.rises[True]} of {loud.tried}"]
    print("|", " | ".join(map(str, cells)), "|", flush=True)


def main():
    parser = argparse.ArgumentParser(description="False and missed alarms of nearmiss gate.")
    parser.add_argument("sources", help="folder with unpacked source packages of Debian; see the head of this file")
    parser.add_argument("--changes", type=int, default=200, help="changes without effect")
    parser.add_argument("--rises", type=int, default=60, help="injected rises")
    parser.add_argument("--budget", default="0.25%", help="of the misses of L1d")
    parser.add_argument("--only", default=",".join(PROGRAMS), help="names of programs, separated by commas")
    parser.add_argument("--nearmiss", help="the executable (default: build/src/cli/nearmiss, then the PATH)")
    options = parser.parse_args()
    options.sources, options.nearmiss = os.path.abspath(options.sources), run.find_nearmiss(options.nearmiss)
    if not options.nearmiss:
        sys.exit("gate.py: nearmiss is not built")
    names = options.only.split(",")
    print("| program | misses of L1d | interval | changes without effect | alarms | alarms on plain counts | largest change of "
          "these | rises of 1 % caught |\n" + "|---" * 8 + "|")
    with tempfile.TemporaryDirectory(prefix="nearmiss-gate-") as scratch:
        os.chdir(scratch)
        for name in names:
            study(Build(name, options), options.changes // len(names), options.rises // len(names))
        os.chdir("/")


if __name__ == "__main__":
    main()
