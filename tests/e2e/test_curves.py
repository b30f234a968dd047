# SPDX-License-Identifier: MIT
"""test_curves.py - sampled recordings of real programs, and what `nearmiss curve` makes of them."""

import json
import os

from harness import at, main, nearmiss, need, program, record, rows

SIZES = [1 << n for n in range(12, 23)]


def ratio(method, size, scope="total", name=None, profile="p.nmp"):
    """The miss ratio of the largest point that is not above the size."""
    found = rows("SELECT miss_ratio FROM curve WHERE scope = ? AND method = ? AND size <= ? AND (?4 IS NULL OR name = ?4) "
                 "ORDER BY size DESC LIMIT 1", scope, method, size, name, profile=profile)
    return found[0][0] if found else 1.0


def info(key, profile="p.nmp"):
    found = rows("SELECT value FROM info WHERE key = ?", key, profile=profile)
    return found[0][0] if found else None


def case_samples_of_every_reference():
    """At a rate of 1 StatStack knows every reuse distance: list.c walks 20,000 nodes, which fit at about 1.9 MB."""
    record([program("list")], "--sample", "1", profile="sampled.nmp")
    record([program("list")], "--distances")
    assert info("samples", "sampled.nmp") == info("references", "sampled.nmp") == info("references")
    for size in SIZES:
        error = abs(ratio("statstack", size, profile="sampled.nmp") - ratio("exact", size))
        assert error < 0.02 or 1 << 20 <= size <= 2 << 20, (size, error)
    assert ratio("statstack", 1 << 17, profile="sampled.nmp") > 2 * ratio("statstack", 1 << 22, profile="sampled.nmp")


def case_places_of_samples():
    """Samples have lines of code, heap buckets, frames and threads, as a full recording has."""
    record([program("list")], "--sample", "1e-2")
    lines = {name for name, in rows("SELECT DISTINCT name FROM curve WHERE scope = 'line' AND name IS NOT NULL")}
    objects = {name for name, in rows("SELECT DISTINCT name FROM curve WHERE scope = 'object' AND name IS NOT NULL")}
    assert {f"{at('tests/programs/list.c', tag)}" for tag in ("next", "value")} <= {n.rpartition(":")[2] for n in lines
                                                                                  if "list.c" in n}, lines
    assert any(n.startswith("node (list.c:") for n in objects), objects
    assert any(n.startswith("stack of ") for n in objects), objects
    blocks = rows("SELECT max(blocks) FROM objects WHERE object LIKE 'node (list.c:%'")
    assert blocks == [(20000,)], blocks
    record([program("threads")], "--sample", "1e-2")
    assert len({name for name, in rows("SELECT DISTINCT name FROM curve WHERE scope = 'thread'")}) > 1


def case_lines_without_source():
    """Code that has no line information has a curve for each function, exact and estimated, not one for all."""
    record(["/usr/bin/sort", __file__], "--distances", "--estimate", "shards")
    functions = {name for name, in rows("SELECT DISTINCT name FROM curve WHERE scope = 'function' AND name LIKE 'sort+%'")}
    for method in ("exact", "shards"):
        lines = {name for name, in rows(f"SELECT DISTINCT name FROM curve WHERE scope = 'line' AND method = '{method}'")}
        assert len(lines & functions) > 5, (method, lines)


def case_samples_are_the_same_in_every_run():
    for profile in ("p.nmp", "again.nmp"):
        record([program("list")], "--sample", "1e-3,seed=7", profile=profile)
    curves = [rows("SELECT * FROM curve ORDER BY scope, name, method, size", profile=p) for p in ("p.nmp", "again.nmp")]
    assert curves[0] == curves[1]
    record([program("list")], "--sample", "1e-3,seed=8", profile="other.nmp")
    assert info("samples", "other.nmp") != info("samples")


def case_what_is_missing_is_said():
    record([program("list")], "--sample", "1e-3,line=32")
    assert info("sampling_line") == "32" and info("sampling_rate") == "0.001"
    for command in (["report", "objects"], ["annotate", "list.c"], ["evictions"], ["export", "callgrind"]):
        done = nearmiss(*command, "-i", "p.nmp")
        assert done.returncode != 0 and b"sampled recording" in done.stderr and b"nearmiss curve" in done.stderr, done
    summary = nearmiss("report", "-i", "p.nmp")
    assert summary.returncode == 0 and b"counts no misses" in summary.stdout, summary
    for wrong in ("0", "2", "1e-10", "x", "1e-3,line=48", "1e-3,line=16", "1e-3,seed=-1", "1e-3,sead=1"):
        done = nearmiss("record", "--sample", wrong, "--", program("list"))
        assert done.returncode != 0 and b"--sample takes" in done.stderr, (wrong, done)
    done = nearmiss("record", "--sample", "1e-3", "--asm", "--", program("list"))
    assert done.returncode != 0 and b"cannot do --asm" in done.stderr, done


def case_a_trace_of_samples():
    record([program("list")], "--sample", "1e-2", "--trace", "t.nmt")
    done = nearmiss("replay", "-q", "-o", "replayed.nmp", "t.nmt")
    assert done.returncode == 0, done
    curves = [rows("SELECT * FROM curve ORDER BY scope, name, method, size", profile=p) for p in ("p.nmp", "replayed.nmp")]
    assert curves[0] and curves[0] == curves[1]


def case_rates_of_one_method():
    """Two rates of a method are two curves, and one of them alone has the method's name."""
    with open("n.nest", "w", encoding="ascii") as f:
        f.write("array a[4096] of double align 64\nfor k = 0 to 9\n for i = 0 to 4095\n  read a[i]\n end\nend\n")
    done = nearmiss("nest", "-q", "-o", "p.nmp", "--estimate", "statcache@1e-2,statcache@1e-1,shards", "n.nest")
    assert done.returncode == 0, done
    assert {m for m, in rows("SELECT DISTINCT method FROM curve")} == {"statcache@0.01", "statcache@0.1", "shards"}
    for method, count in (("statcache", 2), ("statcache@0.1", 1), ("shards", 1)):
        done = nearmiss("curve", "-i", "p.nmp", "--format", "json", "--method", method)
        assert len(json.loads(done.stdout)["curves"]) == count, done
    done = nearmiss("nest", "-q", "-o", "p.nmp", "--estimate", "shards@1e-2,shards", "n.nest")
    assert done.returncode and b"shards at the rate 0.01 twice" in done.stderr, done


def case_few_references():
    """Nests of no, one and ten references, and of one line, have what can be said of them, and a message for the rest."""
    loop = "array a[16] of double align 64\nfor i = 0 to {}\n read a[{}]\nend\n"
    for name, text, misses in (("one", loop.format(0, "i"), 1.0), ("ten", loop.format(9, "i"), 0.2),
                               ("line", loop.format(999, 0), 0.001)):
        with open("n.nest", "w", encoding="ascii") as f:
            f.write(text)
        done = nearmiss("nest", "-q", "-o", "p.nmp", "--cache", "L1d=32K,8,64", "--distances", "--estimate",
                        "statcache@1e-4,statstack@1e-4,shards,shards-size", "n.nest")
        assert done.returncode == 0, done
        found = rows("SELECT method, miss_ratio, low, high FROM curve WHERE scope = 'total' GROUP BY method HAVING max(size)")
        assert len(found) == 5 and all(abs(r - misses) < 1e-9 and low <= r <= high for _, r, low, high in found), (name, found)
    done = nearmiss("nest", "-q", "-o", "p.nmp", "--estimate", "statcache@1e-4", "n.nest")
    assert done.returncode == 0, done
    by_field = nearmiss("curve", "-i", "p.nmp", "--by", "field")
    assert by_field.returncode and b"estimated curves are not by field" in by_field.stderr, by_field
    with open("n.nest", "w", encoding="ascii") as f:
        f.write("array a[16] of double align 64\nfor i = 0 to 9\n read a[i]\nend\n")
    assert nearmiss("nest", "-q", "-o", "p.nmp", "--estimate", "statcache@1e-4", "n.nest").returncode == 0
    few = nearmiss("curve", "-i", "p.nmp", "--by", "object")
    assert few.returncode and b"none has enough samples" in few.stderr, few
    with open("n.nest", "w", encoding="ascii") as f:
        f.write("array a[16] of double\n")
    assert nearmiss("nest", "-q", "-o", "p.nmp", "--distances", "n.nest").returncode == 0
    none = nearmiss("curve", "-i", "p.nmp")
    assert none.returncode and b"no reference was counted or sampled" in none.stderr, none


def case_debian():
    """A program that nobody here wrote, with children, and its picture."""
    gzip, sh = need("gzip", "sh")
    with open("text", "wb") as f:
        f.write(os.urandom(20000) * 20)
    record([sh, "-c", f"{gzip} -c text | {gzip} -dc | cmp - text"], "--sample", "1e-2")
    assert len(rows("SELECT * FROM processes")) >= 3
    done = nearmiss("curve", "-i", "p.nmp", "--format", "json", "--process", "gzip")
    curves = json.loads(done.stdout)["curves"]
    assert {c["method"] for c in curves} >= {"statcache", "statstack"}, done
    for c in curves:
        assert all(0 <= p["low"] <= p["miss_ratio"] <= p["high"] <= 1 for p in c["points"]), c
    picture = nearmiss("curve", "-i", "p.nmp", "--format", "svg", "--by", "function", "--process", "gzip")
    assert picture.returncode == 0 and picture.stdout.startswith(b"<?xml") and picture.stdout.rstrip().endswith(b"</svg>")


if __name__ == "__main__":
    main(globals())
