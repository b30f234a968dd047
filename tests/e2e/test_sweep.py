# SPDX-License-Identifier: MIT
"""test_sweep.py - sweeps: the same results however they are run, after any interruption, and a row for each failure."""

import os
import re
import signal
import shutil
import sqlite3
import subprocess
import time

from harness import ENVIRONMENT, NEARMISS, TOP, Missing, main, nearmiss, need, rows, run

USAGE, BAD_INPUT, NO_OUTPUT = 2, 121, 122
BLOCKED = os.path.join(TOP, "examples/blocked.nest")
PLAN = """
traces: [run.nmt]
nests:
  - {file: blocked.nest, set: [N=200, "N=256 I=9"]}
machines: ["L1d=8K,2,32:L2=64K,4,32", "L1d=16K,full,64"]
sizes: [4K, 8K, 16K]
policies: [lru, fifo]
"""
TASKS = 3 * 2 * 3 * 2


def write(name, text):
    with open(name, "w", encoding="utf-8") as f:
        f.write(text)


def prepare(plan=PLAN):
    shutil.copy2(BLOCKED, "blocked.nest")
    done = nearmiss("nest", "blocked.nest", "-q", "-o", "p.nmp", "--cache", "L1d=8K,2,32", "-t", "run.nmt", "I=20")
    assert done.returncode == 0, done
    write("plan.yaml", plan)


def sweep(*options, status=0):
    done = nearmiss("sweep", "plan.yaml", *options)
    assert done.returncode == status, done
    return done.stderr.decode()


def results(profile):
    """All that does not depend on who ran a task."""
    return (rows("SELECT task, state, kind, input, settings, machine, level, size, policy, reads, writes, read_misses, write_misses, "
                 "cold, capacity, conflict, process, spec, remark FROM tasks ORDER BY task", profile=profile),
            rows("SELECT * FROM levels ORDER BY process, position", profile=profile),
            rows("SELECT process, instructions, refs FROM processes ORDER BY process", profile=profile))


def expect_all(profile, tasks=TASKS):
    assert rows("SELECT state, count(*) FROM tasks GROUP BY state", profile=profile) == [("done", tasks)]


def case_counts():
    """Each task counts what the command for one counts, and the commands show it."""
    prepare()
    said = sweep("-j", "1")
    assert f"{TASKS} tasks in " in said and "of which 1 worker spent" in said, said
    expect_all("sweep.nmp")
    for kind, path, settings, spec, process in rows("SELECT kind, input, settings, spec, process FROM tasks", profile="sweep.nmp"):
        command = ["replay", path] if kind == "trace" else ["nest", path, *settings.split()]
        done = nearmiss(*command, "-q", "-o", "one.nmp", "--cache", spec)
        assert done.returncode == 0, done
        names = [row[0] for row in rows("SELECT name FROM pragma_table_info('levels')", profile="one.nmp")]
        chosen = f"SELECT {', '.join(n for n in names if n != 'process')} FROM levels WHERE process = ? OR ? IS NULL ORDER BY position"
        assert rows(chosen, process, process, profile="sweep.nmp") == rows(chosen, None, None, profile="one.nmp"), (path, spec)
    shown = nearmiss("report", "sweep.nmp", "-n", "0", "--format=csv").stdout.decode().splitlines()
    assert len(shown) == 1 + TASKS and shown[0].startswith("input,settings,machine,level,policy,size,references,misses"), shown[0]
    points = nearmiss("curve", "sweep.nmp", "-n", "0", "--format=csv").stdout.decode().splitlines()
    assert len(points) == 1 + TASKS, points
    plot = nearmiss("curve", "sweep.nmp", "--machine=none").stdout.decode()  # only between the sizes that were simulated
    assert re.search(r"^ +4K .* 16K *$", plot, re.MULTILINE) and " 2K" not in plot and " 32K" not in plot, plot
    assert "references, " in plot and "samples" not in plot, plot
    for command in (["report", "pairs"], ["report", "levels"], ["annotate"], ["evictions"], ["export", "callgrind"],
                    ["diff", "sweep.nmp"], ["merge"]):  # tasks have no sum
        done = nearmiss(*command, "sweep.nmp")
        assert done.returncode and b"file of a sweep" in done.stderr, (command, done)
    assert nearmiss("report", "levels", "sweep.nmp", "--process", process).returncode == 0
    assert rows("SELECT value FROM info WHERE key = 'processes'", profile="sweep.nmp") == [(TASKS,)]


def case_several_processes():
    """The same on one and on two workers; a sweep that is over has nothing to do."""
    prepare()
    sweep("-j", "1", "-o", "1.nmp")
    sweep("-j", "2", "-o", "2.nmp")
    assert results("1.nmp") == results("2.nmp")
    said = sweep("-j", "2", "-o", "2.nmp")
    assert said == f"nearmiss: {TASKS} of {TASKS} tasks had a result in 2.nmp\n", said
    assert rows("SELECT workers, tasks FROM sweep_runs", profile="2.nmp") == [(2, TASKS)]


def case_failed_task():
    """A trace that is cut off: its tasks are rows with the reason, the others are done."""
    prepare()
    sweep("-o", "whole.nmp")
    with open("run.nmt", "rb+") as f:
        f.truncate(os.path.getsize("run.nmt") // 2)
    said = sweep(status=BAD_INPUT)
    failed = TASKS // 3
    assert f"{failed} of {TASKS} tasks failed; the first was run.nmt on " in said and "cut off" in said, said
    assert rows("SELECT state, kind, count(*), count(process) FROM tasks GROUP BY 1, 2", profile="sweep.nmp") == [
        ("done", "nest", TASKS - failed, TASKS - failed), ("failed", "trace", failed, 0)]
    assert all("cut off" in remark for (remark,) in rows("SELECT remark FROM tasks WHERE state = 'failed'", profile="sweep.nmp"))
    assert f"{TASKS} of {TASKS} tasks had a result" in sweep()
    assert f"{TASKS - failed} of {TASKS} tasks had a result" in sweep("--again", status=BAD_INPUT)
    prepare()  # the file has changed: its tasks are run again
    assert f"{TASKS - failed} of {TASKS} tasks had a result" in sweep()
    assert results("sweep.nmp")[1:] == results("whole.nmp")[1:]


LONG = """
nests: [{file: blocked.nest, set: ["N=224 I=40 K=4", "N=256 I=40 K=4"]}]
machines: ["L1d=8K,2,32:L2=64K,4,32", "L1d=8K,4,32"]
sizes: [4K, 8K, 16K, 32K, 64K]
policies: [lru, fifo, srrip]
"""
LONG_TASKS = 2 * 2 * 5 * 3


def count_done():
    """Results that are committed."""
    try:
        return rows("SELECT count(*) FROM tasks WHERE state <> 'waiting'", profile="sweep.nmp")[0][0]
    except sqlite3.OperationalError:  # there is no file yet
        return 0


def start(workers="2"):
    return subprocess.Popen([NEARMISS, "sweep", "-j", workers, "plan.yaml"], env=ENVIRONMENT, stderr=subprocess.PIPE)


def wait_for(process, done):
    while process.poll() is None and count_done() < done:
        time.sleep(0.002)


def case_killed_master():
    """Killed up to ten times, after at least one more result each: what was committed stays, and is not run again."""
    prepare(LONG)
    sweep("-j", "1", "-o", "1.nmp")
    before = kills = 0
    while kills < 10:
        with start("1") as process:
            wait_for(process, before + 1)
            process.kill()
        if count_done() == LONG_TASKS:
            break
        assert count_done() > before
        before = count_done()
        kills += 1
    assert kills > 2, kills
    said = sweep("-j", "2")
    assert kills < 10 or f"{before} of {LONG_TASKS} tasks had a result in sweep.nmp" in said, said
    expect_all("sweep.nmp", LONG_TASKS)
    assert results("sweep.nmp") == results("1.nmp")


def workers_of(process):
    return [int(pid) for pid in run([need("pgrep"), "-P", str(process.pid)]).stdout.split()]


def case_killed_workers():
    """A worker that is killed is replaced, and its task given to another; workers end with their master."""
    prepare(LONG)
    sweep("-j", "1", "-o", "1.nmp")
    with start() as process:
        workers = []
        while len(workers) < 2 and process.poll() is None:
            workers = workers_of(process)
        for done, worker in zip((1, 3), workers):  # those that replace them live: a task may be lost once, not twice
            wait_for(process, done)
            os.kill(worker, signal.SIGKILL)
        assert process.wait() == 0
    expect_all("sweep.nmp", LONG_TASKS)
    assert results("sweep.nmp") == results("1.nmp")
    os.unlink("sweep.nmp")
    with start() as process:
        wait_for(process, 1)
        workers = workers_of(process)
        process.kill()
    assert workers
    while any(os.path.exists(f"/proc/{pid}") for pid in workers):
        time.sleep(0.002)


def case_refusals():
    prepare()
    with start() as process:  # another sweep writes the file
        while process.poll() is None and not os.path.exists("sweep.nmp"):
            time.sleep(0.001)
        second = nearmiss("sweep", "plan.yaml")
        if process.poll() is None:
            assert second.returncode == NO_OUTPUT and b"another sweep writes sweep.nmp" in second.stderr, second
    for output, told in (("p.nmp", b"p.nmp is not the file of a sweep"), ("plan.yaml", b"it is the input"),
                         ("none/s.nmp", b"No such file"), ("blocked.nest", b"blocked.nest is not the file of a sweep")):
        with open(output if os.path.exists(output) else "plan.yaml", "rb") as f:
            content = f.read()
        done = nearmiss("sweep", "plan.yaml", "-o", output)
        assert done.returncode in (BAD_INPUT, NO_OUTPUT) and told in done.stderr and len(done.stderr.splitlines()) == 1, done
        if os.path.exists(output):
            with open(output, "rb") as f:
                assert f.read() == content, output
    write("sweep.nmp-journal", "a sweep was killed as it wrote")
    done = nearmiss("report", "sweep.nmp")
    assert done.returncode == BAD_INPUT and b"let nearmiss sweep go on with it" in done.stderr, done


def ranks_here(program):
    """The processes that run a program in this folder."""
    found = run([need("pgrep"), "-f", program]).stdout.split()
    return [int(pid) for pid in found if os.path.realpath(f"/proc/{int(pid)}/cwd") == os.getcwd() and
            os.path.realpath(f"/proc/{int(pid)}/exe") == program]


def ranks_of(mpi):
    """The same on four ranks; ranks that are killed, and a sweep that goes on."""
    launcher, program = need(f"mpirun.{mpi}"), os.environ.get(f"NEARMISS_MPI_{mpi.upper()}")
    if not program:
        raise Missing(f"lib{mpi}-dev is not installed")
    many = ["--oversubscribe", "--mca", "btl", "self,vader"] if mpi == "openmpi" else []
    environment = {**ENVIRONMENT, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    command = [launcher, *many, "-n", "4", program, "sweep", "plan.yaml"]
    prepare()
    sweep("-j", "1", "-o", "1.nmp")
    done = run(command, environment=environment)
    assert done.returncode == 0 and b"3 workers spent" in done.stderr, done
    expect_all("sweep.nmp")
    assert results("sweep.nmp") == results("1.nmp")
    assert rows("SELECT workers, tasks, messages FROM sweep_runs", profile="sweep.nmp") == [(3, TASKS, 2 * TASKS + 3)]
    done = run([launcher, *many, "-n", "2", program, "sweep", "no-plan.yaml"], environment=environment)
    assert done.returncode != 0 and b"cannot read the plan no-plan.yaml" in done.stderr, done
    os.unlink("sweep.nmp")
    prepare(LONG)
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        wait_for(process, 3)
        for rank in ranks_here(program)[:1]:  # the launcher ends the others
            os.kill(rank, signal.SIGKILL)
    done = run(command, environment=environment)
    assert done.returncode == 0, done
    expect_all("sweep.nmp", LONG_TASKS)


def case_openmpi():
    ranks_of("openmpi")


def case_mpich():
    ranks_of("mpich")


if __name__ == "__main__":
    main(globals())
