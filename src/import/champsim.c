/* SPDX-License-Identifier: MIT
 *
 * champsim.c - ChampSim's instruction traces: records of 64 bytes, little-endian, mostly packed by xz or
 * gzip.
 *
 *     0   8 bytes  address of the instruction
 *     8   1        1: a branch
 *     9   1        1: it was taken
 *     10  2, 4     registers written, read
 *     16  2 × 8    addresses written, 0: none
 *     32  4 × 8    addresses read, 0: none
 *
 * Sizes are not recorded: accesses have 8 bytes, or less up to the next multiple of 8; instructions 4. The
 * format has no signature; it is recognised by plausible fields.
 */
#include <string.h>

#include "importer.h"

enum { RECORD = 64, WRITES = 2, READS = 4, WRITES_AT = 16, READS_AT = 32, SIZE = 8, LENGTH = 4, ENOUGH = 16 };

static uint64_t word(const uint8_t *at)
{
	uint64_t n;

	memcpy(&n, at, sizeof n);
	return n;
}

static const char *fault_of(const uint8_t *r)
{
	if (!word(r) || word(r) >> 48)
		return "the instruction's address is out of range";
	if (r[8] > 1 || r[9] > 1)
		return "the branch flags are neither 0 nor 1";
	for (unsigned i = 0; i < WRITES + READS; i++)
		if (word(r + WRITES_AT + 8 * i) >> 48)
			return "an address is out of range";
	return NULL;
}

/* At least some records, all of them plausible. */
static int probe(const uint8_t *bytes, size_t count)
{
	size_t n = count / RECORD;

	if (!n || (n < ENOUGH && count % RECORD))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (fault_of(bytes + i * RECORD))
			return 0;
	return 40;
}

static int fail(const struct nm_import *import, struct nm_error *err, const char *what)
{
	return nm_fail(err, NM_EFORMAT, "record at byte %llu: %s",
		       (unsigned long long)nm_input_offset(import->input), what);
}

static int accesses(struct nm_import *import, const uint8_t *at, unsigned count, unsigned flags,
		    struct nm_error *err)
{
	int status = 1;

	for (unsigned i = 0; i < count && status > 0; i++) {
		uint64_t address = word(at + 8 * i);

		if (address)
			status =
			    nm_import_reference(import, address, nm_import_size(address, SIZE), flags, err);
	}
	return status;
}

static int read_record(struct nm_import *import, struct nm_error *err)
{
	const uint8_t *r;
	const char *fault;
	int status = nm_input_bytes(import->input, RECORD, &r, err);

	if (status <= 0)
		return status;
	fault = fault_of(r);
	if (fault)
		return fail(import, err, fault);
	status = nm_import_instruction(import, word(r), LENGTH, err);
	if (status > 0)
		status = accesses(import, r + READS_AT, READS, NM_WIRE_READ, err);
	if (status > 0)
		status = accesses(import, r + WRITES_AT, WRITES, NM_WIRE_WRITE, err);
	return status;
}

const struct nm_importer nm_import_champsim = {
    .name = "champsim", .summary = "ChampSim: records of 64 bytes", .probe = probe, .read = read_record};
