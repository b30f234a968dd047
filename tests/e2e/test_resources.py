# SPDX-License-Identifier: MIT
"""test_resources.py - little shared memory, limits on files, dropped privileges, a recorder that is killed."""

import glob
import os
import random
import signal
import subprocess
import time

from harness import ENVIRONMENT, NEARMISS, SPEC, Skip, main, need, program, record, rows, run

CHILDREN = 200


def shared_files():
    return set(os.listdir("/dev/shm"))


def in_small_shm(script, size):
    """Runs a shell script where /dev/shm is a file system of this size."""
    unshare, mount = need("unshare", "mount")
    namespace = [unshare, "-m"] if os.getuid() == 0 else [unshare, "-rm"]
    setup = f"{mount} -t tmpfs -o size={size} none /dev/shm"
    if run(namespace + ["/bin/sh", "-c", setup]).returncode:
        raise Skip("this user may not mount")
    return run(namespace + ["/bin/sh", "-c", f"{setup} && {script}"])


def case_small_shared_memory():
    """Many processes at once in 16 MB: none is lost."""
    work = f"for i in $(seq {CHILDREN // 20}); do for k in $(seq 20); do {need('true')} & done; wait; done"
    done = in_small_shm(f"'{NEARMISS}' record -q -o p.nmp --cache {SPEC} -- /bin/sh -c '{work}'", "16m")
    assert done.returncode == 0, done
    assert b"unobserved" not in done.stderr, done.stderr
    found = rows("SELECT count(*) FROM processes WHERE process LIKE 'true%' AND exit_status = 0")
    assert found == [(CHILDREN,)], found


def case_bounded_memory():
    """Two hundred processes at once, on a machine with 256 MB of last level, in little memory: those that come later
    wait, and none is lost."""
    machine = "L1d=48K,12,64:L2=2M,16,64:L3=256M,16,64"
    script = f"for i in $(seq {CHILDREN}); do {need('sleep')} 0.2 & done; wait"
    runs = [NEARMISS, "record", "-q", "--cache", machine, "--memory", "60M", "-o", "p.nmp", "--", need("sh"), "-c", script]
    with open("said", "wb") as said, subprocess.Popen(runs, env=ENVIRONMENT, stderr=said) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    with open("said", encoding="utf-8") as f:
        told = f.read()
    assert child.returncode == 0, told
    assert "further processes wait" in told and "unobserved" not in told and "no longer" not in told, told
    found = rows("SELECT count(*) FROM processes WHERE process LIKE 'sleep%' AND exit_status = 0 AND instructions > 0")
    assert found == [(CHILDREN,)], found
    assert usage.ru_maxrss < 700_000, usage.ru_maxrss


def as_root(*command):
    if os.getuid():
        raise Skip("only root can drop privileges")
    native = run(list(command))
    if native.returncode:
        raise Skip("this user may not drop privileges here")
    return native


def case_dropped_privileges():
    """A program that becomes another user and forks: the children are recorded and end as natively."""
    native = as_root(program("privileges"), "user")
    done = record([program("privileges"), "user"])
    assert native.stdout in done.stdout, (native.stdout, done.stdout)
    statuses = rows("SELECT exit_status FROM processes ORDER BY exit_status")
    assert statuses == [(0,), (0,), (1,), (2,)], statuses


def case_changed_root():
    """The same in a root directory that holds nothing."""
    native = as_root(program("privileges"), "root")
    done = record([program("privileges"), "root"])
    assert native.stdout in done.stdout, (native.stdout, done.stdout)
    assert len(rows("SELECT * FROM processes")) == 4


def case_dropped_privileges_and_exec():
    """Another user, and then another program."""
    native = as_root(program("privileges"), "exec", need("cat"), "/etc/hostname")
    tool = os.path.join(os.environ["COLLECTOR"], "nearmiss-amd64-linux")
    if run(["/bin/sh", "-c", f"setpriv --reuid=65534 --clear-groups test -x '{tool}'"]).returncode:
        raise Skip("the collector's folder is not open to other users")
    done = record([program("privileges"), "exec", need("cat"), "/etc/hostname"])
    assert native.stdout in done.stdout, (native.stdout, done.stdout)
    assert len(rows("SELECT * FROM processes")) == 2


def case_descriptors_are_the_programs():
    """The program has the descriptors that it has natively, and can use those that follow."""
    script = "exec 3</dev/null 4>&1; echo below >&4; ls /proc/self/fd | grep -c '^[0-9]$'"
    native = run(["/bin/sh", "-c", script])
    done = record(["/bin/sh", "-c", script])
    assert done.stdout.startswith(native.stdout), (native.stdout, done.stdout)


def limited(blocks, *command):
    return run(["/bin/sh", "-c", f'ulimit -f {blocks}; exec "$@"', "sh", *command])


def case_limit_on_file_sizes():
    """A limit below the size of a ring: the program's children live, and nearmiss records or says why it cannot."""
    command = ["/bin/sh", "-c", f"{need('true')}; /bin/sh -c 'exit 3'; echo $?"]
    done = limited(5000, NEARMISS, "record", "-q", "-o", "p.nmp", "--cache", SPEC, "--", *command)
    assert (done.returncode, done.stdout) == (0, b"3\n"), done
    assert len(rows("SELECT * FROM processes")) >= 2
    done = limited(8, NEARMISS, "record", "-q", "-o", "q.nmp", "--cache", SPEC, "--", *command)
    assert done.returncode == 122 and done.stderr.count(b"\n") == 1, done
    assert not glob.glob("q.nmp*")


def case_more_processes_than_rings():
    """Each process waits for one that waits for it to end, and there are fewer rings: the innermost ones run unobserved
    after a while, which is said."""
    with open("nest.sh", "w", encoding="utf-8") as f:
        f.write('[ "$1" -le 0 ] && { echo deep; exit 3; }\n/bin/sh nest.sh $(($1 - 1))\nexit $?\n')
    done = limited(2000, NEARMISS, "record", "-q", "-o", "p.nmp", "--cache", "L1d=8K,2,64", "--", "/bin/sh", "nest.sh",
                   "8")
    assert done.stdout == b"deep\n", done
    assert b"ran unobserved" in done.stderr, done


def case_killed_recorder():
    """SIGKILL takes the recorder: the program goes on to its end, though nobody reaps the recorder; nothing stays
    behind, and the next recording removes the unfinished profile."""
    before = shared_files()
    # Natively this takes no time; recorded, it fills its ring many times over.
    work = "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; echo $i; /bin/true; echo end"
    child = subprocess.Popen([NEARMISS, "record", "-q", "-o", "p.nmp", "--cache", SPEC, "--", "/bin/sh", "-c",
                              "echo ready; " + work], stdout=subprocess.PIPE, env=ENVIRONMENT)
    assert child.stdout.readline() == b"ready\n"
    os.kill(child.pid, signal.SIGKILL)
    output = child.stdout.read()  # up to the end of the program; the recorder is a zombie meanwhile
    assert output == b"20000\nend\n", output
    child.wait()
    for _ in range(100):
        if shared_files() <= before:
            break
        time.sleep(0.1)
    assert shared_files() <= before, shared_files() - before
    assert glob.glob("p.nmp.*.tmp")
    record([need("true")])
    assert not glob.glob("p.nmp.*.tmp")


def children_of(pid):
    """The pids of a process's children, and theirs."""
    found = []
    for task in glob.glob(f"/proc/{pid}/task/*/children"):
        try:
            with open(task, encoding="ascii") as f:
                found += [int(child) for child in f.read().split()]
        except OSError:  # it has ended
            pass
    return found + [other for child in found for other in children_of(child)]


def case_killed_at_random():
    """SIGKILL takes the recorder, the program or one of its children at a random moment: the older profile stays whole or
    is replaced by a whole one, what lives on ends by itself, and after the next recording nothing is left behind.
    NM_KILLS in the environment tries more often."""
    chance, before = random.Random(7), shared_files()
    script = "i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done; /bin/sh -c 'i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done'"
    command = ["/bin/sh", "-c", script]
    begun = time.time()
    record(command)
    whole = time.time() - begun
    for _ in range(int(os.environ.get("NM_KILLS", "12"))):
        recorder = subprocess.Popen([NEARMISS, "record", "-q", "-o", "p.nmp", "--cache", SPEC, "--", *command],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT)
        time.sleep(chance.random() * whole)
        victim = chance.choice([recorder.pid] + children_of(recorder.pid))
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            pass
        recorder.communicate(timeout=120)  # until the last process of the program has ended, too
        assert rows("PRAGMA integrity_check") == [("ok",)]
        rows("SELECT * FROM counts")
    record([need("true")])
    assert sorted(glob.glob("p.nmp*")) == ["p.nmp", "p.nmp.old"], os.listdir()
    assert shared_files() <= before, shared_files() - before


if __name__ == "__main__":
    main(globals())
