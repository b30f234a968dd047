# SPDX-License-Identifier: MIT
"""complete.py - are all cases of all test files listed in meson.build? Arguments: FILE.CASE as listed."""

import glob
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
found = set()
for path in glob.glob(os.path.join(HERE, "test_*.py")):
    with open(path, encoding="utf-8") as f:
        found |= {os.path.basename(path)[5:-3] + "." + name for name in re.findall(r"^def case_(\w+)", f.read(), re.M)}
different = found ^ set(sys.argv[1:])
for name in sorted(different):
    print(f"{name}: {'not listed in meson.build' if name in found else 'listed, but not there'}")
sys.exit(1 if different or not found else 0)
