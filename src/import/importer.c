/* SPDX-License-Identifier: MIT
 *
 * importer.c - what importers share: numbers, lines that are passed over, and what the wire can carry.
 *
 * The kernel has the upper half of the addresses, which the wire does not carry. If it is taken, its code keeps the
 * lower 48 bits of its addresses and its data the lower 63: no program has those, and the cache sets stay.
 */
#include "importer.h"

#include <stdio.h>
#include <string.h>

int import_fail(const struct nm_import *import, struct nm_error *err, const char *what)
{
	return nm_fail(err, NM_EFORMAT, "line %llu: %s", (unsigned long long)input_line_number(import->input),
		       what);
}

int import_pass_over(struct nm_import *import, const char *why)
{
	struct nm_import_passed *p = &import->passed;

	if (!p->lines++) {
		p->first = input_line_number(import->input);
		snprintf(p->why, sizeof p->why, "%s", why);
	}
	return 1;
}

void import_blanks(const char **at) { *at += strspn(*at, " \t"); }

static int parse_digits(const char **at, unsigned base, uint64_t *ret_number)
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

int import_hex(const char **at, uint64_t *ret_number)
{
	const char *s = *at;

	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		s += 2;
	if (!parse_digits(&s, 16, ret_number))
		return 0;
	*at = s;
	return 1;
}

int import_decimal(const char **at, uint64_t *ret_number) { return parse_digits(at, 10, ret_number); }

void import_count_lines(const uint8_t *bytes, size_t count, line_check *is_line, unsigned *ret_yes,
			unsigned *ret_no)
{
	const char ending = input_line_end(bytes, count);
	char line[512];
	const uint8_t *end;

	*ret_yes = *ret_no = 0;
	for (size_t at = 0; at < count; at = (size_t)(end - bytes) + 1) {
		size_t n;

		end = memchr(bytes + at, ending, count - at);
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

static int is_kernel(uint64_t address) { return address >> 63; }

int import_instruction(struct nm_import *import, uint64_t pc, uint64_t bytes, struct nm_error *err)
{
	import->in_kernel = is_kernel(pc) && !import->takes_kernel;
	if (import->in_kernel) {
		import->passed.kernel_instructions++;
		return builder_flush(&import->builder) ? nm_fail_memory(err) : 1;
	}
	if (is_kernel(pc) && pc >> 47 == UINT64_MAX >> 47)
		pc &= UINT64_MAX >> 16;
	if (pc >> 48)
		return import_pass_over(import, "the address of the instruction is out of range");
	if (!bytes || bytes > UINT8_MAX)
		return import_pass_over(import, "the length of the instruction must be 1 to 255");
	return builder_instruction(&import->builder, pc, (unsigned)bytes) ? nm_fail_memory(err) : 1;
}

int import_takes(struct nm_import *import, uint64_t *address, uint64_t size)
{
	const int kernel = is_kernel(*address);

	if (import->in_kernel || (kernel && !import->takes_kernel)) {
		import->passed.kernel_references++;
		return 0;
	}
	if (!size || size > UINT16_MAX)
		return import_pass_over(import, "the size must be 1 to 65535") < 0;
	*address &= UINT64_MAX >> 1;
	if (*address + size > 1ull << 63)
		return import_pass_over(import, "the address is out of range") < 0;
	return 1;
}

int import_reference(struct nm_import *import, uint64_t address, uint64_t size, unsigned flags,
		     struct nm_error *err)
{
	if (!import_takes(import, &address, size))
		return 1;
	import->references += !(flags & NM_WIRE_PREFETCH);
	return builder_access(&import->builder, address, (unsigned)size, flags) ? nm_fail_memory(err) : 1;
}
