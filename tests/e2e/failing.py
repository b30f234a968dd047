# SPDX-License-Identifier: MIT
"""failing.py - runs commands of which one call fails, at each place in turn: the command does all of its work, or
prints one line on what failed. It never crashes, leaves no temporary file, and does not damage existing files.

The calls that fail are chosen evenly, at most MOST for each command; NM_MOST_FAILURES in the environment tries more."""

import glob
import os

from harness import ENVIRONMENT, NEARMISS, run

MOST = int(os.environ.get("NM_MOST_FAILURES", "60"))


class Failures:
    """Calls that fail: the library to preload, its settings, the exit statuses that tell of it, and the message.
    `program` is the executable that is disturbed."""

    def __init__(self, library, statuses, message, program=NEARMISS, **settings):
        self.library, self.statuses, self.message, self.settings = library, statuses, message, settings
        self.program = program

    def environment(self, **more):
        return dict(ENVIRONMENT, LD_PRELOAD=self.library, NO_COLOR="1",
                    NM_FAIL_PROGRAM=os.path.basename(self.program), **self.settings, **more)

    def attempt(self, command, at, stays_so):
        done = run([self.program, *command], environment=self.environment(NM_FAIL_AT=str(at), NM_FAIL_ON=str(int(stays_so))))
        text = done.stderr.decode()
        told = f"call {at}{' and later' if stays_so else ''}: status {done.returncode}\n{text}"
        if done.returncode:
            assert done.returncode in self.statuses, told
            assert text.startswith("nearmiss: ") and text.count("\n") == 1 and self.message.search(text), told
        assert not glob.glob("*.tmp*"), f"{told}{os.listdir()}"
        return done

    def count(self, command):
        whole = run([self.program, *command], environment=self.environment(NM_FAIL_COUNT="count"))
        assert not whole.returncode, whole.stderr.decode()
        with open("count", encoding="ascii") as f:
            return whole, int(f.read())

    def try_all(self, *command, same_output=True, most=MOST, after=None):
        """Fails calls of the command, one at a time and for good.  after(done): what else must hold."""
        whole, total = self.count(command)
        assert total, "no call could fail"
        if after:
            after(whole)
        chosen = sorted({1 + i * total // most for i in range(most)}) if total > most else range(1, total + 1)
        failed = 0
        for at in chosen:
            for stays_so in (False, True):
                done = self.attempt(command, at, stays_so)
                failed += done.returncode != 0
                if same_output and not done.returncode:
                    assert done.stdout == whole.stdout, f"call {at}: the output differs"
                if after:
                    after(done)
        assert failed, "none failed"
