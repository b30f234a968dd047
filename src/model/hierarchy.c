/* SPDX-License-Identifier: MIT
 *
 * hierarchy.c - runs batches through the levels and keeps the books.
 *
 * A batch is cut into pieces.  For each level, from the processor outwards: (1) the shards, perhaps on
 * several threads, look up the level's part of the piece and leave events (lookup.c); (2) here, serially,
 * events are taken in the order of the program, classed (recency.c), charged to cells (tally.c) and turned
 * into the input of the next level: for each load the settlement of the line that left, then the fill.
 * So results depend neither on shards, nor on batches, nor on threads.
 *
 * Counting rules (hierarchy.h has the contract) decided here:
 *   - A first level's reference that spans lines misses once, however many of them are loaded.
 *   - Whoever sits in a unified level gets fills of data and fetches in the order of the references.
 *   - A settlement that does not find its line in the next level goes on to the one after; past the last
 *     it is forgotten.  It is a write-back of the level that the line left, if the line was dirty.
 *   - Lines resident at the end are settled from the first level outwards; that is no eviction.
 *
 * Pieces are small (PIECE) on one shard so that events are still in the host's caches when they are read; 512
 * and 2048 are as fast within noise.  With more shards a piece is as much of the batch as TOUCHES allows, to make
 * waking threads worth while.  Tables that a load will look at are fetched AHEAD records before: at 6 % misses
 * 40 M references/s without, 52 M 4 ahead, 63 M 8, 52 M 16 (on a busy machine; bench/model_bench).
 */
#include "hierarchy.h"

#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "ops.h"
#include "recency.h"
#include "tally.h"

enum { PIECE = 1024, TOUCHES = 16384, NONE = -1, AHEAD = 8 };

struct level {
	struct nm_cache cache;
	struct nm_recency recency;
	struct nm_tally tally;
	int next;            /* level that takes its fills, or NONE */
	int sources[2];      /* levels whose fills it takes */
	int data, fetches;   /* whether the program's own go here */
	struct nm_ops out;   /* for the next level, of this piece */
	struct nm_ops mixed; /* input, where it has to be put together */
	struct nm_ops direct;
};

struct nm_hierarchy {
	struct level levels[NM_MAX_LEVELS];
	unsigned count, shards;
	uint32_t line; /* the shortest of the levels that take references */
	struct nm_executor executor;
	struct nm_vec(uint8_t) owner;    /* shard of the event with each key */
	struct nm_vec(uint64_t) present; /* bit per key */
	int broken, finished;
};

/* What a look over a piece tells. */
struct census {
	uint64_t reads, writes, fetches, fetch_runs;
	uint32_t cells;   /* 1 + the largest */
	int plain;        /* all are data and weigh 1 */
	uint32_t touches; /* at most, of any level */
};

/* The input of a level for one piece. */
struct input {
	struct nm_refs_job refs;
	const struct nm_ops *ops; /* NULL for a first level */
	struct level *level;
	uint32_t touches[64]; /* counted by each shard */
};

/* Where the books of a level stand within a piece. */
struct books {
	uint32_t last_missed; /* reference of the last miss of the program's own */
	size_t closed;        /* words of `closed` that were used */
};

static int is_first(const struct level *l) { return l->sources[0] == NONE; }

static void wire_levels(struct nm_hierarchy *h, const struct nm_machine *machine)
{
	static const enum nm_level_side sides[2] = {NM_SIDE_DATA, NM_SIDE_INSTRUCTION};

	for (unsigned i = 0; i < h->count; i++)
		h->levels[i].next = h->levels[i].sources[0] = h->levels[i].sources[1] = NONE;
	h->line = 4096;
	for (unsigned s = 0; s < 2; s++) {
		int before = NONE;
		for (unsigned i = 0; i < h->count; i++) {
			enum nm_level_side side = machine->levels[i].side;
			struct level *l = &h->levels[i];
			if (side != sides[s] && side != NM_SIDE_UNIFIED)
				continue;
			if (before == NONE) {
				*(s == 0 ? &l->data : &l->fetches) = 1;
				if (h->line > machine->levels[i].line)
					h->line = machine->levels[i].line;
			} else if (h->levels[before].next == NONE) {
				h->levels[before].next = (int)i;
				l->sources[l->sources[0] != NONE] = before;
			}
			before = (int)i;
		}
	}
}

int nm_hierarchy_new(struct nm_hierarchy **ret_hierarchy, const struct nm_machine *machine, unsigned shards,
		     const struct nm_executor *executor, struct nm_error *err)
{
	int code = nm_machine_check(machine, err);
	if (code)
		return code;
	if (!shards || shards > 64 || (shards & (shards - 1)))
		return nm_fail(err, NM_EINVAL, "%u shards: must be a power of two from 1 to 64", shards);
	struct nm_hierarchy *h = calloc(1, sizeof *h);
	if (!h)
		return nm_fail(err, NM_ENOMEM, "out of memory for the cache model");
	h->count = machine->count;
	h->shards = shards;
	if (executor)
		h->executor = *executor;
	for (unsigned i = 0; i < h->count; i++) {
		const struct nm_level_spec *spec = &machine->levels[i];
		struct level *l = &h->levels[i];
		if (nm_cache_init(&l->cache, spec, shards) ||
		    nm_recency_init(&l->recency, spec->sets * spec->ways) || nm_tally_init(&l->tally)) {
			nm_hierarchy_free(h);
			return nm_fail(err, NM_ENOMEM, "out of memory for the model of level %s", spec->name);
		}
	}
	wire_levels(h, machine);
	*ret_hierarchy = h;
	return 0;
}

void nm_hierarchy_free(struct nm_hierarchy *h)
{
	if (!h)
		return;
	for (unsigned i = 0; i < h->count; i++) {
		struct level *l = &h->levels[i];
		nm_cache_done(&l->cache);
		nm_recency_done(&l->recency);
		nm_tally_done(&l->tally);
		free_ops(&l->out);
		free_ops(&l->mixed);
		free_ops(&l->direct);
	}
	nm_vec_free(&h->owner);
	nm_vec_free(&h->present);
	free(h);
}

void nm_hierarchy_use(struct nm_hierarchy *h, const struct nm_lookup *lookup)
{
	for (unsigned i = 0; i < h->count; i++)
		h->levels[i].cache.lookup = *lookup;
}

/* The settlement of a line that left level l, or passed it by, becomes input of the next. */
static void send_settlement(struct nm_hierarchy *h, struct level *l, const struct nm_record *r,
			    const uint64_t *mask)
{
	if (l->next == NONE)
		return;
	const struct nm_cache *lower = &h->levels[l->next].cache;
	struct nm_op op = {.line = lower_line(&l->cache, lower, r->victim),
			   .uses = r->victim_uses,
			   .order = r->order,
			   .flags = NM_OP_SETTLE};
	uint64_t placed[NM_LINE_WORDS_MAX];
	if (lower->words == 1)
		placed[0] = mask[0] << ((r->victim << l->cache.line_shift) & (lower->spec.line - 1));
	else
		place_mask(&l->cache, lower, r->victim, mask, placed);
	add_op(&l->out, op, placed, lower->words);
}

static void send_fill(struct nm_hierarchy *h, struct level *l, const struct nm_record *r)
{
	if (l->next == NONE)
		return;
	struct level *next = &h->levels[l->next];
	struct nm_counts *cell = &next->tally.cells[r->cell];
	unsigned kind = r->flags & NM_OP_KIND;
	struct nm_op op = {.line = lower_line(&l->cache, &next->cache, r->line),
			   .cell = r->cell,
			   .order = r->order,
			   .flags = kind};

	*(kind == NM_REF_WRITE ? &cell->writes : &cell->reads) += 1;
	add_op(&l->out, op, NULL, next->cache.words);
}

static uint32_t bytes_of(const struct nm_cache *c, const uint64_t *mask)
{
	uint32_t bytes = 0;
	for (unsigned w = 0; w < c->words; w++)
		bytes += (uint32_t)__builtin_popcountll(mask[w]);
	return bytes;
}

static struct nm_counts *charge_stay(struct level *l, uint32_t cell, uint64_t uses, uint32_t bytes)
{
	struct nm_counts *c = &l->tally.cells[cell];
	c->reuse += uses >> 1;
	c->used_bytes += bytes;
	c->loaded_bytes += l->cache.spec.line;
	return c;
}

static int book_load(struct nm_hierarchy *h, struct level *l, const struct nm_record *r, const uint64_t *mask,
		     uint32_t *last_missed)
{
	struct nm_counts *cell = &l->tally.cells[r->cell];
	int class = nm_recency_load(&l->recency, r->line);

	if (class < 0)
		return class;
	cell->loads++;
	cell->cold += class == NM_MISS_COLD;
	cell->capacity += class == NM_MISS_CAPACITY;
	cell->conflict += class == NM_MISS_CONFLICT;
	if (!(r->flags & NM_OP_DIRECT) || r->order != *last_missed) {
		int write = (r->flags & NM_OP_KIND) == NM_REF_WRITE;
		cell->read_misses += !write;
		cell->write_misses += write;
	}
	if (r->flags & NM_OP_DIRECT)
		*last_missed = r->order;
	if (r->victim != NM_NO_LINE) {
		struct nm_counts *loser = charge_stay(l, r->victim_cell, r->victim_uses, r->victim_bytes);
		loser->evictions++;
		loser->writebacks += r->victim_uses & 1;
		if (nm_recency_leave(&l->recency, r->victim, r->victim_stamp) ||
		    nm_tally_evict(&l->tally, r->cell, r->victim_cell))
			return NM_ENOMEM;
		send_settlement(h, l, r, mask);
	}
	send_fill(h, l, r);
	return 0;
}

/* Closes the intervals that end at or before `time`. */
static int close_intervals(struct level *l, uint64_t time, size_t *closed)
{
	while (time >= nm_recency_end(&l->recency)) {
		uint64_t again[NM_INTERVAL_WORDS] = {0};
		for (unsigned s = 0; s < l->cache.shard_count; s++)
			for (unsigned w = 0; w < NM_INTERVAL_WORDS; w++)
				again[w] |= l->cache.shards[s].closed.at[*closed + w];
		*closed += NM_INTERVAL_WORDS;
		if (nm_recency_close(&l->recency, again))
			return NM_ENOMEM;
	}
	return 0;
}

/* Books the first of the events, with all first hits that follow it if the events are `dense`, that is, those
 * of one shard alone.  Returns how many, or NM_ENOMEM. */
static long book_events(struct nm_hierarchy *h, const struct input *in, const struct nm_shard *s,
			size_t first, size_t count, struct books *books)
{
	struct level *l = in->level;
	const struct nm_event *e = &s->events.at[first];
	const uint64_t base = in->ops ? l->cache.time : 0;
	const unsigned shift = in->ops ? 32 : 0;

	if (__builtin_expect(base + (e->place >> shift) >= nm_recency_end(&l->recency), 0) &&
	    close_intervals(l, base + (e->place >> shift), &books->closed))
		return NM_ENOMEM;
	if (!(e->old & NM_EVENT_LOAD))
		return (long)nm_recency_touches(&l->recency, e, count, base, shift);

	size_t number = e->old & ~NM_EVENT_LOAD;
	const struct nm_record *r = &s->records.at[number];
	if (number + AHEAD < s->records.count) {
		nm_recency_prefetch(&l->recency, r[AHEAD].line, r[AHEAD].victim);
		nm_tally_prefetch(&l->tally, r[AHEAD].cell, r[AHEAD].victim_cell);
	}
	const uint64_t *mask = l->cache.words > 1 ? s->masks.at + number * l->cache.words : &r->victim_mask;
	if (r->flags & NM_OP_SETTLE)
		send_settlement(h, l, r, mask);
	else if (book_load(h, l, r, mask, &books->last_missed))
		return NM_ENOMEM;
	return 1;
}

/* Takes the events of several shards in the order of their keys, below `keys`. */
static int book_merged(struct nm_hierarchy *h, const struct input *in, uint32_t keys, struct books *books)
{
	const struct nm_cache *c = &in->level->cache;
	size_t words = keys / 64 + 1, at[64] = {0};

	if (nm_vec_reserve(&h->owner, keys) || nm_vec_reserve(&h->present, words))
		return NM_ENOMEM;
	memset(h->present.at, 0, words * sizeof h->present.at[0]);
	for (unsigned i = 0; i < c->shard_count; i++)
		for (size_t e = 0; e < c->shards[i].events.count; e++) {
			uint64_t place = c->shards[i].events.at[e].place;
			uint32_t key = (uint32_t)(in->ops ? place : place - c->time);
			h->owner.at[key] = (uint8_t)i;
			h->present.at[key / 64] |= 1ull << key % 64;
		}
	for (size_t w = 0; w < words; w++)
		for (uint64_t bits = h->present.at[w]; bits; bits &= bits - 1) {
			unsigned i = h->owner.at[w * 64 + (unsigned)__builtin_ctzll(bits)];
			if (book_events(h, in, &c->shards[i], at[i]++, 1, books) < 0)
				return NM_ENOMEM;
		}
	return 0;
}

static int book(struct nm_hierarchy *h, const struct input *in)
{
	struct level *l = in->level;
	struct nm_cache *c = &l->cache;
	uint32_t touches = in->ops ? in->ops->fills : in->touches[0];
	struct books books = {UINT32_MAX, 0};
	size_t records = 0;

	for (unsigned i = 0; i < c->shard_count; i++)
		records += c->shards[i].records.count;
	if (l->next != NONE && clear_ops(&l->out, h->levels[l->next].cache.words, 2 * records))
		return NM_ENOMEM;
	if (c->shard_count == 1) {
		const struct nm_shard *s = &c->shards[0];
		for (size_t e = 0; e < s->events.count;) {
			long n = book_events(h, in, s, e, s->events.count - e, &books);
			if (n < 0)
				return NM_ENOMEM;
			e += (size_t)n;
		}
	} else if (book_merged(h, in, in->ops ? (uint32_t)in->ops->list.count : touches, &books)) {
		return NM_ENOMEM;
	}
	c->time += touches;
	return close_intervals(l, c->time, &books.closed);
}

static void run_shard(void *arg, unsigned i)
{
	struct input *in = arg;
	struct nm_cache *c = &in->level->cache;

	if (in->ops)
		c->lookup.ops(c, &c->shards[i], in->ops);
	else
		in->touches[i] = c->lookup.refs(c, &c->shards[i], &in->refs);
}

static int run_level(struct nm_hierarchy *h, struct input *in)
{
	struct nm_cache *c = &in->level->cache;
	size_t most = in->ops ? in->ops->list.count : in->refs.touches;
	size_t intervals = most / c->interval + 2;

	for (unsigned i = 0; i < h->shards; i++) {
		struct nm_shard *s = &c->shards[i];
		s->events.count = s->records.count = s->closed.count = 0;
		if (nm_vec_reserve(&s->events, most + 1) || nm_vec_reserve(&s->records, most) ||
		    nm_vec_reserve(&s->closed, intervals * NM_INTERVAL_WORDS) ||
		    (c->words > 1 && nm_vec_reserve(&s->masks, most * c->words)) ||
		    (!in->ops && nm_vec_reserve(&s->picks, in->refs.count + 1)))
			return NM_ENOMEM;
	}
	if (h->executor.each && h->shards > 1)
		h->executor.each(h->executor.self, h->shards, run_shard, in);
	else
		for (unsigned i = 0; i < h->shards; i++)
			run_shard(in, i);
	return book(h, in);
}

/* The program's own references to a level that also takes fills. */
static int expand_refs(struct level *l, const struct nm_ref *refs, uint32_t count, uint32_t touches)
{
	const struct nm_cache *c = &l->cache;
	uint64_t mask[NM_LINE_WORDS_MAX];

	if (clear_ops(&l->direct, c->words, touches))
		return NM_ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		const struct nm_ref *r = &refs[i];
		int write = r->kind == NM_REF_WRITE;
		uint64_t address = r->address;
		if (!(r->kind == NM_REF_FETCH ? l->fetches : l->data))
			continue;
		*(write ? &l->tally.cells[r->cell].writes : &l->tally.cells[r->cell].reads) += r->weight;
		for (uint32_t left = r->size; left;) {
			uint64_t first = address & (c->spec.line - 1);
			uint32_t n = left < c->spec.line - first ? left : (uint32_t)(c->spec.line - first);
			memset(mask, 0, c->words * sizeof mask[0]);
			for (uint64_t b = first; b < first + n; b++)
				mask[b / 64] |= 1ull << b % 64;
			add_op(&l->direct,
			       (struct nm_op){.line = address >> c->line_shift,
					      .uses = 2 * (uint64_t)r->weight + (unsigned)write,
					      .cell = r->cell,
					      .order = i,
					      .flags = r->kind | NM_OP_DIRECT},
			       mask, c->words);
			address += n;
			left -= n;
		}
	}
	return 0;
}

/* The inputs of a level in one, in the order of the references.  NULL: out of memory. */
static const struct nm_ops *merge_inputs(struct nm_hierarchy *h, struct level *l)
{
	const struct nm_ops *from[3];
	unsigned n = 0;

	for (unsigned s = 0; s < 2; s++)
		if (l->sources[s] != NONE)
			from[n++] = &h->levels[l->sources[s]].out;
	if (l->direct.list.count)
		from[n++] = &l->direct;
	if (n == 1)
		return from[0];
	return nm_ops_merge(&l->mixed, from, n, l->cache.words) ? NULL : &l->mixed;
}

static int run_piece(struct nm_hierarchy *h, const struct nm_ref *refs, uint32_t count,
		     const struct census *census)
{
	for (unsigned i = 0; i < h->count; i++) {
		struct level *l = &h->levels[i];
		struct input in = {.level = l};
		l->out.list.count = 0;
		l->out.fills = 0;
		if (is_first(l)) {
			int data = l->data && count > census->fetch_runs;
			int fetches = l->fetches && census->fetch_runs;
			if (!data && !fetches)
				continue;
			l->tally.reads += (l->data ? census->reads : 0) + (l->fetches ? census->fetches : 0);
			l->tally.writes += l->data ? census->writes : 0;
			in.refs = (struct nm_refs_job){.refs = refs,
						       .count = count,
						       .touches = census->touches,
						       .data = l->data,
						       .fetches = l->fetches,
						       .all = (l->data || count == census->fetch_runs) &&
							      (l->fetches || !census->fetch_runs),
						       .plain = census->plain};
		} else {
			int own =
			    (l->data && count > census->fetch_runs) || (l->fetches && census->fetch_runs);
			l->direct.list.count = 0;
			if (own && expand_refs(l, refs, count, census->touches))
				return NM_ENOMEM;
			in.ops = merge_inputs(h, l);
			if (!in.ops)
				return NM_ENOMEM;
			if (!in.ops->list.count)
				continue;
		}
		if (run_level(h, &in))
			return NM_ENOMEM;
	}
	return 0;
}

/* Looks over references from the first on, as many as make a piece; returns how many. */
static uint32_t take_census(const struct nm_hierarchy *h, const struct nm_ref *refs, size_t count,
			    struct census *ret)
{
	struct census c = {0};
	uint32_t n = 0, most = h->shards > 1 ? NM_BATCH : PIECE;

	for (; n < count && n < most; n++) {
		const struct nm_ref *r = &refs[n];
		uint32_t lines = r->size <= h->line ? 2 : r->size / h->line + 2;
		if (c.touches + lines > TOUCHES && n)
			break;
		c.touches += lines;
		if (r->cell >= c.cells)
			c.cells = r->cell + 1;
		c.fetch_runs += r->kind == NM_REF_FETCH;
		c.fetches += r->kind == NM_REF_FETCH ? r->weight : 0;
		c.writes += r->kind == NM_REF_WRITE ? r->weight : 0;
		c.reads += r->kind == NM_REF_READ ? r->weight : 0;
	}
	*ret = c;
	return n;
}

/* The same for the common case, plain references of at most a line, of which it looks at the first `n` only by
 * their largest and their sums.  0: not the common case. */
static int take_plain_census(const struct nm_hierarchy *h, const struct nm_ref *refs, uint32_t n,
			     struct census *ret)
{
	struct nm_survey survey;

	h->levels[0].cache.lookup.survey(refs, n, &survey);
	if (survey.any_kind > NM_REF_WRITE || survey.any_weight != 1 || survey.all_weight != 1 ||
	    survey.any_size >= 2 * h->line)
		return 0;
	*ret = (struct census){.reads = n - survey.writes,
			       .writes = survey.writes,
			       .cells = survey.cell + 1,
			       .touches = 3 * n,
			       .plain = 1};
	return 1;
}

int nm_hierarchy_run(struct nm_hierarchy *h, const struct nm_ref *refs, size_t count)
{
	while (count && !h->broken) {
		struct census census;
		uint32_t most = h->shards > 1 ? TOUCHES / 3 : PIECE,
			 n = count < most ? (uint32_t)count : most;
		if (!take_plain_census(h, refs, n, &census))
			n = take_census(h, refs, count, &census);
		for (unsigned i = 0; i < h->count; i++)
			h->broken |= nm_tally_reach(&h->levels[i].tally, census.cells) != 0;
		if (!h->broken)
			h->broken = run_piece(h, refs, n, &census) != 0;
		refs += n;
		count -= n;
	}
	return h->broken ? NM_ENOMEM : 0;
}

/* Hands what a resident line knows to the nearest further level that has it too. */
static void settle_outwards(struct nm_hierarchy *h, struct level *l, const struct nm_resident *r)
{
	for (int i = l->next; i != NONE; i = h->levels[i].next) {
		struct nm_cache *lower = &h->levels[i].cache;
		uint64_t placed[NM_LINE_WORDS_MAX];
		place_mask(&l->cache, lower, r->line, r->mask, placed);
		if (nm_cache_settle(lower, lower_line(&l->cache, lower, r->line), r->uses, placed))
			return;
	}
}

int nm_hierarchy_finish(struct nm_hierarchy *h)
{
	for (unsigned i = 0; i < h->count && !h->finished && !h->broken; i++) {
		struct level *l = &h->levels[i];
		struct nm_resident r;
		for (size_t at = 0; nm_cache_next(&l->cache, &at, &r);) {
			charge_stay(l, r.cell, r.uses, bytes_of(&l->cache, r.mask));
			settle_outwards(h, l, &r);
		}
		h->broken |= nm_tally_settle(&l->tally) != 0;
	}
	h->finished = 1;
	return h->broken ? NM_ENOMEM : 0;
}

const struct nm_counts *nm_hierarchy_counts(const struct nm_hierarchy *h, unsigned level, size_t *ret_cells)
{
	*ret_cells = h->levels[level].tally.cell_count;
	return h->levels[level].tally.cells;
}

void nm_hierarchy_total(const struct nm_hierarchy *h, unsigned level, struct nm_counts *ret_total)
{
	const struct nm_tally *t = &h->levels[level].tally;
	uint64_t sums[sizeof *ret_total / sizeof(uint64_t)] = {0};

	for (size_t i = 0; i < t->cell_count; i++) {
		uint64_t row[sizeof *ret_total / sizeof(uint64_t)];
		memcpy(row, &t->cells[i], sizeof row);
		for (size_t f = 0; f < sizeof row / sizeof row[0]; f++)
			sums[f] += row[f];
	}
	memcpy(ret_total, sums, sizeof *ret_total);
	ret_total->reads += t->reads;
	ret_total->writes += t->writes;
}

int nm_hierarchy_evictions(const struct nm_hierarchy *h, unsigned level, struct nm_eviction **ret_list,
			   size_t *ret_count)
{
	const struct nm_tally *t = &h->levels[level].tally;
	struct nm_eviction *list = malloc((t->pair_count + 1) * sizeof *list);
	size_t n = 0;

	if (!list)
		return NM_ENOMEM;
	for (size_t i = 0; i <= t->pair_mask; i++)
		if (t->pairs[i].count)
			list[n++] = (struct nm_eviction){.evictor = (uint32_t)(t->pairs[i].key >> 32),
							 .victim = (uint32_t)t->pairs[i].key,
							 .count = t->pairs[i].count};
	*ret_list = list;
	*ret_count = n;
	return 0;
}
