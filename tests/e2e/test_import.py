# SPDX-License-Identifier: MIT
"""test_import.py - traces of other tools: a program's Lackey trace counts what its recording counts, and the samples of
tests/data/import, all of the same instructions, count alike in every format."""

import gzip
import lzma
import os
import subprocess
import tempfile

from harness import ENVIRONMENT, SPEC, TOP, main, need, nearmiss, program, record, rows

DATA = os.path.join(TOP, "tests/data/import")
COLUMNS = "reads, writes, read_misses, write_misses, cold, capacity, conflict, loads"
DAMAGED, NO_PROFILE, USAGE = 118, 119, 124


def replay(trace, *options, profile="r.nmp", status=0, stdin=b""):
    done = nearmiss("replay", "-q", "-o", profile, "--cache", SPEC, *options, trace, stdin=stdin)
    assert done.returncode == status, f"{trace}: status {done.returncode}, not {status}\n{done.stderr.decode()}"
    return done


def levels(profile):
    return rows(f"SELECT {COLUMNS} FROM levels", profile=profile)


def instructions(profile):
    return int(rows("SELECT value FROM info WHERE key = 'instructions'", profile=profile)[0][0])


def lackey(command, folder):
    """Lackey's trace of a command whose stack lies where it lies under nearmiss: arguments and environment are on it, and
    Valgrind adds the folder of its tools to the environment."""
    valgrind = next(p for p in ("/usr/bin/valgrind.bin", "/usr/bin/valgrind") if os.path.exists(p))
    shown = nearmiss("record", "-q", "-o", "env.nmp", "--", need("env")).stdout.decode()
    ours = next(line.split("=", 1)[1] for line in shown.splitlines() if line.startswith("VALGRIND_LIB="))
    tools = os.path.dirname(os.path.realpath(os.path.join(ours, "vgpreload_core-amd64-linux.so")))
    library = os.path.join(folder, "x" * (len(ours) - len(folder) - 1)) if len(ours) > len(folder) + 1 else folder
    os.makedirs(library, exist_ok=True)
    for name in os.listdir(tools):
        os.symlink(os.path.join(tools, name), os.path.join(library, name))
    subprocess.run([valgrind, "-q", "--run-libc-freeres=no", "--run-cxx-freeres=no", "--tool=lackey", "--trace-mem=yes",
                    "--log-file=lackey.txt", *command], env=dict(ENVIRONMENT, VALGRIND_LIB=library), check=True,
                   stdout=subprocess.DEVNULL)


def to_din(source, target):
    with open(source, encoding="ascii") as f, open(target, "w", encoding="ascii") as out:
        for line in f:
            labels = {"I  ": "2", " L ": "0", " S ": "1", " M ": "01"}.get(line[:3], "")
            for label in labels:
                out.write(f"{label} {line[3:].strip().replace(',', ' ')}\n")


def case_lackey_and_din_count_like_a_recording():
    """Misses of each class are equal at both levels.  Lackey reads twice for a locked addition or exchange (a load and
    a compare-and-swap), nearmiss once, as the program does; and the dynamic linker compares the names of Valgrind's
    folder, which is another: some reads and writes more or less, all of which hit."""
    need("valgrind")
    command = [program("list")]
    record(command, "-q")
    with tempfile.TemporaryDirectory(prefix="", dir="/tmp") as folder:
        lackey(command, folder)
    to_din("lackey.txt", "list.din")
    direct = levels("p.nmp")
    for trace in ("lackey.txt", "list.din"):
        replay(trace)
        found = levels("r.nmp")
        assert abs(found[0][0] - direct[0][0]) <= 100 and abs(found[0][1] - direct[0][1]) <= 20, (found, direct)
        assert found[0][2:] == direct[0][2:] and found[1:] == direct[1:], (trace, found, direct)
        assert abs(instructions("r.nmp") - instructions("p.nmp")) <= 500
    replay("lackey.txt", profile="l.nmp")
    assert levels("l.nmp") == levels("r.nmp")


def case_formats_agree():
    """The samples: a Lackey trace of tests/programs/list cut short, and the same in the other formats' form."""
    replay(os.path.join(DATA, "list.lackey"), profile="l.nmp")
    assert rows("SELECT value FROM info WHERE key = 'collector'", profile="l.nmp") == [("lackey",)]
    for name in ("list.din", "list.drmemtrace"):
        replay(os.path.join(DATA, name))
        assert levels("r.nmp") == levels("l.nmp"), name
        assert instructions("r.nmp") == instructions("l.nmp"), name
    replay(os.path.join(DATA, "list.csv"))
    assert levels("r.nmp") == levels("l.nmp")
    replay(os.path.join(DATA, "list.champsim.xz"))  # sizes are not told: reads, writes and instructions are
    assert levels("r.nmp")[0][:2] == levels("l.nmp")[0][:2]
    assert instructions("r.nmp") == instructions("l.nmp")


def case_packed_and_piped():
    with open(os.path.join(DATA, "list.din"), "rb") as f:
        plain = f.read()
    replay("-", profile="plain.nmp", stdin=plain)
    replay("-", "--from", "din", profile="named.nmp", stdin=gzip.compress(plain))
    with open("list.xz", "wb") as f:
        f.write(lzma.compress(plain))
    replay("list.xz")
    assert levels("plain.nmp") == levels("named.nmp") == levels("r.nmp")


def case_csv_names_objects_and_lines():
    with open("t.csv", "w", encoding="ascii") as f:
        f.write("addr,rw,size,thread,object,function,file,line\n")
        for i in range(256):
            f.write(f"{0x10000 + 64 * i},r,8,1,\"Y(j,k)\",multiply,product.f,12\n")
            f.write(f"0x{0x20000 + 4 * (i % 8):x},w,4,2,{'ijklmnop'[i % 8]},multiply,product.f,13\n")
    replay("t.csv")
    found = rows("SELECT object, function, file, line, thread, reads, writes, cold FROM counts "
                 "WHERE level = 'L1d' ORDER BY object", profile="r.nmp")
    assert found[0] == ("Y(j,k)", "multiply", "product.f", 12, 1, 256, 0, 256), found[0]
    assert [row[:7] for row in found[1:]] == [(name, "multiply", "product.f", 13, 2, 0, 32) for name in "ijklmnop"], found
    sizes = dict(rows("SELECT object, bytes FROM objects", profile="r.nmp"))
    assert sizes["Y(j,k)"] == 2048 and sizes["i"] == 4, sizes


def case_damage_is_told_and_what_stands_before_is_kept():
    with open("t.csv", "w", encoding="ascii") as f:
        f.write("addr,rw\n16,r\n80,r\n96,maybe\n160,r\n")
    text = replay("t.csv", status=DAMAGED).stderr.decode()
    assert text == "nearmiss: t.csv: line 4: rw is neither a read nor a write; what stands before was used\n", text
    assert levels("r.nmp")[0][0] == 2
    with open(os.path.join(DATA, "list.champsim.xz"), "rb") as f:
        records = lzma.decompress(f.read())
    with open("cut", "wb") as f:
        f.write(records[:64 * 20 + 7])
    text = replay("cut", "--from", "champsim", status=DAMAGED).stderr.decode()
    assert "cut off within the record at byte 1280" in text, text
    assert instructions("r.nmp") == 20


def case_refusals():
    with open("t.txt", "w", encoding="ascii") as f:
        f.write("nothing of the kind\n")
    assert b"no trace format" in replay("t.txt", status=DAMAGED).stderr
    assert b"no-such" in replay("no-such", status=NO_PROFILE).stderr
    replay("t.txt", "--from", "tea-leaves", status=USAGE)
    replay("-", status=DAMAGED)


if __name__ == "__main__":
    main(globals())
