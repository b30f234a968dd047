# SPDX-License-Identifier: MIT
"""test_gate.py - misses of relocated memory, and budgets judged by their intervals."""

import os
import re

from harness import ENVIRONMENT, MISSES, NEARMISS, TOP, main, nearmiss, need, program, record, rows, run

NOT_MET, NOT_JUDGED = 3, 1
RELOCATIONS = "SELECT level, function, line, object, relocation, sum(misses) FROM relocations GROUP BY 1, 2, 3, 4, 5"

# A table of pointers to small blocks, one large block, and a global: walked by lines that miss.
SOURCE = """#include <stdio.h>
#include <stdlib.h>
enum { N = 4000, ROUNDS = 4 };
struct node { long key, rest[4]; };
static struct node *nodes[N];
static long table[N];
int main(void)
{
\tlong sum = 0, *large = calloc(N, 64);
\tfor (int i = 0; i < N; i++)
\t\tnodes[i] = calloc(1, sizeof *nodes[i]);
\tfor (int round = 0; round < ROUNDS; round++)
\t\tfor (int i = 0; i < N; i++)
\t\t\tsum += nodes[i]->key + table[i] + large[8 * i];
\tprintf("%ld\\n", sum);
\treturn 0;
}
"""
MAKEFILE = "app: app.c\n\tgcc -g -O1 -o app app.c\n"


def case_relocations():
    """The first placement is that of the profile; recording, replaying and any number of threads agree."""
    record([program("list")], "--relocate=6", "--trace=t.nmt", "-q")
    recorded = rows(RELOCATIONS)
    assert {row[4] for row in recorded} == set(range(7))
    own = dict(rows("SELECT level, sum(misses) FROM relocations WHERE relocation = 0 GROUP BY 1"))
    assert own == dict(rows(f"SELECT level, {MISSES} FROM levels GROUP BY level")), own
    others = rows("SELECT level, relocation, sum(misses) FROM relocations WHERE relocation > 0 GROUP BY 1, 2")
    assert all(abs(misses - own[level]) < own[level] * 0.5 for level, _, misses in others), (own, others)
    assert len({misses for level, _, misses in others if level == "L1d"}) > 1, others
    for threads in ("1", "2", "4"):
        done = nearmiss("replay", "t.nmt", "-q", "-o", "r.nmp", "--cache=L1d=32K,8,64:L2=1M,16,64", "--relocate=6",
                        f"--threads={threads}")
        assert done.returncode == 0, done.stderr
        assert rows(RELOCATIONS, profile="r.nmp") == recorded, threads
    shown = nearmiss("noise", "p.nmp").stdout.decode()
    assert re.search(r"misses of L1d  [\d,]+ as recorded, [\d,]+ to [\d,]+ in 6 other placements", shown), shown


def tree(name, source):
    os.mkdir(name)
    for file, text in (("app.c", source), ("Makefile", MAKEFILE),
                       ("nearmiss.yaml", "budgets:\n  - {level: L1d, relative: 1%}\n")):
        with open(f"{name}/{file}", "w", encoding="ascii") as f:
            f.write(text)


def case_shell_recipe():
    """The recipe of the how-to: nothing is said of changes without effect; a real one is named with its line."""
    need("make", "gcc")
    with open(os.path.join(TOP, "docs/howto/ci.md"), encoding="utf-8") as f:
        script, = re.findall(r"```sh\n(.*?)```", f.read(), re.DOTALL)
    with open("gate.sh", "w", encoding="utf-8") as f:
        f.write(script)
    environment = {**ENVIRONMENT, "PATH": os.path.dirname(NEARMISS) + ":" + ENVIRONMENT["PATH"]}
    tree("base", SOURCE)
    changes = {
        "comment": "/* one line more */\n" + SOURCE,
        "dead": SOURCE.replace("int main", "int never(int x)\n{\n\treturn x * x + 3;\n}\nint main"),
        "allocation": SOURCE.replace("long sum = 0,", "char *other = malloc(200);\n\tlong sum = 0,")
                            .replace("\tprintf", "\tother[0] = 1;\n\tprintf"),
        "worse": SOURCE.replace("sum += ", "sum += nodes[(i * 7L) % N]->rest[2] + "),
    }
    for name, source in changes.items():
        tree(name, source)
        done = run(["sh", "gate.sh", "base", name, "--write", f"junit={name}.xml"], environment=environment)
        shown = done.stdout.decode()
        assert done.returncode == (NOT_MET if name == "worse" else 0), (name, shown, done.stderr)
        assert os.path.exists(f"{name}.xml")
    line = 1 + [i for i, text in enumerate(changes["worse"].splitlines()) if "sum +=" in text][0]
    assert f"at app.c:{line} (main)" in shown and "Counts of single" not in shown, shown


def case_broken_input():
    """What keeps a gate from judging has a status of its own."""
    with open("nearmiss.yaml", "w", encoding="ascii") as f:
        f.write("budgets: [{absolute: 1}]\n")
    assert nearmiss("gate").returncode == NOT_JUDGED
    with open("bad.nmp", "w", encoding="ascii") as f:
        f.write("no profile\n")
    assert nearmiss("gate", "bad.nmp").returncode == NOT_JUDGED


main(globals())
