/* SPDX-License-Identifier: MIT */
#include "heap_shim.h"

#include <assert.h>
#include <elf.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heap_log.h"

/* An ELF file without an interpreter loads no libraries. */
static int is_static(const char *program)
{
	FILE *in = fopen(program, "re");
	Elf64_Ehdr head;
	Elf64_Phdr part;
	int is_elf = in && fread(&head, sizeof head, 1, in) == 1 && !memcmp(head.e_ident, ELFMAG, SELFMAG) &&
		     head.e_ident[EI_CLASS] == ELFCLASS64 && !fseek(in, (long)head.e_phoff, SEEK_SET);

	for (unsigned i = 0; is_elf && i < head.e_phnum; i++)
		if (fread(&part, sizeof part, 1, in) != 1 || part.p_type == PT_INTERP)
			is_elf = 0;
	if (in)
		fclose(in);
	return is_elf;
}

const char *nm_heap_shim_find(const char *program, char *ret_path, size_t room)
{
	static const char *const beside[] = {"%s/../collect/heap/nearmiss-heap.so",
					     "%s/../libexec/nearmiss/nearmiss-heap.so"};
	char self[4096], candidate[4200], real[4096];
	const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	assert(room > 0);
	if (is_static(program))
		return "the program is static";
	self[n < 0 ? 0 : n] = '\0';
	dirname(self);
	for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
		snprintf(candidate, sizeof candidate, beside[i], self);
		if (access(candidate, R_OK) || !realpath(candidate, real))
			continue;
		if (strpbrk(real, " :") || strlen(real) >= room)
			return "the path of nearmiss-heap.so has blanks or colons";
		strcpy(ret_path, real);
		return NULL;
	}
	return "nearmiss-heap.so is not installed";
}

void nm_heap_shim_set(const char *path, int parent, int log)
{
	const char *before = getenv("LD_PRELOAD");
	char file[64], *list;

	snprintf(file, sizeof file, "/proc/%d/fd/%d", parent, log);
	if (asprintf(&list, "%s%s%s", path, before && *before ? ":" : "", before ? before : "") < 0)
		return;
	setenv("LD_PRELOAD", list, 1);
	setenv(NM_HEAP_LOG_VARIABLE, file, 1);
	free(list);
}
