#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_names.py - what rows are called: lines of the user's code, and objects by the names of the source."""

import json
import os
import re
import shutil

from harness import ENVIRONMENT, NEARMISS, TOP, at, main, nearmiss, need, program, record, rows, run

USERLINES = "tests/programs/userlines.cpp"


def report(*arguments, profile="p.nmp"):
    """The rows of a report as dictionaries."""
    done = nearmiss("report", *arguments, "--format=json", "--limit=0", "-i", profile)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["rows"]


def of_line(found, tag, key="line"):
    return [row for row in found if row["file"] and row["file"].endswith("userlines.cpp") and row[key] == at(USERLINES, tag)]


LINKED = {name: 512 * (k + 1) for k, name in enumerate(
    ("relocated", "data", "more", "zeros", "noughts", "own", "empty", "constant"))}


def reads_by_name(prefix=""):
    found = dict(rows("SELECT object, sum(reads) FROM counts WHERE level = 'L1d' GROUP BY 1"))
    return {name: found.get(prefix + name) for name in LINKED}


def case_variables_have_their_names_with_every_linker():
    """Linkers lay writable data out as one, two or three segments, some from one page of the file."""
    gcc, _ = need("gcc", "ld")
    source = os.path.join(TOP, "tests/programs/linked.c")
    made = 0
    for linker, programs in (("bfd", "ld.bfd"), ("gold", "ld.gold"), ("lld", "ld.lld"), ("mold", "mold")):
        if not shutil.which(programs, path="/usr/bin"):
            continue
        build = [gcc, "-g", "-O1", f"-fuse-ld={linker}", source]
        library = run([*build, "-DLIBRARY", "-fPIC", "-shared", "-o", f"./lib{linker}.so"])
        assert library.returncode == 0, library.stderr
        for options in (["-pie"], ["-no-pie"], ["-static"], ["-static-pie"], ["-Wl,-z,noseparate-code"],
                        ["-Wl,-z,separate-code", "-Wl,-z,max-page-size=65536"], ["-Wl,-z,norelro"],
                        ["-DWITH_LIBRARY", f"./lib{linker}.so"]):
            done = run([*build, *options, "-o", "linked"])
            if done.returncode or run(["./linked"]).returncode:  # gold has no static-pie, and some of mold's die
                continue
            record(["./linked"])
            assert reads_by_name() == LINKED, (linker, options, reads_by_name())
            if "-DWITH_LIBRARY" in options:
                assert reads_by_name("lib_") == LINKED, (linker, reads_by_name("lib_"))
            errno = rows("SELECT sum(reads) FROM counts WHERE level = 'L1d' AND object = 'errno' AND function = 'main'")
            assert errno == [(512,)], (linker, options, errno)
            made += 1
    assert made >= 7, made


def case_inlined_library_code_is_at_the_users_line():
    record([program("userlines")])
    find = of_line(report("lines"), "find")
    assert len(find) == 1 and find[0]["function"] == "main" and find[0]["inner_file"].endswith("stl_tree.h"), find
    assert find[0]["misses"] > 20000, find  # a walk down 14 levels of a tree of 20,000 nodes, of which L1d holds 700
    innermost = report("lines", "--inline=innermost")
    assert not of_line(innermost, "find") or of_line(innermost, "find")[0]["misses"] < find[0]["misses"] / 4
    assert sum(row["misses"] for row in innermost) == sum(row["misses"] for row in report("lines"))
    whole = [row for row in report("lines", "--inline=all") if f"< main (userlines.cpp:{at(USERLINES, 'find')})" in
             (row["function"] or "")]
    assert abs(sum(row["misses"] for row in whole) - find[0]["misses"]) < find[0]["misses"] / 20, whole
    text = nearmiss("report", "pairs", "--limit=0", "--width=0", "-i", "p.nmp").stdout.decode()
    assert f"userlines.cpp:{at(USERLINES, 'find')} (main) < stl_tree.h:" in text, text


def case_destruction_of_a_map_is_at_the_end_of_its_function():
    """_M_erase calls itself; with call chains all of it, and what it frees, is the user's line."""
    record([program("userlines")], "--callgraph")
    found = rows("SELECT function, user_function, user_line, sum(read_misses) FROM context_counts WHERE level = 'L1d' AND "
                 "object LIKE 'table %' AND (function LIKE '%::_M_erase%' OR inlined LIKE '%::_M_erase%') GROUP BY 1, 2, 3")
    assert found and all(row[1:3] == ("main", at(USERLINES, "end")) for row in found), found
    assert sum(row[3] for row in found) > 10000, found
    assert of_line(report("lines"), "end")[0]["misses"] > 10000


def texts_of(profile, shared):
    """Every command that prints tables, and every report."""
    reports = re.findall(r"^  ([a-z]+) ", nearmiss("report", "--help").stdout.decode().split("Reports:\n")[1].split("\n\n")[0],
                         re.MULTILINE)
    yield from (("report", name, profile) for name in reports)
    yield from (("report", profile, "--by=" + keys) for keys in ("process,thread,function,line,object",
                                                                 "type,process,function,line,object"))
    yield from ((name, profile) for name in ("annotate", "timeline", "curve", "evictions"))
    yield from (("sharing", shared), ("sharing", shared, "--by=function"), ("diff", profile, shared), ("machines",), ("doctor",),
                ("evictions", profile, "--victim=*"), ("query", "SELECT * FROM counts", profile))


def case_piped_text_fits():
    """Text that goes through a pipe has 80 columns, or COLUMNS; with -w 0 all of long names and lines."""
    record([program("containers")], "--callgraph", "--distances", "--heap-chains", profile="containers.nmp")
    record([program("sharing"), "10000"], "--cores=4", profile="shared.nmp")
    utf8 = {**ENVIRONMENT, "LC_ALL": "C.UTF-8"}
    printed = 0
    for command in texts_of("containers.nmp", "shared.nmp"):
        for columns, environment in ((80, utf8), (100, {**utf8, "COLUMNS": "100"})):
            done = run([NEARMISS, *command], environment=environment)
            wide = [line for line in done.stdout.decode().splitlines() if len(line) > columns and not line.startswith("/")]
            assert not wide, (command, wide)
        printed += done.returncode == 0
    assert printed > 25, printed
    for command in (("annotate", "containers.cpp"), ("timeline",), ("report", "--by=type,function,line,object"),
                    ("query", "SELECT * FROM counts")):
        whole = run([NEARMISS, *command, "-w", "0", "-i", "containers.nmp"], environment=utf8).stdout.decode()
        assert max(map(len, whole.splitlines())) > 100 and ("…" not in whole or command[0] == "timeline"), command


def case_evictions_have_the_innermost_frames_of_both_lines():
    record([program("userlines")])
    done = nearmiss("evictions", "--victim=*", "--format=json", "--limit=0", "-i", "p.nmp")
    found = json.loads(done.stdout)["rows"]
    inserts = [row for row in of_line(found, "find") if row["victim_line"] == at(USERLINES, "find")]
    assert len(inserts) == 1 and inserts[0]["victim_inner_file"].endswith("stl_tree.h"), inserts
    assert inserts[0]["inner_function"].startswith("std::"), inserts
    assert sum(row["count"] for row in found) == rows("SELECT sum(count) FROM evictions WHERE level = 'L1d'")[0][0]
    text = nearmiss("evictions", "--victim=*", "--width=0", "-i", "p.nmp").stdout.decode()
    place = f"userlines.cpp:{at(USERLINES, 'find')} (main) < stl_tree.h:"
    assert any(line.count(place) == 2 for line in text.splitlines()), text
    header = nearmiss("evictions", "--victim=*", "--inline=innermost", "--format=csv", "-i", "p.nmp").stdout.decode().splitlines()[0]
    assert "victim_line" in header and "inner_file" not in header, header
    shown = nearmiss("annotate", "userlines.cpp", "--width=0", "-i", "p.nmp").stdout.decode()
    assert any("@find" in line and line.split()[0].replace(",", "").isdigit() for line in shown.splitlines()), shown
    exported = nearmiss("export", "folded", "-e", "misses", "-i", "p.nmp").stdout.decode()
    assert f"main;userlines.cpp:{at(USERLINES, 'find')};" in exported, exported
    for view in ("counts", "places", "sites", "evictions"):
        assert rows(f"SELECT 1 FROM {view} WHERE user_line = ? AND file LIKE '%stl_tree.h'", at(USERLINES, "find")), view


def case_arrays_that_are_never_written_are_objects():
    """Also in read-only memory, and without debug information by their symbols."""
    for name, inner in (("unwritten", "main()::inner"), ("unwritten-bare", "inner.%")):
        record([program(name)])
        for array, bytes_each in (("weights", 4), ("primes", 4), (inner, 4), ("zeros", 8)):
            found = rows("SELECT sum(reads), sum(read_misses), max(o.bytes) FROM counts c JOIN objects o USING(process, object) "
                         "WHERE level = 'L1d' AND object LIKE ?", array)
            reads, misses, size = found[0]
            assert size == 8192 * bytes_each and reads and abs(misses - size / 64) <= 2, (name, array, found)


def case_called_library_code_is_at_the_users_call():
    for options in ([], ["--callgraph"]):
        record([program("userlines")], *options)
        copy = of_line(report("pairs", "--object=to"), "copy")
        assert len(copy) == 1 and copy[0]["misses"] >= (4 << 20) / 64, copy
        innermost, chosen = (sum(row["misses"] for row in report("lines", f"--inline={frame}"))
                             for frame in ("innermost", "user"))
        assert innermost == chosen


def case_library_code_is_at_every_kind_of_call():
    """Calls, tail calls, callbacks, signal handlers, jumps out of the library, threads and children."""
    runs = [(program("callers"), options) for options in ([], ["--callgraph"], ["--cores", "2"], ["--asm"])]
    for linker in filter(lambda linker: shutil.which("ld." + linker), ("bfd", "gold", "lld", "mold")):
        for binding in ("lazy", "now"):
            path = os.path.abspath(f"callers-{linker}-{binding}")
            done = run(["gcc", "-g", "-O2", "-pthread", "-fno-builtin", f"-fuse-ld={linker}", f"-Wl,-z,{binding}", "-o", path,
                        os.path.join(TOP, "tests/programs/callers.c")])
            assert done.returncode == 0, done.stderr
            runs.append((path, []))
    for path, options in runs:
        record([path], *options)
        for array in ("plain", "tail", "handled", "after", "threaded", "child", "landed", "found"):
            found = rows("SELECT DISTINCT user_line, user_file LIKE '%/callers.c' FROM counts "
                         "WHERE level = 'L1d' AND object = ? AND function LIKE 'mem%'", array)
            line = at("tests/programs/callers.c", array)
            assert found == [(line, 1)], (path, options, array, found)
        compared, = rows("SELECT user_line, sum(reads) > 20000 FROM counts WHERE level = 'L1d' AND object = 'names' "
                         "AND function = 'strcmp' GROUP BY 1")
        assert compared == (at("tests/programs/callers.c", "compared"), 1), compared
        assert rows("SELECT DISTINCT user_line FROM counts WHERE object = 'items' AND level = 'L1d' AND function LIKE 'msort%'") == \
            [(at("tests/programs/callers.c", "sorted"),)], options


def case_long_chains_have_their_calls():
    record([program("longchains")])
    misses = dict(rows("SELECT coalesce(library, 0), sum(read_misses + write_misses) FROM counts WHERE level = 'L1d' "
                       "AND object LIKE 'words%' GROUP BY 1"))
    assert misses[0] > 10000 and not misses.get(1), misses
    line = at("tests/programs/longchains.cpp", "sorted")
    assert rows("SELECT sum(read_misses + write_misses) > 10000 FROM counts WHERE level = 'L1d' AND user_line = ?", line) == [(1,)]


def case_user_path_tells_whose_code_is_whose():
    record([program("userlines")], "--user-path=/nonexistent:/usr/include")
    own = rows("SELECT count(*) FROM counts WHERE user_file LIKE '%userlines.cpp' AND library IS NULL")[0][0]
    theirs = rows("SELECT count(*) FROM counts WHERE user_file LIKE '%stl_tree.h' AND library IS NULL")[0][0]
    assert own == 0 and theirs > 0, (own, theirs)


def case_code_without_a_source_has_a_name():
    record(["/bin/true"])
    text = nearmiss("report", "functions", "--limit=0", "-i", "p.nmp").stdout.decode()
    assert "?" not in text, text


FAULTS = {  # program -> compiler, its first object
    "hash.c": ("gcc", "entry (hash.c:56)"),
    "list.c": ("gcc", "node (list.c:46)"),
    "blocks.c": ("gcc", "points[i] (blocks.c:33)"),
    "pointers.cpp": ("g++", "world[] (pointers.cpp:"),
    "map.cpp": ("g++", "prices (map.cpp:"),
}


def case_faults_are_named_as_in_the_source():
    for source, (compiler, wanted) in FAULTS.items():
        path = os.path.join(TOP, "examples/faults", source)
        run([need(compiler), "-g", "-O2", path, "-o", "./fault"])
        record(["./fault"], "--callgraph")
        first = report("pairs")[0]
        assert first["object"].startswith(wanted) and (first["file"] or "").endswith(source), (source, first)


def case_destruction_of_globals_is_at_their_declaration():
    for source, name, tag in (("map.cpp", "prices", "std::map<int, double> prices"), ("pointers.cpp", "world", ">> world;")):
        path = os.path.join(TOP, "examples/faults", source)
        run([need("g++"), "-g", "-O2", path, "-o", "./fault"])
        record(["./fault", "2"], "--callgraph")
        with open(path, encoding="utf-8") as text:
            line = next(number for number, written in enumerate(text, 1) if tag in written)
        found = rows("SELECT user_function, user_line, sum(read_misses) FROM context_counts WHERE level = 'L1d' AND "
                     "user_function LIKE 'destruction of %' GROUP BY 1, 2")
        assert [(row[0].rsplit("::", 1)[1], row[1]) for row in found] == [(name, line)] and found[0][2] > 50000, found
        user, misses = rows("SELECT sum(user_file LIKE '%' || ? AND read_misses), sum(read_misses > 0) FROM context_counts "
                            "WHERE level = 'L1d' AND read_misses > 5000", source)[0]
        assert user == misses, (user, misses)


def case_calls_of_one_line_are_objects():
    record([program("assigned")])
    source = "tests/programs/assigned.cpp"
    found = {name.split(" (")[0]: (place.rsplit(":", 1)[1], blocks) for name, place, blocks in
             rows("SELECT object, allocated_at, blocks FROM objects WHERE kind = 'heap' AND object LIKE '%assigned.cpp%'")}
    for name, tag, blocks in (("hot", "pair", 1), ("cold", "pair", 1), ("all.grid", "member", 1), ("nodes[i]", "nodes", 10),
                              ("nodes[i]->next", "nodes", 10), ("Solver::assigns", "push", 9), ("a", "declared", 1),
                              ("Solver::activity", "push", 9), ("b", "declared", 1), ("made", "made", 10),
                              ("made[]", "made", 10), ("handed", "handed", 1)):
        line, count = found[name]
        assert line == str(at(source, tag)) and (count == blocks or name == "made"), (name, found[name])
    record([program("assigned")], "--alloc-fn=hand_out", profile="h.nmp")
    assert rows("SELECT 1 FROM objects WHERE object LIKE 'given (%'", profile="h.nmp")


POOLS = "tests/programs/pools.cpp"


def case_pieces_of_pools_are_objects():
    named = ("--pool-fn=Arena::take", "--pool-fn=Arena::start", "--pool-fn=new_slot=32", "--pool-fn=from_region:2")
    record([program("pools")], *named)
    found = {(name.split(" (")[0], int(place.rsplit(":", 1)[1])): (blocks, size) for name, place, blocks, size in
             rows("SELECT object, allocated_at, blocks, bytes FROM objects WHERE kind = 'heap' AND object LIKE '%pools.cpp%'")}
    for name, tag, blocks, size in (("words[i]", "word", 4000, 32), ("places[i]", "place", 4000, 16), ("first[i]", "slot", 3000, 32),
                                    ("keys[i]", "key", 4000, 64), ("again", "again", 1000, 40), ("after", "after", 1, 1 << 16)):
        assert found[name, at(POOLS, tag)] == (blocks, blocks * size), (name, found)
    misses = dict(rows("SELECT object, sum(read_misses + write_misses) FROM counts WHERE level = 'L1d' AND "
                       "(object LIKE '% (pools.cpp%' OR object = 'slots') GROUP BY 1"))

    def of(start):
        return sum(count for name, count in misses.items() if name.startswith(start))

    assert of("keys[i] (") >= 2 * 4000, misses  # a line of its own for each
    assert 4000 <= of("words[i] (") + of("places[i] (") <= 7000, misses  # 3,000 lines, twice
    assert of("slots") == 0 and of("anonymous") == 0 and of("after (") >= 1024, misses  # words and places ended with the arena
    assert rows("SELECT object, blocks, bytes FROM objects WHERE object LIKE 'pool %'") == [
        (f"pool Arena::start(unsigned long) (pools.cpp:{at(POOLS, 'start')})", 3, 3 << 16)]
    assert of("pool ") < 20, misses


def case_without_pools_blocks_are_whole():
    record([program("pools")])
    assert rows("SELECT blocks, bytes FROM objects WHERE object LIKE 'words[i] (%'") == [(3, 3 << 16)]
    assert not rows("SELECT 1 FROM objects WHERE object LIKE 'places[i] (%'")


def case_pools_that_cannot_be_are_refused():
    for text in ("take:0", "take:7", "take=", ":1", "", "take=0"):
        done = nearmiss("record", f"--pool-fn={text}", "--", "true")
        assert done.returncode == 2 and b"--pool-fn takes NAME" in done.stderr, (text, done)


if __name__ == "__main__":
    main(globals())
