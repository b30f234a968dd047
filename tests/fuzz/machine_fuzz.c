/* SPDX-License-Identifier: MIT
 *
 * machine_fuzz.c - libFuzzer over the reader of machine descriptions.
 *
 * The input is the text of a file up to its first NUL, which the command refuses.
 *
 *     build-fuzz/tests/fuzz/machine_fuzz -dict=tests/fuzz/spec_fuzz.dict CORPUS
 *     tests/fuzz/corpus/machine_fuzz
 */
#include "machine_expect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	struct nm_machine machine;
	struct nm_error err;
	int code;

	demand(text != NULL);
	code = nm_machine_read(text, "fuzz.machine", &machine, &err);
	if (code)
		expect_fault(code, &err);
	else
		expect_machine(&machine);
	free(text);
	return 0;
}
