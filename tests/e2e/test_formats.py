# SPDX-License-Identifier: MIT
"""test_formats.py - binaries that are packed, split, deleted or replaced: their names are those of plain ones, or one sentence
says why not."""

import csv
import os
import shutil

from harness import ENVIRONMENT, main, need, nearmiss, record, rows, run

GRID = """#include <stdio.h>
#include <stdlib.h>
struct cell { double value; int flags; char pad[52]; };
struct cell grid[20000];
int main(void)
{
	double s = 0;
	int *order = malloc(20000 * sizeof *order);
	for (int i = 0; i < 20000; i++)
		order[i] = (int)(i * 7919L % 20000);
	for (int i = 0; i < 20000; i++)
		s += grid[order[i]].value; /* line 12 */
	printf("%g\\n", s);
	free(order);
	return 0;
}
"""
GRID_ROWS = [("grid", 12, 20000), ("order", 10, 20000), ("order", 12, 20000)]


def compile_grid(name, *options, compiler="gcc", folder="."):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "grid.c"), "w", encoding="ascii") as f:
        f.write(GRID)
    done = run([need(compiler), "-g", "-O1", *options, "-o", name, "grid.c"], folder=folder)
    assert done.returncode == 0, done


def grid_rows():
    """The references of main by object and line, and whether the structure's fields are known."""
    found = rows("SELECT replace(object, ' (grid.c:8)', ''), line, sum(reads + writes) FROM counts WHERE level = 'L1d' "
                 "AND file LIKE '%grid.c' AND (object = 'grid' OR object LIKE 'order%') GROUP BY 1, 2 ORDER BY 1, 2")
    return [row for row in found if row[2] > 100], rows("SELECT count(*) FROM fields WHERE object = 'grid' AND field = 'value'")[0][0]


def case_packed_sections():
    """By zlib, in both forms, and by zstd, in the program or its separate debug file; other forms of DWARF."""
    objcopy = need("objcopy")
    compile_grid("plain")
    for n, options in enumerate((["-gz=zlib"], ["-gz=zlib-gnu"], ["-gdwarf-4"], ["-gdwarf-5", "-gdwarf64"])):
        compile_grid(f"packed{n}", *options)
    names = [f"packed{n}" for n in range(4)]
    if run([objcopy, "--compress-debug-sections=zstd", "plain", "zstd"]).returncode == 0:
        names.append("zstd")
        shutil.copy("plain", "apart")
        for command in (["--only-keep-debug", "--compress-debug-sections=zstd", "apart", "apart.debug"],
                        ["--strip-all", "apart"], ["--add-gnu-debuglink=apart.debug", "apart"]):
            assert run([objcopy, *command]).returncode == 0, command
        names.append("apart")
    for name in ["plain", *names]:
        done = record([f"./{name}"], "-q")
        assert grid_rows() == (GRID_ROWS, 1) and not done.stderr, (name, grid_rows(), done.stderr)


def case_split_units():
    """Types are in files apart: found beside the program, or one sentence says that they are missing."""
    compile_grid("split", "-gsplit-dwarf", "-gdwarf-4", folder="build")
    os.chdir("build")
    done = record(["./split"], "-q")
    assert grid_rows() == (GRID_ROWS, 1) and not done.stderr, done
    shutil.copy("split", "packed")
    package = run([need("dwp"), "-e", "packed", "-o", "packed.dwp"])
    for name in os.listdir("."):
        if name.endswith(".dwo"):
            os.unlink(name)
    for name, told in (("split", b"1 of its .dwo files, such as "), ("packed", b"packed.dwp, which elfutils reads from 0.191")):
        for _ in range(2):  # a sentence is not forgotten with the names of the first recording
            if name == "packed" and package.returncode:
                continue
            done = record([f"./{name}"], "-q")
            assert grid_rows()[0][0] == GRID_ROWS[0], grid_rows()
            if not rows("SELECT count(*) FROM fields WHERE object = 'grid'")[0][0]:
                assert told in done.stderr and done.stderr.count(b"\n") == 1, done


def case_links_by_lld():
    """With an index, and optimised at link time."""
    need("ld.lld")
    for n, options in enumerate((["-ggnu-pubnames", "-Wl,--gdb-index"], ["-flto"])):
        compile_grid(f"lld{n}", "-fuse-ld=lld", *options, compiler="clang")
        record([f"./lld{n}"], "-q")
        found, fields = grid_rows()
        assert [row[:2] for row in found] == [row[:2] for row in GRID_ROWS] and fields == 1, found


LIBRARY = """static long cells_%s[1 << 12];
%s
static long walk_%s(void)
{
	long s = 0;
	for (long i = 0; i < 1 << 12; i++)
		s += cells_%s[i * 7919 %% (1 << 12)]++;
	return s;
}
long run(void) { return walk_%s(); }
"""
HOST = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int closes = !strcmp(argv[1], "close");
	unlink(argv[0]);
	for (int i = 2; i < argc; i++) {
		char command[256], name[64];
		void *h;
		snprintf(name, sizeof name, "./%stmp.so", closes ? "" : i % 2 ? "a/" : "b/");
		snprintf(command, sizeof command, "mkdir -p a b; cp %s %s", argv[i], name);
		if (system(command) || !(h = dlopen(name, RTLD_NOW)) || unlink(name))
			return puts(dlerror()), 1;
		((long (*)(void))dlsym(h, "run"))();
		if (closes)
			dlclose(h);
	}
	return 0;
}
"""


def case_libraries_that_are_deleted():
    """While they are mapped, or closed and another one loaded under the same name at the same addresses; the program, too."""
    for name in ("one", "two"):
        with open(f"{name}.c", "w", encoding="ascii") as f:
            f.write(LIBRARY % (name, "/* further down */" if name == "two" else "", *[name] * 3))
    with open("host.c", "w", encoding="ascii") as f:
        f.write(HOST)
    for options in ([], ["-Wl,--build-id=none"]):
        for name in ("one", "two"):
            assert run([need("gcc"), "-g", "-O1", "-shared", "-fPIC", *options, "-o", f"{name}.so", f"{name}.c"]).returncode == 0
        for how in ("keep", "close"):
            assert run([need("gcc"), "-g", "-O1", *options, "-o", "host", "host.c"]).returncode == 0
            record(["./host", how, "one.so", "two.so"], "-q")
            found = rows("SELECT object, function, sum(reads) FROM counts WHERE level = 'L1d' AND object LIKE 'cells%' AND reads > 0 "
                         "GROUP BY 1, 2 ORDER BY 1")
            assert found == [("cells_one", "walk_one", 4096), ("cells_two", "walk_two", 4096)], (options, how, found)
            assert rows("SELECT count(*) FROM counts WHERE function = 'main' AND file LIKE '%host.c'")[0][0], how


GO = """package main
import "fmt"
type order struct { price, amount int64; note [48]byte }
//go:noinline
func scan(o []order, by int) (s int64) {
	for i := 0; i < len(o); i++ {
		s += o[(i*by)%len(o)].price
	}
	return
}
func main() { fmt.Println(scan(make([]order, 60000), 7919)) }
"""


def case_heap_of_go():
    """One object, of which advice says no more than that."""
    with open("main.go", "w", encoding="ascii") as f:
        f.write(GO)
    cache = {"GOCACHE": os.path.abspath("cache"), "GO111MODULE": "off", **ENVIRONMENT}
    assert run([need("go"), "build", "-o", "gone", "main.go"], environment=cache).returncode == 0
    record(["./gone"], "-q")
    done = nearmiss("report", "-i", "p.nmp", "pairs", "--format", "csv")
    row = next(csv.DictReader(done.stdout.decode().splitlines()))
    assert row["object"] == "<Go heap>" and row["function"] == "main.scan" and row["line"] == "7", row
    assert "not told apart" in row["try"] and "element" not in row["try"], row


GENERATED = """#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static long read_data[4096], written_data[4096], other_data[4096];
/* for (ecx = 4096; ecx; ecx--) rax += data[ecx - 1], or data[ecx - 1] = rax */
static const unsigned char reads[] = {0x31, 0xc0, 0xb9, 0, 0x10, 0, 0, 0x48, 0x03, 0x44, 0xcf, 0xf8, 0xff, 0xc9, 0x75, 0xf7, 0xc3};
static const unsigned char writes[] = {0x31, 0xc0, 0xb9, 0, 0x10, 0, 0, 0x48, 0x89, 0x44, 0xcf, 0xf8, 0xff, 0xc9, 0x75, 0xf7, 0xc3};
static unsigned char *code;
static FILE *map;
static void generate(unsigned char *at, const unsigned char *from, const char *name)
{
	memcpy(at, from, sizeof reads);
	if (name)
		fprintf(map, "%lx %zx %s\\n", (long)at, sizeof reads, name), fflush(map);
}
static void call(unsigned char *at, long *data) { ((long (*)(long *))at)(data); }
int main(void)
{
	char path[64];
	code = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	fputs("no line of the format\\n", map);
	for (int round = 0; round < 4; round++) { /* where other code was */
		generate(code, reads, round ? NULL : "read(long[]) [clone #1]");
		call(code, read_data);
		generate(code, writes, round ? NULL : "LazyCompile:~write app.js:1:2");
		call(code, written_data);
	}
	generate(code + 4096, reads, "later");
	call(code + 4096, other_data);
	puts(path);
	return 0;
}
"""


def case_generated_code():
    """Its functions are those of the map for perf, also where code replaces other code and the map grows."""
    with open("generate.c", "w", encoding="ascii") as f:
        f.write(GENERATED)
    assert run([need("gcc"), "-g", "-O1", "-o", "generate", "generate.c"]).returncode == 0
    os.unlink(record(["./generate"], "-q").stdout.decode().strip())
    found = rows("SELECT object, function, sum(reads), sum(writes) FROM counts WHERE level = 'L1d' AND object IN ('read_data', "
                 "'written_data', 'other_data') AND function NOT LIKE '_dl%' "
                 "GROUP BY 1, 2 ORDER BY 1")
    assert found == [("other_data", "later", 4096, 0), ("read_data", "read(long[]) [clone #1]", 4 * 4096, 0),
                     ("written_data", "LazyCompile:~write app.js:1:2", 0, 4 * 4096)], found

COROUTINES = """#include <coroutine>
#include <cstdio>
#include <vector>
struct task {
	struct promise_type {
		long value = 0;
		task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_always initial_suspend() noexcept { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		std::suspend_always yield_value(long v) { value = v; return {}; }
		void return_void() {}
		void unhandled_exception() {}
	};
	std::coroutine_handle<promise_type> handle;
};
namespace shop {
struct stock {
	task sell(long each) const
	{
		for (long left = 100; left; left -= each) {
			long sold[12] = {left};
			co_yield sold[11] + left; // the sale
		}
	}
};
}
int main()
{
	std::vector<task> all;
	const shop::stock stock;
	for (int i = 0; i < 3000; i++)
		all.push_back(stock.sell(1 + i % 2));
	for (int round = 0; round < 4; round++)
		for (task &one : all)
			one.handle.resume();
	return 0;
}
"""


def case_coroutines():
    """Parts of a coroutine are the function that the source has, its frame's fields the variables."""
    with open("shop.cpp", "w", encoding="ascii") as f:
        f.write(COROUTINES)
    line = 1 + COROUTINES[:COROUTINES.index("// the sale")].count("\n")
    function = "shop::stock::sell(long) const"
    for level in ("-O0", "-O1", "-O2"):
        done = run([need("g++"), "-std=c++20", "-g", level, "-o", "shop", "shop.cpp"])
        assert done.returncode == 0, done.stderr
        record(["./shop"])
        found = rows("SELECT DISTINCT function FROM counts WHERE file LIKE '%shop.cpp' AND line = ?", line)
        assert found == [(function,)], (level, found)
        frames = rows("SELECT type FROM objects WHERE type LIKE ?", f"%{function}%")
        assert frames == [(f"frame of {function}",)], (level, frames)
        fields = {name for name, in rows("SELECT field FROM fields WHERE type LIKE ?", f"%{function}%")}
        assert {"left", "each", "sold"} <= fields, (level, fields)


if __name__ == "__main__":
    main(globals())
