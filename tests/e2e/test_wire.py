# SPDX-License-Identifier: MIT
"""test_wire.py - the collector's streams under the checker: every end-to-end program, record by record.

wirecat takes the engine's place: it starts the command with @FD@ replaced by the descriptor of its shared memory,
and puts every word that comes through each ring through the checker.
"""

import os
import sqlite3

from harness import ENVIRONMENT, main, need, program, run

WIRECAT = os.path.abspath(os.environ.get("WIRECAT", "wirecat"))
COLLECTOR = os.path.abspath(os.environ.get("COLLECTOR", "."))


def check(command, ending="exit 0", stdin=b"", options=()):
    """The command's streams are well-formed and lost nothing, and the command ended as it should.  Their statistics."""
    environment = dict(ENVIRONMENT, VALGRIND_LIB=COLLECTOR)
    done = run([WIRECAT, "--output", "statistics", "--", need("valgrind"), "-q", "--tool=nearmiss", "--arena=@FD@",
                "--trace-children=yes", *options, *command], stdin=stdin, environment=environment)
    with open("statistics", encoding="utf-8") as f:
        statistics = f.read()
    assert done.returncode == 0, f"{command}:\n{statistics[-2000:]}{done.stderr.decode()[-2000:]}"
    assert f"command: {ending}" in statistics, statistics
    lost = [line.split()[1] for line in statistics.splitlines() if line.split()[0] == "lost"]
    assert lost and set(lost) == {"0"}, lost
    return statistics


def case_own_programs():
    for name in ("accesses", "annotated", "common", "containers", "jumps", "list", "processes", "threads",
                 "variables", "variables-clang", "variables-nopie", "matrix-static"):
        check([program(name)])


def sums(statistics):
    """The figures of all processes."""
    found = {}
    for words in map(str.split, statistics.splitlines()):
        if len(words) == 2 and words[1].isdigit():
            found[words[0]] = found.get(words[0], 0) + int(words[1])
    return found


def case_hints():
    """hints.c prefetches 100 lines in five ways, three addresses at which nothing can be, and stores past the caches in three ways."""
    figures = sums(check([program("hints")]))
    assert figures["prefetches"] == 500 and figures["non_temporal"] == 300 and figures["skipped"] == 300, figures
    sampled = sums(check([program("hints")], options=["--sample=10000000"]))
    assert sampled["references"] == figures["reads"] + figures["writes"], (sampled, figures)


def case_groups():
    """buy() of fields.c reads and writes a count and reads the price behind it: three accesses, one address word.  It
    does so for 4000 elements, twice in each of 10 walks."""
    figures = {words[0]: int(words[1]) for words in map(str.split, check([program("fields")]).splitlines())
               if len(words) == 2 and words[1].isdigit()}
    assert figures["reads"] + figures["writes"] - figures["addresses"] >= 2 * 4000 * 2 * 10, figures


def case_sampled():
    """A sampled stream counts the references that the other one sends; all of them are samples at a rate of 1, and each is
    ended by the next to its line."""
    for name in ("accesses", "threads", "jumps", "signals", "processes", "list"):
        sent = sums(check([program(name)]))
        for rate in ("1000000000", "10000000"):
            sampled = sums(check([program(name)], options=["--sample=" + rate]))
            assert sampled["references"] == sent["reads"] + sent["writes"], (name, rate, sampled, sent)
            assert sampled["SAMPLE"] == sampled.get("REUSE", 0) + sampled["open_samples"], (name, rate, sampled)
            assert all(sampled.get(kind) == sent.get(kind) for kind in ("ALLOC", "FREE", "MAP")), (name, rate, sampled, sent)
            assert not {"BLOCK", "BLOCK_DEF", "RAN", "SIGNAL"} & set(sampled), (name, rate, sampled)
        everything = sums(check([program(name)], options=["--sample=1000000000"]))
        assert everything["SAMPLE"] == everything["references"], (name, everything)


def case_code_without_accesses():
    """Code without accesses is counted, except where a signal handler returns; or sent on request.  Nothing else differs."""
    for name, most in (("quiet", 200 * 1000), ("signals", None), ("list", None)):
        counted = sums(check([program(name)]))
        sent = sums(check([program(name)], options=["--all-blocks=yes"]))
        assert counted.pop("RAN") > 0 and "RAN" not in sent, (counted, sent)
        assert counted["BLOCK"] < sent["BLOCK"] and (not most or counted["BLOCK"] < most < sent["BLOCK"]), (counted, sent)
        for figure in ("reads", "writes", "addresses", "skipped", "instructions", "calls", "returns", "max_depth", "ALLOC",
                       "FREE", "SIGNAL", "MEASURE"):
            assert counted.get(figure) == sent.get(figure), (name, figure, counted, sent)


def case_endings():
    check([program("endings"), "exit"], "exit 42")
    check([program("endings"), "crash"], "signal 11")
    check([program("endings"), "probe"])
    check([program("endings"), "unknown"], "signal 4")
    check([program("endings"), "echo"], stdin=b"text\n")


def case_libraries_that_come_and_go():
    check([program("loader"), program("plugin.so")])


def case_debian():
    text = b"".join(b"line %d of a text\n" % n for n in range(3000))
    for command in (["gzip", "-c"], ["xz", "-1", "-T1", "-c"], ["python3", "-S", "-c", "print(sum(range(9999)))"]):
        check([need(command[0])] + command[1:], stdin=text)


def case_sqlite3():
    with sqlite3.connect("d.db") as db:
        db.execute("CREATE TABLE t(a, b)")
        db.executemany("INSERT INTO t VALUES(?, ?)", ((n * 7 % 100, n) for n in range(2000)))
    db.close()
    check([need("sqlite3"), "-batch", "d.db", "SELECT a, sum(b) FROM t GROUP BY a ORDER BY 2 DESC"])


def case_gcc():
    with open("a.c", "w", encoding="ascii") as f:
        f.write("int main(void) { return 0; }\n")
    check([need("gcc"), "-c", "a.c"])


if __name__ == "__main__":
    main(globals())
