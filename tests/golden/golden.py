# SPDX-License-Identifier: MIT
"""golden.py - reports of the stored profile, compared with what they should be.

    golden.py NEARMISS            compares; shows differences
    golden.py NEARMISS --update   writes the expected files anew (or: meson compile goldens); review as a diff

A case is a file NAME.txt: the command, what it writes, what it says on standard error, its status.  The
profiles are those of tests/data, which tests/sample/renew.sh writes, so no program is run.  The program's own version
is replaced by VERSION.
"""
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
P = ["-i", "profile-v1.nmp"]
A = ["-i", "profile-asm.nmp"]

E = ["-i", "profile-sets.nmp"]
C = ["-i", "profile-curve.nmp"]
R = ["-i", "profile-reuses.nmp"]
W = ["-i", "profile-timeline.nmp"]
M = ["profile-pmu.nmp", "--width=110"]
K = ["-i", "profile-merged.nmp"]
S = ["--source-dir=sources", "--map=/usr/include/c++/12/bits/stl_vector.h=sources/short.c"]

T = ["-i", "interference.nmt", "--cache=L1d=512,1,32:L2=4K,4,32"]
G = ["-c", "gate/budgets.yaml"]
TWO = ["--base=profile-v1.nmp", "profile-asm.nmp"]
N = ["../../examples/blocked.nest", "--cache=L1d=8K,1,32"]

CASES = {
    "summary": ["report", *P],
    "summary-80": ["report", *P, "--width=80"],
    "summary-json": ["report", *P, "--format=json", "summary"],
    "summary-csv": ["report", *P, "--format=csv", "--limit=2"],
    "summary-process": ["report", *P, "--process=cc1#2", "--width=100"],
    "summary-thread": ["report", *P, "--thread=2", "--width=100"],
    "objects": ["report", *P, "objects"],
    "objects-csv": ["report", *P, "objects", "--format=csv"],
    "functions": ["report", *P, "functions", "--width=120"],
    "lines": ["report", *P, "lines", "--sort=references"],
    "pairs": ["report", *P, "pairs"],
    "pairs-100": ["report", *P, "pairs", "--width=100"],
    "pairs-160": ["report", *P, "pairs", "--width=160"],
    "pairs-l2": ["report", *P, "pairs", "--level=L2", "--limit=3", "--width=120"],
    "pairs-json": ["report", *P, "pairs", "--format=json", "--limit=2"],
    "pairs-columns": ["report", *P, "pairs", "--columns=misses,misses_per_reuse,misses_by_waste,wasted_bytes,try",
                      "--limit=3", "--width=0"],
    "pairs-of-file": ["report", *P, "pairs", "--file=solver.c", "--level=L2", "--sort=cycles", "--width=120"],
    "fields": ["report", *P, "fields", "--width=140"],
    "fields-csv": ["report", *P, "fields", "--format=csv"],
    "affinity": ["report", *P, "affinity"],
    "by-type-field": ["report", *P, "--by=type,field,level", "--width=100"],
    "objects-fields": ["report", *P, "objects", "--limit=2", "--width=0",
                       "--columns=hot_fields,hot_bytes,cold_fields,cold_used,lines,hot_lines,idle_lines,cause,try"],
    "functions-of-object": ["report", *P, "functions", "--object=matrix", "--width=100"],
    "objects-of-function": ["report", *P, "objects", "--function=*push_back*", "--width=120"],
    "objects-wasted": ["report", *P, "objects", "--sort=wasted_bytes", "--width=90"],
    "lines-cycles": ["report", *P, "lines", "--sort=cycles", "--latency=L1d=4,L2=10,memory=100", "--limit=3",
                     "--width=100"],
    "by-process-level": ["report", *P, "--by=process,level", "--width=120"],
    "by-type-thread": ["report", *P, "--by=type,thread", "--limit=3", "--width=100"],
    "by-file-csv": ["report", *P, "--by=file", "--format=csv", "--level=L2", "--limit=2"],
    "by-line-json": ["report", *P, "--by=line", "--format=json", "--limit=1"],
    "levels": ["report", *P, "levels"],
    "levels-columns": ["report", *P, "levels", "--columns=reads,writes,writebacks"],
    "levels-process": ["report", *P, "levels", "--process=cc1", "--format=csv"],
    "curve": ["curve", *C, "--width=100"],
    "curve-60": ["curve", *C, "--width=60", "--height=8", "--machine=none", "--log"],
    "curve-objects": ["curve", *C, "--by=object", "--machine=alpha-21164,skylake", "--from=512", "--to=1M", "--width=100"],
    "curve-two": ["curve", *C, *C, "--width=80", "--machine=none"],
    "curve-svg": ["curve", *C, "--by=object", "--limit=2", "--format=svg"],
    "curve-csv": ["curve", *C, "--by=line", "--from=2K", "--to=5K", "--format=csv"],
    "curve-json": ["curve", *C, "--from=4K", "--to=6K", "--format=json"],
    "fault-curve-none": ["curve", *P],
    "reuses": ["report", *R, "reuses", "--width=140"],
    "reuses-csv": ["report", *R, "reuses", "--format=csv", "--limit=3"],
    "fault-no-distances": ["report", *P, "reuses"],
    "fault-curve-scope": ["curve", *C, "--by=objekt"],
    "fault-curve-only": ["curve", *C, "--by=object", "--only=W*"],
    "fault-curve-method": ["curve", *C, "--method=statcache"],
    "fault-curve-size": ["curve", *C, "--from=big"],
    "timeline": ["timeline", *W, "--width=80"],
    "timeline-lines": ["timeline", *W, "--by=line", "--level=L2", "--width=120", "--limit=1"],
    "timeline-svg": ["timeline", *W, "--format=svg"],
    "timeline-csv": ["timeline", *W, "--format=csv"],
    "timeline-json": ["timeline", *W, "--by=line", "--format=json"],
    "help-timeline": ["timeline", "--help"],
    "fault-timeline-none": ["timeline", *P],
    "fault-timeline-kind": ["timeline", *W, "--by=lines"],
    "fault-timeline-level": ["timeline", *W, "--level=L9"],
    "timeline-phases": ["timeline", *W, "--by=line", "--width=80"],
    "timeline-phases-svg": ["timeline", *W, "--format=svg", "--limit=1"],
    "timeline-phase": ["timeline", *W, "--by=line", "--width=80", "--phase=matrix[i][j] =, matrix"],
    "report-phases": ["report", *W, "phases"],
    "fault-timeline-phase-name": ["timeline", *W, "--phase=sweep"],
    "fault-timeline-process": ["timeline", *W, "--process=cc1"],
    "merged": ["report", *K, "--width=100"],
    "merged-ranks": ["report", *K, "--by=rank"],
    "merged-groups": ["report", *K, "groups", "--width=0"],
    "merged-groups-json": ["report", *K, "groups", "--format=json"],
    "merged-spread": ["report", *K, "spread", "--level=L2"],
    "merged-linespread-csv": ["report", *K, "linespread", "--format=csv"],
    "fault-not-merged": ["report", *C, "spread"],
    "fault-merge-none": ["merge"],
    "fault-merge-output": ["merge", "-o", "no-such-folder/x", "profile-v1.nmp"],
    "help-merge": ["merge", "--help"],
    "evictions": ["evictions", *P],
    "evictions-60": ["evictions", *P, "--width=60", "--sort=took"],
    "evictions-others": ["evictions", *P, "--limit=1", "--width=80"],
    "evictions-csv": ["evictions", *P, "--format=csv"],
    "evictions-json": ["evictions", *P, "--format=json", "--limit=1", "--sort=self"],
    "evictions-none": ["evictions", *P, "--process=cc1"],
    "evictions-pair": ["evictions", *P, "--evictor=matrix", "--victim=matrix", "--level=L2"],
    "evictions-victim": ["evictions", *P, "--victim=heap*", "--width=120", "--limit=2"],
    "evictions-evictor-csv": ["evictions", *P, "--evictor=matrix", "--format=csv", "--sort=victim_line"],
    "evictions-no-pair": ["evictions", *P, "--evictor=größe"],
    "evictions-sets": ["evictions", *E, "--sets", "--limit=3"],
    "evictions-sets-pair": ["evictions", *E, "--sets", "--evictor=X", "--victim=Y", "--level=L1d", "--limit=2"],
    "evictions-sets-csv": ["evictions", *E, "--sets", "--victim=Y", "--sort=loads", "--limit=2", "--format=csv"],
    "evictions-sets-none": ["evictions", *E, "--sets", "--level=L2"],
    "query-sets": ["query", *E, "SELECT cache_set, sum(count) FROM events WHERE event = 'replace' AND victim = 'X' "
                   "AND level = 'L1d' GROUP BY 1 LIMIT 3"],
    "fault-eviction-sets": ["evictions", *P, "--sets"],
    "fault-eviction-sets-sort": ["evictions", *E, "--sets", "--sort=set"],
    "diff": ["diff", "profile-v1.nmp", "profile-asm.nmp", "--width=120", "--limit=8"],
    "diff-by": ["diff", "profile-v1.nmp", "profile-asm.nmp", "--by=class,process", "--sort=misses"],
    "diff-same": ["diff", "profile-v1.nmp", "profile-v1.nmp", "--by=object"],
    "diff-three": ["diff", "profile-asm.nmp", "profile-v1.nmp", "profile-asm.nmp", "--limit=4", "--width=130"],
    "diff-csv": ["diff", "profile-v1.nmp", "profile-asm.nmp", "--by=object,level", "--limit=3", "--format=csv"],
    "diff-json": ["diff", "profile-v1.nmp", "profile-asm.nmp", "--by=function", "--limit=2", "--format=json"],
    "diff-markdown": ["diff", "profile-v1.nmp", "profile-asm.nmp", "--limit=3", "--format=markdown"],
    "diff-over": ["diff", "profile-v1.nmp", "profile-asm.nmp", "--by=file", "--limit=1", "--fail-on=misses:5%"],
    "fault-diff-one": ["diff", "profile-v1.nmp"],
    "fault-diff-key": ["diff", "profile-v1.nmp", "profile-asm.nmp", "--by=objekt"],
    "fault-diff-sort": ["diff", "profile-v1.nmp", "profile-asm.nmp", "--sort=line"],
    "fault-diff-budget": ["diff", "profile-v1.nmp", "profile-asm.nmp", "--fail-on=misses:1%%"],
    "fault-diff-metric": ["diff", "profile-v1.nmp", "profile-asm.nmp", "--fail-on=hits:1"],
    "fault-diff-level": ["diff", "profile-v1.nmp", "profile-asm.nmp", "--level=L9"],
    "fault-diff-missing": ["diff", "profile-v1.nmp", "no-such-profile.nmp"],
    "help-diff": ["diff", "--help"],
    "gate": ["gate", *G, *TWO],
    "gate-several": ["gate", "-c", "gate/loose.yaml", "-b", "profile-v1.nmp", "-b", "profile-asm.nmp",
                     "profile-asm.nmp", "profile-v1.nmp"],
    "gate-markdown": ["gate", *G, *TWO, "-f", "markdown", "--name=walk"],
    "gate-github": ["gate", *G, *TWO, "-f", "github"],
    "gate-sarif": ["gate", *G, *TWO, "-f", "sarif", "--root=/"],
    "gate-junit": ["gate", *G, *TWO, "-f", "junit"],
    "gate-gitlab": ["gate", *G, *TWO, "-f", "gitlab"],
    "gate-openmetrics": ["gate", *G, *TWO, "-f", "openmetrics"],
    "gate-bencher": ["gate", *G, *TWO, "-f", "bencher"],
    "gate-benchmark": ["gate", *G, *TWO, "-f", "customSmallerIsBetter"],
    **{f"fault-gate-{name}": ["gate", "-c", f"gate/{name}.yaml", "profile-v1.nmp"]
       for name in ("key", "number", "percent", "two-rules", "shape", "syntax", "empty", "level", "object", "metric",
                    "relative", "missing")},
    "fault-gate-write": ["gate", *G, *TWO, "--write=xml=x"],
    "fault-gate-profile": ["gate", *G, "no-such-profile.nmp"],
    "fault-gate-output": ["gate", *G, *TWO, "--write=sarif=no-such-folder/x"],
    "help-gate": ["gate", "--help"],
    "help-sweep": ["sweep", "--help"],
    **{f"fault-sweep-{name}": ["sweep", f"sweep/{name}.yaml", "-o", "sweep/none/sweep.nmp"]
       for name in ("empty", "key", "list", "machine", "spec", "no-level", "size", "no-size", "policy", "nest", "missing",
                    "syntax")},
    "help-noise": ["noise", "--help"],
    "fault-noise": ["noise", *P],
    "accuracy": ["accuracy", *M],
    "accuracy-80": ["accuracy", "profile-pmu.nmp", "--width=80", "--within=5"],
    "accuracy-pairs": ["accuracy", *M, "--by=pair"],
    "accuracy-csv": ["accuracy", *M, "--by=line", "--format=csv"],
    "accuracy-objects": ["accuracy", *M, "--sampler=miss@100"],
    "accuracy-pair-lines": ["accuracy", *M, "--sampler=miss@10", "--by=pair-line"],
    "accuracy-json": ["accuracy", *M, "--sampler=ibs@100", "--by=line", "--format=json"],
    "help-accuracy": ["accuracy", "--help"],
    "fault-accuracy": ["accuracy", *P],
    "fault-accuracy-sampler": ["accuracy", *M, "--sampler=miss@11"],
    "fault-accuracy-victims": ["accuracy", *M, "--sampler=ibs@100", "--by=pair"],
    "fault-accuracy-within": ["accuracy", *M, "--within=0"],
    "fault-pmu": ["replay", "interference.nmt", "--cache=L1d=512,1,32", "--pmu=hit@10"],
    "fault-pmu-level": ["replay", "interference.nmt", "--cache=L1d=512,1,32", "--pmu=miss@10,level=L2"],
    "fault-pmu-rules": ["replay", "interference.nmt", "--cache=L1d=512,1,32,policy=fifo", "--pmu=miss@10"],
    "fault-relocate": ["replay", "interference.nmt", "--cache=L1d=512,1,32,policy=fifo", "--relocate=3"],
    "fault-relocate-many": ["replay", "interference.nmt", "--relocate=64"],
    "fault-relocate-cores": ["replay", "interference.nmt", "--cache=L1d=512,1,32", "--cores=2", "--relocate=3"],
    "query": ["query", *P, "SELECT process, level, sum(loads) AS loads FROM counts GROUP BY 1, 2 ORDER BY 1, 2"],
    "query-csv": ["query", *P, "--format=csv", "SELECT * FROM evictions WHERE level = 'L2'"],
    "query-json": ["query", *P, "--format=json", "SELECT object, type FROM objects WHERE process = 'solver'"],
    "query-nothing": ["query", *P, "SELECT object FROM objects WHERE bytes < 0"],
    "annotate": ["annotate", *P, *S],
    "annotate-file": ["annotate", *P, *S, "solver.c", "--columns=reads,writes,misses,reuse,wasted_bytes",
                      "--level=L2", "--width=100"],
    "annotate-function": ["annotate", *P, *S, "multiply", "--context=2", "--thread=2"],
    "annotate-object": ["annotate", *P, *S, "--object=gr*", "--context=1", "--threshold=0"],
    "annotate-order": ["annotate", *P, "--sort=references", "--columns=object,references", "--threshold=5"],
    "annotate-method": ["annotate", *P, *S, "push_back", "--process=solver", "--columns=miss_ratio,mpki,class"],
    "annotate-map": ["annotate", *P, "--map=/src/solver=sources/solver", "solver/solver.c", "--context=0",
                     "--color=always", "--columns=share,evictions,writebacks"],
    "annotate-whole": ["annotate", *P, *S, "./solver.c", "--whole", "--process=solver", "--columns=misses"],
    "annotate-other-source": ["annotate", *P, "--map=/src/solver/solver.c=sources/short.c", "solver.c"],
    "annotate-csv": ["annotate", *P, *S, "solver.c", "--context=0", "--format=csv"],
    "annotate-json": ["annotate", *P, *S, "multiply", "push_back", "--context=0", "--format=json"],
    "annotate-asm": ["annotate", *A, *S, "--asm", "--process=walk"],
    "annotate-asm-file": ["annotate", *A, *S, "--asm", "solver.c", "--context=1", "--syntax=intel", "--process=walk",
                          "--columns=reads,reuse,object", "--threshold=0"],
    "annotate-asm-function": ["annotate", *A, "--asm", "at", "main", "--context=0", "--object=gr*"],
    "annotate-asm-thread": ["annotate", *A, "--asm", "--thread=2", "--whole", "--color=always"],
    "annotate-asm-csv": ["annotate", *A, *S, "--asm", "walk", "--context=0", "--format=csv"],
    "annotate-asm-json": ["annotate", *A, "--asm", "at", "--context=0", "--format=json"],
    "fault-annotate-asm": ["annotate", *P, "--asm"],
    "fault-annotate-asm-name": ["annotate", *A, "--asm", "sum_columns"],
    "fault-annotate-name": ["annotate", *P, "no-such-file.c"],
    "fault-annotate-object": ["annotate", *P, "--object=no such object"],
    "fault-annotate-column": ["annotate", *P, "--columns=misses,share,wate"],
    "fault-annotate-sort": ["annotate", *P, "--sort=line"],
    "fault-annotate-threshold": ["annotate", *P, "--threshold=much"],
    "fault-annotate-map": ["annotate", *P, "--map=/src"],
    "fault-annotate-level": ["annotate", *P, "--level=L3"],
    "nest-print": ["nest", "--print", "../../examples/blocked.nest"],
    "nest-print-csv": ["nest", "--print", "../../examples/sparse.nest", "--format=csv"],
    "nest-print-json": ["nest", "--print", "../../examples/interference.nest", "--format=json"],
    "nest-list": ["nest", "../../examples/blocked.nest", "--list=60:66"],
    "nest-list-csv": ["nest", "../../examples/sparse.nest", "--list=76:90", "--format=csv"],
    "fault-nest-list": ["nest", "../../examples/sparse.nest", "--list=90:76"],
    "nest-sweep": ["nest", *N, "--sweep=N=216:256:4"],
    "nest-sweep-references": ["nest", *N, "--sweep=N=224:256:32", "--by=references", "K=2"],
    "nest-sweep-expressions": ["nest", *N, "--sweep=B=N/20:2*(K+10):K+8", "--format=csv", "N=200", "K=2"],
    "fault-nest-sweep-range": ["nest", *N, "--sweep=N=100+:200"],
    "nest-sweep-csv": ["nest", *N, "--sweep=B=10:30:10", "--format=csv"],
    "nest-sweep-json": ["nest", *N, "--sweep=N=224:256:32", "--format=json"],
    "fault-nest-setting": ["nest", *N, "--set=B=30+C"],
    "fault-nest-sweep": ["nest", *N, "--sweep=N=300:200"],
    "fault-sql": ["query", *P, "SELECT object,\n       misses\nFROM counts"],
    "fault-write": ["query", *P, "DELETE FROM entry"],
    "fault-two-statements": ["query", *P, "SELECT 1; SELECT 2"],
    "fault-no-sql": ["query", *P],
    "fault-level": ["report", *P, "--level=L9"],
    "fault-process": ["report", *P, "--process=solve"],
    "fault-thread": ["report", *P, "--thread=3"],
    "fault-column": ["report", *P, "levels", "--sort=mises"],
    "fault-column-list": ["report", *P, "pairs", "--columns=misses,wasted"],
    "fault-key": ["report", *P, "--by=object,fucntion"],
    "fault-key-and-report": ["report", *P, "objects", "--by=line"],
    "fault-object": ["report", *P, "functions", "--object=matrx"],
    "fault-function": ["report", *P, "objects", "--function=push_back"],
    "fault-file": ["report", *P, "lines", "--file=no-such-file.c"],
    "fault-latency": ["report", *P, "--latency=L2=14,memory=fast"],
    "fault-latency-level": ["report", *P, "--latency=L3=40"],
    "fault-levels-object": ["report", *P, "levels", "--object=matrix"],
    "fault-object-part": ["report", "objects", *P, "--object=matrix[3][2:5]"],
    "fault-evictor": ["evictions", *P, "--evictor=matric"],
    "fault-eviction-order": ["evictions", *P, "--sort=count"],
    "fault-eviction-column": ["evictions", *P, "--victim=matrix", "--sort=cuont"],
    "fault-eviction-level": ["evictions", *P, "--level=L3"],
    "fault-eviction-operand": ["evictions", *P, "matrix"],
    "fault-report": ["report", *P, "objets"],
    "fault-two-reports": ["report", *P, "objects", "lines"],
    "fault-option": ["report", *P, "--lvel=L2"],
    "fault-format": ["report", *P, "--format=xml"],
    "fault-missing": ["report", "-i", "no-such-profile.nmp"],
    "fault-other-file": ["report", "-i", "../golden/golden.py"],
    "fault-folder": ["report", "-i", "."],
    "fault-command": ["reprot"],
    "fault-no-command": [],
    "fault-machine": ["machines", "no-such-machine"],
    "help-annotate": ["annotate", "--help"],
    "export-list": ["export", "--list"],
    "export-callgrind": ["export", "callgrind", *P],
    "export-callgrind-asm": ["export", "callgrind", *A, "--event=misses,loads"],
    "export-callgrind-objects": ["export", "callgrind", *P, "--objects", "--process=solver"],
    "export-callgrind-events": ["export", "callgrind", *P, "--level=L1d,L2", "--event=misses,wasted_bytes,loads"],
    "export-csv": ["export", "csv", *P],
    "export-csv-part": ["export", "csv", *P, "--level=L2", "--process=solver", "--thread=2"],
    "export-json": ["export", "json", *P, "--process=cc1"],
    "export-folded": ["export", "folded", *P],
    "export-folded-event": ["export", "folded", *P, "--process=solver", "--level=L2", "--event=wasted_bytes"],
    "export-speedscope": ["export", "speedscope", *P, "--level=L1d,L2"],
    "fault-export-format": ["export", "calgrind", *P],
    "fault-export-no-format": ["export", *P],
    "fault-export-two-formats": ["export", "csv", "json", *P],
    "fault-export-level": ["export", "callgrind", *P, "--level=L1d,L9"],
    "fault-export-event": ["export", "callgrind", *P, "--event=misses,mises"],
    "fault-export-events-of-csv": ["export", "csv", *P, "--event=misses"],
    "fault-export-two-events": ["export", "folded", *P, "--event=misses,loads"],
    "fault-export-two-levels": ["export", "folded", *P, "--level=L1d,L2"],
    "fault-export-objects": ["export", "folded", *P, "--objects"],
    "fault-export-process": ["export", "csv", *P, "--process=solve"],
    "fault-export-thread": ["export", "csv", *P, "--thread=3"],
    "fault-export-separate": ["export", "csv", *P, "--separate"],
    "fault-export-missing": ["export", "csv", "-i", "no-such-profile.nmp"],
    "fault-export-itself": ["export", "csv", *P, "-o", "./profile-v1.nmp"],
    "fault-export-folder": ["export", "csv", *P, "-o", "no-such-folder/x"],
    "monitor": ["monitor", *T],
    "monitor-filters": ["monitor", *T, "--event=miss,replace", "--object=Y", "--function=X(j,i)*"],
    "monitor-range": ["monitor", *T, "--range=0x100000+64", "--level=L1d", "--format=csv"],
    "monitor-lines": ["monitor", *T, "--histogram=line", "--limit=20"],
    "monitor-lines-sorted": ["monitor", *T, "--histogram=line", "--sort=memory", "--limit=3", "--format=csv"],
    "monitor-granules": ["monitor", *T, "--histogram=1024", "--event=load,replace", "--sort=total"],
    "monitor-sets": ["monitor", *T, "--histogram=set"],
    "monitor-sets-l2": ["monitor", *T, "--histogram=set", "--level=L2", "--event=load", "--limit=2", "--format=json"],
    "monitor-sequence": ["monitor", *T, "--sequence=0x100200"],
    "monitor-sequence-csv": ["monitor", *T, "--sequence=0x100208", "--level=L1d", "--limit=1", "--format=csv"],
    "monitor-nth": ["monitor", *T, "--event=replace", "--range=0x100200+32", "--nth=2"],
    "monitor-nth-none": ["monitor", *T, "--event=replace", "--level=L2", "--nth=1"],
    "fault-monitor-event": ["monitor", *T, "--event=miss,hits"],
    "fault-monitor-level": ["monitor", *T, "--level=L3"],
    "fault-monitor-range": ["monitor", *T, "--range=0x100-0x100"],
    "fault-monitor-object": ["monitor", *T, "--object=Z"],
    "fault-monitor-function": ["monitor", *T, "--function=main"],
    "fault-monitor-modes": ["monitor", *T, "--histogram=set", "--nth=3"],
    "fault-monitor-nth": ["monitor", *T, "--nth=0"],
    "monitor-nth-object": ["monitor", *T, "--nth=3", "--object=X", "--event=replace", "--set=1"],
    "monitor-nth-none-named": ["monitor", *T, "--nth=100000", "--object=X", "--function=*X*"],
    "monitor-log": ["monitor", *T, "--log", "--nth=7", "--limit=4"],
    "monitor-log-csv": ["monitor", *T, "--log", "--object=Y", "--event=load,replace", "--limit=3", "--format=csv"],
    "monitor-log-json": ["monitor", *T, "--log", "--level=L2", "--limit=2", "--format=json"],
    "fault-monitor-set": ["monitor", *T, "--set=16", "--log"],
    "fault-monitor-log-profile": ["monitor", *T, "--log", "--profile=x.nmp"],
    "fault-monitor-sequence": ["monitor", *T, "--sequence=here"],
    "fault-monitor-sequence-event": ["monitor", *T, "--sequence=0x100200", "--event=load"],
    "fault-monitor-histogram": ["monitor", *T, "--histogram=48"],
    "fault-monitor-sort": ["monitor", *T, "--histogram=line", "--sort=misses"],
    "fault-monitor-sort-alone": ["monitor", *T, "--sort=miss"],
    "fault-monitor-machines": ["monitor", *T, "--cache=L1d=1K,1,32"],
    "monitor-handed-on": ["monitor", *T[:2], "--cache=L1d=512,1,32,write=through,allocate=no:L2=4K,4,32", "--object=X"],
    "monitor-invalidate": ["monitor", *T[:2], "--cache=L1d=512,4,32:L2=1K,1,32,inclusion=inclusive"],
    "monitor-invalidate-nth": ["monitor", *T[:2], "--cache=L1d=512,4,32:L2=1K,1,32,inclusion=inclusive",
                               "--event=invalidate", "--nth=2"],
    "fault-monitor-profile": ["monitor", *T, "--nth=2", "--profile=x.nmp"],
    "fault-monitor-both": ["monitor", *T, "./program"],
    "fault-monitor-none": ["monitor"],
    "fault-monitor-missing": ["monitor", "-i", "no-such-trace.nmt"],
    "fault-monitor-output": ["monitor", *T, "-o", "no-such-folder/x"],
    "help-record": ["record", "--help"],
    "help-monitor": ["monitor", "--help"],
    "help-nest": ["nest", "--help"],
    "help-report": ["report", "--help"],
    "help-export": ["export", "--help"],
    "help-evictions": ["evictions", "--help"],
    "help-query": ["help", "query"],
}


def outcome(nearmiss, arguments):
    environment = {"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"], "COLUMNS": "1000"}
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
        if name in os.environ:
            environment[name] = os.environ[name]
    done = subprocess.run([nearmiss, *arguments], cwd=HERE.parent / "data", env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, check=False)
    text = f"$ nearmiss {shlex.join(arguments)}\n" + done.stdout.decode()
    if done.stderr:
        text += "--- standard error\n" + done.stderr.decode()
    text += f"--- status {done.returncode}\n"
    return re.sub(r'("version":"|creator: nearmiss-|"nearmiss@)[0-9.]+', r"\1VERSION", text)


def main():
    nearmiss, update = os.path.abspath(sys.argv[1]), "--update" in sys.argv[2:]
    failed = 0
    for name, arguments in CASES.items():
        path = HERE / f"{name}.txt"
        got = outcome(nearmiss, arguments)
        if update:
            path.write_text(got, encoding="utf-8")
            continue
        expected = path.read_text(encoding="utf-8") if path.exists() else ""
        if got != expected:
            failed += 1
            sys.stdout.writelines(difflib.unified_diff(expected.splitlines(True), got.splitlines(True),
                                                       str(path), "now"))
    stray = {path.stem for path in HERE.glob("*.txt")} - CASES.keys()
    if stray:
        print("no case for", ", ".join(sorted(stray)))
    print(f"{len(CASES)} cases, {failed} differ")
    return bool(failed or stray)


sys.exit(main())
