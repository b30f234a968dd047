#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mutants.py - do the unit tests notice a fault of one line?

Applies the mutants of mutants.txt one by one to a copy of the tree, builds the unit tests that cover the file, and says which
mutants they kill; exits 1 if one survives.

    tests/mutants/mutants.py [--folder DIR] [--checks] [WORD]...     those whose file or text has a WORD; all: some minutes

--checks: with the validators of -Dchecks=true. DIR keeps the copy and its build, so that the next run is quicker.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIMIT_S = 300  # of a test; a mutant may loop for ever


def read_mutants(path):
    """The mutants of a list: (file, line, mutated line, tests)."""
    found, part = [], {}
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.rstrip("\n")
            if line.startswith("#") or not line:
                continue
            mark, text = line[0], line[2:]
            if mark == "@":
                name, _, tests = text.partition(" ")
                part = {"file": name, "tests": tests.split()}
            elif mark == "-":
                part["old"] = text
            elif mark == "+":
                found.append((part["file"], part["old"], text, part["tests"]))
            else:
                sys.exit(f"{path}:{number}: neither @, - nor +")
    return found


def copy_tree(folder):
    """Makes or renews the copy of what git tracks; files that did not change keep their times."""
    files = subprocess.run(["git", "ls-files", "-z"], cwd=TOP, check=True, capture_output=True).stdout.decode().split("\0")
    for name in filter(None, files):
        old, new = os.path.join(TOP, name), os.path.join(folder, name)
        if not os.path.isfile(old):
            continue
        os.makedirs(os.path.dirname(new), exist_ok=True)
        if not os.path.exists(new) or read(old) != read(new):
            shutil.copy(old, new)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def run_tests(build, tests):
    """The first test that fails, or does not end or compile; None: all pass."""
    for test in tests:
        program = f"tests/unit/{test}_test"
        if subprocess.run(["ninja", "-C", build, "--quiet", program], capture_output=True, check=False).returncode:
            return "the compiler"
        try:
            if subprocess.run([os.path.join(build, program)], cwd=build, capture_output=True, timeout=LIMIT_S,
                              check=False).returncode:
                return test
        except subprocess.TimeoutExpired:
            return f"{test}, which does not end"
    return None


def try_mutant(folder, build, mutant):
    file, old, new, tests = mutant
    path = os.path.join(folder, file)
    text = read(path)
    if text.count(old.encode()) != 1:
        sys.exit(f"{file}: not once there: {old}")
    with open(path, "wb") as out:
        out.write(text.replace(old.encode(), new.encode()))
    killer = run_tests(build, tests)
    with open(path, "wb") as out:
        out.write(text)
    return killer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder")
    parser.add_argument("--checks", action="store_true")
    parser.add_argument("words", nargs="*")
    asked = parser.parse_args()
    folder = asked.folder or tempfile.mkdtemp(prefix="mutants.")
    build = os.path.join(folder, "build")
    mutants = [m for m in read_mutants(os.path.join(TOP, "tests/mutants/mutants.txt"))
               if not asked.words or any(word in m[0] + m[2] for word in asked.words)]
    survivors = 0

    copy_tree(folder)
    if not os.path.exists(os.path.join(build, "build.ninja")):
        subprocess.run(["meson", "setup", build, folder, f"-Dchecks={str(asked.checks).lower()}"], check=True, capture_output=True)
    broken = run_tests(build, sorted({test for m in mutants for test in m[3]}))
    if broken:
        sys.exit(f"without any mutant, {broken} fails")
    for mutant in mutants:
        killer = try_mutant(folder, build, mutant)
        survivors += killer is None
        print(f"{'killed by ' + killer if killer else 'SURVIVED':30} {mutant[0]}: {mutant[2].strip()}", flush=True)
    print(f"{len(mutants)} mutants, {survivors} survive")
    if not asked.folder:
        shutil.rmtree(folder)
    return survivors > 0


if __name__ == "__main__":
    sys.exit(main())
