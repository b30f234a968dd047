# SPDX-License-Identifier: MIT
"""schemas.py - reports as JSON, checked against the schemas of docs/format.

    schemas.py CASE NEARMISS SOURCE

The reports are those of the golden files, whatever their format, written anew as JSON. Thus a new report needs no
case of its own here.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

import golden

NEARMISS, SOURCE = (pathlib.Path(a).absolute() for a in sys.argv[2:4])
FORMATS = SOURCE / "docs/format"
GOLDEN = SOURCE / "tests/golden"
# Commands with --format, and options that write something else.
COMMANDS = {"report", "annotate", "query", "curve", "timeline", "evictions", "diff", "whatif", "accuracy", "noise",
            "monitor", "nest", "sharing"}
OTHERS = {"--c2c", "--pahole", "--data-type", "--help", "--markdown"}
ANY_NAME = {"query", "sweep"}  # columns that the user names


def validator(name):
    try:
        import jsonschema
    except ImportError:
        sys.exit(1 if os.environ.get("ALL_TOOLS") else 77)
    schema = json.loads((FORMATS / name).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def written():
    """The commands of golden files that wrote a report, and what they write as JSON."""
    for name, words in golden.CASES.items():
        text = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
        if not words or words[0] not in COMMANDS or OTHERS & set(words) or not text.endswith("--- status 0\n"):
            continue
        words = [word for word in words if not word.startswith(("--format", "--columns"))] + ["--format=json"]
        done = subprocess.run([NEARMISS, *words], cwd=SOURCE / "tests/data", capture_output=True, check=False,
                              stdin=subprocess.DEVNULL, env={"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]})
        assert done.returncode == 0, (words, done.stderr)
        if done.stdout:  # monitor --nth may find none, and says so on standard error
            yield words, json.loads(done.stdout)


def names(value):
    """All names of members."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield name
            yield from () if name == "info" else names(member)
    elif isinstance(value, list):
        for item in value:
            yield from names(item)


def case_reports():
    check, reports = validator("report.schema.json"), set()
    for words, report in written():
        faults = [f"{'/'.join(map(str, fault.absolute_path))}: {fault.message}" for fault in check.iter_errors(report)]
        assert not faults, (words, faults[:3])
        reports.add(report["report"])
    expected = {"summary", "pairs", "annotate", "curve", "timeline", "diff", "evictions", "query", "struct"}
    assert expected <= reports, reports


def case_faults():
    """The schema refuses what breaks its promises."""
    check = validator("report.schema.json")
    for path, breaks in (("pairs-json", [("rows", 0, "misses")]),
                         ("diff-json", [("verdict",), ("rows", 0, "misses_a")]),
                         ("summary-json", [("advice",), ("pairs", 0, "cause"), ("schema",)]),
                         ("curve-json", [("curves", 0, "knees")]),
                         ("annotate-json", [("files",)]), ("timeline-json", [("intervals", 0, "levels")])):
        text = (GOLDEN / f"{path}.txt").read_text(encoding="utf-8")
        body = text[text.index("\n"):text.index("\n---")]
        assert check.is_valid(json.loads(body)), path
        for *where, name in breaks:
            report = part = json.loads(body)
            for step in where:
                part = part[step]
            del part[name]
            assert not check.is_valid(report), (path, name)
        wrong = json.loads(body)
        wrong["schema"] = "nearmiss-report/2"
        assert not check.is_valid(wrong), path


def case_export():
    check = validator("export.schema.json")
    text = (GOLDEN / "export-json.txt").read_text(encoding="utf-8")
    export = json.loads(text[text.index("\n"):text.index("\n---")])
    check.validate(export)
    for part in ("processes", "levels", "objects", "counts"):
        assert not check.is_valid({**export, part: [{"process": "a"}]}), part


def case_described():
    """docs/format names every column that is printed."""
    described = "".join(path.read_text(encoding="utf-8") for path in FORMATS.glob("*.[mj]*"))
    known = set(re.findall(r'[`"]([A-Za-z_]+)[`"]', described))
    missing = {}
    for words, report in written():
        if report["report"] in ANY_NAME:
            continue
        for name in names(report):
            general = re.sub(r"^([\w.-]+/)?(L\d[di]?|LL)(_|$)|_[a-z]$", "", name)
            if general and not {name, general} & known:
                missing.setdefault(name, " ".join(words))
    assert not missing, missing


globals()["case_" + sys.argv[1]]()
