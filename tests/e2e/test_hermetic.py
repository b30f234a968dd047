# SPDX-License-Identifier: MIT
"""test_hermetic.py - record --hermetic: the same counts whatever the environment, folder, load and time of day; what it
says of that in the profile."""

import contextlib
import os
import shutil
import subprocess

from harness import ENVIRONMENT, counts, main, nearmiss, need, program, record, rows

EPOCH = 1577836800  # src/base/pinned.h


def manifest(profile="p.nmp"):
    return dict(rows("SELECT substr(key, 10), value FROM info WHERE key LIKE 'hermetic%'", profile=profile))


def hermetic(*command, options=(), **how):
    return record(command, "--hermetic", "-q", *options, **how).stdout.decode().split()


@contextlib.contextmanager
def load():
    """A processor that is busy with something else."""
    with subprocess.Popen(["/bin/sh", "-c", "while :; do :; done"]) as busy:
        try:
            yield
        finally:
            busy.kill()


@contextlib.contextmanager
def folder(name):
    here = os.getcwd()
    os.makedirs(name)
    os.chdir(name)
    try:
        yield
    finally:
        os.chdir(here)


def everywhere(*command, options=("--hermetic",), profile="p.nmp"):
    """Records it in surroundings that differ; returns what it printed and all its counts, of each run."""
    runs = []
    here = os.path.abspath(profile)

    def run(environment):
        done = record(command, "-q", *options, profile=here, environment={**ENVIRONMENT, **environment})
        runs.append((done.stdout, counts(here)))

    run({})
    with load():
        run({"A": "x" * 1000, "LD_BIND_NOW": "1", "GLIBC_TUNABLES": "glibc.malloc.arena_max=1"})
    with folder("a/folder/with/a/longer/name"):
        run({f"V{i}": "x" * i for i in range(50)})
    return runs


def check_same(*command):
    runs = everywhere(*command)
    for printed, counted in runs[1:]:
        assert printed == runs[0][0], (printed, runs[0][0])
        assert counted == runs[0][1]


def case_clocks():
    check_same(program("influences"), "clocks")
    assert hermetic(program("influences"), "clocks") == [str(EPOCH + 1), "1", "0"]
    assert manifest()["clock"] == "1 ns for each instruction, from 2020-01-01 00:00:00 UTC"
    assert manifest()["unpinned"] == "", manifest()


def case_random_numbers():
    check_same(program("influences"), "numbers")
    assert manifest()["random"] == "seed 1"


def case_processors():
    check_same(program("influences"), "processors")
    assert hermetic(program("influences"), "processors") == ["4", "4", "0.00"]
    assert manifest()["processors"] == "4"


def case_environment():
    check_same(program("influences"), "environment")
    kept = hermetic(program("influences"), "environment", options=("--env", "A=1", "--env", "LC_ALL=C.UTF-8", "--env", "NOT_SET"))
    assert int(kept[0]) == int(hermetic(program("influences"), "environment")[0]) + len("A=1") + len(".UTF-8")
    assert manifest()["environment"] == "PATH=/usr/local/bin:/usr/bin:/bin HOME=/nonexistent LC_ALL=C TERM=dumb TZ=UTC0"


def case_own_path():
    check_same(program("influences"), "path")
    assert manifest()["unpinned"] == "the program's path"


def case_length_of_arguments():
    """Longer arguments leave the stack and the heap where they are."""
    placed = []
    for argument in ("a", "a" * 200):
        hermetic(program("influences"), "environment", argument)
        placed.append(rows("SELECT sum(reads), sum(writes), sum(read_misses + write_misses) FROM counts WHERE level = 'L1d' "
                           "AND function = 'environment'"))
    assert placed[0] == placed[1], placed


def case_a_program_that_times_itself():
    check_same(program("influences"), "calibrated")


def case_without_it_they_differ():
    """Else the cases above would show nothing."""
    for way in ("clocks", "numbers", "environment"):
        runs = everywhere(program("influences"), way, options=())
        assert any(counted != runs[0][1] for _, counted in runs[1:]), way
        shutil.rmtree("a")


def case_waits_pass_at_once():
    assert hermetic(program("influences"), "waits") == ["110", "40"]  # ETIMEDOUT, seconds
    assert manifest()["unpinned"] == "a wait that ended by the clock"


def case_executed_programs_go_on():
    """A program that another executes has a later clock and other random numbers."""
    first, second = need("sh"), program("influences")
    words = hermetic(first, "-c", f"{second} numbers; {second} numbers; date -u +%Y; {second} environment; nproc")
    assert len(set(words[:4])) == 4 and words[4] == "2020" and words[-1] == "4", words
    assert "process numbers" in manifest()["unpinned"], manifest()


def case_programs_of_debian():
    need("python3")
    with open("numbers", "w", encoding="utf-8") as f:
        f.write("\n".join(str(i * i % 97) for i in range(300)))
    numbers = os.path.abspath("numbers")
    for command in (("sort", "-R", numbers), ("mktemp", "-u")):
        check_same(*command)
        shutil.rmtree("a")
    check_same("python3", "-I", "-S", "-c", "import time, os\nprint(hash('a'), time.time() < 2e9, os.cpu_count(), os.urandom(4))")


def case_the_profile_says_it():
    record([program("influences"), "path"], "--hermetic", "--trace", "t.nmt")
    nearmiss("replay", "-q", "-o", "replayed.nmp", "-c", "L1d=32K,8,64", "t.nmt")
    assert manifest("replayed.nmp") == manifest(), (manifest("replayed.nmp"), manifest())
    shown = nearmiss("report", "-i", "p.nmp", "--width", "0").stdout.decode()
    assert ("hermetic    clocks, random numbers, processors, environment and stack are pinned, for processors with "
            f"{manifest()['instructions']}; not pinned: the program's path\n") in shown, shown
    record([program("influences"), "path"], "-q")
    assert not manifest()
    assert "hermetic    " not in nearmiss("report", "-i", "p.nmp").stdout.decode()


def case_diff_says_whether_the_same_is_pinned():
    ways = {"a.nmp": ("--hermetic",), "b.nmp": ("--hermetic",), "c.nmp": ("--hermetic", "--env", "A=1"), "d.nmp": ()}
    for name, options in ways.items():
        record([program("influences"), "path"], "-q", *options)
        os.rename("p.nmp", name)
    for other, said in (("b", "all, with the same values pinned"),
                        ("c", "all, but with different values pinned: see the keys hermetic_* of view info"),
                        ("d", "A only: clocks, random numbers and environment may differ")):
        assert f"\nhermetic    {said}\n" in nearmiss("diff", "a.nmp", f"{other}.nmp").stdout.decode(), other
    assert "hermetic    " not in nearmiss("diff", "d.nmp", "d.nmp").stdout.decode()


def case_refusals():
    done = nearmiss("record", "--env", "A=1", "--", "true")
    assert done.returncode == 2 and b"--env needs --hermetic" in done.stderr, done


main(globals())
