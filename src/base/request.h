/* SPDX-License-Identifier: MIT
 *
 * request.h - a question that a page asks: method, path, parameters and body, as docs/format/view.md names
 * them.
 *
 * Texts belong to the caller. They come from outside and are not trusted; each ends with its only NUL.
 */
#ifndef NM_REQUEST_H
#define NM_REQUEST_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "errors.h"

enum { NM_REQUEST_PARAMETERS = 16 };

struct nm_request {
	const char *method; /* "GET", "POST" or "DELETE" */
	const char *path;   /* "/api/p/0/overview" */
	struct {
		const char *name, *value;
	} parameters[NM_REQUEST_PARAMETERS];
	unsigned count;
	const char *body; /* of POST; else "" */
	size_t body_bytes;
};

/* NM_EINVAL: there are too many. */
int nm_request_add(struct nm_request *request, const char *name, const char *value, struct nm_error *err);

/* The value of a parameter; NULL: it is missing or empty. */
const char *nm_request_text(const struct nm_request *request, const char *name);

/* An integer from low to high; `otherwise` if the parameter is missing. NM_EINVAL names the limits. */
int nm_request_number(const struct nm_request *request, const char *name, int64_t low, int64_t high,
		      int64_t otherwise, int64_t *ret_number, struct nm_error *err);

/* Writes a canonical key: "GET /api/p/0/table?by=object&level=L1d", with the nonempty parameters sorted by
 * name and encoded as JavaScript's encodeURIComponent() does. */
void nm_request_write_key(const struct nm_request *request, FILE *out);

/* Whether the request has this method and path. */
int nm_request_is(const struct nm_request *request, const char *method, const char *path);

#endif
