#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""view.py NEARMISS [ROWS|PROFILE...] - how long `nearmiss view` takes with profiles of so many rows of counts (100000,
1000000), or with a profile that is there.

For each answer it prints the CPU time of the server in milliseconds, the first time and with other parameters (so that no answer
is one that was kept), and the bytes.  CPU time and not wall time, so that a busy machine does not matter.  Then: the bytes of
the file that --html writes, its CPU time and memory, the memory of the server, and, where Chromium and the npm packages of web/ are, how long the
overview takes until it is on the screen, from the server and from the file.
"""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from urllib import parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../tests/e2e"))

ASKED = (("table?by=object", "&limit=100"), ("table?by=object,file,line", "&limit=100"),
         ("table?by=object,file,line&filter=99&sort=waste", "&limit=100"), ("tree?by=object,function", "&nodes=200"),
         ("sources", "?level=L1d"), ("source?file={file}", "&level=L1d"), ("line?file={file}&line={line}", "&level=L1d"),
         ("evictions", "?top=20"), ("evictions/lines", "?level=L1d"), ("evictions/lines?victim={victim}", "&level=L1d"),
         ("curves?by=object", "&limit=4"), ("histogram?of=set", "&bins=128"), ("structures", "?level=L1d"), ("sharing", "?limit=9"))


def cpu_milliseconds(process):
    with open(f"/proc/{process}/schedstat", encoding="ascii") as f:
        return int(f.read().split()[0]) / 1e6


def settle(server):
    """Waits until the server has prepared what it prepares while nobody asks."""
    before = -1
    while cpu_milliseconds(server.process.pid) > before + 1:
        before = cpu_milliseconds(server.process.pid)
        time.sleep(0.5)


def time_of(server, path):
    begun = cpu_milliseconds(server.process.pid)
    status, _, text = server.ask("GET", path)
    assert status in (200, 400), (path, text)
    return cpu_milliseconds(server.process.pid) - begun, len(text) if status == 200 else 0  # a profile may lack what is asked


def used(*arguments):
    """CPU time of a command in ms, and its largest memory in MB."""
    command = [os.environ["NEARMISS"], *arguments]
    process = os.posix_spawn(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, usage = os.wait4(process, 0)
    assert status == 0, arguments
    return 1000 * (usage.ru_utime + usage.ru_stime), usage.ru_maxrss // 1024


def questions():
    """ASKED, about the line with the most misses."""
    with contextlib.closing(sqlite3.connect("file:p.nmp?mode=ro", uri=True)) as db:
        file, line = db.execute("SELECT file, line FROM counts WHERE file IS NOT NULL AND level = 'L1d' GROUP BY 1, 2 "
                                "ORDER BY sum(read_misses + write_misses) DESC LIMIT 1").fetchone()
        victim, = db.execute("SELECT victim FROM evictions WHERE victim IS NOT NULL GROUP BY 1 ORDER BY sum(count) DESC "
                             "LIMIT 1").fetchone()
    for path, other in ASKED:
        yield path.format(file=parse.quote(file), line=line, victim=parse.quote(victim)), other


def time_answers(server):
    settle(server)
    print(f"{time_of(server, '/api/p/0/overview?level=L1d')[0]:8.1f}             overview; nearmiss report {used('report', '-i', 'p.nmp')[0]:.1f}")
    for path, other in questions():
        first, size = time_of(server, "/api/p/0/" + path)
        again, _ = time_of(server, "/api/p/0/" + path + other)
        print(f"{first:8.1f} {again:8.1f} ms {size:9,} bytes  {path}")
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as f:
        peak = next(line for line in f if line.startswith("VmHWM"))
    print(f"memory {int(peak.split()[1]) // 1024} MB")


def paint(address):
    """Milliseconds until something is drawn, until the head of the page is, and until the overview is."""
    done = subprocess.run(["node", os.path.join(HERE, "first_paint.mjs"), address, shutil.which("chromium")],
                          capture_output=True, check=True)
    return done.stdout.decode().strip()


def main():
    os.environ["NEARMISS"] = os.path.abspath(sys.argv[1])
    import test_view  # reads NEARMISS
    paints = shutil.which("chromium") and os.path.isdir(os.path.join(HERE, "../web/node_modules/playwright-core"))
    for profile in [what if what.isdigit() else os.path.abspath(what) for what in sys.argv[2:] or ("100000", "1000000")]:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            if profile.isdigit():
                print(f"\n{int(profile):,} rows of counts")
                test_view.grow(test_view.make_profile(), int(profile) // 2)
            else:
                print(f"\n{profile}")
                os.symlink(profile, "p.nmp")
            with test_view.served("p.nmp") as server:
                time_answers(server)
            took, memory = used("view", "--html", "p.html", "p.nmp")
            print(f"--html {os.path.getsize('p.html') / 2**20:.1f} MiB, {took / 1000:.1f} s, {memory} MB")
            if paints:
                with test_view.served("p.nmp") as server:
                    print("from the server", paint(f"http://127.0.0.1:{server.port}{server.path}"))
                print("from the file", paint("file://" + os.path.abspath("p.html")))


main()
