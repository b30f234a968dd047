/* SPDX-License-Identifier: MIT
 *
 * errors.h - how every room reports failure.
 *
 * A function that can fail returns 0 or a negative enum nm_code, and describes the error in *err (which may
 * be NULL). Results go to ret_* parameters, which are unchanged on failure. Nothing below src/cli prints or
 * exits.
 */
#ifndef NM_ERRORS_H
#define NM_ERRORS_H

#include <stdarg.h>
#include <stdint.h>

enum nm_code {
	NM_OK = 0,
	NM_ENOMEM = -1,   /* memory is exhausted */
	NM_EIO = -2,      /* the operating system refused: text holds strerror */
	NM_ENOSPC = -3,   /* the disk is full */
	NM_EFORMAT = -4,  /* input is damaged or of the wrong kind */
	NM_EVERSION = -5, /* input is of another version of its format */
	NM_EINVAL = -6,   /* an invalid request: option, SPEC, SQL */
	NM_ENOENT = -7,   /* no such file or program */
	NM_EACCES = -8,   /* permission denied, or not executable */
	NM_EPLUGIN = -9   /* a plug-in of the user broke its contract */
};

struct nm_error {
	enum nm_code code;
	char text[480];    /* one sentence without a final full stop */
	char subject[480]; /* text that `column` points into (a SPEC, a line of a file), or "" */
	int column;        /* where in subject the fault starts, from 0; -1: nowhere */
};

/* Fills *err (if not NULL) and returns code, so that callers can `return nm_fail(...)`. */
int nm_fail(struct nm_error *err, enum nm_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "out of memory". Returns NM_ENOMEM. */
int nm_fail_memory(struct nm_error *err);

/* The same from errno: appends ": " and strerror, and maps errno to a code. */
int nm_fail_errno(struct nm_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for a fault in a text that a person wrote: the CLI shows subject with a caret at column. A long
 * subject is cut to the part around the column. */
int nm_fail_at(struct nm_error *err, const char *subject, int column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
