#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""debugger.py NEARMISS TRACE [OPTION...] - how long the debugger of a trace takes for an answer at the server, and its memory.

Jumps to random moments; from each it steps back, runs on to three evictions, and asks of each line that came in who had made it
leave before. Prints milliseconds between request and answer (mean, median, worst): quiet the machine first. Memory is of the
server and all moments together, what they share counted once.
"""

import json
import os
import random
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../tests/e2e"))
JUMPS, EVICTIONS = 25, 3


def processes(server):
    """The server and its moments, which are of its process group."""
    group = subprocess.run(["pgrep", "-g", str(os.getpgid(server.process.pid)), "nearmiss"], capture_output=True, text=True, check=True)
    return group.stdout.split()


def megabytes(server):
    kilobytes = 0
    for process in processes(server):
        with open(f"/proc/{process}/smaps_rollup", encoding="ascii") as f:
            kilobytes += next(int(line.split()[1]) for line in f if line.startswith("Pss:"))
    return kilobytes // 1024


class Timed:
    def __init__(self, server):
        self.server = server
        self.spent = {}

    def ask(self, what, method, path, body=None):
        begun = time.perf_counter()
        status, _, text = self.server.ask(method, path, body and json.dumps(body).encode(), Content_Type="application/json")
        self.spent.setdefault(what, []).append((time.perf_counter() - begun) * 1e3)
        assert status == 200, text
        return json.loads(text)

    def go(self, what, position):
        return self.ask(what, "POST", "/api/d/goto", {"position": position})


def walk(timed, total):
    for _ in range(JUMPS):
        timed.go("jump", random.randrange(1, total))
        timed.ask("step back", "POST", "/api/d/step", {"count": -1})
        for _ in range(EVICTIONS):
            state = timed.ask("next eviction", "POST", "/api/d/run", {"until": "eviction", "limit_ms": 10000})
            for effect in state["effects"]:
                timed.ask("who evicted", "GET", f"/api/d/evicted?level={effect['level']}&address={effect['line']}")


def main():
    os.environ["NEARMISS"] = os.path.abspath(sys.argv[1])
    import test_view  # reads NEARMISS
    random.seed(1)
    with test_view.served(*sys.argv[3:], sys.argv[2]) as server:
        total = server.get("/api/d/session")["total"]
        print(f"{total} references, {len(processes(server))} processes, {megabytes(server)} MB")
        timed = Timed(server)
        walk(timed, total)
        for what, spent in timed.spent.items():
            spent.sort()
            print(f"{what:14} {sum(spent) / len(spent):7.1f} {spent[len(spent) // 2]:7.1f} {spent[-1]:7.1f} ms")


main()
