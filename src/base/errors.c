/* SPDX-License-Identifier: MIT */
#include "errors.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static void set_message(struct nm_error *err, enum nm_code code, const char *format, va_list args)
{
	assert(code < NM_OK);
	err->code = code;
	err->subject[0] = '\0';
	err->column = -1;
	vsnprintf(err->text, sizeof err->text, format, args);
}

int nm_fail(struct nm_error *err, enum nm_code code, const char *format, ...)
{
	va_list args;

	if (!err)
		return code;
	va_start(args, format);
	set_message(err, code, format, args);
	va_end(args);
	return code;
}

int nm_fail_memory(struct nm_error *err) { return nm_fail(err, NM_ENOMEM, "out of memory"); }

static enum nm_code code_of_errno(int e)
{
	switch (e) {
	case ENOMEM: return NM_ENOMEM;
	case ENOSPC:
	case EDQUOT: return NM_ENOSPC;
	case ENOENT: return NM_ENOENT;
	case EACCES:
	case EPERM:
	case EROFS: return NM_EACCES;
	default: return NM_EIO;
	}
}

int nm_fail_errno(struct nm_error *err, const char *format, ...)
{
	int saved = errno;
	enum nm_code code = code_of_errno(saved);
	va_list args;
	size_t n;

	if (!err)
		return code;
	va_start(args, format);
	set_message(err, code, format, args);
	va_end(args);
	n = strlen(err->text);
	snprintf(err->text + n, sizeof err->text - n, ": %s", strerror(saved));
	return code;
}

/* Of a text that has no room, what stands around the column. */
static void show_excerpt(struct nm_error *err, const char *subject, int column)
{
	static const char cut[] = "...";
	const int most = (int)sizeof err->subject - 1, before = most / 2;

	err->column = column;
	if (column <= most) {
		snprintf(err->subject, sizeof err->subject, "%s", subject);
		return;
	}
	snprintf(err->subject, sizeof err->subject, "%s%s", cut, subject + column - before);
	err->column = before + (int)sizeof cut - 1;
}

int nm_fail_at(struct nm_error *err, const char *subject, int column, const char *format, ...)
{
	va_list args;

	if (!err)
		return NM_EINVAL;
	assert(column >= -1 && (column < 0 || (size_t)column <= strlen(subject)));
	va_start(args, format);
	set_message(err, NM_EINVAL, format, args);
	va_end(args);
	show_excerpt(err, subject, column);
	return NM_EINVAL;
}
