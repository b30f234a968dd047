# SPDX-License-Identifier: MIT
"""test_io.py - a write or read that fails, at any place (failing.py): a whole profile or the one that was there before."""

import errno
import os
import re
import shutil
import sqlite3

from failing import Failures
from harness import TOP, main, need
from test_memory import make_trace

LIBRARY = os.environ.get("FAIL_IO", os.path.join(TOP, "build/tests/support/libfail_io.so"))
BAD_INPUT, NO_OUTPUT, FAILED = 121, 122, 125
OLD = b"what was there before\n"


def writes(number):
    return Failures(LIBRARY, [NO_OUTPUT, NO_OUTPUT, FAILED], re.compile("."), NM_FAIL_IO="write",
                    NM_FAIL_ERRNO=str(number))


READS = Failures(LIBRARY, [BAD_INPUT, BAD_INPUT, NO_OUTPUT, NO_OUTPUT, FAILED], re.compile("."), NM_FAIL_IO="read",
                 NM_FAIL_ERRNO=str(errno.EIO))


def put_old(path):
    with open(path, "wb") as f:
        f.write(OLD)


def whole_or_old(path):
    """The profile is a whole one, of the part of a trace that could be read, or what was there before: always so if the
    command failed for another reason.  Then puts back what was there before."""
    def check(done):
        with open(path, "rb") as f:
            is_old = f.read() == OLD
        assert done.returncode == BAD_INPUT or is_old == (done.returncode != 0), done
        if not is_old:
            with sqlite3.connect(path) as db:
                assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
                db.execute("SELECT * FROM counts").fetchall()
            db.close()
        put_old(path)
    return check


def case_written_profiles():
    """ENOSPC, EIO and EDQUOT wherever a profile is written: by a nest, a replay, a recording."""
    make_trace()
    for number in (errno.ENOSPC, errno.EIO, errno.EDQUOT):
        failures, after = writes(number), whole_or_old("new.nmp")
        failures.try_all("nest", "-q", "--cache", "L1d=1K,2,64", "-o", "new.nmp", "n.nest", after=after, most=30)
        failures.try_all("replay", "-q", "--cache", "L1d=1K,2,64", "-o", "new.nmp", "t.nmt", after=after, most=30)
    writes(errno.ENOSPC).try_all("record", "-q", "--cache", "L1d=1K,2,64", "-o", "new.nmp", "--", need("true"),
                                 after=whole_or_old("new.nmp"), most=12)


def case_written_traces():
    """A trace that cannot be written costs nothing but the trace."""
    make_trace()
    writes(errno.ENOSPC).try_all("trace", "slice", "-o", "s.nmt", "t.nmt")
    writes(errno.EIO).try_all("trace", "merge", "-o", "m.nmt", "t.nmt", "t.nmt")


def case_read_files():
    """Profiles, traces and nests that cannot be read to their end."""
    make_trace()
    shutil.copy(os.path.join(TOP, "tests/data/profile-v1.nmp"), "p.nmp")
    READS.try_all("report", "-i", "p.nmp")
    READS.try_all("export", "callgrind", "-i", "p.nmp")
    READS.try_all("replay", "-q", "--cache", "L1d=1K,2,64", "-o", "new.nmp", "t.nmt", after=whole_or_old("new.nmp"))


if __name__ == "__main__":
    main(globals())
