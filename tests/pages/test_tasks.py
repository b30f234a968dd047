# SPDX-License-Identifier: MIT
"""test_tasks.py CASE - what a reader wants to know, and by how many clicks; tasks.mjs says how.

A C++ program with std::vector and classes, a threaded one, and one whose fields lie apart, as a reader records them.
"""

import os

from browser import drive_chromium, need_chromium, served
from harness import main, nearmiss, program, record


def drive(case, *arguments):
    with served(*arguments) as (address, _):
        drive_chromium("tasks.mjs", case, address)


def record_containers():
    record([program("containers")], "-q", profile="containers.nmp")


def case_worst_structure_to_its_line():
    record_containers()
    drive("worst_structure_to_its_line", "containers.nmp")


def case_who_evicts_it():
    record_containers()
    drive("who_evicts_it", "containers.nmp")


def case_which_field_to_move():
    record([program("fault-cold"), "2"], "-q", profile="cold.nmp")
    drive("which_field_to_move", "cold.nmp")


def case_lines_of_a_field():
    """A field leads to the lines that access it, whose misses add up to its own; the layout can be copied."""
    record([program("fault-cold"), "2"], "-q", profile="cold.nmp")
    drive("lines_of_a_field", "cold.nmp")


def case_fields_by_loop():
    """What fills whole elements once does not put all fields into one group."""
    record([program("halves")], "-q", profile="halves.nmp")
    drive("fields_by_loop", "halves.nmp")


def case_is_sharing_false():
    """False where sums lie on one line; none where they are padded; where no cores were recorded, the page says how to."""
    record([program("sharing"), "100000"], "-q", "--cores=4", profile="shared.nmp")
    record([program("sharing-padded"), "100000"], "-q", "--cores=4", profile="padded.nmp")
    record([program("sharing"), "1000"], "-q", profile="plain.nmp")
    drive("is_sharing_false", "shared.nmp", "padded.nmp", "plain.nmp")


def case_what_changed():
    record([program("fault-cold"), "2"], "-q", profile="before.nmp")
    record([program("fault-cold-repaired"), "2"], "-q", profile="after.nmp")
    drive("what_changed", "before.nmp", "after.nmp")


def case_search():
    record_containers()
    drive("search", "containers.nmp")


def case_chains():
    """Call chains as a picture, both ways, by keys and mouse, found by name; the same in a file."""
    record([program("containers")], "-q", "-g", profile="chains.nmp")
    drive("chains", "chains.nmp")
    done = nearmiss("view", "--html", "pages.html", "chains.nmp")
    assert done.returncode == 0, done.stderr
    drive_chromium("tasks.mjs", "chains", "file://" + os.path.abspath("pages.html"))


def case_small_rows():
    """What has less than 1 % of the misses is one row, until it is asked for or named."""
    record_containers()
    drive("small_rows", "containers.nmp")


def case_tables_of_a_file():
    """A file sorts and filters the rows that it holds."""
    need_chromium()
    record_containers()
    done = nearmiss("view", "--html", "pages.html", "containers.nmp")
    assert done.returncode == 0, done.stderr
    drive_chromium("tasks.mjs", "tables_of_a_file", "file://" + os.path.abspath("pages.html"))


def case_evictions_of_mine():
    """Evictions by the loader are left out until they are asked for; small objects are one row and one column."""
    record_containers()
    drive("evictions_of_mine", "containers.nmp")


main(dict(globals()))
