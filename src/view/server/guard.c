/* SPDX-License-Identifier: MIT
 *
 * guard.c - see guard.h.
 */
#include "guard.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

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
