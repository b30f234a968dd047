# SPDX-License-Identifier: MIT
"""test_memory.py - an allocation that fails, at any place (failing.py): exit status 125."""

import os
import re
import shutil

from failing import Failures
from harness import TOP, main, nearmiss, need, program

BUILD = os.environ.get("BUILD", os.path.join(TOP, "build"))
SETTINGS = (os.path.join(BUILD, "tests/support/libfail_allocation.so"), [125],
            re.compile("out of memory|Cannot allocate memory"))
MEMORY = Failures(*SETTINGS)
SYMBOLS = Failures(*SETTINGS, program=os.path.join(BUILD, "tests/support/ask_symbols"))
LIBRARY = Failures(*SETTINGS, program=os.path.join(BUILD, "tests/support/use_library"))
NEST = """parameter N = 20
array A(N,N), B(N,N)
for j = 1 to N
  for i = 1 to N
    A(i,j) = A(i,j) + B(j,i)
  end
end
"""


def make_trace():
    with open("n.nest", "w", encoding="ascii") as f:
        f.write(NEST)
    done = nearmiss("nest", "-q", "--cache", "L1d=1K,2,64:L2=4K,4,64", "-o", "p.nmp", "--trace", "t.nmt", "n.nest")
    assert not done.returncode, done.stderr.decode()


def case_nest():
    make_trace()
    MEMORY.try_all("nest", "-q", "--cache", "L1d=1K,2,64:L2=4K,4,64", "-o", "new.nmp", "n.nest")
    MEMORY.try_all("nest", "--print", "n.nest")


def case_record():
    """The program was not started, or runs to its end, whatever becomes of the profile."""
    def program_has_ended(done):
        assert done.stdout in (b"", b"begun\nended\n"), done

    MEMORY.try_all("record", "-q", "--cache", "L1d=1K,2,64", "-o", "new.nmp", "--", need("sh"), "-c",
                   "echo begun; echo ended", same_output=False, most=12, after=program_has_ended)


def case_replay():
    make_trace()
    MEMORY.try_all("replay", "-q", "--cache", "L1d=1K,2,64:L2=4K,4,64", "-o", "new.nmp", "t.nmt")


def case_replay_of_a_recorded_trace():
    shutil.copy(os.path.join(TOP, "tests/data/interference.nmt"), "t.nmt")
    MEMORY.try_all("replay", "-q", "--cache", "L1d=1K,2,64", "-o", "new.nmp", "t.nmt")


def case_replay_of_a_foreign_trace():
    shutil.copy(os.path.join(TOP, "tests/data/import/list.csv"), ".")
    MEMORY.try_all("replay", "-q", "--cache", "L1d=1K,2,64", "-o", "new.nmp", "list.csv")


def case_reports():
    shutil.copy(os.path.join(TOP, "tests/data/profile-v1.nmp"), "p.nmp")
    for report in ((), ("objects",), ("lines",), ("levels",)):
        MEMORY.try_all("report", "-i", "p.nmp", *report)
    MEMORY.try_all("evictions", "-i", "p.nmp")
    MEMORY.try_all("query", "-i", "p.nmp", "SELECT * FROM levels")


def case_exports():
    shutil.copy(os.path.join(TOP, "tests/data/profile-v1.nmp"), "p.nmp")
    for name in ("callgrind", "csv", "json", "pprof"):
        MEMORY.try_all("export", name, "-i", "p.nmp", "-o", "out", same_output=False)


def case_library():
    shutil.copy(os.path.join(TOP, "tests/data/profile-v1.nmp"), "p.nmp")
    LIBRARY.try_all("p.nmp", most=150)


def case_symbols():
    """Names may be missing; those that are there keep their promises."""
    command = [program("containers")]
    _, total = SYMBOLS.count(command)
    assert total > 300, total
    for i in range(300):
        SYMBOLS.attempt(command, 1 + i * total // 300, i % 4 == 3)


if __name__ == "__main__":
    main(globals())
