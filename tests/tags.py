# SPDX-License-Identifier: MIT
"""tags.py - a tag that begins with nm_ is of one struct, union or enum in the whole tree, whatever header a file includes."""

import collections
import glob
import os
import re
import sys

os.chdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DEFINITION = re.compile(r"^(?:static )?(?:const )?(?:struct|union|enum) (nm_\w+) *(?:\{|nm_vec\()", re.MULTILINE)
found = collections.defaultdict(list)
for path in sorted(glob.glob("src/**/*.[ch]", recursive=True) + glob.glob("include/**/*.h", recursive=True)):
    with open(path, encoding="utf-8") as file:
        for tag in DEFINITION.findall(file.read()):
            found[tag].append(path)
assert len(found) > 100, found
twice = {tag: paths for tag, paths in found.items() if len(paths) > 1}
for tag, paths in twice.items():
    print(f"{tag} is defined in {' and '.join(paths)}")
sys.exit(bool(twice))
