# SPDX-License-Identifier: MIT
"""test_threads.py - the merged order of threads: what it must not lose, and that the same rule gives the same profile."""

import signal
import subprocess
import time

from harness import NEARMISS, SPEC, counts, main, nearmiss, program, record, rows

CORES = ("--cores", "4", "-q")
FIGURES = ("level", "reads", "writes", "read_misses", "write_misses", "coherence", "loads", "evictions")


def levels(profile="p.nmp"):
    return rows(f"SELECT process, {', '.join(FIGURES)} FROM levels ORDER BY process, level", profile=profile)


def totals(profile="p.nmp"):
    """References by process and thread: they do not depend on the order."""
    return rows("SELECT process, thread, sum(reads), sum(writes) FROM counts WHERE level = 'L1d' GROUP BY 1, 2 ORDER BY 1, 2",
                profile=profile)


def stalls(profile="p.nmp"):
    found = rows("SELECT value FROM info WHERE key = 'stalls'", profile=profile)
    return int(found[0][0]) if found else 0


def check(way, wanted, *options, threads):
    """Records it, then replays it on one core, where nothing is merged: every reference of each thread is in both."""
    done = record([program("crowd"), way], *CORES, *options, "--trace", "t.nmt")
    assert done.stdout.split() == [wanted], done
    assert stalls() == 0
    assert max(thread for _, thread, _, _ in totals()) >= threads
    nearmiss("replay", "-q", "-o", "one.nmp", "--cache", SPEC, "t.nmt")
    assert totals() == totals("one.nmp")
    nearmiss("replay", "-q", "-o", "again.nmp", "--cache", SPEC, *CORES, *options, "t.nmt")
    assert levels() == levels("again.nmp")


def case_sixty_four_threads():
    check("many", b"19200", "--cores", "64", threads=65)


def case_churn():
    check("churn", b"9600", threads=481)


def case_fork_in_threads():
    check("forks", b"80", threads=5)
    assert len(rows("SELECT * FROM processes")) == 5


def case_signals():
    record([program("crowd"), "handled"], *CORES, "--trace", "t.nmt")
    assert stalls() == 0
    nearmiss("replay", "-q", "-o", "one.nmp", "--cache", SPEC, "t.nmt")
    assert totals() == totals("one.nmp")


def case_cancellation():
    check("cancelled", b"5", threads=5)


def case_dead_owner():
    check("dead_owner", b"4", threads=5)


def case_deadlock():
    """Ended by an interrupt: what ran before is in the profile."""
    with subprocess.Popen([NEARMISS, "record", *CORES, "-o", "p.nmp", "--cache", SPEC, "--", program("crowd"), "deadlock"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as recorder:
        assert recorder.stdout.readline() == b"started\n"
        time.sleep(1)
        recorder.send_signal(signal.SIGINT)
        recorder.communicate(timeout=60)
    assert recorder.returncode == 128 + signal.SIGINT, recorder.returncode
    added = rows("SELECT sum(writes) FROM counts WHERE level = 'L1d' AND function = 'add' AND object = 'total'")
    assert added == [(40,)], added


def coherence(profile="p.nmp"):
    return rows("SELECT sum(coherence) FROM counts WHERE level = 'L1d' AND object = 'counters'", profile=profile)[0][0]


def case_quantum():
    """Each thread makes 128,000 references to the line: with a quantum of N, 128,000 / N turns, each of which begins with a
    miss, but the first of each thread, and the few where only a part of the turn is in the loop."""
    record([program("neighbours")], *CORES, "--trace", "t.nmt")
    for quantum in (16, 64, 1024):
        nearmiss("replay", "-q", "-o", "q.nmp", "--cache", SPEC, *CORES, "--quantum", str(quantum), "t.nmt")
        turns = 2 * 128000 / quantum
        assert abs(coherence("q.nmp") - turns) <= 8, (quantum, coherence("q.nmp"), turns)
    assert coherence() == rows("SELECT sum(coherence) FROM counts WHERE object = 'counters'", profile="p.nmp")[0][0]


def case_same_rule_same_profile():
    def figures(profile):
        return counts(profile), rows("SELECT * FROM evictions", profile=profile), \
            rows("SELECT level, thread, sum(read_misses), sum(write_misses), sum(cold), sum(capacity), sum(conflict), "
                 "sum(coherence), sum(loads) FROM counts GROUP BY 1, 2", profile=profile)
    drawn = ("--schedule", "random:7")
    record([program("neighbours")], *CORES, *drawn, "--trace", "t.nmt")
    first = figures("p.nmp")
    record([program("neighbours")], *CORES, *drawn, "--threads", "1", profile="again.nmp")
    assert figures("again.nmp") == first
    nearmiss("replay", "-q", "-o", "again.nmp", "--cache", SPEC, *CORES, *drawn, "t.nmt")
    assert figures("again.nmp") == first
    assert rows("SELECT value FROM info WHERE key IN ('quantum', 'schedule') ORDER BY key", profile="again.nmp") == [("64",), ("random:7",)]
    nearmiss("replay", "-q", "-o", "other.nmp", "--cache", SPEC, *CORES, "--schedule", "random:8", "t.nmt")
    assert figures("other.nmp") != first


def case_one_thread():
    """A program of one thread on several cores is as on one."""
    record([program("matrix"), "rows"], "-q")
    record([program("matrix"), "rows"], *CORES, profile="several.nmp")
    assert levels() == levels("several.nmp")


def case_imported():
    """A foreign trace that tells threads, all of one before all of the other: 640 writes each to one line are ten turns each,
    of which the first is a cold miss and the others are coherence misses."""
    lines = ["thread,rw,addr,size"] + [f"{t},w,{0x1000 + 8 * t:#x},8" for t in (1, 2) for _ in range(640)]
    with open("t.csv", "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")
    nearmiss("replay", "-q", "-o", "p.nmp", "--cache", SPEC, "--cores", "2", "t.csv")
    assert rows("SELECT sum(coherence) FROM levels WHERE level = 'L1d'") == [(18,)]


def case_by_core():
    record([program("neighbours")], "-q", "--cores", "2", "--map", "2=0,3=1")
    told = nearmiss("report", "-i", "p.nmp", "--by", "core", "--format", "csv", "--columns", "coherence").stdout.decode()
    assert sorted(line.split(",")[0] for line in told.splitlines()[1:]) == ["0", "1"], told


def case_refusals():
    for options, word in ((("--quantum", "64"), b"--cores"), (("--cores", "2", "--quantum", "2000000"), b"1 to"),
                          (("--cores", "2", "--schedule", "fair"), b"round-robin"),
                          (("--cores", "2", "--schedule", "random:x"), b"SEED")):
        done = subprocess.run([NEARMISS, "replay", "-q", *options, "t.csv"], capture_output=True, check=False)
        assert done.returncode == 2 and word in done.stderr, done


if __name__ == "__main__":
    main(globals())
