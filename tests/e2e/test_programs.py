# SPDX-License-Identifier: MIT
"""test_programs.py - small programs whose counts follow from their text: objects, lines, misses."""

import json
import os
import re
import sqlite3

from harness import MISSES, SPEC, TOP, Cell, at, main, nearmiss, program, record, rows

MATRIX = "examples/matrix.c"
SOURCES = "tests/programs/"


def check_rows(name):
    record([program(name), "rows"])
    cell = Cell(MATRIX, "row", "matrix")
    # The last of the 62,500 lines was loaded before by the store to the last element, so it is not cold.
    cell.expect(reads=1000000, writes=0, read_misses=(62499, 62500), loads=(62499, 62500), cold=62499)
    cell.expect(reuse=16 * cell.loads, used_bytes=64 * cell.loads, loaded_bytes=64 * cell.loads)


def check_columns(name):
    record([program(name), "columns"])
    cell = Cell(MATRIX, "column", "matrix")
    cell.expect(reads=1000000, read_misses=(999000, 1000000), cold=62499, capacity=(900000, 937501))
    cell.expect(reuse=(cell.loads, int(cell.loads * 1.01)), used_bytes=(4 * cell.loads, int(4.04 * cell.loads)))
    assert cell.loads == cell.cold + cell.capacity + cell.conflict


def case_matrix_rows():
    check_rows("matrix")


def case_matrix_columns():
    check_columns("matrix")
    assert rows("SELECT kind, bytes FROM objects WHERE object = 'matrix'") == [("static", 4000000)]
    found = rows("SELECT DISTINCT function FROM counts WHERE line = ? AND file LIKE '%matrix.c'", at(MATRIX, "column"))
    assert found == [("sum_columns",)], found


def case_matrix_clang():
    check_columns("matrix-clang")


def case_matrix_static():
    check_columns("matrix-static")


def case_matrix_without_debug_information():
    record([program("matrix-bare"), "columns"])
    found = rows("SELECT sum(reads), sum(read_misses) FROM counts WHERE level = 'L1d' AND object = 'matrix' "
                 "AND function = 'sum_columns'")
    assert found[0][0] == 1000000 and found[0][1] >= 999000, found


def case_matrix_stripped():
    record([program("matrix-stripped"), "columns"])
    found = rows(f"SELECT sum(reads), {MISSES} FROM counts WHERE level = 'L1d'")
    assert found[0][0] > 1000000 and found[0][1] >= 999000, found
    report = nearmiss("report", "-i", "p.nmp").stdout.decode()
    assert "matrix-stripped" in report, report


def case_second_level():
    record([program("matrix"), "columns"])
    found = rows("SELECT sum(loads) FROM counts WHERE level = 'L2' AND line = ? AND object = 'matrix'",
                 at(MATRIX, "column"))
    # 1000 lines come between two uses: 64,000 bytes stay in 1 MiB, so a line is loaded once for its 16 columns.
    assert 62499 <= found[0][0] <= 64000, found
    levels = {row[0]: row[1:] for row in rows("SELECT level, reads + writes, loads FROM levels")}
    assert levels["L2"][0] == levels["L1d"][1], levels


def case_cache_models():
    """Levels work as their keys say, in one run."""
    done = nearmiss("record", "-q", "-o", "p.nmp", "--cache", "L1d=32K,8,64,write=through,allocate=no:"
                    "L2=256K,8,64,policy=srrip,index=xor:L3=1M,16,64,policy=fifo,inclusion=exclusive", "--",
                    program("matrix"), "columns")
    assert done.returncode == 0, done
    levels = {row[0]: row[1:] for row in rows(
        "SELECT level, policy, reads, writes, read_misses, write_misses, loads, writebacks FROM levels")}
    assert [levels[name][0] for name in ("L1d", "L2", "L3")] == ["lru", "srrip", "fifo"], levels
    assert levels["L1d"][6] == 0, levels
    # Fills are all for reads, and each write goes through, once for each line that it touches.
    assert levels["L2"][1] == levels["L1d"][5], levels
    assert levels["L1d"][2] <= levels["L2"][2] <= levels["L1d"][2] * 1.01, levels
    assert levels["L3"][1] + levels["L3"][2] == levels["L2"][5], levels
    # 4 MB in columns: what two levels hold together does not help them.
    assert levels["L3"][5] == levels["L3"][3] + levels["L3"][4] >= 62500, levels


def case_tlb():
    """Pages are lines of a machine of their own: 1000 rows of 4000 bytes lie in 977 pages or one more."""
    record([program("matrix"), "columns"], "--cache", "L1d=32K,8,64:tlb/L1=256K,4,4096:tlb/L2=6M,12,4096")
    found = {row[0]: row[1:] for row in rows(
        "SELECT level, sum(loads), sum(cold) FROM counts WHERE line = ? AND object = 'matrix' GROUP BY level",
        at(MATRIX, "column"))}
    assert 976 * 1000 <= found["tlb/L1"][0] <= 978 * 1000, found
    assert "tlb/L2" not in found or found["tlb/L2"][0] <= 978, found
    assert found["L1d"][0] > found["tlb/L1"][0], found


def case_huge_pages():
    """A TLB beside the same with huge pages: nothing is lost between its arrays, a page of 2M costs one miss, and the
    small pages of files and the stack stay; in each number of threads, and in a replay."""
    command = [program("matrix"), "columns"]
    tlb = "L1d=256K,4,4K,pages=4K:L1Md=64M,4,2M,pages=2M:L2=512K,8,4K,pages=4K+2M"
    options = ("--cache", tlb, "--huge-pages", "2M", "--machine", "skylake")
    record(command, "--threads", "1", "--trace", "t.nmt", *options)
    levels = {level: row for level, *row in rows(
        "SELECT level, reads + writes, loads, cold, pages, huge_pages FROM levels")}
    assert levels["SPEC/L1d"][0] == levels["L1d"][0] and levels["SPEC/L1Md"][0] == 0, levels
    assert levels["SPEC-2M/L1d"][0] + levels["SPEC-2M/L1Md"][0] == levels["L1d"][0], levels
    assert levels["SPEC-2M/L1Md"][0] > 400000 and levels["SPEC-2M/L1Md"][1] == levels["SPEC-2M/L1Md"][2] < 3, levels
    assert levels["SPEC-2M/L2"][3:] == ["4K+2M", "2M"] and levels["L1d"][3:] == [None, None], levels
    for level, (refs, loads, *_) in levels.items():
        sums = rows("SELECT ifnull(sum(reads + writes), 0), ifnull(sum(loads), 0) FROM counts WHERE level = ?", level)
        assert sums == [(refs, loads)], (level, sums)
    summary = nearmiss("report", "-i", "p.nmp").stdout.decode()
    assert "huge pages of 2M would save" in summary and "of matrix" in summary, summary
    pairs = nearmiss("report", "pairs", "-i", "p.nmp", "--level", "SPEC/L2", "--columns", "cause").stdout.decode()
    assert re.match(r"object.*\nmatrix .* pages\n", pairs), pairs
    for threads in ("1", "2"):
        done = nearmiss("replay", "-q", "-o", "r.nmp", "--threads", threads, *options, "t.nmt")
        assert done.returncode == 0, done
        for view in ("levels", "counts", "evictions"):
            assert rows(f"SELECT * FROM {view}") == rows(f"SELECT * FROM {view}", profile="r.nmp"), view


def case_pages_that_are_asked_for():
    """madvise: 8M with huge pages take 4 entries of 2M in every machine with a place for them, 8M that refuse them 2048 of 4K
    where huge pages are used, and what nothing was said of the machine decides."""
    tlb = "L1d=64K,4,4K,pages=4K:L1Md=64M,4,2M,pages=2M:L2=4M,8,4K,pages=4K+2M"
    options = ("--cache", tlb, "--huge-pages", "2M")
    record([program("pages")], "-q", "--trace", "t.nmt", *options)
    def loads():
        return {(level, tag): rows("SELECT ifnull(sum(loads), 0) FROM counts WHERE level = ? AND line = ?", level,
                                   at(SOURCES + "pages.c", tag))[0][0]
                for level in ("L1d", "L1Md", "SPEC-2M/L1d", "SPEC-2M/L1Md") for tag in ("asked", "refused", "usual")}
    def expect(small, large, prefix, tag):
        got = known[prefix + "L1d", tag], known[prefix + "L1Md", tag]
        assert small[0] <= got[0] <= small[1] and large[0] <= got[1] <= large[1], (prefix, tag, got)
    known = loads()
    for prefix in ("", "SPEC-2M/"):
        expect((0, 3), (4, 4), prefix, "asked")
        expect((2048, 2051), (0, 0), prefix, "refused")
    expect((2048, 2051), (0, 0), "", "usual")
    expect((0, 3), (4, 4), "SPEC-2M/", "usual")
    done = nearmiss("replay", "-q", "-o", "p.nmp", *options, "t.nmt")
    assert done.returncode == 0 and loads() == known, done


def figures(profile, prefix=""):
    """All that a profile says of the machine whose levels have this prefix, the prefix taken off."""
    found = []
    for table, order in (("levels", "position"), ("counts", "level, function, file, line, object, thread")):
        with sqlite3.connect(f"file:{profile}?mode=ro", uri=True) as db:
            db.row_factory = sqlite3.Row
            for row in db.execute(f"SELECT * FROM {table} ORDER BY {order}"):
                level = row["level"]
                if level.rpartition("/")[0] == prefix.rstrip("/"):
                    # What is covered is told of the first machine alone.
                    found.append({**row, "level": level[len(prefix):], "position": None, "covered": None, "dependent": None,
                                  "page_walks": None})
        db.close()
    return found


def case_machines_side_by_side():
    """One run of several machines gives the counts of separate runs."""
    write = "L1d=16K,4,32,policy=fifo:L2=128K,8,64,inclusion=inclusive"
    with open("mine.machine", "w", encoding="ascii") as f:
        f.write("# a machine of mine\nmachine mine\nsource invented\n\nL1d = 16K, 4, 32, policy=fifo  # small\n"
                "L2 = 128K, 8, 64, inclusion=inclusive\n")
    record([program("matrix"), "columns"], "--machine", "pentium-m,zen3", "--machine", "mine.machine", "--cache",
           "L1d=1K,1,64", "--cache", "@mine.machine", profile="all.nmp")
    with_name = {"": ["--machine", "pentium-m"], "zen3/": ["--machine", "zen3"], "mine/": ["--cache", write],
                 "2/": ["--cache", "L1d=1K,1,64"], "3/": ["--cache", write]}
    for prefix, options in with_name.items():
        record([program("matrix"), "columns"], *options, profile="one.nmp")
        one, among = figures("one.nmp"), figures("all.nmp", prefix)
        assert one and one == among, (prefix, len(one), len(among))
    info = dict(rows("SELECT key, value FROM info", profile="all.nmp"))
    assert info["machine"] == "pentium-m, zen3, mine, 2, 3", info
    listed = report("report", "levels", profile="all.nmp")
    assert [row["level"] for row in listed][:4] == ["L1d", "L2", "zen3/L1d", "zen3/L2"], listed
    ranked = report("report", "pairs", "--level", "zen3/L1d", profile="all.nmp")
    assert ranked and ranked[0]["object"] == "matrix", ranked
    # The cost of a miss depends only on the machine's own levels; what is covered is told of the first machine alone.
    record([program("matrix"), "columns"], "--cache", "L1d=32K,8,64:L2=512K,8,64,latency=12:L3=32M,16,64,latency=47",
           profile="one.nmp")
    assert report("report", "pairs", profile="one.nmp")[0]["cycles"] == ranked[0]["cycles"]


def report(*arguments, profile="p.nmp"):
    """The rows of a report, as dictionaries."""
    done = nearmiss(*arguments, "-i", profile, "--format", "json")
    assert done.returncode == 0, done
    return json.loads(done.stdout)["rows"]


def case_causes():
    """The first row of programs with one known fault names it."""
    for arguments, cause in ((("matrix", "columns"), "across rows"), (("matrix", "rows"), "first touch"),
                             (("list",), "unused fields"), (("common",), "row length")):
        record([program(arguments[0]), *arguments[1:]])
        first = report("report", "pairs", "--limit", "1")[0]
        assert first["cause"] == cause, (arguments, first)
        assert len(first["try"]) > 40, first


def case_evictions():
    """The matrix sums to the level's evictions, and a pair of objects to the evictions of its lines."""
    record([program("containers")])
    for level in ("L1d", "L2"):
        lines = rows("SELECT evictions FROM levels WHERE level = ?", level)[0][0]
        assert sum(row["count"] for row in report("evictions", "--level", level, "--limit", "0")) == lines > 0
        victim = report("evictions", "--level", level, "--limit", "1")
        assert abs(sum(row["share_of_victim"] for row in victim) - 100) < 1e-6, victim
        name = victim[0]["victim"]
        lost = report("evictions", "--level", level, "--limit", "0", "--victim", name)
        assert sum(row["count"] for row in lost) == sum(row["count"] for row in victim)
        assert sum(row["count"] for row in lost) == rows(
            "SELECT sum(evictions) FROM counts WHERE level = ? AND object = ?", level, name)[0][0]


def case_parts_are_sums():
    """Functions of an object, objects of a function, and any keys add up to the same misses."""
    record([program("containers")])
    name = report("report", "objects", "--limit", "1")[0]
    functions = report("report", "functions", "--object", name["object"], "--limit", "0")
    for figure in ("misses", "references", "loads", "cycles", "wasted_bytes"):
        assert sum(row[figure] for row in functions) == name[figure], figure
    whole = report("report", "--by", "process")[0]
    for keys in ("function,file", "line", "object,thread", "type"):
        parts = report("report", "--by", keys, "--limit", "0")
        for figure in ("misses", "cycles"):
            assert sum(row[figure] for row in parts) == whole[figure], (keys, figure)
    served = dict(rows("SELECT level, reads + writes - read_misses - write_misses FROM levels"))
    memory = rows("SELECT read_misses + write_misses FROM levels WHERE level = 'L2'")[0][0]
    assert whole["cycles"] == 14 * served["L2"] + 200 * memory, whole
    record([program("containers")], "--cache", "L1d=32K,8,64:L2=1M,16,64,latency=10:memory=100")
    whole = report("report", "--by", "process")[0]
    assert whole["cycles"] == 10 * served["L2"] + 100 * memory, whole


def case_levels_are_sums_of_counts():
    record([program("containers")])
    columns = "reads writes read_misses write_misses cold capacity conflict loads evictions".split()
    for level in ("L1d", "L2"):
        sums = rows("SELECT " + ", ".join(f"sum({c})" for c in columns) + " FROM counts WHERE level = ?", level)
        totals = rows("SELECT " + ", ".join(columns) + " FROM levels WHERE level = ?", level)
        assert sums == totals, (sums, totals)
        total = dict(zip(columns, totals[0]))
        assert total["cold"] + total["capacity"] + total["conflict"] == total["loads"], total
        assert total["evictions"] <= total["loads"], total


def case_allocation_wrappers():
    record([program("list")])
    source = SOURCES + "list.c"
    # The newest nodes are still in the cache when the first walk starts.
    Cell(source, "value", "node (list.c:%").expect(reads=160000, read_misses=(159400, 160000))
    found = rows("SELECT object, blocks, bytes, allocated_at FROM objects WHERE kind = 'heap' "
                 "ORDER BY blocks DESC LIMIT 1")[0]
    assert found[1] == 20000 and 1280000 <= found[2] <= 1440000, found
    assert found[0].startswith("node (list.c:"), found
    assert found[3].endswith(f"list.c:{at(source, 'allocation')}"), found


def case_inlined_allocation_wrappers():
    record([program("inlined")])
    source = SOURCES + "inlined.c"
    found = dict(rows("SELECT object, blocks FROM objects WHERE kind = 'heap' AND blocks >= 100"))
    assert found == {f"p (inlined.c:{at(source, 'point')})": 100,
                     f"l (inlined.c:{at(source, 'line')})": 100,
                     f"leaf (inlined.c:{at(source, 'leaf')})": 200}, found


def case_buckets():
    """Blocks are those of the line that asked for them, whatever wrappers are between it and malloc."""
    record([program("buckets")])
    with open(os.path.join(TOP, SOURCES, "buckets.cpp"), encoding="utf-8") as f:
        text = f.read().splitlines()
    begins = {n: match.group(1) for n, line in enumerate(text, 1) if (match := re.match(r"\w.*?(\w+)\([^;]*\)$", line))}
    blocks, objects = {}, {}
    for name, count, place in rows("SELECT object, blocks, allocated_at FROM objects WHERE kind = 'heap' AND "
                                   "object LIKE '%buckets.cpp%'"):
        function = begins[max(n for n in begins if n < int(place.rsplit(":", 1)[1]))]
        blocks[function] = blocks.get(function, 0) + count
        objects.setdefault(function, []).append(name)
    for function, least in (("pushed", 12), ("queued", 20), ("listed", 200), ("mapped", 200), ("shared", 1),
                            ("written", 5), ("duplicated", 1), ("read_lines", 3), ("wrapped", 2), ("cleared", 3),
                            ("grown", 3), ("main", 11)):
        assert least <= blocks.pop(function, 0), (function, blocks)
    assert not blocks, blocks
    for function, inside in (("cleared", "%memset%"), ("grown", "%mem%cpy%")):
        found = sum(rows("SELECT coalesce(sum(write_misses), 0) FROM counts WHERE level = 'L1d' AND object = ? AND "
                         "function LIKE ?", name, inside)[0][0] for name in objects[function])
        assert found and found >= 900, (function, found)


def case_mappings():
    """Memory outside the allocator has the name of the variable that keeps it, and its type."""
    record([program("mappings"), "mapped-file"])
    source = SOURCES + "mappings.c"
    Cell(source, "extended", "p (mappings.c:%").expect(writes=4096, write_misses=4096, cold=4096)
    Cell(source, "mapped", "p (mappings.c:%").expect(writes=4096, write_misses=4096, cold=4096)
    Cell(source, "file", "mapped %/mapped-file").expect(reads=4096, read_misses=4096, cold=4096)
    Cell(source, "slots", "slots (mappings.c:%").expect(writes=4096, write_misses=4096, cold=4096)
    assert rows("SELECT type FROM objects WHERE object LIKE 'slots (%'") == [("slot[]",)]
    assert rows("SELECT field, writes FROM field_counts WHERE level = 'L1d' AND object LIKE 'slots (%' AND field IS NOT NULL") \
        == [("count", 4096)]


def check_variables(name):
    record([program(name)])
    source = SOURCES + "variables.c"
    for tag, name_like in (("particles", "particles"), ("static", "file_static"), ("bins", "%bins%"),
                           ("thread_local", "per_thread"), ("constants", "constants")):
        Cell(source, tag, name_like).expect(reads=2048, read_misses=2048, loads=2048)
    Cell(source, "bins", "%bins%").expect(writes=2048, write_misses=0)
    Cell(source, "stack", "%walk_stack%").expect(writes=2048, write_misses=2048)
    kinds = dict(rows("SELECT object, kind FROM objects WHERE object IN ('particles', 'file_static', 'per_thread')"))
    assert kinds == {"particles": "global", "file_static": "static", "per_thread": "thread-local"}, kinds
    types = dict(rows("SELECT object, type FROM objects WHERE object IN ('particles', 'constants')"))
    assert "struct particle" in types["particles"] and "int" in types["constants"], types


def case_variables():
    check_variables("variables")


def case_variables_clang():
    check_variables("variables-clang")


def case_variables_without_pie():
    check_variables("variables-nopie")


def case_containers():
    record([program("containers")])
    source = SOURCES + "containers.cpp"
    with open(__file__.rsplit("/", 2)[0] + "/programs/containers.cpp", encoding="utf-8") as f:
        declared = next(n for n, line in enumerate(f, 1) if "std::vector<int> v(" in line)
    found = rows(f"SELECT object, sum(reads), {MISSES} FROM counts WHERE level = 'L1d' AND line = ? "
                 "GROUP BY object ORDER BY 3 DESC LIMIT 1", at(source, "vector"))[0]
    assert found[1] >= 250000 and 62500 <= found[2] <= 62502, found
    allocated = rows("SELECT allocated_at FROM objects WHERE object = ?", found[0])[0][0]
    assert allocated.endswith(f"containers.cpp:{declared}"), (allocated, declared)
    assert 49000 <= Cell(source, "table").read_misses <= 50001
    names = [row[0] for row in rows("SELECT DISTINCT function FROM counts")]
    assert any(name and re.search(r"shop::catalogue<int, long, .*>::fill", name) for name in names), names


def case_long_names_keep_the_columns():
    record([program("containers")])
    for what in ("pairs", "lines", "objects", "functions"):
        for width in (120, 160):  # what stands in brackets, "(file:line)", is never cut and may hang over
            done = nearmiss("report", what, "-i", "p.nmp", "--width", str(width))
            assert done.returncode == 0, done.stderr
            widest = max(map(len, done.stdout.decode().splitlines()))
            assert widest <= width + 20, f"report {what} --width {width} is {widest} columns wide"


def case_threads():
    record([program("threads")])
    source = SOURCES + "threads.cpp"
    for thread in (2, 3):
        where = f"thread = {thread}"
        Cell(source, "table", "table", where).expect(reads=4096, read_misses=4096, cold=4096)
        Cell(source, "scratch", "scratch", where).expect(reads=4096, writes=4096, read_misses=4096)
    Cell(source, "table", "table", "thread = 1").expect(reads=0)


def case_fortran():
    record([program("common")])
    source = SOURCES + "common.f90"
    Cell(source, "pressure", "%pressure%").expect(reads=131072, read_misses=16384, cold=16384)
    Cell(source, "energy", "%energy%").expect(writes=131072, write_misses=16384, cold=16384)
    # Down a row of 256 columns all lines fall into one set of 8 ways, though a full cache would hold them.
    # (A first use of a line is capacity: 256 for each of the 64 or, as the array lies, 65 rows of lines.)
    Cell(source, "density", "%density%").expect(reads=131072, read_misses=131072, conflict=(114400, 114700))
    heap = rows("SELECT object, allocated_at FROM objects WHERE kind = 'heap' ORDER BY largest DESC LIMIT 1")[0]
    assert heap[1].endswith(f"common.f90:{at(source, 'allocate')}"), heap
    Cell(source, "velocity", heap[0]).expect(reads=131072, read_misses=(16384, 16385))


def case_kinds_of_accesses():
    record([program("accesses")])
    source = SOURCES + "accesses.c"
    for tag, name in (("swap", "swapped"), ("add", "added"), ("exchange", "exchanged")):
        Cell(source, tag, name).expect(reads=1000, writes=1000)
    Cell(source, "string", "from").expect(reads=512, writes=0, read_misses=64)
    Cell(source, "string", "to").expect(reads=0, writes=512, write_misses=64)
    # A processor copies by lines: 512 repetitions of 8 bytes cost as much as 64 instructions. Start-up copies, too.
    repeated = rows("SELECT repeated FROM processes")
    assert 447 <= repeated[0][0] < 2000, repeated
    record([program("accesses")], "--instr", profile="fetched.nmp")
    assert rows("SELECT repeated FROM processes", profile="fetched.nmp") == repeated
    Cell(source, "vector", "vectors").expect(reads=1000, read_misses=250)
    Cell(source, "extended", "extended").expect(reads=1000, read_misses=250)
    Cell(source, "straddle", "straddled").expect(reads=1000, read_misses=1000, loads=1001)


def case_annotations():
    done = record([program("annotated")])
    assert done.stdout == b"0 1\n", done.stdout
    source = SOURCES + "annotated.c"
    for name in ("left", "right"):
        Cell(source, "walk", name).expect(reads=1024, read_misses=1024)
    Cell(source, "walk", "warm").expect(reads=128, read_misses=0)
    Cell(source, "walk").expect(reads=2048 + 128)
    assert not rows("SELECT * FROM counts WHERE object = '<not measured>'")
    for level, loads, evictions in rows("SELECT level, loads, evictions FROM levels"):
        of_rows = rows("SELECT sum(loads), sum(evictions) FROM counts WHERE level = ?", level)
        assert of_rows == [(loads, evictions)], (level, of_rows, loads, evictions)
    assert rows("SELECT sum(count) FROM evictions WHERE evictor = '<not measured>' AND level = 'L1d'")[0][0] > 0
    assert run_alone() == b"0 0\n"


def case_pauses_with_distances_and_estimates():
    """What is touched while measuring is off is not counted, but near for what comes next: no walk is of cold lines."""
    record([program("annotated")], "--distances", "--estimate", "shards,statcache@1,statstack@1")
    made = rows("SELECT sum(reads + writes) FROM counts WHERE level = 'L1d'")[0][0]
    assert rows("SELECT unit, sum(count) FROM distances GROUP BY unit") == [("lines", made), ("references", made)]
    assert rows("SELECT sum(count) FROM distances WHERE unit = 'lines' AND object = 'warm' AND low <= 128 AND high >= 128") == \
        [(128,)]
    colds = rows("SELECT method, min(miss_ratio) FROM curve WHERE scope = 'total' GROUP BY method")
    exact = dict(colds)["exact"]
    assert len(colds) == 4 and all(abs(cold - exact) < exact / 1000 for _, cold in colds), colds
    found = rows("SELECT method, name, max(cold_ratio) FROM curve WHERE name IN ('warm', 'left', 'right') AND method <> 'exact' "
                 "GROUP BY 1, 2")
    assert len(found) == 9 and not any(cold for _, _, cold in found), found


def case_pauses_on_several_cores():
    for options in (["--cores", "2"], ["--cores", "2", "--schedules", "2"]):
        record([program("annotated")], *options)
        source = SOURCES + "annotated.c"
        Cell(source, "walk", "left").expect(reads=1024, read_misses=1024)
        Cell(source, "walk", "warm").expect(reads=128, read_misses=0)
        assert not rows("SELECT * FROM counts WHERE object = '<not measured>'")


def case_named_blocks():
    """Blocks that the program names keep the facts that advice needs: how many, how large, of what."""
    record([program("named")])
    assert rows("SELECT kind, type, blocks, largest, bytes FROM objects WHERE object = 'nodes'") == \
        [("named", "struct node", 3000, 64, 3000 * 64)]
    source = SOURCES + "named.c"
    fields = dict(rows("SELECT field, sum(reads) FROM field_counts WHERE object = 'nodes' AND level = 'L1d' AND line IN (?, ?) "
                       "GROUP BY 1", at(source, "follow") - 1, at(source, "follow")))
    assert fields == {"next": 60000, "key": 60000}, fields
    advice = nearmiss("report", "pairs", "--object", "nodes", "--limit", "1", "--format", "json", "-i", "p.nmp").stdout.decode()
    row = json.loads(advice)["rows"][0]
    assert (row["blocks"], row["cause"]) == (3000, "unused fields") and "struct { struct node *next; long int key; } of 16 bytes" in row["try"], row


def run_alone():
    import subprocess  # the program without nearmiss: annotations do nothing
    return subprocess.run([program("annotated")], capture_output=True, check=True).stdout


def case_jumps():
    done = record([program("jumps")])
    assert done.stdout == b"3 1 0\n", done.stdout
    source = SOURCES + "jumps.c"
    Cell(source, "handler", "handled", "function = 'on_signal'").expect(reads=1024, writes=1024, read_misses=1024)
    Cell(source, "after", "table", "function = 'after'").expect(reads=1024, read_misses=1024)


def case_plugins():
    record([program("loader"), program("plugin.so")])
    # The dynamic linker clears the table's part of the last page of .data: up to 63 lines a time do not miss.
    Cell(SOURCES + "plugin.c", "plugin", "%plugin_table%", "function = 'plugin_work'").expect(
        reads=3072, writes=3072, read_misses=(2800, 3072))


def case_attribution():
    """With debug information at least 95 % of the misses have a named object and a line."""
    for command in (["matrix", "columns"], ["matrix-clang", "columns"], ["list"], ["common"], ["orders"]):
        record([program(command[0])] + command[1:])
        named = rows(f"SELECT {MISSES} FROM counts WHERE level = 'L1d' AND user_line > 0 AND object IN "
                     "(SELECT object FROM objects WHERE kind NOT IN ('unknown', 'library data'))")[0][0]
        misses = rows(f"SELECT {MISSES} FROM counts WHERE level = 'L1d'")[0][0]
        assert named >= 0.95 * misses, f"{command}: {named} of {misses}"


def case_first_screen_sums_small_rows_up():
    """Large pairs have rows, the others one; dynamic linking has its own where it is large. All of them are the level."""
    for command, options in ((["matrix", "columns"], []), (["matrix", "columns"], ["--callgraph"]), (["list"], []), (["quiet"], [])):
        record([program(command[0])] + command[1:], *options)
        text = nearmiss("report", "--width=200", "-i", "p.nmp").stdout.decode()
        table = text.split("Misses by object and line")[1].split("\n\n")[0].splitlines()[1:]
        at_misses = table[0].index("misses") + len("misses")
        misses = [int(re.search(r"[\d,]+$", line[:at_misses])[0].replace(",", "")) for line in table[1:]]
        assert sum(misses) == rows(f"SELECT {MISSES} FROM counts WHERE level = 'L1d'")[0][0], text
        assert sum(line.startswith("others (") for line in table) == 1, text
        assert not [line for line in table if ".dynsym" in line or "dl-lookup" in line], text
        assert any(line.startswith("dynamic linking") for line in table) == (command == ["quiet"]), text
    for limit in ("1", "40", "0"):
        assert "others (" not in nearmiss("report", "--limit", limit, "-i", "p.nmp").stdout.decode()


def case_instruction_fetches():
    record([program("matrix"), "rows"], "--instr", "--cache", "L1i=32K,8,64:" + SPEC, profile="i.nmp")
    found = rows("SELECT reads, read_misses FROM levels WHERE level = 'L1i'", profile="i.nmp")
    instructions = int(rows("SELECT value FROM info WHERE key = 'instructions'", profile="i.nmp")[0][0])
    assert found and found[0][0] == instructions and 0 < found[0][1] < 20000, (found, instructions)
    done = nearmiss("report", "-i", "i.nmp")
    assert done.returncode == 0 and b"matrix.c:" in done.stdout, (done.stdout, done.stderr)


if __name__ == "__main__":
    main(globals())
