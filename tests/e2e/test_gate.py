# SPDX-License-Identifier: MIT
"""test_gate.py - misses of relocated memory, and budgets judged by their intervals."""

import glob
import json
import os
import re
import shutil

from harness import ENVIRONMENT, MISSES, NEARMISS, TOP, Missing, main, nearmiss, need, program, record, rows, run

NOT_MET, NOT_JUDGED = 3, 1
RELOCATIONS = "SELECT level, function, line, object, relocation, sum(misses) FROM relocations GROUP BY 1, 2, 3, 4, 5"

# The projects of examples/ci: the file that changes, what builds it, and changes by what stands in it. The last is worse.
PROJECTS = {
    "c": ("lookups.c", ["make", "gcc"], {
        "comment": ("#include <stdio.h>", "/* one line more */\n#include <stdio.h>"),
        "dead": ("int main", "int never(int x)\n{\n\treturn x * x + 3;\n}\n\nint main"),
        "allocation": ("int main(void)\n{\n", "int main(void)\n{\n\tchar *volatile other = malloc(200);\n\tother[0] = 1;\n"),
        "worse": ("sum += entries[i]", "sum += entries[i * 7 % ENTRIES]->rest[2] + entries[i]"),
    }),
    "cpp": ("lookups.cpp", ["make", "g++"], {
        "comment": ("#include <map>", "// one line more\n#include <map>"),
        "dead": ("static long look_up", "int never(int x)\n{\n\treturn x * x + 3;\n}\n\nstatic long look_up"),
        "allocation": ("State &state)\n{\n", "State &state)\n{\n\tbenchmark::DoNotOptimize(new char[200]);\n"),
        "worse": ("sum += entries.find(i * 7", "sum += entries.find(i * 1777 % 4000)->second + entries.find(i * 7"),
    }),
    "rust": ("src/lib.rs", ["make", "cargo"], {
        "comment": ("pub struct", "// one line more\npub struct"),
        "dead": ("pub fn entries", "pub fn never(x: i64) -> i64 {\n    x * x + 3\n}\n\npub fn entries"),
        "allocation": ("    (0..count)", "    std::mem::forget(Box::new([0u8; 200]));\n    (0..count)"),
        "worse": ("sum += entry", "sum += entries[*weight as usize * 7 % entries.len()].rest[3] + entry"),
    }),
}


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


def case_noise_by_set():
    """Of each object the sets that lose most of its lines."""
    record([program("list")], "--relocate=3", "--sets", "-q")
    lost = {}
    for victim, at, count in rows("SELECT victim, cache_set, sum(count) FROM events WHERE level = 'L1d' AND "
                                  "event = 'replace' GROUP BY 1, 2 ORDER BY 3 DESC, 2"):
        lost.setdefault(victim, []).append((at, count))
    found = json.loads(nearmiss("noise", "p.nmp", "-l", "L1d", "-f", "json").stdout)["rows"]
    assert found and any(row["sets"] for row in found), found
    for row in found:
        sets = lost.get(row["object"], [])
        half = next((n for n in range(len(sets)) if 2 * sum(c for _, c in sets[:n]) >= sum(c for _, c in sets)), len(sets))
        assert row["half_in_sets"] == (half if sets else None), (row, sets)
        assert row["sets"] == (", ".join(str(at) for at, _ in sets[:3]) if sets else None), (row, sets)


def recipe(kind, part):
    """The code block of the how-to that has this in it."""
    with open(os.path.join(TOP, "docs/howto/ci.md"), encoding="utf-8") as f:
        found, = [text for text in re.findall(rf"```{kind}\n(.*?)```", f.read(), re.DOTALL) if part in text]
    return found


def tree(language, name, change=None):
    """A source tree of a project, with the script of the how-to, perhaps changed; the number of the line that changes."""
    file, _, changes = PROJECTS[language]
    shutil.copytree(os.path.join(TOP, "examples/ci", language), name)
    with open(f"{name}/gate.sh", "w", encoding="utf-8") as f:
        f.write(recipe("sh", "gate.sh"))
    if not change:
        return 0
    with open(f"{name}/{file}", encoding="utf-8") as f:
        before, after = f.read().split(changes[change][0], maxsplit=1)
    with open(f"{name}/{file}", "w", encoding="utf-8") as f:
        f.write(before + changes[change][1] + after)
    return before.count("\n") + 1


def gate_project(language):
    """The recipe of the how-to: nothing is said of changes without effect; a real one is named with its line."""
    file, tools, changes = PROJECTS[language]
    need(*tools)
    environment = {**ENVIRONMENT, "PATH": os.path.dirname(NEARMISS) + ":" + ENVIRONMENT["PATH"], "HOME": os.getcwd()}
    tree(language, "base")
    for name in changes:
        line = tree(language, name, name)
        done = run(["sh", f"{name}/gate.sh", "base", name, "--write", f"junit={name}.xml"], environment=environment)
        shown = done.stdout.decode()
        assert done.returncode == (NOT_MET if name == "worse" else 0), (name, shown, done.stderr)
        assert os.path.exists(f"{name}.xml")
    assert f"at {file}:{line} (" in shown and "Counts of single" not in shown, shown


def case_c_project():
    gate_project("c")


def case_cpp_project():
    """Of Google Benchmark."""
    if not glob.glob("/usr/include/benchmark/benchmark.h"):
        raise Missing("libbenchmark-dev is not installed")
    gate_project("cpp")


def case_rust_project():
    """Of `cargo bench`, without network."""
    gate_project("rust")


def run_step(step, inputs, environment):
    """A step of a composite action, as a runner does it: what is written to GITHUB_PATH is on PATH from then on."""
    def value(text):
        return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: inputs[match[1]], text)
    own = {name: value(text) for name, text in step.get("env", {}).items()}
    done = run([step["shell"], "-e", "-c", step["run"]], environment={**environment, **own})
    with open("path", encoding="utf-8") as f:
        for folder in f.read().split():
            if folder not in environment["PATH"]:
                environment["PATH"] = folder + ":" + environment["PATH"]
    return done


def case_action():
    """The recipe for GitHub's Actions, with the steps of the action: all is well, or the line is annotated."""
    yaml = import_yaml()
    need("make", "gcc", "meson", "ninja")
    with open(os.path.join(TOP, "tools/debian-packages"), encoding="utf-8") as f:
        packages = [name for line in f if line.startswith("build ") for name in line.split()[1:]]
    if run(["dpkg-query", "-s", *packages]).returncode:
        raise Missing("not all packages of the build are installed")
    job = yaml.safe_load(recipe("yaml", "pull_request"))["jobs"]["nearmiss"]
    paths = [step["with"]["path"] for step in job["steps"] if step.get("uses", "").startswith("actions/checkout@")]
    with open(os.path.join(TOP, "action.yml"), encoding="utf-8") as f:
        action = yaml.safe_load(f)
    inputs = {name: given["default"] for name, given in action["inputs"].items()}
    assert job["steps"][-1] == {"uses": "OWNER/nearmiss@main"} and [inputs["head"], inputs["base"]] == paths
    tree("c", "base")
    os.mkdir("temporary")
    os.symlink(os.environ.get("BUILD", os.path.join(TOP, "build")), "temporary/nearmiss")
    for change, status in (("comment", 0), ("worse", NOT_MET)):
        shutil.rmtree("head", ignore_errors=True)
        line = tree("c", "head", change)
        for name in ("path", "summary"):
            with open(name, "w", encoding="utf-8"):
                pass
        environment = {**ENVIRONMENT, "GITHUB_ACTION_PATH": TOP, "RUNNER_TEMP": os.path.abspath("temporary"),
                       "GITHUB_PATH": os.path.abspath("path"), "GITHUB_STEP_SUMMARY": os.path.abspath("summary")}
        for step in action["runs"]["steps"]:
            done = run_step(step, inputs, environment)
            assert done.returncode == (status if step is action["runs"]["steps"][-1] else 0), done
        assert (f"file=lookups.c,line={line}".encode() in done.stdout) == (change == "worse"), done.stdout
        for name in ("summary", inputs["sarif"]):
            assert os.path.getsize(name) > 100, name


def import_yaml():
    try:
        import yaml  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise Missing("python3-yaml is not installed") from error
    return yaml


def case_broken_input():
    """What keeps a gate from judging has a status of its own."""
    with open("nearmiss.yaml", "w", encoding="ascii") as f:
        f.write("budgets: 3\n")
    done = nearmiss("gate", "bad.nmp")
    assert done.returncode == NOT_JUDGED and b"nearmiss.yaml" in done.stderr, done
    with open("nearmiss.yaml", "w", encoding="ascii") as f:
        f.write("budgets: [{absolute: 1}]\n")
    done = nearmiss("gate")
    assert done.returncode == NOT_JUDGED and b"there is no profile nearmiss.nmp" in done.stderr, done
    with open("bad.nmp", "w", encoding="ascii") as f:
        f.write("no profile\n")
    done = nearmiss("gate", "bad.nmp")
    assert done.returncode == NOT_JUDGED and b"bad.nmp is not a nearmiss profile" in done.stderr, done


main(globals())
