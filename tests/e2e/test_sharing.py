# SPDX-License-Identifier: MIT
"""test_sharing.py - threads that share lines: examples/sharing.c is found, the repair is named, and repairs it; counts of a
protocol that keeps nothing coherent stay what they were; a trace gives the same."""

import csv
import re

from harness import main, nearmiss, program, record, rows

MACHINE = "L1d=32K,8,64%s:L2=1M,16,64"


def record_cores(name, protocol="", profile="p.nmp", *options):
    record([program(name)], "-q", "--cores", "4", "--cache", MACHINE % protocol, *options, profile=profile)


def case_fault_is_found():
    """The first line of memory is the array that threads share falsely; what is said to change is what helps."""
    record_cores("sharing")
    text = nearmiss("sharing", "-i", "p.nmp", "--limit", "1", "--width", "0").stdout.decode()
    assert "Pad struct part (56 bytes) to 64" in text and "sum_x" in text and "fit" in text, text
    first = list(csv.DictReader(nearmiss("sharing", "-i", "p.nmp", "--format", "csv").stdout.decode().splitlines()))[0]
    assert first["object"] == "parts" and int(first["false_misses"]) > 10_000, first
    misses, true, false = rows("SELECT sum(coherence), sum(true_sharing), sum(false_sharing) FROM coherence "
                               "WHERE object = 'parts' AND level = 'L1d'")[0]
    assert misses == true + false and false > 100 * true, (misses, true, false)
    assert rows("SELECT sum(coherence) FROM counts WHERE object = 'parts' AND level = 'L1d'")[0][0] == misses


def case_repair_repairs():
    """Each structure in lines of its own: nothing is shared falsely, and what is left is what was predicted to be."""
    record_cores("sharing-padded")
    assert rows("SELECT sum(false_misses), sum(misses) < 10 FROM sharing WHERE object = 'parts'") == [(0, 1)]


def case_tables():
    record_cores("sharing")
    for by, column in (("object", "object"), ("field", "field"), ("function", "victim_function"), ("thread", "victim_thread"),
                       ("core", "victim_core")):
        found = list(csv.DictReader(nearmiss("sharing", "-i", "p.nmp", "--by", by, "--format",
                                             "csv").stdout.decode().splitlines()))
        assert found and column in found[0], (by, found[:1])
    taken = rows("SELECT sum(invalidations) FROM contenders")[0][0]
    cores = csv.DictReader(nearmiss("sharing", "-i", "p.nmp", "--by", "core", "--limit", "0", "--format",
                                    "csv").stdout.decode().splitlines())
    assert sum(int(r["taken"] if "taken" in r else r["invalidations"]) for r in cores) == taken
    directory, snooping = (rows("SELECT sum(count) FROM messages WHERE fabric = ?", f)[0][0] for f in
                           ("directory", "snooping"))
    assert directory > snooping > 0


def case_none_and_trace():
    """Without a protocol nothing is coherence; a trace gives what the run gave."""
    record_cores("sharing", ",protocol=none", "p.nmp")
    assert rows("SELECT sum(coherence) FROM levels") == [(0,)] and not rows("SELECT * FROM coherence")
    done = nearmiss("sharing", "-i", "p.nmp")
    assert done.returncode == 2 and b"--cores" in done.stderr, done
    record_cores("sharing", "", "p.nmp", "--trace", "t.nmt")
    nearmiss("replay", "-q", "-o", "r.nmp", "--cores", "4", "--cache", MACHINE % "", "t.nmt")
    for view in ("levels", "coherence", "messages"):
        assert rows(f"SELECT * FROM {view}") == rows(f"SELECT * FROM {view}", profile="r.nmp"), view


def case_schedules():
    """Several orders in one pass give what each gives alone; reports show them as ranges, and that of the first as ever."""
    record_cores("sharing", "", "p.nmp", "--schedules", "3", "--trace", "t.nmt")
    assert [r[0] for r in rows("SELECT rule FROM schedules ORDER BY schedule")] == ["round-robin", "random:1", "random:2"]
    counts = "SELECT block, offset, thread, file, line, object, field, {} FROM {} ORDER BY {}"
    order = "block, offset, bytes, thread, file, line, object, field"
    for number, rule in enumerate(("round-robin", "random:1", "random:2")):
        nearmiss("replay", "-q", "-o", "r.nmp", "--cores", "4", "--cache", MACHINE % "", "--schedule", rule, "t.nmt")
        alone = rows(counts.format("misses, false_misses, invalidations, reads, writes", "sharing", order), profile="r.nmp")
        assert alone and alone == rows(counts.format("misses, false_misses, invalidations, reads, writes", "schedule_sharing "
                                                     f"WHERE schedule = {number}", order)), rule
        latent = counts.format("misses, earlier, other_line", "{}", order + ", misses, earlier, other_line").replace(
            "block, offset", "line_size, address")
        assert rows(latent.format("latent"), profile="r.nmp") == rows(latent.format(
            f"(SELECT * FROM schedule_latent WHERE schedule = {number})")), rule
        assert rows("SELECT level, coherence, loads, read_misses FROM levels", profile="r.nmp") == rows(
            f"SELECT level, coherence, loads, read_misses FROM schedule_levels WHERE schedule = {number}"), rule
        assert rows("SELECT sum(true_sharing), sum(false_sharing) FROM coherence", profile="r.nmp") == rows(
            f"SELECT sum(true_sharing), sum(false_sharing) FROM schedule_coherence WHERE schedule = {number}"), rule
    sums = [r[0] for r in rows("SELECT sum(false_misses) FROM schedule_sharing WHERE object = 'parts' GROUP BY schedule "
                               "ORDER BY schedule")]
    first = next(csv.DictReader(nearmiss("sharing", "-i", "p.nmp", "--by", "object", "--format",
                                         "csv").stdout.decode().splitlines()))
    assert [int(first[k]) for k in ("false_misses", "false_misses_min", "false_misses_max")] == [
        sums[0], min(sums), max(sums)], (first, sums)
    assert f"{min(sums):,}..{max(sums):,}" in nearmiss("sharing", "-i", "p.nmp", "--by", "object", "--width",
                                                       "0").stdout.decode()
    latent = next(csv.DictReader(nearmiss("sharing", "-i", "p.nmp", "--by", "latent", "--format",
                                          "csv").stdout.decode().splitlines()))
    assert int(latent["misses_min"]) < int(latent["misses_max"]) >= int(latent["misses"]) > 0, latent
    assert "coherence misses, " in nearmiss("sharing", "-i", "p.nmp", "--limit", "1").stdout.decode()
    level = next(csv.DictReader(nearmiss("report", "schedules", "-i", "p.nmp", "--format",
                                         "csv").stdout.decode().splitlines()))
    assert int(level["coherence_min"]) < int(level["coherence_max"]) and level["schedules"] == "3", level


def case_schedules_of_all_kinds():
    """Forks, pages and prefetchers that follow instructions: each order has all references of each process."""
    def reads(spec, *command):
        record(list(command), "-q", "--cores", "4", "--cache", spec, "--schedules", "3")
        first = rows("SELECT process, sum(reads) FROM levels GROUP BY 1 ORDER BY 1")
        for number in range(3):
            assert first == rows("SELECT process, sum(reads) FROM schedule_levels WHERE schedule = ? GROUP BY 1 ORDER BY 1",
                                 number), (spec, number)
        return first
    assert len(reads("L1d=32K,8,64", program("crowd"), "forks")) == 5
    assert reads("L1d=16K,4,4K,pages=4K", program("neighbours"))
    record([program("neighbours")], "-q", "--cores", "2", "--cache", "L1d=32K,8,64,prefetch=stride", "--schedules", "2")
    assert rows("SELECT count(*), min(reads) = max(reads) FROM schedule_levels WHERE level = 'L1d'") == [(2, 1)]


def case_grid():
    """The grid of core pairs has what the pairs have."""
    record_cores("sharing")
    text = nearmiss("sharing", "-i", "p.nmp", "--by", "core", "--limit", "0", "--width", "0").stdout.decode()
    grid = [[int(x.replace(",", "")) for x in line.split()] for line in text.split("core above:\n")[1].splitlines()]
    for core, other, taken in rows("SELECT core, victim_core, sum(invalidations) FROM contenders GROUP BY 1, 2"):
        assert grid[core + 1][other + 1] == taken, (core, other, taken, text)
    assert rows("SELECT count(*) FROM contenders WHERE field = 'sum_x' AND object = 'parts' AND invalidations > 0")[0][0] > 0


def case_nodes():
    """Memory belongs to the node that touches it first. Main loads all points, locally, and four threads load them again, two of
    them on the other node: a quarter of the loads is remote."""
    record([program("sharing")], "-q", "--cores", "4", "--cache", "L1d=4K,4,64:L2=16K,4,64:nodes=2")
    remote = {r["object"]: r for r in csv.DictReader(nearmiss("report", "numa", "-i", "p.nmp", "--limit", "0", "--format",
                                                              "csv").stdout.decode().splitlines())}
    points = next(r for name, r in remote.items() if name.startswith("points"))
    assert 24.9 < float(points["remote_share"]) < 25.1, points
    record([program("sharing")], "-q", "--cores", "4", "--cache", "L1d=4K,4,64:L2=16K,4,64:nodes=1")
    done = nearmiss("report", "numa", "-i", "p.nmp")
    assert done.returncode and b"nodes=" in done.stderr, done


def case_schedules_of_a_part():
    """If only a part of the run counts, each order counts the same references."""
    for options in ((), ("--one-machine",)):
        record_cores("sharing", "", "p.nmp", "--schedules", "3", "--in", "fit", *options)
        counted = rows("SELECT DISTINCT reads, writes FROM schedule_levels WHERE level = 'L1d'")
        assert len(counted) == 1 and counted == rows("SELECT sum(reads), sum(writes) FROM levels WHERE level = 'L1d'"), counted


def case_latent():
    """Structures that fill a line each share none, but would share lines of 128 bytes: said so, and counted as no miss. In lines of
    128 bytes those misses are real. They are aligned, so that none can begin elsewhere in its line, unlike in the faulty program."""
    record_cores("sharing")
    assert rows("SELECT count(*) > 0 FROM latent WHERE earlier > 0 AND object = 'parts'") == [(1,)]
    record_cores("sharing-padded")
    text = nearmiss("sharing", "-i", "p.nmp", "--width", "0").stdout.decode()
    assert "Latent false sharing: none of it is counted above." in text, text
    assert rows("SELECT sum(false_misses) FROM sharing WHERE object = 'parts'") == [(0,)]
    latent = rows("SELECT sum(misses), max(earlier) FROM latent WHERE line_size = 128 AND object = 'parts' "
                  "AND other_object = 'parts'")[0]
    assert latent[0] > 10_000 and latent[1] == 0, latent
    assert rows("SELECT count(*) FROM latent WHERE earlier > 0 AND 'parts' IN (object, other_object)") == [(0,)]
    record([program("sharing-padded")], "-q", "--cores", "4", "--cache", "L1d=32K,8,128:L2=1M,16,128", profile="r.nmp")
    real = rows("SELECT sum(false_misses) FROM sharing WHERE object = 'parts'", profile="r.nmp")[0][0]
    assert abs(latent[0] - real) <= 0.02 * real, (latent, real)
    found = list(csv.DictReader(nearmiss("sharing", "-i", "p.nmp", "--by", "latent", "--limit", "0", "--format",
                                         "csv").stdout.decode().splitlines()))
    assert sum(int(r["misses"]) for r in found) == rows("SELECT sum(misses) FROM latent")[0][0]


def case_handover():
    """One thread writes a line and another reads it, 200 times in turn, by whatever keeps them in turn: the reader finds it new
    each time, and its first load is cold. Its 199 coherence misses are true sharing."""
    for how in ("c11", "futex", "openmp", "cpp"):
        record([program(f"handover-{how}")], "-q", "--cores", "2", "--cache", MACHINE % "")
        assert rows("SELECT thread, sum(true_sharing), sum(false_sharing) FROM coherence WHERE object = 'data' "
                    "AND level = 'L1d' GROUP BY 1") == [(2, 199, 0)], how
        assert not rows("SELECT value FROM info WHERE key = 'stalls'"), how


def c2c():
    """The rows of the tables by title, split at blanks."""
    text = nearmiss("sharing", "-i", "p.nmp", "--c2c", "--limit", "0").stdout.decode()
    parts = re.split(r"=+\n +(.*)\n=+\n", text)
    return {title: [line.split() for line in rest.splitlines() if line and line[0] == " " and "---" not in line]
            for title, rest in zip(parts[1::2], parts[2::2])}, text


def case_shape_of_perf_c2c():
    """Sums and percentages of the tables; the function that contends with itself; no Hitm where no load counts it."""
    record_cores("sharing")
    tables, text = c2c()
    lines, pareto = tables["Shared Data Cache Line Table"], tables["Shared Cache Line Distribution Pareto"]
    assert (sum(int(line[4]) for line in lines), sum(int(line[5]) for line in lines)) == rows(
        "SELECT sum(writebacks), sum(interventions) FROM contenders WHERE block IS NOT NULL")[0], text
    heads = [i for i, row in enumerate(pareto) if "%" not in row[0]]
    assert [line[1] for line in lines] == [pareto[i][4] for i in heads], pareto[:4]
    assert lines[0][-1] == "parts" and int(lines[0][4]) > 10_000 and abs(sum(float(line[2][:-1]) for line in lines) - 100) < 0.5
    first = pareto[1:heads[1]]
    for column in range(3):
        assert abs(sum(float(row[column][:-1]) for row in first) - 100) < 0.2, (column, first)
    assert {row[-1].split(":")[0] for row in first} == {"sharing.c"} and "sum_x" in {row[-2] for row in first}, first
    assert tables["Functions"][0][5:] == ["fit", "fit", "parts"], tables["Functions"][:2]
    record_cores("sharing", ",protocol=moesi")
    tables, text = c2c()
    assert "Hitm" not in text and int(tables["Shared Data Cache Line Table"][0][3]) > 10_000, text


if __name__ == "__main__":
    main(globals())
