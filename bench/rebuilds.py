# SPDX-License-Identifier: MIT
"""rebuilds.py - programs whose data whatif.py lays out otherwise, and how somebody would change their source for it.

A change is a candidate with what makes the program so: options of the compiler, or edits (file, text, new text), each of
which must be found. Sources of packages are fetched with apt-get source; only the edits are ours.
"""

import glob
import os
import random
import subprocess
import sys
from collections import namedtuple

import run

# package: of the distribution, or None: `files` are in this repository. arguments: of the run, inputs are made in its folder.
Program = namedtuple("Program", "name package compiler files libraries arguments changes")
Change = namedtuple("Change", "candidate options edits", defaults=((), ()))

# A pool, in C: elements of a structure are given out one behind the other; the one that was freed last comes first.
POOL = """static struct pooled { struct pooled *next; } *pool_freed;
static char *pool_next, *pool_end;
static void *pool_take(unsigned long bytes) {
	struct pooled *p = pool_freed;
	if (p) { pool_freed = p->next; return p; }
	if (pool_next == pool_end) pool_end = (pool_next = malloc(bytes * 4096)) + bytes * 4096;
	return (pool_next += bytes) - bytes;
}
static void pool_give(void *freed) { struct pooled *p = freed; p->next = pool_freed; pool_freed = p; }
"""


def fault(source, candidate, edits=()):
    compiler = ["gfortran", "-cpp", "-O2"] if source.endswith(".f90") else ["gcc", "-O2"]
    options = () if edits else ("-DREPAIRED",)
    return Program(os.path.basename(source), None, compiler, [source], [], [], [Change(candidate, options, edits)])


LAYOUTS = ["reorder struct item: key, weight, count, flags", "pad struct item to 128", "shrink item.name to 16",
           "split struct item hot(key, count) parallel", "split struct item hot(key, count) by pointer", "soa struct item",
           "align items to 64", "merge xs of 8, ys of 8", "pool nodes[i]", "pool nodes[i] by first use",
           "transpose square 256x256x8", "pad square rows of 2048 by 64",
           "offset v against u by 65600; offset w against u by 131200; offset p against u by 196800"]
MERGED = [("compress42.c", "codetab[HSIZE];", "codetab[HSIZE];\n"
           "struct { count_int fcode; unsigned short code; } table[HSIZE];"),
          ("compress42.c", "#\tdefine\thtabof(i)\t\t\t\thtab[i]", "#define htabof(i) table[i].fcode"),
          ("compress42.c", "#\tdefine\tcodetabof(i)\t\t\tcodetab[i]", "#define codetabof(i) table[i].code"),
          ("compress42.c", "memset(htab, -1, sizeof(htab))", "for (int i = 0; i < HSIZE; i++) table[i].fcode = -1")]
# Where mujs allocates and frees properties.
NEW = "*node = js_malloc(J, sizeof *node);\n\tnode->name"
FREE = [("jsproperty.c", "js_free(J, node);\n\t--obj"), ("jsgc.c", "jsG_freeproperty(J, node->right);\n\tjs_free(J, node);")]
POOLED = [("jsvalue.h", "struct js_Property\n", POOL + "struct js_Property\n"),
          ("jsproperty.c", NEW, NEW.replace("js_malloc(J, ", "pool_take("))] + [
              (file, text, text.replace("js_free(J, ", "pool_give(")) for file, text in FREE]
ALIGNED = [("jsproperty.c", NEW, NEW.replace("js_malloc(J, ", "aligned_alloc(64, "))]
ACCESSORS = [("jsvalue.h", "js_Object *getter;\n\tjs_Object *setter;\n", "struct { js_Object *getter, *setter; } *more;\n"),
             ("jsproperty.c", NEW, NEW.replace("node->name", "node->more = js_malloc(J, sizeof *node->more);\n\tnode->name"))] + [
                 (file, text, text.replace("js_free(J, node);", "js_free(J, node->more); js_free(J, node);"))
                 for file, text in FREE] + [
                     ("*.c", f"{name}->{which}", f"{name}->more->{which}")
                     for name in ("ref", "node") for which in ("getter", "setter")]
MARKS_FIRST = [("jsvalue.h", "js_Object *prototype;\n\tunion", "int gcmark; js_Object *prototype, *gcnext, *gcroot;\n\tunion"),
               ("jsvalue.h",
                "js_Object *gcnext; /* allocation list */\n\tjs_Object *gcroot; /* scan list */\n\tint gcmark;\n}", "}")]
LISTS_FIRST = [("src/lobject.h", "lsizenode;  /* log2 of size of 'node' array */\n  unsigned int alimit;",
                "lsizenode; Node *node; GCObject *gclist; struct Table *metatable; unsigned int alimit;"),
               ("src/lobject.h", "  Node *node;\n  Node *lastfree;", "  Node *lastfree;"),
               ("src/lobject.h", "  struct Table *metatable;\n  GCObject *gclist;\n} Table", "} Table")]
LARGER = [("src/lobject.h", "GCObject *gclist;\n} Table", "GCObject *gclist; char padding[72];\n} Table")]
# diffstat's files are a list, which is searched for each: by link, name and base.
COUNTS = [("diffstat.c", "long chunk[MARKS]", "int chunk[MARKS]"), ("diffstat.c", "long count[MARKS]", "int count[MARKS]"),
          ("diffstat.c", "(const long num[MARKS])", "(const int num[MARKS])")]
SEARCHED = [("diffstat.c", "Comment cmt;\n    int pending", "struct { Comment cmt;\n    int pending"),
            ("diffstat.c", "} DATA;", "} *more;\n} DATA;"), ("diffstat.c", "    data->cmt = Normal;\n", ""),
            ("diffstat.c", "memset(data, 0, sizeof(*data));", "data->link = 0;"),
            ("diffstat.c", "xmalloc(sizeof(DATA));",
             "xmalloc(sizeof(DATA)); r->more = memset(xmalloc(sizeof *r->more), 0, sizeof *r->more);"),
            ("diffstat.c", "free(p);\n", "free(p->more); free(p);\n"),
            ("diffstat.c", 'init_data(&dummy, "", 1, 0);', 'init_data(&dummy, "", 1, 0); dummy.more = calloc(1, 99);')] + [
                 ("diffstat.c", f"->{field}", f"->more->{field}") for field in ("cmt", "pending", "chunk", "count")]
LINK_LAST = [("diffstat.c", "    struct _data *link;\n", ""),
             ("diffstat.c", "long count[MARKS];", "long count[MARKS]; struct _data *link;")]
FILES = [("diffstat.c", "static DATA *\nnew_data", POOL + "static DATA *\nnew_data"),
         ("diffstat.c", "(DATA *) xmalloc(sizeof(DATA))", "pool_take(sizeof(DATA))"),
         ("diffstat.c", "free(p);\n\t    return 1", "pool_give(p);\n\t    return 1")]
# tree's entries are lists by name, which are searched for each path.
SEARCH_FIRST = [("tree.h", "char *name;\n  char *lnk;", "char *name; struct _info *next, *tchild;\n  char *lnk;"),
                ("tree.h", "struct _info **child, *next, *tchild;", "struct _info **child;")]
LONGER = [("tree.h", "*next, *tchild;", "*next, *tchild; char padding[256 - 168];")]
ENTRY = "struct _info *n = xmalloc(sizeof(struct _info))"
ENTRIES = [("file.c", "struct _info *newent", POOL + "struct _info *newent"),
           ("file.c", ENTRY, ENTRY.replace("xmalloc", "pool_take")), ("file.c", "free(t)", "pool_give(t)"),
           ("tree.c", "free(d[i]);", "")]
ON_LINES = [("file.c", ENTRY, ENTRY.replace("xmalloc(", "aligned_alloc(64, "))]

PROGRAMS = [
    fault("examples/faults/aos.c", "soa struct particle"),
    fault("examples/faults/cold.c", "split struct order hot(price, count, state) parallel"),
    fault("examples/faults/transpose.c", "pad from rows of 2048 by 64; pad to rows of 2048 by 64"),
    fault("examples/faults/conflict.f90",
          "; ".join(f"offset fields/{a} against fields/u by {65600 * (i + 1)}" for i, a in enumerate("vwpqrstxyze"))),
    fault("examples/faults/blocks.c", "pool points[i]",
          [("*.c", "int main(", POOL + "int main("), ("*.c", "malloc(sizeof *points[i])", "pool_take(sizeof *points[i])")]),
    fault("tests/programs/visits.c", "order nodes[i] as visited"),
    Program("layouts.c", None, ["gcc", "-O1"], ["bench/programs/layouts.c"], [], [],
            [Change(candidate, (f"-DKIND={kind + 1}",)) for kind, candidate in enumerate(LAYOUTS)]),
    Program("ncompress", "ncompress", ["gcc", "-O2", "-DDIRENT=1", "-DUSERMEM=800000", "-DREGISTERS=3"], ["compress42.c"], [],
            ["-c", "text"], [Change("merge htab of 8, codetab of 2", (), MERGED)]),
    Program("mujs", "mujs", ["gcc", "-O2"], ["one.c", "main.c"], ["-lm"], ["tree.js"],
            [Change("pool node (jsproperty.c:33)", (), POOLED), Change("align node (jsproperty.c:33) to 64", (), ALIGNED),
             Change("split js_Property hot(name, left, right, level, atts, value) by pointer", (), ACCESSORS),
             Change("reorder js_Object: type, extensible, properties, count, gcmark, prototype, gcnext, gcroot", (), MARKS_FIRST)]),
    Program("lua", "lua5.4", ["gcc", "-O2", "-DLUA_USE_POSIX", "-Dluai_makeseed(L)=1", "-I."], ["src/*.c"], ["-lm"], ["tables.lua"],
            [Change("reorder struct Table: next, tt, marked, flags, lsizenode, node, gclist, metatable", (), LISTS_FIRST),
             Change("pad struct Table to 128", (), LARGER)]),
    Program("lua, no collector", "lua5.4", ["gcc", "-O2", "-DLUA_USE_POSIX", "-Dluai_makeseed(L)=1", "-I."], ["src/*.c"], ["-lm"],
            ["stop.lua"],
            [Change("reorder struct Table: next, tt, marked, flags, lsizenode, node, gclist, metatable", (), LISTS_FIRST),
             Change("pad struct Table to 128", (), LARGER)]),
    Program("diffstat", "diffstat", ["gcc", "-O2", "-DHAVE_STDLIB_H", "-DHAVE_STRING_H", "-DHAVE_GETOPT_H", "-DHAVE_UNISTD_H"],
            ["diffstat.c"], [], ["-p1", "changes"],
            [Change("shrink _data.chunk to 16; shrink _data.count to 16", (), COUNTS),
             Change("split _data hot(link, name, copy, base) by pointer", (), SEARCHED),
             Change("reorder _data: name, copy, base, cmt, pending, chunks, chunk, count, link", (), LINK_LAST),
             Change("pool r", (), FILES)]),
    Program("tree", "tree", ["gcc", "-O2", "-D_GNU_SOURCE"], ["*.c"], [], ["--fromfile", "paths"],
            [Change("reorder struct _info: name, next, tchild", (), SEARCH_FIRST), Change("pad struct _info to 256", (), LONGER),
             Change("align n to 64", (), ON_LINES), Change("pool n", (), ENTRIES)]),
]


TABLES = ("local t, s = {}, 0\nfor i = 1, 15000 do t[i] = { x = i, y = 'n' .. i } end\n"
          "for r = 1, 4 do for i = 1, 15000 do s = s + t[i * 7919 % 15000 + 1].x end end\nprint(s)\n")


def write_inputs(folder):
    draw = random.Random(1)
    words = ["".join(draw.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(draw.randint(2, 9))) for _ in range(3000)]
    with open(os.path.join(folder, "text"), "w", encoding="ascii") as f:
        f.writelines(" ".join(words[min(int(draw.paretovariate(.6)), 2999)] for _ in range(6)) + "\n" for _ in range(20000))
    with open(os.path.join(folder, "tree.js"), "w", encoding="ascii") as f:
        f.write("var a = {}, i, r, s = 0;\n"
                "for (i = 0; i < 5000; ++i) { a['k' + (i * 7919 % 5000)] = { id: i, name: 'n' + i }; }\n"
                "for (r = 0; r < 2; ++r) for (i = 0; i < 5000; ++i) s += a['k' + (i * 5077 % 5000)].id;\nprint(s);\n")
    with open(os.path.join(folder, "tables.lua"), "w", encoding="ascii") as f:
        f.write(TABLES)
    with open(os.path.join(folder, "stop.lua"), "w", encoding="ascii") as f:
        f.write('collectgarbage("stop")\n' + TABLES)
    with open(os.path.join(folder, "changes"), "w", encoding="ascii") as f:
        for name in (f"src/{draw.randrange(10**6)}.c" for _ in range(3000)):
            f.write(f"--- a/{name}\n+++ b/{name}\n@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n")
    with open(os.path.join(folder, "paths"), "w", encoding="ascii") as f:
        f.writelines(f"{words[draw.randrange(40)]}/{words[draw.randrange(40)]}/{draw.choice(words)}.{i % 7}\n"
                     for i in range(12000))



def apt_get(*arguments, cwd=None):
    done = subprocess.run(["apt-get", "-qq", *arguments], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode:
        sys.exit(f"apt-get {arguments[-1]}: {done.stdout.strip()}")


def sources_of(folder):
    """Options of apt-get, with lists of sources that are fetched once."""
    apt = os.path.join(folder, "apt")
    options = [f"Dir::Etc::SourceList={apt}/sources.list", "Dir::Etc::SourceParts=/dev/null", f"Dir::State::Lists={apt}/lists",
               f"Dir::Cache={apt}/cache"]
    options = [word for option in options for word in ("-o", option)]
    if not os.path.exists(apt):
        os.makedirs(apt + "/lists/partial")
        os.makedirs(apt + "/cache/archives/partial")
        packages = subprocess.run(["apt-get", "indextargets", "--format", "deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)",
                                   "Created-By: Packages"], stdout=subprocess.PIPE, text=True, check=True).stdout
        with open(apt + "/sources.list", "w", encoding="ascii") as f:
            f.writelines(line + "\n" for line in sorted(set(packages.splitlines())))
        apt_get(*options, "--error-on=any", "update")
    return options


def fetch(program, folder):
    """The folder with the program's source, in which edits are made."""
    top = os.path.join(folder, program.name + ".source")
    os.mkdir(top)
    if not program.package:
        for name in program.files:
            subprocess.run(["cp", os.path.join(run.TOP, name), top], check=True)
        return top
    apt_get(*sources_of(folder), "source", "--only-source", program.package, cwd=top)
    top = next(d for d in glob.glob(top + "/*") if os.path.isdir(d))
    if program.package == "lua5.4":  # its build makes this file; luac.c is another program
        os.remove(top + "/src/luac.c")
        with open(top + "/lua5.4-deb-multiarch.h", "w", encoding="ascii") as f:
            f.write('#define DEB_HOST_MULTIARCH "any"\n')
    return top


def build(program, source, path, options=(), edits=()):
    """Builds it with edits, which are taken back."""
    was = {}
    for pattern, text, new in edits:
        found = 0
        for name in glob.glob(os.path.join(source, pattern)):
            with open(name, encoding="latin-1") as f:
                now = f.read()
            was.setdefault(name, now)
            found += now.count(text)
            with open(name, "w", encoding="latin-1") as f:
                f.write(now.replace(text, new))
        assert found, (program.name, text)
    files = [f for name in program.files for f in glob.glob(name if program.package else os.path.basename(name), root_dir=source)]
    subprocess.run([*program.compiler, "-g", "-w", *options, *files, *program.libraries, "-o", path], cwd=source, check=True)
    for name, text in was.items():
        with open(name, "w", encoding="latin-1") as f:
            f.write(text)
