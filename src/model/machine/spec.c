/* SPDX-License-Identifier: MIT
 *
 * spec.c - reads descriptions of cache hierarchies.
 *
 * The grammar of a SPEC: level (':' level)* (':' PROPERTY '=' VALUE)*,
 * level = (MACHINE '/')? NAME '=' SIZE ',' WAYS ',' LINE (',' KEY '=' VALUE)*.
 * The side of a level follows from its name: a last letter `d` is data, `i` is instructions (D1 and I1, as
 * Cachegrind writes them, too), all else is unified; `side=` overrides that. Every fault is reported with
 * the column where the wrong word starts.
 */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "index.h"
#include "policy.h"
#include "prefetch.h"
#include "protocol.h"
#include "spec_priv.h"

/* A number, with a suffix K, M or G where `suffix`. */
static int read_number(struct nm_spec_reader *r, const char *what, int suffix, uint64_t *ret)
{
	const uint64_t most = (uint64_t)MAX_LINES * MAX_LINE_BYTES; /* the largest level */
	const char *start = r->at;
	unsigned shift = 0;
	uint64_t n = 0;

	for (; isdigit((unsigned char)*r->at); r->at++) {
		n = n * 10 + (uint64_t)(*r->at - '0');
		if (n > most)
			return nm_spec_fault(r, start, "%s is too large", what);
	}
	if (r->at == start)
		return nm_spec_fault(r, start, "%s must be a number%s", what,
				     suffix ? " of bytes, e.g. 32K" : "");
	if (suffix && *r->at && strchr("kKmMgG", *r->at)) {
		char c = (char)toupper((unsigned char)*r->at++);
		shift = c == 'K' ? 10 : c == 'M' ? 20 : 30;
	}
	if (n > most >> shift)
		return nm_spec_fault(r, start, "%s is too large", what);
	if (*r->at && !strchr(",:", *r->at))
		return isgraph((unsigned char)*r->at)
			   ? nm_spec_fault(r, r->at, "unexpected '%c' in %s", *r->at, what)
			   : nm_spec_fault(r, r->at, "%s must end there", what);
	*ret = n << shift;
	return 0;
}

static int expect_comma(struct nm_spec_reader *r, const char *next)
{
	if (*r->at != ',')
		return nm_spec_fault(r, r->at, "%s is missing: a level is NAME=SIZE,WAYS,LINE", next);
	r->at++;
	return 0;
}

/* "MACHINE/" or nothing; the length of what is there. */
static size_t read_prefix(const struct nm_spec_reader *r)
{
	size_t n = strspn(r->at, NM_PREFIX_LETTERS);

	return n && r->at[n] == '/' ? n + 1 : 0;
}

static int read_name(struct nm_spec_reader *r, struct nm_level_spec *level)
{
	const char *start = r->at, *name;
	size_t prefix = read_prefix(r), n = 0;

	if (prefix > NM_PREFIX_MOST + 1)
		return nm_spec_fault(r, start, "the name of a machine is longer than %d letters",
				     NM_PREFIX_MOST);
	name = start + prefix;
	while (isalnum((unsigned char)name[n]))
		n++;
	if (!n)
		return nm_spec_fault(r, name, "a level must start with its name, e.g. L1d=32K,8,64");
	if (n > NM_LEVEL_NAME_MOST)
		return nm_spec_fault(r, name, "the name of a level is longer than %d letters",
				     NM_LEVEL_NAME_MOST);
	if (name[n] != '=')
		return nm_spec_fault(r, name + n, "'=' must follow the name of a level, e.g. L1d=32K,8,64");
	memcpy(level->name, start, prefix + n);
	level->name[prefix + n] = 0;
	level->side = spec_side(level->name);
	r->at = name + n + 1;
	return 0;
}

/* Reads one of the words in `names`; *ret is its index. */
static int read_word(struct nm_spec_reader *r, const char *key, const char *const *names, unsigned count,
		     unsigned *ret)
{
	size_t n = strcspn(r->at, ",:"), room = 0;
	char known[200] = "";

	for (unsigned i = 0; i < count; i++) {
		if (strlen(names[i]) == n && !strncmp(r->at, names[i], n)) {
			*ret = i;
			r->at += n;
			return 0;
		}
		room += (size_t)snprintf(known + room, sizeof known - room, "%s%s",
					 !i               ? ""
					 : i + 1 == count ? " or "
							  : ", ",
					 names[i]);
	}
	return nm_spec_fault(r, r->at, "%s must be %s", key, known);
}

static int read_sets(struct nm_spec_reader *r, struct nm_spec_draft *d)
{
	int status;

	d->at.sets = r->at;
	status = read_number(r, "sets", 0, &d->sets);
	return status || d->sets ? status : nm_spec_fault(r, d->at.sets, "a level needs at least one set");
}

static int read_side(struct nm_spec_reader *r, struct nm_spec_draft *d)
{
	unsigned side = 0;
	int status = read_word(r, "side", nm_side_names, 3, &side);

	d->level->side = (enum nm_level_side)side;
	return status;
}

static int read_policy(struct nm_spec_reader *r, struct nm_spec_draft *d)
{
	const char *names[32];
	unsigned count = 0, policy = 0;

	for (; nm_policies[count]; count++) {
		assert(count < sizeof names / sizeof *names);
		names[count] = nm_policies[count]->name;
	}
	d->at.policy = r->at;
	int status = read_word(r, "policy", names, count, &policy);
	d->level->policy = policy ? nm_policies[policy] : NULL;
	return status;
}

static int read_seed(struct nm_spec_reader *r, struct nm_spec_draft *d)
{
	d->at.seed = r->at;
	return read_number(r, "seed", 0, &d->level->seed);
}

static int read_index(struct nm_spec_reader *r, struct nm_spec_draft *d)
{
	const char *names[NM_INDEX_COUNT];
	unsigned index = 0;

	for (unsigned i = 0; i < NM_INDEX_COUNT; i++)
		names[i] = nm_indexes[i].name;
	d->at.index = r->at;
	int status = read_word(r, "index", names, NM_INDEX_COUNT, &index);
	d->level->index = (enum nm_index_kind)index;
	return status;
}

static int read_slices(struct nm_spec_reader *r, struct nm_spec_draft *d)
{
	int status;

	d->at.slices = r->at;
	status = read_number(r, "slices", 0, &d->slices);
	return status || d->slices == 2 || d->slices == 4 || d->slices == 8
		   ? status
		   : nm_spec_fault(r, d->at.slices, "slices must be 2, 4 or 8");
}

static int read_write(struct nm_spec_reader *r, struct nm_spec_draft *d)
{
	unsigned through = 0;
	int status = read_word(r, "write", nm_write_names, 2, &through);

	d->level->write_through = (int)through;
	return status;
}

static int read_allocate(struct nm_spec_reader *r, struct nm_spec_draft *d)
{
	unsigned no = 0;
	int status = read_word(r, "allocate", nm_allocate_names, 2, &no);

	d->level->no_allocate = (int)no;
	return status;
}

static int read_inclusion(struct nm_spec_reader *r, struct nm_spec_draft *d)
{
	unsigned inclusion = 0;
	int status = read_word(r, "inclusion", nm_inclusion_names, 3, &inclusion);

	d->level->inclusion = (enum nm_inclusion)inclusion;
	return status;
}

static int read_shared(struct nm_spec_reader *r, struct nm_spec_draft *d)
{
	unsigned no = 0;
	int status = read_word(r, "shared", nm_sharing_names, 2, &no);

	d->level->sharing = no ? NM_PRIVATE : NM_SHARED;
	return status;
}

static int read_pages(struct nm_spec_reader *r, struct nm_spec_draft *d)
{
	unsigned size = 0;

	for (;; r->at++) {
		size_t n = strcspn(r->at, "+,:");
		for (size = 0; size < NM_PAGE_SIZES; size++)
			if (n == 2 && !strncmp(r->at, nm_page_names[size], n))
				break;
		if (size == NM_PAGE_SIZES)
			return nm_spec_fault(r, r->at, "pages are 4K, 2M and 1G, joined by '+'");
		d->level->pages |= 1u << size;
		r->at += n;
		if (*r->at != '+')
			return 0;
	}
}

static int read_huge(struct nm_spec_reader *r, struct nm_spec_draft *d)
{
	const char *const names[] = {"no", nm_page_names[NM_PAGE_2M], nm_page_names[NM_PAGE_1G]};
	unsigned huge = 0;
	int status;

	d->at.huge = r->at;
	status = read_word(r, "huge", names, 3, &huge);
	d->level->huge = (enum nm_page_size)huge;
	return status;
}

static int read_plugin(struct nm_spec_reader *r, struct nm_spec_draft *d)
{
	size_t n = strcspn(r->at, ",:");

	d->at.plugin = r->at;
	if (!n || n >= sizeof d->level->plugin)
		return nm_spec_fault(r, r->at, "plugin is a file name of 1 to %zu letters",
				     sizeof d->level->plugin - 1);
	memcpy(d->level->plugin, r->at, n);
	r->at += n;
	return 0;
}

static int read_sector(struct nm_spec_reader *r, struct nm_spec_draft *d)
{
	d->at.sector = r->at;
	return read_number(r, "sector", 0, &d->sector);
}

static int read_prefetch(struct nm_spec_reader *r, struct nm_spec_draft *d)
{
	const char *names[NM_PREFETCH_COUNT] = {"no"};
	unsigned prefetch = 0;

	for (unsigned i = 1; i < NM_PREFETCH_COUNT; i++)
		names[i] = nm_prefetchers[i]->name;
	d->at.prefetch = r->at;
	int status = read_word(r, "prefetch", names, NM_PREFETCH_COUNT, &prefetch);
	d->level->prefetch = (enum nm_prefetch_kind)prefetch;
	return status;
}

static int read_protocol(struct nm_spec_reader *r, struct nm_spec_draft *d)
{
	const char *names[16];
	unsigned count = 0, protocol = 0;

	for (; nm_protocols[count]; count++)
		names[count] = nm_protocols[count]->name;
	int status = read_word(r, "protocol", names, count, &protocol);
	d->level->protocol = nm_protocols[protocol];
	return status;
}

static int read_amount(struct nm_spec_reader *r, const char *what, uint32_t most, const char **at,
		       uint32_t *ret)
{
	uint64_t n = 0;
	int status;

	*at = r->at;
	status = read_number(r, what, 0, &n);
	*ret = (uint32_t)n;
	return status || (n && n <= most) ? status
					  : nm_spec_fault(r, *at, "%s must be from 1 to %u", what, most);
}

static int read_degree(struct nm_spec_reader *r, struct nm_spec_draft *d)
{
	return read_amount(r, "degree", MAX_DEGREE, &d->at.degree, &d->level->degree);
}

static int read_distance(struct nm_spec_reader *r, struct nm_spec_draft *d)
{
	return read_amount(r, "distance", MAX_DISTANCE, &d->at.distance, &d->level->distance);
}

static int read_table(struct nm_spec_reader *r, struct nm_spec_draft *d)
{
	return read_amount(r, "table", MAX_TABLE, &d->at.table, &d->level->table);
}

static int read_cross(struct nm_spec_reader *r, struct nm_spec_draft *d)
{
	unsigned yes = 0;
	int status;

	d->at.cross = r->at;
	status = read_word(r, "cross", nm_cross_names, 2, &yes);
	d->level->cross_pages = (int)yes;
	return status;
}

static int read_latency(struct nm_spec_reader *r, uint32_t *ret)
{
	const char *start = r->at;
	uint64_t cycles;
	int status = read_number(r, "a latency", 0, &cycles);

	if (!status && (!cycles || cycles > NM_MAX_LATENCY))
		status = nm_spec_fault(r, start, "a latency must be from 1 to %d cycles", NM_MAX_LATENCY);
	if (!status)
		*ret = (uint32_t)cycles;
	return status;
}

static int read_level_latency(struct nm_spec_reader *r, struct nm_spec_draft *d)
{
	return read_latency(r, &d->level->latency);
}

static const struct key {
	const char *name;
	int (*read)(struct nm_spec_reader *r, struct nm_spec_draft *d);
} keys[] = {
    {"sets", read_sets},           {"side", read_side},
    {"policy", read_policy},       {"seed", read_seed},
    {"index", read_index},         {"slices", read_slices},
    {"write", read_write},         {"allocate", read_allocate},
    {"inclusion", read_inclusion}, {"latency", read_level_latency},
    {"plugin", read_plugin},       {"pages", read_pages},
    {"huge", read_huge},           {"shared", read_shared},
    {"sector", read_sector},       {"prefetch", read_prefetch},
    {"degree", read_degree},       {"distance", read_distance},
    {"table", read_table},         {"cross", read_cross},
    {"protocol", read_protocol},
};

enum { KEYS = sizeof keys / sizeof *keys };

static int unknown_key(struct nm_spec_reader *r, const char *key, size_t length)
{
	char known[200] = "";
	size_t n = 0;

	for (unsigned i = 0; i < KEYS; i++)
		n += (size_t)snprintf(known + n, sizeof known - n, "%s%s",
				      !i              ? ""
				      : i + 1 == KEYS ? " and "
						      : ", ",
				      keys[i].name);
	return nm_spec_fault(r, key, "unknown key '%.*s': %s are known", (int)length, key, known);
}

/* Reads what follows SIZE,WAYS,LINE. */
static int read_keys(struct nm_spec_reader *r, struct nm_spec_draft *d)
{
	int status = 0;
	while (!status && *r->at == ',') {
		const char *key = ++r->at;
		r->at += strcspn(r->at, "=,:");
		size_t n = (size_t)(r->at - key), i = 0;
		if (*r->at != '=')
			return nm_spec_fault(r, key, "key=value expected, e.g. sets=253");
		r->at++;
		while (i < KEYS && (strlen(keys[i].name) != n || strncmp(keys[i].name, key, n) != 0))
			i++;
		if (i == KEYS)
			return unknown_key(r, key, n);
		status = keys[i].read(r, d);
	}
	return status;
}

static int read_level(struct nm_spec_reader *r, struct nm_level_spec *level)
{
	struct nm_spec_draft d = {.level = level};
	int status = read_name(r, level);

	if (status)
		return status;
	d.at.size = r->at;
	if ((status = read_number(r, "the size", 1, &level->size)) || (status = expect_comma(r, "WAYS")))
		return status;
	d.at.ways = r->at;
	d.full = !strncmp(r->at, "full", 4) && (!r->at[4] || strchr(",:", r->at[4]));
	if (d.full)
		r->at += 4;
	else if ((status = read_number(r, "the number of ways", 0, &d.ways)))
		return status;
	if ((status = expect_comma(r, "LINE")))
		return status;
	d.at.line = r->at;
	if ((status = read_number(r, "the line size", 1, &d.line)) || (status = read_keys(r, &d)))
		return status;
	return model_spec_fit(r, &d);
}

static int read_prefetchers(struct nm_spec_reader *r, struct nm_machine *m)
{
	unsigned kind;

	for (;; r->at++) {
		size_t n = strcspn(r->at, "+:");

		for (kind = 0; kind < NM_PREFETCHER_KINDS; kind++)
			if (strlen(nm_prefetcher_names[kind]) == n &&
			    !strncmp(r->at, nm_prefetcher_names[kind], n))
				break;
		if (kind == NM_PREFETCHER_KINDS)
			return nm_spec_fault(
			    r, r->at, "prefetchers must be pair, stream, stride or several of them with +");
		m->prefetchers |= 1u << kind;
		r->at += n;
		if (*r->at != '+')
			return 0;
	}
}

static int read_tlb(struct nm_spec_reader *r, struct nm_machine *m)
{
	const char *at;

	return read_amount(r, "tlb", NM_MAX_TLB, &at, &m->tlb);
}

static int read_walk(struct nm_spec_reader *r, struct nm_machine *m)
{
	return read_latency(r, &m->walk_latency);
}

static int read_nodes(struct nm_spec_reader *r, struct nm_machine *m)
{
	const char *at;

	return read_amount(r, "nodes", NM_MAX_NODES, &at, &m->nodes);
}

static int read_memory(struct nm_spec_reader *r, struct nm_machine *m)
{
	return read_latency(r, &m->memory_latency);
}

/* What may stand behind the levels, in any order. */
static const struct property {
	const char *name;
	int (*read)(struct nm_spec_reader *r, struct nm_machine *m);
} properties[] = {
    {"prefetchers=", read_prefetchers}, {"tlb=", read_tlb}, {"walk=", read_walk}, {"nodes=", read_nodes},
    {"memory=", read_memory},
};

/* The property that starts here, or NULL. */
static const struct property *property_at(const char *at)
{
	for (size_t i = 0; i < sizeof properties / sizeof *properties; i++)
		if (!strncmp(at, properties[i].name, strlen(properties[i].name)))
			return &properties[i];
	return NULL;
}

/* Reads the properties up to the end of the text. */
static int read_properties(struct nm_spec_reader *r, struct nm_machine *m)
{
	for (;;) {
		const struct property *property = property_at(r->at);

		if (!property)
			return nm_spec_fault(
			    r, r->at,
			    "only prefetchers, tlb, walk, nodes and memory can stand behind the levels");
		r->at += strlen(property->name);
		int status = property->read(r, m);
		if (status)
			return status;
		if (!*r->at)
			return 0;
		if (*r->at != ':')
			return nm_spec_fault(r, r->at, "nothing can stand behind %.*s",
					     (int)strlen(property->name) - 1, property->name);
		r->at++;
	}
}

int nm_machine_parse(const char *spec, struct nm_machine *ret_machine, struct nm_error *err)
{
	struct nm_machine m = {0};
	struct nm_spec_reader r = {spec, spec, err};

	for (;;) {
		const char *start = r.at;
		if (m.count && property_at(start)) {
			int status = read_properties(&r, &m);
			if (status)
				return status;
			break;
		}
		if (m.count == NM_MAX_LEVELS)
			return nm_spec_fault(&r, start, "more than %d levels", NM_MAX_LEVELS);
		int status = read_level(&r, &m.levels[m.count]);
		if (status)
			return status;
		const char *wrong = machine_clash(&m, m.count);
		if (wrong)
			return nm_spec_fault(&r, start, "level %s %s", m.levels[m.count].name, wrong);
		m.count++;
		if (!*r.at)
			break;
		r.at++;
	}
	snprintf(m.name, sizeof m.name, "%s", strlen(spec) < sizeof m.name ? spec : "SPEC");
	snprintf(m.description, sizeof m.description, "as given by the user");
	*ret_machine = m;
	return nm_machine_check(&m, err);
}
