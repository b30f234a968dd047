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


def predict(name, candidate, most=0.003, repaired="repaired"):
    """Recorded with the repair, each level misses as often; but for a part, or a few lines that moved."""
    trace(name)
    record([program(f"{name}-{repaired}")], MACHINE, profile="after.nmp")
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


def case_variables():
    """A transformation of structures may name an object: a variable, also a local one, or the second block of a line."""
    predict("moved", "soa table; soa main()::part", repaired="variables")
    predict("moved", "soa block (moved.c:39) #2", 0.03, repaired="block")
    assert whatif("soa block (moved.c:39) #2")["B"] != whatif("soa block (moved.c:39)")["B"]
    said = nearmiss("whatif", "t.nmt", MACHINE, "-q", "-a", "align block (moved.c:39) #3 to 64")
    assert said.returncode == 2 and b"no such object" in said.stderr, said.stderr


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


def case_threads_change_nothing():
    trace("fault-blocks")
    tables = []
    for threads in (1, 2, 7):
        done = nearmiss("whatif", "t.nmt", MACHINE, "-q", f"--threads={threads}", "--apply=pool points[i]",
                        "--apply=pool points[i] by first use", "--apply=align points[i] to 64")
        assert done.returncode == 0, done.stderr
        tables.append(done.stdout)
    assert tables[0].count(b"L1d") > 4 and tables[0] == tables[1] == tables[2], tables


def case_candidates_do_not_affect_each_other():
    trace("fault-blocks", "2")
    texts = ["pool points[i]", "pad struct point to 48", "reorder struct point: y, x", "split struct point hot(y) by pointer",
             "align points[i] to 64", "pool points[i] by first use", "order points[i] as visited", "shrink point.y to 4"]
    together = list(whatif(*texts).values())
    assert together == [together[0], *(whatif(text)["B"] for text in texts)], together


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


def search(structure, *options, trace="t.nmt"):
    """What is printed; {candidate: {level: misses}}."""
    done = nearmiss("whatif", trace, MACHINE, "-q", "--relocate=0", f"--search={structure}", "--width=0", *options)
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode()
    table = {}
    for candidate, level, misses in re.findall(r"^([A-H]) +(\w+) +([\d,]+)", text, re.MULTILINE):
        table.setdefault(candidate, {})[level] = int(misses.replace(",", ""))
    return text, table


def case_search():
    trace("fault-cold", "1")
    text, table = search("order")
    by_hand = whatif("reorder order: price, count, state", "split order hot(price, count, state) parallel", options=["--relocate=0"])
    least = min(levels["L1d"] for levels in table.values())
    assert table["A"] == by_hand["A"] and least <= by_hand["C"]["L1d"], (table, by_hand)
    for what, declared in ("order", r"struct order \{ /\* 168 bytes \*/"), ("split", r"struct order \{ /\* \d+ bytes, not 168 \*/"):
        best = re.search(f"^best {what}: ([B-H]), estimated cycles of the run -[\\d.]+ %\n{declared}\n\t", text, re.MULTILINE)
        assert best and table[best[1]]["L1d"] < 0.7 * table["A"]["L1d"], text
    assert text.count("struct order_rest {") == 1, text
    done = nearmiss("whatif", "t.nmt", MACHINE, "-q", "--search=odrer")
    assert done.returncode == 2 and b"no structure odrer was accessed; did you mean order?" in done.stderr, done.stderr


def case_search_knows_what_else_is_in_the_caches():
    """The visits of the structure alone do not tell that its lines and those of another evict each other."""
    record([program("crossed")], "--trace=t.nmt", profile="before.nmp")
    options = ["-q", "--cache=L1d=4K,1,64", "--relocate=0", "--width=0"]
    texts = [nearmiss("whatif", "t.nmt", "--search=node", *options).stdout.decode() for _ in range(2)]
    assert texts[0] == texts[1] and " simulated in full\n" in texts[0], texts
    misses = {name: int(n.replace(",", "")) for name, n in re.findall(r"^([A-H]) +L1d +([\d,]+)", texts[0], re.MULTILINE)}
    best = re.search(r"^best order: ([B-H]), misses of L1d -[\d.]+ %$", texts[0], re.MULTILINE)
    assert best and misses[best[1]] < 0.1 * misses["A"], texts[0]
    text = nearmiss("whatif", "t.nmt", "--search=count", *options).stdout.decode()
    assert re.search(r"^best order: ", text, re.MULTILINE), text
    trace("fault-cold-repaired", "1")
    assert "no order that was simulated costs less than the layout as it is\n" in search("order")[0]


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
    for candidate, said in [("reorder oder: price", "did you mean order?"),
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


def prefetch(line, *options):
    done = nearmiss("whatif", "t.nmt", MACHINE, "-q", f"--prefetch={line}", "--format=csv", *options)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(done.stdout.decode().splitlines()))


def case_prefetch():
    """Each probe of the table misses, but for prefetched ones: all after the first `distance`. They do not come late when
    they come early, and pay where the table does not fit the second level."""
    probes, slots = 40000, 1 << 18
    record([program("join"), str(slots), str(probes)], MACHINE, "--trace=t.nmt", profile="before.nmp")
    before = levels("before.nmp")["L1d"]
    table = {int(row["distance"]): row for row in prefetch("join.c:34", "--distance=1..4,48")}
    assert list(table) == [0, 1, 2, 3, 4, 48]
    assert int(table[0]["all_misses"]) == before and int(table[0]["misses"]) > 0.99 * probes
    for distance in (1, 2, 3, 4, 48):
        row = {name: int(value) for name, value in table[distance].items() if not name.endswith("percent")}
        assert row["prefetches"] == probes - distance and row["misses"] <= distance + 200, row
        assert before - row["all_misses"] >= int(table[0]["misses"]) - row["misses"] - row["polluted"], row
        assert row["redundant"] < 0.01 * probes and row["unused"] < 200, row
    assert int(table[1]["late"]) > 0.9 * probes and int(table[48]["late"]) == 0, table
    assert int(table[48]["saved_cycles"]) > int(table[4]["saved_cycles"]) > int(table[1]["saved_cycles"]), table
    sizes = {row["fits"]: row["pays"] for row in prefetch("join.c:34", "--by=size")}
    assert sizes["L2"] == "no" and sizes["none"] == "yes", sizes
    text = nearmiss("whatif", "t.nmt", MACHINE, "-q", "-p", "join.c:34", "--width=200").stdout.decode()
    assert re.search("^verdict .* distance (24|32|48) saves", text, re.MULTILINE), text
    assert re.search("^prefetched +the load at 0x[0-9a-f]+ in probe of table", text, re.MULTILINE), text


def case_prefetch_of_a_list():
    """The next node's address is known when the one before it was loaded."""
    trace("fault-list", "2")
    text = nearmiss("whatif", "t.nmt", MACHINE, "-q", "-p", "list.c:58", "-d", "8", "--width=200").stdout.decode()
    assert "distance 8 would save" in text, text
    assert re.search("^dependent +the addresses of 100 % of these loads", text, re.MULTILINE), text


def case_prefetch_in_the_program():
    """Recorded, the program with the prefetch misses the table as often as predicted."""
    arguments = ["262144", "40000"]
    record([program("join"), *arguments], "--machine", "zen3", "--trace=t.nmt", profile="before.nmp")
    record([program("join-ahead"), *arguments], "--machine", "zen3", profile="after.nmp")
    row = prefetch("join.c:34", "--distance=8")[1]
    misses, = rows(f"SELECT {MISSES} FROM counts WHERE level = 'L1d' AND object LIKE 'table %'", profile="after.nmp")[0]
    assert abs(int(row["object_misses"]) - misses) < 20, (row, misses)
    redundant, = rows("SELECT sum(redundant) FROM prefetches WHERE level = 'L1d'", profile="after.nmp")[0]
    assert abs(int(row["redundant"]) - redundant) < 20, (row, redundant)


def case_prefetch_that_is_wrong():
    trace("fault-cold", "2")
    for options, said in [(["-p", "cold.c"], "FILE:LINE"), (["-p", "cold.c:1"], "line 1 of cold.c loads nothing"),
                          (["-p", "cool.c:1"], "cool.c"), (["-p", "cold.c:1", "-d", "0..3"], "1 to 64"),
                          (["-p", "cold.c:1", "-d", "8,4"], "ascending"), (["-p", "cold.c:1", "-b", "line"], "distance or size"),
                          (["-p", "cold.c:1", "-a", "soa order"], "without --apply"),
                          (["-a", "soa order", "-d", "4"], "--prefetch"),
                          (["-p", "cold.c:1", "-c", "L1d=1K,4,64,policy=nru"], "default rules")]:
        done = nearmiss("whatif", "t.nmt", *([] if "-c" in options else [MACHINE]), "-q", *options)
        assert done.returncode == 2 and said in done.stderr.decode() and not done.stdout, (options, done.stderr)


def case_quotes():
    """The sentence has the misses of the table, and says so if other placements of memory change as much."""
    record([program("layouts")], "-q", "--trace=t.nmt", profile="before.nmp")
    candidates = ["align table to 128", "align one to 256", "pool one"]
    options = ["-q", "--cache=L1d=2K,1,64:L2=32K,2,64", "--relocate=8", *(f"--apply={c}" for c in candidates)]
    table = list(csv.DictReader(nearmiss("whatif", "t.nmt", "--format=csv", *options).stdout.decode().splitlines()))
    before = {row["level"]: row for row in table if row["candidate"] == "A"}
    text = nearmiss("whatif", "t.nmt", "--width=0", *options).stdout.decode()
    quotes = [line.strip() for line in text[text.index("to quote"):].splitlines() if "By nearmiss" in line]
    assert len(quotes) == len(candidates), text
    for name, candidate, quote in zip("BCD", candidates, quotes):
        same = overlaps = True
        for row in (row for row in table if row["candidate"] == name):
            old = before[row["level"]]
            counts = f"{row['level']} {int(row['misses']):,} times"
            if row["misses"] != old["misses"]:
                same = False
                counts += f" instead of {int(old['misses']):,}"
                overlaps &= (int(row["least"]) <= int(old["greatest"]) and int(old["least"]) <= int(row["greatest"]))
            assert counts in quote and f'"{candidate}"' in quote, (counts, quote)
        assert quote.endswith(" No effect.") == same, quote
        assert ("other placements of memory change as much" in quote) == (overlaps and not same), (quote, table)
    assert quotes[0].endswith("No effect."), quotes


if __name__ == "__main__":
    main(globals())
