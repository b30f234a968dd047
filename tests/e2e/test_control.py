# SPDX-License-Identifier: MIT
"""test_control.py - a recording that runs: counting starts and stops by the clock, a signal or nearmiss ctl, and a snapshot
is the profile that the recording would have written there."""

import os
import signal
import subprocess
import time

from harness import ENVIRONMENT, NEARMISS, SPEC, main, nearmiss, program, record, rows

STANDS = "a.nmp"


def descendants(pid):
    children = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as f:
            children += [int(word) for word in f.read().split()]
    return children + [p for child in children for p in descendants(child)]


class Recording:
    """tests/programs/stops.c, until it stands still."""

    def __init__(self, *how, options=()):
        command = [NEARMISS, "record", "-q", "--cache", SPEC, "-o", STANDS, *options, "--", program("stops"), *how]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=ENVIRONMENT, start_new_session=True)
        assert self.process.stdout.readline() == b"still\n"
        self.pids = descendants(self.process.pid)

    def ctl(self, *words, pid=None, status=0):
        done = nearmiss("ctl", str(pid or self.process.pid), *words)
        assert done.returncode == status, done
        return done.stderr.decode()

    def end(self, kill=False):
        for pid in self.pids if kill else []:
            os.kill(pid, signal.SIGKILL)
        _, said = self.process.communicate(timeout=120)
        return said.decode()


def contents(profile):
    """All that a profile holds, but for when and how it was made."""
    tables = [r[0] for r in rows("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name", profile=profile)]
    own = "WHERE key NOT IN ('wall_seconds', 'recorded_at', 'exit_status')"
    return {t: rows(f'SELECT * FROM "{t}" {own if t == "entry" else ""}', profile=profile) for t in tables}


def expect_same(one, other):
    one, other = contents(one), contents(other)
    assert one.keys() == other.keys()
    for table, content in one.items():
        different = [(a, b) for a, b in zip(content, other[table]) if a != b]
        assert content == other[table], (table, len(content), len(other[table]), different[:3])


def snapshot_and_end(*how, options=()):
    """A snapshot where the processes are killed has what the recording has, which ends there."""
    r = Recording(*how, options=options)
    assert r.ctl("snapshot", "s.nmp") == f"nearmiss: wrote {os.getcwd()}/s.nmp\n"
    r.end(kill=True)
    expect_same("s.nmp", STANDS)


def case_snapshot():
    snapshot_and_end()


def case_snapshot_of_threads():
    snapshot_and_end("threads", options=("--cores", "2", "--distances", "--callgraph", "--estimate", "statstack"))


def case_snapshot_of_processes():
    snapshot_and_end("processes", options=("--threads", "3", "--distances"))


def case_snapshot_of_one_machine():
    snapshot_and_end("processes", options=("--one-machine", "--cores", "2"))


def case_snapshots_leave_the_recording_alone():
    """The names count up; the profile at the end is that of a recording without."""
    r = Recording("threads", options=("--cores", "2"))
    r.end()
    os.rename(STANDS, "without.nmp")
    r = Recording("threads", options=("--cores", "2"))
    assert r.ctl("snapshot") == "nearmiss: wrote a-1.nmp\n"
    assert r.ctl("snapshot", pid=r.pids[0]) == "nearmiss: wrote a-2.nmp\n", "the recorder of a process"
    r.end()
    expect_same("without.nmp", STANDS)
    expect_same("a-1.nmp", "a-2.nmp")


AFTER = 131073  # references of stops.c's after(), its return too


def references(function, profile=STANDS):
    return rows("SELECT coalesce(sum(reads + writes), 0) FROM counts WHERE level = 'L1d' AND function = ?", function,
                profile=profile)[0][0]


def case_start_and_stop():
    """What runs after a command counts, or does not, to the reference; caches stay warm."""
    r = Recording()
    r.ctl("stop")
    r.end()
    before = references("before")
    assert before > 500000 and not references("after"), (before, references("after"))
    r = Recording(options=("--after", "start"))
    r.ctl("start")
    r.end()
    assert references("after") == AFTER and not references("before")
    assert rows("SELECT sum(cold) FROM levels WHERE level = 'L2'", profile=STANDS)[0][0] < 1000, "warm"
    r = Recording("processes", options=("--after", "start"))
    r.ctl("start")
    r.end()
    assert references("after") == 3 * AFTER and not references("before")
    r = Recording(options=("--after", "start"))
    r.ctl("start")
    r.end(kill=True)
    assert not references("after") and not references("before")


def case_signals():
    """SIGUSR1 starts, SIGUSR2 stops."""
    r = Recording(options=("--after", "start"))
    os.kill(r.process.pid, signal.SIGUSR1)
    time.sleep(1)
    os.kill(r.process.pid, signal.SIGUSR2)
    time.sleep(1)
    os.kill(r.process.pid, signal.SIGUSR1)
    time.sleep(1)
    r.end()
    assert references("after") == AFTER and not references("before")


def case_by_the_clock():
    """--for ends what began at once; --after begins later than all that the program does, and says so."""
    r = Recording(options=("--for", "0.01"))
    time.sleep(1)
    r.end()
    assert not references("after")
    done = record([program("stops")], "-q", "--after", "1000")
    assert b"nothing was counted: the program ended before counting began (--after)" in done.stderr
    assert rows("SELECT sum(refs) FROM processes") in ([(0,)], [(None,)])


def case_failed_snapshot():
    """It is told to who asked, and the recording goes on."""
    r = Recording()
    assert "none/s.nmp" in r.ctl("snapshot", "/none/s.nmp", status=125)
    assert r.end() == ""
    assert references("after") == AFTER


def case_refusals():
    for words, said in ((("ctl",), "name a process"), (("ctl", "x", "stop"), '"x" is no process id'),
                        (("ctl", "1", "halt"), '"halt" is neither start, stop nor snapshot'),
                        (("ctl", "1", "stop", "x"), 'stop takes no "x"'),
                        (("record", "--after", "soon", "true"), '--after takes seconds or "start"'),
                        (("record", "--for", "0", "true"), '--for takes seconds'),
                        (("record", "--sample", "1e-3", "--for", "1", "true"), "cannot do --for"),
                        (("record", "--pid", "7"), "nearmiss sample --pid 7 can")):
        done = nearmiss(*words)
        assert done.returncode == 2 and said in done.stderr.decode(), done
    done = nearmiss("ctl", str(os.getpid()), "stop")
    assert done.returncode == 125 and b"is no nearmiss record" in done.stderr, done


if __name__ == "__main__":
    main(globals())
