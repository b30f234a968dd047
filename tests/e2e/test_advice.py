# SPDX-License-Identifier: MIT
"""test_advice.py - the rules of docs/advice.md that examples/faults has no program for: what each advises is done in
tests/programs/repairs.c, and saves what was promised; tests/programs/misleading.c has programs that look like a fault which
they do not have."""

import csv
import os
import re

from harness import MISSES, at, main, nearmiss, need, program, record, rows, run

MACHINE = ["--machine", "zen3"]
SOURCE = "tests/programs/repairs.c"


def report(name, profile, *options):
    done = nearmiss("report", name, "-i", profile, "--format", "csv", "--limit", "0", *options)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(done.stdout.decode().splitlines()))


def misses(level, profile):
    return rows(f"SELECT {MISSES} FROM counts WHERE level = ?", level, profile=profile)[0][0]


def repair(rule, object_, tag, *told, level="L1d", options=()):
    """Records the program of a rule with its fault and repaired. The row of the object, at the line with the tag if it has one,
    has the rule's cause, tells this, and the whole program saves what the row promises; a row that promises nothing saves
    half of its misses. Returns the row."""
    for profile, arguments in (("before.nmp", [rule]), ("after.nmp", [rule, "repaired"])):
        record([program("repairs"), *arguments], *MACHINE, *options, profile=profile)
    line = str(at(SOURCE, tag)) if tag else None
    found = [row for row in report("pairs", "before.nmp", "--level", level)
             if re.search(object_, row["object"]) and line in (None, row["line"])]
    assert found, (object_, line)
    row = found[0]
    assert row["cause"] == rule, (row["cause"], row["try"])
    for text in told:
        assert text in row["try"], row["try"]
    check_saving(rule, row, level)
    again = [row for row in report("pairs", "after.nmp", "--level", level)
             if re.search(object_, row["object"]) and row["cause"] == rule and float(row["share"]) >= 20]
    assert not again, f"{rule}: the repaired program has the same fault: {again[0]['try']}"
    return row


def check_saving(rule, row, level):
    saved = misses(level, "before.nmp") - misses(level, "after.nmp")
    promise = re.match(r"saves (about|at most) ([0-9,]+) misses, [0-9,]+ cycles$", row["saving"])
    if not promise:
        assert not row["saving"] and 2 * saved >= int(row["misses"]), f"{rule}: {saved} of {row['misses']} misses saved"
        return
    promised = int(promise[2].replace(",", ""))
    if promise[1] == "about":
        assert promised > 0 and saved >= 0.999 * promised, f"{rule}: {promised} misses promised, {saved} saved"
    else:
        assert promised / 2 <= saved <= promised * 1.02, f"{rule}: at most {promised} misses promised, {saved} saved"


def case_step_length():
    repair("step length", "step_length|grid", "step-length", "steps of 4096 bytes", "64 bytes longer")


def case_same_sets():
    repair("same sets", "same_sets|block", "same-sets", "blocks of 4096 bytes begin in the same sets")


def case_uneven_sets():
    repair("uneven sets", "::entries$", "uneven-sets", "follow no order", "side by side")


def case_named_small_blocks():
    """Blocks that the program gave one name are small blocks still."""
    repair("small blocks", "^cells$", "small-blocks", "10000 blocks of 24 bytes", "pool")


def case_pointer_array():
    repair("pointer array", "::places$", "pointer-array", "keep the values themselves")


def case_walk_down_a_table_of_distances():
    """Four accesses of one line step in turn; what is loaded steps by rows."""
    repair("across rows", "::cost$", "across-rows", "loads step 2400 bytes", "interchange the loops")


def case_long_steps():
    repair("long steps", "long_steps|grid", "long-steps", "loads step 4000 bytes")


def case_large_elements():
    """Of variants of an enumeration, whose fields are not told apart, only the kinds are read."""
    for profile, arguments in (("before.nmp", []), ("after.nmp", ["apart"])):
        record([program("elements"), *arguments], *MACHINE, profile=profile)
    line = str(at("tests/programs/elements.rs", "kind"))
    row = next(row for row in report("pairs", "before.nmp") if row["line"] == line)
    assert row["object"].startswith("instructions ") and row["cause"] == "long steps", row
    assert "step 120 bytes" in row["try"] and "each element in an array of its own" in row["try"], row
    check_saving("long steps", row, "L1d")


def case_histogram():
    row = repair("scattered", "::histogram$", "scattered", "no order", "sort")
    assert "interchange" not in row["try"], row["try"]


def case_gaps():
    repair("gaps", "::numbers$", "gaps", "loaded in order", "what lies between")


def case_too_large():
    repair("too large", "::numbers$", "too-large", "256K in 32K", "tiles")
    lines = report("lines", "before.nmp")
    assert lines[0]["line"] == str(at(SOURCE, "too-large")) and lines[0]["cause"] == "does not stay", lines[0]
    check_saving("does not stay", lines[0], "L1d")
    assert all(row["cause"] != "does not stay" for row in report("pairs", "before.nmp"))


def case_evicted_by_rival():
    repair("evicted by rival", "::table$", "evicted-by-rival", "evicted by evicted_by_rival()::large")


def case_first_touch():
    repair("first touch", "::wide$", "first-touch", "narrower types")


def case_allocator():
    repair("allocator", "<heap bookkeeping>", None, "allocate arrays")


def case_stack_frame():
    repair("stack frame", "stack of descend", None, "recursion into a loop")


def case_code():
    repair("code", "code of repairs", None, "fewer inlined copies", level="L1i", options=["--instr"])


def case_other_threads():
    for profile, name in (("before.nmp", "sharing"), ("after.nmp", "sharing-padded")):
        record([program(name)], "--cores", "4", "--cache", "L1d=32K,8,64:L2=1M,16,64", profile=profile)
    row = [row for row in report("pairs", "before.nmp") if row["cause"] == "other threads"][0]
    assert "padded to 64 bytes" in row["try"], row["try"]
    check_saving("other threads", row, "L1d")


def case_symbol_lookup():
    """A static program has no dynamic linker."""
    record([program("matrix"), "rows"], *MACHINE, profile="before.nmp")
    record([program("matrix-static"), "rows"], *MACHINE, profile="after.nmp")
    before, after = ([row for row in report("pairs", name) if row["cause"] == "dynamic linking"]
                     for name in ("before.nmp", "after.nmp"))
    assert before and "statically" in before[0]["try"]
    assert sum(int(row["misses"]) for row in after) * 5 < sum(int(row["misses"]) for row in before)


def names_it(rule, told, object_, by="pairs"):
    """The row of the unnamed memory in before.nmp asks for names; in after.nmp, where it has them, the object that it is has its
    misses and another cause."""
    unnamed = report(by, "before.nmp")[0]
    named = report(by, "after.nmp")[0]
    assert unnamed["cause"] == rule and told in unnamed["try"] and not unnamed["saving"], unnamed
    assert named["object"] == object_ and int(named["misses"]) >= 0.99 * int(unnamed["misses"]), (named, unnamed)
    left = [row for row in report("pairs", "after.nmp") if row["cause"] == rule and float(row["share"]) >= 5]
    assert named["cause"] != rule and not left, (named, left)


def case_unnamed_memory():
    for profile, name in (("before.nmp", ""), ("after.nmp", "table")):
        with open("in.csv", "w", encoding="utf-8") as f:
            f.write("addr,rw,pc,object\n" + "".join(f"{0x10000000 + 4096 * (i % 997)},r,{4 * i % 64},{name}\n" for i in range(9970)))
        done = nearmiss("replay", "-q", *MACHINE, "-o", profile, "in.csv")
        assert done.returncode == 0, done
    names_it("unnamed memory", "nearmiss/client.h", "table")


def case_library_data():
    """Data of a program without symbols, and with."""
    stripped = os.path.abspath("aos")
    run([need("strip"), "-o", stripped, program("fault-aos")])
    for profile, command in (("before.nmp", stripped), ("after.nmp", program("fault-aos"))):
        record([command], *MACHINE, profile=profile)
    names_it("library data", "install the debug symbols", "particles", by="objects")


def case_index_chain():
    """The other object is found whichever rows are shown."""
    repair("index chain", "::next$", "index-chain", "the same function loads index_chain()::elements without order")
    first = [report("pairs", "before.nmp", "--limit", limit)[0] for limit in ("1", "20")]
    assert first[0] == first[1] and first[0]["cause"] == "index chain", first


def case_mixed():
    """What the advice names shows who pushes the lines out."""
    repair("mixed", "::rows$", "mixed", "no single cause", "nearmiss evictions")
    done = nearmiss("evictions", "--victim", "mixed()::rows", "-i", "before.nmp")
    assert done.returncode == 0 and b"mixed()::rows" in done.stdout, done


def mislead(name, *causes, words=(), options=()):
    """No row that matters has one of these causes, and no advice these words. Returns the rows and the advice."""
    record([program("misleading"), name], *(options or MACHINE), profile="p.nmp")
    found = [row for row in report("pairs", "p.nmp") if float(row["cycles_share"] or 0) >= 5]
    for row in found:
        assert row["cause"] not in causes, (row["object"], row["cause"], row["try"])
        assert not any(word in row["try"] for word in words), (row["object"], row["try"])
    done = nearmiss("report", "-i", "p.nmp", "--width", "0")
    assert done.returncode == 0, done
    return found, re.findall(r"^- (.*)$", done.stdout.decode(), re.MULTILINE)


def case_arrays_that_push_each_other_out():
    """Rows of a power of two are not at fault: the arrays lie a multiple of 32K apart."""
    found, said = mislead("arrays", "row length", "step length", "same sets", words=("interchange", "pad the"),
                          options=["--cache", "L1d=32K,2,64:L2=1M,16,64:prefetchers=pair+stream+stride"])
    assert {row["object"] for row in found if row["cause"] == "rivals"} == {f"arrays()::{name}" for name in "abc"}, said
    assert "64 bytes more at the end of each" in said[0], said


def case_ring():
    """Nodes at random places conflict, but no padding helps."""
    found, said = mislead("ring", "row length", "step length", "same sets", "rivals", words=("pad ",))
    assert found[0]["cause"] == "list" and "in the order in which they are visited" in said[0], said
    found, said = mislead("ring", "same sets", "rivals", words=("pad ",), options=["--cache", "L1d=32K,8,64:L2=1M,16,64"])
    assert found[0]["cause"] == "uneven sets" and "side by side" in said[0], said


def case_leaves_behind_a_pointer():
    """A pointer through itself is a chain only if it goes round."""
    found, _ = mislead("leaves", "list", "short chains")
    leaf = next(row for row in found if row["line"] == str(at("tests/programs/misleading.c", "leaf")))
    assert 100 * int(leaf["dependent"]) <= int(leaf["loads"]), leaf


def case_block_that_is_used_again():
    """All blocks of its bucket are 38 MB, but 64 KB are in use at a time."""
    mislead("reused", "write stream")
    found = report("pairs", "p.nmp", "--function", "reused")
    assert found and all(row["cause"] != "write stream" for row in found), found


def case_wide_numbers():
    """Elements of 32 bytes are not structures of which some fields are cold."""
    found, _ = mislead("vectors", "unused fields")
    assert found[0]["object"] == "vectors()::many" and found[0]["cause"] == "scattered", found[0]["try"]


def case_rows_of_a_hash_table():
    """With prefetchers or without: the order of loops is not what leads there."""
    mislead("buckets", "across rows", "long steps", words=("interchange",))
    mislead("buckets", "across rows", "long steps", options=["--cache", "L1d=32K,8,64:L2=1M,16,64"])


def case_member_set_in_the_beginning():
    """It has a good part of the sampled accesses, and no part in the loop that misses."""
    found, said = mislead("once", words=("mass (", "double mass"))
    assert "x, step (16 of 64 bytes)" in said[0] and "mass" in said[0].split("have most")[1], said


def case_sieve():
    """What lies between the marks of a pass is no structure's."""
    found, said = mislead("sieve", "scattered", "unused fields")
    assert found[0]["cause"] == "gaps" and "if other passes use it, do them together" in said[0], said


def case_stencil():
    """Accesses of a line of code that load in turn have an order."""
    found, said = mislead("stencil", "scattered", "sparse use")
    assert {row["cause"] for row in found} <= {"across rows", "long steps"} and "interchange" in said[0], said


def case_flat_profile():
    """No line has a twentieth of the cost, but each array has."""
    found, said = mislead("flat")
    assert not found, [row["object"] for row in found]
    assert len([text for text in said if "sort" in text and "; saves about" in text]) == 3, said


if __name__ == "__main__":
    main(globals())
