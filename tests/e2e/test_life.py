# SPDX-License-Identifier: MIT
"""test_life.py - how programs start and end: status, output, signals, children, engine threads."""

import glob
import os
import shutil
import signal
import subprocess
import time

from harness import ENVIRONMENT, MISSES, NEARMISS, SPEC, Cell, counts, main, need, nearmiss, program, record, rows, run

SOURCES = "tests/programs/"


def check_work(profile="p.nmp", least=4096):
    """The walk over `data` that endings.c makes before it ends is in the profile."""
    Cell(SOURCES + "endings.c", "data", "data", profile=profile).expect(read_misses=(least, 1 << 40))


def case_status_passes_through():
    record([program("endings"), "exit"], status=42)
    check_work()
    assert rows("SELECT exit_status FROM processes") == [(42,)]


def case_output_is_untouched():
    text = os.urandom(70000)
    done = record([program("endings"), "echo"], stdin=text)
    assert done.stdout == text
    assert b"done\n" in done.stderr
    quiet = run([program("endings"), "echo"], stdin=text)
    assert quiet.stdout == done.stdout


def case_crash():
    record([program("endings"), "crash"], status=128 + signal.SIGSEGV)
    check_work()
    assert rows("SELECT exit_status FROM processes") == [(128 + signal.SIGSEGV,)]
    report = nearmiss("report", "-i", "p.nmp").stdout.decode()
    assert "data" in report and "endings.c" in report, report


def case_abort():
    record([program("endings"), "abort"], status=128 + signal.SIGABRT)
    check_work()


def case_instructions_that_valgrind_does_not_know():
    """A program that handles SIGILL loses nothing; one that does not is recorded up to it, and the summary says why."""
    work = ("SELECT sum(reads) FROM counts WHERE level = 'L1d' "
            "AND function = 'work' AND object = 'data'")
    done = record([program("endings"), "probe"])
    assert rows(work) == [(2 * 4096,)], rows(work)
    assert b"end early" not in done.stderr and b"SIGILL" not in done.stderr, done.stderr
    done = record([program("endings"), "unknown"], status=128 + signal.SIGILL)
    assert rows(work) == [(4096,)], rows(work)
    assert b"end early" not in done.stderr and b"1 processes were stopped by SIGILL" in done.stderr, done.stderr


def case_ranks():
    """Processes of a parallel job write a profile each; a rank that is not chosen runs as it is."""
    for rank in "012":
        done = nearmiss("record", "--ranks=0,2-3", "--", program("endings"), "exit", environment={**ENVIRONMENT, "PMIX_RANK": rank})
        assert done.returncode == 42, done.stderr
        assert (b"misses" in done.stderr) == (rank == "0"), done.stderr
    assert sorted(glob.glob("*.nmp")) == ["nearmiss-0.nmp", "nearmiss-2.nmp"]
    done = nearmiss("record", "-o", "%q{UNSET}.nmp", "--", "true", environment={**ENVIRONMENT, "SLURM_PROCID": "7", "SLURM_STEP_NUM_TASKS": "9"})
    assert done.returncode == 2 and b"rank 7: " in done.stderr and b"UNSET" in done.stderr, done.stderr
    done = nearmiss("record", "-q", "-o", "%q{NAME}%%%r.nmp", "-t", "%r.nmt", "--", "true", environment={**ENVIRONMENT, "NAME": "of a batch", "SLURM_PROCID": "7"})
    assert done.returncode == 0 and os.path.exists("of a batch%0.nmp") and os.path.exists("0.nmt"), done.stderr
    for ranks in ("", "1-", "x", "1,,2"):
        done = nearmiss("record", "--ranks", ranks, "--", "true", environment={**ENVIRONMENT, "PMI_RANK": "1"})
        assert done.returncode == 2 and b"no list of ranks" in done.stderr, done.stderr


def case_replaced_profile_is_kept():
    for status in ("exit", "crash"):
        record([program("endings"), status], status=42 if status == "exit" else 128 + signal.SIGSEGV)
    statuses = "SELECT exit_status FROM processes"
    assert rows(statuses) == [(128 + signal.SIGSEGV,)] and rows(statuses, profile="p.nmp.old") == [(42,)]


def case_deep_tree_of_processes():
    """Each process forks the next: the last one's place in the tree is a long name."""
    record([need("sh"), "-c", "f() { [ $1 -eq 0 ] || ( f $(($1 - 1)); : ); }; f 150"])
    assert rows("SELECT count(*), count(DISTINCT path), max(length(path)) FROM processes") == [(151, 151, 1 + 150 * 5)]


def start(how, name="endings"):
    """Starts recording a program that never ends; returns it once the program says that it is at work."""
    child = subprocess.Popen([NEARMISS, "record", "-o", "p.nmp", "--cache", SPEC, "--", program(name), how],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT,
                             start_new_session=True)
    assert child.stdout.readline() == b"ready\n"
    time.sleep(0.5)
    return child


def finish(child):
    out, err = child.communicate(timeout=60)
    return child.returncode, out, err


def case_interrupt():
    """Ctrl-C reaches the whole foreground group: the program dies of it, the profile is written."""
    child = start("forever")
    os.killpg(child.pid, signal.SIGINT)
    status, _, err = finish(child)
    assert status in (128 + signal.SIGINT, -signal.SIGINT), (status, err)
    check_work(least=8192)


def ignored_signals(*numbers, recorded):
    """SigIgn of a program that starts while its caller ignores these signals, and no others that are looked at."""
    looked_at = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE)

    def prepare():
        for number in looked_at:
            signal.signal(number, signal.SIG_IGN if number in numbers else signal.SIG_DFL)

    command = [need("grep"), "SigIgn", "/proc/self/status"]
    if recorded:
        command = [NEARMISS, "record", "-o", "p.nmp", "--cache", SPEC, "--"] + command
    done = subprocess.run(command, capture_output=True, env=ENVIRONMENT, check=True, preexec_fn=prepare)
    mask = int(done.stdout.split()[1], 16)
    return {number for number in looked_at if mask >> (number - 1) & 1}


def case_the_summary_names_the_signal_that_ended_a_program():
    for name, number in (("SEGV", 139), ("ABRT", 134)):
        record(["/bin/sh", "-c", f"kill -{name} $$"], status=number)
        text = nearmiss("report", "-i", "p.nmp").stdout.decode()
        assert f"(exit status {number}, as by SIG{name})" in text, text


def case_ignored_signals_stay_ignored():
    """What the caller ignores (nohup, a shell's background), the program ignores too, and nothing else."""
    for numbers in ((), (signal.SIGINT, signal.SIGQUIT), (signal.SIGHUP,), (signal.SIGTERM, signal.SIGPIPE)):
        assert ignored_signals(*numbers, recorded=False) == set(numbers)
        assert ignored_signals(*numbers, recorded=True) == set(numbers), numbers


def case_interrupt_before_the_program_starts():
    """Ctrl-C at once: the status is 130."""
    with open("p.nmp", "wb") as f:
        f.write(b"old")
    for delay in (0, 0.01, 0.02):
        child = subprocess.Popen([NEARMISS, "record", "-o", "p.nmp", "--", need("sleep"), "5"], env=ENVIRONMENT,
                                 stderr=subprocess.PIPE, start_new_session=True)
        time.sleep(delay)
        os.killpg(child.pid, signal.SIGINT)
        status, _, err = finish(child)
        assert status in (128 + signal.SIGINT, -signal.SIGINT), (status, err)


def case_names_with_odd_characters():
    """A program whose name begins with a dash; blanks, colons and % in the folders of TMPDIR and of nearmiss."""
    true = need("true")
    shutil.copy(true, "-true")
    record(["-true"], environment=dict(ENVIRONMENT, PATH=os.getcwd() + ":" + ENVIRONMENT["PATH"]))
    os.mkdir("100%p of: it")
    odd = os.path.abspath("100%p of: it")
    record([true], environment=dict(ENVIRONMENT, TMPDIR=odd))
    os.symlink(os.environ["COLLECTOR"], os.path.join(odd, "tool"))
    done = record([program("endings"), "exit"], status=42,
                  environment=dict(ENVIRONMENT, NEARMISS_LIBEXEC=os.path.join(odd, "tool")))
    assert b"LD_PRELOAD" not in done.stderr, done.stderr
    check_work()


def case_launcher_beside_the_collector():
    """A relocatable archive brings Valgrind's launcher: none on PATH is needed."""
    os.symlink(need("true"), "true")
    shutil.copytree(os.environ["COLLECTOR"], "tool", ignore=lambda _, names: {n for n in names if n.endswith(".p")})
    alone = dict(ENVIRONMENT, NEARMISS_LIBEXEC=os.path.abspath("tool"), PATH=os.getcwd())
    done = record(["./true"], status=120, environment=alone)
    assert b"Valgrind is not installed" in done.stderr, done
    os.symlink(shutil.which("valgrind.bin") or need("valgrind"), "tool/valgrind.bin")
    record(["./true"], environment=alone)
    assert rows("SELECT count(*) FROM processes WHERE refs > 0") == [(1,)]


def case_small_stack():
    """nearmiss does not need the stack that the program may not have."""
    done = run(["/bin/sh", "-c", f"ulimit -s 64; '{NEARMISS}' record -q -o p.nmp -- {need('true')}"])
    assert done.returncode == 0, done
    assert rows("SELECT count(*) FROM processes WHERE refs > 0") == [(1,)]
    done = run(["/bin/sh", "-c", f"ulimit -s 64; '{NEARMISS}' machines -w 0"])
    assert done.returncode == 0 and done.stdout == nearmiss("machines", "-w", "0").stdout, done


def case_interrupt_that_the_program_handles():
    child = start("handler")
    os.killpg(child.pid, signal.SIGINT)
    status, _, err = finish(child)
    assert status == 7, (status, err)
    check_work(least=8192)


def case_terminate_the_recorder():
    """A plain `kill` of the recorder ends the program too, and the profile is written."""
    child = start("forever")
    child.terminate()
    status, _, err = finish(child)
    assert status in (128 + signal.SIGTERM, -signal.SIGTERM), (status, err)
    check_work(least=8192)
    assert subprocess.run(["ps", "-o", "pid=", "-s", str(child.pid)], capture_output=True,
                          check=False).stdout.strip() == b""


def recorded_process(recorder):
    """The pid of the profiled program: the descendant of the recorder that runs Valgrind's tool."""
    waiting = [recorder]
    for pid in waiting:
        if pid != recorder and "nearmiss-" in os.readlink(f"/proc/{pid}/exe"):
            return pid
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            waiting += map(int, f.read().split())
    raise AssertionError("no process runs the collector")


def case_kill_without_mercy():
    """kill -9 of the program: the profile has what the ring held."""
    child = start("forever")
    os.kill(recorded_process(child.pid), signal.SIGKILL)
    status, _, err = finish(child)
    assert status == 128 + signal.SIGKILL, (status, err)
    check_work(least=8192)


def case_kill_in_code_without_accesses():
    """The same in a loop without accesses: its instructions are counted, four for each iteration."""
    child = start("forever", "quiet")
    os.kill(recorded_process(child.pid), signal.SIGKILL)
    status, _, err = finish(child)
    assert status == 128 + signal.SIGKILL, (status, err)
    instructions, references = rows("SELECT instructions, refs FROM processes")[0]
    assert instructions >= 4 * 20000000 and references < 1000000, (instructions, references)


def case_processes():
    done = record([program("processes")])
    assert done.stdout == b"first 3\nsecond 5\n", done.stdout
    Cell(SOURCES + "processes.c", "walk", "shared").expect(reads=5 * 1024)
    found = rows("SELECT path, exit_status FROM processes ORDER BY path")
    assert len(found) == 4 and len({path for path, _ in found}) == 4, found
    assert {0, 3, 5} <= {status for _, status in found}, found


def case_shell_pipeline():
    shell, sort = need("sh", "sort")
    done = record([shell, "-c", f"printf 'b\\na\\n' | {sort} | cat; exit 9"], status=9)
    assert done.stdout == b"a\nb\n"
    names = {row[0] for row in rows("SELECT process FROM processes")}
    file = os.path.basename(os.path.realpath(shell))
    assert {"sort", "cat", "sh" if file == "sh" else f"sh ({file})"} <= names, names


def same(command, first, second, stdin=b""):
    record(command, *first, profile="first.nmp", stdin=stdin)
    record(command, *second, profile="second.nmp", stdin=stdin)
    one, two = counts("first.nmp"), counts("second.nmp")
    different = [pair for pair in zip(one, two) if pair[0] != pair[1]]
    assert len(one) == len(two) and not different, f"{command}: {different[:4]}"
    assert len(one) > 20


def case_two_runs_are_the_same():
    text = b"what is the same twice is known\n" * 3000
    for command in (["containers"], ["threads"], ["processes"], ["jumps"]):
        same([program(command[0])] + command[1:], [], [])
    same([need("gzip"), "-c"], [], [], stdin=text)


def case_engine_threads_agree():
    same([program("matrix"), "columns"], ["--threads", "1"], ["--threads", "2"])
    same([program("containers")], ["--threads", "1"], ["--threads", "2"])
    same([program("common")], ["--threads", "1"], ["--threads", "2"])


def case_default_output_and_machine():
    """Without options: nearmiss.nmp in the current folder, the host's caches, a summary on standard error."""
    done = nearmiss("record", "--", program("matrix"), "columns")
    assert done.returncode == 0 and done.stdout == b"sum 1\n", done
    assert rows(f"SELECT {MISSES} FROM counts WHERE object = 'matrix'", profile="nearmiss.nmp")[0][0] > 60000
    assert b"matrix.c" in done.stderr, done.stderr


if __name__ == "__main__":
    main(globals())
