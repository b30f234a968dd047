# SPDX-License-Identifier: MIT
"""harness.py - shared by the end-to-end tests: records programs, queries profiles, finds lines.

A test file holds functions case_<name>(); `test_x.py <name>` runs one of them in an empty folder of its
own and exits 0, 1 (an assertion failed) or 77 (skipped: a tool is missing here). With ALL_TOOLS=1, as in .ci/run,
a missing tool that a package of tools/debian-packages has is a failure. Meson runs each case as a test; without a name
all cases of the file run. The environment has the paths:

    NEARMISS   the command          PROGRAMS   the folder of tests/programs' executables
    WIRECAT    the stream checker   COLLECTOR  the folder to be given to Valgrind as VALGRIND_LIB
    PROGRAMS_LEFT_OUT   words NAME:COMPILER, the programs whose compiler was not there when Meson configured
"""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import traceback

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NEARMISS = os.path.abspath(os.environ.get("NEARMISS", os.path.join(TOP, "build/src/cli/nearmiss")))
PROGRAMS = os.path.abspath(os.environ.get("PROGRAMS", os.path.join(TOP, "build/tests/programs")))
SPEC = "L1d=32K,8,64:L2=1M,16,64"
MISSES = "coalesce(sum(read_misses + write_misses), 0)"

# One environment for every run: counts may depend on it, and the tester's own must not matter.
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C", "TERM": "dumb",
               "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}

# Tools that no package of tools/debian-packages has.
UNPACKAGED = ("go", "perf")


class Skip(Exception):
    """The case cannot run here."""


class Missing(Skip):
    """What a package of tools/debian-packages brings is not installed."""


def need(*tools):
    """The full paths of tools, or Skip."""
    paths = [shutil.which(tool, path=ENVIRONMENT["PATH"] + ":/usr/sbin:/sbin") for tool in tools]
    for tool, path in zip(tools, paths):
        if not path:
            raise (Skip if tool in UNPACKAGED else Missing)(f"{tool} is not installed")
    return paths[0] if len(paths) == 1 else paths


def program(name):
    """The path of an executable of tests/programs; Skip without its compiler."""
    compilers = dict(word.split(":") for word in os.environ.get("PROGRAMS_LEFT_OUT", "").split())
    if name in compilers:
        raise Missing(f"{compilers[name]} is not installed")
    path = os.path.join(PROGRAMS, name)
    assert os.path.exists(path), f"{path} was not built: ninja -C build meson-test-prereq"
    return path


def run(command, stdin=b"", environment=None, folder=None):
    """Runs a command to its end; returns subprocess.CompletedProcess with bytes."""
    return subprocess.run(command, input=stdin, capture_output=True, env=environment or ENVIRONMENT, cwd=folder,
                          timeout=240, check=False)


def nearmiss(*arguments, **how):
    """Reports have room for whole names; the environment of programs that are recorded stays."""
    if arguments[:1] not in (("record",), ("monitor",)):
        how["environment"] = {**(how.get("environment") or ENVIRONMENT), "COLUMNS": "1000"}
    return run([NEARMISS, *arguments], **how)


def valid_report(text):
    """A report's JSON, which must be as docs/format/report.schema.json says."""
    try:
        import jsonschema  # pylint: disable=import-outside-toplevel # not everywhere
    except ImportError as error:
        raise Missing("python3-jsonschema is not installed") from error
    with open(os.path.join(TOP, "docs/format/report.schema.json"), encoding="utf-8") as f:
        schema = json.load(f)
    report = json.loads(text)
    jsonschema.validate(report, schema)
    return report


def record(command, *options, profile="p.nmp", status=0, stdin=b"", environment=None):
    """Records a command and returns its CompletedProcess; its exit status must be `status`."""
    machine = [] if "--cache" in options or "--machine" in options else ["--cache", SPEC]
    done = nearmiss("record", "-o", profile, *machine, *options, "--", *command, stdin=stdin,
                    environment=environment)
    assert done.returncode == status, f"{command}: status {done.returncode}, not {status}\n{done.stderr.decode()}"
    return done


def rows(sql, *values, profile="p.nmp"):
    with sqlite3.connect(f"file:{profile}?mode=ro", uri=True) as db:
        found = db.execute(sql, values).fetchall()
    db.close()
    return found


# Since 2.39 the GNU C library prints the id of each thread that it starts: which digits it reads differs from run to run.
DIGITS = "_itoa_lower_digits"


def counts(profile="p.nmp"):
    """All rows of the fact table but those of DIGITS, in an order of their own."""
    return sorted(rows("SELECT * FROM counts WHERE object <> ?", DIGITS, profile=profile), key=repr)


def at(source, tag):
    """The number of the source line with the comment @tag."""
    with open(os.path.join(TOP, source), encoding="utf-8") as f:
        found = [n for n, text in enumerate(f, 1) if re.search(rf"@{tag}\b", text)]
    assert len(found) == 1, f"{source}: @{tag} must stand there once"
    return found[0]


class Cell:
    """Sums over one line of one source for objects whose name matches a LIKE pattern, at level L1d."""

    COLUMNS = ("reads", "writes", "read_misses", "write_misses", "cold", "capacity", "conflict", "loads", "reuse",
               "used_bytes", "loaded_bytes")

    def __init__(self, source, tag, objects="%", where="1", profile="p.nmp"):
        line = at(source, tag)
        self.title = f"{source}:{line} @{tag} {objects}"
        sums = ", ".join(f"coalesce(sum({c}), 0)" for c in self.COLUMNS)
        values = rows(f"SELECT {sums} FROM counts WHERE level = 'L1d' AND line = ? AND file LIKE ? "
                      f"AND object LIKE ? AND {where}", line, "%" + os.path.basename(source), objects,
                      profile=profile)[0]
        for column, value in zip(self.COLUMNS, values):
            setattr(self, column, value)

    def expect(self, **wanted):
        """Each figure must be the number given, or lie within the (lowest, highest) given."""
        for column, want in wanted.items():
            low, high = want if isinstance(want, tuple) else (want, want)
            got = getattr(self, column)
            assert low <= got <= high, f"{self.title}: {column} is {got}, not {want}"


def main(cases):
    """Runs the case named by the first argument, or all; see the head of this file."""
    table = {name[len("case_"):]: body for name, body in cases.items() if name.startswith("case_")}
    if sys.argv[1:] == ["--list"]:
        print("\n".join(table))
        return
    # Nor must what the tester's shell ignores, such as interrupts of jobs in the background.
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    worst = 0
    for name in sys.argv[1:] or table:
        with tempfile.TemporaryDirectory(prefix="nearmiss-e2e-") as folder:
            os.chdir(folder)
            worst = max(worst, run_case(name, table[name]))
            os.chdir("/")
    sys.exit(worst)


def run_case(name, body):
    try:
        body()
    except Skip as reason:
        if isinstance(reason, Missing) and os.environ.get("ALL_TOOLS"):
            print(f"{name}: FAILED: {reason}")
            return 1
        print(f"{name}: skipped: {reason}")
        return 77 if len(sys.argv) == 2 else 0
    except Exception:  # pylint: disable=broad-except
        traceback.print_exc()
        print(f"{name}: FAILED")
        return 1
    print(f"{name}: ok")
    return 0
