# SPDX-License-Identifier: MIT
"""test_json.py - every report of `report --help` as JSON, of recordings that have it, against docs/format/report.schema.json."""

import os
import re

from harness import TOP, main, nearmiss, program, record, valid_report

SINGLE = "L1d=32K,8,64:L2=256K,8,64"
RECORDINGS = {  # program, options
    "calls": ("chains", ["--callgraph", "--heap-chains", "--distances", "--sets", "--cache", SINGLE]),
    "sectors": ("chains", ["--cache", "L1d=32K,8,128,sector=32:L2=1M,16,128,sector=64"]),
    "prefetches": ("chains", ["--cache", "L1d=32K,8,64,prefetch=next:L2=256K,8,64"]),
    "cores": ("sharing", ["--cores", "4", "--schedules", "2", "--cache", "L1d=4K,4,64:L2=16K,4,64:nodes=2"]),
}


def profiles():
    """Together they have all reports."""
    for name, (run, options) in RECORDINGS.items():
        record([program(run)], "-q", *options, profile=name + ".nmp")
        yield name + ".nmp"
    assert nearmiss("merge", "-o", "all.nmp", "calls.nmp", "calls.nmp").returncode == 0
    yield "all.nmp"
    with open("plan.yaml", "w", encoding="utf-8") as f:
        f.write(f"nests: [{{file: {TOP}/examples/blocked.nest, set: [I=9]}}]\nmachines: ['L1d=8K,2,32']\n")
    assert nearmiss("sweep", "plan.yaml", "-q", "-o", "swept.nmp").returncode == 0
    yield "swept.nmp"
    for name in ("pmu", "timeline", "reuses"):
        yield os.path.join(TOP, f"tests/data/profile-{name}.nmp")


def case_every_report():
    """But latencies, which need samples: test_samples.py checks them."""
    found = list(profiles())
    text = nearmiss("report", "--help").stdout.decode()
    names = re.findall(r"^  ([a-z]+) ", text.split("Reports:\n")[1].split("\n\n")[0], re.MULTILINE)
    lacking = set(names)
    for name in names:
        for profile in found:
            done = nearmiss("report", name, "-i", profile, "--format=json", "--limit=5")
            if done.returncode == 0:
                assert valid_report(done.stdout)["schema"] == "nearmiss-report/1", (name, profile)
                lacking.discard(name)
    assert lacking == {"latencies"}, lacking


main(globals())
