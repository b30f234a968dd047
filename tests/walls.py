# SPDX-License-Identifier: MIT
"""walls.py BUILD - headers in folders within a room of src/ are its own: another room cannot include them.

For each room with walls one that depends on it is taken, with the command that compiles it. There the headers at the room's top
compile, and those of its folders are not found.
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
ROOMS = ("export", "import", "profile", "run")
os.chdir(TOP)


def commands():
    """The compiler and options of one source of each room."""
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
        for command in json.load(file):
            path = os.path.relpath(os.path.join(command["directory"], command["file"]), TOP)
            if path.startswith("src/") and path.endswith(".c"):
                words = shlex.split(command["command"])
                yield path.split("/")[1], words[:words.index("-MD")]


def compiles(command, header):
    done = subprocess.run([*command, "-fsyntax-only", "-xc", "-"], input=f'#include "{header}"\n', text=True, cwd=BUILD,
                          capture_output=True, check=False)
    return done.returncode == 0, done.stderr


table = dict(commands())
failed = False
for room in ROOMS:
    faces = [os.path.basename(path) for path in glob.glob(f"src/{room}/*.h") if not path.endswith("_priv.h")]
    inner = [os.path.basename(path) for path in glob.glob(f"src/{room}/*/**/*.h", recursive=True)]
    others = [command for other, command in table.items() if other != room and any(
        word.endswith(f"src/{room}") and word.startswith("-I..") for word in command)]
    assert faces and inner and others, (room, faces, inner, len(others))
    for header in faces:
        good, said = compiles(others[0], header)
        failed |= not good
        print(f"{room}: {header}: {said}" if not good else "", end="")
    for header in inner:
        good, said = compiles(others[0], header)
        if good or "No such file" not in said and "not found" not in said:
            failed = True
            print(f"{room}: another room can include {header}")
for path in glob.glob("src/**/*.[ch]", recursive=True):
    with open(path, encoding="utf-8") as file:
        for include in re.findall(r'^#include "([a-z_]+/[\w/]+\.h)"', file.read(), re.MULTILINE):
            if not os.path.exists(os.path.join(*path.split("/")[:2], include)) and not include.startswith("nearmiss/") and glob.glob(
                    f"src/*/{include}"):
                failed = True
                print(f"{path} includes {include} of another room")
sys.exit(failed)
