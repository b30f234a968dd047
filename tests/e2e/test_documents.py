# SPDX-License-Identifier: MIT
"""test_documents.py - an installed nearmiss: what is installed, and every command that the README, the how-to guides and
the man pages print, run as printed."""

import glob
import os
import platform
import re
import shutil
import subprocess

from harness import ENVIRONMENT, TOP, Missing, Skip, main, need, run

BUILD = os.environ.get("BUILD", os.path.join(TOP, "build"))


def install():
    """Installs into a folder of its own; returns the folder that stands for /usr/local."""
    done = run([need_meson(), "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", os.path.abspath("root")],
               environment=dict(os.environ))
    assert done.returncode == 0, done
    found = glob.glob("root/**/bin/nearmiss", recursive=True)
    assert len(found) == 1, found
    return os.path.abspath(os.path.dirname(os.path.dirname(found[0])))


def need_meson():
    meson = shutil.which("meson")
    if not meson:
        raise Missing("meson is not on PATH")
    return meson


def case_install():
    """The library is where Debian's loader and pkg-config look; the command finds its collector; every document that a
    man page names is there."""
    prefix = install()
    for name in ("lib/libnearmiss.so.0", "lib/libnearmiss.a", "lib/pkgconfig/nearmiss.pc", "include/nearmiss/nearmiss.h",
                 "include/nearmiss/client.h", "share/bash-completion/completions/nearmiss", "share/zsh/site-functions/_nearmiss",
                 "share/fish/vendor_completions.d/nearmiss.fish"):
        assert os.path.exists(os.path.join(prefix, name)), name
    nearmiss = os.path.join(prefix, "bin/nearmiss")
    done = run([nearmiss, "record", "-q", "-o", "p.nmp", "--", need("true")])
    assert done.returncode == 0, done
    named, pages = set(), glob.glob(os.path.join(TOP, "docs/man/*.1.md"))
    for page in pages:
        with open(page, encoding="utf-8") as f:
            named.update(re.findall(r"docs/([\w/-]+\.md)", f.read()))
        if shutil.which("go-md2man"):
            with open(os.path.join(prefix, "share/man/man1", os.path.basename(page)[:-3]), encoding="utf-8") as f:
                assert f".TH {os.path.basename(page)[:-5].upper()} 1 " in f.read(), page
    assert len(named) > 5 and len(pages) > 10, (named, pages)
    for document in named:
        assert os.path.exists(os.path.join(prefix, "share/doc/nearmiss", document)), document


def commands(path):
    """Commands of a document, each with the lines that it prints: lines "    $ ...", continued by a backslash or inside
    quotes, and the lines until the next command or text, but for plots and "[...]", which stands for lines left out."""
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")
    found = []
    while lines:
        line = lines.pop(0)
        if not line.startswith("    $ "):
            continue
        command = line[6:]
        while command.endswith("\\") or command.count('"') % 2:
            command += "\n" + lines.pop(0)
        output = []
        while lines and re.match(r"    (?!\$ )|$", lines[0]):
            output.append(lines.pop(0)[4:])
        found.append((command, [line for line in output if not re.match(r"\s*(\[?\.\.\.\]?)?$|.*[│┤┊└┬]", line)]))
    return found


# The documents show Debian 12. Other compilers order accesses in their own way, so there the words of a row count, not
# where they stand; rows of the C library's own data, and instructions, are not looked for.
ELSEWHERE = platform.freedesktop_os_release().get("VERSION_ID") != "12"
THEIRS = re.compile(r"libc\.so|\bdl-\w+\.[ch]|\b__libc_|0x[\da-f]+  [a-z]+ ")


def shape(line):
    """A line without its numbers, blanks and folders: they differ from host to host."""
    return re.sub(r"0x[\da-f]+|[\d.,]+", "#", re.sub(r"\S*/", "", line)).split()


def same(line, printed):
    """Whether a document's line, perhaps cut off by "[...]", is the one printed."""
    start = line.removesuffix("[...]")
    wanted, found = shape(start), shape(printed)
    if found == wanted or (start != line and found[:len(wanted)] == wanted):
        return True
    return ELSEWHERE and {word for word in wanted if "#" not in word} == {word for word in found if "#" not in word}


def run_document(name, source="examples/matrix.c", program="app"):
    """Runs a document's commands in one folder, which holds the examples and a program."""
    prefix = install()
    os.mkdir("work")
    for example in filter(os.path.isfile, glob.glob(os.path.join(TOP, "examples", "*"))):
        shutil.copy(example, "work")
    done = run([need("gcc"), "-g", "-O1", "-o", program, os.path.join(TOP, source)], folder="work")
    assert done.returncode == 0, done
    environment = dict(ENVIRONMENT, PATH=f"{prefix}/bin:{ENVIRONMENT['PATH']}", LD_LIBRARY_PATH=f"{prefix}/lib",
                       PKG_CONFIG_PATH=f"{prefix}/lib/pkgconfig", PKG_CONFIG_SYSROOT_DIR=os.path.abspath("root"),
                       LC_ALL="C.UTF-8", COLUMNS="1000")
    found, wrong, without = commands(os.path.join(TOP, name)), [], []
    assert found, name
    for command, output in found:
        if command.startswith(("sudo ", "./quickstart", "./runtests")):
            continue
        serves = command.startswith("nearmiss view") and "--html" not in command.split("#", maxsplit=1)[0]
        if serves:  # until it is interrupted
            command = "timeout --preserve-status -s INT 3 " + command
        for profile in {"before.nmp", "after.nmp"} & set(command.split()):  # the reader's own
            shutil.copy("work/nearmiss.nmp", os.path.join("work", profile))
        done = subprocess.run(["/bin/bash", "-c", command], cwd="work", env=environment, capture_output=True,
                              timeout=200, check=False)
        if b"was built without its pages" in done.stderr:
            without.append(command)
            continue
        assert done.returncode == 0, (command, done.stderr.decode())
        assert not serves or b"http://127.0.0.1:" in done.stdout + done.stderr, done
        printed = (done.stdout + done.stderr).decode().split("\n")
        missing = [line for line in output if not any(same(line, other) for other in printed) and
                   not (ELSEWHERE and THEIRS.search(line))]
        if missing and not serves:
            wrong.append("\n".join([command, "is to print", *missing, "and prints", *printed]))
    assert not wrong, "\n".join(wrong)
    if without:
        raise Skip("built without its pages")


def case_readme():
    run_document("README.md")


def case_curves():
    run_document("docs/howto/curves.md", "bench/programs/hash.c", "hash")


def case_library():
    run_document("docs/howto/library.md")


def case_loop_nests():
    run_document("docs/howto/loop-nests.md")


def case_monitor():
    run_document("docs/howto/monitor.md")


def case_parts():
    run_document("docs/howto/parts.md")


def case_sharing():
    run_document("docs/howto/sharing.md")


def case_what_if():
    run_document("docs/howto/what-if.md", "examples/faults/cold.c", "cold")


def case_plugins():
    run_document("docs/howto/plugins.md")


def case_man_pages():
    run_man_pages("evictions", "machines", "monitor", "nest", "query", "replay", "sweep", "trace")


def case_man_pages_of_profiles():
    run_man_pages("annotate", "curve", "export", "record", "report", "view")
    run_document("docs/man/nearmiss.1.md")


def case_samples_of_perf():
    probe = run([need("perf"), "record", "-q", "-e", "page-faults", "-c", "1", "-d", "-o", "probe.data", "--", "/bin/true"])
    if probe.returncode:
        raise Skip("perf may not sample page faults here")
    run_document("docs/howto/hardware.md")
    shutil.rmtree("work")
    run_man_pages("import")


def run_man_pages(*pages):
    for page in pages:
        run_document(f"docs/man/nearmiss-{page}.1.md")
        shutil.rmtree("work")


if __name__ == "__main__":
    main(globals())
