# SPDX-License-Identifier: MIT
"""test_pages.py CASE - the pages of nearmiss view in a real Chromium; drive.mjs says what each case looks at.

Profiles are made here and served by the real server.  Skipped where Node, its packages, the pages or Chromium are missing.
"""

import json
import os
import shutil
import sqlite3

from browser import TESTS, TOP, drive_chromium, need_chromium, served
from harness import main, nearmiss, program, record

ORDER = os.path.join(TOP, "examples/order.nest")
NEST = os.path.join(TOP, "examples/transpose.nest")
HOSTILE = "<script>document.title='run'</script>\"'&\u202e\u2067\u0007\u0085"
LINES = 600
PROFILES = ("before.nmp", "after.nmp", "events.nmp", "shared.nmp", "fields.nmp", "merged.nmp")


def make_profiles():
    for name, spec in (("before.nmp", "L1d=4K,2,64:L2=64K,8,64"), ("after.nmp", "L1d=8K,4,64:L2=64K,8,64")):
        done = nearmiss("nest", "-q", "--distances", "--sets", "-o", name, "--cache", spec, NEST)
        assert done.returncode == 0, done.stderr
    done = nearmiss("monitor", "-q", "--histogram=line", "-c", "L1d=2K,2,32:L2=16K,4,32", "--profile=events.nmp", "-o", "events.txt",
                    "--", "true")
    assert done.returncode == 0, done.stderr


    write_sharing("shared.csv")
    done = nearmiss("replay", "-q", "--cores", "2", "--quantum", "1", "-c", "L1d=1K,2,64:L2=8K,4,64", "-o", "shared.nmp", "shared.csv")
    assert done.returncode == 0, done.stderr
    shutil.copy(os.path.join(TESTS, "data/profile-v1.nmp"), "fields.nmp")
    shutil.copy(os.path.join(TESTS, "data/profile-merged.nmp"), "merged.nmp")


def write_sharing(path):
    """Two threads write to two words of one line by turns, then of many lines, and each reads lines of its own."""
    with open(path, "w", encoding="ascii") as f:
        f.write("addr,rw,size,thread,object,function,file,line\n")
        for i in range(400):
            for thread in (1, 2):
                f.write(f"{0x10000 + 8 * thread},w,8,{thread},counters,count,count.c,{10 + thread}\n")
                f.write(f"{0x20000 + 4096 * thread + 64 * (i % 8)},r,8,{thread},input,count,count.c,20\n")
        for i in range(LINES):
            for thread in (1, 2) * 3:
                f.write(f"{0x40000 + 64 * i + 8 * thread},w,8,{thread},many counters,count,count.c,30\n")


def drive(case, *profiles):
    with served(*(profiles or PROFILES)) as (address, _):
        drive_chromium("drive.mjs", case, address)


def case_every_page():
    """Each page shows itself in both widths: no error, nothing beside the screen, no serious fault of axe."""
    make_profiles()
    drive("every_page")


def case_every_page_dark():
    make_profiles()
    drive("every_page_dark")


def case_parts():
    """A histogram shows a part of the lines of memory, one by one, and all of them again."""
    make_profiles()
    drive("parts")


def case_all_rows():
    """A table that is saved has all rows: more than those on the screen, and more than one answer has."""
    make_profiles()
    drive("all_rows")


def case_first_page():
    """A default recording of a C++ program: the first page leads to the line and to the object, and says what to do there."""
    record([program("containers")], "-q", profile="containers.nmp")
    drive("first_page", "containers.nmp")


def case_links():
    """The address restores what was chosen, also in a new tab."""
    make_profiles()
    drive("links")


def case_every_link():
    """Each page looks the same when its address is opened in a new tab."""
    make_profiles()
    drive("every_link")


def case_timeline():
    """The timeline of a program of two phases: keys and the mouse choose intervals, which lead to the lines that dominate them."""
    done = nearmiss("nest", "-q", "-o", "order.nmp", "--cache", "L1d=8K,8,64:L2=64K,8,64", "--set", "N=400", "--set", "WRONG=1", ORDER)
    assert done.returncode == 0, done.stderr
    drive("timeline", "order.nmp")


def merge_nests(*sizes):
    for rank, size in enumerate(sizes):
        done = nearmiss("nest", "-q", "-o", f"{rank}.nmp", "--cache", "L1d=8K,8,64:L2=64K,8,64", "--set", f"N={size}", ORDER)
        assert done.returncode == 0, done.stderr
    done = nearmiss("merge", "-q", "-o", "merged.nmp", *(f"{rank}.nmp" for rank in range(len(sizes))))
    assert done.returncode == 0, done.stderr


def case_ranks():
    """A cell of the strip is chosen by key and mouse, and filters the pages; the others say that they have no ranks."""
    merge_nests(40, 40, 200, 40)
    drive("ranks", "merged.nmp")


def record_orders(*options):
    done = nearmiss("record", "-q", "-o", "orders.nmp", "--machine=zen3", *options, "--", program("fault-cold"), "2")
    assert done.returncode == 0, done.stderr


def predicted(*candidates):
    """Of each candidate, its levels with their misses as they are and as predicted."""
    done = nearmiss("whatif", "orders.nmt", "-q", "--machine=zen3", "--format=json", *(f"--apply={one}" for one in candidates))
    assert done.returncode == 0, done.stderr
    misses = {}
    for row in json.loads(done.stdout)["rows"]:
        misses.setdefault(row["candidate"], {})[row["level"]] = row["misses"]
    return [[[level, before, misses[name][level]] for level, before in misses["A"].items()] for name in sorted(misses)[1:]]


def case_whatif():
    """Fields moved by mouse, keys and buttons give the misses that the command predicts for the same layout."""
    record_orders("--trace=orders.nmt")
    order, split = predicted("reorder struct order: price, count, state", "split struct order hot(price, count, state) parallel")
    os.environ["PREDICTED"] = json.dumps({"order": order, "split": split})
    drive("whatif", "orders.nmp")


def case_whatif_without_trace():
    """The page says what is missing, before one opens it too, and still shows layouts; so does a file."""
    record_orders()
    drive("whatif_without_trace", "orders.nmp")
    done = nearmiss("view", "--html", "pages.html", "orders.nmp")
    assert done.returncode == 0, done.stderr
    drive_chromium("drive.mjs", "whatif_without_trace", "file://" + os.path.abspath("pages.html"))


def case_changes():
    """A comment more has no effect, though each line moves; of an order that was repaired, the row of its line comes first."""
    with open(ORDER, encoding="utf-8") as f:
        text = f.read()
    for folder, source, wrong in (("a", text, 1), ("b", "# One line more\n" + text, 1), ("c", "# One line more\n" + text, 0)):
        os.mkdir(folder)
        with open(f"{folder}/order.nest", "w", encoding="utf-8") as f:
            f.write(source)
        done = nearmiss("nest", "-q", "-o", f"{folder}.nmp", "--cache", "L1d=8K,8,64:L2=64K,8,64", "--set", "N=400", "--set",
                        f"WRONG={wrong}", f"{folder}/order.nest")
        assert done.returncode == 0, done.stderr
    drive("changes", "a.nmp", "b.nmp", "c.nmp")


def case_file():
    """Each page of a file without a server, also where it is opened before the browser has read all of it."""
    need_chromium()
    make_profiles()
    done = nearmiss("view", "--html", "pages.html", *PROFILES)
    assert done.returncode == 0, done.stderr
    drive_chromium("drive.mjs", "file", "file://" + os.path.abspath("pages.html"))


def case_saving():
    """SVG, PNG and CSV of each page are what they say they are."""
    make_profiles()
    drive("saving")


def case_keyboard():
    make_profiles()
    drive("keyboard")


def case_long_names():
    """Names of C++ are shown without the arguments of templates and functions; the title has them."""
    make_profiles()
    string = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
    for path in ("before.nmp", "after.nmp"):
        with sqlite3.connect(path) as db:
            db.execute("UPDATE text SET text = ? WHERE id IN (SELECT name FROM object)",
                       (f"heap std::map<{string}, int>::operator[]({string} const&) (program)",))
        db.close()
    drive("long_names")


def case_hostile_names():
    """Names that look like HTML, turn the direction of writing or have control characters are shown as text."""
    make_profiles()
    for path in PROFILES:
        with sqlite3.connect(path) as db:
            db.execute("UPDATE text SET text = ? || text", (HOSTILE,))
        db.close()
    drive("hostile_names")


main(dict(globals()))
