#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""misses_by_object.py - reads a profile with the sqlite3 module of Python: the objects that miss most, by line.

    nearmiss record -- ./app
    python3 misses_by_object.py nearmiss.nmp [LEVEL]

The views and columns are those of docs/format/profile.md; they stay.
"""

import sqlite3
import sys

QUERY = """
SELECT object, file, line, sum(read_misses + write_misses) AS misses, sum(loads) AS loads,
       100.0 * (1 - 1.0 * sum(used_bytes) / nullif(sum(loaded_bytes), 0)) AS waste
FROM counts
WHERE level = ?
GROUP BY object, file, line
HAVING misses > 0
ORDER BY misses DESC, object, file, line
LIMIT 10
"""


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else "nearmiss.nmp"
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as profile:
        command = dict(profile.execute("SELECT key, value FROM info"))["command"]
        level = sys.argv[2] if len(sys.argv) > 2 else profile.execute("SELECT level FROM levels LIMIT 1").fetchone()[0]
        print(f"{command}: misses of {level}")
        for name, file, line, misses, _, waste in profile.execute(QUERY, (level,)):
            place = f"{file.rsplit('/', 1)[-1]}:{line}" if file else "?"
            print(f"{misses:>12,}  {waste:5.1f} % wasted  {name}  {place}")


if __name__ == "__main__":
    main()
