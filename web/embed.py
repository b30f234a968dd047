#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""embed.py OUTPUT FILE... - writes a C file that holds the files as the table of assets.h."""

import os
import sys

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".wasm": "application/wasm"}


def array(number, path):
    with open(path, "rb") as file:
        content = file.read()
    rows = [",".join(str(byte) for byte in content[at:at + 40]) for at in range(0, len(content), 40)]
    return f"static const unsigned char bytes{number}[] = {{\n" + ",\n".join(rows) + "};\n"


def main():
    paths = sys.argv[2:]
    with open(sys.argv[1], "w", encoding="ascii") as out:
        out.write('// Made by web/embed.py.\n#include "assets.h"\n\n')
        for number, path in enumerate(paths):
            out.write(array(number, path))
        out.write("\nconst struct nm_asset nm_assets[] = {\n")
        for number, path in enumerate(paths):
            kind = TYPES[os.path.splitext(path)[1]]
            out.write(f'\t{{"{os.path.basename(path)}", "{kind}", bytes{number}, sizeof bytes{number}}},\n')
        out.write("\t{0},\n};\n")
        out.write(f"const size_t nm_n_assets = {len(paths)};\n")


main()
