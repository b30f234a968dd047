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
        assert all(found[name][2] == "double[]" for name in names), (level, found)


def case_arrays_that_one_function_enlarges_are_apart():
    """In a stripped program, too, where its name would say nothing."""
    build("gcc", "grown.c", "-O2", "-s")
    record(["./program"])
    found = sorted(rest[0] for rest in heap().values())
    assert found == [12, 14], heap()


def case_stripped_programs_have_their_sites_apart():
    build("gcc", "sites.c", "-O2", "-s")
    record(["./program"])
    found = heap()
    assert len(found) == 7, found
    assert all(re.fullmatch(r"heap program\+0x[0-9a-f]+", name) for name in found), found


def case_names_that_are_longer_than_any_room():
    """Functions whose names differ only at their ends, behind 7,000 characters."""
    structures = [f"a_rather_long_name_of_a_structure_number_{i}" for i in range(150)]
    with open("long.cpp", "w", encoding="ascii") as f:
        f.write("#include <cstdio>\n#include <cstdlib>\ntemplate<class... T> struct tuple_of {};\n"
                + "".join(f"struct {name} {{}};\n" for name in structures)
                + "template<class T, int N> __attribute__((noinline)) void fill() {\n\tvoid **p = (void **)malloc(65536);\n"
                + "\tfor (int i = 0; i < 8192; i++) p[i] = p;\n\tprintf(\"%p\", (void *)p);\n}\n"
                + f"typedef tuple_of<{', '.join(structures)}> big;\n"
                + "int main() { fill<big, 1>(); fill<big, 2>(); fill<big, 3>(); }\n")
    done = run([need("g++"), "-O1", "long.cpp", "-o", "program"])
    assert done.returncode == 0, done.stderr
    record(["./program"])
    found = [(name, blocks) for name, (blocks, size, _) in heap().items() if size == 65536]
    assert len(found) == 3 and all(blocks == 1 for _, blocks in found), [name[-40:] for name, _ in found]


def check_parts(wanted):
    found = {name.split(" (")[0]: (blocks, type) for name, (blocks, _, type) in heap().items()}
    for name, part in wanted.items():
        assert name in found and (part[0] is None or found[name][0] == part[0]), (name, found)
        assert (found[name][1] or "").startswith(part[1]), (name, found)


def case_parts_of_containers_are_apart():
    """One line allocates header blocks and elements: objects of their own, with their types."""
    for level in ("-O1", "-O2"):
        build("g++", "parts.cpp", level, "-g")
        record(["./program"])
        check_parts({"rows": (1, "std::vector<double, "), "rows[]": (2001, "double[]"), "cube[]": (41, "std::vector<float, "),
                     "cube[][]": (1641, "float[]"), "hash": (None, "std::__detail::_Hash_node_base *[]"),
                     "hash[]": (5000, "std::__detail::_Hash_node<"), "queue[]": (None, "point[]"),
                     "words": (None, "std::__cxx11::basic_string<char, "), "words[]": (2000, "")})


def case_parts_of_vectors_of_rust_are_apart():
    for level in "013":
        build("rustc", "parts.rs", "-g", "-C", f"opt-level={level}")
        record(["./program"])
        check_parts({"rows": (1, "alloc::vec::Vec<f64"), "rows[]": (1999, "f64[]"), "cells": (None, "alloc::vec::Vec<"),
                     "cells[]": (1000, "parts::Point[]"), "boxes": (1, "alloc::boxed::Box<"),
                     "boxes[]": (5000, "parts::Point")})


def case_allocatable_arrays_of_fortran_have_types():
    for level in ("-O0", "-O1", "-O2"):
        build("gfortran", "parts.f90", level, "-g")
        record(["./program"])
        check_parts({"m": (1, "type(row)[]"), "m(i)%values": (2000, "real(kind=8)[]"), "g%rows": (1, ""), "g%u": (1, ""),
                     "a": (1, "")})


def case_blocks_longer_than_their_elements_have_fields():
    for level in ("-O0", "-O1", "-O2"):
        build("g++", "tails.cpp", level, "-g")
        record(["./program"])
        found = {name.split(" (")[0]: type for name, (_, _, type) in heap().items() if "tails.cpp" in name}
        assert found == {"leaves": "leaf[]", "list": "flex", "plain": "double[]"}, (level, found)
        fields = rows("SELECT object, field, offset, bytes FROM fields WHERE object LIKE '%tails.cpp%'")
        assert [(name.split(" (")[0], *rest) for name, *rest in sorted(fields)] == [
            ("leaves", "_vptr.base", 0, 8), ("leaves", "id", 8, 4), ("leaves", "weight", 16, 8),
            ("list", "count", 0, 8), ("list", "tail[]", 8, 160000)], (level, fields)


if __name__ == "__main__":
    main(globals())
