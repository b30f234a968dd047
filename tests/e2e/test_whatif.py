# SPDX-License-Identifier: MIT
"""test_whatif.py - nearmiss whatif: a layout that changes nothing gives the misses of the replay, and the repairs of
examples/faults are predicted: the repaired program, recorded, misses as often."""

import csv
import re

from harness import MISSES, main, nearmiss, program, record, rows

MACHINE = "--machine=zen3"


def whatif(*candidates, trace="t.nmt", options=()):
    """{candidate: {level: misses}}"""
    done = nearmiss("whatif", trace, MACHINE, "-q", "--format=csv", *options, *(f"--apply={c}" for c in candidates))
    assert done.returncode == 0, done.stderr
    table = {}
    for row in csv.DictReader(done.stdout.decode().splitlines()):
        table.setdefault(row["candidate"], {})[row["level"]] = int(row["misses"])
        if row["least"]:
            assert int(row["least"]) <= int(row["misses"]) <= int(row["greatest"]), row
    return table


def levels(profile):
    return dict(rows(f"SELECT level, {MISSES} FROM levels GROUP BY level", profile=profile))


def trace(name, *arguments):
    record([program(name), *arguments], MACHINE, "--trace=t.nmt", profile="before.nmp")


def predict(name, candidate, most=0.003):
    """Recorded with the repair, each level misses as often; but for a part, or a few lines that moved."""
    trace(name)
    record([program(f"{name}-repaired")], MACHINE, profile="after.nmp")
    after = levels("after.nmp")
    for level, misses in whatif(candidate)["B"].items():
        assert abs(misses - after[level]) <= max(most * after[level], 64), (level, misses, after[level])


def case_nothing_changes():
    trace("fault-cold", "2")
    done = nearmiss("replay", "t.nmt", MACHINE, "-q", "-o", "replayed.nmp")
    assert done.returncode == 0, done.stderr
    table = whatif("reorder order: price, customer, count, address, state", "pad order to 8")
    assert len(table) == 3
    for misses in table.values():
        assert misses == levels("replayed.nmp"), table


def case_structures():
    predict("fault-aos", "soa struct particle")
    predict("fault-cold", "split struct order hot(price, count, state) parallel")


def case_rows():
    predict("fault-transpose", "pad from rows of 2048 by 64\npad to rows of 2048 by 64")


def case_conflicts():
    arrays = "vwpqrstxyze"
    predict("fault-conflict", "\n".join(f"offset fields/{a} against fields/u by {65600 * (i + 1)}" for i, a in enumerate(arrays)), 0.02)


def case_pool():
    trace("fault-blocks")
    before, after = whatif("pool points[i]").values()
    assert before["L1d"] - after["L1d"] > 400000, (before, after)


def case_order_as_visited():
    predict("visits", "order nodes[i] as visited by sum_list")
    visited, pooled = list(whatif("order nodes[i] as visited", "pool nodes[i] by first use").values())[1:]
    assert visited["L1d"] < 0.7 * pooled["L1d"], (visited, pooled)


def case_several_lines_are_one_candidate():
    trace("fault-cold", "2")
    with open("candidate", "w", encoding="utf-8") as file:
        file.write("# hot first\nreorder order: price, count, state\n\npad order to 192\nalign orders to 64\n")
    table = whatif("reorder order: price, count, state", "@candidate")
    assert table["C"]["L1d"] < table["B"]["L1d"] < table["A"]["L1d"], table


def case_visitor_that_visits_nothing():
    trace("visits")
    done = nearmiss("whatif", "t.nmt", MACHINE, "-q", "-a", "order nodes[i] as visited by sum")
    assert done.returncode == 2 and b"sum reads none of these blocks" in done.stderr, done.stderr


def advised(name, *arguments):
    trace(f"fault-{name}", *arguments)
    return whatif("advice", options=["--relocate=0"])


def case_advice():
    table = advised("cold", "2")
    assert table == whatif("reorder struct order: price, count, state", options=["--relocate=0"]), table
    for name in ("conflict", "list"):
        table = advised(name)
        assert table["B"]["L1d"] < 0.6 * table["A"]["L1d"], (name, table)
    trace("fault-hash")
    done = nearmiss("whatif", "t.nmt", MACHINE, "-q", "-a", "advice")
    assert done.returncode == 2 and b"suggests no layout" in done.stderr, done.stderr


def case_kept_profiles_are_profiles():
    trace("fault-cold", "2")
    whatif("soa order", options=["--keep=kept"])
    done = nearmiss("diff", "kept-a.nmp", "kept-b.nmp")
    assert done.returncode == 0 and b"misses of L1d fall by" in done.stdout, done.stderr
    said = nearmiss("report", "objects", "-i", "kept-b.nmp")
    assert said.returncode == 0 and b"orders" in said.stdout, said.stderr
    text = nearmiss("whatif", "t.nmt", MACHINE, "-q", "-a", "soa order", "--width=150").stdout.decode()
    assert re.search(r"^verdict +misses of L1d fall by", text, re.MULTILINE) and "soa order" in text, text


def case_what_is_wrong():
    trace("fault-cold", "2")
    for candidate, said in [("reorder orders: price", "did you mean order?"),
                            ("align nothing to 64", "no such object was accessed"), ("align order to 64", "did you mean orders?"),
                            ("reorder order: prize", 'struct order has no field "prize"; it has price, customer'),
                            ("pool <heap bookkeeping>", "no site that allocates blocks"),
                            ("tile orders", "out of reach"), ("hugepages orders", "TLB"),
                            ("order <heap bookkeeping> as visited", "no site that allocates blocks"),
                            ("soa order; pool orders\nwiden order", "a line begins with reorder")]:
        done = nearmiss("whatif", "t.nmt", MACHINE, "-q", "-a", candidate)
        assert done.returncode == 2 and said in done.stderr.decode() and not done.stdout, (candidate, done.stderr)


def case_huge_pages():
    trace("fault-cold", "2")
    done = nearmiss("whatif", "t.nmt", "--machine=zen3-tlb", "-q", "-a", "hugepages orders", "--format=csv")
    assert done.returncode == 0, done.stderr
    misses = {(row["candidate"], row["level"]): int(row["misses"]) for row in csv.DictReader(done.stdout.decode().splitlines())}
    assert misses["B", "L1d"] < misses["A", "L1d"] / 10, misses


if __name__ == "__main__":
    main(globals())
