# SPDX-License-Identifier: MIT
"""Turns a text file into a C source that defines it as one string: embed.py INPUT OUTPUT NAME."""
import sys

source, output, name = sys.argv[1:]
with open(source, encoding="utf-8") as f:
    lines = f.read().splitlines()
with open(output, "w", encoding="utf-8") as f:
    f.write(f"extern const char {name}[];\nconst char {name}[] =\n")
    for line in lines:
        escaped = line.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
        f.write(f'\t"{escaped}\\n"\n')
    f.write("\t;\n")
