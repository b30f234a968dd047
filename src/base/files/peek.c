/* SPDX-License-Identifier: MIT
 *
 * peek.c - see peek.h.
 */
#include "peek.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int nm_read_full(int fd, void *to, size_t count, size_t *ret_count, struct nm_error *err)
{
	char *at = to;

	*ret_count = 0;
	while (*ret_count < count) {
		ssize_t n = read(fd, at + *ret_count, count - *ret_count);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return nm_fail_errno(err, "cannot read");
		if (!n)
			break;
		*ret_count += (size_t)n;
	}
	return 0;
}

int nm_peek_input(struct nm_peeked_input *ret_peeked, const char *path, struct nm_error *err)
{
	struct nm_peeked_input peeked = {0};
	int status;

	peeked.fd =
	    strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	if (peeked.fd < 0)
		return nm_fail_errno(err, "cannot read %s", path);
	status = nm_read_full(peeked.fd, peeked.bytes, sizeof peeked.bytes, &peeked.count, err);
	if (status) {
		close(peeked.fd);
		return status;
	}
	*ret_peeked = peeked;
	return 0;
}
