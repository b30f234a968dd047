/* SPDX-License-Identifier: MIT
 *
 * parity_twin.c - counts one stream of references at once by nearmiss's rules and, rule by rule, by
 * Callgrind's.
 *
 *     parity_twin OUTPUT COMMAND [ARGUMENT...]
 *
 * Runs the command (Valgrind with nearmiss's collector; @FD@ in its arguments becomes the descriptor of the
 * shared memory), takes the engine's place behind the ring, and feeds every reference of the program to
 * several hierarchies of L1i, L1d (32 KiB, 8 ways) and L2 (1 MiB, 16 ways), lines of 64 bytes. The first
 * counts as nearmiss does, each next one has one rule of Callgrind's --cacheuse more, and the last has them
 * all. So the first must give nearmiss's figures and the last Callgrind's, and what lies between is what each
 * rule does. OUTPUT gets, for each set of rules and each level, the lines loaded, the accesses that they
 * served, their bytes used, and Callgrind's two figures: the sum of 1000 / accesses and the bytes not used.
 *
 * Everything is looked up in the plainest way, since it is the measure of others. One process only.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "consumer.h"
#include "decode.h"
#include "vector.h"

enum { LINE = 64, WAYS_MAX = 16, SETS_MAX = 1024 };

enum rules {
	ORDER = 1,   /* data references come after the fetch of their instruction, not of their block */
	MODIFY = 2,  /* a read and a write of one place by one instruction are one access */
	GRANULE = 4, /* bytes used are noted in pairs */
	SLOT = 8,    /* what L1 knew of a line goes to the slot that L2 had for it at the time of the load, */
		     /* whatever is there by now; nearmiss gives it to the line, if L2 still has that */
	EMPTY = 16   /* a line of L2 that leaves before L1 has told of it is left out of the sums */
};

static const struct {
	const char *name;
	unsigned rules;
} variants[] = {
    {"nearmiss", 0},
    {"order", ORDER},
    {"modify", ORDER | MODIFY},
    {"granule", ORDER | MODIFY | GRANULE},
    {"slot", ORDER | MODIFY | GRANULE | SLOT},
    {"callgrind", ORDER | MODIFY | GRANULE | SLOT | EMPTY},
};
enum { VARIANTS = sizeof variants / sizeof *variants };

struct slot {
	uint64_t line, uses, mask;
	struct slot *below; /* of L2, for this line when it was loaded */
	int filled;
};

struct level {
	unsigned sets, ways;
	struct slot slots[SETS_MAX][WAYS_MAX];
	unsigned char order[SETS_MAX][WAYS_MAX]; /* of the slots of a set, latest first */
	uint64_t loads, uses, used, cost, loss;
};

struct hierarchy {
	unsigned rules;
	struct level instructions, data, second;
};

struct block {
	struct nm_wire_block_info info;
	uint64_t *words;
};

struct twin {
	struct hierarchy h[VARIANTS];
	struct nm_vec(struct block) blocks;
};

static void die(const char *what)
{
	fprintf(stderr, "parity_twin: %s\n", what);
	exit(2);
}

/* ---- caches -------------------------------------------------------------------------------------- */

static void shape(struct level *l, unsigned sets, unsigned ways)
{
	l->sets = sets;
	l->ways = ways;
	for (unsigned s = 0; s < sets; s++)
		for (unsigned w = 0; w < ways; w++)
			l->order[s][w] = (unsigned char)w;
}

static struct slot *find(struct level *l, uint64_t line)
{
	unsigned set = line % l->sets;

	for (unsigned w = 0; w < l->ways; w++)
		if (l->slots[set][w].filled && l->slots[set][w].line == line)
			return &l->slots[set][w];
	return NULL;
}

/* The line leaves: its figures are added up, and the level below hears of them. */
static void credit(struct hierarchy *h, struct level *l, struct slot *s)
{
	struct slot *below = h->rules & SLOT ? s->below : find(&h->second, s->line);
	unsigned used = (unsigned)__builtin_popcountll(s->mask);

	if (!s->filled)
		return;
	s->filled = 0;
	l->uses += s->uses;
	l->used += used;
	if (s->uses)
		l->cost += 1000 / s->uses;
	if (s->uses || !(h->rules & EMPTY))
		l->loss += LINE - used;
	if (l != &h->second && below) {
		below->uses += s->uses;
		below->mask |= s->mask;
	}
}

/* Makes the line the latest of its set, loading it where it is missing. */
static struct slot *touch(struct hierarchy *h, struct level *l, uint64_t line)
{
	unsigned set = line % l->sets, place = 0, slot;
	unsigned char *order = l->order[set];
	struct slot *s;

	while (place < l->ways - 1 &&
	       !(l->slots[set][order[place]].filled && l->slots[set][order[place]].line == line))
		place++;
	slot = order[place];
	memmove(order + 1, order, place);
	order[0] = (unsigned char)slot;
	s = &l->slots[set][slot];
	if (s->filled && s->line == line)
		return s;
	credit(h, l, s);
	*s = (struct slot){.line = line, .filled = 1};
	l->loads++;
	if (l != &h->second)
		s->below = touch(h, &h->second, line);
	return s;
}

static void reference(struct hierarchy *h, struct level *l, uint64_t address, unsigned size)
{
	uint64_t end = address + size;

	while (address < end) {
		uint64_t line = address / LINE, stop = (line + 1) * LINE < end ? (line + 1) * LINE : end;
		struct slot *s = touch(h, l, line);

		s->uses++;
		for (uint64_t a = address; a < stop; a++)
			s->mask |= (h->rules & GRANULE ? 3ull << (a & 62) : 1ull << (a & 63));
		address = stop;
	}
}

static void settle_all(struct hierarchy *h, struct level *l)
{
	for (unsigned s = 0; s < l->sets; s++)
		for (unsigned w = 0; w < l->ways; w++)
			credit(h, l, &l->slots[s][w]);
}

/* ---- the stream ---------------------------------------------------------------------------------- */

/* Is this access the write that follows the read of the same place by the same instruction? */
static int modifies(const struct nm_wire_block_info *b, const uint64_t *addresses, unsigned i)
{
	uint64_t now = b->accesses[i], before = i ? b->accesses[i - 1] : 0;

	return i && addresses[i] == addresses[i - 1] && nm_wire_access_flags(now) & NM_WIRE_WRITE &&
	       nm_wire_access_flags(before) & NM_WIRE_READ &&
	       nm_wire_access_instruction(now) == nm_wire_access_instruction(before) &&
	       nm_wire_access_size(now) == nm_wire_access_size(before);
}

static void fetch(struct hierarchy *h, const struct nm_wire_block_info *b, unsigned i)
{
	reference(h, &h->instructions, nm_wire_instruction_pc(b->instructions[i]),
		  nm_wire_instruction_bytes(b->instructions[i]));
}

/* The addresses of accesses, of which some share a word. */
static void spread(const struct nm_wire_block_info *b, const uint64_t *words, unsigned count,
		   uint64_t *ret_addresses)
{
	for (unsigned i = 0; i < count; i++) {
		unsigned flags = nm_wire_access_flags(b->accesses[i]);
		uint64_t word = flags & NM_WIRE_FOLLOWS ? words[-1] : *words++;

		ret_addresses[i] = word + nm_wire_access_distance(b->accesses[i]);
	}
}

static void execute(struct hierarchy *h, const struct nm_wire_block_info *b, const uint64_t *addresses,
		    unsigned count, unsigned executed)
{
	unsigned fetched = 0;

	while (!(h->rules & ORDER) && fetched < executed)
		fetch(h, b, fetched++);
	for (unsigned i = 0; i < count; i++) {
		uint64_t access = b->accesses[i];

		while (fetched <= nm_wire_access_instruction(access) && fetched < executed)
			fetch(h, b, fetched++);
		if (!addresses[i] || nm_wire_access_flags(access) & NM_WIRE_PREFETCH ||
		    (h->rules & MODIFY && modifies(b, addresses, i)))
			continue;
		reference(h, &h->data, addresses[i], nm_wire_access_size(access));
	}
	while (fetched < executed)
		fetch(h, b, fetched++);
}

static void define(struct twin *t, const struct nm_wire_record *r)
{
	struct nm_wire_record copy = *r;
	struct block b;

	b.words = malloc(r->words * sizeof *b.words);
	if (!b.words)
		die("out of memory");
	copy.payload = memcpy(b.words, r->payload, r->words * sizeof *b.words);
	if (nm_wire_block_decode(&copy, &b.info, NULL))
		die("a damaged block");
	while (t->blocks.count <= b.info.id)
		if (nm_vec_push(&t->blocks, (struct block){.words = NULL}))
			die("out of memory");
	t->blocks.at[b.info.id] = b;
}

static void feed(struct twin *t, const uint64_t *words, size_t count)
{
	struct nm_wire_scan scan = nm_wire_scan_over(words, count);
	struct nm_wire_record r;
	struct nm_error err;
	static uint64_t addresses[1 << 16];
	unsigned accesses;
	int code, executed;

	while ((code = nm_wire_scan_next(&scan, &r, &err)) > 0) {
		if (r.kind == NM_WIRE_BLOCK_DEF)
			define(t, &r);
		if (r.kind != NM_WIRE_BLOCK)
			continue;
		if (r.arg >= t->blocks.count || !t->blocks.at[r.arg].words)
			die("a block runs before it is defined");
		executed = nm_wire_block_executed(&t->blocks.at[r.arg].info, r.words, &accesses);
		if (executed < 0)
			die("a block was left where it has no exit");
		spread(&t->blocks.at[r.arg].info, r.payload, accesses, addresses);
		for (unsigned v = 0; v < VARIANTS; v++)
			execute(&t->h[v], &t->blocks.at[r.arg].info, addresses, accesses, (unsigned)executed);
	}
	if (code < 0)
		die(err.text);
}

/* ---- running and printing ------------------------------------------------------------------------ */

static pid_t start(char **command, int fd)
{
	static char option[4096];
	pid_t pid = fork();

	if (pid)
		return pid;
	for (char **a = command; *a; a++) {
		char *mark = strstr(*a, "@FD@");

		if (mark) {
			snprintf(option, sizeof option, "%.*s%d%s", (int)(mark - *a), *a, fd, mark + 4);
			*a = option;
		}
	}
	fcntl(fd, F_SETFD, 0);
	execvp(command[0], command);
	_exit(127);
}

static void consume(struct twin *t, struct nm_consumer *consumer, pid_t child)
{
	struct nm_chunk chunk;
	struct nm_error err;
	int status = -1, running = 1, code;

	while (running || nm_consumer_live(consumer)) {
		code = nm_consumer_next(consumer, 50, &chunk, &err);
		if (code < 0)
			die(err.text);
		if (code && chunk.ring)
			die("the program started another one");
		if (code && chunk.kind == NM_CHUNK_DATA) {
			feed(t, chunk.words, chunk.count);
			nm_consumer_release(consumer, &chunk);
		}
		if (running && waitpid(child, &status, WNOHANG) == child)
			running = 0;
	}
	if (status)
		die("the command failed");
}

static void print_level(FILE *out, const char *variant, const char *name, const struct level *l)
{
	fprintf(out, "%s %s %llu %llu %llu %llu %llu\n", variant, name, (unsigned long long)l->loads,
		(unsigned long long)l->uses, (unsigned long long)l->used, (unsigned long long)l->cost,
		(unsigned long long)l->loss);
}

int main(int argc, char **argv)
{
	struct nm_consumer *consumer;
	struct nm_error err;
	struct twin *t = calloc(1, sizeof *t);
	FILE *out;

	if (argc < 3)
		die("usage: parity_twin OUTPUT COMMAND [ARGUMENT...]");
	if (!t || nm_consumer_new(&consumer, 65536, 16, &err))
		die("no memory to share");
	for (unsigned v = 0; v < VARIANTS; v++) {
		t->h[v].rules = variants[v].rules;
		shape(&t->h[v].instructions, 64, 8);
		shape(&t->h[v].data, 64, 8);
		shape(&t->h[v].second, 1024, 16);
	}
	consume(t, consumer, start(argv + 2, nm_consumer_fd(consumer)));
	nm_consumer_free(consumer);
	out = fopen(argv[1], "w");
	if (!out)
		die("cannot write the output");
	for (unsigned v = 0; v < VARIANTS; v++) {
		settle_all(&t->h[v], &t->h[v].instructions);
		settle_all(&t->h[v], &t->h[v].data);
		settle_all(&t->h[v], &t->h[v].second);
		print_level(out, variants[v].name, "L1i", &t->h[v].instructions);
		print_level(out, variants[v].name, "L1d", &t->h[v].data);
		print_level(out, variants[v].name, "L2", &t->h[v].second);
	}
	return fclose(out) ? 2 : 0;
}
