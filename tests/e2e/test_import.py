# SPDX-License-Identifier: MIT
"""test_import.py - traces of other tools: a program's Lackey and din traces count what its recording counts; the samples of
tests/data/import, all of the same instructions, count alike in every format; and traces that the tools have written count what
their own simulators count."""

import gzip
import lzma
import os
import random
import re
import subprocess
import tempfile

from harness import ENVIRONMENT, NEARMISS, SPEC, TOP, counts, main, need, nearmiss, program, record, rows, run

COLLECTOR = os.path.realpath(os.environ.get("COLLECTOR", os.path.join(TOP, "build/src/collect/valgrind")))
DATA = os.path.join(TOP, "tests/data/import")
COLUMNS = "reads, writes, read_misses, write_misses, cold, capacity, conflict, loads"
BAD_INPUT, USAGE = 121, 2


def replay(trace, *options, profile="r.nmp", status=0, stdin=b""):
    machine = [] if "--cache" in options else ["--cache", SPEC]
    done = nearmiss("replay", "-q", "-o", profile, *machine, *options, trace, stdin=stdin)
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


FOLLOWS = 64  # an access that shares the address word of the one before it


class Blocks:
    """What `trace print` shows of blocks: instructions, accesses, exits."""

    def __init__(self):
        self.known = {}

    def define(self, number, words):
        instructions, accesses = words[1] & 0xffff, words[1] >> 16 & 0xffff
        end = 2 + instructions
        table = words[end:end + accesses]
        heads = [not access >> 32 & FOLLOWS for access in table]
        exits = {sum(heads[:word & 0xffff]): (word >> 16, word & 0xffff) for word in words[end + accesses:]}
        exits[sum(heads)] = (instructions, accesses)
        self.known[number] = (words[2:end], table, exits)

    def run(self, number, addresses):
        """("i", pc, bytes), and ("r" or "w", address, bytes) behind each that accesses memory."""
        instructions, accesses, exits = self.known[number]
        done, reached = exits[len(addresses)]
        at, group = 0, -1
        for i in range(done):
            yield "i", instructions[i] & (1 << 48) - 1, instructions[i] >> 48
            while at < reached and accesses[at] >> 16 & 0xffff == i:
                flags = accesses[at] >> 32
                group += not flags & FOLLOWS
                if addresses[group] and flags & 3:
                    yield "r" if flags & 1 else "w", addresses[group] + (accesses[at] >> 48), accesses[at] & 0xffff
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


# What drcachesim (DynamoRIO 76bfa29a3 of January 2024) counts of its own trace walk.drmemtrace: L1i, L1d, LL; policy; misses
# of each, and compulsory ones. Lines have 64 bytes, there is one core and no prefetcher.
DRCACHESIM = (
    (("1K,2", "1K,2", "8K,4"), "lru", (4, 85, 38), (4, 34, 38)),
    (("1K,2", "1K,2", "8K,4"), "fifo", (4, 86, 38), (4, 34, 38)),
    (("2K,4", "512,1", "16K,8"), "lru", (4, 158, 38), (4, 34, 38)),
    (("2K,4", "512,1", "16K,8"), "fifo", (4, 158, 38), (4, 34, 38)),
    (("512,8", "1K,4", "4K,16"), "lru", (4, 58, 38), (4, 34, 38)),
    (("512,8", "1K,4", "4K,16"), "fifo", (4, 61, 38), (4, 34, 38)))

# What Dinero IV, version 7, counts of the first level of walk.din: compulsory, capacity and conflict misses, bytes from memory
# and to it, where it writes back in the end what is dirty. Under FIFO it classes by a fully associative FIFO, and nearmiss
# by LRU.
DINERO = (
    ("1K,2", "lru", (34, 19, 32), 5440, 1664),
    ("1K,2", "fifo", None, 5504, 1664),
    ("512,1", "lru", (34, 123, 1), 10112, 1728),
    ("1K,4", "lru", (34, 24, 0), 3712, 1664),
    ("1K,4", "fifo", None, 3904, 1664))


def case_peers_count_alike():
    """nearmiss counts traces of other tools as the tools' own simulators do."""
    sample = os.path.join(DATA, "walk.drmemtrace.xz")
    for sizes, policy, misses, compulsory in DRCACHESIM:
        spec = ":".join(f"{name}={size},64,policy={policy}" for name, size in zip(("L1i", "L1d", "L2"), sizes))
        replay(sample, "--instr", "--cache", spec)
        assert instructions("r.nmp") == 1753 + 19 # fetched, and rounds of the string instruction
        assert rows("SELECT reads, writes FROM levels WHERE level = 'L1d'", profile="r.nmp") == [(164, 153)]
        found = rows("SELECT loads, cold FROM levels ORDER BY position", profile="r.nmp")
        assert found == list(zip(misses, compulsory)), (spec, found)
    for size, policy, classes, read, written in DINERO:
        replay(os.path.join(DATA, "walk.din.xz"), "--cache", f"L1d={size},64,policy={policy}")
        found = rows("SELECT cold, capacity, conflict, 64 * loads, 64 * writebacks FROM levels", profile="r.nmp")[0]
        assert found[3] == read and (not classes or found[:3] == classes), (size, policy, found)
        assert found[4] in (written, written - 64), (size, policy, found)


def case_peers_tell_the_same_program():
    """Lackey counts a repeated instruction's last test too; ChampSim's converter makes records of their own of what a call, a
    return or a copy reads and writes, and no sizes, so that nothing lies across lines."""
    for name, executed, cold in (("drmemtrace", 1772, 34), ("din", 1772, 34), ("lackey", 1773, 34), ("champsim", 1800, 33)):
        replay(os.path.join(DATA, f"walk.{name}.xz"))
        assert instructions("r.nmp") == executed, (name, instructions("r.nmp"))
        assert rows("SELECT reads, writes, cold FROM levels", profile="r.nmp")[0] == (164, 153, cold), name


def case_packed_and_piped():
    with open(os.path.join(DATA, "list.din"), "rb") as f:
        plain = f.read()
    replay("-", profile="plain.nmp", stdin=plain)
    replay("-", "--format", "din", profile="named.nmp", stdin=gzip.compress(plain))
    with open("list.xz", "wb") as f:
        f.write(lzma.compress(plain))
    replay("list.xz")
    assert levels("plain.nmp") == levels("named.nmp") == levels("r.nmp")


def case_sizes_that_are_not_told():
    """DynamoRIO does not know how much xsavec writes, which each program that links dynamically executes."""
    lines = ("           8           1:       22346 ifetch       5 byte(s) @ 0x00007fb0a39522f8 0f c7 64 24 40       xsavec 0x40(%rsp)",
             "           9           1:       22346 write        0 byte(s) @ 0x00007ffd0ac59840 by PC 0x00007fb0a39522f8")
    replay("-", stdin="\n".join(lines).encode() + b"\n")
    assert levels("r.nmp")[0][:5] == (0, 1, 0, 1, 1), levels("r.nmp")


def case_csv_overlapping_accesses_keep_their_objects():
    """Each row counts as it says, even if accesses overlap or straddle lines."""
    random.seed(7)
    lines = []
    for _ in range(20000):
        number = random.randrange(4)
        address = 0x10000000 * (number + 1) + random.randrange(1 << 12)
        lines.append(f"{address},{random.choice('rw')},{random.randint(1, 32)},{'ABCD'[number]}\n")
    with open("t.csv", "w", encoding="ascii") as f:
        f.write("addr,rw,size,object\n" + "".join(lines))
    replay("t.csv")
    counts = dict(rows("SELECT object, sum(reads + writes) FROM counts WHERE level = 'L1d' GROUP BY object",
                       profile="r.nmp"))
    assert counts == {name: sum(line.endswith(name + "\n") for line in lines) for name in "ABCD"}, counts


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


def case_lines_of_others_are_told():
    """What is no record is skipped, counted and said; a file without a record leaves no profile, and shows none."""
    with open("t.csv", "w", encoding="ascii") as f:
        f.write("addr,rw\n16,r\n80,r\n96,maybe\n160,r\n")
    text = replay("t.csv").stderr.decode()
    assert text.startswith("nearmiss: t.csv: 1 of 5 lines") and "line 4: rw is neither a read nor a write" in text, text
    assert levels("r.nmp")[0][0] == 3
    with open("none.csv", "w", encoding="ascii") as f:
        f.write("addr,rw\n16,maybe\n")
    for name in ("none.csv", os.path.join(TOP, "README.md")):
        kept = counts("r.nmp")
        done = nearmiss("replay", "-o", "r.nmp", "--cache", SPEC, name)
        assert done.returncode == BAD_INPUT and done.stderr.count(b"\n") == 1, done
        assert counts("r.nmp") == kept


def case_the_kernels_part():
    """Skipped and said, or counted with --kernel."""
    with open("t.view", "w", encoding="ascii") as f:
        for n, (pc, data) in enumerate([(0x401000, 0x7f0000001000), (0xffffffff81e00000, 0xffff888000001000)] * 3):
            f.write(f"{2 * n + 1} {n}: W0.T7 ifetch 4 byte(s) @ {pc:#018x} 48 mov\n"
                    f"{2 * n + 2} {n}: W0.T7 read 8 byte(s) @ {data:#018x} by PC {pc:#018x}\n")
    text = replay("t.view").stderr.decode()
    assert "3 instructions and 3 references of the kernel were skipped" in text and levels("r.nmp")[0][0] == 3, text
    text = replay("t.view", "--kernel").stderr.decode()
    assert not text and levels("r.nmp")[0][0] == 6, text


def case_damage_is_told_and_what_stands_before_is_kept():
    with open(os.path.join(DATA, "list.champsim.xz"), "rb") as f:
        records = lzma.decompress(f.read())
    with open("cut", "wb") as f:
        f.write(records[:64 * 20 + 7])
    text = replay("cut", "--format", "champsim", status=BAD_INPUT).stderr.decode()
    assert "cut off within the record at byte 1280" in text, text
    assert instructions("r.nmp") == 20


def write_as_others(path):
    """Writes a Lackey trace as CSV with PCs and as DynamoRIO's view tool prints it; returns the names of the files."""
    pc, number, csv, view = 0, 0, ["addr,rw,size,pc"], []
    with open(path, encoding="ascii") as f:
        for line in f:
            found = re.match(r"(I | L| S| M) +([0-9a-f]+),([0-9]+)$", line)
            if not found:
                continue
            address, size = int(found[2], 16), int(found[3])
            if found[1] == "I ":
                pc, number = address, number + 1
                view.append(f"{len(view) + 1} {number}: W0.T7 ifetch {size} byte(s) @ {pc:#018x} non-branch")
            for rw, word in {" L": [("r", "read")], " S": [("w", "write")],
                             " M": [("r", "read"), ("w", "write")]}.get(found[1], ()):
                csv.append(f"{address:#x},{rw},{size},{pc:#x}")
                view.append(f"{len(view) + 1} {number}: W0.T7 {word} {size} byte(s) @ {address:#018x} by PC {pc:#018x}")
    for name, lines in (("t.csv", csv), ("t.view", view)):
        with open(name, "w", encoding="ascii") as f:
            f.write("\n".join(lines) + "\n")
    return ["t.csv", "t.view"]


def case_binary_names_code():
    """With the program, a trace that tells addresses has its functions, lines, variables and instructions."""
    valgrind = need("valgrind")
    path = program("variables-nopie")
    run([valgrind, "--tool=lackey", "--trace-mem=yes", "--log-file=t.lackey", path])
    done = nearmiss("replay", "--asm", "--binary", path, "-o", "named.nmp", "--cache", SPEC, "t.lackey")
    assert done.returncode == 0, done.stderr
    record([path], profile="recorded.nmp")
    ask = ("SELECT function, line, object, sum(reads), sum(writes) FROM counts WHERE level = 'L1d' AND file LIKE "
           "'%variables.c' AND object IN (SELECT object FROM objects WHERE kind IN ('global', 'static')) "
           "GROUP BY 1, 2, 3 ORDER BY 1, 2, 3")
    assert rows(ask, profile="named.nmp") == rows(ask, profile="recorded.nmp") != []
    for name in write_as_others("t.lackey"):
        done = nearmiss("replay", "--asm", "--binary", path, "-o", "other.nmp", "--cache", SPEC, name)
        assert done.returncode == 0, done.stderr
        assert rows(ask, profile="other.nmp") == rows(ask, profile="recorded.nmp"), name
        assert rows("SELECT count(*) > 50 FROM instructions WHERE module = 'variables-nopie'",
                    profile="other.nmp") == [(1,)], name
    low, high = rows("SELECT min(address), max(address) FROM instructions WHERE module = 'variables-nopie'",
                     profile="named.nmp")[0]
    assert 0x400000 <= low < high < 0x500000, (low, high)
    done = nearmiss("replay", "--binary", program("variables"), "t.lackey")
    assert done.returncode == 2 and b"@ADDRESS" in done.stderr, done.stderr
    done = nearmiss("replay", "--binary", "t.lackey", "t.lackey")
    assert done.returncode == 2 and b"is no program or library" in done.stderr, done.stderr


def case_refusals():
    with open("t.txt", "w", encoding="ascii") as f:
        f.write("nothing of the kind\n")
    assert b"no trace format" in replay("t.txt", status=BAD_INPUT).stderr
    assert b"no-such" in replay("no-such", status=BAD_INPUT).stderr
    replay("t.txt", "--format", "tea-leaves", status=USAGE)
    replay("-", status=BAD_INPUT)


if __name__ == "__main__":
    main(globals())
