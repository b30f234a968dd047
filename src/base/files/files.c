/* SPDX-License-Identifier: MIT
 *
 * files.c - files and paths: what lies below what, temporary files, files in memory, the first bytes of an input.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"

/* ---- below ---- */

int nm_is_below(const char *path, const char *folder)
{
	char *inner = realpath(path, NULL), *outer = realpath(folder, NULL);
	size_t n = outer ? strlen(outer) : 0;
	int is_below = 0;

	if (n && outer[n - 1] == '/') /* the root */
		n--;
	if (inner && outer)
		is_below = !strncmp(inner, outer, n) && inner[n] == '/';
	free(inner);
	free(outer);
	return is_below;
}

int nm_stays_below(const char *tail)
{
	long depth = 0;

	while (*tail) {
		size_t n = strcspn(tail, "/");

		if (n == 2 && tail[0] == '.' && tail[1] == '.')
			depth--;
		else if (n && !(n == 1 && tail[0] == '.'))
			depth++;
		if (depth < 0)
			return 0;
		tail += n + (tail[n] == '/');
	}
	return 1;
}

/* ---- same file ---- */

/* The folder of a path, and the name in it. */
static int folder_of(const char *path, struct stat *ret_folder, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	char folder[4096];

	*ret_name = slash ? slash + 1 : path;
	if (snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
		     slash ? path : ".") >= (int)sizeof folder)
		return 0;
	return !stat(folder, ret_folder);
}

int nm_is_same_file(const char *a, const char *b)
{
	const char *name_a, *name_b;
	struct stat s, t;

	if (!strcmp(a, "-") || !strcmp(b, "-"))
		return 0;
	if (!stat(a, &s) && !stat(b, &t))
		return S_ISREG(s.st_mode) && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
	return folder_of(a, &s, &name_a) && folder_of(b, &t, &name_b) && !strcmp(name_a, name_b) &&
	       s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}

/* ---- peek ---- */

int nm_read_full(int fd, void *to, size_t count, size_t *ret_count, struct nm_error *err)
{
	char *at = to;

	assert(to || !count);
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

/* ---- memory file ---- */

/* A memfd is not bound to the size of /dev/shm, which is 64 MB in containers. The other places are for
 * sandboxes that forbid memfd_create.
 */

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

/* ---- temporary: the handler only reads the list and calls unlink() and raise() ---- */

enum { SLOTS = 8 };

static const char *_Atomic listed[SLOTS];

void nm_temporary_add(const char *path)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		const char *none = NULL;

		if (atomic_compare_exchange_strong(&listed[i], &none, path))
			return;
	}
}

void nm_temporary_forget(const char *path)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		const char *same = path;

		if (path && atomic_compare_exchange_strong(&listed[i], &same, NULL))
			return;
	}
}

static void unlink_and_die(int number)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		const char *path = atomic_load(&listed[i]);

		if (path)
			unlink(path);
	}
	raise(number); /* the default action, by SA_RESETHAND */
}

void nm_temporary_unlink_on_signals(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = unlink_and_die, .sa_flags = (int)SA_RESETHAND}, before;

	sigemptyset(&action.sa_mask);
	for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (!sigaction(numbers[i], NULL, &before) && before.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
}
