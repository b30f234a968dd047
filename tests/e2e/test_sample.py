# SPDX-License-Identifier: MIT
"""test_sample.py - nearmiss sample: the page faults of each array, thread, child, program and library are the pages that it touches
first; the program's end passes through."""

import os
import signal
import subprocess
import time

from harness import ENVIRONMENT, NEARMISS, Skip, at, main, need, nearmiss, program, record, rows

USAGE, NO_COLLECTOR, NOT_EXECUTABLE, NO_PROGRAM = 2, 120, 126, 127
PAGES = "SELECT sum(count) FROM samples WHERE object = ?"


def sample(*command, event="faults", options=("-q",), status=0, environment=None):
    """Samples a command; Skip where that is not permitted, or the machine has no such event."""
    done = nearmiss("sample", "-o", "p.nmp", "-e", event, *options, "--", *command, environment=environment)
    if done.returncode == NO_COLLECTOR:
        raise Skip(done.stderr.decode().strip())
    assert done.returncode == status, done
    return done


def pages(name):
    return rows(PAGES, name)[0][0]


def nothing_lost():
    assert rows("SELECT value FROM info WHERE key = 'lost_samples'") == [("0",)]


def needs_4k():
    if os.sysconf("SC_PAGE_SIZE") != 4096:
        raise Skip("pages are not of 4096 bytes")


def case_arrays():
    """touches.c: each page of an array faults once, at the line that writes it."""
    needs_4k()
    done = sample(program("touches"), status=7, options=())
    assert (pages("pages_300"), pages("pages_200"), pages("pages_100")) == (300, 200, None)
    nothing_lost()
    assert rows("SELECT DISTINCT line FROM samples WHERE object = 'pages_300'") == [(at("tests/programs/touches.c", "touch"),)]
    assert "pages_300" in done.stderr.decode() and "page-faults every 1" in done.stderr.decode(), done.stderr
    sample(program("touches"), options=("-q", "--period=10"), status=7)
    assert 29 <= pages("pages_300") <= 31, pages("pages_300")


def case_threads():
    """500 threads write a page each."""
    needs_4k()
    sample(program("touches"), "threads", status=7)
    assert rows("SELECT count(DISTINCT thread), sum(count) FROM samples WHERE object = 'slots'") == [(500, 500)]
    nothing_lost()


def case_children():
    """100 children write 100 pages each."""
    needs_4k()
    sample(program("touches"), "children", status=7)
    found = rows("SELECT process, sum(count) FROM samples WHERE object = 'pages_100' GROUP BY process")
    assert [count for _, count in found] == [100] * 100, found
    nothing_lost()


def case_exec():
    """A process executes a second program: both write the array."""
    needs_4k()
    sample(program("touches"), "exec", status=7)
    found = rows("SELECT process, sum(count) FROM samples WHERE object = 'pages_300' GROUP BY process")
    assert [count for _, count in found] == [300, 300], found
    assert pages("pages_200") == 200
    nothing_lost()


def case_library():
    """A library that the program loads while it runs has its own array."""
    needs_4k()
    sample(program("touches"), "library", program("touched.so"), status=7)
    assert pages("pages_70") == 70
    nothing_lost()


def case_static():
    """A static program: the 4,000,000 bytes of `matrix` lie in 977 pages, or 976 and parts of others that were touched before."""
    needs_4k()
    sample(program("matrix-static"), "columns")
    assert 975 <= pages("matrix") <= 977, pages("matrix")


def case_blocks():
    """blocks.c: the pages of a block are those of the call that allocated it, whichever function that is. The first page has been
    touched where the allocator's own data lie in it."""
    needs_4k()
    sample(program("blocks"), "functions")
    found = dict(rows("SELECT object, sum(count) FROM samples WHERE object LIKE 'by_%' GROUP BY object"))
    names = ("by_malloc", "by_calloc", "by_realloc", "by_array", "by_aligned", "by_memalign", "by_posix")
    wanted = dict(zip(names, (99, 109, 119, 129, 140, 150, 160)))
    assert {name.split(" ")[0]: count for name, count in found.items()} == wanted, found
    sample(program("blocks"), "again")
    found = rows("SELECT object, sum(count) FROM samples WHERE object LIKE 'first %' OR object LIKE 'second %' GROUP BY object")
    assert [count for _, count in found] == [199, 199, 200], found  # malloc, malloc at the same address, realloc
    for what, name in (("signal", "of_handler %"), ("deep", "%descend%")):
        sample(program("blocks"), what)
        assert rows("SELECT sum(count) FROM samples WHERE object LIKE ?", name) == [(69 if what == "signal" else 79,)], what
    sample(program("blocks"), "functions", options=("-q", "--heap-from=500000"))
    large = dict(rows("SELECT object, sum(count) FROM samples WHERE object LIKE 'by_%' GROUP BY object"))
    assert {name.split(" ")[0]: count for name, count in large.items()} == \
        {name: count for name, count in wanted.items() if count > 122}, large  # pages
    sample(program("blocks"), "functions", options=("-q", "--no-heap"))
    assert rows("SELECT count(*) FROM samples WHERE object LIKE 'by_%'") == [(0,)]
    sample(program("blocks"), "exec")
    assert rows("SELECT sum(count) FROM samples WHERE object LIKE 'by_posix %'") == [(160,)]


def case_blocks_of_threads_and_children():
    """500 threads, and children, one of them killed: no block is lost."""
    needs_4k()
    sample(program("blocks"), "threads")
    assert rows("SELECT sum(count), count(DISTINCT thread) FROM samples WHERE object LIKE 'of_thread %'") == [(500 * 39, 500)]
    for what in ("child", "killed"):
        sample(program("blocks"), what)
        found = rows("SELECT object, sum(count) FROM samples WHERE object LIKE 'of_%' GROUP BY object ORDER BY 1")
        assert [count for _, count in found] == [59, 50], found  # of_child; of_parent, whose first page the parent has touched
        nothing_lost()


def case_names_as_in_a_recording():
    """Heap blocks have the names, numbers and sizes that a recording gives them."""
    heap = "SELECT object, blocks, bytes FROM objects WHERE kind = 'heap' ORDER BY object"
    for name in ("assigned", "containers", "fields", "elements", "quake"):
        sample(program(name))
        sampled = rows(heap)
        record([program(name)])
        assert sampled == rows(heap), (name, sampled, rows(heap))


def case_preloaded():
    """The user's own preloaded libraries stay; what cannot be preloaded is told, once."""
    needs_4k()
    done = sample("sh", "-c", "echo $LD_PRELOAD", options=("-q",), environment={**ENVIRONMENT, "LD_PRELOAD": program("touched.so")})
    assert done.stdout.decode().strip().endswith(":" + program("touched.so")) and not done.stderr, done
    done = sample(program("matrix-static"), "columns")
    assert done.stderr.count(b"\n") == 1 and b"static" in done.stderr, done


# Prints how many page faults a command had, by the kernel's own count of it.
COUNT = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL); "
         "used = resource.getrusage(resource.RUSAGE_CHILDREN); print(used.ru_minflt + used.ru_majflt)")


def case_programs():
    """Of programs of the distribution all faults are sampled, those of their buffers in full: 64 MB that the kernel writes for dd,
    32 MB of python's text."""
    needs_4k()
    python = need("python3")
    with open("numbers", "w", encoding="ascii") as out:
        out.writelines(f"{i * 7919 % 100003}\n" for i in range(50000))
    for command, buffer in ((["dd", "if=/dev/zero", "of=/dev/null", "bs=64M", "count=1"], 16384),
                            ([python, "-c", "x = b'x' * (32 << 20)"], 8192), (["sort", "numbers"], 0),
                            (["gzip", "-9", "-c", "numbers"], 0), (["perl", "-e", "$x = 'x' x 30000000"], 7324)):
        need(command[0])
        done = sample(python, "-c", COUNT, *command, options=("-q", "--no-heap"))
        if b"perf_event_paranoid" in done.stderr:
            raise Skip("the kernel's own touches may not be sampled here")
        counted = int(done.stdout)
        sampled = rows("SELECT sum(count) FROM samples JOIN processes USING (process) WHERE path LIKE '%.%'")[0][0]
        assert counted - 3 <= sampled <= counted, (command, counted, sampled)
        found = rows("SELECT max(n) FROM (SELECT sum(count) AS n FROM samples GROUP BY process, object)")[0][0]
        assert buffer <= found, (command, found)
        nothing_lost()


def case_ends():
    """The program's status passes through, also one by a signal; what cannot run is told before anything is sampled."""
    for command, status in ((["sh", "-c", "exit 3"], 3), (["sh", "-c", "kill -9 $$"], 137)):
        sample(*command, status=status)
        assert os.path.exists("p.nmp")
    for name, status, told in (("./missing", NO_PROGRAM, "not found"), (os.getcwd(), NOT_EXECUTABLE, "executed")):
        done = nearmiss("sample", "-o", "none.nmp", "--", name)
        assert done.returncode == status and told in done.stderr.decode() and not os.path.exists("none.nmp"), done
    done = sample("sh", "-c", "exit 4", event="clock", options=("-q", "--period=10000000000"), status=4)
    assert b"no samples" in done.stderr and not os.path.exists("none.nmp"), done


def case_interrupts():
    """Ctrl-C ends the program and keeps what was sampled; a signal to nearmiss goes to the program."""
    needs_4k()
    sample("true")
    for name, send, status in (("group", lambda p: os.killpg(p.pid, signal.SIGINT), 130),
                               ("alone", lambda p: p.send_signal(signal.SIGTERM), 143)):
        command = [NEARMISS, "sample", "-q", "-e", "faults", "-o", name + ".nmp", "--", "sh", "-c", "echo begun; exec sleep 100"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True, env=ENVIRONMENT) as process:
            assert process.stdout.readline() == b"begun\n"
            time.sleep(0.2)  # for exec, without which the shell may answer the signal in its own way
            send(process)
            assert process.wait(timeout=60) == status
        assert rows("SELECT sum(count) FROM samples", profile=name + ".nmp")[0][0] > 50


def attached(process):
    """Waits until nearmiss has opened its events, and waits for them."""
    poll = "7"
    for _ in range(600):
        if process.poll() is not None:
            return
        try:
            links = [os.readlink(f"/proc/{process.pid}/fd/{name}") for name in os.listdir(f"/proc/{process.pid}/fd")]
            with open(f"/proc/{process.pid}/syscall", encoding="utf-8") as f:
                if any("perf_event" in link for link in links) and f.read().split()[0] == poll:
                    return
        except OSError:
            pass
        time.sleep(0.05)


def case_process_that_runs():
    """touches.c waits: what it touches once it goes on is sampled, in threads too, and named. It ends; Ctrl-C; the time is over."""
    needs_4k()
    sample("true")
    with subprocess.Popen([program("touches"), "waits"], stdin=subprocess.PIPE) as waiting:
        command = [NEARMISS, "sample", "-q", "-e", "faults", "-o", "p.nmp", "--pid", str(waiting.pid)]
        with subprocess.Popen(command, env=ENVIRONMENT) as sampler:
            attached(sampler)
            waiting.communicate(b"\n")
            assert sampler.wait(timeout=60) == 0 and waiting.returncode == 7
    touched = pages("pages_200"), pages("slots"), pages("pages_300")
    assert touched == (200, 500, None), touched
    assert rows("SELECT value FROM info WHERE key = 'command'") == [(program("touches") + " waits",)]
    nothing_lost()
    with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as busy:
        try:
            for options, stop in (((), True), (("--for=1",), False)):
                command = [NEARMISS, "sample", "-q", "-e", "clock", "-o", "busy.nmp", "--pid", str(busy.pid), *options]
                with subprocess.Popen(command, env=ENVIRONMENT) as sampler:
                    attached(sampler)
                    if stop:
                        time.sleep(0.5)
                        sampler.send_signal(signal.SIGINT)
                    assert sampler.wait(timeout=60) == 0
                assert rows("SELECT sum(count) FROM samples", profile="busy.nmp")[0][0] > 10
                os.unlink("busy.nmp")
        finally:
            busy.kill()
    done = nearmiss("sample", "--pid", str(waiting.pid))
    assert done.returncode == NO_PROGRAM and "no process" in done.stderr.decode(), done


def case_refusals():
    for arguments, told in (([], "name a program"), (["--pid=1", "true"], "name a program"), (["--for=1", "true"], "--pid"), (["-e", "misses", "true"], "misses"), (["--period=x", "true"], "period")):
        done = nearmiss("sample", *arguments)
        assert done.returncode == USAGE and told in done.stderr.decode(), done


def case_processors():
    """Where the processor has events of its own, they sample the array that misses."""
    told = []
    for event in ("loads", "ibs", "cycles"):
        try:
            sample(program("matrix"), "columns", event=event, options=("-q", "--period=2000"))
        except Skip as reason:
            told.append(str(reason))
            continue
        assert rows("SELECT sum(count) FROM samples WHERE object = 'matrix'")[0][0] > 10
    if len(told) == 3:
        raise Skip("; ".join(told))


if __name__ == "__main__":
    main(globals())
