# SPDX-License-Identifier: MIT
"""test_cachegrind.py - programs of Debian under Cachegrind and Callgrind, which know nothing of nearmiss: with the same cache it has
the same misses, to the last one (bench/accuracy.py says how the counts are made comparable)."""

import os

from harness import NEARMISS, TOP, main, need, run

PROGRAMS = ("gzip", "bzip2", "sort")


def case_misses():
    need(*PROGRAMS)
    done = run([need("python3"), os.path.join(TOP, "bench/accuracy.py"), "--nearmiss", NEARMISS, "--work", ".", "--scale", "0.02",
                "--only", ",".join(PROGRAMS), "--limit", "0"])
    assert done.returncode == 0, done
    rows = [line.split() for line in done.stdout.decode().splitlines()]
    assert {row[0] for row in rows} >= set(PROGRAMS), rows
    assert all(int(row[5].replace(",", "")) > 1000 for row in rows if row[0] in PROGRAMS), rows


if __name__ == "__main__":
    main(globals())
