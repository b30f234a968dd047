# SPDX-License-Identifier: MIT
"""test_debian.py - programs from the distribution, run as they are: same output, sane profile."""

import os
import sqlite3

from harness import ENVIRONMENT, MISSES, counts, main, need, nearmiss, program, record, rows, run


def text(lines):
    """Text that compresses like text, without randomness."""
    state, out = 1, []
    for n in range(lines):
        state = (state * 1103515245 + 12345) % (1 << 31)
        out.append(f"{n} the value {state >> 8} comes from {'left right up down'.split()[state % 4]}\n")
    return "".join(out).encode()


def check(command, stdin=b"", least=1000):
    """Records a command: its output must be that of the command alone, its profile whole and readable."""
    alone = run(command, stdin=stdin)
    done = record(command, stdin=stdin, status=alone.returncode)
    assert done.stdout == alone.stdout, f"{command}: output differs"
    references, misses = rows(f"SELECT sum(reads + writes), {MISSES} FROM counts WHERE level = 'L1d'")[0]
    assert least < misses < references, (command, references, misses)
    report = nearmiss("report", "-i", "p.nmp")
    assert report.returncode == 0 and report.stdout, report.stderr
    assert rows("SELECT count(*) FROM counts WHERE reads < read_misses OR writes < write_misses") == [(0,)]
    return done


def heap_share():
    """Share of L1d misses on heap buckets."""
    heap = rows(f"SELECT {MISSES} FROM counts WHERE level = 'L1d' AND object IN "
                "(SELECT object FROM objects WHERE kind = 'heap')")[0][0]
    return heap / rows(f"SELECT {MISSES} FROM counts WHERE level = 'L1d'")[0][0]


def case_gzip():
    check([need("gzip"), "-6", "-c"], stdin=text(6000))
    # gzip keeps its window and tables in global arrays, which a stripped binary cannot name.
    assert rows("SELECT count(*) FROM processes") == [(1,)]


def case_xz():
    check([need("xz"), "-2", "-T1", "-c"], stdin=text(4000))
    assert heap_share() > 0.5


def case_bzip2():
    check([need("bzip2"), "-c"], stdin=text(2000))
    assert heap_share() > 0.5


def case_sqlite3():
    shell = need("sqlite3")
    with sqlite3.connect("shop.db") as db:
        db.execute("CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, price REAL)")
        db.executemany("INSERT INTO item VALUES(?, ?, ?)",
                       ((n, f"item {n * 7919 % 5000}", n * 7 % 100) for n in range(8000)))
        db.execute("CREATE INDEX by_name ON item(name)")
    db.close()
    check([shell, "-batch", "shop.db", "SELECT a.name, count(*), sum(b.price) FROM item a JOIN item b "
           "ON b.name = a.name GROUP BY 1 ORDER BY 3 DESC LIMIT 5"])


def case_python3():
    with open("words.py", "w", encoding="ascii") as f:
        f.write("counts = {}\nfor i in range(20000):\n    k = str(i * 7919 % 3001)\n"
                "    counts[k] = counts.get(k, 0) + 1\nprint(sorted(counts.items())[:3])\n")
    check([need("python3"), "-S", "words.py"])


def case_gcc():
    compiler = need("gcc")
    with open("sum.c", "w", encoding="ascii") as f:
        f.write("#include <stdio.h>\nint main(void) { long s = 0; for (int i = 0; i < 9; i++) s += i * i;\n"
                "printf(\"%ld\\n\", s); return 0; }\n")
    record([compiler, "-O1", "-o", "sum", "sum.c"])
    assert run([os.path.abspath("sum")]).stdout == b"204\n"
    names = {row[0] for row in rows("SELECT process FROM processes")}
    assert {"cc1", "as", "ld"} <= {name.split()[0] for name in names}, names


def case_perl():
    check([need("perl"), "-e", "my %h; $h{$_ * 7919 % 3001} .= $_ for 1 .. 20000; "
           "print join(',', map { length $h{$_} } sort { $a <=> $b } keys %h)"])


def case_ripgrep():
    """Written in Rust."""
    check([need("rg"), "--no-config", "-j1", "-c", "value 1[0-9]*7 .*left"], stdin=text(20000))


def case_rust_with_debug_information():
    compiler = need("rustc")
    with open("vector.rs", "w", encoding="ascii") as f:
        f.write("static mut TABLE: [u32; 65536] = [0; 65536];\n"
                "#[inline(never)] fn strided() -> u32 { let mut s = 0;\n"
                "for i in 0..4096 { s += unsafe { std::ptr::read_volatile(&TABLE[i * 16]) }; } s }\n"
                "fn main() { println!(\"{}\", strided()); }\n")
    assert run([compiler, "-g", "-O", "vector.rs"]).returncode == 0
    check([os.path.abspath("vector")])
    found = rows("SELECT function, sum(reads) FROM counts WHERE level = 'L1d' AND object LIKE '%TABLE%' "
                 "AND file LIKE '%vector.rs' AND line = 3")
    assert found[0][1] == 4096 and "strided" in found[0][0], found


def case_second_time_from_the_profile_alone():
    """A profile speaks without the program: symbols are stored when it is recorded."""
    with open(program("matrix"), "rb") as f:
        image = f.read()
    with open("copy", "wb") as f:
        f.write(image)
    os.chmod("copy", 0o755)
    record([os.path.abspath("copy"), "columns"])
    os.unlink("copy")
    report = nearmiss("report", "-i", "p.nmp").stdout.decode()
    assert "sum_columns" in report and "matrix" in report, report


def case_names_are_kept_for_later_recordings():
    """The second recording asks no debug information for names, and has the same ones."""
    kept = os.path.abspath("names")
    nowhere = "/" + "x" * (len(kept) - 1)  # as long, since the environment lies on the stack
    command = [need("gzip"), "-6", "-c"]
    for number, folder in enumerate((nowhere, kept, kept)):
        record(command, profile=f"{number}.nmp", stdin=text(3000),
               environment={**ENVIRONMENT, "NEARMISS_CACHE_DIR": folder})
        assert os.path.isdir(kept) == (number > 0)
    assert [n.endswith("%gzip.names") for n in os.listdir(kept)] == [True], os.listdir(kept)
    for number in (1, 2):
        assert counts(f"{number}.nmp") == counts("0.nmp"), number
    record(command, stdin=text(10), environment={**ENVIRONMENT, "NEARMISS_CACHE_DIR": "/proc/no/such/folder"})


if __name__ == "__main__":
    main(globals())
