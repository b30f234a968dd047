#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""search.py - what nearmiss whatif --search finds, beside random orders of the structure and the developer's own.

    bench/search.py [PROGRAM...]        of SEARCHES; all of them by default

Structures of Debian's programs, built from source (rebuilds.py), whose runs are short here: an order is a candidate that is
simulated in full, and there are many. A row has the cycles that misses cost, estimated, as a part of what they cost in the
developer's order, and misses of each level: of that order, of the one found, and of the best and the median of the random ones.
The rank is that of the order found among all: 1 if none costs less. Prints the table of docs/evaluation/whatif.md.
"""

import argparse
import os
import random
import re
import subprocess
import tempfile
from collections import namedtuple

import rebuilds
import run
import whatif

# An input takes the place of the one that rebuilds.py makes.
Search = namedtuple("Search", "program structure members file text")
SEARCHES = [
    Search("lua", "Table", "next tt marked flags lsizenode alimit array node lastfree metatable gclist", "tables.lua",
           "local t, s = {}, 0\nfor i = 1, 1500 do t[i] = { x = i, y = 'n' .. i } end\n"
           "for r = 1, 3 do for i = 1, 1500 do s = s + t[i * 7919 % 1500 + 1].x end end\nprint(s)\n"),
    Search("mujs", "js_Object", "type extensible properties count prototype u gcnext gcroot gcmark", "tree.js",
           "var a = {}, i, r, s = 0;\nfor (i = 0; i < 700; ++i) { a['k' + (i * 7919 % 700)] = { id: i, name: 'n' + i }; }\n"
           "for (r = 0; r < 2; ++r) for (i = 0; i < 700; ++i) s += a['k' + (i * 5077 % 700)].id;\nprint(s);\n"),
    Search("diffstat", "_data", "link name copy base cmt pending chunks chunk count", "changes",
           "".join(f"--- a/src/{i * 7919 % 10**6}.c\n+++ b/src/{i * 7919 % 10**6}.c\n@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n"
                   for i in range(1, 400))),
    Search("tree", "_info", "name lnk isdir issok isfifo isexe orphan mode lnkmode uid gid size atime ctime mtime dev ldev inode "
           "linode err tag comment child next tchild", "paths",
           "".join(f"d{i * 7919 % 61}/e{i * 5077 % 7}/f{i * 3301 % 1009}\n" for i in range(1, 1500))),
]


def found_order(options, structure):
    """The best order that the search finds, as a candidate; None: none costs less than the developer's."""
    done = subprocess.run([options.nearmiss, "whatif", "-q", "t.nmt", "-m", options.machine, "--relocate", "0", "--width=0",
                           "--search", structure], capture_output=True, text=True, check=True)
    best = re.search(r"^best order: ([A-Z])", done.stdout, re.M)
    return best and re.search(rf"^{best[1]} +(reorder .*?)  ", done.stdout, re.M)[1]


def show(search, what, levels, cost):
    print(f"|`{search.program}`, `{search.structure}`|{what}|{cost:.4f}|"
          f"{'|'.join(f'{misses:,}' for misses, _, _ in levels.values())}|", flush=True)


def compare(options, search):
    program = next(p for p in rebuilds.PROGRAMS if p.name == search.program)
    rebuilds.build(program, rebuilds.fetch(program, os.getcwd()), os.path.abspath("before"))
    with open(search.file, "w", encoding="ascii") as f:
        f.write(search.text)
    whatif.record(options, ["./before", *program.arguments], "--trace", "t.nmt")
    draw, members = random.Random(1), search.members.split()
    found = found_order(options, search.structure)
    orders = [", ".join(draw.sample(members, len(members))) for _ in range(options.orders)]
    table = whatif.predict(options, [f"reorder {search.structure}: {order}" for order in orders] + ([found] if found else []))
    own = {row["level"]: (int(row["misses"]), 0, 0) for row in whatif.rows_of(
        options.nearmiss, "report", "--by", "level", "-f", "csv", "-n", "0", "kept-a.nmp") if "/" not in row["level"]}, 1.0
    drawn, best = sorted(table[:options.orders], key=lambda row: row[1]), table[-1] if found else own
    show(search, "the developer's", *own)
    show(search, f"found: rank {1 + sum(cost < best[1] for _, cost in [own, *drawn])}", *best)
    show(search, "best random", *drawn[0])
    show(search, "median random", *drawn[len(drawn) // 2])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nearmiss", default=os.path.join(run.TOP, "build/src/cli/nearmiss"))
    parser.add_argument("--machine", default="zen3")
    parser.add_argument("--orders", type=int, default=100, help="random ones")
    parser.add_argument("program", nargs="*")
    options = parser.parse_args()
    options.nearmiss, options.relocate = os.path.abspath(options.nearmiss), "0"
    print("|program, structure|order|cycles|L1d|L2|L3|\n|---|---|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        rebuilds.write_inputs(folder)
        for search in SEARCHES:
            if not options.program or search.program in options.program:
                compare(options, search)


if __name__ == "__main__":
    main()
