# SPDX-License-Identifier: MIT
"""library.py - libnearmiss as it is delivered: what it exports, and the examples that use it.

    library.py CASE LIBRARY.so LIBRARY.a   exits 0, or 1 with what went wrong
"""

import os
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED, STATIC = os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3])

# 512 x 512 doubles, 8 to a line: along the rows each line is loaded once, 32,768 times for each matrix. Down a column,
# 512 lines of each matrix follow each other at the distance of 4 KiB, all in one set of L1d (64 sets) and in 8 of L2
# (512 sets of 64 bytes): none stays until the next column.
SIMULATED = """\
rows     L1d    matrix     32768 misses,       0 of them conflicts
rows     L1d    copy       32768 misses,       0 of them conflicts
rows     L2     matrix     32768 misses,       0 of them conflicts
rows     L2     copy       32768 misses,       0 of them conflicts
"""


def run(command, status=0):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == status, f"{command}: status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def build(source, language, *link):
    """An example, compiled as a stranger would with all warnings as errors."""
    compiler = ["g++", "-xc++"] if language == "c++" else ["gcc", "-xc", "-std=c11"]
    run([*compiler, "-Wall", "-Wextra", "-Werror", "-O1", "-I", f"{TOP}/include", f"{TOP}/examples/{source}", "-xnone",
         "-o", "example", *link])


def case_exports():
    """Nothing but nearmiss_* is seen from outside, in the shared library under its version."""
    for line in run(["nm", "-D", "--defined-only", SHARED]).splitlines():
        name = line.split()[-1]
        assert name == "NEARMISS_0" or (name.startswith("nearmiss_") and name.endswith("@@NEARMISS_0")), line
    inside = {line.split()[-1] for line in run(["nm", "-g", "--defined-only", STATIC]).splitlines() if " " in line}
    outside = {line.split()[-1].split("@")[0] for line in run(["nm", "-D", "--defined-only", SHARED]).splitlines()}
    assert inside == outside - {"NEARMISS_0"}, inside ^ outside
    assert "SONAME               libnearmiss.so.0\n" in run(["objdump", "-p", SHARED])
    with open(f"{TOP}/include/nearmiss/nearmiss.h", encoding="utf-8") as header:
        text = header.read()
    missing = [name for name in inside if f"{name}(" not in text]
    assert inside and not missing, missing


def simulates(language, *link):
    build("simulate.c", language, *link)
    told = run(["./example"])
    assert told.startswith(SIMULATED), told
    columns = [line.split() for line in told.splitlines()[4:]]
    assert [(row[0], row[1], row[2], row[3]) for row in columns] == [
        ("columns", level, name, "262144") for level in ("L1d", "L2") for name in ("matrix", "copy")], told
    run(["./example", "L1d=32K,8,63"], status=1)


def case_simulate():
    folder = os.path.dirname(SHARED)
    simulates("c", f"-L{folder}", "-lnearmiss", f"-Wl,-rpath,{folder}")


def case_simulate_cpp():
    """C++ takes the header, and the program links with the archive and what pkg-config tells of."""
    simulates("c++", STATIC, *run(["pkg-config", "--libs", "sqlite3", "zlib"]).split())


def case_watch():
    folder = os.path.dirname(SHARED)
    build("watch.c", "c", f"-L{folder}", "-lnearmiss", f"-Wl,-rpath,{folder}")
    told = run(["./example"]).splitlines()
    # a, b, c, a, b, c in two ways: from the third on, each evicts the one that was touched before the last.
    pushed = [("3", "c", "a"), ("4", "a", "b"), ("5", "b", "c"), ("6", "c", "a")]
    assert [(w[1].rstrip(":"), w[2], w[7]) for w in (line.split() for line in told[:-1])] == pushed, told
    assert len({line.split()[-1] for line in told[:-1]}) == 1 and told[-1] == "4 replacements", told
    assert run(["./example", "L1d=8K,4,64"]) == "0 replacements\n"
    run(["./example", "L1d=8K,2,63"], status=1)


def case_python():
    told = run([sys.executable, f"{TOP}/examples/misses_by_object.py", f"{TOP}/tests/data/profile-v1.nmp", "L1d"])
    lines = told.splitlines()
    assert lines[0].endswith(": misses of L1d") and 1 < len(lines) <= 11, told
    assert [line.split()[0] for line in lines[1:]] == sorted((line.split()[0] for line in lines[1:]), reverse=True,
                                                             key=lambda n: int(n.replace(",", ""))), told


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        globals()["case_" + sys.argv[1]]()
