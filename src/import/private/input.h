/* SPDX-License-Identifier: MIT
 *
 * input.h - reads a file or standard input, and unpacks gzip, bzip2, zstd and xz, and
 * a file in a tar archive.
 */
#ifndef NM_IMPORT_INPUT_H
#define NM_IMPORT_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "errors.h"

struct nm_input;

/* path "-": standard input. */
int input_open(struct nm_input **ret_input, const char *path, struct nm_error *err);

/* The same from a peeked input (files.h); takes over its descriptor. */
struct nm_peeked_input;
int input_take(struct nm_input **ret_input, const struct nm_peeked_input *peeked, struct nm_error *err);
void input_close(struct nm_input *input);

/* Peeks at the next `count` bytes (at most NM_INPUT_AHEAD); fewer only at the end. */
enum { NM_INPUT_AHEAD = 1 << 16 };
int input_peek(struct nm_input *input, size_t count, const uint8_t **ret_bytes, size_t *ret_count,
	       struct nm_error *err);

/* 1 and the next line without its end, NUL-terminated, valid until the next call; 0 at the end. NM_EFORMAT: a
 * line is longer than NM_INPUT_AHEAD, or the compressed data are damaged. */
int input_line(struct nm_input *input, char **ret_line, struct nm_error *err);

/* 1 and `count` bytes, 0 at the end; NM_EFORMAT if the end comes in between. */
int input_bytes(struct nm_input *input, size_t count, const uint8_t **ret_bytes, struct nm_error *err);

/* What ends lines in a text that begins so: \n, or \r in one that has no \n. */
char input_line_end(const uint8_t *bytes, size_t count);

/* The number of the line returned last (0: none yet); the offset of the bytes returned last, unpacked. */
uint64_t input_line_number(const struct nm_input *input);
uint64_t input_offset(const struct nm_input *input);

#endif
