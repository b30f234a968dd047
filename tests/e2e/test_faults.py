# SPDX-License-Identifier: MIT
"""test_faults.py - examples/faults: the first row of the report names the object and the line that are at fault, the advice
is the right one, and the repaired program saves at least the misses that were promised, and does not get the same advice."""

import csv
import re

from harness import MISSES, main, nearmiss, need, program, record, rows

MACHINE = ["--machine", "zen3"]


def pairs(profile, limit="8"):
    done = nearmiss("report", "pairs", "-i", profile, "--limit", limit, "--format", "csv")
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(done.stdout.decode().splitlines()))


def first_advice(profile):
    """The first sentence of "What to try", and the misses that it promises to save."""
    done = nearmiss("report", "-i", profile, "--width", "100000")
    said = re.search(r"^What to try\n- (.*)$", done.stdout.decode(), re.MULTILINE)
    assert said, done.stdout.decode()
    promised = re.search(r"; saves (about|at most) ([0-9,]+) misses", said[1])
    return said[1], int(promised[2].replace(",", "")) if promised and promised[1] == "about" else 0


def misses(profile, object_):
    """On an object, in all if the profile has none of that name."""
    one = rows(f"SELECT {MISSES} FROM counts WHERE level = 'L1d' AND object = ?", object_, profile=profile)[0][0]
    return one or rows(f"SELECT {MISSES} FROM counts WHERE level = 'L1d'", profile=profile)[0][0]


def expect(name, row, object_, tag, cause, *told):
    """The row-th pair of the program is this object at a line with this text; the rule; what the first advice tells."""
    record([program(f"fault-{name}")], *MACHINE, profile="before.nmp")
    record([program(f"fault-{name}-repaired")], *MACHINE, profile="after.nmp")
    pair = pairs("before.nmp")[row]
    assert re.search(object_, pair["object"]), (pair["object"], object_)
    assert pair["cause"] == cause, (pair["cause"], pair["try"])
    if tag:
        with open(pair["file"], encoding="utf-8") as source:
            line = source.read().splitlines()[int(pair["line"]) - 1]
        assert tag in line, (line, tag)
    said, promised = first_advice("before.nmp")
    for text in told:
        assert text in said, said
    object_ = pair["object"] if rows("SELECT 1 FROM objects WHERE object = ?", pair["object"], profile="after.nmp") else ""
    object_ = "" if "together" in said else object_
    saved = misses("before.nmp", object_) - misses("after.nmp", object_)
    assert promised and saved >= promised, f"{name}: {promised} misses promised, {saved} saved"
    again = [p for p in pairs("after.nmp") if p["cause"] == cause and p["object"] == pair["object"] and
             float(p["cycles_share"] or 0) >= 20]
    assert not again, f"{name}: the repaired program has the same fault: {again[0]['try']}"


def case_array_of_structures():
    expect("aos", 0, "^particles$", "ENERGY(i)", "unused fields", "struct { long int energy; } of 8 bytes", "keep the hot fields")


def case_small_blocks():
    expect("blocks", 0, "blocks.c|points", "sum +=", "small blocks", "60000 blocks of 16 bytes", "one array")


def case_cold_fields():
    expect("cold", 0, "orders|make", "order->", "fields apart", "struct { long int price; long int count; long int state; } of 24 bytes")


def case_column_walk():
    expect("column", 0, "field$", "field(i, j) =", "across rows", "interchange the loops", "first subscript")


def case_conflicting_arrays():
    expect("conflict", 0, "^fields/", "e(i) =", "rivals", "same sets as those of fields/", "64 bytes more")


def case_gather():
    expect("gather", 0, "^values$", "values[places[i]]", "scattered", "sort")


def case_chained_hash():
    expect("hash", 0, "entry|insert", "entry->key != key", "short chains", "open addressing")


def case_list():
    expect("list", 0, "node|list.c", "sum += node->value", "list", "in the order in which they are visited")


def case_loops():
    record([program("fault-loops")], *MACHINE, profile="before.nmp")
    assert {p["object"] for p in pairs("before.nmp", "6")} == {"density", "pressure", "speed"}
    expect("loops", 0, "^(density|pressure)$", "[i]", "passes twice", "join the two loops")


def case_map():
    expect("map", 0, "add|prices", None, "container", "sorted std::vector")


def case_pointers():
    expect("pointers", 0, "main|world|Body", None, "small blocks", "one array")


def case_write_stream():
    expect("stream", 0, "^samples$", "samples[i] =", "write stream", "part by part")
    record([program("fault-stream-past")], *MACHINE, profile="past.nmp")
    assert misses("past.nmp", "") <= misses("after.nmp", "")
    assert rows("SELECT sum(stores) FROM non_temporal WHERE level = 'L1d' AND object = 'samples'", profile="past.nmp") == \
        [(6000000,)]


def case_transpose():
    expect("transpose", 0, "^to$", "to[j][i]", "row length", "pad the last dimension to 264")


def case_not_memory_bound():
    """A program that hardly misses is told so, and gets no advice."""
    record([need("mawk"), "BEGIN { for (i = 0; i < 1000000; i++) s += i % 7; print s }"], *MACHINE, profile="p.nmp")
    out = nearmiss("report", "-i", "p.nmp").stdout.decode()
    assert out.startswith("verdict     not memory-bound: about "), out
    assert "; saves" not in out, out


def case_a_gather_costs_more_than_a_scan():
    """Per miss: of the same array, read in order and at random."""
    record([program("fault-gather")], *MACHINE, profile="p.nmp")
    found = {p["cause"]: p for p in pairs("p.nmp", "3") if p["object"] == "values"}
    gather, scan = found["scattered"], found["first touch"]
    assert float(gather["cycles"]) > float(scan["cycles"])
    assert int(scan["covered"]) > 0.99 * int(scan["loads"]) and int(gather["covered"]) < 0.01 * int(gather["loads"])
    record([program("fault-list")], *MACHINE, profile="p.nmp")
    chain = pairs("p.nmp", "1")[0]
    assert int(chain["dependent"]) > 0.95 * int(chain["loads"]), chain
    assert float(chain["cycles_per_miss"]) > 4 * float(gather["cycles_per_miss"])


if __name__ == "__main__":
    main(globals())
