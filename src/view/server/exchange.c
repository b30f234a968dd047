/* SPDX-License-Identifier: MIT */
#include "exchange.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "assets.h"
#include "memstream.h"

struct nm_exchange {
	const char *method; /* HEAD counts as GET: the library drops the body */
	char *body;
	size_t bytes;
	unsigned refusal; /* HTTP's status; 0: none */
	const char *reason;
};

static const char *const headers[][2] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
};

static const char json_type[] = "application/json";
static const char no_pages[] =
    "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>nearmiss</title></head>"
    "<body><h1>This nearmiss was built without its pages</h1><p>Run tools/install-pages in its "
    "sources, and build it again.</p></body></html>\n";

struct nm_exchange *nm_exchange_begin(const char *method)
{
	struct nm_exchange *exchange = calloc(1, sizeof *exchange);

	if (exchange)
		exchange->method = !strcmp(method, "HEAD") ? "GET" : method;
	return exchange;
}

void nm_exchange_end(struct nm_exchange *exchange)
{
	if (exchange)
		free(exchange->body);
	free(exchange);
}

static int refuse_request(struct nm_exchange *exchange, unsigned status, const char *reason)
{
	exchange->refusal = status;
	exchange->reason = reason;
	return 1;
}

void nm_exchange_take(struct nm_exchange *e, const char *bytes, size_t count)
{
	if (!e->body && !e->refusal)
		e->body = malloc(NM_EXCHANGE_BODY + 1);
	if (!e->body) {
		refuse_request(e, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory");
	} else if (count > NM_EXCHANGE_BODY - e->bytes) {
		refuse_request(e, MHD_HTTP_CONTENT_TOO_LARGE, "the body is too long");
	} else if (memchr(bytes, '\0', count)) {
		refuse_request(e, MHD_HTTP_BAD_REQUEST, "the body is not JSON");
	} else {
		memcpy(e->body + e->bytes, bytes, count);
		e->bytes += count;
		e->body[e->bytes] = '\0';
	}
}

/* ---- checks of a request ---- */

static const char *header_value(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* Whether the media type is JSON, with or without parameters. */
static int is_json(const char *type)
{
	const size_t n = strlen(json_type);

	return type && !strncasecmp(type, json_type, n) && (!type[n] || strchr("; \t", type[n]));
}

static int is_api(const char *path) { return !strncmp(path, "/api/", 5); }

static int is_too_long(const char *length)
{
	char *end;

	return length && (strlen(length) > 18 || strtoull(length, &end, 10) > NM_EXCHANGE_BODY || *end);
}

static const char *typed_token(struct MHD_Connection *connection)
{
	return MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token");
}

int nm_exchange_is_refused(struct nm_exchange *e, const struct nm_exchange_context *context,
			   struct MHD_Connection *connection, const char *path)
{
	const char *cookie = MHD_lookup_connection_value(connection, MHD_COOKIE_KIND, context->guard.cookie);
	const int reads = !strcmp(e->method, "GET");
	const int brings_token = reads && !strcmp(path, "/") && typed_token(connection);

	if (!nm_guard_admits(&context->guard, header_value(connection, "Host"),
			     header_value(connection, "Origin")))
		return refuse_request(e, MHD_HTTP_FORBIDDEN,
				      "asked from elsewhere: open the address that nearmiss printed");
	if (!nm_guard_knows(&context->guard, brings_token ? typed_token(connection) : cookie))
		return refuse_request(e, MHD_HTTP_FORBIDDEN,
				      "no token: open the address that nearmiss printed");
	if (!reads && strcmp(e->method, "POST") && strcmp(e->method, "DELETE"))
		return refuse_request(e, MHD_HTTP_METHOD_NOT_ALLOWED, "not a method of this server");
	if (!reads && !nm_view_takes_changes(path))
		return refuse_request(e, MHD_HTTP_METHOD_NOT_ALLOWED, "this can only be read");
	if (!strcmp(e->method, "POST") && !is_json(header_value(connection, "Content-Type")))
		return refuse_request(e, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE,
				      "the body must be application/json");
	if (is_too_long(header_value(connection, "Content-Length")))
		return refuse_request(e, MHD_HTTP_CONTENT_TOO_LARGE, "the body is too long");
	return 0;
}

/* ---- responses ---- */

static enum MHD_Result send_response(struct MHD_Connection *connection, unsigned status, const char *type,
				     struct MHD_Response *response)
{
	enum MHD_Result sent;

	if (!response)
		return MHD_NO;
	for (unsigned i = 0; i < sizeof headers / sizeof *headers; i++)
		MHD_add_response_header(response, headers[i][0], headers[i][1]);
	if (type)
		MHD_add_response_header(response, "Content-Type", type);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, "Allow", "GET, HEAD");
	sent = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return sent;
}

static enum MHD_Result send_constant(struct MHD_Connection *connection, const char *type, const void *bytes,
				     size_t count)
{
	/* The library does not write to a persistent buffer. */
	return send_response(connection, MHD_HTTP_OK, type,
			     MHD_create_response_from_buffer(count, (void *)bytes, MHD_RESPMEM_PERSISTENT));
}

static enum MHD_Result send_error(struct MHD_Connection *connection, const char *path, unsigned status,
				  const char *reason)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = nm_memstream_open(&text, &bytes);

	if (!out)
		return MHD_NO;
	if (is_api(path))
		nm_view_write_error(reason, out);
	else
		fprintf(out, "%s\n", reason);
	if (nm_memstream_close(out, &text))
		return MHD_NO;
	return send_response(connection, status, is_api(path) ? json_type : "text/plain; charset=utf-8",
			     MHD_create_response_from_buffer(bytes, text, MHD_RESPMEM_MUST_FREE));
}

static enum MHD_Result give_cookie(const struct nm_guard *guard, struct MHD_Connection *connection)
{
	static char nothing[1];
	struct MHD_Response *response = MHD_create_response_from_buffer(0, nothing, MHD_RESPMEM_PERSISTENT);
	char cookie[128];

	if (!response)
		return MHD_NO;
	snprintf(cookie, sizeof cookie, "%s=%s; Path=/; HttpOnly; SameSite=Strict", guard->cookie,
		 guard->token);
	MHD_add_response_header(response, "Set-Cookie", cookie);
	MHD_add_response_header(response, "Location", "/");
	return send_response(connection, MHD_HTTP_SEE_OTHER, NULL, response);
}

static enum MHD_Result send_asset(struct MHD_Connection *connection, const char *path)
{
	for (size_t i = 0; i < nm_n_assets; i++) {
		const struct nm_asset *asset = &nm_assets[i];

		if (!strcmp(path + 1, asset->name) ||
		    (!strcmp(path, "/") && !strcmp(asset->name, "index.html")))
			return send_constant(connection, asset->type, asset->bytes, asset->n_bytes);
	}
	if (!strcmp(path, "/"))
		return send_constant(connection, "text/html; charset=utf-8", no_pages, sizeof no_pages - 1);
	return send_error(connection, path, MHD_HTTP_NOT_FOUND, "there is no such page");
}

static unsigned status_of(int code)
{
	switch (code) {
	case NM_ENOENT: return MHD_HTTP_NOT_FOUND;
	case NM_EINVAL: return MHD_HTTP_BAD_REQUEST;
	case NM_ENOMEM: return MHD_HTTP_SERVICE_UNAVAILABLE;
	default: return MHD_HTTP_INTERNAL_SERVER_ERROR;
	}
}

struct arguments {
	struct nm_request request;
	struct nm_error err;
	int status;
};

static enum MHD_Result take_argument(void *self, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct arguments *a = self;

	(void)kind;
	a->status = nm_request_add(&a->request, name, value, &a->err);
	return a->status ? MHD_NO : MHD_YES;
}

static enum MHD_Result send_answer(struct nm_exchange *e, struct nm_view *view,
				   struct MHD_Connection *connection, const char *path)
{
	struct arguments a = {
	    .request = {
		.method = e->method, .path = path, .body = e->body ? e->body : "", .body_bytes = e->bytes}};
	char *text = NULL;
	size_t bytes;
	FILE *out = nm_memstream_open(&text, &bytes);

	if (!out)
		return MHD_NO;
	MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, take_argument, &a);
	if (!a.status)
		a.status = nm_view_answer(view, &a.request, out, &a.err);
	if (nm_memstream_close(out, &text) && !a.status)
		a.status = nm_fail_memory(&a.err);
	if (!a.status)
		return send_response(connection, MHD_HTTP_OK, json_type,
				     MHD_create_response_from_buffer(bytes, text, MHD_RESPMEM_MUST_FREE));
	free(text);
	return send_error(connection, path, status_of(a.status), a.err.text);
}

enum MHD_Result nm_exchange_respond(struct nm_exchange *e, const struct nm_exchange_context *context,
				    struct MHD_Connection *connection, const char *path)
{
	if (e->refusal)
		return send_error(connection, path, e->refusal, e->reason);
	if (is_api(path))
		return send_answer(e, context->view, connection, path);
	if (!strcmp(path, "/") && typed_token(connection))
		return give_cookie(&context->guard, connection);
	return send_asset(connection, path);
}
