/* SPDX-License-Identifier: MIT
 *
 * guard.h - who may ask the server: a browser that was given the token, on a page that came from the server
 * itself.
 *
 * Whatever runs on this machine, and any page that its browser shows, can reach a port of 127.0.0.1. So a
 * request must know a random token, be meant for this server (Host: a name that was rebound to 127.0.0.1 is
 * another), and not come from another's page (Origin).
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

/* Whether headers are those of a request to this server from its own pages. NULL: there is no such header. */
int nm_guard_admits(const struct nm_guard *guard, const char *host, const char *origin);

/* Compares all of it in any case, so that time tells nothing. typed may be NULL. */
int nm_guard_knows(const struct nm_guard *guard, const char *typed);

#endif
