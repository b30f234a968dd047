# SPDX-License-Identifier: MIT
"""count-tests.py LOG... - sums up the results in Meson's testlog.json files: a line for each reason to skip, and one
that says how many passed and failed."""

import collections
import json
import re
import sys

results, reasons = collections.Counter(), collections.Counter()
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as f:
        for test in map(json.loads, f):
            results[test["result"]] += 1
            if test["result"] == "SKIP":
                told = re.search(r": skipped: (.*)", test.get("stdout", ""))
                reasons[told[1] if told else f"{test['name']} gives no reason"] += 1
passed = results.pop("OK", 0) + results.pop("EXPECTEDFAIL", 0)
results.pop("SKIP", 0)
for reason, number in sorted(reasons.items()):
    print(f"{number} skipped: {reason}")
print(f"{passed} passed, {sum(results.values())} failed")
