/* SPDX-License-Identifier: MIT
 *
 * environment.h - the environment of a hermetic recording: a few variables that are the same for all users.
 */
#ifndef NM_ENVIRONMENT_H
#define NM_ENVIRONMENT_H

#include <stddef.h>
#include <stdio.h>

enum { NM_ENVIRONMENT_ROOM = 64 };

struct nm_environment {
	/* More of them: "NAME=VALUE", or "NAME", which keeps the user's value. */
	const char *const *variables;
	size_t count; /* up to NM_ENVIRONMENT_ROOM */
};

/* Gives the calling process, a child, that environment, and limits for the stack and open files. */
void nm_environment_enter(const struct nm_environment *environment);

/* Writes "NAME=VALUE", separated by blanks. */
void nm_environment_write(const struct nm_environment *environment, FILE *out);

#endif
