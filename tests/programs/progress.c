/* SPDX-License-Identifier: MIT
 *
 * progress.c - an MPI library whose waits are known: 1,000 polls of a progress function, each of which reads `flag`,
 * copies a message and calls back. PART chooses what is built: 1: a transport; 2: the library that calls it in a loop;
 * 3: both in one; 0: the program.
 */
#include <string.h>

#define API __attribute__((visibility("default"), noinline))

enum { POLLS = 1000, OTHERS = 500 };

#if PART == 3
#define PROGRESS opal_progress
#else
#define PROGRESS ucp_worker_progress
#endif

void PROGRESS(void (*arrived)(void), char *message);
void MPI_Recv(void (*arrived)(void), char *message);

#if PART == 1 || PART == 3
static volatile long flag;
static char ring[4096];

API void PROGRESS(void (*arrived)(void), char *message)
{
	volatile size_t bytes = 256;

	(void)flag;
	memcpy(message, ring, bytes);
	arrived();
}
#endif

#if PART == 2 || PART == 3
static volatile long turns, others;

/* Its own reads are known to wait only where it has no name. */
static __attribute__((noinline)) void loop(void (*arrived)(void), char *message)
{
	for (int i = 0; i < POLLS; i++) {
		PROGRESS(arrived, message);
		(void)turns;
	}
}

static __attribute__((noinline)) void other_work(void)
{
	for (int i = 0; i < OTHERS; i++)
		(void)others;
}

API void MPI_Recv(void (*arrived)(void), char *message)
{
	other_work();
	loop(arrived, message);
	other_work();
}
#endif

#if PART == 0
static volatile long seen;
static char message[4096];

static void arrived(void) { seen = 1; /* @callback */ }

int main(void)
{
	MPI_Recv(arrived, message); /* @waits */
	return 0;
}
#endif
