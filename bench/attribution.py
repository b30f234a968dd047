#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""attribution.py - how many of the misses are charged to a named object and to a line of source.

Debian's programs have no debug information, so they are built here with -g -O2 from Debian's sources, which have to
be in a folder (Debian packages, `deb-src` needed):

    cd FOLDER && apt-get source bzip2 gzip lapack libzstd mawk minisat2 pbzip2

The programs of examples/ and of tests/programs, one for each language, come with them. Missing ones are left out and named.

Objects are sorted into three: the program's (variables, heap buckets and mappings by the line that asked for them,
frames, files, code), the system's (what malloc keeps for itself, stacks of threads that do not run yet, the tables of
the dynamic linker: they have a name, too), and those without a name (whatever else is anonymous, unknown, or a section
of a library whose variables are not known).

Of the misses on the heap, those are counted apart whose object bears the name of a variable, not only its type or the
function that allocates; lines are those of the user's code, or of his call where a library runs. The programs of
examples/faults stand beside the others.

Exit status: 0 if each program has at least --least percent of its first-level misses charged to both, else 3.
"""

import argparse
import glob
import os
import random
import shutil
import sqlite3
import subprocess
import sys

import run
import workloads

OWN = {  # source in this tree -> compiler and options, arguments
    "examples/placement.c": (["gcc", "-O2"], []),
    "examples/quake.c": (["gcc", "-O2"], []),
    "tests/programs/buckets.cpp": (["g++", "-O2", "-fno-builtin-malloc", "-pthread"], []),
    "tests/programs/common.f90": (["gfortran", "-O2"], []),
    "tests/programs/orders.rs": (["rustc", "-O"], []),
    "tests/programs/threads.cpp": (["g++", "-O2", "-pthread"], []),
}
FAULTS = {".c": ["gcc", "-O2"], ".cpp": ["g++", "-O2"], ".f90": ["gfortran", "-O2", "-cpp"]}
BZIP2 = [name + ".c" for name in "blocksort huffman crctable randtable compress decompress bzlib".split()]
LAPACK = [f"SRC/{name}.f" for name in "dgesv dgetrf dgetrf2 dgetrs dlaswp ilaenv iparmq ieeeck".split()]
LAPACK += [f"BLAS/SRC/{name}.f" for name in "dgemm dtrsm dscal idamax lsame xerbla".split()] + ["INSTALL/dlamch.f"]


def sources(folder, package):
    """The unpacked source of a package, or None."""
    found = [path for path in sorted(glob.glob(os.path.join(folder, package + "-[0-9]*"))) if os.path.isdir(path)]
    return found[-1] if found else None


def compile_all(compiler, files, out, *options):
    subprocess.run([*compiler, "-g", "-O2", *options, "-o", out, *files], check=True)
    return os.path.abspath(out)


def configure_and_make(folder, executable):
    if not os.path.exists(os.path.join(folder, "Makefile")):
        subprocess.run(["./configure", "-q", "CFLAGS=-g -O2"], cwd=folder, stdout=subprocess.DEVNULL, check=True)
    made = [tool + "=:" for tool in ("ACLOCAL", "AUTOCONF", "AUTOHEADER", "AUTOMAKE", "MAKEINFO")]  # are up to date
    subprocess.run(["make", "-s", *made], cwd=folder, stdout=subprocess.DEVNULL, check=True)
    return os.path.join(folder, executable)


def build_bzip2(folder):
    return compile_all(["gcc"], [os.path.join(folder, f) for f in BZIP2 + ["bzip2.c"]], "bzip2-g", "-D_FILE_OFFSET_BITS=64")


def build_pbzip2(folder):
    library = sources(os.path.dirname(folder), "bzip2")
    objects = []
    for name in BZIP2:
        objects.append(compile_all(["gcc"], [os.path.join(library, name)], name + ".o", "-c"))
    parts = [os.path.join(folder, name + ".cpp") for name in ("pbzip2", "BZ2StreamScanner", "ErrorContext")]
    return compile_all(["g++"], parts + objects, "pbzip2-g", "-w", "-pthread", "-I" + library, "-DUSE_STACKSIZE_CUSTOMIZATION")


def build_minisat(folder):
    files = [path for part in ("core", "utils") for path in sorted(glob.glob(os.path.join(folder, "minisat", part, "*.cc")))]
    limits = ["-D__STDC_LIMIT_MACROS", "-D__STDC_FORMAT_MACROS"]
    return compile_all(["g++"], files + ["-lz"], "minisat-g", "-w", "-fpermissive", *limits, "-I" + folder)


def write_formula(path, variables, clauses):
    """A random formula of three literals each."""
    state = random.Random(3)
    with open(path, "w", encoding="ascii") as out:
        out.write(f"p cnf {variables} {clauses}\n")
        for _ in range(clauses):
            literals = [v if state.random() < 0.5 else -v for v in state.sample(range(1, variables + 1), 3)]
            out.write(" ".join(map(str, literals)) + " 0\n")


def build_solver(folder):
    files = [os.path.join(run.TOP, "bench/solver.f90")] + [os.path.join(folder, name) for name in LAPACK]
    return compile_all(["gfortran"], files, "solver-g", "-std=legacy", "-w")


def build_zstd(folder):
    subprocess.run(["make", "-s", "-C", "programs", "zstd", "CFLAGS=-g -O2"], cwd=folder, stdout=subprocess.DEVNULL,
                   check=True)
    return os.path.join(folder, "programs/zstd")


PACKAGES = {  # name -> source package, language, how it is built, arguments (@TEXT@: a text made by workloads.py)
    "gzip": ("gzip", "C", lambda folder: configure_and_make(folder, "gzip"), ["-6", "-c", "@TEXT@"]),
    "bzip2": ("bzip2", "C", build_bzip2, ["-9", "-c", "@TEXT@"]),
    "mawk": ("mawk", "C", lambda folder: configure_and_make(folder, "mawk"), ["-f", "count.awk", "@TEXT@"]),
    "minisat": ("minisat2", "C++, own containers", build_minisat, ["formula.cnf"]),
    "zstd": ("libzstd", "C", build_zstd, ["-q", "-12", "--single-thread", "-c", "@TEXT@"]),
    "pbzip2": ("pbzip2", "C++, threads", build_pbzip2, ["-p2", "-b1", "-c", "@TEXT@"]),
    "solver": ("lapack", "Fortran", build_solver, ["300"]),
}
LANGUAGES = {"gcc": "C", "g++": "C++", "gfortran": "Fortran", "rustc": "Rust"}


def linker_option(compiler, linker):
    if not linker:
        return []
    return ["-C", f"link-arg=-fuse-ld={linker}"] if compiler == "rustc" else [f"-fuse-ld={linker}"]


def build(options):
    """(name, language, command) of all programs that can be built."""
    faults = {os.path.relpath(path, run.TOP): (FAULTS[os.path.splitext(path)[1]], [])
              for path in sorted(glob.glob(os.path.join(run.TOP, "examples/faults/*.*"))) if
              os.path.splitext(path)[1] in FAULTS}
    for source, (compiler, arguments) in {**OWN, **faults}.items():
        name = os.path.splitext(os.path.basename(source))[0]
        if not shutil.which(compiler[0], path=workloads.ENVIRONMENT["PATH"]):
            print(f"attribution.py: {compiler[0]} is not here: {name} is left out", file=sys.stderr)
            continue
        subprocess.run(compiler + linker_option(compiler[0], options.linker) + ["-g", os.path.join(run.TOP, source), "-o", name],
                       env=workloads.ENVIRONMENT, check=True)
        yield name, LANGUAGES[compiler[0]], [os.path.abspath(name)] + arguments
    for name, (package, language, how, arguments) in PACKAGES.items():
        folder = options.sources and sources(options.sources, package)
        if not folder:
            print(f"attribution.py: no source of {package}: {name} is left out", file=sys.stderr)
            continue
        yield name, language, [how(folder)] + arguments


PROGRAMS_OWN = "(o.kind NOT IN ('unknown', 'anonymous', 'library data') OR o.allocated_at IS NOT NULL)"
SYSTEMS = ("(o.object IN ('<heap bookkeeping>', '<thread stacks>') OR (o.kind = 'library data' AND "
           "substr(o.object, -5) NOT IN ('.data', ' .bss', 'odata', 'l.ro')))")


def measure(command, options):
    """L1d misses, and the parts of them on objects of the program, of the system, with a line, with object and line;
    and where most misses without are."""
    subprocess.run([options.nearmiss, "record", "-o", "attribution.nmp", "--cache", run.SPEC, "--", *command],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=workloads.ENVIRONMENT, check=False)
    named = f"({PROGRAMS_OWN} OR {SYSTEMS})"
    misses = "c.read_misses + c.write_misses"
    joined = "FROM counts c JOIN objects o USING (object) WHERE c.level = 'L1d'"
    with sqlite3.connect("file:attribution.nmp?mode=ro", uri=True) as db:
        sums = db.execute(f"SELECT sum({misses}), sum(({misses}) * {PROGRAMS_OWN}), "
                          f"sum(({misses}) * ({named} AND NOT {PROGRAMS_OWN})), sum(({misses}) * (c.user_line > 0)), "
                          f"sum(({misses}) * ({named} AND c.user_line > 0)) {joined}").fetchone()
        heap = db.execute(f"SELECT sum({misses}), sum(({misses}) * (c.object NOT LIKE 'heap %')) {joined} "
                          "AND o.kind = 'heap' AND o.object NOT LIKE 'heap lib%.so%+0x%'").fetchone()
        rest = db.execute(f"SELECT c.function, c.object {joined} AND NOT ({named} AND c.line > 0) GROUP BY 1, 2 "
                          f"ORDER BY sum({misses}) DESC LIMIT 1").fetchone()
    db.close()
    return sums, heap, rest


def main():
    parser = argparse.ArgumentParser(description="How many misses are charged to a named object and a line.")
    parser.add_argument("--sources", help="folder with unpacked source packages of Debian; see the head of this file")
    parser.add_argument("--linker", help="bfd, gold, lld or mold, for the programs of this tree (default: the compiler's)")
    parser.add_argument("--only", help="programs to record, separated by commas")
    parser.add_argument("--nearmiss", help="the executable (default: build/src/cli/nearmiss, then the PATH)")
    parser.add_argument("--work", default=os.path.join(run.TOP, "build-bench"), help="folder for programs and profiles")
    parser.add_argument("--least", type=float, default=95, help="least share of the misses in percent (default 95)")
    options = parser.parse_args()
    options.nearmiss = run.find_nearmiss(options.nearmiss)
    if not options.nearmiss:
        sys.exit("attribution.py: nearmiss is not built")
    options.sources = options.sources and os.path.abspath(options.sources)
    os.makedirs(options.work, exist_ok=True)
    os.chdir(options.work)
    text = workloads.text_file("attribution.txt", 60000, 1)
    workloads.write("count.awk", workloads.AWK_SCRIPT)
    write_formula("formula.cnf", 180, 760)
    print("| program | language | L1d misses | program's objects | system's | line | object and line | heap by variable | most of the rest |\n"
          "|---|---|---:|---:|---:|---:|---:|---:|---|")
    worst = 100.0
    for name, language, command in build(options):
        if options.only and name not in options.only.split(","):
            continue
        (misses, *parts), heap, rest = measure([argument.replace("@TEXT@", text) for argument in command], options)
        shares = [100.0 * part / misses for part in parts]
        worst = min(worst, shares[-1])
        by_variable = f"{100.0 * heap[1] / heap[0]:.2f} %" if heap[0] else "-"
        most = f"{rest[1]} in {rest[0]}" if rest else ""
        print(f"| {name} | {language} | {misses:,} | " + "".join(f"{share:.2f} % | " for share in shares) + f"{by_variable} | {most} |",
              flush=True)
    return 0 if worst >= options.least else 3


if __name__ == "__main__":
    sys.exit(main())
