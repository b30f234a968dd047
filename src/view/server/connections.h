/* SPDX-License-Identifier: MIT
 *
 * connections.h - the connections of the server, and how long each has waited for a request.
 *
 * A client that sends its request too slowly, or none, is cut off: sooner if no connection is free. So is one that does
 * not read its answer. The library's own timeout would count the time in which the server is busy.
 */
#ifndef NM_VIEW_CONNECTIONS_H
#define NM_VIEW_CONNECTIONS_H

enum { NM_CONNECTIONS = 256 };

struct nm_connections {
	struct {
		int socket;
		int is_answered; /* its request has arrived */
		double since;    /* ms, see nm_now_ms() */
	} at[NM_CONNECTIONS];
	unsigned count;
	double looked; /* ms: when those that waited too long were cut off last */
};

void nm_connections_add(struct nm_connections *connections, int socket);
void nm_connections_remove(struct nm_connections *connections, int socket);
/* The request of this one has arrived; its answer has left. */
void nm_connections_answer(struct nm_connections *connections, int socket);
void nm_connections_wait(struct nm_connections *connections, int socket);

/* Shuts down connections that have waited too long; their owner notices and closes them. Time beyond `milliseconds`
 * since the last call, in which the server did something else, is not theirs. */
void nm_connections_cut_off(struct nm_connections *connections, int milliseconds);

#endif
