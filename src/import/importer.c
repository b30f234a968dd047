/* SPDX-License-Identifier: MIT
 *
 * importer.c - what importers share: numbers, faults, and what the wire can carry.
 */
#include "importer.h"

#include <string.h>

int nm_import_fail(const struct nm_import *import, struct nm_error *err, const char *what)
{
	return nm_fail(err, NM_EFORMAT, "line %llu: %s",
		       (unsigned long long)nm_input_line_number(import->input), what);
}

void nm_import_blanks(const char **at) { *at += strspn(*at, " \t"); }

static int number(const char **at, unsigned base, uint64_t *ret_number)
{
	const char *s = *at;
	uint64_t n = 0;

	for (;; s++) {
		unsigned digit = *s >= '0' && *s <= '9'   ? (unsigned)(*s - '0')
				 : *s >= 'a' && *s <= 'f' ? (unsigned)(*s - 'a' + 10)
				 : *s >= 'A' && *s <= 'F' ? (unsigned)(*s - 'A' + 10)
							  : 16;

		if (digit >= base)
			break;
		if (n > (UINT64_MAX - digit) / base)
			return 0;
		n = n * base + digit;
	}
	if (s == *at)
		return 0;
	*at = s;
	*ret_number = n;
	return 1;
}

int nm_import_hex(const char **at, uint64_t *ret_number)
{
	const char *s = *at;

	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		s += 2;
	if (!number(&s, 16, ret_number))
		return 0;
	*at = s;
	return 1;
}

int nm_import_decimal(const char **at, uint64_t *ret_number) { return number(at, 10, ret_number); }

void nm_import_count_lines(const uint8_t *bytes, size_t count, nm_line_check *is_line, unsigned *ret_yes,
			   unsigned *ret_no)
{
	char line[512];
	const uint8_t *end;

	*ret_yes = *ret_no = 0;
	for (size_t at = 0; at < count; at = (size_t)(end - bytes) + 1) {
		size_t n;

		end = memchr(bytes + at, '\n', count - at);
		if (!end && at) /* cut by the end of what we see */
			return;
		end = end ? end : bytes + count;
		n = (size_t)(end - bytes) - at;
		n = n < sizeof line ? n : sizeof line - 1;
		memcpy(line, bytes + at, n);
		line[n] = '\0';
		line[strcspn(line, "\r")] = '\0';
		if (line[0] && is_line(line))
			++*ret_yes;
		else if (line[0])
			++*ret_no;
	}
}

int nm_import_instruction(struct nm_import *import, uint64_t pc, uint64_t bytes, struct nm_error *err)
{
	if (pc >> 48)
		return nm_import_fail(import, err, "the address of the instruction is out of range");
	if (!bytes || bytes > UINT8_MAX)
		return nm_import_fail(import, err, "the length of the instruction must be 1 to 255");
	return nm_builder_instruction(&import->builder, pc, (unsigned)bytes) ? nm_fail_memory(err) : 1;
}

int nm_import_check(const struct nm_import *import, uint64_t address, uint64_t size, struct nm_error *err)
{
	if (address >> 63 || address + size > 1ull << 63)
		return nm_import_fail(import, err, "the address is out of range");
	if (!size || size > UINT16_MAX)
		return nm_import_fail(import, err, "the size must be 1 to 65535");
	return 0;
}

int nm_import_reference(struct nm_import *import, uint64_t address, uint64_t size, unsigned flags,
			struct nm_error *err)
{
	int status = nm_import_check(import, address, size, err);

	if (status)
		return status;
	return nm_builder_access(&import->builder, address, (unsigned)size, flags) ? nm_fail_memory(err) : 1;
}
