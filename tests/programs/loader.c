/* SPDX-License-Identifier: MIT
 *
 * loader.c - opens the library argv[1], calls it and closes it, three times, with mappings in between
 * so that it may come back at another address.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
	int sum = 0;

	for (int i = 0; i < 3 && argc > 1; i++) {
		void *library = dlopen(argv[1], RTLD_NOW);
		int (*work)(void) = library ? (int (*)(void))dlsym(library, "plugin_work") : NULL;

		if (!work) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		sum += work() + 1;
		dlclose(library);
		if (mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
			return 1;
	}
	printf("%d\n", sum);
	return 0;
}
