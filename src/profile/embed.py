# SPDX-License-Identifier: MIT
"""Turns schema.sql into a C source that defines it as one string: embed.py SCHEMA COUNTS OUTPUT NAME.

$COUNTS becomes "reads INTEGER, ...", $COUNTS(c) "c.reads AS reads, ...", for each name in counts.def.
"""
import re
import sys

source, counts, output, name = sys.argv[1:]
with open(counts, encoding="utf-8") as f:
    names = re.findall(r"^NM_(?:LATER_)?COUNT\((\w+)\)", f.read(), re.M)
with open(source, encoding="utf-8") as f:
    text = f.read()
text = re.sub(r"\$COUNTS\((\w)\)", lambda m: ", ".join(f"{m[1]}.{n} AS {n}" for n in names), text)
text = text.replace("$COUNTS", ", ".join(f"{n} INTEGER" for n in names))
lines = [line for line in text.splitlines() if not line.startswith("--")]
with open(output, "w", encoding="utf-8") as f:
    f.write(f"extern const char {name}[];\nconst char {name}[] =\n")
    for line in lines:
        escaped = line.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
        f.write(f'\t"{escaped}\\n"\n')
    f.write("\t;\n")
