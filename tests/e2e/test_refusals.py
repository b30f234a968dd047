# SPDX-License-Identifier: MIT
"""test_refusals.py - bad input: each gives one clear line (a wrong SPEC also its place), its own status, no
crash, and no file lost or left behind."""

import json
import os
import re
import shutil
import sqlite3
import subprocess

from harness import ENVIRONMENT, NEARMISS, SPEC, TOP, Skip, main, need, nearmiss, program, record, rows, run

# As in nearmiss(1).
USAGE, NO_COLLECTOR, BAD_INPUT, NO_OUTPUT, FAILED, NOT_EXECUTABLE, NO_PROGRAM = 2, 120, 121, 122, 125, 126, 127


def refused(done, status, *words, lines=1):
    """The command ended with `status`, wrote nothing to standard output and `lines` lines to standard error."""
    text = done.stderr.decode()
    assert done.returncode == status, f"status {done.returncode}, not {status}: {text}"
    assert done.stdout == b"", done.stdout
    for word in words:
        assert word in text, f"{word!r} is not in {text!r}"
    assert text.startswith("nearmiss: "), text
    assert len(text.splitlines()) <= lines, text
    assert "Sanitizer" not in text and "runtime error" not in text, text


def case_unknown_option():
    refused(nearmiss("record", "--nonsense", "--", "true"), USAGE, "--nonsense", lines=2)
    refused(nearmiss("report", "--nonsense"), USAGE, "--nonsense", lines=2)


def case_unknown_command():
    refused(nearmiss("recrod", "true"), USAGE, "recrod", lines=2)


def case_words_of_other_tools():
    """Bare nearmiss prints its help; a program, a profile or another profiler's command says what to type."""
    done = nearmiss()
    assert done.returncode == 0 and done.stdout.startswith(b"Usage: nearmiss") and not done.stderr, done
    record(["true"])
    for typed, told in ((["foo"], 'unknown command "foo"'), (["recrod"], "did you mean record?"),
                        (["./prog", "-x"], "nearmiss record ./prog ..."), (["run", "ls"], "nearmiss record ./program"),
                        (["stat"], "nearmiss record ./program"), (["list"], "nearmiss report"),
                        (["p.nmp"], "nearmiss report p.nmp"), (["help", "repotr"], "did you mean report?"),
                        (["record", "--machine", "zen33", "true"], "did you mean zen3?"),
                        (["record", "--machine", "L1d=1K", "true"], "--cache"), (["record", "--cachee", "x"], "--cache?")):
        refused(nearmiss(*typed), USAGE, told)


def case_profiles_as_operands():
    """`report FILE` is `report -i FILE` wherever a profile is shown; two are refused; a program is none."""
    record([program("matrix"), "rows"])
    shutil.copy("p.nmp", "old")  # known by what is in it
    for profile in ("p.nmp", "old"):
        for command in (["report", "lines"], ["report", "--by", "object"], ["annotate", "matrix.c"], ["evictions"],
                        ["query", "SELECT count(*) FROM counts"], ["export", "folded"]):
            named, given = nearmiss(*command, profile), nearmiss(*command, "-i", profile)
            assert named.returncode == 0 and named.stdout and named.stdout == given.stdout, (command, named)
    for command in (["report"], ["annotate"], ["evictions"], ["sharing"], ["export", "csv"]):
        refused(nearmiss(*command, "p.nmp", "old"), USAGE, "nearmiss diff p.nmp old")
        refused(nearmiss(*command, "-i", "p.nmp", "-i", "old"), USAGE, "given twice: p.nmp and old")
    for command in (["report"], ["annotate"], ["curve"], ["view"], ["export", "csv"], ["query", "SELECT 1"]):
        refused(nearmiss(*command, program("matrix")), USAGE, "is a program, not a profile", "nearmiss record /")
        refused(nearmiss(*command, "no.nmp"), BAD_INPUT, "there is no profile no.nmp: record one first: nearmiss record -o")
    refused(nearmiss("annotate", "p.nmp", "matrxi.c"), USAGE, "did you mean matrix.c?")
    refused(nearmiss("annotate", "p.nmp", "mian"), USAGE, "did you mean main?")
    os.mkdir("empty")
    refused(nearmiss("report", folder="empty"), BAD_INPUT, "record one first: nearmiss record ./program")


def case_caches_of_the_host():
    """--cache takes the names that --machine takes."""
    for names in (["host"], ["zen3"]):
        record(["true"], "--cache", *names, profile="c.nmp")
        record(["true"], "--machine", *names, profile="m.nmp")
        levels = "SELECT level, size, ways FROM levels"
        assert rows(levels, profile="c.nmp") == rows(levels, profile="m.nmp"), names


def case_nothing_to_record():
    refused(nearmiss("record"), USAGE, lines=2)


def case_missing_program():
    refused(nearmiss("record", "-o", "p.nmp", "--", "./no-such-program"), NO_PROGRAM, "no-such-program")
    refused(nearmiss("record", "-o", "p.nmp", "--", "no-such-program"), NO_PROGRAM, "no-such-program")
    assert not os.path.exists("p.nmp")


def case_not_executable():
    with open("data", "w", encoding="ascii") as f:
        f.write("not a program\n")
    refused(nearmiss("record", "-o", "p.nmp", "--", "./data"), NOT_EXECUTABLE, "data")
    assert not os.path.exists("p.nmp")


def script(name, text):
    with open(name, "w", encoding="ascii") as f:
        f.write(text)
    os.chmod(name, 0o755)


def case_missing_interpreter():
    """Of a script, and the dynamic linker of a program."""
    script("script", "#! /no/such/shell -e\n")
    refused(nearmiss("record", "--", "./script"), NO_PROGRAM, "script", "interpreter /no/such/shell")
    with open("main.c", "w", encoding="ascii") as f:
        f.write("int main(void) { return 0; }\n")
    assert run([need("gcc"), "-Wl,--dynamic-linker=/no/ld.so", "-o", "no-linker", "main.c"]).returncode == 0
    refused(nearmiss("record", "--", "./no-linker"), NO_PROGRAM, "interpreter /no/ld.so")


def case_32_bit_program():
    """Its ELF header is enough to know it."""
    with open("old", "wb") as f:
        f.write(b"\x7fELF\1\1\1" + bytes(9) + b"\2\0\3\0\1\0\0\0" + bytes(100))
    os.chmod("old", 0o755)
    refused(nearmiss("record", "--", "./old"), NOT_EXECUTABLE, "old", "32-bit")


def case_set_user_id_program():
    """Refused in one line; as a child of the program, reported at the end."""
    shutil.copy(need("true"), "privileged")
    os.chmod("privileged", 0o4755)
    refused(nearmiss("record", "--", "./privileged"), NOT_EXECUTABLE, "privileged", "set-user-id")
    done = nearmiss("record", "-q", "-o", "p.nmp", "--", need("sh"), "-c", "./privileged; exit 3")
    assert done.returncode == 3, done
    assert b"Valgrind refused to run a set-user-id program (./privileged)" in done.stderr, done.stderr


def case_too_much_static_data():
    """More than Valgrind has room for below itself, in a program of each kind; what just fits runs."""
    for megabytes, kind, status in ((6000, "-no-pie", NOT_EXECUTABLE), (3000, "-pie", NOT_EXECUTABLE), (1300, "-pie", 0)):
        with open("main.c", "w", encoding="ascii") as f:
            f.write(f"char a[{megabytes}UL << 19], b[{megabytes}UL << 19];\nint main(void) {{ return a[5] + b[5]; }}\n")
        done = run([need("gcc"), "-mcmodel=large", "-fno-pie" if kind == "-no-pie" else "-fPIE", kind, "-o", "large", "main.c"])
        assert done.returncode == 0, done
        done = nearmiss("record", "-q", "-o", "p.nmp", "--", "./large")
        if status:
            refused(done, status, f"has {megabytes / 1024:.1f} GB of code and static data", "malloc or mmap")
        else:
            assert done.returncode == 0, done


def case_unknown_system_call():
    with open("main.c", "w", encoding="ascii") as f:
        f.write("#include <unistd.h>\nint main(void) { return syscall(1023) != -1 || syscall(1023) != -1; }\n")
    assert run([need("gcc"), "-o", "calls", "main.c"]).returncode == 0
    done = nearmiss("record", "-q", "-o", "p.nmp", "--", "./calls")
    assert done.returncode == 0 and b"does not know system call 1023" in done.stderr, done


LIMITS = """#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	char *names[] = {"true", NULL};
	size_t large = 100ul << 30;
	if (argc > 1) {
		int in = open(argv[1], O_RDONLY), program = memfd_create("program", 0);
		while (sendfile(program, in, NULL, large) > 0)
			;
		return fexecve(program, names, names + 1) != -1;
	}
	return mmap(NULL, large, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED;
}
"""


def case_limits_of_valgrind():
    with open("main.c", "w", encoding="ascii") as f:
        f.write(LIMITS)
    assert run([need("gcc"), "-o", "limits", "main.c"]).returncode == 0
    done = nearmiss("record", "-q", "-o", "p.nmp", "--", "./limits")
    assert done.returncode == 0 and b"no room for a mapping of 100 GB" in done.stderr, done
    done = nearmiss("record", "-q", "-o", "p.nmp", "--", "./limits", need("true"))
    assert done.returncode == 0 and b"cannot execute a program that lies in memory" in done.stderr, done


def case_wrong_specifications():
    """The caret stands under the fault."""
    for spec, fault in (("L1d=32K,8,63", "63"), ("L1d=32K,8,64:L2=oops,16,64", "oops"), ("L1d=32K,0,64", "0,64"),
                        ("L1d", "L1d"), ("L1d=32K,8,64,colour=red", "colour"), ("L1d=32K,8,64,policy=best", "best"),
                        ("L1d=32K,8,64,sets=3,index=xor", "xor"), ("", "")):
        done = nearmiss("record", "-o", "p.nmp", "--cache", spec, "--", "true")
        refused(done, USAGE, lines=3)
        lines = done.stderr.decode().splitlines()
        if not spec:
            continue
        caret = next((n for n, line in enumerate(lines) if line.strip() == "^"), None)
        assert caret and spec in lines[caret - 1], lines
        column = lines[caret].index("^") - lines[caret - 1].index(spec)
        start = spec.index(fault)
        assert start <= column <= start + len(fault), f"{spec}: caret at {column}, fault at {start}"


def case_machine_descriptions():
    """Faults show their line; files that are not descriptions, and too many machines, are refused."""
    def write(text):
        with open("m.machine", "wb") as f:
            f.write(text)

    write(b"# mine\nL1d = 32K, 8, 64\n  L2 = 1M, 16, 64, colour=red\n")
    done = nearmiss("record", "-o", "p.nmp", "--cache", "@m.machine", "--", "true")
    refused(done, USAGE, "m.machine:3: unknown key 'colour'", lines=3)
    lines = done.stderr.decode().splitlines()
    assert lines[2].index("^") == lines[1].index("colour"), lines
    for text, word in ((b"", "no level"), (b"# L1d=1K,1,64\n", "no level"), (b"L1d=1K,1,64\0", "not text"),
                       (b"#" * 70000, "64K"), (b"L1d=1K,1,64\n" * 2, "m.machine:2"), (b"\xff\n", "m.machine:1"),
                       (b"L1d=1\xc3\xa4,1,64\n", "m.machine:1")):
        write(text)
        refused(nearmiss("record", "--machine", "./m.machine", "--", "true"), USAGE, word, lines=3)
        refused(nearmiss("machines", "m.machine"), USAGE, word, lines=3)
    refused(nearmiss("record", "--cache", "@missing", "--", "true"), USAGE, "missing")
    refused(nearmiss("record", "--machine", "host,abacus", "--", "true"), USAGE, "abacus")
    refused(nearmiss("record", "--machine", "host,", "--", "true"), USAGE)
    many = ["--cache=L1=1K,1,64:L2=1K,1,64:L3=1K,1,64:L4=1K,1,64:L5=1K,1,64"] * 7
    refused(nearmiss("record", *many, "--", "true"), USAGE, "32 levels")


def case_policy_that_looks_ahead():
    """Refused before the program runs."""
    done = nearmiss("record", "-o", "p.nmp", "--cache", "L1d=32K,8,64,policy=opt", "--", need("touch"), "ran")
    refused(done, USAGE, "level L1d", "policy=opt")
    assert not os.path.exists("ran")


def case_plugins():
    """A bad plug-in is refused before the program runs; what it does wrong later is reported at the end."""
    def record_with(plugin):
        return nearmiss("record", "-o", "p.nmp", "--cache", f"L1d=32K,8,64,plugin={plugin}", "--", need("touch"),
                        "ran")

    with open("text.so", "w", encoding="ascii") as f:
        f.write("no shared object\n")
    for plugin, *words in (("no/such.so", "level L1d", "no/such.so", "No such file"),
                           ("text.so", "cannot be loaded", "text.so"),
                           (program("design-version.so"), "version 2", "not 1"),
                           (program("design-name.so"), "does not define nearmiss_plugin"),
                           (program("design-function.so"), "no function 'touch'"),
                           (program("mersenne.so"), "refuses", "2^n - 1")):
        refused(record_with(plugin), USAGE, *words)
        assert not os.path.exists("ran")
    refused(record_with("x.so,policy=fifo"), USAGE, "policy and index itself", lines=3)
    refused(record_with(""), USAGE, "file name", lines=3)
    nest = os.path.join(TOP, "examples", "blocked.nest")
    place = program("design-place.so")
    refused(nearmiss("nest", "-o", "p.nmp", "--cache", f"L1d=8K,1,32,plugin={place}", nest), FAILED,
            "where its level has no place")
    assert not os.path.exists("p.nmp")
    done = record_with(place)
    assert b"end early" in done.stderr and b"where its level has no place" in done.stderr, done


def case_unwritable_output():
    """Refused before the program runs, not an hour later."""
    done = nearmiss("record", "-o", "no/such/folder/p.nmp", "--", need("touch"), "ran")
    refused(done, NO_OUTPUT, "no/such/folder")
    assert not os.path.exists("ran")


def case_output_is_a_folder():
    os.mkdir("p.nmp")
    refused(nearmiss("record", "-o", "p.nmp", "--", "true"), NO_OUTPUT, "p.nmp")


def good_profile():
    record([program("matrix"), "rows"])
    with open("p.nmp", "rb") as f:
        return f.read()


def case_missing_profile():
    refused(nearmiss("report", "-i", "none.nmp"), BAD_INPUT, "none.nmp", lines=2)


def case_damaged_profiles():
    """Cut short, overwritten in the middle, empty, another database, no database: refused or read, never a crash."""
    image = good_profile()
    damaged = [b"", image[:100], image[:len(image) // 2], b"x" * 5000, image[:50] + b"\xff" * 60 + image[110:]]
    for n, data in enumerate(damaged):
        with open("damaged.nmp", "wb") as f:
            f.write(data)
        refused(nearmiss("report", "-i", "damaged.nmp"), BAD_INPUT, "damaged.nmp")
        assert os.path.getsize("damaged.nmp") == len(data), n
    for place in range(200, len(image), max(1, len(image) // 40)):
        with open("damaged.nmp", "wb") as f:
            f.write(image[:place] + bytes([image[place] ^ 0xff] * 64) + image[place + 64:])
        for command in (["report"], ["evictions"], ["report", "--by", "process,level,type"]):
            done = nearmiss(*command, "-i", "damaged.nmp")
            assert done.returncode in (0, BAD_INPUT), (place, done)
            assert b"Sanitizer" not in done.stderr, done.stderr
    with sqlite3.connect("other.nmp") as db:
        db.execute("CREATE TABLE t(x)")
    db.close()
    refused(nearmiss("report", "-i", "other.nmp"), BAD_INPUT, "other.nmp")


def case_escapes_of_others():
    """Names that a profile or trace from elsewhere holds cannot steer the terminal; JSON stays JSON."""
    good_profile()
    escape = "\x1b[31mred"
    for sql in (f'SELECT 1 AS "{escape}"', f"SELEC {escape}", f'SELECT "{escape}" FROM nowhere'):
        for form in ("text", "csv"):
            done = nearmiss("query", "-i", "p.nmp", "-f", form, sql)
            assert form == "csv" or b"\x1b" not in done.stdout, done
            assert b"\x1b" not in done.stderr, done
    done = nearmiss("query", "-i", "p.nmp", "-f", "json", "SELECT 1e999 AS a, -1e999 AS b")
    assert json.loads(done.stdout)["rows"] == [{"a": None, "b": None}], done
    done = nearmiss("record", "-q", "-o", "q.nmp", "-t", "t.nmt", "--cache", SPEC, "--", need("sh"), "-c", f": {escape}")
    assert not done.returncode, done
    done = nearmiss("trace", "print", "t.nmt")
    assert b"red" in done.stdout and b"\x1b" not in done.stdout


def case_profile_of_another_version():
    good_profile()
    with sqlite3.connect("p.nmp") as db:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        db.execute(f"PRAGMA user_version = {version + 1}")
    db.close()
    refused(nearmiss("report", "-i", "p.nmp"), BAD_INPUT, "version 2, this program reads 1")


def case_existing_profile_survives_a_failure():
    image = good_profile()
    refused(nearmiss("record", "-o", "p.nmp", "--", "./no-such-program"), NO_PROGRAM)
    with open("p.nmp", "rb") as f:
        assert f.read() == image


def case_no_valgrind():
    environment = dict(ENVIRONMENT, PATH=os.path.abspath("empty"))
    os.mkdir("empty")
    done = nearmiss("record", "-o", "p.nmp", "--", program("matrix"), environment=environment)
    refused(done, NO_COLLECTOR, "algrind", lines=2)
    assert not os.path.exists("p.nmp")
    done = nearmiss("doctor", environment=environment)
    found = done.stdout.decode().splitlines()
    assert done.returncode == NO_COLLECTOR and re.match("no +Valgrind +.*apt install valgrind", found[0]), found
    assert not [line for line in found if line.split()[1] == "recording"], found


def case_doctor():
    done = nearmiss("doctor")
    found = {line.split()[1]: line.split()[0] for line in done.stdout.decode().splitlines()}
    assert done.returncode == 0 and not done.stderr and not os.listdir(), (done, os.listdir())
    assert list(found) == ["Valgrind", "recording", "caches", "memory", "names", "counters", "samples"], found
    assert found["Valgrind"] == found["recording"] == "yes" and set(found.values()) <= {"yes", "part", "no"}, found


def case_full_disk():
    """The output's file system is full: a message, no broken file, and an older profile stays."""
    unshare, mount = need("unshare", "mount")
    namespace = [unshare, "-m"] if os.getuid() == 0 else [unshare, "-rm"]
    if run(namespace + [mount, "-t", "tmpfs", "-o", "size=16k", "none", "/mnt"]).returncode:
        raise Skip("this user may not mount")
    script = (f"{mount} -t tmpfs -o size=16k none /mnt && printf old > /mnt/p.nmp && "
              f"'{NEARMISS}' record -o /mnt/p.nmp -- '{program('containers')}' > out; echo $? > status; "
              "ls -A /mnt > left; cat /mnt/p.nmp > kept")
    done = subprocess.run(namespace + [shutil.which("sh"), "-c", script], capture_output=True, env=ENVIRONMENT,
                          timeout=120, check=False)
    with open("status", encoding="ascii") as f:
        assert f.read() == f"{NO_OUTPUT}\n", done.stderr
    text = done.stderr.decode()
    assert "/mnt/p.nmp" in text and ("full" in text or "no space" in text), text
    with open("kept", encoding="ascii") as f:
        assert f.read() == "old"
    with open("left", encoding="ascii") as f:
        assert f.read() == "p.nmp\n"


def case_full_shared_memory():
    """No room in /dev/shm nor in TMPDIR: the rings need neither."""
    unshare, mount = need("unshare", "mount")
    namespace = [unshare, "-m"] if os.getuid() == 0 else [unshare, "-rm"]
    if run(namespace + [mount, "-t", "tmpfs", "-o", "size=64k", "none", "/dev/shm"]).returncode:
        raise Skip("this user may not mount")
    script = (f"{mount} -t tmpfs -o size=64k none /dev/shm && TMPDIR=/dev/shm "
              f"'{NEARMISS}' record -q -o p.nmp -- echo ran")
    done = subprocess.run(namespace + [shutil.which("sh"), "-c", script], capture_output=True, env=ENVIRONMENT,
                          timeout=60, check=False)
    assert (done.returncode, done.stdout.decode().strip()) == (0, "ran"), done


def case_wrong_sql():
    good_profile()
    refused(nearmiss("query", "-i", "p.nmp", "SELECT nonsense FROM counts"), USAGE, "nonsense", lines=3)
    refused(nearmiss("query", "-i", "p.nmp", "DELETE FROM entry"), USAGE, lines=3)


def case_output_that_cannot_be_written():
    """Standard output is full: a message, and the status is not 0."""
    good_profile()
    with open("/dev/full", "wb") as full:
        done = subprocess.run([NEARMISS, "report", "-i", "p.nmp"], stdout=full, stderr=subprocess.PIPE,
                              env=ENVIRONMENT, timeout=60, check=False)
    assert done.returncode == NO_OUTPUT and done.stderr.startswith(b"nearmiss: "), done


if __name__ == "__main__":
    main(globals())
