/* SPDX-License-Identifier: MIT
 *
 * crowd.c - threads that begin, meet and end in all ways: crowd WAY.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MANY = 64, STEPS = 300 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_spinlock_t spinlock;
static sem_t full;
static volatile long total, shared, turns[MANY];
static volatile sig_atomic_t signals;

/* Everybody counts under each kind of lock, in phases. */
static void *count(void *arg)
{
	const long me = (long)arg;

	for (int i = 0; i < STEPS; i++) {
		pthread_mutex_lock(&mutex);
		total++;
		pthread_mutex_unlock(&mutex);
		pthread_rwlock_rdlock(&rwlock);
		turns[me] += shared >= 0;
		pthread_rwlock_unlock(&rwlock);
		pthread_spin_lock(&spinlock);
		shared++;
		pthread_spin_unlock(&spinlock);
		if (i % 100 == 0)
			pthread_barrier_wait(&barrier);
	}
	sem_post(&full);
	return NULL;
}

static void start_all(pthread_t *threads, int count_of, void *(*run)(void *))
{
	for (long i = 0; i < count_of; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)i))
			abort();
}

static void join_all(pthread_t *threads, int count_of)
{
	for (int i = 0; i < count_of; i++)
		pthread_join(threads[i], NULL);
}

static void many(void)
{
	pthread_t threads[MANY];

	start_all(threads, MANY, count);
	for (int i = 0; i < MANY; i++)
		sem_wait(&full);
	join_all(threads, MANY);
}

static void *add(void *arg)
{
	for (int i = 0; i < 20; i++)
		__atomic_fetch_add(&total, 1, __ATOMIC_RELAXED);
	return arg;
}

static void churn(void)
{
	pthread_t threads[8];

	for (int round = 0; round < 60; round++) {
		start_all(threads, 8, add);
		join_all(threads, 8);
	}
}

static void *add_and_fork(void *arg)
{
	pid_t child;

	add(arg);
	child = fork();
	if (!child) {
		add(arg);
		_exit(total > 0 ? 0 : 1);
	}
	waitpid(child, NULL, 0);
	return arg;
}

static void forks(void)
{
	pthread_t threads[4];

	start_all(threads, 4, add_and_fork);
	join_all(threads, 4);
}

static void take_signal(int number)
{
	(void)number;
	signals++;
	add(NULL);
}

static void *wait_for_signals(void *arg)
{
	add(arg);
	sem_post(&full);
	while (signals < 40)
		usleep(100);
	return arg;
}

static void handled(void)
{
	pthread_t threads[4];

	signal(SIGUSR1, take_signal);
	start_all(threads, 4, wait_for_signals);
	for (int i = 0; i < 4; i++)
		sem_wait(&full);
	while (signals < 40) {
		for (int i = 0; i < 4; i++)
			pthread_kill(threads[i], SIGUSR1);
		usleep(1000);
	}
	join_all(threads, 4);
}

static void unlock(void *arg) { pthread_mutex_unlock(arg); }

static void *wait_for_ever(void *arg)
{
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(unlock, &mutex);
	total++;
	sem_post(&full);
	for (;;)
		pthread_cond_wait(&condition, &mutex);
	pthread_cleanup_pop(1);
	return arg;
}

static void cancelled(void)
{
	pthread_t threads[4];

	start_all(threads, 4, wait_for_ever);
	for (int i = 0; i < 4; i++)
		sem_wait(&full);
	for (int i = 0; i < 4; i++)
		pthread_cancel(threads[i]);
	join_all(threads, 4);
	pthread_mutex_lock(&mutex);
	total++;
	pthread_mutex_unlock(&mutex);
}

static void *die_with_it(void *arg)
{
	pthread_mutex_lock(arg);
	total++;
	return arg;
}

static void *inherit(void *arg)
{
	if (pthread_mutex_lock(arg) == EOWNERDEAD)
		pthread_mutex_consistent(arg);
	total++;
	pthread_mutex_unlock(arg);
	return arg;
}

static void dead_owner(void)
{
	pthread_mutexattr_t attributes;
	pthread_mutex_t robust;
	pthread_t thread, heirs[3];

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &attributes);
	pthread_create(&thread, NULL, die_with_it, &robust);
	pthread_join(thread, NULL);
	for (int i = 0; i < 3; i++)
		pthread_create(&heirs[i], NULL, inherit, &robust);
	join_all(heirs, 3);
}

static pthread_mutex_t both[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void *embrace(void *arg)
{
	const long me = (long)arg;

	add(NULL);
	pthread_mutex_lock(&both[me]);
	pthread_barrier_wait(&barrier);
	pthread_mutex_lock(&both[!me]);
	return arg;
}

/* Until somebody interrupts it. */
static void deadlock(void)
{
	pthread_t threads[2];

	pthread_barrier_destroy(&barrier);
	pthread_barrier_init(&barrier, NULL, 2);
	start_all(threads, 2, embrace);
	printf("started\n");
	fflush(stdout);
	join_all(threads, 2);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} ways[] = {{"many", many},        {"churn", churn},         {"forks", forks},
		    {"handled", handled},  {"cancelled", cancelled}, {"dead_owner", dead_owner},
		    {"deadlock", deadlock}};

	pthread_barrier_init(&barrier, NULL, MANY);
	pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE);
	sem_init(&full, 0, 0);
	for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++)
		if (argc == 2 && !strcmp(argv[1], ways[i].name)) {
			ways[i].run();
			printf("%ld\n", total);
			return 0;
		}
	return 2;
}
