# SPDX-License-Identifier: MIT
"""Turns SQL files into a C source that defines them as one string: embed.py OUTPUT NAME COUNTS SQL...

$COUNTS becomes "reads INTEGER, ...", $COUNTS(c) "c.reads AS reads, ...", for each name in counts.def; $SITE(id) the joins from
a site to its names (fn, fi); $PLACE(id) those from a place to its site, its names (fn, fi, n) its region and phase (rg, ph), $PLACE(id, v)
the same with v before each table's name, $USERS_PLACE(id) and $USERS_PLACE(id, v) with the site of the user's code instead;
$USER(s) the columns of the user's code at the site s, $USERS(s) the joins that they need, $USERS(s, SQL) the same with another
user's site.

For merges: $SUMS becomes "reads = reads + excluded.reads, ..."; $EXTRAS(e) and $EXTRA_SUMS the same for the counts of table
extra; $OF(kind, id) the number in the merged profile of what has the number id in the input, $LEVEL(id) of a level, $CONTEXT(c)
of the context of a row with a level.
"""
import re
import sys

output, name, counts, *sources = sys.argv[1:]
with open(counts, encoding="utf-8") as f:
    names = re.findall(r"^NM_COUNT\((\w+)\)", f.read(), re.M)
text = ""
for source in sources:
    with open(source, encoding="utf-8") as f:
        text += "".join(line for line in f if not line.startswith("--"))
EXTRAS = ("sector_misses prefetches useful late_evicted pollution coherence false_sharing false_first false_words unneeded "
          "remote redundant late non_temporal").split()


def sums(of):
    return ", ".join(f"{n} = {n} + excluded.{n}" for n in of)


text = re.sub(r"\$EXTRAS\((\w)\)", lambda m: ", ".join(f"{m[1]}.{n}" for n in EXTRAS), text)
text = text.replace("$EXTRA_SUMS", sums(EXTRAS)).replace("$SUMS", sums(names))
text = re.sub(r"\$LEVEL\(([\w.]+)\)", r"($OF(process, \1 / 64) * 64 + \1 % 64)", text)
text = re.sub(r"\$CONTEXT\((\w)\)",
              r"(SELECT id FROM temp.context_of WHERE process = \1.level / 64 AND src = \1.context)", text)
text = re.sub(r"\$OF\((\w+), ([^()]+)\)", r"(SELECT id FROM temp.\1_of WHERE src = \2)", text)
text = re.sub(r"\$COUNTS\((\w)\)", lambda m: ", ".join(f"{m[1]}.{n} AS {n}" for n in names), text)


def join(joins):
    return "\n\t".join(f"LEFT JOIN {table} {name} ON {name}.id = {on}" for table, name, on in joins)


def site_joins(of, v=""):
    return [("site", f"{v}s", of), ("text", f"{v}fn", f"{v}s.function"), ("text", f"{v}fi", f"{v}s.file")]


def place_joins(match):
    v = match[3] or ""
    site = [("site", f"{v}z", f"{v}x.site"), *site_joins(f"{v}z.user", v)] if match[1] else site_joins(f"{v}x.site", v)
    return join([("place", f"{v}x", match[2]), *site, ("text", f"{v}n", f"{v}x.object"), ("text", f"{v}rg", f"{v}x.region"),
                 ("text", f"{v}ph", f"{v}x.phase")])


def user_columns(match):
    """The columns of the user's code of a site; those of a victim begin with victim_."""
    s, prefix = match[1], "victim_" if match[1] == "vs" else ""
    columns = f"u{s}n.text AS {prefix}user_function, u{s}f.text AS {prefix}user_file, u{s}.line AS {prefix}user_line"
    if prefix:
        return columns
    return columns + f", {s}.library AS library, {s}i.text AS inlined, {s}m.text AS module, u{s}m.text AS user_module"


def user_joins(match):
    s, of = match[1], match[2] or f"{match[1]}.user"
    joins = [("site", f"u{s}", of), ("text", f"u{s}n", f"u{s}.function"), ("text", f"u{s}f", f"u{s}.file")]
    if s != "vs":
        joins += [("text", f"{s}i", f"{s}.inlined"), ("text", f"{s}m", f"{s}.module"), ("text", f"u{s}m", f"u{s}.module")]
    return join(joins)


text = re.sub(r"\$SITE\(([\w.]+)\)", lambda m: join(site_joins(m[1])), text)
text = re.sub(r"\$(USERS_)?PLACE\(([\w.]+)(?:, (\w))?\)", place_joins, text)
text = re.sub(r"\$USER\((\w+)\)", user_columns, text)
text = re.sub(r"\$USERS\((\w+)(?:, (.*))?\)", user_joins, text)
text = text.replace("$COUNTS", ", ".join(f"{n} INTEGER" for n in names))
with open(output, "w", encoding="utf-8") as f:
    f.write(f"extern const char {name}[];\nconst char {name}[] =\n")
    for line in text.splitlines():
        escaped = line.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
        f.write(f'\t"{escaped}\\n"\n')
    f.write("\t;\n")
