# SPDX-License-Identifier: MIT
"""test_debug_traces.py - the debugger of traces: its sums at the end are those of `nearmiss replay`, and every moment is the same
however one came there."""

import base64
import collections
import json
import os
import random
import re
import zlib

from harness import SPEC, TOP, Skip, main, nearmiss, program, record, rows
from test_view import post, served

SUMS = ("references", "misses", "cold", "capacity", "conflict", "coherence", "evictions")
QUERY = ("SELECT {}, sum(reads + writes), sum(read_misses + write_misses), sum(cold), sum(capacity), sum(conflict),"
         " sum(coherence), sum(evictions) FROM counts WHERE level = ? GROUP BY {}")
KEYS = {"object": "object", "reference": "coalesce(user_function, module), user_file, coalesce(user_line, 0), object, thread"}
MOST_ROWS = 1000
NOT_MEASURED = "<not measured>"


def replayed(by, level):
    """Sums of the profile by key, without what is all 0."""
    width = KEYS[by].count(",") + 1 - KEYS[by].count("module") - KEYS[by].count(", 0)")
    found = {row[:width]: row[width:] for row in rows(QUERY.format(KEYS[by], KEYS[by]), level)}
    return {key: sums for key, sums in found.items() if any(sums) and NOT_MEASURED not in key}


def debugged(server, by, **level):
    answer = server.get("/api/d/statistics", by=by, **level)
    at = [answer["columns"].index(name) for name in SUMS]
    assert answer["total_rows"] <= MOST_ROWS or by == "reference"

    def key(name):
        return (name,) if by == "object" else tuple(name[part] for part in ("function", "file", "line", "object", "thread"))
    return {key(row[0]): tuple(row[i] for i in at) for row in answer["rows"]
            if any(row[i] for i in at) and NOT_MEASURED not in key(row[0])}


def end_equals_replay(trace, *options):
    """The sums of each object and reference at each level of each cache."""
    done = nearmiss("replay", "-q", "-o", "p.nmp", *options, trace)
    assert done.returncode == 0, done.stderr
    with served(*options, trace) as s:
        session = s.get("/api/d/session")
        assert session["kind"] == "trace" and session["total"] > 0
        post(s, "/api/d/goto", {"position": session["total"]})
        for number, cache in enumerate(session["caches"]):
            for level in cache["levels"]:
                name = level["level"] if not number else f"{cache['name']}/{level['level']}"
                for by in KEYS:
                    want, got = replayed(by, name), debugged(s, by, cache=number, level=level["level"])
                    wrong = [(key, want.get(key), sums) for key, sums in got.items() if want.get(key) != sums]
                    assert want and not wrong, (name, by, wrong[:3])
                    assert len(got) == len(want) or len(got) == MOST_ROWS, (name, by)


def case_ends_as_replay_does():
    record([program("fields")], "--trace", "t.nmt")
    end_equals_replay("t.nmt", "--cache", SPEC)
    end_equals_replay("t.nmt", "--cache", "L1d=8K,4,64,prefetch=stride:L2=64K,8,64,policy=tree-plru", "--cache",
                      "L1d=4K,1,32,write=through:L2=32K,4,128,inclusion=inclusive")


def case_plug_in_in_lock_step():
    plugin = program("mersenne.so")
    record([program("fields")], "--trace", "t.nmt")
    end_equals_replay("t.nmt", "--cache", "L1d=4K,4,64", "--cache", f"L1d=8K,1,32,sets=253,plugin={plugin}")


def case_pages_of_a_program():
    """TLBs know which memory can have huge pages, as it comes and goes."""
    record([program("mappings")], "--trace", "t.nmt")
    end_equals_replay("t.nmt", "--cache", "L1d=64K,4,4K,pages=4K+2M,huge=2M")


def case_memory_of_many_objects():
    """Where a program has more objects than there is room for, those are shown that most cached lines were loaded for."""
    record(["sort", os.path.join(TOP, "README.md")], "--trace", "t.nmt")
    with served("--cache", "L1d=4K,4,64", "t.nmt") as s:
        session = s.get("/api/d/session")
        post(s, "/api/d/goto", {"position": session["total"] // 2})
        lines = collections.Counter(slot["object"] for slot in s.get("/api/d/grid")["slots"] if slot)
        memory = s.get("/api/d/memory", bands=5)
        referenced = [o for o in session["objects"] if o["end"]]
        assert len(referenced) > 40 and memory["rest"] == len(referenced) - 5
        assert [lines[band["object"]] for band in memory["bands"]] == [count for _, count in lines.most_common(5)]
        every = s.get("/api/d/memory", bands=200)["bands"]
        assert len(referenced) > 200 or {band["object"] for band in every} == {o["name"] for o in referenced}
        assert all(sum(band["cached"]) == lines[band["object"]] for band in every if band["scattered"])


def case_threads_on_cores():
    record([program("sharing")], "--trace", "t.nmt")
    end_equals_replay("t.nmt", "--cores", "2", "--cache", SPEC)
    end_equals_replay("t.nmt", "--cores", "2", "--quantum", "7", "--schedule", "random:3", "--cache",
                      "L1d=4K,2,64,protocol=moesi")


def case_measuring_off():
    """What is not measured moves lines and is in no sum; whom it evicts is."""
    record([program("quiet")], "--trace", "t.nmt")
    end_equals_replay("t.nmt", "--cache", "L1d=4K,2,64:L2=64K,8,64")


def case_evictions_while_measuring_is_off():
    """Who evicted a line is said whether or not the evictor is measured."""
    record([program("annotated")], "--trace", "t.nmt")
    with served("--cache", "L1d=1K,2,64", "t.nmt") as s:
        total = s.get("/api/d/session")["total"]
        states = [post(s, "/api/d/goto", {"position": at}) for at in range(total - 3000, total)]
        quiet = [(state, effect) for state in states for effect in state["effects"]
                 if not state["reference"]["measured"] and effect["evicted"]]
        assert quiet
        for state, effect in quiet[::100]:
            post(s, "/api/d/goto", {"position": state["position"]})
            found = s.get("/api/d/evicted", address=effect["evicted"]["line"])
            assert (found["is"], found["evicted_at"], found["evicted"]) == ("evicted", state["position"], effect["evicted"]), found


def case_traces_of_other_tools():
    for name in ("list.lackey", "list.din", "list.csv", "walk.champsim.xz"):
        end_equals_replay(os.path.join(TOP, "tests/data/import", name), "--cache", "L1d=1K,2,64")


def case_slices():
    """A slice begins with empty caches, and its references are those of the whole trace."""
    record([program("fields")], "--trace", "t.nmt")
    with served("--cache", SPEC, "t.nmt") as s:
        whole = [post(s, "/api/d/goto", {"position": at})["reference"] for at in (5000, 5001, 5999)]
    with served("--cache", SPEC, "--from", "5000", "--to", "5999", "t.nmt") as s:
        session = s.get("/api/d/session")
        assert (session["first"], session["total"]) == (5000, 1000)
        assert [post(s, "/api/d/goto", {"position": at})["reference"] for at in (1, 2, 1000)] == whole
    done = nearmiss("view", "--no-browser", "--cache", SPEC, "--from", "999999999", "t.nmt")
    assert done.returncode and b"has no references" in done.stderr, done


def case_processes():
    """One of them is debugged: that with most references, or the one that is named."""
    record([program("processes")], "--trace", "t.nmt")
    totals = []
    for options in ([], ["--process", "1"], ["--process", "2"]):
        with served("--cache", SPEC, *options, "t.nmt") as s:
            totals.append(s.get("/api/d/session")["total"])
    assert totals[0] == max(totals) and totals[1] != totals[2], totals
    done = nearmiss("view", "--no-browser", "--cache", SPEC, "--process", "99", "t.nmt")
    assert done.returncode and b"processes" in done.stderr, done


def case_back_to_the_same_moment():
    record([program("sharing")], "--trace", "t.nmt")
    with served("--cores", "2", "--cache", "L1d=4K,2,64:L2=64K,8,64", "t.nmt") as s:
        total = s.get("/api/d/session")["total"]

        def moment(at):
            return [post(s, "/api/d/goto", {"position": at}), *(s.get("/api/d/grid", core=core, level="L1d") for core in (0, 1)),
                    s.get("/api/d/grid", level="L2"), s.get("/api/d/statistics", by="set")]
        places = [total * part // 7 for part in range(8)]
        first = [moment(at) for at in places]
        assert [moment(at) for at in reversed(places)] == first[::-1]


def case_damaged_trace():
    record([program("sharing")], "--trace", "t.nmt")
    with open("t.nmt", "rb") as f:
        head = f.read(os.path.getsize("t.nmt") * 3 // 4)
    with open("cut.nmt", "wb") as f:
        f.write(head)
    with served("--cache", SPEC, "cut.nmt") as s:
        assert s.get("/api/d/session")["total"] > 0


def case_plugin_in_a_file():
    """A page has no shared objects: the file is refused with the level's name, and nothing is written."""
    with open("t.csv", "w", encoding="utf-8") as f:
        f.write("addr,rw,size\n4096,r,8\n")
    done = nearmiss("export", "html", "-o", "page.html", "--cache", f"L1d=8K,1,32,sets=253,plugin={program('mersenne.so')}", "t.csv")
    if b"without its pages" in done.stderr:
        raise Skip("built without its pages")
    assert done.returncode == 125 and b"plug-in of L1d" in done.stderr, done
    assert not os.path.exists("page.html")


main(dict(globals()))
