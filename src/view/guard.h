/* SPDX-License-Identifier: MIT
 *
 * guard.h - who may ask the server: a browser that was given the token, from a page of the server itself.
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

/* Whether headers are those of a request to this server from its own pages. NULL: there is no such header. */
int nm_guard_admits(const struct nm_guard *guard, const char *host, const char *origin);

/* Whether it is the token. Takes as long whatever differs, so that timing reveals nothing. typed may be
 * NULL. */
int nm_guard_knows(const struct nm_guard *guard, const char *typed);

#endif
