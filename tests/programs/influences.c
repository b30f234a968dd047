/* SPDX-License-Identifier: MIT
 *
 * influences.c - does what its first argument says with what differs between runs; prints what it has seen.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

extern char **environ;

static volatile unsigned char table[1 << 16];

/* Touches as many lines as the value has in its lowest bits. */
static void touch(uint64_t value)
{
	for (uint64_t i = 0; i < value % 1000; i++)
		table[i * 64]++;
}

static uint64_t nanoseconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The time stamp, with the processor's number where there is an instruction for both. Not asked of the processor:
 * Valgrind's says yes, and has it only if the host does. */
static uint64_t stamp_with_processor(unsigned *ret_processor)
{
#ifdef HAS_RDTSCP
	return __rdtscp(ret_processor);
#else
	*ret_processor = 0;
	return __rdtsc();
#endif
}

/* The start in seconds, and whether all clocks agree that less than a millisecond has passed. */
static int clocks(void)
{
	const uint64_t start = nanoseconds(CLOCK_REALTIME), stamp = __rdtsc();
	struct timeval day;
	struct tms ticks;
	struct rusage usage;
	unsigned processor = 1;

	touch(start / 7);
	touch(stamp_with_processor(&processor));
	touch(nanoseconds(CLOCK_MONOTONIC));
	touch(nanoseconds(CLOCK_PROCESS_CPUTIME_ID));
	gettimeofday(&day, NULL);
	getrusage(RUSAGE_SELF, &usage);
	touch((uint64_t)(day.tv_usec + usage.ru_utime.tv_usec + usage.ru_maxrss + times(&ticks)));
	printf("%ld %d %u\n", (long)time(NULL),
	       nanoseconds(CLOCK_REALTIME) - start < 1000000 && __rdtsc() - stamp < 1000000, processor);
	return 0;
}

static int numbers(void)
{
	uint64_t all[4] = {0};
	const int device = open("/dev/urandom", O_RDONLY);

	if (getrandom(&all[0], 8, 0) != 8 || read(device, &all[1], 8) != 8)
		return 1;
	memcpy(&all[2], (const void *)getauxval(AT_RANDOM), 16);
	for (int i = 0; i < 4; i++)
		touch(all[i]);
	printf("%016lx %016lx\n", (unsigned long)all[0], (unsigned long)all[1]);
	close(device);
	return 0;
}

static int processors(void)
{
	struct sysinfo info;
	FILE *load = fopen("/proc/loadavg", "re");
	double average = -1;

	if (!load || fscanf(load, "%lf", &average) != 1 || sysinfo(&info))
		return 1;
	fclose(load);
	touch((uint64_t)sysconf(_SC_NPROCESSORS_ONLN) * 10 + (uint64_t)sched_getcpu() + info.freeram % 99);
	printf("%ld %ld %.2f\n", sysconf(_SC_NPROCESSORS_ONLN), sysconf(_SC_NPROCESSORS_CONF), average);
	return 0;
}

/* The frame's place relative to cache lines and pages is where the stack is. */
static int environment(void)
{
	volatile char frame[5000];
	size_t bytes = 0;

	for (char **variable = environ; *variable; variable++)
		bytes += strlen(*variable);
	touch(bytes);
	touch((uintptr_t)frame / 16);
	touch((uintptr_t)malloc(1) / 16);
	for (size_t i = 0; i < sizeof frame; i += 64)
		frame[i] = 1;
	printf("%zu\n", bytes);
	return 0;
}

static int path(const char *name)
{
	char link[4096];
	const char *given = (const char *)getauxval(AT_EXECFN);

	touch(strlen(name) + strlen(given) + (uintptr_t)given / 16 + (uintptr_t)name / 16);
	touch((uint64_t)readlink("/proc/self/exe", link, sizeof link));
	printf("%s\n", given);
	return 0;
}

/* As benchmarks do: repeats its work until that takes long enough. */
static int calibrated(void)
{
	uint64_t repetitions = 1;

	for (;; repetitions *= 2) {
		const uint64_t start = nanoseconds(CLOCK_MONOTONIC);

		for (uint64_t i = 0; i < repetitions; i++)
			touch(500);
		if (nanoseconds(CLOCK_MONOTONIC) - start > 500000)
			break;
	}
	printf("%lu\n", (unsigned long)repetitions);
	return 0;
}

/* Waits until points in time that the real clock may never reach, and for times. */
static int waits(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t never = PTHREAD_COND_INITIALIZER;
	const uint64_t start = nanoseconds(CLOCK_REALTIME);
	struct timespec until = {.tv_sec = (time_t)(start / 1000000000) + 20};
	int status;

	usleep(1000);
	clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL);
	until.tv_sec += 20;
	pthread_mutex_lock(&mutex);
	status = pthread_cond_timedwait(&never, &mutex, &until);
	pthread_mutex_unlock(&mutex);
	printf("%d %lu\n", status,
	       (unsigned long)((nanoseconds(CLOCK_REALTIME) - start + 500000000) / 1000000000));
	return 0;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	return !strcmp(way, "clocks")        ? clocks()
	       : !strcmp(way, "numbers")     ? numbers()
	       : !strcmp(way, "processors")  ? processors()
	       : !strcmp(way, "environment") ? environment()
	       : !strcmp(way, "path")        ? path(argv[0])
	       : !strcmp(way, "calibrated")  ? calibrated()
	       : !strcmp(way, "waits")       ? waits()
					     : 2;
}
