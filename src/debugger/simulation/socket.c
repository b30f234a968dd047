/* SPDX-License-Identifier: MIT
 *
 * socket.c - whole messages over a socket: see checkpoint_priv.h.
 */
#include <errno.h>
#include <sys/socket.h>

#include "checkpoint_priv.h"

/* Advances *at and *count by the result n of send() or recv(). 1: more to do; 0: done; -1: error. */
static int advance_buffer(ssize_t n, char **at, size_t *count)
{
	if (n < 0 && errno == EINTR)
		return 1;
	if (n <= 0)
		return -1;
	*at += n;
	*count -= (size_t)n;
	return *count != 0;
}

int nm_socket_send(int socket, const void *bytes, size_t count)
{
	char *at = (char *)bytes;
	int more = count != 0;

	while (more > 0)
		more = advance_buffer(send(socket, at, count, MSG_NOSIGNAL), &at, &count);
	return more;
}

int nm_socket_receive(int socket, void *bytes, size_t count)
{
	char *at = bytes;
	int more = count != 0;

	while (more > 0)
		more = advance_buffer(recv(socket, at, count, MSG_WAITALL), &at, &count);
	return more;
}
