# SPDX-License-Identifier: MIT
"""Serves profiles by the real server, and has a script drive Chromium there; skipped where either is missing."""

import contextlib
import os
import re
import shutil
import subprocess
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "e2e"))
# pylint: disable=wrong-import-position
from harness import ENVIRONMENT, NEARMISS, TOP, Skip


def need_chromium():
    for tool in ("node", "chromium"):
        if not shutil.which(tool):
            raise Skip(f"{tool} is not installed")
    if not os.path.isdir(os.path.join(TOP, "web/node_modules/playwright-core")):
        raise Skip("the npm packages of web/ are missing: tools/install-pages")


def drive_chromium(script, case, address, *more):
    done = subprocess.run(["node", os.path.join(TESTS, "pages", script), case, address, shutil.which("chromium"), *more],
                          capture_output=True, timeout=560, check=False)
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()


@contextlib.contextmanager
def served(*arguments):
    """The address, and the server."""
    need_chromium()
    with subprocess.Popen([NEARMISS, "view", "--no-browser", *arguments], stdout=subprocess.PIPE, env=ENVIRONMENT) as server:
        try:
            yield re.search(r"http://\S+", server.stdout.readline().decode())[0], server
        finally:
            server.terminate()
