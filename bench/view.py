#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""view.py NEARMISS [ROWS] - how long `nearmiss view` takes for its answers about a profile of so many rows of counts (100000).

Prints, for each answer, the CPU time of the server in milliseconds, the first time and again, and the bytes of the answer. CPU
time and not wall time, so that a busy machine does not matter.
"""

import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../tests/e2e"))

PATHS = ("session", "p/0/overview", "p/0/table?by=object&limit=200", "p/0/table?by=object,file,line&limit=200",
         "p/0/table?by=object,file,line&filter=99&sort=waste&limit=200", "p/0/tree?by=object,function&nodes=400", "p/0/sources",
         "p/0/source?file=/src/file_5.c", "p/0/line?file=/src/file_5.c&line=5", "p/0/evictions",
         "p/0/evictions/lines?victim=heap%20object_5")


def cpu_milliseconds(process):
    with open(f"/proc/{process}/stat", encoding="ascii") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1000 // os.sysconf("SC_CLK_TCK")


def main():
    os.environ["NEARMISS"] = os.path.abspath(sys.argv[1])
    rows = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
    import test_view  # reads NEARMISS
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        test_view.grow(test_view.make_profile(), rows // 2)
        with test_view.served("p.nmp") as server:
            for path in PATHS:
                spent = []
                for _ in range(2):
                    begun = cpu_milliseconds(server.process.pid)
                    status, _, text = server.ask("GET", "/api/" + path)
                    spent.append(cpu_milliseconds(server.process.pid) - begun)
                    assert status == 200, (path, text)
                print(f"{spent[0]:6} {spent[1]:6} ms {len(text):9,} bytes  {path}")


main()
