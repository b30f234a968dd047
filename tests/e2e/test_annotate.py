# SPDX-License-Identifier: MIT
"""test_annotate.py - figures stand beside the lines that they belong to, wherever the source lies now."""

import csv
import hashlib
import json
import os
import re
import shutil
import time
import zlib

from harness import ENVIRONMENT, MISSES, NEARMISS, TOP, at, main, need, nearmiss, program, record, rows, run

USAGE = 2

SOURCE = """/* Two arrays, one read against its order. */
#include <stdio.h>
static int table[1024][1024], sum;
static void fill(void)
{
\tfor (int i = 0; i < 1024; i++)
\t\tfor (int j = 0; j < 1024; j++)
\t\t\ttable[j][i] = i;
}
""" + "\n" * 40 + """int main(void)
{
\tfill();
\tfor (int i = 0; i < 1024; i++)
\t\tfor (int j = 0; j < 1024; j++)
\t\t\tsum += table[i][j];
\tprintf("%d\\n", sum);
\treturn 0;
}
"""


def annotate(*arguments):
    done = nearmiss("annotate", "-i", "p.nmp", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def lines(*arguments):
    """What the CSV output has for lines: {number: row}."""
    return {int(row["line"]): row for row in csv.DictReader(annotate("--format=csv", *arguments).splitlines())}


def build(*options):
    """Compiles and records SOURCE, in a separate folder, so that it can be moved."""
    os.mkdir("src")
    with open("src/walk.c", "w", encoding="ascii") as f:
        f.write(SOURCE)
    os.utime("src/walk.c", (1000000000, 1000000000))
    done = run([need("gcc"), "-g", "-O1", "-o", "walk", os.path.abspath("src/walk.c")])
    assert done.returncode == 0, done.stderr
    record([os.path.abspath("walk")], *options)


def case_figures_of_lines():
    record([program("matrix"), "columns"])
    column = at("examples/matrix.c", "column")
    got = lines("matrix.c", "--context=1")
    assert sorted(got) == [column - 1, column, column + 1], got
    assert got[column]["misses"] == str(rows(f"SELECT {MISSES} FROM counts WHERE level = 'L1d' AND line = ? "
                                             "AND file LIKE '%/matrix.c'", column)[0][0])
    assert got[column]["object"] == "matrix"
    assert got[column]["source"].strip() == "sum += matrix[i][j]; /* @column */"
    assert got[column - 1]["misses"] == "" and "for (int i" in got[column - 1]["source"]
    whole = lines("examples/matrix.c", "--whole")
    with open(os.path.join(TOP, "examples/matrix.c"), encoding="utf-8") as f:
        assert len(whole) == len(f.readlines())
    assert sum(int(row["reads"] or 0) for row in whole.values()) == \
        rows("SELECT sum(reads) FROM counts WHERE level = 'L1d' AND user_file LIKE '%/matrix.c'")[0][0]
    second = lines("sum_columns", "--level=L2", "--context=0")
    assert sorted(second) == [column] and 60000 < int(second[column]["misses"]) < 70000
    text = annotate("--threshold=20")
    assert re.search(rf"^1,000,\d\d\d +99.\d  capacity \d+% +93.8  matrix +{column}  +sum \+= matrix", text,
                     re.MULTILINE), text
    assert re.search(r"^\d+ files below the threshold: [\d,]+ misses of L1d \(0.\d % of 1,\d", text, re.MULTILINE)


def case_regions_and_gaps():
    build()
    text = annotate("walk.c", "--context=1")
    assert re.search(r"^ +-- 44 lines --$", text, re.MULTILINE), text
    assert "table[j][i] = i;" in text and "sum += table" in text and "return 0" not in text
    fill = lines("fill", "--context=0")
    assert list(fill) == [8] and fill[8]["writes"] == "1048576", fill
    only = lines("walk.c", "--context=0", "--object=table", "--threshold=0")
    assert sorted(only) == [8, 55] and only[55]["writes"] == "0", only
    assert lines("walk.c", "--object=tab*", "--context=0") == lines("walk.c", "--object=table", "--context=0")


def case_source_that_moved():
    build()
    here = lines("walk.c")
    os.rename("src", "elsewhere")
    text = annotate("walk.c", "--context=1")
    assert "its source was not found" in text and "sum +=" not in text, text
    assert re.search(r"^[\d,]+ +\d+\.\d  .* 8$", text, re.MULTILINE), text
    assert lines("walk.c", "--source-dir=elsewhere") == here
    assert lines("walk.c", "--source-dir=nowhere", "--source-dir", ".") == here  # it is the only one
    os.mkdir("elsewhere/copy")
    shutil.copy("elsewhere/walk.c", "elsewhere/copy")
    assert lines("walk.c", "--source-dir", ".") != here  # it may be either
    shutil.rmtree("elsewhere/copy")
    assert lines("walk.c", f"--map={os.getcwd()}/src=elsewhere") == here
    assert lines("walk.c", f"--map=/nowhere=/", f"--map={os.getcwd()}/src/walk.c=elsewhere/walk.c") == here
    assert f"source: elsewhere/walk.c" in annotate("walk.c", "--source-dir=elsewhere")


def case_odd_paths():
    """Folders with tabs and ends of lines, in which the profile has a stand-in; sources that a prefix was mapped away of."""
    text = "int a[4096];\nint main(void)\n{\n\tint s = 0;\n\tfor (int i = 0; i < 4096; i++)\n\t\ts += a[i]; /* here */\n\treturn s;\n}\n"
    top = os.getcwd()
    for folder in ("ta\tb", "li\nne", "by\udcffte", "plain"):
        os.makedirs(os.path.join(top, folder, "src"))
        os.chdir(os.path.join(top, folder))
        with open("src/odd.c", "w", encoding="ascii") as f:
            f.write(text)
        for n, options in enumerate(([], ["-ffile-prefix-map=" + os.getcwd() + "=."], ["-ffile-prefix-map=" + os.getcwd() + "=/build/x"],
                                     ["-ffile-prefix-map=" + os.getcwd() + "/src=/y"])):
            if folder != "plain" and options:
                continue
            assert run([need("gcc"), "-g", "-O1", *options, "-o", "odd", os.path.abspath("src/odd.c")]).returncode == 0
            record(["./odd"])
            os.makedirs("elsewhere", exist_ok=True)
            for where in [["--source-dir=.."], ["--source-dir=../src"]] if options else [[]]:
                done = nearmiss("annotate", "-i", os.path.abspath("p.nmp"), "odd.c", *where,
                                folder="elsewhere" if where else ".")
                assert done.returncode == 0 and b"/* here */" in done.stdout, (folder, n, where, done)
    os.chdir(top)


def case_source_that_changed():
    build()
    assert "note:" not in annotate("walk.c")
    later = time.time() + 1000
    os.utime("src/walk.c", (later, later))
    assert "note:" not in annotate("walk.c")  # what matters is whether it is the same
    with open("src/walk.c", "w", encoding="ascii") as f:
        f.write(SOURCE.replace("int main", "\n\n\nint main"))
    assert "note: it is not what it was when" in annotate("walk.c")
    with open("src/walk.c", "w", encoding="ascii") as f:
        f.write("short\n")
    document = json.loads(annotate("walk.c", "--format=json"))
    assert "beyond its end (line 1)" in document["files"][0]["note"], document
    assert {row["line"] for row in document["files"][0]["lines"]} == {8, 55}
    shutil.rmtree("src")
    os.mkfifo("walk.c")  # must not be waited for
    assert "not found" in annotate("walk.c", "--source-dir=.")


def case_embedded_sources():
    build("--embed-sources")
    here = lines("walk.c")
    shutil.rmtree("src")
    assert lines("walk.c") == here
    text = annotate("walk.c")
    assert "source: in the profile" in text and "note:" not in text, text
    os.mkdir("src")
    with open("src/walk.c", "w", encoding="ascii") as f:
        f.write("another\n")
    assert lines("walk.c") == here  # what was recorded goes before what is there now
    assert "beyond its end" in annotate("walk.c", "--source-dir=.")  # but not before what the user says
    packed, = rows("SELECT text FROM sources WHERE file LIKE '%/walk.c'")[0]
    assert zlib.decompress(packed).decode() == SOURCE
    assert hashlib.md5(SOURCE.encode()).hexdigest() == \
        rows("SELECT md5 FROM sources WHERE file LIKE '%/walk.c'")[0][0]
    record([os.path.abspath("walk")], profile="plain.nmp")
    assert rows("SELECT count(*) FROM sources WHERE text IS NOT NULL", profile="plain.nmp") == [(0,)]


def case_source_that_a_profile_from_elsewhere_names():
    """A file outside the working directory is shown if it is what was recorded, and else only if the user says so."""
    build()
    os.mkdir("work")
    os.rename("p.nmp", "work/p.nmp")
    os.chdir("work")
    assert "fill();" in annotate("walk.c")
    with open("../src/walk.c", "w", encoding="ascii") as f:
        f.write(SOURCE.replace("fill();", "secret();"))
    text = annotate("walk.c")
    assert "secret" not in text and "outside the working directory" in text, text
    assert "secret();" in annotate("walk.c", "--source-dir=../src")
    os.chdir("..")


def case_source_roots():
    """Texts are kept of sources below the roots; a replay keeps those below the working directory."""
    build("--embed-sources", "--source-root", "/usr", "--trace", "t.nmt")
    kept = "SELECT count(*) FROM sources WHERE file LIKE '%/walk.c' AND text IS NOT NULL"
    assert rows(kept) == [(0,)]
    for folder, count in ((".", 1), ("src", 1), ("/usr", 0)):
        done = nearmiss("replay", "-q", "-o", "r.nmp", "-c", "L1d=32K,8,64", "--embed-sources", "--source-root",
                        folder, "t.nmt")
        assert not done.returncode and rows(kept, profile="r.nmp") == [(count,)], (folder, done)
    os.mkdir("work")
    done = run([NEARMISS, "replay", "-q", "-o", "r.nmp", "-c", "L1d=32K,8,64", "--embed-sources", "../t.nmt"],
               folder="work")
    assert not done.returncode and rows(kept, profile="work/r.nmp") == [(0,)], done


def case_source_newer_than_the_program():
    """It is compared with the program, not with the older library that its lines call."""
    with open("fill.c", "w", encoding="ascii") as f:
        f.write("#include <string.h>\nstatic char bytes[1 << 16];\nint main(int n, char **v)\n{\n\tmemset(bytes, n, sizeof bytes);\n"
                "\treturn bytes[n] - n + !v;\n}\n")
    done = run([need("gcc"), "-g", "-fno-builtin", "-o", "fill", "fill.c"])
    assert done.returncode == 0, done.stderr
    record([os.path.abspath("fill")])
    shown = annotate("fill.c")
    assert "memset(bytes" in shown and "note:" not in shown, shown
    build()
    assert "note:" not in annotate("walk.c")
    later = time.time() + 1000
    os.utime("src/walk.c", (later, later))
    record([os.path.abspath("walk")])
    assert "note: it was changed after the program had been built" in annotate("walk.c")


def case_source_that_was_compiled():
    """clang stores the MD5 of the source: a change is noticed without file times, and a new time alone is not a change."""
    build()
    digest = hashlib.md5(SOURCE.encode()).hexdigest()
    compiled = "SELECT md5, compiled FROM sources WHERE file LIKE '%/walk.c'"
    assert rows(compiled) == [(digest, None)]  # gcc does not
    assert run([need("clang"), "-gdwarf-5", "-O1", "-o", "walk", "src/walk.c"]).returncode == 0
    command = [os.path.abspath("walk")]
    later = time.time() + 1000
    os.utime("src/walk.c", (later, later))
    record(command, "--trace", "t.nmt")
    assert rows(compiled) == [(digest, digest)]
    assert "note:" not in annotate("walk.c")
    changed = SOURCE.replace("Two", "2")
    with open("src/walk.c", "w", encoding="ascii") as f:
        f.write(changed)
    os.utime("src/walk.c", (1000000000, 1000000000))
    assert "note: it is not what was compiled" in annotate("walk.c")
    record(command, "--embed-sources")
    assert rows(compiled) == [(hashlib.md5(changed.encode()).hexdigest(), digest)]
    assert "note: it is not what was compiled" in annotate("walk.c")
    shutil.rmtree("src")
    text = annotate("walk.c")
    assert "source: in the profile" in text and "note: it is not what was compiled" in text, text
    done = nearmiss("replay", "-o", "p.nmp", "t.nmt")
    assert done.returncode == 0, done.stderr
    assert rows(compiled) == [(None, digest)]
    os.mkdir("src")
    with open("src/walk.c", "w", encoding="ascii") as f:
        f.write(SOURCE)
    assert "note:" not in annotate("walk.c")


def case_relative_paths():
    """A compiler that is given a relative path notes a relative path: its own folder makes it absolute."""
    build()
    assert run([need("gcc"), "-g", "-O1", "-o", "walk", "src/walk.c"]).returncode == 0
    program = os.path.abspath("walk")
    os.mkdir("other")
    os.chdir("other")
    record([program])
    os.chdir("..")
    os.rename("other/p.nmp", "p.nmp")
    assert lines("walk.c")[8]["source"].strip() == "table[j][i] = i;"
    assert rows("SELECT DISTINCT file FROM counts WHERE file LIKE '%walk.c'") == [(os.path.abspath("src/walk.c"),)]


FACTS = "process, thread, level, function, file, line, object"
SUMS = ("sum(reads), sum(writes), sum(read_misses), sum(write_misses), sum(cold), sum(capacity), sum(conflict), "
        "sum(coherence), sum(loads), sum(reuse), sum(used_bytes), sum(loaded_bytes), sum(evictions), sum(writebacks), "
        "sum(weighted_bytes)")


def instructions(*arguments):
    return list(csv.DictReader(annotate("--asm", "--format=csv", *arguments).splitlines()))


def case_instructions():
    """The counts of instructions add up to those of their lines, and the rest of the profile stays the same."""
    with open(program("matrix"), "rb") as f:
        image = f.read()
    with open("copy", "wb") as f:
        f.write(image)
    os.chmod("copy", 0o755)
    command = [os.path.abspath("copy"), "columns"]
    record(command, "--asm", "--embed-sources")
    record(command, profile="lines.nmp")
    for view in ("counts", "evictions", "objects", "levels"):
        assert rows(f"SELECT * FROM {view}") == rows(f"SELECT * FROM {view}", profile="lines.nmp"), view
    assert rows(f"SELECT {FACTS}, {SUMS} FROM instructions GROUP BY {FACTS}") == \
        rows(f"SELECT {FACTS}, {SUMS} FROM counts GROUP BY {FACTS}")
    os.unlink("copy")  # the profile has all that is shown
    column = at("examples/matrix.c", "column")
    heavy, = instructions("sum_columns", "--context=0")
    assert heavy["module"] == "copy" and heavy["object"] == "matrix" and heavy["line"] == str(column), heavy
    assert heavy["function"] == "sum_columns" and heavy["reads"] == "1000000", heavy
    assert heavy["source"].strip() == "sum += matrix[i][j]; /* @column */"
    objdump = run([need("objdump"), "-d", "--no-show-raw-insn", program("matrix")]).stdout.decode()
    listed = re.search(r"<sum_columns>:\n(.*?)\n\n", objdump, re.DOTALL)[1].splitlines()
    shown = instructions("sum_columns", "--whole")
    assert [int(line.split(":")[0], 16) for line in listed] == [int(row["address"], 16) for row in shown]
    for line, row in zip(listed, shown):  # objdump omits the suffixes that the operands tell
        assert row["instruction"].startswith(line.split()[1]), (line, row)
    text = annotate("--asm", "matrix.c", "--context=1")
    assert re.search(rf"^ +matrix.c:{column}  sum \+= matrix\[i\]\[j\]; /\* @column \*/\n1,000,0\d\d +99.\d  capacity",
                     text, re.MULTILINE), text
    intel = instructions("sum_columns", "--syntax=intel", "--context=0")[0]["instruction"]
    assert "[" in intel and "(" not in intel, intel


def case_instructions_without_symbols():
    record([program("matrix-stripped"), "columns"], "--asm")
    text = annotate("--asm")
    assert re.search(r"^code without symbols in matrix-stripped: 1,000,\d\d\d misses", text, re.MULTILINE), text
    heavy = max(instructions(), key=lambda row: int(row["misses"] or 0))
    assert 1000000 <= int(heavy["reads"]) and "(%r" in heavy["instruction"], heavy
    done = nearmiss("annotate", "-i", "p.nmp", "--asm", "main")
    assert done.returncode == USAGE and b'"main"' in done.stderr, done


def case_no_disassembler():
    """Capstone is loaded on demand; if it is missing, a message says so and everything else works."""
    record([program("matrix"), "columns"], "--asm")
    os.mkdir("broken")
    for major in range(4, 10):
        with open(f"broken/libcapstone.so.{major}", "w", encoding="ascii") as f:
            f.write("no library")
    broken = {**ENVIRONMENT, "LD_LIBRARY_PATH": os.path.abspath("broken")}
    done = nearmiss("annotate", "-i", "p.nmp", "--asm", environment=broken)
    assert done.returncode and done.stdout == b"", done
    assert re.fullmatch(rb"nearmiss: .*Capstone.*libcapstone.*\n", done.stderr), done
    assert nearmiss("annotate", "-i", "p.nmp", environment=broken).returncode == 0


def case_inlined_functions():
    """An instruction that was inlined stands in the function around it, under the line that it is from."""
    with open("inline.c", "w", encoding="ascii") as f:
        f.write("int table[1 << 20];\n"
                "static inline __attribute__((always_inline)) int get(int i)\n{\n\treturn *(volatile int *)&table[i];\n}\n"
                "int main(void)\n{\n\tint sum = 0;\n\tfor (int i = 0; i < 1 << 20; i += 16)\n\t\tsum += get(i);\n"
                "\treturn sum;\n}\n")
    assert run([need("gcc"), "-g", "-O1", "-o", "inline", "inline.c"]).returncode == 0
    record([os.path.abspath("inline")], "--asm")
    found = json.loads(annotate("--asm", "get", "--context=0", "--format=json"))["functions"]
    assert [f["function"] for f in found] == ["main"], found
    row, = found[0]["instructions"]
    assert (row["function"], row["line"], row["misses"]) == ("get", 4, 65536), row


def case_debian_program_with_separate_debug_information():
    """libc6-dbg gives the C library's lines; its sources are not installed."""
    debug = "/usr/lib/debug/.build-id"
    need("sort")
    if not os.path.isdir(debug):
        return
    with open("words", "w", encoding="ascii") as f:
        f.writelines(f"{n * 7919 % 9973}\n" for n in range(20000))
    record([need("sort"), "words"])
    document = json.loads(annotate("--threshold=0", "--format=json"))
    assert document["misses"] == rows(f"SELECT {MISSES} FROM counts WHERE level = 'L1d'")[0][0]
    assert document["misses"] == document["without_lines"] + document["left_out"] + \
        sum(f["misses"] for f in document["files"])
    for file in document["files"]:
        assert file["misses"] == sum(f["misses"] for f in file["functions"]), file["file"]
    if rows("SELECT 1 FROM undebugged WHERE module LIKE '%/libc.so.6'"):
        return
    named = [f["file"] for f in document["files"]]
    assert any(name.endswith("strcoll_l.c") or "multiarch" in name for name in named), named


def case_refusals():
    build()
    for arguments, word in ((["nowhere.c"], "nowhere.c"), (["--object=nothing"], "nothing"),
                            (["--columns=misses,nothing"], "nothing"), (["--map=x"], "OLD=NEW"),
                            (["--threshold=101"], "0 to 100"), (["--context=-1"], "number"),
                            (["--thread=9"], "thread"), (["--asm"], "record with --asm"), (["--syntax=arm"], "arm"),
                            (["--process=other"], "other"), (["--color=red"], "red")):
        done = nearmiss("annotate", "-i", "p.nmp", *arguments)
        assert done.returncode == USAGE and not done.stdout and word in done.stderr.decode(), (arguments, done)
        assert len(done.stderr.splitlines()) == 1, done


if __name__ == "__main__":
    main(globals())
