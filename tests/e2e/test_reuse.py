# SPDX-License-Identifier: MIT
"""test_reuse.py - tables 1 and 2 of Weidendorfer and Trinitis, "Collecting and Exploiting Cache-Reuse Metrics", from
recorded programs: caches of 32 KiB and 1 MiB, 8 ways, lines of 64 bytes, int matrices of 1000 x 1000.

Load counts must be within 0.05 % of what a plain simulator counts for the same references and addresses.
The paper counts `a[i][j] +=` as one access and nearmiss as a read and a write; the write always finds the line
that its read has just used, so accesses served in the paper's sense are reuse - writes; what is written is a row of `a`, whose
lines are used whole.
"""

from harness import at, main, nearmiss, program, rows

PAPER = "L1d=32K,8,64:L2=1M,8,64"
SOURCE = "tests/programs/reuse.c"


class Line:
    """The sums of one line of the source at one level."""

    def __init__(self, level, tag):
        self.level, self.tag = level, tag
        self.loads, self.reuse, self.used, self.loaded, self.weighted = rows(
            "SELECT sum(loads), sum(reuse), sum(used_bytes), sum(loaded_bytes), sum(weighted_bytes) FROM counts "
            "WHERE level = ? AND line = ? AND file LIKE '%reuse.c'", level, at(SOURCE, tag))[0]
        self.writes = rows("SELECT sum(writes) FROM counts WHERE level = 'L1d' AND line = ? AND file LIKE '%reuse.c'",
                           at(SOURCE, tag))[0][0]

    def expect(self, loads, temporal, spatial, spatial_by_use=None):
        """Loads within 0.05 %; accesses per load and percent of bytes used to the digits given."""
        got = (self.reuse - self.writes) / self.loads
        used = 100.0 * self.used / self.loaded
        by_use = 100.0 * (self.weighted - 64 * self.writes) / 64 / (self.reuse - self.writes)
        where = f"{self.tag}, {self.level}"
        assert abs(self.loads - loads) <= 0.0005 * loads, f"{where}: {self.loads} loads, not {loads}"
        assert abs(got - temporal) <= 0.06, f"{where}: {got:.2f} accesses per load, not {temporal}"
        assert abs(used - spatial) <= 0.06, f"{where}: {used:.2f} % of the bytes used, not {spatial}"
        assert spatial_by_use is None or abs(by_use - spatial_by_use) <= 0.06, \
            f"{where}: {by_use:.2f} % by use, not {spatial_by_use}"


def check(tag, first, second):
    done = nearmiss("record", "-o", "p.nmp", "--cache", PAPER, "--", program("reuse"), tag)
    assert done.returncode == 0, done.stderr.decode()
    Line("L1d", tag).expect(*first)
    Line("L2", tag).expect(*second)


def case_right_order():
    check("right", (62500, 16.0, 100.0, 100.0), (62500, 16.0, 100.0, 100.0))


def case_wrong_order():
    check("wrong", (1000000, 1.0, 6.25, 6.25), (60190, 15.9, 99.3))


def case_unblocked():
    check("unblocked", (1124000, 2.67, 16.7, 68.8), (176391, 17.0, 99.8))


def case_unblocked_at_the_addresses_of_the_paper():
    check("placed", (1124001, 2.67, 16.7, 68.8), (176399, 17.0, 99.8))


def case_blocked():
    check("blocked", (219513, 13.7, 84.0), (175796, 17.0, 99.7))


if __name__ == "__main__":
    main(globals())
