/* SPDX-License-Identifier: MIT
 *
 * moment_process.c - the process of a moment; see moment_priv.h.
 *
 * Any error of the connection to the debugger ends the process.
 */
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "changes.h"
#include "moment_priv.h"
#include "stops.h"
#include "varint.h"

struct process {
	int socket;
	struct nm_caches *caches;
	struct nm_reference_reader *reader;
	const struct nm_shared_record *record;
	struct nm_changes *changes;                   /* NULL: not requested yet */
	struct nm_vec(struct nm_cached_line) touched; /* by the changes */
	struct nm_map touched_index[NM_MAX_LEVELS];
	long faults; /* page faults up to the last copy */
	/* the current run */
	struct nm_moment_request request;
	struct nm_stop *stops;
	struct nm_moment_report report;
};

enum { STOPPED = 1 };

static void give_up(void) { _exit(1); }

static void answer(const struct process *p, const void *bytes, size_t count)
{
	if (nm_socket_send(p->socket, bytes, count))
		give_up();
}

/* Sends an array: the number of bytes, then the bytes. */
static void answer_array(const struct process *p, const void *bytes, size_t count)
{
	const uint64_t length = count;

	answer(p, &length, sizeof length);
	answer(p, bytes, count);
}

/* ---- lines of caches ---- */

/* The key of a line in its level's map. Cores use bits that are equal in lines of a recording, which are
 * below 2^50. */
static uint64_t key_of(const struct nm_cached_line *line) { return line->line ^ (uint64_t)line->core << 52; }

static uint64_t index_of(const struct nm_map *maps, const struct nm_cached_line *line)
{
	return nm_map_get(&maps[line->level], key_of(line), UINT64_MAX);
}

static void put_index(struct nm_map *maps, const struct nm_cached_line *line, uint64_t index)
{
	if (nm_map_put(&maps[line->level], key_of(line), index))
		give_up();
}

static struct nm_cached_line line_of(const struct nm_effect *e)
{
	return (struct nm_cached_line){e->line, e->level, e->core};
}

/* ---- a run ---- */

static void write_record(const struct process *p)
{
	const struct nm_shared_record *r = p->record;
	const struct nm_caches *c = p->caches;

	for (unsigned i = 0; i < c->effect_count; i++)
		if (nm_event_leaves(c->effects[i].kind))
			nm_record_left(r, nm_record_piece(r, c->position), c->effects[i].level,
				       c->effects[i].line);
	if (!(c->position & ((1ull << r->bin_shift) - 1)) || c->position == c->program->references.count)
		r->misses[(c->position - 1) >> r->bin_shift] = c->misses;
}

/* Whether the run ends here: a stop matches that has no skips left. */
static int check_stops(struct process *p, const struct nm_nest_step *step)
{
	for (unsigned i = 0; i < p->request.stop_count; i++) {
		struct nm_stop *stop = &p->stops[i];
		struct nm_effect left = {0};

		if (!nm_stop_holds(stop, p->caches, step, &left))
			continue;
		if (stop->skip) {
			stop->skip--;
			continue;
		}
		p->report.matched = p->caches->position;
		p->report.matched_by = stop->id;
		p->report.left = left;
		return !(p->request.flags & NM_RUN_LAST);
	}
	return 0;
}

static int take(struct process *p, const struct nm_nest_step *step)
{
	struct nm_caches *c = p->caches;

	p->report.status = nm_caches_feed(c, nm_reference_at(p->reader, c->position));
	write_record(p);
	return p->report.status ? STOPPED : check_stops(p, step);
}

static int see(void *self, const struct nm_nest_step *step, struct nm_error *err)
{
	(void)err;
	return take(self, step);
}

/* Steps through the nest at the same time, to know its loop indices. */
static void run_in_nest(struct process *p)
{
	const struct nm_debug_program *program = p->caches->program;
	const struct nm_nest_visitor visitor = {see, p};
	struct nm_error err;

	nm_nest_walk(program->nest, program->first + p->caches->position, program->first + p->request.to - 1,
		     &visitor, &err);
}

static void run(struct process *p)
{
	const unsigned count = p->request.stop_count;
	struct nm_caches *c = p->caches;

	p->stops = calloc(count + 1, sizeof *p->stops);
	if (!p->stops || nm_socket_receive(p->socket, p->stops, count * sizeof *p->stops))
		give_up();
	p->report.matched = p->report.matched_by = 0;
	p->report.status = 0;
	if (p->request.to > c->position && nm_stops_ask_loops(p->stops, count))
		run_in_nest(p);
	else
		while (c->position < p->request.to && !take(p, NULL))
			;
	p->report.position = c->position;
	p->report.effect_count = c->effect_count;
	memcpy(p->report.effects, c->effects, sizeof c->effects);
	answer(p, &p->report, sizeof p->report);
	answer(p, p->stops, count * sizeof *p->stops);
	free(p->stops);
}

/* ---- requests ---- */

static void tell_slots(const struct process *p)
{
	const struct nm_moment_request *q = &p->request;
	const unsigned ways = nm_caches_ways(p->caches, q->level);
	const size_t count = (q->to - q->from) * ways;
	struct nm_slot *slots = calloc(count + 1, sizeof *slots);

	if (!slots)
		give_up();
	for (size_t i = 0; i < count; i++)
		slots[i] =
		    nm_caches_slot(p->caches, q->level, q->core, q->from + i / ways, (unsigned)(i % ways));
	answer_array(p, slots, count * sizeof *slots);
	free(slots);
}

static void tell_sums(const struct process *p)
{
	const struct nm_moment_request *q = &p->request;
	const struct nm_caches *c = p->caches;
	const size_t count = q->by_set ? nm_caches_sets(c, q->level) : c->program->sites.count;

	answer_array(p, q->by_set ? c->by_set[q->level] : c->by_attr[q->level],
		     count * sizeof(struct nm_sums));
}

/* Runs forward, counts by line and sends the counts. */
static void tell_lines(struct process *p)
{
	const struct nm_moment_request *q = &p->request;
	struct nm_vec(struct nm_line_sum) lines = {0};
	struct nm_map index_of = {0};

	while (p->caches->position < q->to && !take(p, NULL))
		for (unsigned i = 0; i < p->caches->effect_count; i++) {
			const struct nm_effect *e = &p->caches->effects[i];
			uint64_t index;

			if (e->level != q->level || (e->kind != NM_EVENT_HIT && e->kind != NM_EVENT_MISS))
				continue;
			index = nm_map_get(&index_of, e->line, UINT64_MAX);
			if (index == UINT64_MAX) {
				index = lines.count;
				if (nm_map_put(&index_of, e->line, index) ||
				    nm_vec_push(&lines, (struct nm_line_sum){.line = e->line}))
					give_up();
			}
			lines.at[index].attr = p->caches->reference->attr;
			lines.at[index].references++;
			lines.at[index].misses += e->kind == NM_EVENT_MISS;
		}
	answer_array(p, lines.at, lines.count * sizeof *lines.at);
	nm_vec_free(&lines);
	nm_map_done(&index_of);
}

/* Appends the length, then the column. */
static void append_column(struct nm_bytes *to, const struct nm_bytes *column)
{
	if (nm_vec_reserve(to, NM_VARINT_BYTES + column->count))
		give_up();
	to->count += nm_varint_put(to->at + to->count, column->count);
	if (column->count)
		memcpy(to->at + to->count, column->at, column->count);
	to->count += column->count;
}

/* The contents of the slots: a column of corrections, and one of earlier references. */
static void begin_changes(struct process *p, struct nm_bytes *ret_all)
{
	struct nm_bytes earlier = {0}, *slots;

	if (nm_changes_new(&p->changes, p->caches) || nm_changes_begin(p->changes, p->reader, &earlier))
		give_up();
	slots = nm_changes_column(p->changes, NM_COLUMN_CORRECTIONS);
	append_column(ret_all, slots);
	append_column(ret_all, &earlier);
	slots->count = 0;
	nm_vec_free(&earlier);
}

static void touch(struct process *p)
{
	for (unsigned i = 0; i < p->caches->effect_count; i++) {
		const struct nm_cached_line line = line_of(&p->caches->effects[i]);

		if (index_of(p->touched_index, &line) != UINT64_MAX)
			continue;
		put_index(p->touched_index, &line, p->touched.count);
		if (nm_vec_push(&p->touched, line))
			give_up();
	}
}

static void tell_changes(struct process *p)
{
	struct nm_bytes all = {0};

	if (!p->changes) {
		begin_changes(p, &all);
	} else {
		while (p->caches->position < p->request.to) {
			if (take(p, NULL) ||
			    nm_changes_note(p->changes, p->caches->position == p->request.to))
				give_up();
			touch(p);
		}
		for (unsigned i = 0; i < NM_CHANGE_COLUMNS; i++) {
			struct nm_bytes *column = nm_changes_column(p->changes, (enum nm_change_column)i);

			append_column(&all, column);
			column->count = 0;
		}
	}
	answer_array(p, all.at, all.count);
	nm_vec_free(&all);
}

/* Notes which of the lines the last reference made leave. */
static void note_departures(const struct process *p, const struct nm_map *maps,
			    const struct nm_cached_line *lines, struct nm_line_departure *departures)
{
	for (unsigned i = 0; i < p->caches->effect_count; i++) {
		const struct nm_effect *e = &p->caches->effects[i];
		const struct nm_cached_line line = line_of(e);
		const uint64_t index = nm_event_leaves(e->kind) ? index_of(maps, &line) : UINT64_MAX;

		if (index != UINT64_MAX && lines[index].line == e->line &&
		    departures[index].position != p->caches->position)
			departures[index] = (struct nm_line_departure){p->caches->position, *e};
	}
}

static void tell_departures(struct process *p)
{
	const size_t count = p->request.count;
	struct nm_cached_line *lines = calloc(count + 1, sizeof *lines);
	struct nm_line_departure *departures = calloc(count + 1, sizeof *departures);
	struct nm_map maps[NM_MAX_LEVELS] = {0};

	if (!lines || !departures || nm_socket_receive(p->socket, lines, count * sizeof *lines))
		give_up();
	for (size_t i = 0; i < count; i++)
		put_index(maps, &lines[i], i);
	while (p->caches->position < p->request.to && !take(p, NULL))
		note_departures(p, maps, lines, departures);
	answer(p, departures, count * sizeof *departures);
	for (unsigned i = 0; i < NM_MAX_LEVELS; i++)
		nm_map_done(&maps[i]);
	free(departures);
	free(lines);
}

static void tell_slot(const struct process *p)
{
	const struct nm_moment_request *q = &p->request;
	struct nm_found_slot found = {0};

	found.is_there =
	    nm_caches_find(p->caches, q->level, q->core, q->address, &found.slot, &found.set, &found.way);
	answer(p, &found, sizeof found);
}

/* ---- copies ---- */

/* Bytes of the pages written since the last call. Each such page faults once, since it is shared with the
 * previous copy. */
static uint64_t take_changed(struct process *p)
{
	const long before = p->faults;
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	p->faults = usage.ru_minflt;
	return (uint64_t)(p->faults - before) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Forks a copy, which continues with its own socket. */
static void copy(struct process *p, int socket)
{
	const uint64_t changed = take_changed(p);
	const pid_t process = socket < 0 ? -1 : fork();
	const struct nm_moment_copied copied = {process < 0 ? errno : 0, process, changed};

	if (!process) {
		close(p->socket);
		p->socket = socket;
		p->faults = 0;
		return;
	}
	if (socket >= 0)
		close(socket);
	answer(p, &copied, sizeof copied);
}

/* Receives a request and a descriptor that may be attached. */
static int receive(struct process *p, int *ret_descriptor)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec bytes = {&p->request, sizeof p->request};
	struct msghdr message = {
	    .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
	const ssize_t n = recvmsg(p->socket, &message, MSG_WAITALL | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;

	*ret_descriptor = -1;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(ret_descriptor, CMSG_DATA(c), sizeof *ret_descriptor);
	return n == (ssize_t)sizeof p->request;
}

/* Replaces the debugger's signal handlers: this process ends when its socket is closed. */
static void set_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_IGN); /* copies are not waited for */
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

void nm_moment_serve(int socket, struct nm_caches *caches, const struct nm_shared_record *record)
{
	struct process p = {.socket = socket, .caches = caches, .record = record};
	int descriptor;

	set_signals();
	if (nm_reference_reader_new(&p.reader, &caches->program->references))
		give_up();
	while (receive(&p, &descriptor)) {
		switch (p.request.kind) {
		case NM_REQUEST_COPY: copy(&p, descriptor); break;
		case NM_REQUEST_RUN: run(&p); break;
		case NM_REQUEST_SLOTS: tell_slots(&p); break;
		case NM_REQUEST_SUMS: tell_sums(&p); break;
		case NM_REQUEST_LINES: tell_lines(&p); break;
		case NM_REQUEST_FIND: tell_slot(&p); break;
		case NM_REQUEST_CHANGES: tell_changes(&p); break;
		case NM_REQUEST_TOUCHED:
			answer_array(&p, p.touched.at, p.touched.count * sizeof *p.touched.at);
			break;
		case NM_REQUEST_DEPARTURES: tell_departures(&p); break;
		default: give_up();
		}
	}
	_exit(0);
}
