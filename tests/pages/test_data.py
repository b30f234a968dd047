# SPDX-License-Identifier: MIT
"""test_data.py CASE - pages of default recordings: a C++ program with containers and classes, and one that others wrote."""

import os
import shlex

from browser import drive_chromium, served
from harness import main, nearmiss, program, record


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


main(dict(globals()))
