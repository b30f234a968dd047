# SPDX-License-Identifier: MIT
"""workloads.py - the programs that the benchmark runs and the inputs it makes for them.

Every input comes from a seeded generator, so that two machines run the same work; nothing is fetched. Sizes are
chosen so that a program takes about 0.1 to 0.2 s natively and the slowest peer stays below some 15 s: long enough to
hide start-up, short enough for five rounds of everything. `scale` shrinks the inputs for --quick. A program whose
executable is missing is left out and named.

Programs belong to classes. "tools" are Debian's: compressors, interpreters, a compiler; most of their
references hit. The others miss the first level on 2 to 35 % of their references: "pointers" walk trees,
lists and chains of small heap blocks, "arrays" walk large ones, "objects" allocate and release much. "unseen" are
kernels such as PolyBench, SPLASH and Olden have, and interpreters and solvers of Debian, for which nothing was ever
tuned. Sources are in bench/programs.
"""

import json
import os
import random
import shutil
import sqlite3
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))

# What the programs see; nothing of the caller's, because the size of the environment moves the stack.
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nonexistent",
    "LC_ALL": "C",
    "PYTHONHASHSEED": "0",
    "PERL_HASH_SEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
}


CLASSES = {"tools": ["tools"], "pointers": ["pointers"], "arrays": ["arrays"], "objects": ["objects"],
           "miss": ["pointers", "arrays", "objects"], "unseen": ["unseen"]}


def members(names):
    """The classes that a list of names, separated by commas, stands for."""
    return [kind for name in names.split(",") for kind in CLASSES[name]]


ENDED = (0, 10, 20)  # exit statuses of programs that did their work; 10 and 20 are a solver's answers


class Workload:
    """One program with its arguments; `stdin` is a path or None; standard output goes to /dev/null."""

    def __init__(self, name, argv, stdin=None, kind="tools"):
        self.name, self.argv, self.stdin, self.kind = name, argv, stdin, kind


def words(rng, count):
    """A vocabulary of made-up words whose use follows Zipf's law, as in natural text."""
    syllables = [c + v for c in "bcdfghklmnprstvw" for v in "aeiou"]
    vocabulary = ["".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(4000)]
    weights = [1.0 / (rank + 1) for rank in range(len(vocabulary))]
    return rng.choices(vocabulary, weights, k=count)


def write(path, text):
    with open(path, "w", encoding="ascii") as f:
        f.write(text)
    return path


def text_file(path, count, seed):
    rng = random.Random(seed)
    lines, line = [], []
    for n, word in enumerate(words(rng, count)):
        line.append(word if n % 17 else str(rng.randint(0, 99999)))
        if len(line) == 11:
            lines.append(" ".join(line))
            line = []
    return write(path, "\n".join(lines) + "\n")


def database(path, rows):
    """Customers and orders with an index, as a shop would have them."""
    rng = random.Random(4)
    if os.path.exists(path):
        os.unlink(path)
    names = words(rng, rows // 10)
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT, city TEXT)")
        db.execute("CREATE TABLE purchase(id INTEGER PRIMARY KEY, customer INT, item TEXT, price REAL, day INT)")
        db.executemany("INSERT INTO customer VALUES(?,?,?)",
                       [(i, name, rng.choice(names[:50])) for i, name in enumerate(names)])
        db.executemany("INSERT INTO purchase VALUES(?,?,?,?,?)",
                       [(i, rng.randrange(len(names)), rng.choice(names), rng.random() * 100, rng.randrange(365))
                        for i in range(rows)])
        db.execute("CREATE INDEX by_customer ON purchase(customer)")
    db.close()
    return path


QUERIES = """
SELECT city, count(*), round(sum(price), 2) FROM customer JOIN purchase ON customer.id = customer
    GROUP BY city ORDER BY 3 DESC LIMIT 10;
SELECT item, avg(price) AS mean FROM purchase GROUP BY item HAVING count(*) > 3 ORDER BY mean LIMIT 10;
CREATE TEMP TABLE late AS SELECT * FROM purchase WHERE day > 250 ORDER BY price;
CREATE INDEX temp.late_item ON late(item);
SELECT count(*) FROM late a JOIN customer c ON c.name = a.item WHERE a.price < 20;
SELECT name FROM customer WHERE name LIKE '%ba%' ORDER BY length(name), name LIMIT 5;
"""


def records(path, count):
    rng = random.Random(5)
    text = words(rng, count * 6)
    return write(path, json.dumps([
        {"id": i, "name": text[6 * i], "tags": text[6 * i + 1:6 * i + 5], "city": text[6 * i + 5][:2],
         "size": rng.randint(1, 9999), "place": {"x": rng.random(), "y": rng.random()}}
        for i in range(count)]))


PYTHON_SCRIPT = """
import sys
class Node:
    __slots__ = ('key', 'left', 'right', 'count')
    def __init__(self, key):
        self.key, self.left, self.right, self.count = key, None, None, 1
def insert(root, key):
    node = root
    while node.key != key:
        side = 'left' if key < node.key else 'right'
        below = getattr(node, side)
        if below is None:
            setattr(node, side, Node(key))
            return
        node = below
    node.count += 1
counts, root = {}, Node('m')
for line in open(sys.argv[1]):
    for word in line.split():
        counts[word] = counts.get(word, 0) + 1
        insert(root, word)
print(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:20])
"""


def c_source(path, functions):
    """A C file such as cc1 meets: structs, loops, switches, pointers."""
    rng = random.Random(6)
    out = ["struct item { int key; long weight; struct item *next; double f[4]; };"]
    for n in range(functions):
        cases = "".join(f"\t\tcase {k}: sum += p->weight * {rng.randint(2, 99)} + {k}; break;\n"
                        for k in sorted(rng.sample(range(40), 8)))
        out.append(f"""
long f{n}(struct item *p, const int *a, int n)
{{
	long sum = {rng.randint(1, 9)};
	for (int i = 0; i < n; i++) {{
		switch (a[i] & {rng.choice([15, 31])}) {{
{cases}		default: sum ^= a[i] >> {rng.randint(1, 7)};
		}}
		p->f[i & 3] = p->f[(i + 1) & 3] * {rng.randint(2, 9)}.5 + sum;
		if (p->next && sum % {rng.randint(3, 17)} == 1) p = p->next;
	}}
	return sum{f' + f{n - 1}(p, a, n / 2)' if n else ''};
}}""")
    return write(path, "\n".join(out) + "\n")


def manual_page(path, paragraphs):
    rng = random.Random(7)
    out = [".TH BENCH 1", ".SH NAME", "bench \\- made by a generator"]
    for n in range(paragraphs):
        text = words(rng, 60)
        out += [f".SH \"{' '.join(text[:3]).upper()}\"", f".TP\n.BI \\-{text[3]} \" {text[4]}\"",
                " ".join(text[5:40]), f".PP\n\\fB{text[40]}\\fR " + " ".join(text[41:])]
    return write(path, "\n".join(out) + "\n")


PERL_SCRIPT = r"""
my (%seen, %follows, $last);
while (<>) { for my $word (split) { $seen{$word}++; push @{$follows{$last}}, $word if defined $last; $last = $word } }
my @top = sort { $seen{$b} <=> $seen{$a} || $a cmp $b } keys %seen;
for my $word (@top[0 .. 19]) { my %n; $n{$_}++ for @{$follows{$word}}; print "$word ", scalar(keys %n), "\n" }
"""

AWK_SCRIPT = """
{ for (i = 1; i <= NF; i++) { count[$i]++; length_of[length($i)] += 1; if ($i ~ /^[0-9]+$/) sum += $i } }
END { for (word in count) if (count[word] > most) { most = count[word]; best = word }
      print best, most, sum; for (n in length_of) print n, length_of[n] }
"""

LAPACK = "/usr/lib/x86_64-linux-gnu/lapack/liblapack.a"
BLAS = "/usr/lib/x86_64-linux-gnu/blas/libblas.a"


def fortran_solver():
    """Debian's reference LAPACK, which is Fortran, behind a small driver; None where it is missing."""
    if not (shutil.which("gfortran") and os.path.exists(LAPACK) and os.path.exists(BLAS)):
        return None
    subprocess.run(["gfortran", "-O2", "-g", "-o", "solver", os.path.join(HERE, "solver.f90"), LAPACK, BLAS],
                   check=True)
    return "./solver"


def compiler_proper():
    if not shutil.which("gcc"):
        return None
    path = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True).stdout.strip()
    return path if os.path.isabs(path) else None


def compiled(source):
    """Builds a program of bench/programs in the working folder; None where its compiler is missing."""
    compilers = {".c": ["gcc"], ".cpp": ["g++", "-std=c++17"], ".f90": ["gfortran"]}
    name, ending = os.path.splitext(source)
    compiler = compilers[ending]
    if not shutil.which(compiler[0]):
        return None
    subprocess.run([*compiler, "-O2", "-g", "-o", name, os.path.join(HERE, "programs", source), "-lm"], check=True)
    return "./" + name


def links(path, nodes, count):
    """Pairs of names for tsort, which keeps them in a tree and in lists."""
    rng = random.Random(10)
    pairs = (sorted(rng.sample(range(nodes), 2)) for _ in range(count))
    return write(path, "".join(f"v{a * 7919 % 1000003} v{b * 7919 % 1000003}\n" for a, b in pairs))


# Source, class, arguments; those that are multiplied by the scale are written as floats.
MISSING = [
    ("tree.c", "pointers", [19]),
    ("list.c", "pointers", [1000, 4e5, 10]),
    ("hash.c", "pointers", [2e5, 8e5]),
    ("graph.c", "pointers", [6e4, 8]),
    ("queue.c", "pointers", [2.5e5, 2.5e5]),
    ("sparse.c", "arrays", [1.5e5, 4, 12]),
    ("stencil.c", "arrays", [1000, 100, 10.0]),
    ("columns.f90", "arrays", [1200, 6.0]),
    ("scan.c", "arrays", [3e5, 20]),
    ("paths.cpp", "objects", [4e4, 6]),
    ("sat.cpp", "objects", [8000, 33000, 800.0]),
    ("interpreter.c", "objects", [800000, 80.0, 1500]),
    ("containers.cpp", "objects", [3e4, 8e4]),
    ("churn.c", "objects", [6e4, 1e6]),
]


def miss_heavy(scale):
    size = lambda n: str(max(1, round(n * scale)) if isinstance(n, float) else n)
    programs = [(os.path.splitext(source)[0], [compiled(source)] + [size(n) for n in arguments], None, kind)
                for source, kind, arguments in MISSING]
    return programs + [("tsort", ["tsort", links("links.txt", int(60000 * scale), int(100000 * scale))], None, "pointers")]


# Kernels of loops.c and nodes.c, their sizes, and by which power of its size a kernel's work grows.
KERNELS = [
    ("loops", "gemm", 400, 3), ("loops", "jacobi", 1400, 2), ("loops", "correlation", 1600, 3),
    ("loops", "nussinov", 700, 3), ("loops", "ocean", 1600, 2), ("loops", "gradients", 45, 3),
    ("loops", "radix", 3000000, 1), ("nodes", "health", 120, 1), ("nodes", "bisort", 131071, 1),
    ("nodes", "mst", 700, 2), ("nodes", "em3d", 40000, 1),
]

LUA_SCRIPT = """
local rows, words, n = {}, {}, tonumber(arg[1])
for i = 1, n do
    local row = {id = i, key = (i * 7919) % 10007, name = 'n' .. (i * 31 % 977)}
    rows[i] = row
    words[row.name] = (words[row.name] or 0) + row.key
end
table.sort(rows, function(a, b) return a.key < b.key or (a.key == b.key and a.id < b.id) end)
local sieve, primes = {}, 0
for i = 2, 4 * n do
    if not sieve[i] then
        primes = primes + 1
        for k = i * i, 4 * n, i do sieve[k] = true end
    end
end
print(rows[1].name, words['n31'], primes)
"""

PYTHON_OBJECTS = """
import heapq, sys
class Place:
    def __init__(self, name):
        self.name, self.roads, self.far = name, [], None
n, seed = int(sys.argv[1]), 1
places = [Place(str(i)) for i in range(n)]
for place in places:
    for _ in range(4):
        seed = seed * 1103515245 + 12345 & 0x7fffffff
        place.roads.append((seed % 97 + 1, seed >> 8))
near = [(0, 0)]
while near:
    far, i = heapq.heappop(near)
    if places[i].far is None:
        places[i].far = far
        for length, to in places[i].roads:
            heapq.heappush(near, (far + length, to % n))
print(sum(p.far or 0 for p in places))
"""


def formula(path, variables):
    """A formula of three literals a clause, near where satisfiable ones turn rare."""
    rng = random.Random(11)
    clauses = [" ".join(str(v * rng.choice((1, -1))) for v in rng.sample(range(1, variables + 1), 3)) + " 0"
               for _ in range(variables * 42 // 10)]
    return write(path, f"p cnf {variables} {len(clauses)}\n" + "\n".join(clauses) + "\n")


def unseen(scale):
    for source in ("loops.c", "nodes.c"):
        compiled(source)
    programs = [(kernel, ["./" + file, kernel, str(max(8, round(size * scale ** (1 / power))))], None, "unseen")
                for file, kernel, size, power in KERNELS]
    return programs + [
        ("lua", ["lua5.4", write("rows.lua", LUA_SCRIPT), str(int(60000 * scale))], None, "unseen"),
        ("minisat", ["minisat", formula("clauses.cnf", 150 + int(70 * scale))], None, "unseen"),
        ("sqlite", ["sqlite3", "-init", "/dev/null", database("stock.db", int(20000 * scale))],
         write("stock.sql", QUERIES), "unseen"),
        ("python", ["/usr/bin/python3", "-s", "-S", write("places.py", PYTHON_OBJECTS), str(int(8000 * scale))], None,
         "unseen")]


def make(folder, scale, classes=("tools",)):
    """Makes the inputs in `folder`, enters it, and returns (workloads, names of those that cannot run)."""
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)  # names without a folder: where the checkout lies must not move the stack
    wanted = (tools(scale) if "tools" in classes else []) + (unseen(scale) if "unseen" in classes else [])
    wanted += miss_heavy(scale) if set(classes) - {"tools", "unseen"} else []
    found, missing = present(wanted)
    return [w for w in found if w.kind in classes], missing


def tools(scale):
    def size(full):
        return max(1, int(full * scale))

    compress = text_file("compress.txt", size(230000), 1)
    small = text_file("small.txt", size(60000), 2)
    medium = text_file("medium.txt", size(110000), 3)
    return [
        ("gzip", ["gzip", "-6", "-c", compress], None),
        ("bzip2", ["bzip2", "-9", "-c", compress], None),
        ("xz", ["xz", "-4", "-T1", "-c", small], None),
        ("zstd", ["zstd", "-q", "-12", "--single-thread", "-c", compress], None),
        ("sqlite3", ["sqlite3", "-init", "/dev/null", database("shop.db", size(30000))],
         write("queries.sql", QUERIES)),
        ("jq", ["jq", "group_by(.city) | map({city: .[0].city, n: length, size: (map(.size) | add), "
                "tags: (map(.tags[]) | unique | length)})", records("records.json", size(3600))], None),
        ("python3", ["/usr/bin/python3", "-s", "-S", write("count.py", PYTHON_SCRIPT),
                     text_file("python.txt", size(90000), 8)], None),
        ("cc1", [compiler_proper(), "-quiet", "-O2", c_source("generated.c", size(12)), "-o", "/dev/null"], None),
        ("troff", ["troff", "-Tascii", "-man", manual_page("bench.1", size(800))], None),  # C++
        ("solver", [fortran_solver(), str(max(20, int(560 * scale ** (1 / 3))))], None),  # Fortran
        ("perl", ["perl", write("follow.pl", PERL_SCRIPT), medium], None),
        ("mawk", ["mawk", "-f", write("count.awk", AWK_SCRIPT), text_file("long.txt", size(500000), 9)], None),
        ("sort", ["sort", "--parallel=1", "-S", "64M", "-k3,3", "-k7,7n", compress], None),
    ]


def present(wanted):
    found, missing = [], []
    for name, argv, stdin, *kind in wanted:
        path = argv[0] and shutil.which(argv[0], path=ENVIRONMENT["PATH"])
        if path:
            found.append(Workload(name, [path] + argv[1:], stdin, *kind))
        else:
            missing.append(name)
    return found, missing
