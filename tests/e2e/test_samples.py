# SPDX-License-Identifier: MIT
"""test_samples.py - samples of a processor: a file of perf of each kind gives the rows that it must; page faults of real programs
are the pages of their variables; damaged files keep what they hold."""

import csv
import json
import os
import sqlite3
import struct
import subprocess

from harness import TOP, Skip, main, need, nearmiss, program, record as recorded, rows, run, valid_report

BAD_INPUT, USAGE, NO_COLLECTOR = 121, 2, 120
SAMPLE, MMAP2, COMM = 9, 10, 3
IP, TID, TIME, ADDR, WEIGHT, DATA_SRC = 1, 2, 4, 8, 1 << 14, 1 << 15
LOAD, STORE, NOTHING = 2, 4, 1
L1, L2, MEMORY, NOT_L1 = (0x2 | 0x8) << 5, (0x2 | 0x20) << 5, (0x2 | 0x80) << 5, (0x4 | 0x8) << 5
HITM = 0x10 << 19
TEXT, DATA = 0x401000, 0x404000


def record(kind, misc, body):
    body += b"\0" * (-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def mapping(address, size, path, executable, offset=0):
    name = path.encode() + b"\0"
    body = struct.pack("<IIQQQIIQQII", 100, 100, address, size, offset, 0, 0, 0, 0, 5 if executable else 3, 2)
    return record(MMAP2, 2 | (0 if executable else 1 << 13), body + name)


def samples_file(path, samples, order="<", name="solver", code=None):
    """A perf.data of one event as Intel's mem-loads: samples are (thread, ip, address, cycles, source). code: the mapping of it."""
    kinds = IP | TID | TIME | ADDR | WEIGHT | DATA_SRC
    attr = struct.pack("<IIQQQQQ", 4, 64, 0x1cd, 10007, kinds, 0, 0).ljust(64, b"\0")
    data = record(COMM, 1 << 13, struct.pack("<II", 100, 100) + name.encode() + b"\0")
    data += code or mapping(TEXT, 0x1000, "/gone/solver", True)
    data += mapping(DATA, 0x1000, "/gone/solver", False)
    data += mapping(0x7ffd00000000, 0x10000, "[stack]", False) + mapping(0x5550000, 0x10000, "[heap]", False)
    for time, (thread, ip, address, cycles, source) in enumerate(samples, 1000):
        data += record(SAMPLE, 1 if ip >> 63 else 2, struct.pack("<QIIQQQQ", ip, 100, thread, time, address, cycles, source))
    entry = len(attr) + 16
    head = b"PERFILE2" if order == "<" else b"2ELIFREP"
    head += struct.pack("<QQQQQQQQQQQQ", 104, entry, 104, entry, 104 + entry, len(data), 0, 0, 0, 0, 0, 0)
    with open(path, "wb") as out:
        out.write(head + attr + struct.pack("<QQ", 0, 0) + data)


def imported(*arguments, status=0):
    done = nearmiss("import", "-q", "-o", "p.nmp", *arguments)
    assert done.returncode == status, done
    return done


def case_latencies():
    """Shares, sources and latencies by object are the sums of the samples: 60 of the heap at 300 cycles, 40 of the stack, 38 of them
    at 4 cycles and two at 1000."""
    heap = [(100, TEXT, 0x5550000 + 64 * i, 300, LOAD | MEMORY) for i in range(60)]
    stack = [(101, TEXT + 8, 0x7ffd00000000 + 8 * i, 1000 if i < 2 else 4, (LOAD | L1) if i >= 2 else (STORE | L2 | HITM))
             for i in range(40)]
    samples_file("perf.data", heap + stack + [(100, TEXT, 0, 0, NOTHING)] * 7)
    imported()
    table = nearmiss("report", "objects", "-i", "p.nmp", "--format=csv").stdout.decode().splitlines()
    fields = table[0].split(",")
    found = {line.split(",")[0]: dict(zip(fields, line.split(","))) for line in table[1:]}
    assert list(found) == ["[heap]", "[first thread's stack]"], found
    first, second = found.values()
    assert (first["samples"], first["memory"], first["hitm"], first["all"]) == ("60", "60", "0", "100"), first
    assert float(first["latency"]) == 300 and 300 <= int(first["latency_p95"]) <= 310, first
    assert (second["samples"], second["loads"], second["stores"], second["l1"], second["l2"], second["hitm"]) == \
        ("40", "38", "2", "38", "2", "2"), second
    total = 60 * 300 + 38 * 4 + 2 * 1000
    assert abs(float(second["latency_share"]) - 100 * (38 * 4 + 2000) / total) < 0.01, second
    assert second["latency_p95"] == "4", second  # 38 of 40 are 95 %
    assert first["interval"] == "50.2 - 69.1", first  # Wilson, 60 of 100
    summary = nearmiss("report", "-i", "p.nmp").stdout.decode()
    assert "107; 7 of instructions that access no memory" in summary, summary
    assert rows("SELECT thread, sum(count) FROM samples GROUP BY thread") == [(1, 67), (2, 40)]
    for arguments, told in ((("levels",), "simulated"), (("--by=level",), "no key"), (("objects", "--level=L1d"), "--level"),
                            (("objects", "--object=x"), "no object"), (("objects", "--thread=9"), "it has 1, 2")):
        done = nearmiss("report", "-i", "p.nmp", *arguments)
        assert done.returncode == USAGE and told in done.stderr.decode(), done
    for command in (["annotate"], ["evictions"], ["curve"], ["export", "callgrind"]):
        done = nearmiss(*command, "p.nmp")
        assert done.returncode == USAGE and b"samples" in done.stderr, done


def table(*arguments):
    """The rows of a report, by its first column."""
    lines = nearmiss("report", *arguments, "--format=csv").stdout.decode().splitlines()
    return {line.split(",")[0]: dict(zip(lines[0].split(","), line.split(","))) for line in lines[1:]}


def case_histograms():
    """Latencies by powers of two, of all samples and of an object, and by what served them, straight from the file of perf. A level
    that was missed served nothing."""
    samples_file("perf.data", [(100, TEXT, 0x5550000, cycles, LOAD | served) for cycles, served, count in
                               ((4, L1, 6), (7, L1, 2), (70, NOT_L1, 5), (300, MEMORY, 3)) for _ in range(count)] +
                 [(100, TEXT, 0x7ffd00000000, 5, LOAD | L1)] * 4)
    found = table("latencies", "perf.data")
    assert [(band, row["samples"], row["l1"], row["missed"], row["memory"]) for band, row in found.items()] == \
        [("4", "12", "12", "0", "0"), ("64", "5", "0", "5", "0"), ("256", "3", "0", "0", "3")], found
    assert abs(float(found["256"]["latency_share"]) - 100 * 900 / (24 + 14 + 350 + 900 + 20)) < 0.01, found
    assert len(valid_report(nearmiss("report", "latencies", "perf.data", "--format=json").stdout)["rows"]) == 3
    heap = table("latencies", "perf.data", "--object=[heap]")
    assert [(band, row["samples"]) for band, row in heap.items()] == [("4", "8"), ("64", "5"), ("256", "3")], heap
    served = table("--by=served", "perf.data")
    assert {name: (row["samples"], round(float(row["latency"]), 3), row["latency_p95"]) for name, row in served.items()} == \
        {"memory": ("3", 300, "303"), "beyond L1": ("5", 70, "71"), "L1": ("12", 4.833, "7")}, served
    samples_file("none.data", [(100, TEXT, 0x5550000, 0, LOAD | L1)])
    done = nearmiss("report", "latencies", "none.data")
    assert done.returncode == USAGE and b"no latencies" in done.stderr, done
    assert not os.path.exists("nearmiss.nmp")


def case_damaged_files():
    """What lies before the damage is kept; other byte orders, other files and files without samples are told."""
    samples_file("whole", [(100, TEXT, 0x5550000, 9, LOAD | L1)] * 50)
    with open("whole", "rb") as f:
        data = f.read()
    with open("cut", "wb") as f:
        f.write(data[:-500])
    done = imported("cut", status=BAD_INPUT)
    assert 30 < rows("SELECT sum(count) FROM samples")[0][0] < 50, done
    samples_file("swapped", [], order=">")
    samples_file("none", [])
    with open("text", "w", encoding="ascii") as f:
        f.write("no samples\n")
    for name, told in (("swapped", "big-endian"), ("none", "no samples"), ("text", "perf"), ("missing", "No such file")):
        done = imported(name, status=BAD_INPUT)
        assert told in done.stderr.decode() and done.stderr.count(b"\n") == 1, done


def perf(*arguments):
    """Runs perf record; Skip where it is missing or may not sample."""
    tool = need("perf")
    probe = run([tool, "record", "-q", "-e", "page-faults", "-c", "1", "-d", "-o", "probe.data", "--", "/bin/true"])
    if probe.returncode:
        raise Skip("perf may not sample page faults here: " + probe.stderr.decode().strip().splitlines()[-1])
    subprocess.run([tool, "record", "-q", *arguments], check=True, stdout=subprocess.DEVNULL)


def case_page_faults():
    """Every page of `matrix`, 4,000,000 bytes that are first touched in the loop, faults once, in both modes of perf record."""
    for output in (["-o", "perf.data"], ["-z", "-o", "perf.data"]):
        perf("-e", "page-faults", "-c", "1", "-d", *output, "--", program("matrix"), "columns")
        imported()
        pages = dict(rows("SELECT object, sum(count) FROM samples GROUP BY object"))
        huge = os.path.exists("/sys/kernel/mm/transparent_hugepage/enabled") and pages["matrix"] < 100
        assert huge or 970 <= pages["matrix"] <= 977, pages
        lines = rows("SELECT file, sum(count) FROM samples WHERE object = 'matrix' GROUP BY file, line ORDER BY 2 DESC")
        assert lines[0][0].endswith("matrix.c") and lines[0][1] > 0.9 * pages["matrix"], lines


def case_pipe():
    """What perf record writes to a pipe is read as its file is."""
    tool = need("perf")
    perf("-e", "page-faults", "-c", "1", "-d", "-o", "perf.data", "--", "/bin/true")
    writer = subprocess.run([tool, "record", "-q", "-e", "page-faults", "-c", "1", "-d", "-o", "-", "--", program("matrix"), "columns"],
                            stdout=subprocess.PIPE, check=True)
    with open("matrix.pipe", "wb") as f:
        f.write(writer.stdout)
    imported("matrix.pipe")
    with open("matrix.pipe", "rb") as f:
        done = nearmiss("import", "-q", "-o", "stdin.nmp", "-", stdin=f.read())
    assert done.returncode == 0, done
    by_object = "SELECT object, sum(count) FROM samples GROUP BY object ORDER BY object"
    assert rows(by_object) == rows(by_object, profile="stdin.nmp") and dict(rows(by_object)).get("matrix"), rows(by_object)


def case_stored_file():
    """Page faults of another machine's program, whose files are not here: objects are its mappings."""
    imported(os.path.join(TOP, "tests/data/import/page-faults.perf.data.xz"))
    assert rows("SELECT sum(count) FROM samples WHERE process = 'matrix'")[0][0] > 1000
    names = {name for name, in rows("SELECT DISTINCT object FROM samples")}
    assert "mapped matrix" in {os.path.basename(n) if "/" not in n else "mapped " + os.path.basename(n) for n in names}, names


def text_of(path):
    """Offset, address and size of the segment that holds a program's code."""
    with open(path, "rb") as f:
        elf = f.read()
    start, size, count = struct.unpack_from("<Q", elf, 32)[0], *struct.unpack_from("<HH", elf, 54)
    for at in range(start, start + size * count, size):
        kind, flags, offset, address, _, _, length = struct.unpack_from("<IIQQQQQ", elf, at)
        if kind == 1 and flags & 1:
            return offset, address, length
    raise AssertionError(path)


def case_joined():
    """parts.c: samples without addresses go to what their instruction accesses, in its exact shares, fields too; those in the heap
    to its heap blocks. Samples of another build are refused, in one line."""
    recorded([program("parts")], "--asm", profile="exact.nmp")
    offset, address, length = text_of(program("parts"))
    base = 0x555555554000
    take, rate = (rows("SELECT address FROM instructions WHERE function = ? AND object LIKE ? AND level = "
                       "(SELECT level FROM levels WHERE position = 0)", function, name, profile="exact.nmp")[0][0] + base
                  for function, name in (("take", "three"), ("rate", "%all%")))
    code = mapping(base + address, (length + 4095) & ~4095, program("parts"), True, offset)
    heap = 0x5550000
    samples_file("perf.data", [(100, take, 0, 0, LOAD)] * 80 + [(100, rate, 0, 0, LOAD)] * 50 + [(100, take, heap, 0, LOAD)] * 20 +
                 [(100, take + 1, 0, 0, LOAD)] * 7 + [(100, take, 0, 0, NOTHING)] * 5, name="parts", code=code)
    imported("-x", "exact.nmp")
    found = rows("SELECT object, field, shared, sum(count) FROM samples WHERE operation <> 'none' GROUP BY 1, 2, 3 ORDER BY 4, 1")
    names = {name: next(o for o, _, _, _ in found if name in o) for name in ("three", "one", "four", "all", "<no data>")}
    assert found == [("<no data>", None, 0, 7), (names["all"], "seldom", 1, 10), (names["one"], None, 1, 10),
                     (names["four"], None, 0, 20), (names["three"], None, 1, 30), (names["all"], "often", 1, 40),
                     (names["four"], None, 1, 40)], found
    fields = table("fields", "-i", "p.nmp")
    assert fields["struct rated.often"]["samples"] == "40" and fields["struct rated.often"]["shared"] == "40", fields
    told = nearmiss("report", "-i", "p.nmp", "--width=0").stdout.decode()
    assert "exact.nmp names the data of 150 samples, of which 130 are shares" in told, told
    with open(program("parts"), "rb") as whole, open("parts", "wb") as changed:
        before, note, after = whole.read().partition(b"\x14\0\0\0\3\0\0\0GNU\0")  # the build-id
        changed.write(before + note + bytes(range(20)) + after[20:])
    other = mapping(base + address, (length + 4095) & ~4095, os.path.abspath("parts"), True, offset)
    samples_file("other.data", [(100, take, 0, 0, LOAD)] * 8, name="parts", code=other)
    done = imported("-x", "exact.nmp", "other.data")
    assert done.stderr.count(b"\n") == 1 and b"another build" in done.stderr and b"00010203" in done.stderr, done
    assert rows("SELECT DISTINCT object FROM samples") == [("<no data>",)]
    done = nearmiss("report", "fields", "-i", "p.nmp")
    assert done.returncode == USAGE and b"--exact" in done.stderr, done
    for output, told in (("p.nmp", b"exact profile"), ("q.nmp", b"--asm")):
        done = nearmiss("import", "-q", "-o", output, "-x", "p.nmp")
        assert done.returncode and told in done.stderr and not os.path.exists("q.nmp"), done


def case_joined_clock():
    """What the clock of any machine samples is joined too; what cannot serve is told before the program runs."""
    recorded([program("matrix"), "columns"], "--asm", profile="exact.nmp")
    done = nearmiss("sample", "-q", "-e", "clock", "-c", "20000", "-x", "exact.nmp", "-o", "p.nmp", "--", program("matrix"), "columns")
    if done.returncode == NO_COLLECTOR:
        raise Skip(done.stderr.decode().strip())
    assert done.returncode == 0 and not done.stderr, done
    joined, named = (rows(sql)[0][0] for sql in ("SELECT CAST(value AS INTEGER) FROM info WHERE key = 'joined_samples'",
                                                 "SELECT coalesce(sum(count), 0) FROM samples WHERE object <> '<no data>'"))
    assert joined == named, (joined, named)
    done = nearmiss("sample", "-x", "p.nmp", "-o", "q.nmp", "--", "touch", "ran")
    assert done.returncode == BAD_INPUT and b"--asm" in done.stderr and not os.path.exists("ran"), done


TLB_MISS = (0x4 | 0x8) << 26
KERNEL_TEXT = 0xffffffff81000000


def disagreements(*arguments):
    """The rows of nearmiss diff by object and function."""
    done = nearmiss("diff", *arguments, "--format=csv", "--limit=0")
    assert done.returncode == 0, done
    found = list(csv.DictReader(done.stdout.decode().splitlines()))
    return {(row["object"], row["function"]): row for row in found}


def sampled_loads(name, groups):
    """A perf.data of the program `matrix`: of its loads (function) so many samples with a source, and of the kernel."""
    offset, address, length = text_of(program("matrix"))
    base = 0x555555554000
    pc = {function: base + rows("SELECT address FROM instructions WHERE function = ? AND object = 'matrix' LIMIT 1", function,
                                profile="exact.nmp")[0][0] for function, _, _ in groups if function != "kernel"}
    samples_file(name, [(100, pc.get(function, KERNEL_TEXT), 0, 0, LOAD | source) for function, source, count in groups
                        for _ in range(count)], name="matrix",
                 code=mapping(base + address, (length + 4095) & ~4095, program("matrix"), True, offset))


def case_agreement():
    """A model beside a machine: rows whose share of misses the samples' interval excludes, with the reason that the profiles hold
    evidence for: the kernel, a prefetcher, the TLB, page colours."""
    recorded([program("matrix"), "rows"], "--asm", "--cache", "L1d=32K,8,64:L2=1M,16,64", profile="exact.nmp")
    sampled_loads("agreeing", [("sum_rows", MEMORY, 97), ("sum_rows", L1, 400)])
    imported("-x", "exact.nmp", "agreeing")
    assert ("matrix", "sum_rows") not in disagreements("exact.nmp", "p.nmp", "--by=object,line,function")
    sampled_loads("fewer", [("sum_rows", MEMORY, 100), ("sum_rows", L1, 900), ("kernel", MEMORY, 300)])
    imported("-x", "exact.nmp", "fewer")
    found = disagreements("p.nmp", "exact.nmp", "--by=object,line,function")  # in any order
    matrix, kernel = found["matrix", "sum_rows"], found["<no data>", "<kernel>"]
    assert (matrix["samples"], matrix["model"], matrix["reason"]) == ("100", "62500", "prefetcher"), matrix
    assert "4 bytes" in matrix["evidence"] and matrix["interval"] == "21.0 - 29.5", matrix  # Wilson, 100 of 400
    assert (kernel["samples"], kernel["model"], kernel["reason"]) == ("300", "0", "kernel"), kernel
    text = nearmiss("diff", "exact.nmp", "p.nmp", "--width=0").stdout.decode()
    assert "load misses of L1d with accesses that it did not serve" in text and "of 400 samples" in text, text
    whole = json.loads(nearmiss("diff", "exact.nmp", "p.nmp", "--format=json").stdout)
    assert whole["samples"] == 400 and whole["disagree"] >= len(whole["rows"]) > 1, whole
    recorded([program("matrix"), "columns"], "--asm", "--cache", "L1d=4K,1,64:L2=128K,2,64", profile="exact.nmp")
    sampled_loads("colours", [("sum_columns", MEMORY | TLB_MISS, 50), ("kernel", MEMORY, 150)])
    imported("-x", "exact.nmp", "colours")
    colours = disagreements("exact.nmp", "p.nmp", "--level=L2", "--by=object,function")["matrix", "sum_columns"]
    assert colours["reason"] == "page colours", colours
    sampled_loads("slow", [("sum_columns", MEMORY | TLB_MISS, 50), ("kernel", MEMORY, 450)])
    recorded([program("matrix"), "rows"], "--cache", "L1d=32K,8,64:L2=1M,16,64", profile="other.nmp")
    imported("-x", "exact.nmp", "slow")
    with sqlite3.connect("p.nmp") as db:  # loads of at least 30 cycles
        db.execute("UPDATE entry SET value = 'cpu/mem-loads,ldlat=30/P every 10007' WHERE key = 'sampled_events'")
    db.close()
    slow = disagreements("other.nmp", "p.nmp", "--by=object,function")["matrix", "sum_columns"]
    assert slow["reason"] == "TLB" and "100 %" in slow["evidence"], slow
    for arguments, told in ((["--by=field"], "field"), (["--sort=misses"], "--sort"), (["--fail-on=misses:1"], "--fail-on"),
                            (["--level=L9"], "L9")):
        done = nearmiss("diff", "exact.nmp", "p.nmp", *arguments)
        assert done.returncode == USAGE and told in done.stderr.decode(), done


def case_first_touches_agree():
    """Page faults beside the cold misses of a TLB: the matrix has its 976 or 977 pages in both."""
    if os.sysconf("SC_PAGE_SIZE") != 4096:
        raise Skip("pages are not of 4096 bytes")
    recorded([program("matrix"), "columns"], "--cache", "L1d=32K,8,64:tlb/L1=256K,4,4096", profile="model.nmp")
    done = nearmiss("sample", "-q", "-e", "faults", "-o", "p.nmp", "--", program("matrix"), "columns")
    if done.returncode == NO_COLLECTOR:
        raise Skip(done.stderr.decode().strip())
    found = disagreements("model.nmp", "p.nmp")
    assert not [row for row in found if row[0] == "matrix"], found
    kernel = [row for (name, _), row in found.items() if name.startswith("mapped /")]
    assert all(row["reason"] in ("kernel", "") for row in kernel), kernel
    recorded([program("matrix"), "columns"], "--cache", "L1d=32K,8,64", profile="model.nmp")
    done = nearmiss("diff", "model.nmp", "p.nmp")
    assert done.returncode == USAGE and b"TLB" in done.stderr, done


main(dict(globals()))
