/* SPDX-License-Identifier: MIT
 *
 * memory_file.c - see memory_file.h.
 *
 * A memfd is not bound to the size of /dev/shm, which is 64 MB in containers. The other places are for
 * sandboxes that forbid memfd_create.
 */
#include "memory_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

int nm_memory_file(int *ret_fd, const char *name, struct nm_error *err)
{
	const char *tmp = getenv("TMPDIR");
	const char *const folders[] = {"/dev/shm", tmp && *tmp == '/' ? tmp : "/tmp"};
	int fd = memfd_create(name, MFD_CLOEXEC);

	for (size_t i = 0; fd < 0 && i < sizeof folders / sizeof *folders; i++)
		fd = open(folders[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return nm_fail_errno(err, "cannot make a file in memory or in %s", folders[1]);
	*ret_fd = fd;
	return 0;
}
