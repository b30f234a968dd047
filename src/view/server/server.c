/* SPDX-License-Identifier: MIT
 *
 * server.c - see server.h. libmicrohttpd implements HTTP, connections.h cuts off slow clients, and
 * exchange.h answers requests.
 */
#include "server.h"
#include "clock.h"
#include "guard.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "connections.h"
#include "exchange.h"

struct nm_server {
	struct MHD_Daemon *daemon;
	struct nm_exchange_context context;
	struct nm_connections connections;
	uint64_t answered; /* requests */
	char address[80];
};

/* Bytes for a request line with its headers. */
enum { HEADERS = 16 << 10 };

static int socket_of(struct MHD_Connection *connection)
{
	return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

static void note_connection(void *self, struct MHD_Connection *connection, void **unused,
			    enum MHD_ConnectionNotificationCode code)
{
	struct nm_server *server = self;

	(void)unused;
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		nm_connections_add(&server->connections, socket_of(connection));
	else
		nm_connections_remove(&server->connections, socket_of(connection));
}

static void note_end(void *self, struct MHD_Connection *connection, void **exchange,
		     enum MHD_RequestTerminationCode code)
{
	struct nm_server *server = self;

	(void)code;
	nm_exchange_end(*exchange);
	*exchange = NULL;
	nm_connections_wait(&server->connections, socket_of(connection));
}

/* The library calls it with the headers, then with each part of the body, then without any. */
static enum MHD_Result handle_request(void *self, struct MHD_Connection *connection, const char *path,
				      const char *method, const char *version, const char *part,
				      size_t *part_bytes, void **state)
{
	struct nm_server *server = self;
	struct nm_exchange *exchange = *state;

	(void)version;
	if (!exchange) {
		*state = exchange = nm_exchange_begin(method);
		if (!exchange)
			return MHD_NO;
		if (!nm_exchange_is_refused(exchange, &server->context, connection, path))
			return MHD_YES;
	} else if (*part_bytes) {
		nm_exchange_take(exchange, part, *part_bytes);
		*part_bytes = 0;
		return MHD_YES;
	}
	nm_connections_answer(&server->connections, socket_of(connection));
	server->answered++;
	return nm_exchange_respond(exchange, &server->context, connection, path);
}

/* Does not decode "%00", which would end the text and hide the rest. */
static size_t unescape_text(void *self, struct MHD_Connection *connection, char *text)
{
	(void)self, (void)connection;
	return strstr(text, "%00") ? strlen(text) : MHD_http_unescape(text);
}

/* Drops the library's log of client errors, which do not concern the user. */
static void ignore_log(void *self, const char *format, va_list arguments)
{
	(void)self, (void)format, (void)arguments;
}

static int listen_on(struct nm_server *server, unsigned port, struct nm_error *err)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons((uint16_t)port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	errno = 0;
	server->daemon = MHD_start_daemon(
	    MHD_USE_EPOLL | MHD_USE_ERROR_LOG, (uint16_t)port, NULL, NULL, handle_request, server,
	    MHD_OPTION_EXTERNAL_LOGGER, ignore_log, NULL, MHD_OPTION_SOCK_ADDR, &address,
	    MHD_OPTION_CONNECTION_LIMIT, (unsigned)NM_CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
	    (size_t)HEADERS, MHD_OPTION_NOTIFY_CONNECTION, note_connection, server,
	    MHD_OPTION_NOTIFY_COMPLETED, note_end, server, MHD_OPTION_UNESCAPE_CALLBACK, unescape_text, NULL,
	    MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
	if (server->daemon)
		return 0;
	return nm_fail_errno(err, "cannot listen on port %u of 127.0.0.1", port);
}

int nm_server_start(struct nm_server **ret_server, struct nm_view *view, unsigned port, struct nm_error *err)
{
	struct nm_server *server = calloc(1, sizeof *server);
	int status;

	if (!server)
		return nm_fail_memory(err);
	server->context.view = view;
	status = listen_on(server, port, err);
	if (!status) {
		port = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
		status = nm_guard_make(&server->context.guard, port, err);
	}
	if (status) {
		nm_server_stop(server);
		return status;
	}
	snprintf(server->address, sizeof server->address, "http://127.0.0.1:%u/?token=%s", port,
		 server->context.guard.token);
	*ret_server = server;
	return 0;
}

void nm_server_stop(struct nm_server *server)
{
	if (server && server->daemon)
		MHD_stop_daemon(server->daemon);
	free(server);
}

int nm_server_run(struct nm_server *server, int milliseconds)
{
	const uint64_t before = server->answered;

	MHD_run_wait(server->daemon, milliseconds);
	nm_connections_cut_off(&server->connections, milliseconds);
	return server->answered != before;
}

const char *nm_server_address(const struct nm_server *server) { return server->address; }

/* ---- guard ---- */

int nm_guard_make(struct nm_guard *guard, unsigned port, struct nm_error *err)
{
	unsigned char bytes[16];

	if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
		return nm_fail_errno(err, "cannot make a token");
	for (unsigned i = 0; i < sizeof bytes; i++)
		sprintf(guard->token + 2 * i, "%02x", bytes[i]);
	snprintf(guard->cookie, sizeof guard->cookie, "nearmiss-%u", port);
	snprintf(guard->hosts[0], sizeof guard->hosts[0], "127.0.0.1:%u", port);
	snprintf(guard->hosts[1], sizeof guard->hosts[1], "localhost:%u", port);
	return 0;
}

int nm_guard_admits(const struct nm_guard *guard, const char *host, const char *origin)
{
	static const char scheme[] = "http://";
	const size_t n = strlen(scheme);

	if (!host || (strcasecmp(host, guard->hosts[0]) && strcasecmp(host, guard->hosts[1])))
		return 0;
	return !origin || (!strncasecmp(origin, scheme, n) && !strcasecmp(origin + n, host));
}

int nm_guard_knows(const struct nm_guard *guard, const char *typed)
{
	unsigned char differences = 0;

	if (!typed || strlen(typed) != strlen(guard->token))
		return 0;
	for (unsigned i = 0; guard->token[i]; i++)
		differences |= (unsigned char)(typed[i] ^ guard->token[i]);
	return !differences;
}

/* ---- connections ---- */

/* Milliseconds that a request may take to arrive: normally, and if no connection is free; and an answer to leave. */
static const double patience = 10000, short_patience = 1000, long_patience = 60000;

static unsigned connection_position(const struct nm_connections *c, int socket)
{
	unsigned i = 0;

	while (i < c->count && c->at[i].socket != socket)
		i++;
	return i;
}

static void set_state(struct nm_connections *c, int socket, int is_answered)
{
	const unsigned i = connection_position(c, socket);

	assert(i < c->count);
	c->at[i].is_answered = is_answered;
	c->at[i].since = nm_now_ms();
}

void nm_connections_add(struct nm_connections *c, int socket)
{
	assert(c->count < NM_CONNECTIONS);
	c->at[c->count++].socket = socket;
	set_state(c, socket, 0);
}

void nm_connections_remove(struct nm_connections *c, int socket)
{
	const unsigned i = connection_position(c, socket);

	assert(i < c->count);
	c->at[i] = c->at[--c->count];
}

void nm_connections_answer(struct nm_connections *c, int socket) { set_state(c, socket, 1); }
void nm_connections_wait(struct nm_connections *c, int socket) { set_state(c, socket, 0); }

void nm_connections_cut_off(struct nm_connections *c, int milliseconds)
{
	const double now = nm_now_ms(), away = now - c->looked - milliseconds;
	const double waits = c->count == NM_CONNECTIONS ? short_patience : patience;

	for (unsigned i = 0; i < c->count; i++) {
		if (c->at[i].since > c->looked)
			c->at[i].since = now;
		else if (away > 0)
			c->at[i].since += away;
		if (c->at[i].since < now - (c->at[i].is_answered ? long_patience : waits))
			shutdown(c->at[i].socket, SHUT_RDWR);
	}
	c->looked = now;
}
