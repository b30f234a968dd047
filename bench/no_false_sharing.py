#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""no_false_sharing.py - threaded programs that share read-only data and locks: the largest false sharing of any object, as a
share of all misses of the first level. It should stay below 1 %. Programs with instructions that Valgrind does not know are
left out.

    bench/no_false_sharing.py [--only NAME,...]        a table in Markdown; programs that are not installed are left out

Inputs are made here. The Debian packages of the programs are those of the same names, and fd-find, p7zip-full, ripgrep.
"""

import argparse
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
NEARMISS = os.path.join(HERE, "../build/src/cli/nearmiss")
ILLEGAL = 128 + signal.SIGILL  # status of a program with an instruction that Valgrind does not know
MACHINE = ["--cores", "4", "-c", "L1d=32K,8,64:L2=1M,16,64"]


def prepare(*command, **options):
    """Makes an input with a program, if it is installed."""
    if shutil.which(command[0]):
        subprocess.run(command, check=False, stdout=options.get("stdout", subprocess.DEVNULL), stderr=subprocess.DEVNULL)


def make_texts():
    rng = random.Random(1)
    with open("text", "w", encoding="ascii") as file:
        for _ in range(20000):
            file.write("%08d %s\n" % (rng.randrange(10**8), "".join(rng.choices("abcdefgh", k=20))))
    os.mkdir("tree")
    for i in range(16):
        shutil.copy("text", f"tree/{i}")
        os.makedirs(f"folders/{i}/{i}")


def make_repository():
    prepare("git", "init", "-q", "repository")
    for i in range(60):
        with open(f"repository/{i}", "w", encoding="ascii") as file:
            file.writelines(f"line {n} of {n * i % 97}\n" for n in range(400))
    prepare("git", "-C", "repository", "add", ".")
    prepare("git", "-C", "repository", "-c", "user.name=n", "-c", "user.email=n", "commit", "-qm", "files")


def make_genome():
    """A random genome and reads of it; what the aligners index."""
    rng = random.Random(2)
    genome = "".join(rng.choices("ACGT", k=60000))
    with open("genome.fa", "w", encoding="ascii") as file:
        file.write(">genome\n" + "\n".join(genome[i:i + 60] for i in range(0, len(genome), 60)) + "\n")
    with open("reads.fq", "w", encoding="ascii") as file, open("reads.fa", "w", encoding="ascii") as fasta:
        for i in range(400):
            at = rng.randrange(len(genome) - 120)
            read = "".join(rng.choice("ACGT") if rng.random() < 0.02 else base for base in genome[at:at + 120])
            file.write(f"@read{i}\n{read}\n+\n{'I' * 120}\n")
            fasta.write(f">read{i}\n{read}\n")
    prepare("bwa", "index", "genome.fa")
    prepare("bowtie2-build", "-q", "genome.fa", "genome")
    with open("reads.sam", "wb") as file:
        prepare("bwa", "mem", "genome.fa", "reads.fq", stdout=file)


def make_proteins():
    """Proteins that descend from one, and the profile of some of them."""
    rng = random.Random(3)
    letters, first = "ACDEFGHIKLMNPQRSTVWY", "".join(rng.choices("ACDEFGHIKLMNPQRSTVWY", k=150))
    with open("proteins.fa", "w", encoding="ascii") as file, open("few.fa", "w", encoding="ascii") as few:
        for i in range(300):
            protein = "".join(rng.choice(letters) if rng.random() < 0.3 else a for a in first)
            file.write(f">p{i}\n{protein}\n")
            if i < 20:
                few.write(f">p{i}\n{protein}\n")
    prepare("hmmbuild", "--informat", "afa", "few.hmm", "few.fa")


def make_pictures():
    rng = random.Random(4)
    with open("film.yuv", "wb") as file:
        file.write(b"".join(bytes((x + 3 * i) * (y + i) % 251 for y in range(216) for x in range(176)) for i in range(6)))
    with open("picture.ppm", "wb") as file:
        file.write(b"P6 160 120 255\n" + bytes(rng.randrange(256) for _ in range(160 * 120 * 3)))
    with open("scene.pov", "w", encoding="ascii") as file:
        file.write("camera{location <0,2,-6> look_at 0} light_source{<5,9,-9> rgb 1} plane{y,-1 pigment{checker rgb 0 rgb 1}}\n"
                   "sphere{0,1 pigment{rgb <1,.4,.2>} finish{reflection .4}}\n")


def make_formula():
    """A random formula of three literals in each clause."""
    rng = random.Random(5)
    with open("formula.cnf", "w", encoding="ascii") as file:
        file.write("p cnf 120 504\n")
        for _ in range(504):
            file.write(" ".join(str(rng.choice((-1, 1)) * v) for v in rng.sample(range(1, 121), 3)) + " 0\n")


def programs():
    for make in (make_texts, make_repository, make_genome, make_proteins, make_pictures, make_formula):
        make()
    subprocess.run(["gcc", "-O2", "-g", "-fopenmp", os.path.join(HERE, "programs/team.c"), "-o", "team"], check=True)
    subprocess.run(["gcc", "-O2", "-g", "-pthread", "-DPADDED", os.path.join(HERE, "../examples/sharing.c"), "-o", "padded"],
                   check=True)
    return {
        "pigz -p4": ["pigz", "-p4", "-1", "-kc", "text"],
        "pbzip2 -p4": ["pbzip2", "-p4", "-1", "-kc", "text"],
        "lbzip2 -n4": ["lbzip2", "-n4", "-1", "-kc", "text"],
        "xz -T4": ["xz", "-T4", "-1", "--block-size=150000", "-kc", "text"],
        "pixz -p4": ["pixz", "-p", "4", "-1", "-i", "text", "-o", "out"],
        "plzip -n4": ["plzip", "-n4", "-1", "-B64KiB", "-kc", "text"],
        "zstd -T4": ["zstd", "-T4", "-1", "-B512K", "-qc", "text"],
        "lrzip -p4": ["lrzip", "-q", "-p4", "-f", "-o", "out2", "text"],
        "7z -mmt4": ["7z", "a", "-mmt4", "-mx1", "out.7z", "text"],
        "zpaq -t4": ["zpaq", "a", "out.zpaq", "tree/0", "tree/1", "-m1", "-t4"],
        "sort --parallel=4": ["sort", "--parallel=4", "-S4M", "text"],
        "rg -j4": ["rg", "-j4", "needle", "tree"],
        "fd -j4": ["fdfind", "-j4", "x", "folders"],
        "git pack-objects": ["git", "-C", "repository", "pack-objects", "--all", "--threads=4", "--no-reuse-delta", "--stdout"],
        "bwa mem -t4": ["bwa", "mem", "-t4", "genome.fa", "reads.fq"],
        "bowtie2 -p4": ["bowtie2-align-s", "-p4", "-x", "genome", "-U", "reads.fq"],
        "minimap2 -t4": ["minimap2", "-t4", "-x", "sr", "genome.fa", "reads.fq"],
        "samtools sort -@4": ["samtools", "sort", "-@4", "-o", "out.bam", "reads.sam"],
        "vsearch --threads 4": ["vsearch", "--threads", "4", "--usearch_global", "reads.fa", "--db", "genome.fa", "--id", "0.9",
                                "--strand", "both", "--blast6out", "out.b6"],
        "hmmsearch --cpu 4": ["hmmsearch", "--cpu", "4", "few.hmm", "proteins.fa"],
        "x264 --threads 4": ["x264", "--threads", "4", "--preset", "ultrafast", "--input-res", "176x144", "-o", "out.264",
                             "film.yuv"],
        "gm convert (OpenMP)": ["gm", "convert", "-limit", "threads", "4", "picture.ppm", "-blur", "3x2", "out.ppm"],
        "povray +WT4": ["povray", "-D", "+WT4", "+W80", "+H60", "+BS8", "+Iscene.pov", "+Oout.png"],
        "sysbench cpu": ["sysbench", "cpu", "--threads=4", "--events=60", "--cpu-max-prime=2000", "--time=0", "run"],
        "clasp -t4": ["clasp", "-t4", "formula.cnf"],
        "stencil (OpenMP)": ["./team", "stencil"],
        "sharing, padded": ["./padded"],
    }


def worst(command):
    """All misses, and the object with most false sharing; None if Valgrind cannot run the program."""
    done = subprocess.run([NEARMISS, "record", "-q", "-o", "p.nmp", *MACHINE, "--", *command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    if done.returncode == ILLEGAL:
        return None
    if done.returncode >= 120:
        raise SystemExit(f"{' '.join(command)}: status {done.returncode}")
    with sqlite3.connect("p.nmp") as db:
        misses = db.execute("SELECT sum(read_misses + write_misses) FROM levels WHERE level = 'L1d'").fetchone()[0]
        found = db.execute("SELECT object, sum(false_sharing) FROM coherence WHERE level = 'L1d' GROUP BY object "
                           "ORDER BY 2 DESC").fetchone()
    return misses, found or ("-", 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    only = parser.parse_args().only
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        print("| program | L1d misses | most false sharing, of object | misses | share |\n|---|---|---|---|---|")
        for name, command in programs().items():
            if shutil.which(command[0]) and (not only or name in only.split(",")):
                found = worst(command)
                if not found:
                    print(f"left out: {name}, which Valgrind cannot run (status {ILLEGAL})", file=sys.stderr)
                    continue
                misses, (thing, false) = found
                print(f"| {name} | {misses:,} | {thing} | {false:,} | {100 * false / misses:.3f} % |", flush=True)


if __name__ == "__main__":
    main()
