/* SPDX-License-Identifier: MIT */
#include "program_check.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SCRIPT_DEPTH = 4 }; /* scripts that interpret scripts: the kernel's limit */

/* Where Valgrind loads a position-independent program, and where it lies itself (its coregrind/m_ume and
 * link_tool_exe). */
static const uint64_t LOADED_AT = 0x108000, VALGRIND_AT = 0x58000000;

static int check_file(const char *path, int depth, struct nm_error *err);

static int read_at(int fd, void *to, size_t bytes, off_t at)
{
	return pread(fd, to, bytes, at) == (ssize_t)bytes;
}

static int fail_interpreter(const char *path, const char *interpreter, struct nm_error *err)
{
	return nm_fail(err, NM_ENOENT, "'%s' needs the interpreter %s, which is not there", path,
		       interpreter);
}

/* "#! interpreter [argument]" */
static int check_script(const char *path, const char *head, int depth, struct nm_error *err)
{
	char interpreter[256];
	const char *start = head + 2 + strspn(head + 2, " \t");

	snprintf(interpreter, sizeof interpreter, "%.*s", (int)strcspn(start, " \t\n"), start);
	if (access(interpreter, F_OK))
		return fail_interpreter(path, interpreter, err);
	return depth < SCRIPT_DEPTH ? check_file(interpreter, depth + 1, err) : 0;
}

/* Code and static data must end below Valgrind's own, if they begin there. */
static int check_extent(const char *path, int fd, const Elf64_Ehdr *elf, struct nm_error *err)
{
	const uint64_t base = elf->e_type == ET_DYN ? LOADED_AT : 0;
	uint64_t bytes = 0, low = UINT64_MAX, high = 0;
	Elf64_Phdr segment;

	for (unsigned i = 0; i < elf->e_phnum; i++) {
		if (!read_at(fd, &segment, sizeof segment, (off_t)(elf->e_phoff + i * sizeof segment)))
			return 0;
		if (segment.p_type != PT_LOAD)
			continue;
		bytes += segment.p_memsz;
		low = base + segment.p_vaddr < low ? base + segment.p_vaddr : low;
		high = base + segment.p_vaddr + segment.p_memsz > high
			   ? base + segment.p_vaddr + segment.p_memsz
			   : high;
	}
	if (low >= VALGRIND_AT || high <= VALGRIND_AT)
		return 0;
	return nm_fail(
	    err, NM_EACCES,
	    "'%s' has %.1f GB of code and static data, and Valgrind has room for 1.4 GB: allocate the large "
	    "arrays when the program runs (malloc or mmap)",
	    path, (double)bytes / (1 << 30));
}

/* The dynamic linker that a PT_INTERP segment names. */
static int check_linker(const char *path, int fd, const Elf64_Ehdr *elf, struct nm_error *err)
{
	char linker[PATH_MAX];
	Elf64_Phdr segment;

	for (unsigned i = 0; i < elf->e_phnum; i++) {
		if (!read_at(fd, &segment, sizeof segment, (off_t)(elf->e_phoff + i * sizeof segment)))
			return 0;
		if (segment.p_type != PT_INTERP || !segment.p_filesz || segment.p_filesz > sizeof linker ||
		    !read_at(fd, linker, segment.p_filesz, (off_t)segment.p_offset))
			continue;
		linker[segment.p_filesz - 1] = '\0';
		return access(linker, F_OK) ? fail_interpreter(path, linker, err) : 0;
	}
	return 0;
}

static int check_elf(const char *path, int fd, struct nm_error *err)
{
	Elf64_Ehdr elf;
	int status;

	if (!read_at(fd, &elf, sizeof elf, 0))
		return 0;
	if (elf.e_ident[EI_CLASS] == ELFCLASS32)
		return nm_fail(err, NM_EACCES,
			       "'%s' is a 32-bit program; nearmiss records 64-bit programs only", path);
	if (elf.e_machine != EM_X86_64)
		return nm_fail(err, NM_EACCES, "'%s' is a program for another processor", path);
	status = check_extent(path, fd, &elf, err);
	return status ? status : check_linker(path, fd, &elf, err);
}

static int check_file(const char *path, int depth, struct nm_error *err)
{
	char head[256] = "";
	struct stat st;
	int status = 0, fd = open(path, O_RDONLY | O_CLOEXEC);

	if (!stat(path, &st) && (st.st_mode & (S_ISUID | S_ISGID)))
		status = nm_fail(err, NM_EACCES,
				 "'%s' is a set-user-id program: Valgrind cannot run it with its privileges",
				 path);
	if (!status && fd >= 0 && pread(fd, head, sizeof head - 1, 0) > 4) {
		if (!memcmp(head, ELFMAG, SELFMAG))
			status = check_elf(path, fd, err);
		else if (!memcmp(head, "#!", 2))
			status = check_script(path, head, depth, err);
	}
	if (fd >= 0)
		close(fd);
	return status;
}

int nm_program_check(const char *path, struct nm_error *err) { return check_file(path, 0, err); }
