/* SPDX-License-Identifier: MIT
 *
 * guard.h - admits requests: only from a browser with the token, and from a page of the server itself.
 *
 * Every program on this machine, and every page in its browser, can reach a port of 127.0.0.1. So a request
 * must bring a random token, name this server (Host: a foreign name that was rebound to 127.0.0.1 differs),
 * and come from its own pages (Origin).
 */
#ifndef NM_VIEW_GUARD_H
#define NM_VIEW_GUARD_H

#include "errors.h"

struct nm_guard {
	char token[33];    /* 128 random bits in hexadecimal digits */
	char cookie[24];   /* its name: cookies of other ports are sent along */
	char hosts[2][32]; /* what Host may be */
};

int nm_guard_make(struct nm_guard *ret_guard, unsigned port, struct nm_error *err);

/* Whether the request is to this server and from its own pages, by its headers. NULL: no such header. */
int nm_guard_admits(const struct nm_guard *guard, const char *host, const char *origin);

/* Whether `typed`, which may be NULL, is the token. Takes constant time, so that timing reveals nothing. */
int nm_guard_knows(const struct nm_guard *guard, const char *typed);

#endif
