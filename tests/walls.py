# SPDX-License-Identifier: MIT
"""walls.py BUILD - a room of src/ sees its own headers and the faces of rooms below it, nothing else.

A room's face is the headers at its top. For each room the command that compiles one of its sources must find no header within a
folder of another room, and no face of a room that it does not declare or that declares it; including one must be an error.
"""

import glob
import json
import os
import re
import shlex
import subprocess
import sys

BUILD = os.path.abspath(sys.argv[1])
TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
os.chdir(TOP)
APART = ("src/collect/valgrind/", "src/debugger/page/", "src/library/")  # compiled otherwise, or a room that none includes


def room_of(path):
    parts = path.split("/")
    return "/".join(parts[:3 if parts[1] == "collect" else 2])


def commands():
    """The compiler and options of one source of each room."""
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
        for command in json.load(file):
            path = os.path.relpath(os.path.join(command["directory"], command["file"]), TOP)
            if path.startswith("src/") and path.endswith(".c") and not path.startswith(APART) and ".so.p" not in command["command"]:
                words = shlex.split(command["command"])
                yield room_of(path), words[:words.index("-MD")]


def compile_text(command, text):
    done = subprocess.run([*command, "-fsyntax-only", "-xc", "-"], input=text, text=True, cwd=BUILD, capture_output=True,
                          check=False)
    return done.returncode, done.stderr


def sees(command):
    """The rooms whose faces a command finds."""
    folders = [os.path.relpath(os.path.join(BUILD, word[2:]), TOP) for word in command if word.startswith("-I")]
    return {folder for folder in folders if folder in table}


def found(command, names):
    """Those headers that a command finds."""
    text = "".join(f'#if __has_include("{name}")\n#error found {name}\n#endif\n' for name in names)
    return set(re.findall(r"#error found (.*)", compile_text(command, text)[1]))


table = dict(commands())
headers = [path for path in glob.glob("src/**/*.h", recursive=True) if not path.startswith(APART)]
faces = {path for path in headers if os.path.dirname(path) == room_of(path)}
failures = []
for room, command in sorted(table.items()):
    seen = sees(command)
    own = {os.path.basename(path) for path in headers if room_of(path) == room}
    shown = own | {os.path.basename(path) for path in faces if room_of(path) in seen}
    hidden = sorted({os.path.basename(path) for path in headers if room_of(path) != room} - shown)
    assert hidden, room
    of_system = found([word for word in command if not word.startswith("-I")], hidden)
    failures += [f"{room} can include {name}" for name in sorted(found(command, hidden) - of_system)]
    failures += [f"{room} and {other} see each other" for other in seen - {room} if other < room and room in sees(table[other])]
    # Each face compiles where it is seen, and including a header from inside the room fails there.
    users = [other for other in sorted(table) if other != room and room in sees(table[other])]
    inner = sorted(path for path in headers if room_of(path) == room and path not in faces)
    if users:
        names = [os.path.basename(path) for path in sorted(faces) if room_of(path) == room]
        status, said = compile_text(table[users[0]], "".join(f'#include "{name}"\n' for name in names))
        failures += [f"{users[0]} cannot include the face of {room}: {said}"] if status else []
    wrong = [path for path in inner if users and not any(
        os.path.basename(path) == os.path.basename(other) for other in headers if room_of(other) == users[0] or other in faces)]
    if wrong and not compile_text(table[users[0]], f'#include "{os.path.basename(wrong[0])}"\n')[0]:
        failures.append(f"{users[0]} can include {wrong[0]}")
print("\n".join(failures))
sys.exit(bool(failures))
