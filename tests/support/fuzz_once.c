/* SPDX-License-Identifier: MIT
 *
 * fuzz_once.c - gives a file to a harness of tests/fuzz once, without libFuzzer.
 *
 *     HARNESS FILE
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
	static uint8_t data[4 << 20];
	int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	ssize_t size = fd >= 0 ? read(fd, data, sizeof data) : -1;

	if (size < 0) {
		fprintf(stderr, "usage: %s FILE\n", argv[0]);
		return 2;
	}
	close(fd);
	return LLVMFuzzerTestOneInput(data, (size_t)size);
}
