# SPDX-License-Identifier: MIT
"""packaging.py - what is installed and what is handed on.

    packaging.py CASE SOURCE BUILD
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE, BUILD = (pathlib.Path(a).absolute() for a in sys.argv[2:4])


def run(*command, **environment):
    return subprocess.run(command, cwd=BUILD, env={**os.environ, **environment}, check=True, capture_output=True,
                          text=True).stdout


def case_install():
    """Once ninja has built, an installation compiles nothing, and its log belongs to whoever built."""
    targets = json.loads(run("meson", "introspect", "--targets", "."))
    made = [name for target in targets if target["installed"] for name in target["filename"]]
    assert len(made) > 20 and all(target["build_by_default"] for target in targets if target["installed"])
    before = {name: os.stat(name).st_mtime_ns for name in made}
    log = BUILD / "meson-logs/install-log.txt"
    with tempfile.TemporaryDirectory() as folder:
        run("meson", "install", "--no-rebuild", DESTDIR=folder)
        names = {path.name for path in pathlib.Path(folder).rglob("*")}
    assert before == {name: os.stat(name).st_mtime_ns for name in made}
    assert {"nearmiss", "libnearmiss.so", "libnearmiss.a", "nearmiss.pc", "nearmiss.h", "report.md", "matrix.c"} <= names
    assert os.stat(log).st_uid == os.stat(BUILD).st_uid


def case_pages():
    """An archive has the bundled pages; without them there is none, rather than one that lacks them."""
    script = SOURCE / "tools/dist-pages"
    with tempfile.TemporaryDirectory() as folder:
        build, archive = pathlib.Path(folder, "build"), pathlib.Path(folder, "archive")
        places = {"MESON_BUILD_ROOT": str(build), "MESON_DIST_ROOT": str(archive)}
        (build / "web/engine").mkdir(parents=True)
        for name in ("index.html", "app.js", "app.css"):
            (build / "web" / name).write_text(name)
        refused = subprocess.run([script], env={**os.environ, **places}, capture_output=True, text=True, check=False)
        assert refused.returncode == 1 and "engine.wasm is missing" in refused.stderr and not archive.exists()
        (build / "web/engine/engine.wasm").write_text("engine.wasm")
        run(script, **places)
        assert {path.name: path.read_text() for path in (archive / "web/bundle").iterdir()} == {
            name: name for name in ("index.html", "app.js", "app.css", "engine.wasm")}


globals()["case_" + sys.argv[1]]()
