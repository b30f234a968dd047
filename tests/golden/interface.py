# SPDX-License-Identifier: MIT
"""interface.py - what the user meets around the reports: terminals, pagers, completion, and the documents,
which must name what the program takes and the profile holds.

    interface.py CASE NEARMISS SOURCE COMPLETION MAKE_PROFILE
"""
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios

import golden

NEARMISS, SOURCE, COMPLETION, MAKE_PROFILE = (pathlib.Path(a).absolute() for a in sys.argv[2:6])
DATA = SOURCE / "tests/data"
PROFILE = DATA / "profile-v1.nmp"


def run(*arguments, **environment):
    plain = {k: v for k, v in os.environ.items() if k != "COLUMNS"}
    return subprocess.run([NEARMISS, *arguments], env={**plain, "LC_ALL": "C.UTF-8", **environment}, cwd=DATA,
                          stdin=subprocess.DEVNULL, capture_output=True, check=False)


def on_terminal(*arguments, columns=100, wanted=0, **environment):
    """What the command writes to a terminal of so many columns."""
    plain = {k: v for k, v in os.environ.items()
             if k not in ("COLUMNS", "NO_COLOR", "PAGER", "NEARMISS_PAGER", "LESS", "TERM")}
    master, terminal = pty.openpty()  # kept open here: a terminal that hangs up may lose its last lines
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen([str(NEARMISS), *arguments], stdin=terminal, stdout=terminal, stderr=terminal,
                               env={**plain, "TERM": "xterm", "LC_ALL": "C.UTF-8", **environment})
    text, status = b"", None
    while True:
        if select.select([master], [], [], 0.05)[0]:
            text += os.read(master, 65536)
        elif status is None:
            status = process.poll()
        else:
            break
    os.close(terminal)
    os.close(master)
    assert status == wanted, (status, text)
    return text.decode().replace("\r\n", "\n")


def case_terminal_width():
    report = ("report", "-i", str(PROFILE), "pairs")
    for columns in (80, 100, 130):
        text = on_terminal("--no-pager", *report, columns=columns, NO_COLOR="1")
        assert max(map(len, text.splitlines())) <= columns, text
        assert "…" in text
    text = on_terminal("--no-pager", *report, columns=130, NO_COLOR="1", COLUMNS="90")
    assert max(map(len, text.splitlines())) <= 90, text
    for width, columns in ((80, {}), (90, {"COLUMNS": "90"})):  # a file is as wide as a terminal
        text = run(*report, **columns).stdout.decode()
        assert "…" in text and max(map(len, text.splitlines())) <= width, text
    assert "…" not in run(*report, "--width=0").stdout.decode()
    for sort in ("cycles", "waste", "conflict", "reuse"):  # the column that sorts is never left out
        text = run(*report, "--sort", sort, "--width=40").stdout.decode()
        title = "waste %" if sort == "waste" else sort
        assert title in text.splitlines()[0], text
    text = on_terminal("--no-pager", *report, columns=80, NO_COLOR="1", LC_ALL="C")
    assert "…" not in text and "..." in text


def fitted():
    """What golden.py writes as text: the reports, without those in the form of other tools' and messages of a gate."""
    wide = ("--pahole", "--data-type", "--c2c", "--markdown", "--format", "-f", "--width", "gate", "export")
    for name, words in golden.CASES.items():
        if not name.startswith(("fault", "help")) and not any(word.startswith(wide) for word in words):
            yield words


def case_text_fits():
    """Every table and sentence does; below 80 columns, not what is drawn and what stands beside a source."""
    for words in fitted():
        for columns in (80,) if words[0] in ("annotate", "curve", "timeline") else (80, 60):
            done = run(*words, COLUMNS=str(columns), LC_ALL="C.UTF-8")
            text = re.sub("\033\\[[0-9;]*m", "", done.stdout.decode())
            over = [line for line in text.splitlines() if len(line) > columns and not line.startswith("/")]
            assert not over, (words, over)


def reports_with_rows():
    """Each report that some stored profile has rows for, with the first of them."""
    for report in reports():
        for profile in sorted(DATA.glob("*.nmp"), key=lambda path: path != PROFILE):
            done = run("report", profile, report, "--format=json", "--limit=1")
            rows = json.loads(done.stdout).get("rows") if done.returncode == 0 else None
            if rows:
                yield report, profile, rows[0]
                break


def case_sorting_column_stays():
    """Of each report, sorted by some of its numbers, at a width at which little else is left."""
    seen = set()
    for report, profile, row in reports_with_rows():
        numbers = [name for name, value in row.items() if isinstance(value, (int, float)) and name != "line"]
        for column in numbers[:1] + numbers[3::12]:
            command = ("report", profile, report, f"--sort={column}", "--limit=1")
            alone = run(*command, f"--columns={column}", "--width=0")
            if alone.returncode:  # not of those that sort
                continue
            title = re.split("  +", alone.stdout.decode().splitlines()[0])[-1]
            heads = run(*command, "--width=40").stdout.decode().splitlines()[0]
            assert title in heads, (report, column, title, heads)
            seen.add(report)
    assert len(seen) > 10, seen


def case_colour():
    report = ("--no-pager", "report", "-i", str(PROFILE), "pairs")
    assert "\033[1m" in on_terminal(*report)
    assert "\033" not in on_terminal(*report, NO_COLOR="1")
    assert "\033" not in on_terminal(*report, TERM="dumb")
    assert "\033" not in run(*report).stdout.decode()
    annotate = ("--no-pager", "annotate", "-i", str(PROFILE), "multiply")
    hot = "\033[1;31m105,300"
    assert hot in on_terminal(*annotate)
    assert hot in on_terminal(*annotate, "--color=always", NO_COLOR="1")
    assert hot in run(*annotate, "--color=always").stdout.decode()
    for plain in (on_terminal(*annotate, NO_COLOR="1"), on_terminal(*annotate, "--color=never"),
                  run(*annotate).stdout.decode()):
        assert "\033" not in plain and "105,300" in plain


def case_pager():
    report = ("report", "-i", str(PROFILE), "pairs")
    assert on_terminal(*report, NEARMISS_PAGER="sed s/^/paged:/").count("paged:") > 3
    assert on_terminal(*report, PAGER="sed s/^/paged:/").count("paged:") > 3
    assert "paged:" not in on_terminal(*report, NEARMISS_PAGER="", PAGER="sed s/^/paged:/")
    assert "paged:" not in on_terminal("--no-pager", *report, PAGER="sed s/^/paged:/")
    assert "paged:" not in on_terminal(*report, "--format=csv", PAGER="sed s/^/paged:/")
    assert b"paged:" not in run(*report, PAGER="sed s/^/paged:/").stdout
    # A pager that is missing loses nothing, neither by name nor inside a shell command.
    text = on_terminal(*report, PAGER="no-such-pager -x")
    assert "cannot find the pager" in text and "misses" in text, text
    assert "the pager could not be started" in on_terminal(*report, wanted=122, PAGER="A=1 no-such-pager")
    # A reader who quits early is no failure.
    on_terminal("query", "-i", str(PROFILE), "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n "
                "LIMIT 100000) SELECT x FROM n", PAGER="head -1")


def case_equal_rows():
    """Rows that differ by key differ in what is shown, though their files have one base name and the width is small."""
    with tempfile.TemporaryDirectory() as folder:
        profile = os.path.join(folder, "p.nmp")
        shutil.copy(PROFILE, profile)
        with sqlite3.connect(profile) as db:
            text, site = (db.execute(f"SELECT max(id) + 1 FROM {table}").fetchone()[0] for table in ("text", "site"))
            db.execute("INSERT INTO text VALUES(?, '/lib/solver/solver.c')", (text,))
            db.execute("UPDATE site SET file = ?, line = 40 WHERE line = 41", (text,))
        db.close()
        for report in ("pairs", "lines", "functions", "--by=function,file,line", "--by=object,line", "--by=file"):
            for width in (0, *range(60, 200, 20)):
                shown = run("report", "-i", profile, report, f"--width={width}").stdout.decode()
                names = [re.split(r"  +[-0-9]", line)[0] for line in shown.split("\n\n")[0].splitlines()[1:]]
                assert len(names) > 1 and len(set(names)) == len(names), shown
        lines = run("report", "-i", profile, "lines", "--width=80").stdout.decode()
        assert "src/solver/solver.c:40" in lines and "lib/solver/solver.c:40" in lines, lines


def options(command):
    """Long options of a command, as --help lists them."""
    done = run(command, "--help")
    assert done.returncode == 0, done
    return re.findall(r"^ +(?:-\w, )?--([a-z0-9-]+)", done.stdout.decode(), re.MULTILINE)


def commands():
    text = run("help").stdout.decode()
    return re.findall(r"^  ([a-z]+) ", text.split("Commands:\n")[1].split("\n\n")[0], re.MULTILINE)


def other_shell(shell, script):
    """What a script of zsh or fish prints, given $nearmiss and its completion $completion; skips without the shell."""
    if not shutil.which(shell):
        print(f"{sys.argv[1]}: skipped: {shell} is not installed")
        sys.exit(1 if os.environ.get("ALL_TOOLS") else 77)
    with tempfile.TemporaryDirectory() as folder:
        name = pathlib.Path(folder) / {"zsh": "_nearmiss", "fish": "nearmiss.fish"}[shell]
        name.write_bytes(run("help", "--completion=" + shell).stdout)
        done = subprocess.run([shell, "-c", script], capture_output=True, check=False, cwd=folder,
                              env={**os.environ, "completion": str(name), "HOME": folder, "XDG_CONFIG_HOME": folder,
                                   "PATH": f"{NEARMISS.parent}:{os.environ['PATH']}", "profile": str(PROFILE)})
    assert done.returncode == 0 and not done.stderr, done
    return done.stdout.decode()


def case_completion_of_fish():
    def complete_all(line):
        text = other_shell("fish", f"source $completion; complete -C '{line}'")
        return [row.split("\t")[0] for row in text.splitlines()]

    assert complete_all("nearmiss repl") == ["replay"]
    assert complete_all("nearmiss report pai") == ["pairs"]
    assert complete_all("nearmiss report --format ") == ["csv", "json", "text"]
    assert "cycles" in complete_all("nearmiss report --sort ")
    assert {"host", "zen3"} <= set(complete_all("nearmiss record --machine "))
    assert "matrix" in complete_all(f"nearmiss report {PROFILE} --object ")
    assert "multiply" in complete_all(f"nearmiss report {PROFILE} --function ")
    assert "/src/solver/solver.c" in complete_all(f"nearmiss report {PROFILE} --file ")
    assert any(len(name) > 100 for name in complete_all(f"nearmiss report {PROFILE} --function ")), "a name was cut"
    for command in commands():
        found = {row[2:] for row in complete_all(f"nearmiss {command} --") if row.startswith("--")}
        assert found >= set(options(command)) - {"help"}, (command, found)


def case_completion_of_zsh():
    """zsh completes on terminals only: the script is parsed, and its specifications name what --help does."""
    assert other_shell("zsh", "zsh -n $completion && echo parsed") == "parsed\n"
    text = run("help", "--completion=zsh").stdout.decode()
    for command in commands():
        part = text.split(f"\n\t{command})\n")[1].split(" ;;\n")[0]
        for option in options(command):
            assert f"--{option}" in part, (command, option)
    names = "compadd() { print -rl -- ${(P)2} }; words=(nearmiss report $profile); source $completion 2>/dev/null; "
    assert "matrix" in other_shell("zsh", names + "_nearmiss_names 'SELECT DISTINCT object FROM objects'").splitlines()
    functions = other_shell("zsh", names + "_nearmiss_names 'SELECT DISTINCT function FROM counts'").splitlines()
    assert "multiply" in functions and any(len(name) > 100 for name in functions), functions


def complete(*words):
    script = ('. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _nearmiss; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "-c", script, "bash", COMPLETION, *words], capture_output=True, check=True)
    assert not done.stderr, done.stderr
    return done.stdout.decode().split()


def case_completion():
    assert sorted(complete("nearmiss", "rep")) == ["replay", "report"]
    assert sorted(complete("nearmiss", "trace", "")) == ["info", "merge", "print", "slice"]
    assert complete("nearmiss", "record", "--tra") == ["--trace"]
    assert set(commands()) <= set(complete("nearmiss", ""))
    assert complete("nearmiss", "report", "pai") == ["pairs"]
    assert complete("nearmiss", "report", "--format", "") == ["text", "csv", "json"]
    assert complete("nearmiss", "report", "--format", "=", "j") == ["json"]
    for command in commands():
        assert sorted(complete("nearmiss", command, "--")) == sorted("--" + o for o in options(command)), command
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pathlib.Path("some.nmp").touch()
        assert complete("nearmiss", "report", "-i", "so") == ["some.nmp"]
        os.mkdir("tree")
        assert complete("nearmiss", "annotate", "--source-dir", "tr") == ["tree"]
        assert complete("nearmiss", "nest", "so") == complete("nearmiss", "sweep", "so") == ["some.nmp"]
        for command in ("view", "annotate", "diff", "query"):
            assert complete("nearmiss", command, "so") == ["some.nmp"], command
        assert complete("nearmiss", "report", "--machine", "x") == [] == complete("nearmiss", "report", "nothing")
        assert complete("nearmiss", "record", "--machine", "zen") and "cycles" in complete("nearmiss", "report", "--sort", "cy")
        shutil.copy(PROFILE, "nearmiss.nmp")
        path = {"PATH": f"{NEARMISS.parent}:{os.environ['PATH']}"}
        os.environ.update(path)
        assert complete("nearmiss", "report", "--object", "matr") == ["matrix"]
        assert complete("nearmiss", "report", "--function", "multi") == ["multiply"]
        assert "/src/solver/solver.c" in complete("nearmiss", "report", "--file", "/src/so")
        assert complete("nearmiss", "report", "--process", "cc1#") == ["cc1#2"]
        os.chdir("/")


def reports():
    text = run("report", "--help").stdout.decode()
    return re.findall(r"^  ([a-z]+) ", text.split("Reports:\n")[1].split("\n\n")[0], re.MULTILINE)


def case_profiles_are_arguments():
    """Of each command with --input=PROFILE: the same as with it."""
    more = {"query": ["SELECT * FROM levels"], "export": ["csv"], "accuracy": ["--limit=1"]}
    stored = {"accuracy": "profile-pmu.nmp", "sharing": "profile-shared.nmp", "curve": "profile-curve.nmp",
              "timeline": "profile-timeline.nmp"}
    seen = 0
    for command in commands():
        if not re.search(r"^  -i, --input=FILE +the profile", run(command, "--help").stdout.decode(), re.MULTILINE):
            continue
        profile = stored.get(command, "profile-v1.nmp")
        words = [command, *more.get(command, [])]
        alone, named = run(*words, profile), run(*words, "-i", profile)
        seen += alone.returncode == 0
        assert (alone.returncode, alone.stdout, alone.stderr) == (named.returncode, named.stdout, named.stderr), (words, alone)
    assert seen >= 8, seen


def case_reports_are_all_named():
    """The reports that --help lists are those that there are, and each runs."""
    names = reports()
    assert names == [word for word in complete("nearmiss", "report", "") if not word.endswith(".nmp")]
    for name in names:
        done = run("report", "-i", PROFILE, name)
        told = {"calltree": b"--callgraph", "reuses": b"--distances",
                "sectors": b"no sector misses", "prefetches": b"no prefetches", "buckets": b"--heap-chains", "numa": b"no nodes",
                "schedules": b"--schedules",
                "latencies": b"no samples", "phases": b"no phases", "ranks": b"nearmiss merge", "groups": b"nearmiss merge",
                "spread": b"nearmiss merge", "linespread": b"nearmiss merge",
                "tasks": b"nearmiss sweep"}.get(name)
        if told:  # what the stored profile lacks
            assert done.returncode == 2 and told in done.stderr, done
        else:
            assert done.returncode == 0, name


def case_man_pages():
    """Every command has a page, which names every option; nearmiss(1) has every status."""
    for command in commands():
        if command == "help":
            continue
        page = (SOURCE / f"docs/man/nearmiss-{command}.1.md").read_text(encoding="utf-8")
        for option in options(command):
            assert f"--{option}" in page.replace("\\-", "-"), f"nearmiss-{command}(1) lacks --{option}"
    page = (SOURCE / "docs/man/nearmiss.1.md").read_text(encoding="utf-8")
    header = (SOURCE / "src/run/status.h").read_text(encoding="utf-8")
    statuses = re.findall(r"NM_STATUS_\w+ = (\d+)", header)
    assert len(statuses) == 10  # few enough to be remembered
    for status in statuses:
        assert re.search(rf"^{status}$", page, re.MULTILINE), f"nearmiss(1) lacks status {status}"


def case_documented_rules():
    """docs/advice.md has a section for each rule, in the order in which they are tried, and no others."""
    files = [SOURCE / f"src/report/advice/rules_{of}.c" for of in
             ("memory", "searches", "conflicts", "library", "chains", "bytes", "residencies")]
    rules = re.findall(r"^    \{\"([a-z ]+)\", \w+, advise_", "".join(f.read_text(encoding="utf-8") for f in files),
                       re.MULTILINE)
    text = (SOURCE / "docs/advice.md").read_text(encoding="utf-8")
    assert len(rules) >= 20, rules
    assert re.findall(r"^### (.*)$", text, re.MULTILINE) == rules
    assert len(re.findall(r"^\*When:\*", text, re.MULTILINE)) == len(rules)


def case_documented_columns():
    """docs/format/report.md names every column of the ranked reports."""
    text = (SOURCE / "docs/format/report.md").read_text(encoding="utf-8")
    for report in ("pairs", "objects", "functions", "lines"):
        head = run("report", "-i", PROFILE, report, "--format=csv").stdout.decode().splitlines()[0]
        for column in head.split(","):
            if column not in ("object", "function", "file", "line"):
                assert f"`{column}`" in text, column


def columns(profile):
    """{view: its columns}."""
    db = sqlite3.connect(profile)
    views = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'view'")]
    found = {view: [row[1] for row in db.execute(f"PRAGMA table_info({view})")] for view in views}
    db.close()
    return found


def case_documented_views():
    """docs/format/profile.md names the columns of every view, in order, and no others."""
    text = (SOURCE / "docs/format/profile.md").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([MAKE_PROFILE, f"{folder}/now.nmp"], check=True)
        now = columns(f"{folder}/now.nmp")
    assert len(now) >= 9 and columns(PROFILE) == now, "views have changed: a new version, and ninja samples"
    manual = (SOURCE / "docs/man/nearmiss-query.1.md").read_text(encoding="utf-8")
    for view in now:
        assert f"**{view}**" in manual and re.search(rf"\b{view}\b", run("help", "query").stdout.decode()), view
    name = r"(?:`\w+`|\*\*\w+\*\*)"
    groups = {group: re.findall(r"`(\w+)`", listed) for group, listed in
              re.findall(rf"^- \*\*(\w+)\*\*: ({name}(?:,\s+{name})*)\.", text, re.MULTILINE)}
    documented = {}
    for view, section in re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL):
        documented[view] = []
        for item in re.findall(rf"^- ({name}(?:,\s+{name})*)(?=:|$)", section, re.MULTILINE):
            for column, group in re.findall(r"`(\w+)`|\*\*(\w+)\*\*", item):
                documented[view] += [column] if column else groups.get(group) or documented[group]
    for view, names in now.items():
        assert documented.get(view) == names, (view, documented.get(view), names)


def case_documented_queries():
    """The example queries in the documents run on the stored profile."""
    found = 0
    for name in ("docs/format/profile.md", "docs/man/nearmiss-query.1.md"):
        text = (SOURCE / name).read_text(encoding="utf-8")
        for block in re.findall(r"```sql\n(.*?)```", text, re.DOTALL):
            found += 1
            done = run("query", "-i", PROFILE, block)
            assert done.returncode == 0, (block, done.stderr)
            assert len(done.stdout.splitlines()) > 1, (block, "gives no row")
    assert found >= 6, found


signal.alarm(100)
globals()["case_" + sys.argv[1]]()
