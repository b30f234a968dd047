# SPDX-License-Identifier: MIT
"""test_debug.py - nearmiss debug in a pseudo terminal."""

import fcntl
import os
import pty
import re
import select
import struct
import termios
import time

from harness import TOP, main, nearmiss

USAGE = 2
NEST = os.path.join(TOP, "examples", "interference.nest")


class Terminal:
    def __init__(self, command):
        self.child, self.fd = pty.fork()
        if not self.child:
            os.environ.update(TERM="xterm", NO_COLOR="1", LINES="30", COLUMNS="120")
            os.execv(command[0], command)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 120, 0, 0))
        self.shown = ""

    def read_until(self, pattern, seconds=60):
        """Waits for a text; parts of the screen that did not change are not sent again."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if re.search(pattern, self.shown):
                self.shown = ""
                return
            if select.select([self.fd], [], [], 0.2)[0]:
                try:
                    self.shown += os.read(self.fd, 65536).decode(errors="replace")
                except OSError:
                    break
        raise AssertionError(f"{pattern} is not in {self.shown!r}")

    def type(self, text):
        os.write(self.fd, text.encode())

    def status(self):
        return os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])


def case_steps_and_breakpoints():
    t = Terminal([os.environ["NEARMISS"], "debug", NEST, "--cache", "L1d=8K,1,32"])
    t.read_until("reference 0 of 30000")
    t.type("s")
    t.read_until(r"read X\(j,i\+1\)")
    t.type("n")
    t.read_until(r"Y\(j,i\)")
    t.type('pobject == "Y" && evicted == "X"\n')
    t.read_until("breakpoint set")
    t.type("c")
    t.read_until("evicts X last used at")
    t.type("g0\n")
    t.read_until("before the first reference")
    t.type("q")
    assert t.status() == 0


def case_refusals():
    for status, arguments in ((USAGE, []), (USAGE, [NEST, "--cache", "L1d=8K,1,32"])):
        done = nearmiss("debug", *arguments)
        assert done.returncode == status and not done.stdout and done.stderr, done


if __name__ == "__main__":
    main(globals())
