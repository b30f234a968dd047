# SPDX-License-Identifier: MIT
"""test_processes.py - processes on one machine (--one-machine): what they share is one line wherever they have it, and what
they do to each other is what threads would do."""

import csv

from harness import at, main, nearmiss, program, record, rows

MACHINE = "L1d=32K,8,64%s:L2=1M,16,64"
PROTOCOLS = ("msi", "mesi", "moesi", "mesif")
SILENT = ("full", "scope", "opt")


def record_shared(how, protocol="mesi", *options):
    done = record([program("shared"), how], "-q", "--one-machine", "--cores", "2", "--cache", MACHINE % f",protocol={protocol}",
                  *options)
    assert done.stdout == b"100000\n", done


def misses():
    """Coherence misses of the two lines of source, in the first level."""
    return rows("SELECT coalesce(sum(coherence), 0) FROM counts WHERE level = 'L1d' AND function LIKE 'add_to_%'")[0][0]


def case_neighbours():
    """Two processes that add to neighbours in a line miss as two threads do, under all protocols, at one address or two."""
    for protocol in PROTOCOLS:
        record_shared("threads", protocol)
        threads = misses()
        assert threads > 1500, threads
        for how in ("fork", "elsewhere", "segment"):
            record_shared(how, protocol)
            assert 0.9 * threads < misses() <= 1.05 * threads, (protocol, how, misses(), threads)


def case_without_messages():
    """So under protocols in which writes send no message: copies are lost when their core synchronises, or to an oracle."""
    for protocol in SILENT:
        record_shared("threads", protocol)
        threads = misses()
        for how in ("fork", "elsewhere", "segment"):
            record_shared(how, protocol)
            assert 0.9 * threads - 2 <= misses() <= 1.1 * threads + 2, (protocol, how, misses(), threads)


def case_padded():
    """Lines of their own: nothing is shared, under any protocol."""
    for protocol in PROTOCOLS + SILENT:
        record_shared("padded", protocol)
        assert misses() == 0, (protocol, misses())


def case_reports():
    """Processes stand beside threads, whose numbers are the machine's."""
    record_shared("elsewhere")
    pairs = rows("SELECT thread_process, victim_process, sum(invalidations) FROM contenders WHERE function LIKE 'add_to_%' "
                 "AND victim_function LIKE 'add_to_%' AND invalidations > 0 GROUP BY 1, 2 ORDER BY 1")
    assert [p[:2] for p in pairs] == [("shared", "shared#2"), ("shared#2", "shared")] and min(p[2] for p in pairs) > 700, pairs
    assert rows("SELECT process, thread, core FROM threads") == [("shared", 1, 0), ("shared#2", 2, 1)]
    text = nearmiss("sharing", "-i", "p.nmp", "--by", "process", "--format", "csv").stdout.decode()
    assert "shared#2,shared," in text and "shared,shared#2," in text, text
    text = nearmiss("sharing", "-i", "p.nmp", "--width", "200").stdout.decode()
    lines = [line for line in text.splitlines() if "(add_to_" in line]
    assert {tuple(line.split()[:4:3]) for line in lines[:2]} == {("shared", "1"), ("shared#2", "2")}, text
    assert any(line.split()[:2] == ["shared", "shared#2"] for line in lines[2:]), text
    shown = nearmiss("sharing", "-i", "p.nmp", "--format", "csv").stdout.decode().splitlines()
    assert shown[0].startswith("thread_process,") and any(line.startswith("shared#2,") for line in shown), shown
    assert rows("SELECT value FROM info WHERE key = 'one_machine'") == [("yes",)]
    check_choice_of_process("shared#2", "shared")


def check_choice_of_process(chosen, other):
    """--process shows what any process of the machine did, and all about the lines that it touched."""
    of_one = ["sharing", "-i", "p.nmp", "--process", chosen]
    for by in ("function", "thread", "process"):
        shown = nearmiss(*of_one, "--by", by, "--format", "csv").stdout.decode().splitlines()
        assert len(shown) > 1 and all(line.startswith(chosen + ",") for line in shown[1:]), (by, shown)
    touched, = rows(f"SELECT sum(reads) FROM sharing WHERE level = 'L1d' AND thread_process = '{chosen}'")[0]
    shown = nearmiss(*of_one, "--by", "object", "--limit", "0", "--format", "csv").stdout.decode().splitlines()
    column = shown[0].split(",").index("reads")
    assert sum(int(line.split(",")[column]) for line in shown[1:]) == touched, (shown, touched)
    text = nearmiss(*of_one, "--width", "200").stdout.decode()
    assert all(f"\n{process} " in text for process in (chosen, other)), text
    assert b"0x" in nearmiss(*of_one, "--c2c").stdout, text


def case_latent():
    """Latent false sharing of a process is what its threads would miss, whatever process the machine's results stand by."""
    record_shared("beside")
    by_thread = dict(rows("SELECT thread, sum(misses) FROM latent WHERE level = 'L1d' GROUP BY 1"))
    assert by_thread[1] > 700 and by_thread[2] > 700, by_thread
    for process, thread in (("shared", 1), ("shared#2", 2)):
        shown = nearmiss("sharing", "-i", "p.nmp", "--by", "latent", "--process", process, "--limit", "0", "--format", "csv")
        found = list(csv.DictReader(shown.stdout.decode().splitlines()))
        assert sum(int(row["misses"]) for row in found) == by_thread[thread], (process, found, by_thread)


def case_one_process_is_as_ever():
    """A program without children has the counts that it has without the option."""
    counted = "SELECT level, reads, writes, loads, cold, capacity, conflict, evictions, writebacks FROM levels"
    record([program("quiet")], "-q", "--cores", "2", "--cache", MACHINE % "")
    alone = rows(counted)
    record([program("quiet")], "-q", "--one-machine", "--cores", "2", "--cache", MACHINE % "")
    assert rows(counted) == alone, (rows(counted), alone)


def case_orders():
    """Further orders of all processes are those of as many threads, and end in the same references."""
    found = {}
    for how in ("threads", "fork"):
        record_shared(how, "mesi", "--schedules", "3")
        found[how] = rows("SELECT schedule, sum(coherence), sum(loads), sum(reads + writes) FROM schedule_levels "
                          "WHERE level = 'L1d' GROUP BY 1")
        lines = rows("SELECT schedule, sum(misses) FROM schedule_sharing WHERE level = 'L1d' GROUP BY 1")
        causes = rows("SELECT schedule, sum(coherence) FROM schedule_coherence WHERE level = 'L1d' GROUP BY 1")
        assert lines == causes == [(s, c) for s, c, _, _ in found[how]], (lines, causes, found)
        assert [found[how][0][1:3]] == rows("SELECT sum(coherence), sum(loads) FROM counts WHERE level = 'L1d'"), found
        assert len({references for *_, references in found[how]}) == 1, found
    assert len(found["fork"]) == 3 and found["fork"][1][1] != found["fork"][0][1], found
    for (_, threads, *_), (_, processes, *_) in zip(found["threads"], found["fork"]):
        assert 0.9 * threads < processes < 1.1 * threads, found


def case_dependent_loads():
    """Misses whose addresses the load before gave are counted where processes share a machine, too."""
    counted = "SELECT function, line, loads, dependent FROM counts WHERE level = 'L1d' ORDER BY dependent DESC LIMIT 1"
    machine = MACHINE % "" + ":prefetchers=pair+stream"
    record([program("fault-list")], "-q", "--cores", "2", "--cache", machine)
    alone = rows(counted)
    record([program("fault-list")], "-q", "--one-machine", "--cores", "2", "--cache", machine)
    assert alone[0][3] > 0 and rows(counted) == alone, (rows(counted), alone)


def case_pieces():
    """What --alloc-fn hands out in shared memory is one object of all that have the memory, at whatever address."""
    for how in ("inherited", "elsewhere"):
        record([program("arena"), how], "-q", "--one-machine", "--cores", "2", "--alloc-fn=take")
        names = [f"{name} (arena.c:{at('tests/programs/arena.c', name)})" for name in ("early", "late")]
        counts = rows("SELECT object, process, sum(reads), sum(writes) FROM counts WHERE level = 'L1d' AND function = 'add' AND "
                      "object NOT LIKE 'stack %' GROUP BY 1, 2 ORDER BY 1, 2")
        assert counts == [(name, process, 20000, 20000) for name in names for process in ("arena", "arena#2")], counts
        made = rows("SELECT DISTINCT object, type FROM objects WHERE object LIKE 'early %' OR object LIKE 'late %' ORDER BY 1")
        assert made == [(name, "struct pair") for name in names], made
        for name in names:
            text = nearmiss("sharing", "-i", "p.nmp", "--by", "field", "--format", "csv").stdout.decode()
            assert all(f"{name},struct pair,{field}," in text for field in ("first", "second")), text
        assert rows("SELECT count(*) FROM counts WHERE function = 'main' AND object LIKE '%arena%'")[0][0], how  # the rest


def case_storm():
    """200 children, some of which execute a program, and one that is killed: all are there, with all that they did."""
    done = record([program("storm")], "-q", "--one-machine", "--cores", "4")
    assert done.stdout == b"200000 200\n", done
    assert rows("SELECT count(*), sum(lost_words), sum(exit_status = -1) FROM processes") == [(222, 0, 1)]
    assert rows("SELECT sum(writes) FROM counts WHERE level = 'L1d' AND function = 'run_child' AND object LIKE 'counters%'") \
        == [(200_000,)], rows("SELECT object, sum(writes) FROM counts WHERE function = 'run_child' GROUP BY 1")


def case_no_timeline():
    """The one machine has none; the message says why."""
    record_shared("fork")
    done = nearmiss("timeline", "-i", "p.nmp")
    assert done.returncode and b"--one-machine" in done.stderr and b"record without it" in done.stderr, done


def case_merged():
    """A merged profile has the sums of coherence misses, but no lines, and says so."""
    record_shared("elsewhere")
    assert nearmiss("merge", "-o", "m.nmp", "p.nmp", "p.nmp").returncode == 0
    sums = [rows("SELECT sum(coherence) FROM counts", profile=profile)[0][0] for profile in ("p.nmp", "m.nmp")]
    assert 0 < 2 * sums[0] == sums[1], sums
    done = nearmiss("sharing", "-i", "m.nmp")
    assert done.returncode and b"a merged profile has no lines that cores contend for" in done.stderr, done


def case_refusals():
    """What needs a machine for each process is refused."""
    for options in (["--sets"], ["--cores", "1", "--relocate", "2"], ["--asm"]):
        done = nearmiss("record", "--one-machine", *options, "--", program("quiet"))
        assert done.returncode == 2 and b"--one-machine" in done.stderr, done


if __name__ == "__main__":
    main(globals())
