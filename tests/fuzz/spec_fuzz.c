/* SPDX-License-Identifier: MIT
 *
 * spec_fuzz.c - libFuzzer over the reader of a SPEC.
 *
 * The input is the text up to its first NUL. What is accepted must be possible and be written as a SPEC that
 * is read as the same; a fault must lie within the text.
 *
 *     build-fuzz/tests/fuzz/spec_fuzz -dict=tests/fuzz/spec_fuzz.dict CORPUS tests/fuzz/corpus/spec_fuzz
 */
#include "machine_expect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *spec = strndup((const char *)data, size);
	struct nm_machine machine;
	struct nm_error err;
	int code;

	demand(spec != NULL);
	code = nm_machine_parse(spec, &machine, &err);
	if (code)
		expect_fault(code, &err);
	else
		expect_machine(&machine);
	free(spec);
	return 0;
}
