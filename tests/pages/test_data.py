# SPDX-License-Identifier: MIT
"""test_data.py CASE - pages of default recordings: a C++ program with containers and classes, and one that others wrote."""

import os
import shlex
import shutil

from browser import drive_chromium, served
from harness import Skip, main, nearmiss, program, record


def drive(case, *arguments):
    with served(*arguments) as (address, _):
        drive_chromium("data.mjs", case, address)


def record_both():
    record([program("containers")], "-q", profile="containers.nmp")
    record(["/usr/bin/sort", __file__], "-q", profile="sort.nmp")


def case_needs():
    """Pages without data are greyed, and say which command records it; no request of any page fails."""
    record_both()
    drive("needs", "containers.nmp", "sort.nmp")


def case_needs_met():
    """With the commands that the pages name, none lacks anything."""
    record_both()
    os.environ["COMMANDS"] = "commands.txt"
    drive("needs", "containers.nmp", "sort.nmp")
    options = []
    with open("commands.txt", encoding="utf-8") as f:
        for line in f:
            command, _, run = line.partition(" -- ")
            assert run.split() == [program("containers")], line
            if command.startswith("nearmiss record "):
                options += shlex.split(command)[2:]
    done = nearmiss("record", "-q", "-o", "all.nmp", *options, "--", program("containers"))
    assert done.returncode == 0, done.stderr
    drive("needs_met", "all.nmp")


def case_programs():
    """Programs that others wrote, without debug information: gcc and sqlite3."""
    for tool in ("gcc", "sqlite3"):
        if not shutil.which(tool):
            raise Skip(f"{tool} is not installed")
    with open("small.c", "w", encoding="utf-8") as f:
        f.write("int sum(const int *a, int n)\n{\n\tint s = 0;\n\n\tfor (int i = 0; i < n; i++)\n\t\ts += a[i];\n\treturn s;\n}\n")
    record(["gcc", "-c", "small.c"], "-q", profile="gcc.nmp")
    record(["sqlite3", ":memory:", "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) "
            "SELECT count(DISTINCT i * 7919 % 1009) FROM n"], "-q", profile="sqlite3.nmp")
    drive("programs", "gcc.nmp", "sqlite3.nmp")


main(dict(globals()))
