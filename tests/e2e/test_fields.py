# SPDX-License-Identifier: MIT
"""test_fields.py - fields of structures: counts, affinity, types of heap buckets, hot lines, advice."""

import csv
import os
import re

from harness import SPEC, Skip, at, main, nearmiss, need, program, record, rows, run

ELEMENTS, WALKS = 4000, 10
BUCKET = "all (fields.c:%"
# Of tests/programs/fields.c: structure, field, offset, bytes; an array inside counts all its elements' bytes.
RECORD = [("key", 0, 8), ("name", 8, 88), ("weight", 96, 8), ("place.x", 104, 8), ("place.y", 112, 8), ("seen|kept", 120, 1)]


def counts(name, what="sum(reads), sum(writes), sum(read_misses + write_misses)"):
    found = rows(f"SELECT field, {what} FROM field_counts WHERE level = 'L1d' AND object LIKE ? AND field IS NOT NULL "
                 "GROUP BY field", name)
    return {row[0]: row[1:] for row in found}


def near(number, wanted, percent=5):
    assert abs(number - wanted) * 100 <= percent * wanted, (number, wanted)


def report(*arguments):
    done = nearmiss("report", *arguments, "-i", "p.nmp", "--format", "csv")
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(done.stdout.decode().splitlines()))


def case_variable():
    """key misses once a look, and so does weight, in another line; which are never in one stay, but in one visit."""
    record([program("fields")])
    assert rows("SELECT field, offset, bytes FROM fields WHERE object = 'records' ORDER BY offset") == RECORD
    found = counts("records")
    for field in ("key", "weight"):
        reads, writes, misses = found[field]
        near(reads, ELEMENTS * WALKS)
        near(misses, ELEMENTS * WALKS)
        assert writes <= 1, found
    pair = rows("SELECT together, apart, visits, both FROM affinity WHERE object = 'records' AND field = 'key' "
                "AND other = 'weight'")
    assert len(pair) == 1 and pair[0][:2] == (0, 0) and pair[0][3] > 0.95 * pair[0][2] > 1000, pair
    row = report("pairs", "--object", "records", "--limit", "1")[0]
    assert row["cause"] == "fields apart", row
    assert "key and weight lie 96 bytes apart" in row["try"], row


def case_vectors():
    """An access of two fields at once counts for both, and uses them together."""
    record([program("vectors")])
    found = counts("pairs")
    for field in ("left", "right"):
        reads, writes, _ = found[field]
        near(reads, ELEMENTS * WALKS / 2)  # half of the line's each, so that fields add up to what the line has
        near(writes, ELEMENTS * WALKS / 2)
    visits, both, together, apart = rows("SELECT visits, both, together, apart FROM affinity WHERE object = 'pairs' "
                                         "AND field = 'left' AND other = 'right'")[0]
    assert visits - 1 <= both <= visits and both > 1000 and apart <= 1 < together, (visits, both, together, apart)


def case_halves():
    """What fills and copies whole elements once does not make all their fields used together: each loop has its half."""
    record([program("halves")])
    halves = [{"x", "y", "dx", "dy"}, {"mass", "heat", "light", "age"}]
    found = rows("SELECT field, other, 1.0 * sum(both) / sum(visits), sum(visits), "
                 "coalesce(1.0 * sum(together) / nullif(sum(together + apart), 0), -1) "
                 "FROM affinity WHERE type = 'struct body' GROUP BY 1, 2")
    assert len(found) == 28, found
    for field, other, share, visits, stays in found:
        same = any({field, other} <= half for half in halves)
        assert share > 0.95 if same else share < 0.05, (field, other, share)
        assert stays < 0 or (stays > 0.95 if same else stays < 0.05), (field, other, stays)
        near(visits, ELEMENTS * WALKS * (1 if same else 2), 10)  # though bursts saw a part of them


def case_bucket():
    """The block is an array of what its pointer points to, though the pointer is declared on another line."""
    record([program("fields")])
    assert rows("SELECT type FROM objects WHERE object LIKE ?", BUCKET) == [("struct item[]",)]
    found = counts(BUCKET)
    near(found["count"][0], ELEMENTS * WALKS)
    near(found["price"][0], ELEMENTS * WALKS)
    near(found["count"][2], ELEMENTS * WALKS)
    together, apart = rows("SELECT together, apart FROM affinity WHERE object LIKE ? AND field = 'count' AND "
                           "other = 'price'", BUCKET)[0]
    near(together, ELEMENTS * WALKS, 15)
    assert apart <= together / 100, (together, apart)
    text = rows("SELECT sampled, used FROM fields WHERE object LIKE ? AND field = 'text'", BUCKET)
    assert text == [(0, 0)], text
    row = report("pairs", "--object", BUCKET.replace("%", "*"), "--limit", "1")[0]
    assert row["cause"] == "unused fields", row
    assert "count, price (16 of 64 bytes)" in row["try"] and "text (48 bytes)" in row["try"], row


def case_array_inside():
    record([program("fields")])
    found = counts("holder")
    near(found["items[].count"][2] + found["items[].price"][2], ELEMENTS * WALKS)
    assert rows("SELECT offset, bytes FROM fields WHERE object = 'holder' AND field = 'items[].price'") == \
        [(16, 8 * ELEMENTS)]


def types(name, structure, wanted, advised):
    """Fields have the types of the source, with or without it at hand, and the advice declares the hot ones."""
    command = [program(name)]
    for options in ((), ("--trace", "t.nmt")):
        record(command, *options, stdin=b"particle")
        found = dict(rows("SELECT field, field_type FROM fields WHERE type = ?", structure))
        assert found == wanted, found
    replayed = nearmiss("replay", "t.nmt", "-o", "r.nmp", "--cache", SPEC)
    assert replayed.returncode == 0, replayed.stderr
    assert dict(rows("SELECT field, field_type FROM fields WHERE type = ?", structure, profile="r.nmp")) == wanted
    assert any(advised in row["try"] for row in report("pairs", "--limit", "2")), report("pairs", "--limit", "2")


def case_types():
    types("fields", "struct record",
          {"key": "long int", "name": "char[88]", "weight": "long int", "place.x": "double", "place.y": "double",
           "seen|kept": "unsigned int"}, "struct { long int key; long int weight; } of 16 bytes instead of 128")


def case_types_of_calls_on_one_line():
    """Each by the pointer of its own call; a mapping ends with a page, and not with an element."""
    record([program("oneline")])
    wanted = {f"{name} (oneline.c:{at('tests/programs/oneline.c', tag)})": type_ for name, tag, type_ in
              (("row", "both", "struct row"), ("list", "both", "double[]"), ("items", "items", "struct item[]"))}
    assert dict(rows("SELECT object, type FROM objects WHERE object LIKE '%(oneline.c:%' AND bytes > 10000")) == wanted
    assert counts("items (%")["value"][:2] == (10000, 10000), counts("items (%")


def case_types_of_cpp():
    """What a library hides is one field."""
    types("typed-cpp", "app::record",
          {"name": "char[40]", "price": "double (*)(double)", "next": "const app::record *",
           "place": "app::pair<long int> *", "grid": "double (*)[3]", "count": "unsigned int", "marks": "short int[6]",
           "text": "char[96]", "parts": "std::array<long int, 7>"},
          "struct { double (*price)(double); unsigned int count; } of 16 bytes instead of 240")


def case_types_of_fortran():
    types("typed-fortran", "type(particle)",
          {"place": "real(kind=8)(3)", "speed": "real(kind=8)(3)", "kind": "integer(kind=4)", "name": "character(len=80)"},
          "type hot; real(kind=8) :: place(3); integer(kind=4) :: kind; end type of 32 bytes instead of 136")


def case_types_of_rust():
    """What a library hides is one field, and an array of variants is one."""
    types("typed-rust", "typed::Record", {"price": "f64", "counts": "[u32; 2]", "name": "[u8; 96]", "label": "alloc::string::String",
                                          "links": "[core::option::Option<u64>; 4]"},
          "struct { price: f64, counts: [u32; 2] } of 16 bytes instead of 200")


def case_further_levels():
    """Fields that miss the second level need not be those that miss the first."""
    record([program("distances")], "--cache", "L1d=32K,8,64:L2=128K,16,64")
    found = {row[:2]: row[2:] for row in
             rows("SELECT level, field, sum(reads), sum(read_misses) FROM field_counts WHERE object = 'table' AND line = ? "
                  "GROUP BY 1, 2", at("tests/programs/distances.c", "both"))}
    accesses = 8192 * 10
    for field in ("near", "far"):
        near(found["L1d", field][1], accesses)
        near(found["L2", field][0], accesses)
    assert found["L2", "near"][1] < accesses / 50, found
    near(found["L2", "far"][1], accesses)


def case_sums():
    """The counts of fields add up to those of the object."""
    record([program("fields")])
    what = ("sum(reads), sum(writes), sum(read_misses), sum(write_misses), sum(cold), sum(capacity), sum(conflict), "
            "sum(coherence), sum(loads), sum(reuse), sum(used_bytes), sum(loaded_bytes), sum(evictions), sum(writebacks), "
            "sum(weighted_bytes)")
    keys = "process, thread, level, function, file, line, object"
    assert rows(f"SELECT {keys}, {what} FROM field_counts GROUP BY {keys}") == \
        rows(f"SELECT {keys}, {what} FROM counts GROUP BY {keys}")


def case_hot_lines():
    """All lines of the records are walked alike: 90 % of the accesses need as many of the lines."""
    record([program("fields")])
    lines, stays, accesses, hot = rows("SELECT lines, residencies, accesses, hot FROM hot_lines WHERE object = 'records'")[0]
    near(hot, 0.9 * lines, 2)
    near(stays, WALKS * lines, 2)
    near(accesses, WALKS * lines, 2)


def check_locals(name):
    """An array of structures in the frame of a function that hands it to others, and one in the running function's."""
    record([program(name)])
    kind, kind_of, size, place = rows("SELECT kind, type, bytes, allocated_at FROM objects WHERE object = 'hold()::records'")[0]
    assert (kind, kind_of, size) == ("local", "struct record[1000]", 128000)
    assert place.endswith(f"locals.c:{at('tests/programs/locals.c', 'records')}"), place
    assert rows("SELECT field, offset, bytes FROM fields WHERE object = 'hold()::records' AND type = 'struct record' AND "
                "structure = 128 ORDER BY offset") == [("key", 0, 8), ("name", 8, 88), ("weight", 96, 8), ("spare", 104, 24)]
    assert rows("SELECT count(*) FROM fields WHERE object = 'hold()::records'") == [(4,)]
    shared = rows("SELECT object, type, bytes FROM objects WHERE object LIKE 'share()::%' ORDER BY 1")
    assert shared in ([("share()::left", "struct left", 96), ("share()::right", "struct right", 80)],
                      [("share()::left|right", None, 96)]), shared
    found = {row[0]: row[1:] for row in
             rows("SELECT field, sum(reads), sum(read_misses) FROM field_counts WHERE level = 'L1d' AND function = 'weigh' "
                  "AND object = 'hold()::records' GROUP BY field")}
    assert found.keys() == {"key", "weight"}, found
    for reads, _ in found.values():
        near(reads, 1000 * 40, 6)
    assert sum(misses for _, misses in found.values()) >= 1000 * 40, found  # weight may lie in a line with the next key
    found = dict(rows("SELECT field, sum(writes) FROM field_counts WHERE level = 'L1d' AND object = 'count()::bins' AND "
                      "type = 'struct bin' AND line IN (?, ?) GROUP BY field",
                      at("tests/programs/locals.c", "count"), at("tests/programs/locals.c", "sum")))
    assert found == {"count": 80000, "sum": 80000}, found


def local_counts(place):
    return {row[0]: row[1:] for row in
            rows("SELECT object, sum(reads), sum(writes) FROM counts WHERE level = 'L1d' AND object LIKE '%()::%' AND file LIKE '%frames.c' AND line = ? "
                 "GROUP BY object", at("tests/programs/frames.c", place))}


def case_local_arrays():
    """Arrays of plain numbers in a frame are objects: of the running function, its caller's, an inlined function's. One of
    variable length has no place that is known, and one of half a line none of its own."""
    record([program("frames")])
    found = rows("SELECT object, type, bytes FROM objects WHERE kind = 'local' AND allocated_at LIKE '%frames.c%' ORDER BY 1")
    assert found == [("rank()::large", "int[40000]", 160000), ("rank()::small", "int[1000]", 4000),
                     ("split()::parts", "volatile int[200]", 800)], found
    assert local_counts("sum") == {"rank()::large": (2 * 3 * 40000, 0), "rank()::small": (3 * 40000, 0)}
    found = local_counts("split")
    assert found == {"split()::parts": (0, 50 * 200)}, found
    assert local_counts("add") == {"split()::parts": (50 * 200, 0)}
    assert local_counts("vary") == {}
    assert rows("SELECT sum(writes) >= 50 * 400 FROM counts WHERE level = 'L1d' AND object = 'stack of vary'") == [(1,)]
    first = report("pairs", "--limit", "1")[0]
    assert (first["object"], first["cause"]) == ("rank()::large", "sparse use"), first


def case_locals():
    check_locals("locals")


def case_locals_of_clang():
    """Its frame base is a register: %rbp, and where it optimizes %rsp."""
    check_locals("locals-clang")
    check_locals("locals-clang-fast")


def case_reports():
    record([program("fields")])
    first = report("fields", "--object", "records")[:2]
    assert {row["field"] for row in first} == {"key", "weight"}, first
    assert {row["offset"] for row in first} == {"0", "96"}, first
    keys = "process,thread,level,function,file,line,object,type,field"
    found = report("--by", keys, "--object", "records", "--limit", "0")
    assert any(row["field"] == "weight" and row["type"] == "struct record" and row["function"] == "weigh"
               and row["level"] == "L2" for row in found), found
    found = report("--by", "type", "--limit", "0")
    assert any(row["type"] == "struct item[]" for row in found), found
    found = report("affinity", "--limit", "0")
    assert any((row["field"], row["other"], row["distance"]) == ("key", "weight", "96") for row in found), found


def gathered(profile="p.nmp"):
    return [rows(f"SELECT * FROM {view}", profile=profile) for view in ("fields", "field_counts", "affinity",
                                                                         "hot_lines", "objects")]


def check_same_each_time(name):
    record([program(name)], "--trace", "t.nmt", "--threads", "2")
    first = gathered()
    record([program(name)], "--threads", "1")
    assert first == gathered()
    for threads in ("1", "2"):
        done = nearmiss("replay", "-o", "r.nmp", "--threads", threads, "--cache", SPEC, "t.nmt")
        assert done.returncode == 0, done.stderr
        assert first == gathered("r.nmp")


def case_same_each_time():
    """However many threads work, for the program as for its trace."""
    check_same_each_time("fields")


def case_locals_same_each_time():
    check_same_each_time("locals")


def case_example():
    """Pins and terminals from a wrapper that returns void *; cells and nets through pointers to pointers."""
    record([program("placement"), "500", "2000"])
    types = dict(rows("SELECT type, sum(blocks) FROM objects WHERE kind = 'heap' AND type IS NOT NULL GROUP BY type"))
    assert types == {"struct pin": 2000, "struct terminal": 2000, "struct cell": 500, "struct cell *[]": 1,
                     "struct net": 666, "struct net *[]": 1}, types
    found = counts("net->pins (placement.c:%")
    assert found["x"][0] > 0 and found["next"][0] > 0, found


def case_containers():
    """Nodes and arrays of the C++ library have the types of their allocators."""
    record([program("containers")])
    assert rows("SELECT count(*) FROM objects WHERE kind = 'heap' AND type LIKE 'std::%node%'")[0][0] > 0


def case_rust():
    """Types of blocks from generic functions of Rust's library; a hash table's is of the whole block."""
    record([program("orders")])
    found = rows("SELECT object, type FROM objects WHERE kind = 'heap' AND object LIKE '%orders.rs:%' "
                 "AND blocks * largest > 30000")
    types = sorted(kind or "" for _, kind in found)
    assert types[0].startswith("alloc::rc::Rc<orders::Ware"), found
    assert re.fullmatch(r"alloc::rc::Rc(Box|Inner)<orders::Ware>", types[1]), found
    assert types[2] == "hashbrown::raw::RawTable<(u64, orders::Order)>", found
    assert types[3:] == ["orders::" + name for name in ("Client", "Order[]", "Part[]", "Rate[]")], found
    # What a function returns without a name has that of its caller's variable.
    assert [name for name, type_ in found if type_ == "orders::Rate[]"][0].startswith("rates "), found
    assert [name.split(" (")[0] for name, kind in found if kind.startswith("hashbrown::")] == ["names"], found
    assert rows("SELECT field, offset, bytes FROM fields WHERE type = 'orders::Client' AND object LIKE '%orders.rs%' "
                "ORDER BY offset") == \
        [("key", 0, 8), ("orders", 8, 32), ("next", 40, 8)]
    assert rows("SELECT count(*) > 0 FROM counts WHERE function LIKE '%orders::Order as core::clone::Clone>::clone'") == [(1,)]
    missed = rows("SELECT o.allocated_at, field, sum(read_misses) FROM field_counts JOIN objects o USING (object) "
                  "WHERE level = 'L1d' AND (function LIKE '%walk' OR function LIKE '%follow') GROUP BY 1, 2 "
                  "HAVING sum(read_misses) > ?", ELEMENTS)
    missed = {field: misses for _, field, misses in missed}
    bytes_of = {"number": 64, "key": 64, "value": 48, "value.stock": 48, "place.__1": 24}  # apart in memory, a line is 64
    assert missed.keys() == bytes_of.keys(), missed
    found = rows("SELECT type, field, sum(reads), sum(writes) FROM field_counts WHERE level = 'L1d' AND "
                 "object = 'orders::bins()::bins' AND function = 'orders::fill' GROUP BY 1, 2")
    assert [row[:2] for row in found] == [("orders::Bin", "count"), ("orders::Bin", "sum")], found
    for row in found:
        near(row[2], ELEMENTS * WALKS)
        near(row[3], ELEMENTS * WALKS)
    for key, apart in bytes_of.items():
        near(missed[key], ELEMENTS * WALKS * apart / 64, 3)


def card(name, *arguments):
    done = nearmiss("report", "struct", name, "--pahole", *arguments, "-i", "p.nmp")
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def pahole(name, executable):
    return run([need("pahole"), "-C", name, executable]).stdout.decode()


def shape(text):
    """Offsets, sizes, holes and boundaries, with blanks as one, without what only one of the two prints."""
    text = re.sub(r"/\* +(\d+) +(\d+)  .*\*/", r"/* \1 \2 */", text)
    lines = [" ".join(line.replace("struct session *", "session *").split()) for line in text.splitlines()]
    return [re.sub(" /. offset .*", "", line) for line in lines if line and "XXX cacheline" not in line
            and "nearmiss:" not in line]


def case_shape_of_pahole():
    """Of a structure with holes over three lines, the same comments stand in the same places."""
    record([program("layouts")])
    assert shape(card("session")) == shape(pahole("session", program("layouts"))), card("session")


def case_shape_of_pahole_of_a_library():
    """malloc's state, of which the C library's debug information tells."""
    record([program("layouts")])
    build_id = rows("SELECT build_id FROM modules WHERE module LIKE '%/libc.so.6'")[0][0]
    debug = f"/usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug"
    if not os.path.exists(debug):
        raise Skip("the C library has no debug information here")
    assert shape(card("malloc_state")) == shape(pahole("malloc_state", debug)), card("malloc_state")


def case_shape_of_a_class():
    """Members of the base stand before the others, which follow its last byte; sizes are pahole's."""
    record([program("layouts")])
    text = card("shape")
    found = re.findall(r"(\w+)(?:\[\d+\])?; +/\* +(\d+) +(\d+)", text)
    assert ("id", "8", "8") in found and ("mark", "16", "1") in found, text
    wanted = re.findall(r"(\w+)(?:\[\d+\])?; +/\* +(\d+) +(\d+)", pahole("shape", program("layouts")))
    assert len(wanted) == 3 and set(wanted) <= set(found), (wanted, text)
    assert re.search(r"XXX 3 bytes hole.*\n\n.* kind;", text) and "/* size: 48, cachelines: 1, members: 6 */" in text, text


def case_uses_of_fields():
    """Counters that threads write, beside a key that they read: each takes the line from the other."""
    record([program("layouts")], "--cores", "2")
    found = {row["field"]: row for row in report("struct", "session")}
    assert found["key"]["use"] == "read-mostly" and found["kind"]["use"] == "not seen", found
    for counter in ("first", "second"):
        assert found[counter]["use"] == "written often" and found[counter]["threads"] == "2", found
        near(int(found[counter]["stores"]), 20000)
    near(int(found["key"]["loads"]), 40000)
    coherence = rows("SELECT sum(coherence) FROM field_counts WHERE level = 'L1d' AND type = 'session' AND field "
                     "IN ('key', 'first')")[0][0]
    assert coherence > 100
    assert (f"/* XXX cacheline 0 mixes read-mostly (key) and written often (first): {coherence:,} coherence misses */"
            in card("session")), card("session")
    # A store that initialises is no use.
    assert {row["use"] for row in report("struct", "shape") if row["loads"] == "0"} == {""}


def case_several_structures():
    """Without a name, those with the most misses."""
    record([program("fields")])
    found = [row["type"] for row in report("struct", "--limit", "2")]
    assert len(set(found)) == 2 and found == sorted(found, key=found.index), found
    first = report("struct")
    assert {row["type"] for row in first} == {found[0]}
    assert [int(row["offset"]) for row in first] == sorted(int(row["offset"]) for row in first)
    percents = nearmiss("report", "struct", found[0], "--data-type", "-i", "p.nmp").stdout.decode()
    for column in (0, 2, 3):  # loads, misses of L1d and of L2
        values = [float(line.split()[column]) for line in percents.splitlines() if re.match(r" +\d+\.\d\d", line)]
        assert values[0] == 100 and abs(sum(values[1:]) - 100) < 0.1, percents


if __name__ == "__main__":
    main(globals())
