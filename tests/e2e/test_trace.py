# SPDX-License-Identifier: MIT
"""test_trace.py - a replay of a stored run gives the profile that the run gave, with the program or without it."""

import fcntl
import glob
import os
import resource
import shutil
import signal
import subprocess
import time

from harness import ENVIRONMENT, NEARMISS, SPEC, TOP, at, main, need, nearmiss, program, record, rows, run

VIEWS = ("processes", "levels", "objects", "counts", "evictions", "top_evictors", "undebugged")
BAD_INPUT, NO_OUTPUT, USAGE = 121, 122, 2


def contents(profile):
    """All rows of all views but info, whose times differ, and the rest of info."""
    found = {view: sorted(rows(f"SELECT * FROM {view}", profile=profile), key=repr) for view in VIEWS}
    found["info"] = rows("SELECT * FROM info WHERE key NOT IN ('wall_seconds', 'recorded_at', 'source', 'trace') ORDER BY key",
                         profile=profile)
    return found


def replay(trace, *options, profile="r.nmp", status=0, stdin=b""):
    machine = [] if "--cache" in options else ["--cache", SPEC]
    done = nearmiss("replay", "-q", "-o", profile, *machine, *options, trace, stdin=stdin)
    assert done.returncode == status, f"{trace}: status {done.returncode}, not {status}\n{done.stderr.decode()}"
    return done


def same(one, two):
    one, two = contents(one), contents(two)
    for view in one:
        assert one[view] == two[view], f"{view} differs: {sorted(set(one[view]) ^ set(two[view]), key=repr)[:4]}"


def check(command, *needed, status=0):
    """Records a program in this folder, then replays without it, from the file and from a pipe."""
    for name in (command[0].removeprefix("./"), *needed):
        shutil.copy(program(name), name)
    record(command, "--trace", "t.nmt", "-q", status=status)
    for name in (command[0].removeprefix("./"), *needed):
        os.remove(name)
    for threads in ("1", "3"):
        replay("t.nmt", "--threads", threads)
        same("p.nmp", "r.nmp")
        replay("-", "--threads", threads, stdin=contents_of("t.nmt"))
        same("p.nmp", "r.nmp")


def case_code_without_accesses():
    """Without a trace it is only counted.  The profile is that of the run with the trace, which has all of it."""
    for name in ("quiet", "signals", "list"):
        record([program(name)], "-q", profile="plain.nmp")
        record([program(name)], "--trace", "t.nmt", "-q")
        replay("t.nmt")
        same("plain.nmp", "p.nmp")
        same("plain.nmp", "r.nmp")
    record([program("quiet")], "--trace", "t.nmt", "-q")
    blocks = [line.split()[1:] for line in nearmiss("trace", "print", "t.nmt").stdout.decode().splitlines()]
    assert sum(block[0] == "BLOCK" and len(block) == 2 for block in blocks) >= 200 * 1000 + 3 * 100000
    assert "RAN" not in {block[0] for block in blocks}
    instructions = rows("SELECT instructions FROM processes")[0][0]
    assert 0 <= instructions - 5 * (200 * 1000 + 2 * 100000) < 5 * 100000, instructions # one long loop is not measured
    found = dict(rows("SELECT object, blocks FROM objects WHERE kind = 'heap' AND blocks >= 200"))
    assert found == {f"number (quiet.c:{at('tests/programs/quiet.c', 'number')})": 200}, found


def case_processes_side_by_side():
    """However many processes are replayed at a time, each view has the same rows, but for times in info."""
    shell, sort, gzip, wc = need("sh", "sort", "gzip", "wc")
    with open("text", "w", encoding="ascii") as f:
        f.writelines(f"{7919 * i % 10007} {'abcdefgh'[:i % 7]}\n" for i in range(4000))
    record([shell, "-c", f"{sort} text > a & {gzip} -c text > b & {sort} -n text > c & {sort} -r text > d & wait;"
            f"(read x < text; {wc} text > e)"], "--trace", "t.nmt", "-q")
    made = [made for (made,) in rows("SELECT sum(reads + writes) FROM counts WHERE level = 'L1d' GROUP BY process")]
    assert len(made) > 6 and max(made) < 0.4 * sum(made), made # no process has most of it
    views = [view for (view,) in rows("SELECT name FROM sqlite_master WHERE type = 'view' AND name <> 'info'")]
    replay("t.nmt", "--threads", "1", profile="one.nmp")
    same("p.nmp", "one.nmp")
    for threads in ("2", "7"):
        replay("t.nmt", "--threads", threads)
        same("one.nmp", "r.nmp")
        for view in views:
            one, many = (sorted(rows(f"SELECT * FROM {view}", profile=profile), key=repr) for profile in ("one.nmp", "r.nmp"))
            assert one == many, (threads, view)
    damaged = contents_of("t.nmt")
    with open("damaged.nmt", "wb") as f:
        f.write(damaged[:len(damaged) // 2] + b"none" + damaged[len(damaged) // 2 + 4:])
    for threads, profile in (("2", "two.nmp"), ("7", "seven.nmp")):
        replay("damaged.nmt", "--threads", threads, profile=profile, status=BAD_INPUT)
    same("two.nmp", "seven.nmp") # what comes behind the damage in other processes counts
    whole, left = (len(rows("SELECT * FROM processes", profile=profile)) for profile in ("one.nmp", "two.nmp"))
    assert left >= whole - 1, (left, whole) # one may have lost its beginning


def contents_of(path):
    with open(path, "rb") as f:
        return f.read()


def case_variables():
    check(["./variables"])


def case_heap_and_inlining():
    check(["./containers"])


def case_fortran():
    check(["./common"])


def case_threads():
    check(["./threads"])


def case_cores():
    """Threads on cores of their own: the same with any number of engine threads, recorded or replayed; all of them on one
    core is as if there were one; a core's figures are those of its threads."""
    record([program("threads")], "--trace", "t.nmt", "-q", "--cores", "3")
    def figures(profile):  # levels up to the protocol, which one core has no use for
        found = [rows(f"SELECT * FROM {view}", profile=profile) for view in ("levels", "counts", "evictions")]
        return [[row[:-1] for row in found[0]], *found[1:]]
    several = figures("p.nmp")
    threads = rows("SELECT thread, core FROM threads ORDER BY 1")
    assert len(threads) > 2 and threads == [(t, (t - 1) % 3) for t, _ in threads], threads
    for engine in ("1", "2", "3"):
        replay("t.nmt", "--cores", "3", "--threads", engine)
        assert figures("r.nmp") == several and rows("SELECT thread, core FROM threads", profile="r.nmp") == threads
    by_core = rows("SELECT core, sum(loads) FROM counts JOIN threads USING (process, thread) WHERE level = 'L1d' GROUP BY 1")
    assert len(by_core) == 3 and sum(n for _, n in by_core) == rows("SELECT loads FROM levels WHERE level = 'L1d'")[0][0]
    replay("t.nmt")
    one = figures("r.nmp")
    assert one != several and not rows("SELECT * FROM threads", profile="r.nmp")
    replay("t.nmt", "--cores", "3", "--map", ",".join(f"{t}=0" for t, _ in threads))
    assert figures("r.nmp") == one
    for options, word in ((("--map", "1=0"), b"--cores"), (("--cores", "257"), b"256"), (("--cores", "2", "--map", "1=2"), b"0 to 1"),
                          (("--cores", "2", "--map", "0=1"), b"1 to 256"), (("--cores", "2", "--map", "1=1,"), b"THREAD=CORE")):
        done = nearmiss("replay", "-q", "-o", "no.nmp", "--cache", SPEC, *options, "t.nmt")
        assert done.returncode == USAGE and word in done.stderr, done


def case_processes():
    check(["./processes"])


def case_libraries_that_come_and_go():
    check(["./loader", "./plugin.so"], "plugin.so")


def case_single_instructions():
    """Their code is in the trace when they were asked for."""
    shutil.copy(program("matrix"), "matrix")
    record(["./matrix", "rows"], "--asm", "--trace", "t.nmt", "-q")
    os.remove("matrix")
    replay("t.nmt", "--asm")
    same("p.nmp", "r.nmp")
    shown = [nearmiss("annotate", "--asm", "-i", p, "sum_rows").stdout for p in ("p.nmp", "r.nmp")]
    assert shown[0] == shown[1] and b"sum_rows" in shown[0], shown


def case_annotations():
    check(["./annotated"])


def case_debian_program():
    gzip = need("gzip")
    with open("in", "wb") as f:
        f.write(bytes(range(256)) * 500)
    record([gzip, "-c", "in"], "--trace", "t.nmt", "-q")
    replay("t.nmt")
    same("p.nmp", "r.nmp")


def case_other_caches_and_fetches():
    """What the recording did not simulate is as if it had.  The program is static: functions of stripped libraries that
    only fetches ask for have no name in a replay."""
    build = run([need("gcc"), "-g", "-O1", "-static", "-o", "matrix", os.path.join(TOP, "examples/matrix.c")])
    assert build.returncode == 0, build.stderr
    with_fetches = ("--instr", "--cache", "L1i=32K,8,64:L1d=4K,2,32:L2=64K,4,64")
    record(["./matrix", "rows"], "-q", *with_fetches)
    os.rename("p.nmp", "direct.nmp")
    record(["./matrix", "rows"], "--trace", "t.nmt", "-q")
    os.remove("matrix")
    replay("t.nmt", *with_fetches)
    same("direct.nmp", "r.nmp")


def case_levels_in_common():
    """What is counted of a machine does not depend on one beside it that begins with the same level."""
    views = {"counts": "object, function, file, line, reads, writes, read_misses, write_misses, cold, capacity, conflict, "
                       "reuse, used_bytes, loaded_bytes, evictions, writebacks",
             "evictions": "evictor, function, line, victim, victim_function, victim_line, count",
             "timeline": "interval, reads, writes, read_misses, write_misses, cold, capacity, conflict"}
    small, large = "L1d=4K,4,64:L2=16K,8,64", "L1d=4K,4,64:L2=64K,16,64"
    shutil.copy(program("blocks"), "blocks")
    record(["./blocks"], "--trace", "t.nmt", "-q")
    replay("t.nmt", "--cache", small, "--cache", large)
    for machine, prefix in ((small, ""), (large, "2/")):
        replay("t.nmt", "--cache", machine, profile="alone.nmp")
        for level in ("L1d", "L2"):
            for view, columns in views.items():
                alone, beside = (sorted(rows(f"SELECT {columns} FROM {view} WHERE level = '{name}'", profile=profile), key=repr)
                                 for name, profile in ((level, "alone.nmp"), (prefix + level, "r.nmp")))
                assert alone and alone == beside, f"{machine}: {view} of {level} differs"


def case_belady():
    """OPT loads least of all policies, by object too it is what direct search of the future finds (unit tests); what stands
    beside it counts as ever."""
    gzip = need("gzip")
    with open("in", "wb") as f:
        f.write(bytes(range(256)) * 100 + os.urandom(20000))
    record([gzip, "-c", "in"], "--trace", "t.nmt", "-q")
    policies = ("lru", "fifo", "random", "tree-plru", "bit-plru", "nru", "srrip", "brrip", "drrip")
    for level in ("L1d=8K,4,64{}:L2=64K,8,64", "L1d=8K,4,64:L2=64K,8,64{}"):
        others = [word for p in policies for word in ("--cache", level.format(",policy=" + p))]
        replay("t.nmt", *others, profile="without.nmp")
        for threads in ("1", "3"):
            replay("t.nmt", *others, "--cache", level.format(",policy=opt"), "--threads", threads)
            least = rows("SELECT min(loads) FROM levels WHERE policy = 'opt'", profile="r.nmp")[0][0]
            name = "L1d" if "{}:" in level else "L2"
            loads = rows(f"SELECT loads FROM levels WHERE level LIKE '%{name}' AND policy <> 'opt'", profile="r.nmp")
            assert len(loads) == len(policies) and least < min(n for n, in loads), (least, loads)
            known = rows("SELECT * FROM counts", profile="without.nmp")
            assert known == rows("SELECT * FROM counts WHERE level NOT LIKE '10/%'", profile="r.nmp")
    done = nearmiss("replay", "-q", "-o", "no.nmp", "--cache", "L1d=8K,4,64,policy=opt", "-", stdin=b"0 10\n")
    assert done.returncode == 2 and b"not a pipe" in done.stderr, done
    assert not os.path.exists("no.nmp")
    with open("t.din", "w", encoding="ascii") as f:
        f.write("".join(f"0 {64 * (i % 5):x}\n" for i in range(50)))
    replay("t.din", "--cache", "L1d=256,4,64,policy=opt")
    assert rows("SELECT loads FROM levels", profile="r.nmp") == [(5 + 11,)] # Belady: one of four waits each time


def case_status_of_the_program():
    done = nearmiss("record", "-q", "-o", "p.nmp", "--cache", SPEC, "-t", "t.nmt", "--", "sh", "-c", "exit 7")
    assert done.returncode == 7, done
    replay("t.nmt")
    same("p.nmp", "r.nmp")


def case_size():
    """At most two bytes a reference, half a byte for a regular program."""
    record([program("matrix"), "columns"], "--trace", "t.nmt", "-q")
    references = int(rows("SELECT value FROM info WHERE key = 'references'")[0][0])
    size = os.path.getsize("t.nmt")
    assert size < references / 2, (size, references)


def case_cut_off():
    gzip = need("gzip")
    record([gzip, "-c", gzip], "--trace", "t.nmt", "-q")
    whole = os.path.getsize("t.nmt")
    all_references = int(rows("SELECT value FROM info WHERE key = 'references'")[0][0])
    os.truncate("t.nmt", whole * 2 // 3)
    done = replay("t.nmt", status=BAD_INPUT)
    text = done.stderr.decode()
    assert text.startswith("nearmiss: t.nmt: ") and "cut off at byte" in text and len(text.splitlines()) == 1, text
    some = int(rows("SELECT value FROM info WHERE key = 'references'", profile="r.nmp")[0][0])
    assert 0 < some < all_references, (some, all_references)


def case_pipes():
    """A trace through a pipe is the same trace: printed, cut and described like the file; recorded to standard output it is the
    same file, and the program's own output does not get in between."""
    record([program("processes")], "--trace", "t.nmt", "-q")
    trace = contents_of("t.nmt")
    for command in (("info",), ("print",), ("print", "--stream", "1", "--from", "100", "--limit", "20")):
        piped = nearmiss("trace", *command, "-", stdin=trace)
        assert piped.returncode == 0 and piped.stdout == nearmiss("trace", *command, "t.nmt").stdout, (command, piped.stderr)
        assert len(piped.stdout.splitlines()) > 5
    assert nearmiss("trace", "slice", "-o", "s.nmt", "--from", "5000", "--to", "9000", "t.nmt").returncode == 0
    piped = nearmiss("trace", "slice", "-o", "-", "--from", "5000", "--to", "9000", "-", stdin=trace)
    assert piped.returncode == 0 and piped.stdout == contents_of("s.nmt"), piped.stderr
    done = record([program("processes")], "--trace", "-", "-q", profile="o.nmp")
    assert b"first 3" in done.stderr and done.stdout.startswith(b"nmtrace\n") and done.stdout.endswith(b"nmtrend\n"), done
    replay("-", stdin=done.stdout)
    same("o.nmp", "r.nmp")
    assert rows("SELECT count(*) FROM processes", profile="r.nmp")[0][0] > 3


def case_fifo():
    """A program is recorded into a FIFO, and replayed from it at the same time, with other caches."""
    os.mkfifo("live")
    other = "L1d=4K,2,32:L2=64K,4,64"
    running = subprocess.Popen([NEARMISS, "record", "-q", "-o", "p.nmp", "--cache", SPEC, "-t", "live", "--",
                                program("containers")], env=ENVIRONMENT, stdout=subprocess.PIPE)
    replay("live", "--cache", other)
    running.communicate()
    assert running.returncode == 0
    record([program("containers")], "-q", "--cache", other, profile="direct.nmp")
    same("direct.nmp", "r.nmp")


def case_pipe_cut_off():
    """The part before a broken pipe is used; a pipe whose writer is killed is not damage."""
    record([program("list")], "--trace", "t.nmt", "-q")
    trace = contents_of("t.nmt")
    text = replay("-", status=BAD_INPUT, stdin=trace[:len(trace) // 2]).stderr.decode()
    assert text.startswith("nearmiss: standard input: ") and "cut off behind byte" in text and len(text.splitlines()) == 1, text
    index = int.from_bytes(trace[-16:-8], "little")
    text = replay("-", stdin=trace[:index]).stderr.decode()
    assert "it has no end" in text and len(text.splitlines()) == 1, text
    same("p.nmp", "r.nmp")
    assert b"behind byte" in replay("-", status=BAD_INPUT, stdin=trace[:-1]).stderr
    same("p.nmp", "r.nmp")
    changed = bytearray(trace)
    changed[16] ^= 1 # the first chunk's head
    assert b"behind byte 16;" in replay("-", status=BAD_INPUT, stdin=bytes(changed)).stderr
    done = nearmiss("replay", "-q", "-o", "no.nmp", "--cache", "L1d=8K,4,64,policy=opt", "-", stdin=trace)
    text = done.stderr.decode()
    assert done.returncode == 2 and "more than once" in text and len(text.splitlines()) == 1, text
    assert not os.path.exists("no.nmp")


def case_broken_pipe():
    """The reader of the trace goes away: a message says so, and the profile is complete."""
    shutil.copy(program("matrix"), "matrix")
    running = subprocess.Popen([NEARMISS, "record", "-q", "-o", "p.nmp", "--cache", SPEC, "-t", "-", "--", "./matrix",
                                "rows"], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert running.stdout.read(8) == b"nmtrace\n"
    running.stdout.close()
    text = running.stderr.read().decode().splitlines()[-1]
    assert running.wait() == NO_OUTPUT and "cannot write the trace: Broken pipe" in text, text
    record(["./matrix", "rows"], "-q", profile="whole.nmp")
    same("whole.nmp", "p.nmp")


def case_while_it_is_written():
    """An idle program's trace holds all that it did."""
    running = subprocess.Popen([NEARMISS, "record", "-q", "-o", "p.nmp", "--cache", SPEC, "-t", "t.nmt", "--", "sleep",
                                "60"], env=ENVIRONMENT)
    try:
        for _ in range(200):
            time.sleep(0.1)
            done = nearmiss("trace", "info", "t.nmt") if os.path.exists("t.nmt") else None
            if done and b"addresses   0\n" not in done.stdout and b"addresses" in done.stdout:
                break
        assert b"still being written" in done.stdout, done.stdout
        replay("t.nmt")
        assert rows("SELECT process FROM processes", profile="r.nmp") == [("sleep",)]
    finally:
        running.terminate()
        running.wait()


def case_info_and_print():
    record([program("list")], "--trace", "t.nmt", "-q")
    text = nearmiss("trace", "info", "t.nmt").stdout.decode()
    assert "collector   valgrind\n" in text and "complete    yes\n" in text and "streams     1\n" in text, text
    first = nearmiss("trace", "print", "--limit", "1", "t.nmt").stdout.decode()
    assert first.startswith("0 PROCESS 0 ") and "/list\"" in first, first
    lines = nearmiss("trace", "print", "--from", "1000", "--to", "1100", "t.nmt").stdout.decode().splitlines()
    addresses = sum(len(line.split()) - 3 for line in lines if line.split()[1] == "BLOCK")
    assert 80 < addresses <= 120, addresses


def case_slice():
    """The middle of a run, counted as if measuring had been on for it alone."""
    shutil.copy(program("matrix"), "matrix")
    record(["./matrix", "rows"], "--trace", "t.nmt", "-q")
    done = nearmiss("trace", "slice", "-o", "s.nmt", "--from", "500000", "--to", "600000", "t.nmt")
    assert done.returncode == 0, done.stderr
    os.remove("matrix")
    replay("s.nmt")
    counted = int(rows("SELECT value FROM info WHERE key = 'references'", profile="r.nmp")[0][0])
    assert 99000 < counted <= 100100, counted
    assert rows("SELECT count(*) FROM counts WHERE object = 'matrix' AND line > 0", profile="r.nmp")[0][0] > 0


def case_merge():
    for name in ("list", "processes"):
        record([program(name)], "--trace", name + ".nmt", "-q", profile=name + ".nmp")
    done = nearmiss("trace", "merge", "-o", "m.nmt", "list.nmt", "processes.nmt")
    assert done.returncode == 0, done.stderr
    replay("m.nmt")
    one = [rows("SELECT sum(reads), sum(writes), sum(cold), sum(evictions) FROM counts WHERE level = 'L1d'", profile=p)
           for p in ("list.nmp", "processes.nmp")]
    both = rows("SELECT sum(reads), sum(writes), sum(cold), sum(evictions) FROM counts WHERE level = 'L1d'",
                profile="r.nmp")
    assert list(both[0]) == [a + b for a, b in zip(one[0][0], one[1][0])], (one, both)
    assert len(rows("SELECT * FROM processes", profile="r.nmp")) == 5


def case_limited_memory():
    """What is reserved for the heap would count against a limit of the address space."""
    record([program("list")], "--trace", "t.nmt", "-q")
    for megabytes in range(72, 108, 4):
        limit = megabytes << 20
        done = subprocess.run([NEARMISS, "replay", "-q", "-o", "r.nmp", "--threads", "2", "--cache", SPEC, "t.nmt"],
                              env=ENVIRONMENT, capture_output=True, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        assert done.returncode == 0, f"{megabytes} MB: {done.stderr.decode()}"
    same("p.nmp", "r.nmp")


def case_inputs_are_not_overwritten():
    """An output that is the input, by any name, is refused, and so is one file for two outputs; nothing is lost."""
    record([program("list")], "--trace", "t.nmt", "-q")
    with open("t.nmt", "rb") as f:
        before = f.read()
    os.link("t.nmt", "linked.nmt")
    os.symlink("t.nmt", "symbolic.nmt")
    for name in ("t.nmt", "./t.nmt", "linked.nmt", "symbolic.nmt"):
        for arguments in (("trace", "slice", "-o", name, "t.nmt"), ("trace", "merge", "-o", name, "symbolic.nmt", "t.nmt"),
                          ("replay", "-q", "-o", name, "t.nmt")):
            done = nearmiss(*arguments)
            assert done.returncode == NO_OUTPUT and b"it is the input" in done.stderr, (arguments, done)
    with open("n.nest", "w", encoding="ascii") as f:
        f.write("array A(8)\nfor i = 1 to 8\n  read A(i)\nend\n")
    for arguments in (("record", "-o", "x", "-t", "./x", "--", "true"), ("nest", "-o", "x", "-t", "./x", "n.nest"),
                      ("nest", "-o", "n.nest", "n.nest"), ("nest", "-t", "n.nest", "n.nest")):
        done = nearmiss(*arguments)
        assert done.returncode == NO_OUTPUT and b"it is the" in done.stderr, (arguments, done)
        assert not os.path.exists("x"), arguments
    with open("t.nmt", "rb") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        done = nearmiss("nest", "-q", "-o", "n.nmp", "-t", "t.nmt", "n.nest")
        assert done.returncode == NO_OUTPUT and b"another process is writing it" in done.stderr, done
        f.seek(0)
        assert f.read() == before


def case_signals_leave_no_temporary_file():
    with open("n.nest", "w", encoding="ascii") as f:
        f.write("parameter N = 100000\narray A(N)\nfor j = 1 to N\n  for i = 1 to N\n    read A(i)\n  end\nend\n")
    with open("t.csv", "w", encoding="ascii") as f:
        f.write("addr,rw\n" + "16,r\n64,w\n" * 2000000)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for arguments in (("nest", "n.nest"), ("replay", "t.csv")):
            with subprocess.Popen([NEARMISS, arguments[0], "-q", "-o", "r.nmp", *arguments[1:]], env=ENVIRONMENT) as run:
                while not glob.glob("r.nmp.*.tmp") and run.poll() is None:
                    time.sleep(0.01)
                run.send_signal(number)
                assert run.wait(60) == -number, (arguments, number, run.returncode)
            assert not glob.glob("r.nmp*"), (arguments, os.listdir())


def case_refusals():
    with open("none.nmt", "w", encoding="ascii") as f:
        f.write("nothing of the kind\n")
    record([program("list")], "--trace", "t.nmt", "-q")
    for arguments, status in ((("replay", "no-such.nmt"), BAD_INPUT), (("trace", "info", "none.nmt"), BAD_INPUT),
                              (("replay",), USAGE), (("trace", "sing", "t.nmt"), USAGE),
                              (("trace", "slice", "t.nmt"), USAGE), (("trace", "print", "--to", "x", "t.nmt"), USAGE),
                              (("record", "--trace", "/no/such/t.nmt", "--", "true"), NO_OUTPUT),
                              (("trace", "slice", "-o", "/no/such", "t.nmt"), NO_OUTPUT)):
        done = nearmiss(*arguments)
        text = done.stderr.decode()
        assert done.returncode == status and text.startswith("nearmiss: "), (arguments, done.returncode, text)
    with open("t.nmt", "r+b") as f:
        f.seek(8)
        f.write(b"\3")
    assert nearmiss("replay", "t.nmt").returncode == BAD_INPUT


if __name__ == "__main__":
    main(globals())
