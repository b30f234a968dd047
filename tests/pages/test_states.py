# SPDX-License-Identifier: MIT
"""test_states.py CASE - what the pages say where something is missing or slow; states.mjs says what each case looks at."""

import os
import subprocess

from browser import TOP, drive_chromium, served
from harness import main, nearmiss, program, record

ORDER = os.path.join(TOP, "examples/order.nest")


def drive(case, *arguments):
    with served(*arguments) as (address, server):
        drive_chromium("states.mjs", case, address, str(server.pid))


def record_containers():
    record([program("containers")], "-q", profile="containers.nmp")


def case_server_gone():
    """Each page says that the server has ended, and none is left with empty lists alone; what it showed stays."""
    record_containers()
    drive("server_gone", "containers.nmp")


def case_absent():
    """An address of no page, no profile, no file, no line, or cut in the middle of a letter, says so and leads on."""
    record_containers()
    drive("absent", "containers.nmp")


def case_slow():
    """An answer that takes longer than two seconds says so, and is shown when it comes."""
    record_containers()
    drive("slow", "containers.nmp")


def case_busy():
    """While it is not known at which level a page opens, it says that it loads."""
    record_containers()
    drive("busy", "containers.nmp")


def case_level():
    """Pages open at the level that the verdict names; a level that was chosen stays, over links and the page back."""
    done = nearmiss("nest", "-q", "-o", "order.nmp", "--cache", "L1d=8K,8,64:L2=16K,8,64", "--set", "N=400", "--set", "WRONG=1", ORDER)
    assert done.returncode == 0, done.stderr
    text = subprocess.run([os.environ["NEARMISS"], "report", "order.nmp"], capture_output=True, text=True, check=True).stdout
    assert "mostly L2 misses" in text, text
    drive("level", "order.nmp")


def case_phone():
    """On a phone each table shows what a row is and the number that it is sorted by, however far it is scrolled."""
    record_containers()
    drive("phone", "containers.nmp")


def case_numbers():
    """All numbers of a column are written in one way."""
    record_containers()
    drive("numbers", "containers.nmp")


main(dict(globals()))
