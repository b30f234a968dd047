# SPDX-License-Identifier: MIT
"""test_ranks.py - a trace that is replayed in parts by ranks of an MPI job gives the profile that one process gives."""

import csv
import io
import os
import re

from harness import ENVIRONMENT, SPEC, Missing, main, need, nearmiss, program, record, run

VIEWS = ("processes", "levels", "objects", "counts", "evictions", "regions", "walks", "modules")
SAMPLED = ("dependent", "type")  # come from samples of the whole run
USAGE, BAD_INPUT = 2, 121


def contents(profile):
    """All rows of the views that ranks fill."""
    found = {}
    for view in VIEWS:
        text = nearmiss("query", "--format", "csv", profile, f"SELECT * FROM {view}").stdout.decode()
        lines = list(csv.DictReader(io.StringIO(text)))
        found[view] = sorted(tuple(v for k, v in line.items() if k not in SAMPLED) for line in lines)
    assert len(found["counts"]) > 100
    return found


def on_ranks(mpi, count, *options, trace="t.nmt"):
    launcher, command = need(f"mpirun.{mpi}"), os.environ.get(f"NEARMISS_MPI_{mpi.upper()}")
    if not command:
        raise Missing(f"lib{mpi}-dev is not installed")
    many = ["--oversubscribe", "--mca", "btl", "self,vader"] if mpi == "openmpi" else []
    environment = {**ENVIRONMENT, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    machine = [] if "--cache" in options else ["--cache", SPEC]
    return run([launcher, *many, "-n", str(count), command, "replay", "-o", "r.nmp", *machine, *options, trace],
               environment=environment)


def expect_same(mpi, count, *options):
    done = on_ranks(mpi, count, *options)
    assert done.returncode == 0, done
    table = [line.split() for line in done.stderr.decode().splitlines() if line.lstrip()[:1].isdigit()]
    assert [int(line[0]) for line in table[:count]] == list(range(count)), done.stderr
    one, parts = contents("one.nmp"), contents("r.nmp")
    for view in VIEWS:
        assert one[view] == parts[view], (mpi, count, view, sorted(set(one[view]) ^ set(parts[view]))[:4])


def prepare(name, *options):
    record([program(name)], "--trace", "t.nmt", "-q")
    machine = [] if "--cache" in options else ["--cache", SPEC]
    done = nearmiss("replay", "-q", "-o", "one.nmp", *machine, *options, "t.nmt")
    assert done.returncode == 0, done


def case_openmpi():
    """Threads, forked processes, loads that are covered, single instructions, and parts that are measured."""
    prepare("threads")
    expect_same("openmpi", 2)
    expect_same("openmpi", 4)
    prepare("processes")
    expect_same("openmpi", 4)
    covered = ("--cache", "L1d=4K,4,64:L2=64K,8,64:L3=256K,16,64:prefetchers=pair+stream+stride")
    for name, *options in (("blocks", *covered), ("parts", "--asm")):
        prepare(name, *options)
        expect_same("openmpi", 3, *options)


def case_mpich():
    """Stacks of coroutines and signal handlers; mapped code that goes."""
    for name, count in (("signals", 4), ("frames", 2), ("mappings", 2)):
        prepare(name)
        expect_same("mpich", count)


def expect_refused(done, status, *reasons):
    told = [line for line in done.stderr.decode().splitlines() if line.startswith("nearmiss: ")]
    assert done.returncode == status and len(told) == 1 and all(r in told[0] for r in reasons), done
    assert not [name for name in os.listdir(".") if name.startswith("r.nmp")], os.listdir(".")


def case_refusals():
    """What parts cannot follow, and traces that are not whole, are told once, and leave no profile."""
    prepare("fault-hash")
    for options in (("--instr",), ("--from", "1000"), ("--callgraph",), ("--sets",)):
        expect_refused(on_ranks("openmpi", 2, *options), USAGE, options[0], "one piece")
    expect_refused(on_ranks("openmpi", 2, "--cache", "L1d=32K,8,64,policy=random"), USAGE, "default rules")
    expect_refused(on_ranks("openmpi", 2, "--no-option"), USAGE, "--no-option")
    expect_refused(on_ranks("openmpi", 2, trace="-"), USAGE, "part of a file")
    expect_refused(on_ranks("openmpi", 2, trace="none.nmt"), BAD_INPUT, "none.nmt")
    with open("t.nmt", "rb") as f:
        whole = f.read()
    with open("cut.nmt", "wb") as f:
        f.write(whole[:len(whole) * 2 // 3])
    expect_refused(on_ranks("openmpi", 2, trace="cut.nmt"), BAD_INPUT, "cut off", "nearmiss replay")


def case_failing_rank():
    """A rank that cannot read its part says so, and ends the job."""
    prepare("fault-hash")
    with open("t.nmt", "rb") as f:
        damaged = bytearray(f.read())
    middle = len(damaged) // 2  # of the records: names are loaded by all
    damaged[middle:middle + 100] = bytes(100)
    with open("bad.nmt", "wb") as f:
        f.write(damaged)
    done = on_ranks("openmpi", 2, trace="bad.nmt")
    assert done.returncode != 0 and re.search(rb"nearmiss: rank \d: bad.nmt: .*damaged", done.stderr), done
    assert not os.path.exists("r.nmp")
    record([program("hints")], "--trace", "t.nmt", "-q")
    done = on_ranks("openmpi", 2)
    assert done.returncode != 0 and b"the program prefetches" in done.stderr, done
    assert not os.path.exists("r.nmp")


if __name__ == "__main__":
    main(globals())
