/* SPDX-License-Identifier: MIT
 *
 * importer.h - one foreign format, for the table in import.c.
 */
#ifndef NM_IMPORTER_H
#define NM_IMPORTER_H

#include "builder.h"
#include "input.h"

/* What was read and not taken. */
struct nm_import_passed {
	uint64_t lines,
	    first;     /* that are no records or have other text before one; the number of the first */
	char why[160]; /* of the first */
	uint64_t kernel_instructions, kernel_references;
};

struct nm_import {
	const struct nm_importer *importer;
	struct nm_input *input;
	struct nm_builder builder;
	void *state; /* the importer's own, zeroed at the start */
	int ended;
	struct nm_error fault; /* reported after the records before it */
	struct nm_import_passed passed;
	uint64_t references;
	int takes_kernel, in_kernel; /* in_kernel: the last instruction was passed over */
};

struct nm_importer {
	const char *name, *summary;

	/* How sure it is, from 0 to 100, that a file with these first bytes is in its format. */
	int (*probe)(const uint8_t *bytes, size_t count);

	/* Reads a line or record into the builder, or passes a line over. 1, 0 at the end, or a code, and *err says
	 * where. */
	int (*read)(struct nm_import *import, struct nm_error *err);

	size_t state_bytes;
	void (*done)(void *state); /* frees what the state holds; may be NULL */
};

extern const struct nm_importer nm_import_din, nm_import_lackey, nm_import_champsim, nm_import_drmemtrace,
    nm_import_csv, nm_import_cloudsuite;

/* What a table lacks that was to be a csv of references; NULL: it is no table. */
const char *csv_lacks(const uint8_t *bytes, size_t count);

/* elsewhere.c: of a file in no trace format that begins with these bytes: "is ...: do this", to follow its name; NULL:
 * it is not known. */
const char *known_elsewhere(const uint8_t *bytes, size_t count);

/* Passes the line over, which is no record, and counts it: 1. */
int import_pass_over(struct nm_import *import, const char *why);

/* "line N: what" with NM_EFORMAT. */
int import_fail(const struct nm_import *import, struct nm_error *err, const char *what);

/* A hexadecimal number (0x or not), or a decimal one: moves *at behind it. 0: there is none, or it is too
 * large. */
int import_hex(const char **at, uint64_t *ret_number);
int import_decimal(const char **at, uint64_t *ret_number);

/* Moves *at over blanks. */
void import_blanks(const char **at);

/* Counts the complete lines of the beginning that `is_line` accepts, and those that it does not; empty lines
 * are ignored. */
typedef int line_check(const char *line);
void import_count_lines(const uint8_t *bytes, size_t count, line_check *is_line, unsigned *ret_yes,
			unsigned *ret_no);

/* The size of an access in a trace without sizes: `size` bytes, or less, up to the next multiple of it. */
static inline unsigned import_size(uint64_t address, unsigned size)
{
	return size - (unsigned)(address % size);
}

/* Begins the next instruction: 1, or a code. One that the wire cannot carry is passed over. */
int import_instruction(struct nm_import *import, uint64_t pc, uint64_t bytes, struct nm_error *err);

/* 1 if an access is to be taken, its address made one that the wire carries; 0 if it was passed over. */
int import_takes(struct nm_import *import, uint64_t *address, uint64_t size);

/* Adds an access to the open instruction, or to one of its own: 1, or a code. One that the wire cannot carry is
 * passed over. */
int import_reference(struct nm_import *import, uint64_t address, uint64_t size, unsigned flags,
		     struct nm_error *err);

#endif
