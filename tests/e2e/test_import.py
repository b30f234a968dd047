# SPDX-License-Identifier: MIT
"""test_import.py - traces of other tools: a program's Lackey and din traces count what its recording counts, and the samples of
tests/data/import, all of the same instructions, count alike in every format."""

import gzip
import lzma
import os
import subprocess
import tempfile

from harness import ENVIRONMENT, NEARMISS, SPEC, TOP, main, need, nearmiss, record, rows

COLLECTOR = os.path.realpath(os.environ.get("COLLECTOR", os.path.join(TOP, "build/src/collect/valgrind")))
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


def shared_tools(folder):
    """An environment in which Lackey and nearmiss have their tools in the same folder: its name is on the program's
    stack, and the dynamic linker reads it."""
    valgrind = next(f for f in ("/usr/libexec/valgrind", "/usr/lib/valgrind", "/usr/lib/x86_64-linux-gnu/valgrind")
                    if os.path.exists(f"{f}/lackey-amd64-linux"))
    for name in ("lackey-amd64-linux", "default.supp", "vgpreload_core-amd64-linux.so"):
        os.symlink(os.path.join(valgrind, name), os.path.join(folder, name))
    os.symlink(os.path.join(COLLECTOR, "nearmiss-amd64-linux"), os.path.join(folder, "nearmiss-amd64-linux"))
    return dict(ENVIRONMENT, NEARMISS_LIBEXEC=folder, VALGRIND_LIB=folder)


def lackey(command, environment):
    """Its standard output is a pipe, as when nearmiss records here: for a terminal or a device the C library asks more."""
    valgrind = next(p for p in ("/usr/bin/valgrind.bin", "/usr/bin/valgrind") if os.path.exists(p))
    subprocess.run([valgrind, "-q", "--run-libc-freeres=no", "--run-cxx-freeres=no", "--tool=lackey", "--trace-mem=yes",
                    "--log-file=lackey.txt", *command], env=environment, check=True, stdout=subprocess.PIPE)


class Blocks:
    """What `trace print` tells of blocks: their instructions, their accesses, and where they can be left."""

    def __init__(self):
        self.known = {}

    def define(self, number, words):
        instructions, accesses = words[1] & 0xffff, words[1] >> 16 & 0xffff
        end = 2 + instructions
        exits = {word & 0xffff: word >> 16 for word in words[end + accesses:]}
        self.known[number] = (words[2:end], words[end:end + accesses], exits)

    def run(self, number, addresses):
        """("i", pc, bytes), and ("r" or "w", address, bytes) behind each that accesses memory."""
        instructions, accesses, exits = self.known[number]
        done = len(instructions) if len(addresses) == len(accesses) else exits[len(addresses)]
        at = 0
        for i in range(done):
            yield "i", instructions[i] & (1 << 48) - 1, instructions[i] >> 48
            while at < len(addresses) and accesses[at] >> 16 & 0xffff == i:
                flags = accesses[at] >> 32
                if addresses[at] and flags & 3:
                    yield "r" if flags & 1 else "w", addresses[at], accesses[at] & 0xffff
                at += 1


def to_din(trace, target):
    """What the trace holds, as Dinero's extended din."""
    blocks = Blocks()
    with open(target, "w", encoding="ascii") as out, \
            subprocess.Popen([NEARMISS, "trace", "print", trace], stdout=subprocess.PIPE, text=True) as printer:
        for line in printer.stdout:
            _, kind, number, *words = line.split()
            if kind == "BLOCK_DEF":
                blocks.define(number, [int(word, 16) for word in words])
            elif kind == "BLOCK":
                out.writelines(f"{label} {address:x} {size:x}\n"
                               for label, address, size in blocks.run(number, [int(word, 16) for word in words]))


def case_lackey_and_din_count_like_a_recording():
    """The same program under Lackey, its recording's trace written as din, and the recording itself: equal counts of
    instructions, reads, writes and misses of each class at both levels."""
    need("valgrind")
    with open("text", "w", encoding="ascii") as f:
        f.writelines(f"{i} {i * i} {i * 7919 % 1000}\n" for i in range(300))
    command = [need("gzip"), "-nc", "text"]
    with tempfile.TemporaryDirectory(prefix="", dir="/tmp") as folder:
        environment = shared_tools(folder)
        record(command, "-q", "--trace", "gzip.nmt", environment=environment)
        lackey(command, environment)
    to_din("gzip.nmt", "gzip.din")
    for trace in ("lackey.txt", "gzip.din"):
        replay(trace)
        assert levels("r.nmp") == levels("p.nmp"), (trace, levels("r.nmp"), levels("p.nmp"))
        assert instructions("r.nmp") == instructions("p.nmp"), trace


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
