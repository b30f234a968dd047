# SPDX-License-Identifier: MIT
"""test_accuracy.py - a simulated PMU on real programs: with a period of 1 its samples are all misses; with longer ones they are as
many as they must be; and `nearmiss accuracy` says of a program, its trace and its profile the same."""

import csv
import io

from harness import main, need, nearmiss, program, record, rows

CACHE = "L1d=32K,8,64:L2=256K,8,64"


def accuracy(*arguments, status=0):
    done = nearmiss("accuracy", "--format=csv", *arguments)
    assert done.returncode == status, done
    return list(csv.DictReader(io.StringIO(done.stdout.decode())))


def case_every_miss():
    """A sampler that takes each miss has the counts of the profile: by line and object the loads, by victim the evictions."""
    record([program("list")], "--pmu=miss@1,level=L2", f"--cache={CACHE}", "-q")
    place = "function, file, line, object"
    loads = rows(f"SELECT {place}, sum(loads) FROM counts WHERE level = 'L2' GROUP BY {place} HAVING sum(loads) > 0")
    assert len(loads) > 10
    assert loads == rows(f"SELECT {place}, sum(count) FROM pmu_samples WHERE sampler = 'miss@1' GROUP BY {place}")
    pair = "function, file, line, victim, victim_function, victim_file, victim_line"
    evictions = rows(f"SELECT evictor, {pair}, sum(count) FROM evictions WHERE level = 'L2' GROUP BY evictor, {pair}")
    assert sum(row[-1] for row in evictions) > 1000
    assert evictions == rows(f"SELECT object, {pair}, sum(count) FROM pmu_samples WHERE sampler = 'miss@1' AND victim NOTNULL "
                             f"GROUP BY object, {pair}")
    for by in ("object", "line", "pair", "pair-line"):
        judged = accuracy("p.nmp", f"--by={by}")[0]
        assert judged["sampler"] == "miss@1" and float(judged["error"]) == 0 and judged["suffices"] == "1", (by, judged)
        assert float(judged["tau"] or 1) == 1 and judged["covered"] == judged["ranked"] != "0", (by, judged)


def case_periods():
    """As many samples as the periods say; a random period changes which, not how many; and no handler, no further misses."""
    gzip = need("gzip")
    with open("text", "w") as text:
        text.writelines(f"line {n * n % 1000003}\n" for n in range(12000))
    record([gzip, "-c", "text"], "--pmu=miss@10,miss@1000,ibs@1000,precise@1,handler=0", f"--cache={CACHE}", "-q", "--trace=t.nmt")
    (loads,), = rows("SELECT sum(loads) FROM counts WHERE level = 'L1d'")
    taken = dict(rows("SELECT sampler, sum(count) FROM pmu_samples GROUP BY 1"))
    assert taken["miss@10"] == loads // 10 and taken["miss@1000"] == loads // 1000 > 10
    assert [(taken["precise@1"],)] == rows("SELECT sum(read_misses) FROM counts WHERE level = 'L1d'")
    (instructions,), = rows("SELECT instructions FROM processes")
    tagged = rows("SELECT interrupts, tagged_accesses, program_misses FROM pmu_samplers WHERE sampler = 'ibs@1000'")[0]
    assert instructions // 1000 - 2 <= tagged[0] <= instructions // 1000
    assert taken["ibs@1000"] < tagged[1] < tagged[0] and tagged[2] is None
    plain = accuracy("p.nmp")
    assert [row["extra_misses"] for row in plain] == [""] * 4

    random = accuracy("t.nmt", "-o", "r.nmp", "-c", CACHE, "--pmu=miss@10,miss@1000,random=3")
    assert abs(int(random[0]["samples"]) - loads // 10) < loads // 500
    assert random[0]["error"] != plain[0]["error"] and float(random[0]["extra_misses"]) > float(random[1]["extra_misses"]) > 0
    again = accuracy("t.nmt", "-o", "again.nmp", "-c", CACHE, "--pmu=miss@10,miss@1000,random=3")
    assert again == random
    fixed = accuracy("t.nmt", "-o", "f.nmp", "-c", CACHE, "--pmu=miss@10,miss@1000,ibs@1000,precise@1,handler=0")
    assert fixed == plain


def case_program():
    """A program is recorded first, and its status is that of the command; what a profile says, it says of that program."""
    done = nearmiss("accuracy", "-o", "p.nmp", "-c", CACHE, "--pmu=miss@10", "--", "sh", "-c", "exit 7")
    assert done.returncode == 7 and b"for the objects of this run" in done.stdout, done
    assert accuracy("p.nmp") == accuracy("-o", "q.nmp", "-c", CACHE, "--pmu=miss@10", "--", "sh", "-c", "exit 7", status=7)
    assert [row["object"] for row in accuracy("p.nmp", "--sampler=miss@10", "--limit=3")] == \
        [row[0] for row in rows("SELECT object, sum(loads) FROM counts WHERE level = 'L1d' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 3")]
    assert nearmiss("accuracy", "p.nmp", "--by=pair", "--sampler=miss@11").returncode == 2
    record([program("list")], "-q")
    done = nearmiss("accuracy", "p.nmp")
    assert done.returncode == 2 and b"no PMU was simulated" in done.stderr


def case_processes():
    """Each process has samplers of its own, and all together are judged."""
    record(["sh", "-c", "ls / > /dev/null; ls /usr > /dev/null"], "--pmu=miss@5", f"--cache={CACHE}", "-q")
    each = rows("SELECT p.process, (SELECT sum(loads) FROM counts c WHERE c.process = p.process AND level = 'L1d'), "
                "(SELECT interrupts FROM pmu_samplers s WHERE s.process = p.process) FROM processes p")
    assert len(each) >= 3
    for process, loads, interrupts in each:
        assert interrupts == loads // 5, (process, loads, interrupts)
    assert int(accuracy("p.nmp")[0]["samples"]) == sum(row[2] for row in each)
    assert int(accuracy("p.nmp", f"--process={each[-1][0]}")[0]["samples"]) == each[-1][2]


main(dict(globals()))
