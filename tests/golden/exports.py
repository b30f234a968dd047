# SPDX-License-Identifier: MIT
"""exports.py - do other tools, or readers of their formats, find in an export what the profile holds?

    exports.py CASE NEARMISS

What is expected comes from the view counts of the stored profile, asked through SQLite.
"""
import collections
import gzip
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile

NEARMISS = os.path.abspath(sys.argv[2])
PROFILE = pathlib.Path(__file__).absolute().parent.parent / "data/profile-v1.nmp"
LEVELS = ("L1d", "L2")

# What is needed of https://github.com/google/pprof/blob/main/proto/profile.proto
PROTO = """
syntax = "proto3";
message Profile {
  repeated ValueType sample_type = 1; repeated Sample sample = 2;
  repeated Location location = 4; repeated Function function = 5; repeated string string_table = 6;
  ValueType period_type = 11; int64 period = 12; int64 default_sample_type = 14;
}
message ValueType { int64 type = 1; int64 unit = 2; }
message Sample { repeated uint64 location_id = 1; repeated int64 value = 2; repeated Label label = 3; }
message Label { int64 key = 1; int64 str = 2; int64 num = 3; }
message Location { uint64 id = 1; repeated Line line = 4; }
message Line { uint64 function_id = 1; int64 line = 2; }
message Function { uint64 id = 1; int64 name = 2; int64 system_name = 3; int64 filename = 4; }
"""


def need(tool):
    if not shutil.which(tool):
        print(f"{sys.argv[1]}: skipped: {tool} is not installed")
        sys.exit(1 if os.environ.get("ALL_TOOLS") else 77)


def export(*arguments, status=0):
    done = subprocess.run([NEARMISS, "export", "-i", PROFILE, *arguments], capture_output=True, check=False)
    assert done.returncode == status, done
    assert bool(done.stderr) == bool(status), done
    return done.stdout


def rows(sql, *values):
    with sqlite3.connect(f"file:{PROFILE}?mode=ro", uri=True) as db:
        db.row_factory = sqlite3.Row
        found = [dict(row) for row in db.execute(sql, values)]
    db.close()
    return found


def annotated(*options, arguments=()):
    """What callgrind_annotate prints of an export; it must not warn."""
    export("callgrind", "-o", "callgrind.out.x", *arguments)
    done = subprocess.run(["callgrind_annotate", *options, "callgrind.out.x"], capture_output=True, check=False)
    assert done.returncode == 0 and not done.stderr and b"WARNING" not in done.stdout, done
    return done.stdout.decode()


def figures(text):
    """name -> the first number of its line, of callgrind_annotate's list of functions."""
    found = re.findall(r"^ *([\d,]+) \([ \d.]+%\)  (?:\* +)?(\S.*)$", text, re.MULTILINE)
    return {name: int(number.replace(",", "")) for number, name in found}


def case_callgrind_annotate():
    need("callgrind_annotate")
    for arguments in ((), ("--objects",), ("--level=L1d,L2",), ("--level=L2", "--event=misses", "--objects")):
        for options in ((), ("--tree=both",), ("--inclusive=yes",), ("--threshold=100",)):
            annotated(*options, arguments=arguments)
    for level, event, column in (("L1d", "L1dReadMisses", "read_misses"), ("L2", "L2LoadedBytes", "loaded_bytes")):
        got = figures(annotated("--threshold=100", "--auto=no", f"--show={event}", f"--sort={event}",
                                arguments=("--level", level)))
        want = {"PROGRAM TOTALS": rows(f"SELECT sum({column}) AS n FROM counts WHERE level = ?", level)[0]["n"]}
        for row in rows(f"SELECT coalesce(file, '???') || ':' || coalesce(function, '???') AS name, sum({column}) "
                        "AS n FROM counts WHERE level = ? GROUP BY 1 HAVING n > 0", level):
            want[row["name"]] = row["n"]
        assert got == want, (got, want)


def case_callgrind_objects():
    """Objects own all costs, and functions reach all of theirs through calls."""
    need("callgrind_annotate")
    show = ("--threshold=100", "--auto=no", "--show=L1dLoads", "--sort=L1dLoads")
    got = figures(annotated(*show, arguments=("--objects", "--process=solver")))
    for row in rows("SELECT object, sum(loads) AS n FROM counts WHERE level = 'L1d' AND process = 'solver' "
                    "GROUP BY object"):
        assert [n for name, n in got.items() if f":{row['object']} [" in name] == [row["n"]], (row, got)
    got = figures(annotated(*show, "--inclusive=yes", arguments=("--objects", "--process=solver")))
    for row in rows("SELECT coalesce(file, '???') || ':' || coalesce(function, '???') AS name, sum(loads) AS n "
                    "FROM counts WHERE level = 'L1d' AND process = 'solver' GROUP BY 1"):
        assert got[row["name"] + " [code]"] == row["n"], (row, got)
    text = annotated(*show, "--tree=caller", arguments=("--objects", "--process=solver"))
    want = rows("SELECT sum(reads + writes) AS n FROM counts WHERE level = 'L1d' AND process = 'solver' "
                "AND object = 'matrix' AND function = 'multiply'")[0]["n"]
    assert f"< /src/solver/solver.c:multiply ({want:,}x) [code]" in text, text


def case_callgrind_derived():
    """The formulas name events of the file, and give what the profile holds."""
    text = export("callgrind", "--level=L1d,L2").decode()
    events = re.search(r"^events: (.*)$", text, re.MULTILINE)[1].split()
    totals = dict(zip(events, map(int, re.search(r"^totals: (.*)$", text, re.MULTILINE)[1].split())))
    derived = re.findall(r"^event: (\w+) = (\w+) ([+-]) (\w+) : (\w+) (.*)$", text, re.MULTILINE)
    assert events[:2] == ["L1dMisses", "L2Misses"], events  # what readers open on
    assert totals["L1dMisses"] == totals["L1dReadMisses"] + totals["L1dWriteMisses"]
    assert len(derived) == 4, derived
    sql = {"references": "reads + writes", "misses": "read_misses + write_misses",
           "wasted bytes": "loaded_bytes - used_bytes"}
    for _, left, sign, right, level, name in derived:
        value = totals[left] + totals[right] if sign == "+" else totals[left] - totals[right]
        assert value == rows(f"SELECT sum({sql[name]}) AS n FROM counts WHERE level = ?", level)[0]["n"], name


def case_separate():
    """One file for each thread of each process; their sums are the whole."""
    export("callgrind", "--separate", "-o", "part")
    parts = sorted(pathlib.Path().glob("part.*"))
    assert [p.name for p in parts] == ["part.1", "part.2", "part.3", "part.4"]
    texts = [p.read_text(encoding="utf-8") for p in parts]
    assert [re.search(r"^desc: Process: (.*)", t, re.MULTILINE)[1] for t in texts] == ["solver", "solver", "cc1",
                                                                                     "cc1#2"]
    assert [re.search(r"^thread: (.*)", t, re.MULTILINE)[1] for t in texts] == ["1", "2", "1", "1"]

    def totals(text):
        return [int(n) for n in re.search(r"^totals: (.*)$", text, re.MULTILINE)[1].split()]

    whole = totals(export("callgrind").decode())
    assert [sum(column) for column in zip(*map(totals, texts))] == whole


def case_json():
    whole = json.loads(export("json"))
    assert whole["schema"] == "nearmiss-export/1"
    assert whole["info"] == {row["key"]: row["value"] for row in rows("SELECT * FROM info")}
    for view in ("processes", "levels", "objects", "counts"):
        assert whole[view] == rows(f"SELECT * FROM {view}"), view
    part = json.loads(export("json", "--process=solver", "--thread=2", "--level=L2"))
    assert part["counts"] == rows("SELECT * FROM counts WHERE process = 'solver' AND thread = 2 AND level = 'L2'")
    assert {row["process"] for row in part["objects"]} == {"solver"}


def line_of(row):
    return f"{os.path.basename(row['file'])}:{row['line']}" if row["file"] else "<unknown>"


def stacks(level, what, process):
    """(function, line, object) -> figure, as the profile has it."""
    want = collections.Counter()
    for row in rows(f"SELECT *, {what} AS n FROM counts WHERE level = ? AND process = ?", level, process):
        want[row["function"] or "<unknown>", line_of(row), row["object"]] += row["n"]
    return +want


def case_folded():
    want = stacks("L1d", "read_misses + write_misses", "solver")
    got = {}
    for text in export("folded", "--process=solver").decode().splitlines():
        stack, number = text.rsplit(" ", 1)
        got[tuple(stack.split(";"))] = int(number)
    assert got == want, (got, want)


def case_speedscope():
    """The rules of its schema, and the figures."""
    whole = json.loads(export("speedscope", "--level=L1d,L2", "--event=misses,wasted_bytes"))
    assert whole["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = whole["shared"]["frames"]
    assert all(set(f) <= {"name", "file", "line", "col"} and isinstance(f["name"], str) for f in frames)
    assert len({json.dumps(f, sort_keys=True) for f in frames}) == len(frames)
    assert len(whole["profiles"]) == 3 * 2 * 2
    units = {"misses": "none", "wasted_bytes": "bytes"}
    sql = {"misses": "read_misses + write_misses", "wasted_bytes": "loaded_bytes - used_bytes"}
    for profile in whole["profiles"]:
        process, level, event = re.fullmatch(r"(.*): (\w+) (\w+)", profile["name"]).groups()
        assert profile["type"] == "sampled" and profile["unit"] == units[event] and profile["startValue"] == 0
        assert profile["endValue"] == sum(profile["weights"])
        assert len(profile["samples"]) == len(profile["weights"])
        got = {tuple(frames[i]["name"] for i in stack): weight
               for stack, weight in zip(profile["samples"], profile["weights"])}
        assert got == stacks(level, sql[event], process), profile["name"]


def case_firefox():
    """Tables are whole, and refer to each other; the figures, by function, line and object."""
    whole = json.loads(export("firefox", "--level=L1d,L2", "--event=misses,wasted_bytes"))
    categories = [category["name"] for category in whole["meta"]["categories"]]
    assert whole["meta"]["preprocessedProfileVersion"] == 48 and categories[0] == "Other"
    assert len(whole["threads"]) == 3 * 2 * 2
    units = {"misses": "samples", "wasted_bytes": "bytes"}
    sql = {"misses": "read_misses + write_misses", "wasted_bytes": "loaded_bytes - used_bytes"}
    for thread in whole["threads"]:
        process, level, event = re.fullmatch(r"(.*): (\w+) (\w+)", thread["name"]).groups()
        tables = {name: table for name, table in thread.items() if isinstance(table, dict)}
        for name, table in tables.items():
            assert {len(column) for column in table.values() if isinstance(column, list)} == {table["length"]}, name
        stack, frame, function = (tables[name] for name in ("stackTable", "frameTable", "funcTable"))
        assert all(prefix is None or prefix < at for at, prefix in enumerate(stack["prefix"]))
        got = {}
        for number, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"]):
            at = stack["frame"][number]
            name, file = (thread["stringArray"][i] if i is not None else None
                          for i in (function[column][frame["func"][at]] for column in ("name", "fileName")))
            line = f"{os.path.basename(file)}:{frame['line'][at] or 0}" if file else "<unknown>"
            got[name, line, categories[stack["category"][number]]] = weight
        assert thread["samples"]["weightType"] == units[event]
        assert got == stacks(level, sql[event], process), (thread["name"], got)


def parse_text_format(lines):
    """protoc's text: field -> list of numbers, texts and inner messages."""
    found = collections.defaultdict(list)
    for line in lines:
        line = line.strip()
        if line == "}":
            break
        if line.endswith("{"):
            found[line[:-2]].append(parse_text_format(lines))
        else:
            key, value = line.split(": ", 1)
            quoted = value.startswith('"')
            found[key].append(value[1:-1].encode("latin-1").decode("unicode_escape").encode("latin-1").decode()
                              if quoted else int(value))
    return found


def pprof(*arguments):
    need("protoc")
    pathlib.Path("profile.proto").write_text(PROTO, encoding="utf-8")
    done = subprocess.run(["protoc", "--decode=Profile", "profile.proto"], capture_output=True, check=True,
                          input=gzip.decompress(export("pprof", *arguments)))
    return parse_text_format(iter(done.stdout.decode().splitlines()))


def one(message, key):
    """A field of proto3: absent when it is 0."""
    return message[key][0] if message[key] else 0


def case_pprof():
    profile = pprof("--event=misses,loaded_bytes")
    text = profile["string_table"]
    assert text[0] == "" and len(set(text)) == len(text)
    types = [(text[one(t, "type")], text[one(t, "unit")]) for t in profile["sample_type"]]
    assert types == [("L1d_misses", "count"), ("L1d_loaded_bytes", "bytes"), ("L2_misses", "count"),
                     ("L2_loaded_bytes", "bytes")]
    assert text[one(profile, "default_sample_type")] == "L1d_misses"
    functions = {f["id"][0]: f for f in profile["function"]}
    locations = {m["id"][0]: m["line"][0] for m in profile["location"]}
    got = collections.Counter()
    for sample in profile["sample"]:
        assert len(sample["value"]) == len(types) and len(sample["location_id"]) == 1
        at = locations[sample["location_id"][0]]
        of = functions[at["function_id"][0]]
        labels = {text[label["key"][0]]: text[one(label, "str")] or one(label, "num") for label in sample["label"]}
        for (kind, _), value in zip(types, sample["value"]):
            got[kind, labels["process"], labels["thread"], text[one(of, "name")], text[one(of, "filename")],
                one(at, "line"), labels["object"]] += value
    want = collections.Counter()
    for row in rows("SELECT *, read_misses + write_misses AS misses FROM counts"):
        for event in ("misses", "loaded_bytes"):
            want[f"{row['level']}_{event}", row["process"], row["thread"], row["function"] or "<unknown>",
                 row["file"] or "", row["line"] or 0, row["object"]] += row[event]
    assert +got == +want, (got, want)


def case_pprof_objects():
    """The object is the innermost frame."""
    profile = pprof("--objects", "--process=cc1")
    text = profile["string_table"]
    functions = {f["id"][0]: text[one(f, "name")] for f in profile["function"]}
    locations = {m["id"][0]: functions[m["line"][0]["function_id"][0]] for m in profile["location"]}
    assert [[locations[i] for i in s["location_id"]] for s in profile["sample"]] == [
        ["heap ggc_alloc (ggc.c:7)", "ggc_alloc"]]


def case_every_format():
    """--help, --list and the completion name the same formats, and each can be had, twice the same."""
    listed = [line.split()[0] for line in subprocess.check_output([NEARMISS, "export", "--list"]).decode().splitlines()]
    text = subprocess.check_output([NEARMISS, "export", "--help"]).decode()
    assert re.findall(r"^  ([a-z]+) ", text.split("Formats:\n")[1].split("\n\n")[0], re.MULTILINE) == listed
    completion = subprocess.check_output([NEARMISS, "help", "--completion=bash"]).decode()
    assert f"words='{' '.join(listed)}'" in completion
    for name in set(listed) - {"html"}:  # a build may lack the pages: tests/e2e/test_view.py
        assert len(export(name)) > 100 and export(name) == export(name), name


def case_output_refused():
    done = subprocess.run([NEARMISS, "export", "csv", "-i", PROFILE, "-o", "/dev/full"], capture_output=True,
                          check=False)
    assert done.returncode == 122 and done.stderr.count(b"\n") == 1, done
    with open("/dev/full", "wb") as full:
        done = subprocess.run([NEARMISS, "export", "pprof", "-i", PROFILE], stdout=full, stderr=subprocess.PIPE,
                              check=False)
    assert done.returncode == 122, done
    master, terminal = pty.openpty()
    done = subprocess.run([NEARMISS, "export", "pprof", "-i", PROFILE], stdout=terminal, stderr=subprocess.PIPE,
                          check=False)
    os.close(terminal)
    os.close(master)
    assert done.returncode == 2 and b"-o FILE" in done.stderr, done


def case_damaged_profile():
    """Pages that are damaged where the counts lie: a message, and no half file."""
    good = PROFILE.read_bytes()
    bad = bytearray(good)
    for at in range(4096 * 3, len(bad), 4096):
        bad[at:at + 64] = b"\xff" * 64
    pathlib.Path("bad.nmp").write_bytes(bad)
    for name in ("callgrind", "csv", "firefox", "folded", "json", "pprof", "speedscope"):
        done = subprocess.run([NEARMISS, "export", name, "-i", "bad.nmp", "-o", "out"], capture_output=True, check=False)
        assert done.returncode == 121 and done.stderr.count(b"\n") == 1, (name, done)
        assert not os.path.exists("out"), name


signal.alarm(100)
with tempfile.TemporaryDirectory(prefix="nearmiss-export-") as folder:
    os.chdir(folder)
    try:
        globals()["case_" + sys.argv[1]]()
    finally:
        os.chdir("/")
