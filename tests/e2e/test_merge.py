# SPDX-License-Identifier: MIT
"""test_merge.py - profiles of ranks and runs, added up."""

import os
import re
import signal
import sqlite3
import subprocess
import time

from harness import ENVIRONMENT, NEARMISS, SPEC, TOP, Skip, at, main, nearmiss, need, program, record, rows, run

NO_OUTPUT = 122

# Views with the columns that are no figures; all others are summed.  Processes and objects lose the numbers that tell equals
# apart, which differ between runs.
ACCESS = "process, thread, level, function, file, line, object, user_function, user_file, user_line, library, inlined"
KEYS = {
    "levels": "process, level",
    "counts": ACCESS,
    "evictions": "level, function, file, line, evictor, victim, victim_function, victim_file, victim_line, process",
    "prefetches": ACCESS,
    "sites": "process, function, file, line, object",
    "fields": "process, object, type, structure, field, offset, bytes, field_type",
    "affinity": "process, object, type, field, other, offset, other_offset",
    "hot_lines": "process, object",
    "field_counts": ACCESS + ", type, field",
    "context_counts": ACCESS,
    "instructions": "process, thread, level, module, address, function, file, line, object",
    "distances": "process, thread, function, file, line, object, unit, low, high",
    "reuses": "process, function, file, line, object, previous_function, previous_file, previous_line, previous_object, low, high",
    "sets": "process, level, cache_set",
    "events": "process, level, event, cache_set, address, function, file, line, object, victim",
    "coherence": "process, thread, level, function, file, line, object",
    "messages": "process, level, protocol, fabric, message",
    "regions": "process, region",
    "instruction_fields": "process, module, address, object, type, field",
    "samples": "process, thread, function, file, line, object, event, operation, served",
    "processes": "process",
}
# Not sums: what describes a row, and what is chosen from all inputs (the stride that most followed).
OTHER = {"size", "ways", "line_size", "sets", "policy", "side", "position", "pages", "huge_pages", "sector_size", "prefetch", "protocol",
         "stride", "followed", "place", "previous_place", "module", "user_module", "context", "path", "command", "exit_status",
         "victim_user_function", "victim_user_file", "victim_user_line", "user_function", "user_file", "user_line", "library",
         "inlined", "victim_function", "victim_file", "victim_line", "field_type"}
NUMBERED = {"process", "object", "evictor", "victim", "previous_object"}


def sums(profiles):
    """For each view: {key: sums} over profiles."""
    found = {}
    for profile in profiles:
        with sqlite3.connect(f"file:{profile}?mode=ro", uri=True) as db:
            for view, keys in KEYS.items():
                columns = [row[1] for row in db.execute(f"PRAGMA table_info({view})")]
                key = keys.split(", ")
                figures = [c for c in columns if c not in key and c not in OTHER]
                total = found.setdefault(view, {})
                for row in db.execute(f"SELECT {keys}, {', '.join(f'sum({c})' for c in figures)} FROM {view} GROUP BY {keys}"):
                    name = tuple(re.sub(r" ?#\d+$", "", v) if c in NUMBERED and v else v for c, v in zip(key, row))
                    old = total.get(name, (0,) * len(figures))
                    total[name] = tuple((a or 0) + (b or 0) for a, b in zip(old, row[len(key):]))
        db.close()
    return found


def merge(*profiles, output="all.nmp"):
    done = nearmiss("merge", "-o", output, *profiles)
    assert done.returncode == 0, done.stderr
    return done.stderr.decode()


def expect_sum(output, *profiles):
    """To the last miss, in every view."""
    ours, theirs = sums([output]), sums(profiles)
    for view in KEYS:
        assert ours[view] == theirs[view], (view, [item for item in ours[view].items() - theirs[view].items()][:3],
                                            [item for item in theirs[view].items() - ours[view].items()][:3])


def expect_shown(output, profile):
    """A merged profile is one that all commands show."""
    for command in (["report"], ["report", "pairs"], ["report", "ranks"], ["report", "spread"], ["report", "linespread"],
                    ["evictions"], ["annotate"], ["export", "callgrind"], ["diff", profile]):
        done = nearmiss(*command, output)
        assert done.returncode == 0 and done.stdout, (command, done.stderr)


def sum_of_two(name, *options):
    for i in range(2):
        record([program(name)], "-q", *options, profile=f"{i}.nmp")
    merge("0.nmp", "1.nmp", "0.nmp")
    expect_sum("all.nmp", "0.nmp", "1.nmp", "0.nmp")


def case_sum_of_chains():
    sum_of_two("list", "--callgraph", "--distances", "--sets", "--heap-chains")


def case_sum_of_fields():
    sum_of_two("fields")
    expect_shown("all.nmp", "0.nmp")


def case_sum_of_instructions():
    sum_of_two("list", "--asm", "--cache=L1d=8K,2,64,prefetch=next:L2=1M,16,64")


def case_sum_of_merged():
    for i in range(2):
        record([program("list")], "-q", profile=f"{i}.nmp")
    merge("0.nmp", "1.nmp")
    merge("all.nmp", "1.nmp", output="more.nmp")
    expect_sum("more.nmp", "0.nmp", "1.nmp", "1.nmp")
    inputs = [("0.nmp",), ("1.nmp",), ("1.nmp #2",)]
    assert rows("SELECT input FROM inputs ORDER BY position", profile="more.nmp") == inputs
    done = nearmiss("merge", "-o", "more.nmp", "0.nmp", "more.nmp")
    assert done.returncode == NO_OUTPUT and b"cannot write more.nmp: it is the input" in done.stderr, done
    assert rows("SELECT input FROM inputs ORDER BY position", profile="more.nmp") == inputs


def all_rows(profile):
    """Of each view, its rows without numbers that are drawn in a run."""
    numbers = {"site", "user_site", "chain_site", "place", "previous_place", "context", "parent"}
    found = {}
    with sqlite3.connect(profile) as db:
        for (view,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'view'"):
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({view})") if row[1] not in numbers]
            found[view] = sorted(map(repr, db.execute(f"SELECT {', '.join(columns)} FROM {view}")))
    return found


def case_sum_on_several_processors():
    """The same profile, whether inputs are merged one by one or in parts: a nested merge too."""
    for i, name in enumerate(("list", "fields", "threads", "list")):
        record([program(name)], "-q", "--cores=2", profile=f"{i}.nmp")
    inputs = [f"{i}.nmp" for i in (0, 1, 0, 2, 2, 1, 3, 0, 3, 1, 2, 3)]
    for threads in ("1", "3"):
        done = nearmiss("merge", "--threads", threads, "-o", threads + ".merged", *inputs)
        assert done.returncode == 0, done.stderr
    merge(*inputs[:5], output="part.nmp")
    merge("part.nmp", *inputs[5:], output="nested.merged")
    one, three, nested = (all_rows(name + ".merged") for name in ("1", "3", "nested"))
    for view in one:
        assert one[view] == three[view] == nested[view], view
    expect_sum("3.merged", *inputs)


def case_sum_of_threads():
    sum_of_two("threads", "--cores=2")


def read_while_waiting(*libraries):
    """Object -> {is waiting: references} in the program of progress.c, whose libraries are (file, PART, option)."""
    compiler = need("gcc")
    common = [compiler, "-O1", "-fno-builtin", os.path.join(TOP, "tests/programs/progress.c"), "-L.", "-Wl,-rpath,$ORIGIN"]
    built = []
    for name, part, option in libraries:
        done = run([*common, "-shared", "-fPIC", "-fvisibility=hidden", option, f"-DPART={part}", "-o", name, *built])
        assert done.returncode == 0, done.stderr
        built.append(name)
    done = run([*common, "-g", "-DPART=0", "-o", "program", *built])
    assert done.returncode == 0, done.stderr
    record(["./program"], "-q")
    found = {}
    for name, waits, count in rows("SELECT object, user_function = 'waiting in MPI', sum(reads + writes) FROM counts "
                                   "WHERE level = 'L1d' AND user_function IN ('main', 'arrived', 'waiting in MPI') GROUP BY 1, 2"):
        found.setdefault(name.split(" (")[0], {})[waits] = count
    lines = rows("SELECT DISTINCT user_line FROM counts WHERE user_function = 'waiting in MPI'")
    assert lines == [(at("tests/programs/progress.c", "waits"),)], lines
    return found


def expect_said():
    """The first screen has the share of what waits, and no row of it."""
    waits, refs = rows("SELECT sum((reads + writes) * (user_function IS 'waiting in MPI')), sum(reads + writes) FROM counts "
                       "WHERE level = 'L1d'")[0]
    text = " ".join(nearmiss("report", "p.nmp").stdout.decode().split())
    assert f"waiting in MPI's progress loops: at least {100 * waits / refs:.2g} % of the references" in text, text
    assert "(waiting in MPI)" not in text, text


def case_progress_functions_wait():
    """Copies of messages do not, nor does what is called back, nor the library's other work."""
    found = read_while_waiting(("libmpi.so.40", 3, "-g"))
    line = at("tests/programs/progress.c", "callback")
    assert rows("SELECT user_line, sum(writes) FROM counts WHERE level = 'L1d' AND object LIKE 'seen%'") == [(line, 1000)]
    objects = {name: found[name] for name in ("flag", "turns", "others", "seen")}
    assert objects == {"flag": {1: 1000}, "turns": {0: 1000}, "others": {0: 1000}, "seen": {0: 1000}}, objects
    assert set(found["ring"]) == set(found["message"]) == {0}, found
    expect_said()


def case_loops_without_symbols_wait():
    """Where no symbol tells what calls a progress function, it is taken for a loop; its library's other work does not wait."""
    found = read_while_waiting(("libucp.so.0", 1, "-s"), ("libmpich.so.12", 2, "-s"))
    assert found["libmpich.so.12 .bss"] == {0: 1000, 1: 1000}, found["libmpich.so.12 .bss"]
    assert found["libucp.so.0 .bss"][1] == 1000 and set(found["message"]) == {0}, found
    expect_said()


def as_rank(rank, ranks):
    return {**ENVIRONMENT, "PMI_RANK": str(rank), "PMI_SIZE": str(ranks)}


def endless():
    """A program that says that it has started, and goes on until a signal ends it."""
    with open("started", "w", encoding="ascii") as f:
        f.write("started\n")
    return ["tail", "-f", "started"]


def start_rank(rank, ranks):
    """A rank in a process group of its own, whose program has started."""
    started = subprocess.Popen([NEARMISS, "record", "-q", "-o", "%r.nmp", "--", *endless()], env=as_rank(rank, ranks),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    assert started.stdout.readline() == b"started\n", started.communicate()
    return started


def await_files(*names):
    """Recorders outlive what starts them."""
    end = time.monotonic() + 60
    while not all(map(os.path.exists, names)):
        assert time.monotonic() < end, (names, os.listdir())
        time.sleep(0.05)


def case_lost_rank():
    """A recorder is killed: the others' profiles are whole, and the lost one is named."""
    for rank in (0, 2):
        record([program("list")], "-q", profile="%r.nmp", environment=as_rank(rank, 3))
    with start_rank(1, 3) as lost:
        with open(f"/proc/{lost.pid}/task/{lost.pid}/children", encoding="ascii") as f:
            os.kill(int(f.read()), signal.SIGKILL)
        assert lost.stderr.readline() == b"nearmiss: rank 1: the recorder was killed (SIGKILL): this rank has no profile\n"
        assert lost.wait() == 128 + signal.SIGKILL
        os.killpg(lost.pid, signal.SIGKILL)  # the program, as a launcher does
    assert sorted(name for name in os.listdir() if name.endswith(".nmp")) == ["0.nmp", "2.nmp"]
    said = merge("0.nmp", "2.nmp")
    assert "there is no profile of rank 1: it is not in the sums" in said, said
    expect_sum("all.nmp", "0.nmp", "2.nmp")
    assert rows("SELECT input, rank FROM inputs ORDER BY position", profile="all.nmp") == [("rank 0", 0), ("rank 2", 2)]
    assert rows("SELECT value FROM info WHERE key = 'missing_ranks'", profile="all.nmp") == [("1",)]


def case_killed_group():
    """A launcher kills the process group of a rank at once: its profile is whole."""
    with start_rank(0, 1) as killed:
        os.killpg(killed.pid, signal.SIGKILL)
        await_files("0.nmp")
    assert rows("SELECT command FROM processes", profile="0.nmp") == [(" ".join(endless()),)]


def case_full_disk():
    """The profile of one rank is larger than the limit of files, as on a full disk."""
    script = '[ $PMI_RANK = 1 ] && ulimit -f 8; exec "$0" record -q -o %r.nmp -- "$1"'
    for rank in range(3):
        done = run(["sh", "-c", script, NEARMISS, program("list")], environment=as_rank(rank, 3))
        assert (done.returncode == NO_OUTPUT) == (rank == 1), done
        assert (b"nearmiss: rank 1: cannot write profile 1.nmp: no space left" in done.stderr) == (rank == 1), done
    said = merge("0.nmp", "2.nmp")
    assert "there is no profile of rank 1: it is not in the sums" in said, said
    expect_sum("all.nmp", "0.nmp", "2.nmp")


def launch(mpi, ranks, *command):
    """mpirun of a recording; in a process group of its own."""
    launcher = need(f"mpirun.{mpi}")
    many = ["--oversubscribe"] if mpi == "openmpi" else []
    return subprocess.Popen([launcher, *many, "-n", str(ranks), NEARMISS, "record", "-q", "--", *command],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
                            env={**ENVIRONMENT, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})


def rank_process(rank):
    """The process that the launcher started as this rank, whose child is the recorder."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                is_rank = {b"PMIX_RANK=%d" % rank, b"PMI_RANK=%d" % rank} & set(f.read().split(b"\0"))
            if is_rank and os.readlink(f"/proc/{pid}/cwd") == os.getcwd() \
               and os.path.samefile(f"/proc/{pid}/exe", NEARMISS):
                with open(f"/proc/{pid}/stat", encoding="ascii") as f:
                    found[pid] = f.read().rsplit(")", 1)[1].split()[1]
        except OSError:
            continue
    return int(next(pid for pid, parent in found.items() if parent not in found))


def failures(mpi):
    """However a job ends, each rank that was started has a whole profile. Without its launcher a program goes on."""
    names = [f"nearmiss-{rank}.nmp" for rank in range(2)]
    for end in ("rank", signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        program_of_job = ["sh", "-c", "echo started; sleep 2"] if end == signal.SIGKILL else endless()
        with launch(mpi, 2, *program_of_job) as job:
            assert [job.stdout.readline() for _ in names] == [b"started\n"] * 2
            if end == "rank":
                os.kill(rank_process(1), signal.SIGKILL)
            else:
                os.kill(job.pid, end)
            await_files(*names)
        assert "no profile" not in merge(*names)
        expect_sum("all.nmp", *names)
        for name in names:
            os.unlink(name)


def case_failures_openmpi():
    failures("openmpi")


def case_failures_mpich():
    failures("mpich")


def case_slurm_script():
    """The script of docs/howto/cluster.md, with an srun that runs four of its 64 tasks."""
    with open(os.path.join(TOP, "docs/howto/cluster.md"), encoding="utf-8") as f:
        script = re.search(r"```sh\n(#!/bin/sh\n.*?)```", f.read(), re.S)[1]
    os.mkdir("bin")
    os.symlink(NEARMISS, "bin/nearmiss")
    for name, text in (("bin/srun", 'for i in 0 1 31 63; do SLURM_STEP_NUM_TASKS=64 SLURM_PROCID=$i "$@" || exit; done'),
                       ("halo", "exec true"), ("job", script)):
        with open(name, "w", encoding="ascii") as f:
            f.write(text if name == "job" else f"#!/bin/sh\n{text}\n")
        os.chmod(name, 0o755)
    done = run(["./job"], environment={**ENVIRONMENT, "PATH": f"{os.path.abspath('bin')}:{ENVIRONMENT['PATH']}",
                                       "SLURM_SUBMIT_DIR": os.getcwd()})
    assert done.returncode == 0, done.stderr
    assert b"there is no profile of rank 1-30, 32-62:" in done.stderr, done.stderr
    assert rows("SELECT input FROM inputs ORDER BY position", profile="halo.nmp") == [("rank 0",), ("rank 31",), ("rank 63",)]


def ranks_of(mpi):
    """Two ranks of a halo exchange, of which one has twice the particles: it is named."""
    compiler, launcher = need(f"mpicc.{mpi}", f"mpirun.{mpi}")
    source = os.path.join(TOP, "examples/mpi/halo.c")
    built = run([compiler, "-g", "-O1", "-o", "halo", source])
    if built.returncode:
        raise Skip(f"{compiler} does not compile")
    many = ["--oversubscribe", "--mca", "btl", "self,vader"] if mpi == "openmpi" else []
    done = run([launcher, *many, "-n", "2", NEARMISS, "record", "-q", "--cache", SPEC, "--", "./halo", "9000", "1"],
               environment={**ENVIRONMENT, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    assert done.returncode == 0, done.stderr
    profiles = [f"nearmiss-{rank}.nmp" for rank in range(2)]
    merge(*profiles)
    expect_sum("all.nmp", *profiles)
    shown = nearmiss("report", "spread", "all.nmp", "--format=csv", "--limit=1").stdout.decode().splitlines()
    line = 1 + next(n for n, text in enumerate(open(source, encoding="ascii")) if "particles = calloc" in text)
    row = dict(zip(shown[0].split(","), shown[1].split(",")))
    assert (row["object"], row["greatest_input"]) == (f"particles (halo.c:{line})", "rank 1"), shown
    assert 1.9 < int(row["greatest"]) / int(row["least"]) < 2.1, shown
    assert "waiting in MPI's progress loops: at least" in " ".join(nearmiss("report", "all.nmp").stdout.decode().split())
    waiting = rows("SELECT DISTINCT user_line FROM counts WHERE user_function = 'waiting in MPI' AND user_line", profile="all.nmp")
    lines = open(source, encoding="ascii").read().splitlines()
    assert waiting and all("MPI_" in lines[line - 1] for line, in waiting), waiting


def case_openmpi():
    ranks_of("openmpi")


def case_mpich():
    ranks_of("mpich")


if __name__ == "__main__":
    main(globals())
