/* SPDX-License-Identifier: MIT
 *
 * server.h - serves the pages and the answers about a view to the browsers of this machine.
 *
 *     nm_server_start(&server, view, 0, &err);
 *     while (!stopped)
 *             if (!nm_server_run(server, 1000))
 *                     ...no request...
 *     nm_server_stop(server);
 *
 * It listens on 127.0.0.1 only, and serves only files in the binary and answers of nm_view_answer(), to
 * clients that guard.h admits. Everything runs in the thread that calls nm_server_run().
 */
#ifndef NM_VIEW_SERVER_H
#define NM_VIEW_SERVER_H

#include "view.h"

struct nm_server;

/* port 0: a free one. NM_EIO: the port is not free. The view must outlive the server. */
int nm_server_start(struct nm_server **ret_server, struct nm_view *view, unsigned port, struct nm_error *err);
void nm_server_stop(struct nm_server *server);

/* Answers requests for so many milliseconds, or until a signal. Whether there was a request. */
int nm_server_run(struct nm_server *server, int milliseconds);

/* "http://127.0.0.1:8123/?token=...": what a browser must open first. */
const char *nm_server_address(const struct nm_server *server);

#endif
