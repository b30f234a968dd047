/* SPDX-License-Identifier: MIT
 *
 * wirecat.c - runs a collector and checks every stream that it writes.
 *
 *     wirecat [--discard] [--output FILE] [--chunk-words N] [--chunks N] COMMAND [ARGUMENT...]
 *
 * Starts the command with the number of the descriptor of its shared memory in place of every @FD@ in its
 * arguments, feeds each ring to a checker of its own, and when all is over prints the statistics of each
 * process (to FILE if given, since the command writes to the same standard output). With --discard it
 * only takes the words from the rings: what remains is the cost of the collector.
 *
 * Exit status: 0, or 1 if a stream was ill-formed (the fault is printed), 2 for wrong usage or failure of
 * our own, 127 if the command cannot be started. The command's own end is printed, not passed on.
 *
 * The stream of a forked child is checked against what its parent's stream knew at the fork. Until
 * that record of the parent has come the child's chunks are held, and its ring may fill meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "consumer.h"
#include "decode.h"
#include "vector.h"

struct stream {
	uint32_t ring, pid, parent, ordinal;
	enum nm_wire_start start;
	uint64_t words;
	int ended;
	enum nm_chunk_end end;
	int faulty;
	char fault[600];
	struct nm_wire_check *check; /* NULL: waits for its parent's FORK, or faulty from the start */
	struct nm_vec(struct nm_chunk) held;
};

struct wirecat {
	int discard;
	const char *output;
	unsigned chunk_words, chunks;
	char **command;
	struct nm_consumer *consumer;
	struct nm_vec(struct stream) streams;
};

static void die(const char *what)
{
	fprintf(stderr, "wirecat: %s\n", what);
	exit(2);
}

/* ---- Streams ----------------------------------------------------------------------------- */

static struct stream *stream_of(struct wirecat *w, const struct nm_chunk *chunk)
{
	for (size_t i = 0; i < w->streams.count; i++)
		if (w->streams.at[i].ring == chunk->ring)
			return &w->streams.at[i];
	if (nm_vec_push(&w->streams, (struct stream){.ring = chunk->ring, .pid = chunk->pid}))
		die("out of memory");
	return &w->streams.at[w->streams.count - 1];
}

static void set_fault(struct stream *s, const char *text)
{
	if (s->faulty)
		return;
	s->faulty = 1;
	snprintf(s->fault, sizeof s->fault, "%s", text);
}

static void feed(struct wirecat *w, struct stream *s, const struct nm_chunk *chunk)
{
	struct nm_error err;

	if (!s->faulty && wire_check_feed(s->check, chunk->words, chunk->count, &err))
		set_fault(s, err.text);
	nm_consumer_release(w->consumer, chunk);
}

/* The checker of a child, from the newest stream of its parent that knows of the fork. */
static struct nm_wire_check *check_from_parent(struct wirecat *w, const struct stream *child)
{
	struct nm_wire_check *check;

	for (size_t i = w->streams.count; i-- > 0;) {
		struct stream *p = &w->streams.at[i];

		if (p->pid == child->parent && p->check &&
		    wire_check_of_child(&check, p->check, child->ordinal))
			return check;
	}
	return NULL;
}

static void feed_waiting(struct wirecat *w)
{
	int again = 1;

	while (again) { /* a child that was fed may in turn have children that wait */
		again = 0;
		for (size_t i = 0; i < w->streams.count; i++) {
			struct stream *s = &w->streams.at[i];

			if (!s->held.count || !(s->check = check_from_parent(w, s)))
				continue;
			for (size_t k = 0; k < s->held.count; k++)
				feed(w, s, &s->held.at[k]);
			nm_vec_free(&s->held);
			again = 1;
		}
	}
}

static void begin_stream(struct stream *s, const struct nm_chunk *chunk)
{
	struct nm_wire_scan scan = nm_wire_scan_over(chunk->words, chunk->count);
	struct nm_wire_process p;
	struct nm_wire_record r;

	if (nm_wire_scan_next(&scan, &r, NULL) > 0 && r.kind == NM_WIRE_PROCESS &&
	    !nm_wire_process_decode(&r, &p, NULL)) {
		s->start = p.start;
		s->parent = p.parent;
		s->ordinal = p.ordinal;
	}
	if (s->start != NM_WIRE_FORKED && wire_check_new(&s->check, NULL))
		die("out of memory");
}

static void take_data(struct wirecat *w, struct stream *s, const struct nm_chunk *chunk)
{
	if (!s->words)
		begin_stream(s, chunk);
	s->words += chunk->count;
	if (s->check || s->faulty)
		feed(w, s, chunk);
	else if (nm_vec_push(&s->held, *chunk))
		die("out of memory");
	feed_waiting(w);
}

/* The parents of what still waits will send nothing more. */
static void give_up_waiting(struct wirecat *w)
{
	for (size_t i = 0; i < w->streams.count; i++) {
		struct stream *s = &w->streams.at[i];

		if (!s->held.count)
			continue;
		set_fault(s, "forked by a process that does not tell of this fork");
		for (size_t k = 0; k < s->held.count; k++)
			nm_consumer_release(w->consumer, &s->held.at[k]);
		nm_vec_free(&s->held);
	}
}

static void take_end(struct stream *s, const struct nm_chunk *chunk)
{
	int whole = chunk->end == NM_END_CLOSED || chunk->end == NM_END_REPLACED;
	struct nm_error err;

	s->ended = 1;
	s->end = chunk->end;
	if (chunk->end == NM_END_DAMAGED)
		set_fault(s, chunk->fault);
	else if (s->check && !s->faulty && wire_check_finish(s->check, whole, &err))
		set_fault(s, err.text);
}

static int only_waiting_is_left(const struct wirecat *w)
{
	size_t open = 0, waiting = 0;

	for (size_t i = 0; i < w->streams.count; i++) {
		open += !w->streams.at[i].ended;
		waiting += w->streams.at[i].held.count > 0;
	}
	return waiting && open == waiting;
}

/* ---- The command ------------------------------------------------------------------------- */

static char *with_descriptor(const char *argument, int fd)
{
	const char *mark = strstr(argument, "@FD@");
	char *text;

	if (!mark)
		return strdup(argument);
	if (asprintf(&text, "%.*s%d%s", (int)(mark - argument), argument, fd, mark + 4) < 0)
		return NULL;
	return text;
}

static pid_t start(struct wirecat *w)
{
	pid_t pid = fork();

	if (pid < 0)
		die("cannot fork");
	if (pid) {
		signal(SIGINT, SIG_IGN); /* meant for the command, which has it from the terminal too */
		return pid;
	}
	for (char **a = w->command; *a; a++)
		if (!(*a = with_descriptor(*a, nm_consumer_fd(w->consumer))))
			_exit(127);
	fcntl(nm_consumer_fd(w->consumer), F_SETFD, 0);
	execvp(w->command[0], w->command);
	fprintf(stderr, "wirecat: cannot run %s: %s\n", w->command[0], strerror(errno));
	_exit(127);
}

static int consume(struct wirecat *w, pid_t child)
{
	int status = 0, running = 1;

	for (;;) {
		struct nm_chunk chunk;
		struct nm_error err;
		int code = nm_consumer_next(w->consumer, 50, &chunk, &err);

		if (code < 0)
			die(err.text);
		if (running && waitpid(child, &status, WNOHANG) == child)
			running = 0;
		if (!code) {
			if (!running && only_waiting_is_left(w))
				give_up_waiting(w);
			if (!running && !nm_consumer_live(w->consumer))
				return status;
		} else if (chunk.kind == NM_CHUNK_END)
			take_end(stream_of(w, &chunk), &chunk);
		else if (w->discard) {
			stream_of(w, &chunk)->words += chunk.count;
			nm_consumer_release(w->consumer, &chunk);
		} else
			take_data(w, stream_of(w, &chunk), &chunk);
	}
}

static int by_ring(const void *a, const void *b)
{
	const struct stream *x = a, *y = b;

	return x->ring < y->ring ? -1 : x->ring > y->ring;
}

/* ---- Printing ---------------------------------------------------------------------------- */

static void print_stats(FILE *out, const struct nm_wire_stats *s)
{
	const struct {
		const char *name;
		uint64_t value;
	} rows[] = {{"addresses", s->addresses},
		    {"reads", s->reads},
		    {"writes", s->writes},
		    {"prefetches", s->prefetches},
		    {"non_temporal", s->non_temporal},
		    {"skipped", s->skipped},
		    {"instructions", s->instructions},
		    {"side_exits", s->side_exits},
		    {"calls", s->calls},
		    {"returns", s->returns},
		    {"unmatched_returns", s->unmatched_returns},
		    {"max_depth", s->max_depth},
		    {"unknown_frees", s->unknown_frees},
		    {"live_blocks", s->live_blocks},
		    {"live_bytes", s->live_bytes},
		    {"max_live_bytes", s->max_live_bytes},
		    {"lost", s->lost},
		    {"references", s->references},
		    {"open_samples", s->open_samples}};

	for (unsigned k = 0; k < NM_WIRE_KINDS; k++)
		if (s->records[k])
			fprintf(out, "  %-18s %llu\n", nm_wire_kind_name(k),
				(unsigned long long)s->records[k]);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		fprintf(out, "  %-18s %llu\n", rows[i].name, (unsigned long long)rows[i].value);
}

static void print_all(const struct wirecat *w, FILE *out, int status)
{
	static const char *const starts[] = {"started", "forked", "by exec"};
	static const char *const ends[] = {"closed", "replaced", "broken", "damaged"};

	for (size_t i = 0; i < w->streams.count; i++) {
		const struct stream *s = &w->streams.at[i];

		fprintf(out, "process %zu: pid %u, %s, %s\n  %-18s %llu\n", i, s->pid, starts[s->start],
			ends[s->end], "words", (unsigned long long)s->words);
		if (s->check)
			print_stats(out, wire_check_stats(s->check));
		if (s->faulty)
			fprintf(out, "  fault: %s\n", s->fault);
	}
	if (WIFSIGNALED(status))
		fprintf(out, "command: signal %d\n", WTERMSIG(status));
	else
		fprintf(out, "command: exit %d\n", WEXITSTATUS(status));
}

/* 1 if any stream was ill-formed; that is said on standard error, too. */
static int any_fault(const struct wirecat *w)
{
	int any = 0;

	for (size_t i = 0; i < w->streams.count; i++)
		if (w->streams.at[i].faulty) {
			fprintf(stderr, "wirecat: process %zu: %s\n", i, w->streams.at[i].fault);
			any = 1;
		}
	return any;
}

/* ---- main -------------------------------------------------------------------------------- */

static void read_options(struct wirecat *w, char **argv)
{
	for (argv++; *argv && !strncmp(*argv, "--", 2); argv++) {
		if (!strcmp(*argv, "--discard"))
			w->discard = 1;
		else if (!strcmp(*argv, "--")) {
			argv++;
			break;
		} else if (!argv[1])
			die("an option lacks its value");
		else if (!strcmp(*argv, "--output"))
			w->output = *++argv;
		else if (!strcmp(*argv, "--chunk-words"))
			w->chunk_words = (unsigned)strtoul(*++argv, NULL, 10);
		else if (!strcmp(*argv, "--chunks"))
			w->chunks = (unsigned)strtoul(*++argv, NULL, 10);
		else
			die("unknown option");
	}
	if (!*argv)
		die("usage: wirecat [--discard] [--output FILE] [--chunk-words N] [--chunks N] COMMAND...");
	w->command = argv;
}

int main(int argc, char **argv)
{
	struct wirecat w = {.chunk_words = 65536, .chunks = 8};
	struct nm_error err;
	FILE *out = stdout;
	int status, fault;

	(void)argc;
	read_options(&w, argv);
	if (nm_consumer_new(&w.consumer, w.chunk_words, w.chunks, &err))
		die(err.text);
	status = consume(&w, start(&w));
	nm_consumer_free(w.consumer);
	if (w.streams.count) /* in the order in which the processes began */
		qsort(w.streams.at, w.streams.count, sizeof *w.streams.at, by_ring);
	if (w.output && !(out = fopen(w.output, "w")))
		die("cannot write the output file");
	print_all(&w, out, status);
	if (fclose(out))
		die("cannot write the output");
	fault = any_fault(&w);
	for (size_t i = 0; i < w.streams.count; i++)
		wire_check_free(w.streams.at[i].check);
	nm_vec_free(&w.streams);
	return WIFEXITED(status) && WEXITSTATUS(status) == 127 ? 127 : fault;
}
