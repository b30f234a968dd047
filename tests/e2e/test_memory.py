# SPDX-License-Identifier: MIT
"""test_memory.py - an allocation that fails, at any place: the command does all of its work, or says in one line that
memory ran out and exits with 125.  It never crashes and leaves no temporary file.

The allocations that fail are chosen evenly, at most MOST for each command; NM_MOST_FAILURES in the environment tries more."""

import glob
import os
import re
import shutil

from harness import ENVIRONMENT, NEARMISS, TOP, main, nearmiss, run

LIBRARY = os.environ.get("FAIL_ALLOCATION", os.path.join(TOP, "build/tests/support/libfail_allocation.so"))
MOST = int(os.environ.get("NM_MOST_FAILURES", "60"))
FAILED = 125
EXHAUSTED = re.compile("out of memory|Cannot allocate memory")
NEST = """parameter N = 20
array A(N,N), B(N,N)
for j = 1 to N
  for i = 1 to N
    A(i,j) = A(i,j) + B(j,i)
  end
end
"""


def environment(**settings):
    return dict(ENVIRONMENT, LD_PRELOAD=LIBRARY, NO_COLOR="1", **settings)


def attempt(command, at, stays_short):
    done = run([NEARMISS, *command], environment=environment(NM_FAIL_AT=str(at), NM_FAIL_ON=str(int(stays_short))))
    text = done.stderr.decode()
    told = f"allocation {at}{' and later' if stays_short else ''}: status {done.returncode}\n{text}"
    if done.returncode == FAILED:
        assert text.startswith("nearmiss: ") and text.count("\n") == 1 and EXHAUSTED.search(text), told
    else:
        assert not done.returncode, told
    assert not glob.glob("*.tmp*"), f"{told}{os.listdir()}"
    return done


def try_all(*command, same_output=True):
    """Fails allocations of the command, one at a time and for good."""
    whole = run([NEARMISS, *command], environment=environment(NM_FAIL_COUNT="count"))
    assert not whole.returncode, whole.stderr.decode()
    with open("count", encoding="ascii") as f:
        total = int(f.read())
    assert total > 20, total
    chosen = sorted({1 + i * total // MOST for i in range(MOST)}) if total > MOST else range(1, total + 1)
    failed = 0
    for at in chosen:
        for stays_short in (False, True):
            done = attempt(command, at, stays_short)
            failed += done.returncode == FAILED
            if same_output and not done.returncode:
                assert done.stdout == whole.stdout, f"allocation {at}: the output differs"
    assert failed, "none failed"


def make_trace():
    with open("n.nest", "w", encoding="ascii") as f:
        f.write(NEST)
    done = nearmiss("nest", "-q", "--cache", "L1d=1K,2,64:L2=4K,4,64", "-o", "p.nmp", "--trace", "t.nmt", "n.nest")
    assert not done.returncode, done.stderr.decode()


def case_nest():
    make_trace()
    try_all("nest", "-q", "--cache", "L1d=1K,2,64:L2=4K,4,64", "-o", "new.nmp", "n.nest")
    try_all("nest", "--print", "n.nest")


def case_replay():
    make_trace()
    try_all("replay", "-q", "--cache", "L1d=1K,2,64:L2=4K,4,64", "-o", "new.nmp", "t.nmt")


def case_replay_of_a_recorded_trace():
    shutil.copy(os.path.join(TOP, "tests/data/interference.nmt"), "t.nmt")
    try_all("replay", "-q", "--cache", "L1d=1K,2,64", "-o", "new.nmp", "t.nmt")


def case_replay_of_a_foreign_trace():
    shutil.copy(os.path.join(TOP, "tests/data/import/list.csv"), ".")
    try_all("replay", "-q", "--cache", "L1d=1K,2,64", "-o", "new.nmp", "list.csv")


def case_reports():
    shutil.copy(os.path.join(TOP, "tests/data/profile-fields.nmp"), "p.nmp")
    for report in ((), ("objects",), ("lines",), ("levels",)):
        try_all("report", "-i", "p.nmp", *report)
    try_all("evictions", "-i", "p.nmp")
    try_all("query", "-i", "p.nmp", "SELECT * FROM levels")


def case_exports():
    shutil.copy(os.path.join(TOP, "tests/data/profile-fields.nmp"), "p.nmp")
    for name in ("callgrind", "csv", "json", "pprof"):
        try_all("export", name, "-i", "p.nmp", "-o", "out", same_output=False)


if __name__ == "__main__":
    main(globals())
