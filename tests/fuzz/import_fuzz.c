/* SPDX-License-Identifier: MIT
 *
 * import_fuzz.c - libFuzzer over the importers, each by its name and by probing.
 *
 * The first byte chooses the format, or, for all inputs, the option --format=NAME, which libFuzzer passes
 * over. Whatever is imported has to be a well-formed stream.
 *
 *     build-fuzz/tests/fuzz/import_fuzz CORPUS tests/fuzz/corpus/import_fuzz
 *     build-fuzz/tests/fuzz/import_fuzz --format=csv CORPUS tests/data/import
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "import.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *only;

static void demand(int holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	for (int i = 1; i < *argc; i++)
		if (!strncmp((*argv)[i], "--format=", 9))
			only = (*argv)[i] + 9;
	return 0;
}

static const char *format_of(uint8_t byte)
{
	const char *summary;

	for (size_t i = 0; nm_import_format_at(i, &summary); i++)
		if (byte == '1' + i)
			return nm_import_format_at(i, &summary);
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nm_import_options options = {.kernel = size % 2};
	const char *format = only ? only : size ? format_of(data[0]) : NULL;
	size_t skip = format && !only ? 1 : 0, count;
	struct nm_wire_check *check;
	struct nm_import *import;
	const uint64_t *words;
	struct nm_error err;
	char path[64];
	int status, fd = memfd_create("import", MFD_CLOEXEC);

	options.format = format;
	demand(fd >= 0 && write(fd, data + skip, size - skip) == (ssize_t)(size - skip));
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (!nm_import_open(&import, path, &options, &err)) {
		demand(!wire_check_new(&check, &err));
		while ((status = nm_import_next(import, &words, &count, &err)) > 0)
			demand(!wire_check_feed(check, words, count, &err));
		if (!status)
			demand(!wire_check_finish(check, 1, &err));
		wire_check_free(check);
		nm_import_free(import);
	}
	close(fd);
	return 0;
}
