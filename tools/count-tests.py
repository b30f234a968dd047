# SPDX-License-Identifier: MIT
"""count-tests.py LOG... - sums up the results in Meson's testlog.json files in one line."""

import collections
import json
import sys

results = collections.Counter()
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as f:
        results.update(json.loads(line)["result"] for line in f)
passed = results.pop("OK", 0) + results.pop("EXPECTEDFAIL", 0)
skipped = results.pop("SKIP", 0)
if skipped:
    print(f"({skipped} skipped: a tool is missing here)")
print(f"{passed} passed, {sum(results.values())} failed")
