#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_sites.py - heap objects are as fine as the calls that allocate them, with and without debug information."""

import os
import re

from harness import TOP, at, main, need, record, rows, run


def build(compiler, source, *options):
    done = run([need(compiler), *options, os.path.join(TOP, "tests/programs", source), "-o", "program"])
    assert done.returncode == 0, done.stderr


def heap(profile="p.nmp"):
    """Name -> blocks, bytes, type, of the heap objects of 16 KB or more."""
    return {name: rest for name, *rest in rows("SELECT object, blocks, bytes, type FROM objects WHERE kind = 'heap' "
                                               "AND bytes >= 16384", profile=profile)}


def case_symbols_name_blocks_without_debug_information():
    """Bytes tell which block is which: see sites.c."""
    n = 8 << 15
    for level in ("-O0", "-O1", "-O2"):
        build("gcc", "sites.c", level)
        record(["./program"])
        found = {re.sub(r"\+0x[0-9a-f]+", "+", name.replace("state+0x8", "state+8").replace("state+0x10", "state+16")):
                 rest[:2] for name, rest in heap().items()}
        assert found == {"a (grow+)": [1, n], "b (grow+)": [1, n], "c (main+)": [1, n], "state+8 (main+)": [1, n + 16],
                         "state+16 (main+)": [1, n // 2 + 16], "heap main+ (program)": [1, 2 * n + 16],
                         "heap make+ (program)": [1000, 32000]}, (level, heap())


def case_callers_of_helpers_are_apart():
    for level in ("-O0", "-O1", "-O2", "-O3"):
        build("g++", "helper.cpp", level)
        record(["./program"])
        found = {name: rest for name, rest in heap().items() if rest[1] == 8 << 15}
        assert len(found) == 5 and all(blocks == 1 for blocks, _, _ in found.values()), (level, found)
        assert all(re.fullmatch(r"heap (main|Atoms::grow\(int\))\+0x[0-9a-f]+ \(program\)", name) for name in found), found


def case_arguments_name_what_helpers_hand_out():
    names = [f"Atoms::{field} (helper.cpp:{at('tests/programs/helper.cpp', field)})" for field in "xvf"]
    for level in ("-O0", "-O1", "-O2"):
        build("g++", "helper.cpp", level, "-g")
        record(["./program"])
        found = {name: rest for name, rest in heap().items() if rest[1] == 8 << 15}
        assert set(names) < set(found) and len(found) == 5, (level, found)


def case_stripped_programs_have_their_sites_apart():
    build("gcc", "sites.c", "-O2", "-s")
    record(["./program"])
    found = heap()
    assert len(found) == 7, found
    assert all(re.fullmatch(r"heap \(program\+0x[0-9a-f]+\)", name) for name in found), found


if __name__ == "__main__":
    main(globals())
