/* SPDX-License-Identifier: MIT
 *
 * connections.c - see connections.h.
 */
#include "connections.h"

#include <assert.h>
#include <sys/socket.h>

#include "clock.h"

/* Milliseconds that a request may take to arrive: normally, and if no connection is free. */
static const double patience = 10000, short_patience = 1000;

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

void nm_connections_cut_off(const struct nm_connections *c)
{
	const double before = nm_now_ms() - (c->count == NM_CONNECTIONS ? short_patience : patience);

	for (unsigned i = 0; i < c->count; i++)
		if (!c->at[i].is_answered && c->at[i].since < before)
			shutdown(c->at[i].socket, SHUT_RDWR);
}
