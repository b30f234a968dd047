/* SPDX-License-Identifier: MIT */
#include "request.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int nm_request_add(struct nm_request *request, const char *name, const char *value, struct nm_error *err)
{
	assert(request->count <= NM_REQUEST_PARAMETERS);
	if (request->count == NM_REQUEST_PARAMETERS)
		return nm_fail(err, NM_EINVAL, "more than %d parameters", NM_REQUEST_PARAMETERS);
	request->parameters[request->count].name = name;
	request->parameters[request->count].value = value ? value : "";
	request->count++;
	return 0;
}

const char *nm_request_text(const struct nm_request *request, const char *name)
{
	for (unsigned i = 0; i < request->count; i++)
		if (!strcmp(request->parameters[i].name, name) && *request->parameters[i].value)
			return request->parameters[i].value;
	return NULL;
}

int nm_request_number(const struct nm_request *request, const char *name, int64_t low, int64_t high,
		      int64_t otherwise, int64_t *ret_number, struct nm_error *err)
{
	const char *text = nm_request_text(request, name);
	long long number = otherwise;
	char *end;

	assert(low <= high);
	if (text) {
		errno = 0;
		number = strtoll(text, &end, 10);
		if (errno || *end || strchr(" \t\n\v\f\r+", *text) || number < low || number > high)
			return nm_fail(err, NM_EINVAL, "%s must be a whole number from %lld to %lld", name,
				       (long long)low, (long long)high);
	}
	*ret_number = number;
	return 0;
}

static void write_encoded(const char *text, FILE *out)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()";

	for (; *text; text++)
		fprintf(out, strchr(plain, *text) ? "%c" : "%%%02X", (unsigned char)*text);
}

void nm_request_write_key(const struct nm_request *request, FILE *out)
{
	const char *last = "";
	int first = 1;

	fprintf(out, "%s %s", request->method, request->path);
	for (;;) { /* the next name in order: there are few */
		const char *next = NULL, *value = NULL;

		for (unsigned i = 0; i < request->count; i++) {
			const char *name = request->parameters[i].name;

			if (*request->parameters[i].value && strcmp(name, last) > 0 &&
			    (!next || strcmp(name, next) < 0)) {
				next = name;
				value = request->parameters[i].value;
			}
		}
		if (!next)
			return;
		fputc(first ? '?' : '&', out);
		write_encoded(next, out);
		fputc('=', out);
		write_encoded(value, out);
		last = next;
		first = 0;
	}
}

int nm_request_is(const struct nm_request *request, const char *method, const char *path)
{
	return !strcmp(request->method, method) && !strcmp(request->path, path);
}
