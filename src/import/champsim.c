/* SPDX-License-Identifier: MIT
 *
 * champsim.c - ChampSim's instruction traces: records of 64 bytes, or of 96 as `champsim --cloudsuite` reads them,
 * little-endian, mostly packed by xz or gzip.
 *
 *     at 0, 0     8 bytes       address of the instruction
 *        8, 8     1             1: a branch
 *        9, 9     1             1: it was taken
 *        10, 10   2, 4; 4, 4    registers written, read
 *        16, 24   2 × 8, 4 × 8  addresses written, 0: none
 *        32, 56   4 × 8, 4 × 8  addresses read, 0: none
 *        -, 88    2             address spaces
 *
 * Sizes are not recorded: accesses have 8 bytes, or less up to the next multiple of 8; instructions 4. The
 * formats have no signature; they are recognised by plausible fields.
 */
#include <string.h>

#include "importer.h"

enum { SIZE = 8, LENGTH = 4, ENOUGH = 16 };

struct shape {
	unsigned record, writes, reads, writes_at, reads_at, end; /* behind `end` the record is padded */
};

static const struct shape champsim = {64, 2, 4, 16, 32, 64}, cloudsuite = {96, 4, 4, 24, 56, 90};

static uint64_t word_at(const uint8_t *at)
{
	uint64_t n;

	memcpy(&n, at, sizeof n);
	return n;
}

/* Of the user's or the kernel's half. */
static int is_address(uint64_t address) { return address >> 48 == 0 || address >> 47 == UINT64_MAX >> 47; }

static const char *fault_of(const struct shape *shape, const uint8_t *r)
{
	if (!word_at(r) || !is_address(word_at(r)))
		return "the instruction's address is out of range";
	if (r[8] > 1 || r[9] > 1)
		return "the branch flags are neither 0 nor 1";
	for (unsigned i = 0; i < shape->writes; i++)
		if (!is_address(word_at(r + shape->writes_at + 8 * i)))
			return "an address is out of range";
	for (unsigned i = 0; i < shape->reads; i++)
		if (!is_address(word_at(r + shape->reads_at + 8 * i)))
			return "an address is out of range";
	for (unsigned i = shape->end; i < shape->record; i++)
		if (r[i])
			return "its padding is not zero";
	return NULL;
}

/* At least some records, all of them plausible. */
static int is_plausible(const struct shape *shape, const uint8_t *bytes, size_t count)
{
	size_t n = count / shape->record;

	if (!n || (n < ENOUGH && count % shape->record))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (fault_of(shape, bytes + i * shape->record))
			return 0;
	return 1;
}

static int probe_champsim(const uint8_t *bytes, size_t count)
{
	return is_plausible(&champsim, bytes, count) ? 40 : 0;
}

static int probe_cloudsuite(const uint8_t *bytes, size_t count)
{
	return is_plausible(&cloudsuite, bytes, count) ? 30 : 0;
}

static int fail_record(const struct nm_import *import, struct nm_error *err, const char *what)
{
	return nm_fail(err, NM_EFORMAT, "record at byte %llu: %s",
		       (unsigned long long)input_offset(import->input), what);
}

static int import_accesses(struct nm_import *import, const uint8_t *at, unsigned count, unsigned flags,
			   struct nm_error *err)
{
	int status = 1;

	for (unsigned i = 0; i < count && status > 0; i++) {
		uint64_t address = word_at(at + 8 * i);

		if (address)
			status = import_reference(import, address, import_size(address, SIZE), flags, err);
	}
	return status;
}

static int read_shape(struct nm_import *import, const struct shape *shape, struct nm_error *err)
{
	const uint8_t *r;
	const char *fault;
	int status = input_bytes(import->input, shape->record, &r, err);

	if (status <= 0)
		return status;
	fault = fault_of(shape, r);
	if (fault)
		return fail_record(import, err, fault);
	status = import_instruction(import, word_at(r), LENGTH, err);
	if (status > 0)
		status = import_accesses(import, r + shape->reads_at, shape->reads, NM_WIRE_READ, err);
	if (status > 0)
		status = import_accesses(import, r + shape->writes_at, shape->writes, NM_WIRE_WRITE, err);
	return status;
}

static int read_champsim(struct nm_import *import, struct nm_error *err)
{
	return read_shape(import, &champsim, err);
}

static int read_cloudsuite(struct nm_import *import, struct nm_error *err)
{
	return read_shape(import, &cloudsuite, err);
}

const struct nm_importer nm_import_champsim = {.name = "champsim",
					       .summary = "ChampSim: records of 64 bytes",
					       .probe = probe_champsim,
					       .read = read_champsim};

const struct nm_importer nm_import_cloudsuite = {.name = "cloudsuite",
						 .summary = "ChampSim --cloudsuite: records of 96 bytes",
						 .probe = probe_cloudsuite,
						 .read = read_cloudsuite};
