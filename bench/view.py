#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""view.py NEARMISS [ROWS...] - how long `nearmiss view` takes with profiles of so many rows of counts (100000, 1000000).

For each answer it prints the CPU time of the server in milliseconds, the first time and with other parameters (so that no answer
is one that was kept), and the bytes.  CPU time and not wall time, so that a busy machine does not matter.  Then: the bytes of
the file that --html writes, the memory of the server, and, where Chromium and the npm packages of web/ are, how long the
overview takes until it is on the screen, from the server and from the file.
"""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../tests/e2e"))

ASKED = (("table?by=object", "&limit=100"), ("table?by=object,file,line", "&limit=100"),
         ("table?by=object,file,line&filter=99&sort=waste", "&limit=100"), ("tree?by=object,function", "&nodes=200"),
         ("sources", "?level=L1d"), ("source?file=/src/file_5.c", "&level=L1d"), ("line?file=/src/file_5.c&line=5", "&level=L1d"),
         ("evictions", "?top=20"), ("evictions/lines", "?level=L1d"), ("evictions/lines?victim=heap%20object_5", "&level=L1d"),
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
    assert status == 200, (path, text)
    return cpu_milliseconds(server.process.pid) - begun, len(text)


def report_milliseconds():
    """CPU time of `nearmiss report`, which reads as much as the overview."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([os.environ["NEARMISS"], "report", "-i", "p.nmp"], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def time_answers(server):
    settle(server)
    print(f"{time_of(server, '/api/p/0/overview?level=L1d')[0]:8.1f}             overview; nearmiss report {report_milliseconds():.1f}")
    for path, other in ASKED:
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
    for rows in map(int, sys.argv[2:] or (100000, 1000000)):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            print(f"\n{rows:,} rows of counts")
            test_view.grow(test_view.make_profile(), rows // 2)
            with test_view.served("p.nmp") as server:
                time_answers(server)
            test_view.nearmiss("view", "--html", "p.html", "p.nmp")
            print(f"--html {os.path.getsize('p.html') / 2**20:.1f} MiB")
            if paints:
                with test_view.served("p.nmp") as server:
                    print("from the server", paint(f"http://127.0.0.1:{server.port}{server.path}"))
                print("from the file", paint("file://" + os.path.abspath("p.html")))


main()
