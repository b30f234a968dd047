/* SPDX-License-Identifier: MIT
 *
 * exchange.h - one request and its response. Only this file of the server implements the rules of HTTP:
 *
 *     GET /?token=...   sets the token as a cookie, and redirects to /
 *     GET /, /app.js    files in the binary
 *     /api/...          answers of nm_view_answer(): POST and DELETE where it takes changes, with JSON
 *
 * Everything else is refused with {"error": TEXT}; a browser that opens "/" without the token gets a
 * text for the user.
 */
#ifndef NM_VIEW_EXCHANGE_H
#define NM_VIEW_EXCHANGE_H

#include <microhttpd.h>

#include "guard.h"
#include "view.h"

/* Bytes of the body of a request. */
enum { NM_EXCHANGE_BODY = 64 << 10 };

struct nm_exchange_context {
	struct nm_view *view;
	struct nm_guard guard;
};

/* A request whose body may still be arriving. NULL: no memory. */
struct nm_exchange *nm_exchange_begin(const char *method);
void nm_exchange_end(struct nm_exchange *exchange);

/* Takes a part of the body. A body that is too long is dropped, and the request is refused at its end. */
void nm_exchange_take(struct nm_exchange *exchange, const char *bytes, size_t count);

/* Whether the headers alone suffice to refuse it. */
int nm_exchange_is_refused(struct nm_exchange *exchange, const struct nm_exchange_context *context,
			   struct MHD_Connection *connection, const char *path);

/* Queues the response, also that of a refused request. */
enum MHD_Result nm_exchange_respond(struct nm_exchange *exchange, const struct nm_exchange_context *context,
				    struct MHD_Connection *connection, const char *path);

#endif
