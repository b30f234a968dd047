# SPDX-License-Identifier: MIT
"""test_compare.py - Debian's programs behave the same when they are recorded: output, errors, exit status, files.

debian_commands.txt lists the commands. CI runs a sample of them; NM_COMMANDS=all in the environment runs all, a
number that many. A command whose program is not installed is left out. One limit of Valgrind is accepted: a program
that another one executes has its path as its name, which shows in messages."""

import hashlib
import os
import shutil

from harness import ENVIRONMENT, NEARMISS, main, need, run

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "debian_commands.txt")
SAMPLE = 40
MISSING = 127

WORDS = "the quick brown fox jumps over the lazy dog while nobody looks at it".split()
FILES = {
    "text": "".join(" ".join(WORDS[i % 5:i % 9 + 4]) + f" {i}\n" for i in range(40)),
    "numbers": "".join(f"{i * 7919 % 1000}\n" for i in range(100)),
    "sorted": "".join(sorted(word + "\n" for word in WORDS)),
    "other": "".join(sorted(word + "\n" for word in WORDS[::2])),
    "tabs": "a\tb\tc\n\td\n        e\n",
    "pairs": "a b\nb c\na d\nd c\n",
    "script": "x=5\nwhile [ $x -gt 0 ]; do echo $x; x=$((x - 1)); done\n",
    "program.c": '#include <stdio.h>\nint main(void) { printf("%d\\n", 6 * 7); return 0; }\n',
    "broken.c": "int main(void) { return missing; }\n",
    "hello.f90": 'program hello\n  print *, "hello"\nend program\n',
    "folder/a": "the first\n",
    "folder/b": "the second\n",
    "folder/deep/c": "the third\n",
}


def commands():
    with open(TABLE, encoding="utf-8") as f:
        return [line.rstrip("\n") for line in f if line.strip() and not line.startswith("#")]


def chosen():
    every, wish = commands(), os.environ.get("NM_COMMANDS", str(SAMPLE))
    count = len(every) if wish == "all" else min(int(wish), len(every))
    return [every[i * len(every) // count] for i in range(count)]


def make_files():
    shutil.rmtree("work", ignore_errors=True)
    for name, text in FILES.items():
        path = os.path.join("work", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)


def files_left():
    """Each path under the folder, with what it is and holds."""
    found = {}
    for folder, folders, names in os.walk("work"):
        for name in folders + names:
            path = os.path.join(folder, name)
            if os.path.islink(path):
                found[path] = os.readlink(path)
            elif os.path.isfile(path):
                with open(path, "rb") as f:
                    found[path] = (os.stat(path).st_mode, hashlib.md5(f.read()).hexdigest())
            else:
                found[path] = os.stat(path).st_mode
    return found


def outcome(command, *before):
    """What a command prints and leaves: its status, output, errors and files."""
    make_files()
    done = run([*before, need("sh"), "-c", command], environment=ENVIRONMENT, folder="work")
    return done.returncode, done.stdout, done.stderr.replace(b"/usr/bin/", b""), files_left()


def case_programs():
    profile = os.path.abspath("p.nmp")
    recorded = [NEARMISS, "record", "-q", "-o", profile, "--cache", "L1d=32K,8,64", "--"]
    wrong, compared = [], 0
    for command in chosen():
        native = outcome(command)
        if native[0] == MISSING and "missing" not in command:
            continue
        compared += 1
        status, output, errors, files = outcome(command, *recorded)
        # The shell that a signal ends is ended by it; nearmiss then exits as shells do.
        if (128 - native[0] if native[0] < 0 else native[0], *native[1:]) != (status, output, errors, files):
            wrong.append((command, native[:3], (status, output, errors)))
    print(f"{compared} commands compared")
    assert not wrong, "\n".join(f"{command}\n    natively {native}\n    recorded {other}"
                                for command, native, other in wrong)
    assert compared > len(chosen()) // 2


if __name__ == "__main__":
    main(globals())
