# SPDX-License-Identifier: MIT
"""gate_formats.py - what nearmiss gate writes for other tools, checked against what these tools require.

    gate_formats.py CASE NEARMISS
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
SKIPPED = 1 if os.environ.get("ALL_TOOLS") else 77
TEXT = {"type": "string", "minLength": 1}
COUNT = {"type": "integer", "minimum": 0}


def thing(required, optional=None):
    """An object with these members and no others."""
    return {"type": "object", "properties": {**required, **(optional or {})}, "required": list(required),
            "additionalProperties": False}


def listing(items):
    return {"type": "array", "items": items}


# Of SARIF 2.1.0 (OASIS, 2020) the parts that are used here.
MESSAGE = thing({"text": TEXT}, {"markdown": TEXT})
PLACE = thing({"physicalLocation": thing({
    "artifactLocation": thing({"uri": {"type": "string", "format": "uri-reference", "minLength": 1}},
                              {"uriBaseId": {"const": "%SRCROOT%"}}),
    "region": thing({"startLine": {"type": "integer", "minimum": 1}})})}, {"message": MESSAGE})
RULE = thing({"id": {"type": "string", "pattern": "^[a-z0-9-]+$"}, "shortDescription": MESSAGE,
              "fullDescription": MESSAGE, "help": MESSAGE,
              "defaultConfiguration": thing({"level": {"enum": ["none", "note", "warning", "error"]}})})
RESULT = thing({"ruleId": TEXT, "level": {"enum": ["none", "note", "warning", "error"]}, "message": MESSAGE},
               {"locations": listing(PLACE), "relatedLocations": listing(PLACE),
                "partialFingerprints": {"type": "object", "additionalProperties": TEXT},
                "suppressions": listing(thing({"kind": {"enum": ["inSource", "external"]}},
                                              {"justification": TEXT}))})
SARIF = thing({"$schema": {"const": "https://json.schemastore.org/sarif-2.1.0.json"}, "version": {"const": "2.1.0"},
               "runs": listing(thing({
                   "tool": thing({"driver": thing({"name": TEXT, "version": TEXT, "rules": listing(RULE)})}),
                   "automationDetails": thing({"id": TEXT}),
                   "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                   "results": listing(RESULT)}))})
# Code Quality of GitLab, the Bencher Metric Format, customSmallerIsBetter of github-action-benchmark.
GITLAB = listing(thing({
    "description": TEXT, "check_name": TEXT, "fingerprint": TEXT,
    "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
    "location": thing({"path": TEXT, "lines": thing({"begin": {"type": "integer", "minimum": 1}})})}))
BENCHER = {"type": "object", "additionalProperties": {
    "type": "object", "additionalProperties": thing({"value": COUNT}, {"lower_value": COUNT, "upper_value": COUNT})}}
BENCHMARK = listing(thing({"name": TEXT, "unit": TEXT, "value": COUNT},
                          {"range": {"type": "string", "pattern": r"^± \d+$"}, "extra": TEXT}))

nearmiss = None


def gate(form, *more, config="budgets.yaml", status=3):
    done = subprocess.run([nearmiss, "gate", "-c", f"gate/{config}", "--base=profile-v1.nmp", "profile-asm.nmp",
                           "-f", form, *more], cwd=DATA, capture_output=True, check=False)
    assert done.returncode == status, (done.returncode, done.stderr)
    return done.stdout.decode()


def valid(form, schema, *more):
    try:
        import jsonschema
    except ImportError:
        sys.exit(SKIPPED)
    document = json.loads(gate(form, *more))
    jsonschema.Draft7Validator(schema).validate(document)
    return document


def case_sarif():
    run = valid("sarif", SARIF, "--root=/src")["runs"][0]
    rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert {result["ruleId"] for result in run["results"]} <= rules
    fingerprints = [result["partialFingerprints"]["nearmiss/v1"] for result in run["results"]]
    assert len(set(fingerprints)) == len(fingerprints) == 3, fingerprints
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "solver/solver.c", "uriBaseId": "%SRCROOT%"},
                     "region": {"startLine": 41}}, place
    assert [len(result.get("suppressions", [])) for result in run["results"]] == [0, 0, 1]
    elsewhere = valid("sarif", SARIF, "--root=/elsewhere")["runs"][0]["results"]
    assert [result["partialFingerprints"]["nearmiss/v1"] for result in elsewhere] == fingerprints
    assert "uriBaseId" not in elsewhere[0]["locations"][0]["physicalLocation"]["artifactLocation"]


def case_gitlab():
    issues = valid("gitlab", GITLAB)
    assert [issue["severity"] for issue in issues] == ["major", "major", "info"]
    assert len({issue["fingerprint"] for issue in issues}) == 3


def case_bencher():
    benches = valid("bencher", BENCHER)
    assert len(benches) == 5
    for metrics in benches.values():
        for metric in metrics.values():
            assert metric["lower_value"] <= metric["value"] <= metric["upper_value"]


def case_benchmark():
    assert len(valid("customSmallerIsBetter", BENCHMARK)) == 5


def case_junit():
    root = xml.etree.ElementTree.fromstring(gate("junit"))
    suite, = root
    assert (root.tag, suite.tag) == ("testsuites", "testsuite")
    cases = suite.findall("testcase")
    assert len(cases) == int(suite.get("tests")) == 5
    assert all(case.get("classname") and case.get("name") for case in cases)
    assert len(suite.findall("testcase/failure[@message][@type]")) == int(suite.get("failures")) == 2
    assert len(suite.findall("testcase/skipped[@message]")) == int(suite.get("skipped")) == 1
    assert "known | <b>" in suite.find("testcase/skipped").get("message")
    for each in suite.findall("testcase/properties/property"):
        float(each.get("value"))


def case_openmetrics():
    lines = gate("openmetrics").splitlines()
    label = r'[a-z_]+="(?:[^"\\\n]|\\["\\n])*"'
    sample = re.compile(rf"(nearmiss_[a-z_]+)\{{{label}(?:,{label})*\}} \d+$")
    assert lines[-1] == "# EOF" and lines.count("# EOF") == 1
    families = [line.split()[2] for line in lines if line.startswith("# TYPE ")]
    assert len(set(families)) == len(families) == 4
    family = None
    for line in lines[:-1]:
        if line.startswith("# "):
            family = line.split()[2]
        else:  # samples stand behind their family's TYPE
            assert sample.match(line) and sample.match(line).group(1) == family, line


def case_github():
    lines = gate("github").splitlines()
    assert [line.split()[0] for line in lines] == ["::error", "::error", "::notice"]
    for line in lines:
        assert re.match(r"::\w+ file=[^,:]+,line=\d+,title=[^,:]+::", line), line
        assert re.search(r"%(?!25|0D|0A|3A|2C)", line) is None, line


def case_markdown():
    text = gate("markdown", "--name=walk")
    assert text.startswith("<!-- nearmiss:walk -->\n") and len(text) < 65536
    rows = [re.findall(r"(?<!\\)\|", line) for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 7 and all(len(row) == 7 for row in rows), rows
    assert "<b>" not in text


def case_files():
    """Several outputs of one run; a summary is appended to, a report is replaced."""
    with tempfile.TemporaryDirectory() as folder:
        summary, report = f"{folder}/summary.md", f"{folder}/report.sarif"
        for times in (1, 2):
            shown = gate("text", f"--append=markdown={summary}", f"--write=sarif={report}")
            assert shown == gate("text")
            assert pathlib.Path(summary).read_text(encoding="utf-8").count("<!-- nearmiss:gate -->") == times
            assert json.loads(pathlib.Path(report).read_text(encoding="utf-8"))["version"] == "2.1.0"


def case_met():
    """Nothing to report is no error in any format."""
    for form in ("text", "markdown", "github", "sarif", "junit", "gitlab", "openmetrics", "bencher",
                 "customSmallerIsBetter"):
        gate(form, config="loose.yaml", status=0)


nearmiss = sys.argv[2]
globals()[f"case_{sys.argv[1]}"]()
