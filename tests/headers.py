# SPDX-License-Identifier: MIT
"""headers.py - does each header compile alone, and each whole C file in docs/extending? The public ones also as C99 and C++, with all warnings.

Private headers (*_priv.h) count too; those of the Valgrind collector need Valgrind's own, those of the debugger in a page
its compiler, and are left out.
"""

import glob
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
os.chdir(TOP)
folders = sorted(glob.glob("src/*/**/", recursive=True), key=lambda folder: folder.count("/"))
folders = [folder for folder in folders if "collect" not in folder and "/page/" not in folder] + ["src/collect/nest/", "src/collect/perf/", "src/collect/heap/"]
inside = ["gcc", "-std=gnu17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wshadow", "-Wstrict-prototypes", "-Iinclude", "-Iweb"]
inside += ["-I" + folder for folder in folders]
alone = {"c99": ["gcc", "-std=c99", "-pedantic"], "c11": ["gcc", "-std=c11", "-pedantic"], "c++": ["g++", "-xc++"]}


def check(command, header):
    done = subprocess.run(command + ["-Werror", "-fsyntax-only", "-include", header, os.devnull], capture_output=True,
                          text=True, check=False)
    if done.returncode:
        print(f"{header}: {' '.join(command)}\n{done.stderr}")
    return done.returncode != 0


failed = 0
for header in sorted(path for folder in folders for path in glob.glob(folder + "*.h")):
    failed += check(inside + ["-xc"], header)
for language, command in alone.items():
    language_option = ["-xc"] if language != "c++" else []
    for header in ("client.h", "nearmiss.h", "plugin.h"):
        failed += check(command + ["-Wall", "-Wextra"] + language_option, "include/nearmiss/" + header)
for page in sorted(glob.glob("docs/extending/*.md")):
    with open(page, encoding="utf-8") as f:
        blocks = re.findall(r"^```c\n(/\* SPDX.*?)^```$", f.read(), re.M | re.S)
    for block in blocks:
        done = subprocess.run(inside + ["-Werror", "-fsyntax-only", "-xc", "-"], input=block, capture_output=True, text=True,
                              check=False)
        if done.returncode:
            print(f"{page}:\n{done.stderr}")
        failed += done.returncode != 0
failed += check(["gcc", "-std=c11", "-ffreestanding", "-Wall", "-Wextra", "-xc"], "include/nearmiss/wire.h")
sys.exit(1 if failed else 0)
