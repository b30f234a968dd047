# SPDX-License-Identifier: MIT
"""test_calls.py - call chains: record --callgraph, the views contexts and context_counts, reports and exports."""

import collections
import json
import re
import subprocess

from harness import SPEC, at, counts, main, nearmiss, need, program, record, rows

COUNTS = ("reads", "writes", "read_misses", "write_misses", "cold", "capacity", "conflict", "coherence", "loads",
          "reuse", "used_bytes", "loaded_bytes", "evictions", "writebacks", "weighted_bytes")
SUMS = ", ".join(f"sum({c})" for c in COUNTS)


def chains(where="1"):
    """chain of functions -> [calls, reads of `table` in that chain itself, with the same and inner ones]."""
    tree = {row[0]: row[1:] for row in
            rows("SELECT context, parent, function, calls FROM contexts WHERE level = 'L1d' ORDER BY context")}
    own = dict(rows("SELECT context, sum(reads) FROM context_counts WHERE level = 'L1d' AND object = 'table' "
                    f"AND {where} GROUP BY context"))
    total = {context: own.get(context, 0) for context in tree}
    for context in sorted(tree, reverse=True):
        if tree[context][0] is not None:
            total[tree[context][0]] += total[context]
    found = {}
    for context in tree:
        names, at = [], context
        while at is not None:
            names.insert(0, tree[at][1] or "")
            at = tree[at][0]
        if "main" in names:
            names = names[names.index("main"):]
        entry = found.setdefault("/".join(names), [0, 0, 0])
        for i, value in enumerate((tree[context][2], own.get(context, 0), total[context])):
            entry[i] += value
    return found


def record_calls():
    record([program("calls")], "--callgraph")


def case_chains():
    record_calls()
    found = chains()
    expected = {
        "main": [1, 0, 1100 + 100 + 200 + 120 + 100 + 50 + 60 + 70 + 80],
        "main/direct": [1, 0, 100],
        "main/direct/touch": [1, 100, 100],
        "main/nested": [1, 0, 1100],
        "main/nested/touch": [1, 1000, 1000],
        "main/nested/direct/touch": [1, 100, 100],
        "main/one/touch": [2, 60, 60],  # one line calls several functions
        "main/two/touch": [1, 40, 40],
        "main/leave/touch": [1, 50, 50],
        "main/after/touch": [1, 70, 70],  # neither longjmp nor the exception left frames behind
        "main/tail": [1, 80, 80],  # a jump is no call
    }
    for chain, want in expected.items():
        assert found.get(chain) == want, (chain, found.get(chain), want)
    thrown = {chain: entry for chain, entry in found.items() if "throws" in chain and chain.endswith("/touch")}
    assert sum(entry[1] for entry in thrown.values()) == 60, thrown


def case_recursion_is_folded():
    record_calls()
    found = chains()
    assert found["main/recursive"][2] == 200, found["main/recursive"]
    assert found["main/recursive/recursive"][0] == 200, found["main/recursive/recursive"]
    assert not any(chain.count("recursive") > 2 for chain in found)
    assert found["main/even"][2] == 120, found["main/even"]
    assert not any(chain.count("even") > 2 or chain.count("odd") > 1 for chain in found), found.keys()


def case_signals_and_threads():
    record_calls()
    (reads,), = rows("SELECT sum(k.reads) FROM context_counts AS k JOIN contexts AS c ON c.process = k.process AND "
                     "c.level = k.level AND c.context = k.context WHERE k.level = 'L1d' AND c.caller = 'on_signal' "
                     "AND k.function = 'touch' AND k.object = 'table'")
    assert reads == 90, reads
    of_thread = {chain: entry for chain, entry in chains("thread = 2").items() if entry[2]}
    assert of_thread and not any("main" in chain.split("/") for chain in of_thread), of_thread
    assert max(entry[1] for entry in of_thread.values()) == 110, of_thread


def case_handlers_of_signals():
    """What they read is not the interrupted functions', which have all of their own; the counts stand in signals.c."""
    record([program("signals")], "--callgraph", "--trace=p.nmt")
    found = {chain: entry for chain, entry in chains().items() if entry[2] and
             (chain.startswith("main") or "<signal" in chain)}
    assert found == {
        "main": [1, 0, 920 + 820 + 1260 + 400],
        "main/interrupted": [2, 660, 920],
        "main/interrupted/touch": [2, 260, 260],
        "/<signal SIGTRAP>": [2, 0, 60],
        "/<signal SIGTRAP>/on_plain": [2, 20, 60],
        "/<signal SIGTRAP>/on_plain/touch": [2, 40, 40],
        "/<signal SIGUSR2>": [2, 0, 60],
        "/<signal SIGUSR2>/on_leaf": [2, 60, 60],
        "/<signal SIGTERM>": [2, 0, 300],
        "/<signal SIGTERM>/on_outer": [2, 100, 300],
        "/<signal SIGTERM>/on_outer/touch": [4, 200, 200],
        "/<signal SIGUSR1>": [2, 0, 60],
        "/<signal SIGUSR1>/on_plain": [2, 20, 60],
        "/<signal SIGUSR1>/on_plain/touch": [2, 40, 40],
        "main/faulty": [2, 400, 820],
        "main/faulty/touch": [2, 420, 420],
        "/<signal SIGSEGV>": [2, 0, 300],
        "/<signal SIGSEGV>/on_fault": [2, 160, 300],
        "/<signal SIGSEGV>/on_fault/leave": [2, 140, 140],
        "main/from_the_deep": [2, 600, 1260],
        "main/from_the_deep/deep": [2, 10, 40],
        "main/from_the_deep/deep/deep": [6, 30, 30],
        "main/from_the_deep/touch": [2, 620, 620],
        "/<signal SIGILL>": [2, 0, 300],
        "/<signal SIGILL>/on_fault": [2, 160, 300],
        "/<signal SIGILL>/on_fault/leave": [2, 140, 140],
        "main/touch": [1, 400, 400],
    }, found
    tree = rows("SELECT * FROM contexts")
    stacks = [line for line in exported("folded", "--event=reads").splitlines() if ";table" in line]
    assert sum(int(line.rsplit(" ", 1)[1]) for line in stacks if line.startswith("<signal SIGILL>;on_fault;")) == 300
    assert not [line for line in stacks if ";<signal" in line]
    done = nearmiss("replay", "-o", "p.nmp", "--cache", SPEC, "--callgraph", "p.nmt")
    assert done.returncode == 0 and rows("SELECT * FROM contexts") == tree, done
    record([program("signals")], "--callgraph")
    with_chains = counts()
    record([program("signals")])
    assert counts() == with_chains


def case_chains_of_allocations():
    """Blocks of one function are separated by their whole call chains; chains.c has the counts."""
    def buckets():
        found = {row[0]: row[1:] for row in
                 rows("SELECT b.process || ': ' || b.chain, o.blocks, o.bytes, (SELECT sum(writes) FROM counts AS c "
                      "WHERE c.process = b.process AND c.object = b.object AND c.level = 'L1d' AND c.line = ?) "
                      "FROM buckets AS b JOIN objects AS o USING (process, object) GROUP BY b.process, b.chain, b.object "
                      "ORDER BY o.blocks", at("tests/programs/chains.c", "fill"))}
        return {re.sub("^(.*): .*main / ", r"\1: ", chain): entry for chain, entry in found.items()}

    record([program("chains")], "--heap-chains", "--trace=p.nmt")
    deep = "chains: descend / descend / "
    nodes = " / fill / new_node / safe_malloc"
    wanted = {
        "chains: left" + nodes: (100, 6400, 100),
        "chains: right" + nodes: (300, 300 * 64, 300),  # the later of two of the same text
        deep + "bottom" + nodes: (400, 400 * 64, 400),
        deep + "other_bottom" + nodes: (500, 500 * 64, 500),
        "chains: first / clear_some / cleared": (4, 4 * 4096, None),
        "chains: second / clear_some / cleared": (6, 6 * 4096, None),
        "chains: alone": (1, 64, None),
        "chains#2: left" + nodes: (100, 6400, 100),  # a child's tree begins at its fork
    }
    assert buckets() == wanted, buckets()
    base = f"node (chains.c:{at('tests/programs/chains.c', 'node')})"
    fill, left = (at("tests/programs/chains.c", tag) for tag in ("fill", "left"))
    names = dict(rows("SELECT object, blocks FROM objects WHERE kind = 'heap' AND process = 'chains'"))
    assert names.pop(f"{base} < fill:{fill} < left:{left}") == 100, names
    assert sorted(n for name, n in names.items() if name.startswith(f"{base} < fill:{fill} < right:")) == [200, 300]
    assert [name for name, n in names.items() if n == 1 and name.startswith("heap struct node (chains.c:") and "<" not in name], names
    # What the child inherited has no chain, and calloc's own stores are its caller's.
    assert rows("SELECT blocks FROM objects WHERE process = 'chains#2' AND object = ?", base) == [(1500,)]
    stores = dict(rows("SELECT substr(object, instr(object, '< ') + 2, 5), sum(writes) FROM counts WHERE level = 'L1d' AND "
                       "process = 'chains' AND object LIKE 'heap clear_some%' AND function <> 'clear_some' GROUP BY 1"))
    assert 0 < stores["first"] < stores["secon"], stores
    done = nearmiss("report", "buckets", "-i", "p.nmp", "--format=json", "--limit=0")
    listed = json.loads(done.stdout)["rows"]
    assert {row["chain"].rsplit("main / ", 1)[-1] for row in listed} >= {"alone", "first / clear_some / cleared"}, listed
    stored = buckets(), counts()
    done = nearmiss("replay", "-o", "p.nmp", "--cache", SPEC, "--heap-chains", "p.nmt")
    assert done.returncode == 0 and (buckets(), counts()) == stored, done
    # Without, and with call chains alone, these are one object, and the sums are the same.
    sums = f"SELECT level, function, line, {SUMS} FROM counts GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
    with_chains = rows(sums)
    record([program("chains")], "--callgraph")
    assert rows(sums) == with_chains and rows("SELECT * FROM buckets") == []
    assert rows("SELECT blocks FROM objects WHERE process = 'chains' AND object = ?", base) == [(1500,)]


def case_sums_close():
    """Self counts are those of `counts`, and the root has all of them."""
    record_calls()
    keys = "level, thread, function, file, line, object"
    want = rows(f"SELECT {keys}, {SUMS} FROM counts GROUP BY {keys} ORDER BY {keys}")
    assert rows(f"SELECT {keys}, {SUMS} FROM context_counts GROUP BY {keys} ORDER BY {keys}") == want
    assert rows(f"SELECT level, {SUMS} FROM contexts WHERE parent IS NULL GROUP BY level") == rows(
        f"SELECT level, {SUMS} FROM counts GROUP BY level")
    late = rows("SELECT count(*) FROM contexts WHERE parent >= context")
    assert late == [(0,)], late


def case_other_figures_stay():
    """All but the views of call chains is the same with and without them."""
    record([program("jumps")])
    without = counts(), rows("SELECT * FROM evictions")
    assert rows("SELECT * FROM contexts") == [] == rows("SELECT * FROM context_counts")
    record([program("jumps")], "--callgraph")
    assert (counts(), rows("SELECT * FROM evictions")) == without
    assert rows("SELECT count(*) > 10 FROM contexts") == [(1,)]


def case_debian_program_stays():
    """With call chains each access is sent alone; without them, accesses that share an address word are sent together."""
    text = "".join(f"{n} the value {n * 7919 % 3001} of {n % 7}\n" for n in range(1500)).encode()
    figures = []
    for options in [], ["--callgraph"]:
        record([need("gzip"), "-6", "-c"], *options, stdin=text)
        figures.append((counts(), rows("SELECT * FROM evictions"), rows("SELECT * FROM levels")))
    assert len(figures[0][0]) > 500 and figures[0] == figures[1]


def case_forks_and_threads():
    """A child's tree begins at its fork; each process has a root."""
    record([program("processes")], "--callgraph")
    assert rows("SELECT process, count(*) FROM contexts WHERE level = 'L1d' AND parent IS NULL GROUP BY process "
                "ORDER BY process") == rows("SELECT process, 1 FROM processes ORDER BY process")
    assert rows(f"SELECT process, level, {SUMS} FROM contexts WHERE parent IS NULL GROUP BY 1, 2 ORDER BY 1, 2") == rows(
        f"SELECT process, level, {SUMS} FROM context_counts GROUP BY 1, 2 ORDER BY 1, 2")


def case_report():
    record_calls()
    done = nearmiss("report", "calltree", "-i", "p.nmp", "--format=json", "--limit=0")
    assert done.returncode == 0, done
    got = {row["chain"]: row for row in json.loads(done.stdout)["rows"]}
    chain = next(chain for chain in got if chain.endswith(" / main / nested"))
    row, touch = got[chain], got[chain + " / touch"]
    assert row["calls"] == 1 and row["self"] < 20 and 1080 < row["misses"] < 1120, row
    assert touch["self"] == touch["misses"] > 990, touch
    record([program("calls")])
    done = nearmiss("report", "calltree", "-i", "p.nmp")
    assert done.returncode == 2 and b"--callgraph" in done.stderr, done


def exported(name, *options):
    done = nearmiss("export", name, "-i", "p.nmp", *options)
    assert done.returncode == 0 and not done.stderr, done
    return done.stdout.decode()


def case_export_folded_and_speedscope():
    record_calls()
    stacks = collections.Counter()
    for line in exported("folded", "--event=reads").splitlines():
        stack, number = line.rsplit(" ", 1)
        stacks[stack] += int(number)
    got = {stack.split(";main;")[1]: n for stack, n in stacks.items() if ";main;" in stack}
    line = next(stack for stack in got if stack.startswith("nested;direct;touch;calls.cpp:") and
                stack.endswith(";table"))
    assert got[line] == 100, line
    assert sum(stacks.values()) == rows("SELECT sum(reads) FROM counts WHERE level = 'L1d'")[0][0]
    scope = json.loads(exported("speedscope", "--event=reads"))
    names = [frame["name"] for frame in scope["shared"]["frames"]]
    profile, = scope["profiles"]
    scoped = collections.Counter()
    for stack, number in zip(profile["samples"], profile["weights"]):
        scoped[";".join(names[i] for i in stack)] += number
    assert scoped == stacks


def case_export_callgrind():
    need("callgrind_annotate")
    record_calls()
    for options in ((), ("--objects",)):
        exported("callgrind", "-o", "callgrind.out.calls", *options)
        for how in ("--inclusive=yes", "--tree=both", "--auto=yes"):
            done = subprocess.run(["callgrind_annotate", how, "callgrind.out.calls"], capture_output=True, check=False)
            assert done.returncode == 0 and not done.stderr and b"WARNING" not in done.stdout, done
    exported("callgrind", "-o", "callgrind.out.calls", "--event=reads", "--level=L1d")
    text = subprocess.check_output(["callgrind_annotate", "--inclusive=yes", "--threshold=100", "--auto=no",
                                    "--show-percs=no", "callgrind.out.calls"]).decode()
    got = {}
    for line in text.splitlines():
        parts = line.split()
        if len(parts) == 2 and parts[0][0].isdigit() and ":" in parts[1]:
            got[parts[1].rsplit(":", 1)[1]] = int(parts[0].replace(",", ""))
    reads = dict(rows("SELECT function, sum(reads) FROM contexts WHERE level = 'L1d' AND function IN ('main', 'nested', "
                      "'direct', 'after') GROUP BY function"))
    assert {name: got[name] for name in reads} == reads, (got, reads)


def case_export_callgrind_opens_on_misses():
    """The misses of every level come first, instructions are Ir, and of single instructions there are addresses and lines."""
    record([program("matrix"), "columns"], "--instr", "--asm", "--cache", "L1i=32K,8,64:L1d=32K,8,64:L2=1M,16,64")
    exported("callgrind", "-o", "callgrind.out.matrix")
    with open("callgrind.out.matrix", encoding="utf-8") as f:
        lines = f.read().splitlines()
    events = [line for line in lines if line.startswith("events: ")][0].split()[1:]
    assert events[0] == "L1dMisses" and set(events[1:4]) == {"L1iMisses", "L2Misses", "Ir"}, events
    assert "positions: instr line" in lines
    totals = [line for line in lines if line.startswith("totals: ")][0].split()[1:]
    assert int(totals[events.index("Ir")]) == rows("SELECT sum(instructions) FROM processes")[0][0], totals


if __name__ == "__main__":
    main(globals())
