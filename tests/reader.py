# SPDX-License-Identifier: MIT
"""reader.py - the Python package nearmiss-profile, and its notebook.

    reader.py CASE SOURCE NEARMISS [--update]
"""
import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE, NEARMISS = (pathlib.Path(a).absolute() for a in sys.argv[2:4])
PROFILE = SOURCE / "tests/data/profile-v1.nmp"
NOTEBOOK = SOURCE / "python/profile.ipynb"
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "python"))
from nearmiss_profile import Profile, ProfileError  # noqa: E402 pylint: disable=wrong-import-position


def refused(action):
    try:
        action()
    except ProfileError as error:
        return str(error)
    raise AssertionError("not refused")


def case_rows():
    """Rows are those of `nearmiss query`, of each view."""
    with Profile(PROFILE) as profile:
        assert profile.levels == ["L1d", "L2"], profile.levels
        assert profile.info["machine"] and "counts" in profile.views
        for view in ("objects", "levels", "counts", "processes"):
            told = subprocess.run([NEARMISS, "query", "-i", PROFILE, "--format=json", f"SELECT * FROM {view}"],
                                  capture_output=True, check=True).stdout
            assert list(profile.rows(view)) == json.loads(told)["rows"], view
        assert list(profile.rows("SELECT ? AS a, 2 AS b", ["x"])) == [{"a": "x", "b": 2}]


def case_refused():
    """Other files, other versions, and what would change the profile."""
    with tempfile.TemporaryDirectory() as folder:
        assert "no such file" in refused(lambda: Profile(pathlib.Path(folder, "none.nmp")))
        other = pathlib.Path(folder, "other ?#.nmp")
        other.write_text("text")
        assert "not a profile" in refused(lambda: Profile(other))
        changed = bytearray(PROFILE.read_bytes())
        changed[60:64] = (9).to_bytes(4, "big")  # user_version, in SQLite's header
        other.write_bytes(changed)
        assert "version 9, not 1" in refused(lambda: Profile(other))
        other.write_bytes(PROFILE.read_bytes())
        with Profile(other) as profile:
            assert "no such table: objekte" in refused(lambda: profile.rows("SELECT * FROM objekte"))
            assert "readonly" in refused(lambda: profile.rows("CREATE TABLE t (a)"))
        assert os.listdir(folder) == [other.name]


def case_frame():
    try:
        import pandas
    except ImportError:
        sys.exit(77)
    with Profile(PROFILE) as profile:
        frame = profile.frame("objects")
        assert isinstance(frame, pandas.DataFrame) and len(frame) == len(list(profile.rows("objects")))


def case_notebook():
    """The notebook's output is what its code prints."""
    notebook, names = json.loads(NOTEBOOK.read_text(encoding="utf-8")), {}
    os.chdir(SOURCE / "python")
    for number, cell in enumerate(cell for cell in notebook["cells"] if cell["cell_type"] == "code"):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec("".join(cell["source"]), names)  # pylint: disable=exec-used # our own
        output = [{"name": "stdout", "output_type": "stream", "text": said.getvalue().splitlines(keepends=True)}]
        if "--update" in sys.argv:
            cell.update(execution_count=number + 1, outputs=output)
        assert cell["outputs"] == output, said.getvalue()
    if "--update" in sys.argv:
        NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


globals()["case_" + sys.argv[1]]()
