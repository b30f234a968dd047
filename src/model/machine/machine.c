/* SPDX-License-Identifier: MIT
 *
 * machine.c - checks descriptions of cache hierarchies and writes them as the SPEC that spec.c reads.
 */
#include "machine_priv.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "index.h"
#include "plugin.h"
#include "policy.h"
#include "prefetch.h"
#include "protocol.h"

const char *const nm_side_names[3] = {"unified", "data", "instruction"};
const char *const nm_write_names[2] = {"back", "through"};
const char *const nm_allocate_names[2] = {"yes", "no"};
const char *const nm_sharing_names[2] = {"yes", "no"};
const char *const nm_cross_names[2] = {"no", "yes"};
const char *const nm_page_names[3] = {"4K", "2M", "1G"};
const char *const nm_prefetcher_names[NM_PREFETCHER_KINDS] = {"pair", "stream", "stride"};
const char *const nm_inclusion_names[3] = {"non-inclusive", "inclusive", "exclusive"};

static size_t name_prefix(const char *level)
{
	size_t n = strcspn(level, "/=");

	return level[n] == '/' ? n + 1 : 0;
}

int nm_machine_same(const char *level, const char *other)
{
	size_t n = name_prefix(level);

	return n == name_prefix(other) && !strncmp(level, other, n);
}

enum nm_level_side spec_side(const char *name)
{
	name += name_prefix(name);

	size_t n = strlen(name);
	if (!strcmp(name, "D1") || (n && name[n - 1] == 'd'))
		return NM_SIDE_DATA;
	if (!strcmp(name, "I1") || (n && name[n - 1] == 'i'))
		return NM_SIDE_INSTRUCTION;
	return NM_SIDE_UNIFIED;
}

static int takes_fills_of(const struct nm_level_spec *lower, const struct nm_level_spec *upper)
{
	return nm_machine_same(lower->name, upper->name) && !lower->pages == !upper->pages &&
	       (!lower->pages || lower->pages & upper->pages) &&
	       (lower->side == NM_SIDE_UNIFIED || lower->side == upper->side);
}

int nm_machine_begins(const struct nm_machine *m, unsigned i)
{
	assert(i < m->count);
	for (unsigned j = 0; j < i; j++)
		if (nm_machine_same(m->levels[j].name, m->levels[i].name))
			return 0;
	return 1;
}

int nm_machine_first(const struct nm_machine *m, unsigned i, enum nm_level_side side)
{
	assert(i < m->count && side != NM_SIDE_UNIFIED);
	if (m->levels[i].pages || (m->levels[i].side != side && m->levels[i].side != NM_SIDE_UNIFIED))
		return 0;
	for (unsigned j = 0; j < i; j++)
		if (nm_machine_same(m->levels[j].name, m->levels[i].name) &&
		    (m->levels[j].side == side || m->levels[j].side == NM_SIDE_UNIFIED))
			return 0;
	return 1;
}

unsigned nm_machine_depth(const struct nm_machine *m, unsigned i)
{
	enum nm_level_side side =
	    m->levels[i].side == NM_SIDE_INSTRUCTION ? NM_SIDE_INSTRUCTION : NM_SIDE_DATA;
	unsigned depth = 0;

	for (unsigned j = 0; j < i && !m->levels[i].pages; j++)
		depth += nm_machine_same(m->levels[j].name, m->levels[i].name) &&
			 (m->levels[j].side == side || m->levels[j].side == NM_SIDE_UNIFIED);
	return depth;
}

/* Why a level cannot be behind one that prefetches; NULL: it can. */
static const char *prefetch_clash(const struct nm_level_spec *l, const struct nm_level_spec *upper)
{
	if (!upper->prefetch || !takes_fills_of(l, upper))
		return NULL;
	return nm_level_looks_ahead(l) ? "has policy=opt, but a level before it prefetches" : NULL;
}

/* Why level i cannot have its inclusion; NULL: it can. The levels whose fills it takes must be right before
 * it on their side. */
static const char *inclusion_clash(const struct nm_machine *m, unsigned i)
{
	const struct nm_level_spec *l = &m->levels[i];
	unsigned fed = 0;

	assert(i < NM_MAX_LEVELS);
	for (unsigned j = 0; j < i; j++) {
		const struct nm_level_spec *upper = &m->levels[j];
		unsigned between = j + 1;

		if (!nm_machine_same(upper->name, l->name))
			continue;
		if (prefetch_clash(l, upper))
			return prefetch_clash(l, upper);
		if (l->inclusion == NM_INCLUSIVE && nm_level_looks_ahead(upper))
			return "is inclusive, but a level before it has policy=opt";
		if (l->inclusion == NM_INCLUSIVE && upper->inclusion == NM_EXCLUSIVE)
			return "is inclusive, but a level before it is exclusive";

		while (between < i && !takes_fills_of(&m->levels[between], upper))
			between++;
		if (between < i || !takes_fills_of(l, upper))
			continue;
		fed++;
		if (l->inclusion == NM_EXCLUSIVE && (upper->line != l->line || upper->sector))
			return upper->sector ? "is exclusive, but the level before it has sectors"
					     : "is exclusive, but the level before it has other lines";
		if (l->inclusion == NM_EXCLUSIVE && (upper->write_through || upper->no_allocate))
			return "is exclusive, but the level before it hands writes on";
	}
	return !fed && l->inclusion != NM_NON_INCLUSIVE ? "has an inclusion, but no level before it" : NULL;
}

/* Whether the SPEC says of the level, or of one before it, that it is shared. */
static int said_shared(const struct nm_machine *m, unsigned i)
{
	assert(i < NM_MAX_LEVELS);
	if (m->levels[i].sharing != NM_SHARING_USUAL)
		return m->levels[i].sharing == NM_SHARED;
	for (unsigned j = 0; j < i; j++)
		if (takes_fills_of(&m->levels[i], &m->levels[j]) && said_shared(m, j))
			return 1;
	return 0;
}

int nm_machine_private(const struct nm_machine *m, unsigned i)
{
	const struct nm_level_spec *l = &m->levels[i];
	int fed = 0, last = 1;

	assert(i < m->count);
	if (l->sharing != NM_SHARING_USUAL || said_shared(m, i))
		return l->sharing == NM_PRIVATE;
	for (unsigned j = 0; j < m->count; j++) {
		fed |= j < i && takes_fills_of(l, &m->levels[j]);
		last &= j <= i || !takes_fills_of(&m->levels[j], l);
	}
	return l->pages || !fed || !last;
}

static int has_opt(const struct nm_machine *m, const char *level)
{
	for (unsigned i = 0; i < m->count; i++)
		if (nm_level_looks_ahead(&m->levels[i]) && nm_machine_same(m->levels[i].name, level))
			return 1;
	return 0;
}

void nm_machine_set_cores(struct nm_machine *m, unsigned cores)
{
	assert(cores <= NM_MAX_CORES);
	m->cores = cores;
	for (unsigned i = 0; i < m->count && cores > 1; i++) {
		struct nm_level_spec *l = &m->levels[i];
		int first = !l->pages;

		for (unsigned j = 0; j < i; j++)
			first &= !nm_machine_same(m->levels[j].name, l->name);
		if (first && !l->protocol && !has_opt(m, l->name))
			l->protocol = &nm_protocol_mesi;
	}
}

const char *nm_machine_protocol(const struct nm_machine *m, unsigned i)
{
	unsigned first = 0;

	assert(i < m->count);
	while (!nm_machine_same(m->levels[first].name, m->levels[i].name))
		first++;
	return m->cores > 1 && nm_machine_private(m, i) && nm_level_is_coherent(&m->levels[first])
		   ? m->levels[first].protocol->name
		   : NULL;
}

int nm_machine_is_last(const struct nm_machine *m, unsigned i)
{
	assert(i < m->count);
	for (unsigned j = i + 1; j < m->count; j++)
		if (takes_fills_of(&m->levels[j], &m->levels[i]))
			return 0;
	return !m->levels[i].pages;
}

unsigned nm_machine_core(const struct nm_machine *m, uint32_t thread)
{
	unsigned mapped = thread - 1 < NM_MAPPED_THREADS ? m->core_of[thread - 1] : 0;

	return m->cores < 2 ? 0 : (mapped ? mapped - 1 : thread - 1) % m->cores;
}

/* Why level i cannot have its pages behind an earlier level; NULL: it can. */
static const char *page_clash(const struct nm_level_spec *l, const struct nm_level_spec *upper)
{
	if (!l->pages != !upper->pages)
		return "is a TLB beside caches, or the other way round: give its machine another name";
	if (l->huge)
		return "has huge=, which stands with the first level of a TLB";
	if (takes_fills_of(l, upper) && upper->pages & ~l->pages)
		return "takes some of the pages of a level before it, but not all";
	return NULL;
}

const char *machine_clash(const struct nm_machine *m, unsigned i)
{
	const struct nm_level_spec *l = &m->levels[i];
	unsigned depth = 0;

	assert(i < NM_MAX_LEVELS);
	for (unsigned j = 0; j < i; j++) {
		const struct nm_level_spec *upper = &m->levels[j];
		if (!strcmp(upper->name, l->name))
			return "has the name of an earlier level";
		if (!nm_machine_same(upper->name, l->name))
			continue;
		depth++;
		if (upper->side == NM_SIDE_UNIFIED && l->side != NM_SIDE_UNIFIED)
			return "takes one side only, but is behind a unified level";
		if (l->protocol)
			return "has protocol=, which stands with the first level of a machine";
		if (l->sharing == NM_PRIVATE && takes_fills_of(l, upper) && said_shared(m, j))
			return "is not shared, but is behind a level that is";
		if (page_clash(l, upper))
			return page_clash(l, upper);
		if (takes_fills_of(l, upper) && nm_level_unit(l) < nm_level_unit(upper) && !l->pages)
			return l->sector ? "has shorter sectors than what a level before it loads"
					 : "has shorter lines than a level before it";
	}
	return depth < NM_MAX_DEPTH ? inclusion_clash(m, i) : "is one too many: a machine has at most 8";
}

static int format_size(char *text, size_t room, uint64_t size)
{
	static const char suffixes[] = {0, 'K', 'M', 'G'};
	unsigned s = 0;
	while (s < 3 && size && size % 1024 == 0) {
		size /= 1024;
		s++;
	}
	return snprintf(text, room, "%llu%.1s", (unsigned long long)size, s ? &suffixes[s] : "");
}

void nm_pages_format(char *text, size_t room, unsigned pages)
{
	size_t n = 0;

	*text = 0;
	for (unsigned size = 0; size < NM_PAGE_SIZES; size++)
		if (pages >> size & 1 && n < room)
			n += (size_t)snprintf(text + n, room - n, "%s%s", n ? "+" : "", nm_page_names[size]);
}

const char *nm_huge_pages_name(const struct nm_machine *m, unsigned i)
{
	for (unsigned j = 0; j <= i; j++)
		if (m->levels[j].huge && nm_machine_same(m->levels[j].name, m->levels[i].name))
			return nm_page_names[m->levels[j].huge];
	return NULL;
}

static void format_prefetch(char *text, size_t room, const struct nm_level_spec *l)
{
	size_t n = 0;

	*text = 0;
	if (!l->prefetch)
		return;
	n = (size_t)snprintf(text, room, ",prefetch=%s", nm_prefetchers[l->prefetch]->name);
	if (l->degree)
		n += (size_t)snprintf(text + n, room - n, ",degree=%u", l->degree);
	if (l->distance)
		n += (size_t)snprintf(text + n, room - n, ",distance=%u", l->distance);
	if (l->table)
		n += (size_t)snprintf(text + n, room - n, ",table=%u", l->table);
	snprintf(text + n, room - n, "%s", l->cross_pages ? ",cross=yes" : "");
}

/* Writes the keys of a level that differ from their defaults. */
static void format_keys(char *text, size_t room, const struct nm_level_spec *l)
{
	char seed[32] = "", slices[32] = "", latency[32] = "", sector[32] = "", prefetch[96], pages[16];

	if (l->seed)
		snprintf(seed, sizeof seed, ",seed=%llu", (unsigned long long)l->seed);
	if (l->slices)
		snprintf(slices, sizeof slices, ",slices=%u", l->slices);
	nm_pages_format(pages, sizeof pages, l->pages);
	if (l->latency)
		snprintf(latency, sizeof latency, ",latency=%u", l->latency);
	format_prefetch(prefetch, sizeof prefetch, l);
	if (l->sector)
		snprintf(sector, sizeof sector, ",sector=%u", l->sector);
	snprintf(text, room, "%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s",
		 l->side != spec_side(l->name) ? ",side=" : "",
		 l->side != spec_side(l->name) ? nm_side_names[l->side] : "", l->policy ? ",policy=" : "",
		 l->policy ? l->policy->name : "", seed, l->index ? ",index=" : "",
		 l->index ? nm_indexes[l->index].name : "", slices, l->write_through ? ",write=through" : "",
		 l->no_allocate ? ",allocate=no" : "", l->inclusion ? ",inclusion=" : "",
		 l->inclusion ? nm_inclusion_names[l->inclusion] : "", l->sharing ? ",shared=" : "",
		 l->sharing ? nm_sharing_names[l->sharing - 1] : "", *l->plugin ? ",plugin=" : "", l->plugin,
		 l->pages ? ",pages=" : "", pages, l->huge ? ",huge=" : "",
		 l->huge ? nm_page_names[l->huge] : "", sector, prefetch, latency,
		 l->protocol ? ",protocol=" : "", l->protocol ? l->protocol->name : "");
}

size_t nm_machine_format(const struct nm_machine *m, char *text, size_t room)
{
	size_t n = 0;
	for (unsigned i = 0; i < m->count; i++) {
		const struct nm_level_spec *l = &m->levels[i];
		char size[32], line[32], ways[16] = "full", more[512], level[640];
		format_size(size, sizeof size, l->size);
		snprintf(line, sizeof line, "%u", l->line);
		if (l->pages)
			format_size(line, sizeof line, l->line);
		if (l->sets > 1)
			snprintf(ways, sizeof ways, "%u", l->ways);
		format_keys(more, sizeof more, l);
		int length = snprintf(level, sizeof level, "%s%s=%s,%s,%s%s", i ? ":" : "", l->name, size,
				      ways, line, more);
		if (n < room)
			snprintf(text + n, room - n, "%s", level);
		n += (size_t)length;
	}
	for (unsigned i = 0; i < NM_PREFETCHER_KINDS; i++)
		if (m->prefetchers >> i & 1)
			n += (size_t)snprintf(
			    n < room ? text + n : NULL, n < room ? room - n : 0, "%s%s",
			    m->prefetchers & ((1u << i) - 1) ? "+" : ":prefetchers=", nm_prefetcher_names[i]);
	const struct {
		const char *name;
		unsigned value;
	} figures[] = {
	    {"tlb", m->tlb}, {"walk", m->walk_latency}, {"nodes", m->nodes}, {"memory", m->memory_latency}};
	for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
		if (figures[i].value)
			n += (size_t)snprintf(n < room ? text + n : NULL, n < room ? room - n : 0, ":%s=%u",
					      figures[i].name, figures[i].value);
	return n;
}

const char *sector_fault(const struct nm_level_spec *l)
{
	if (l->sector < 8 || l->sector >= l->line || (l->sector & (l->sector - 1)))
		return "a sector is a power of two from 8 bytes to half of the line";
	if (*l->plugin || l->inclusion == NM_EXCLUSIVE || l->pages)
		return "no sectors in exclusive levels, TLBs and levels of plug-ins";
	return l->sets * l->ways > MAX_LINES / (l->line / l->sector) ? "more than 67108864 sectors" : NULL;
}

const char *prefetch_fault(const struct nm_level_spec *l)
{
	if (l->prefetch && l->pages)
		return "TLBs do not prefetch";
	if (l->prefetch && nm_level_looks_ahead(l))
		return "policy=opt loads what is asked for, nothing ahead of it";
	if (l->prefetch && l->inclusion == NM_EXCLUSIVE)
		return "an exclusive level does not prefetch";
	return l->prefetch && l->table && !nm_prefetchers[l->prefetch]->entries ? "prefetch=next has no table"
										: NULL;
}

static const char *choice_fault(const struct nm_level_spec *l)
{
	if ((unsigned)l->side > NM_SIDE_INSTRUCTION)
		return "has no side";
	if ((unsigned)l->index >= NM_INDEX_COUNT || (unsigned)l->inclusion > NM_EXCLUSIVE ||
	    (unsigned)l->sharing > NM_PRIVATE)
		return "has no such index or inclusion";
	if (!memchr(l->plugin, 0, sizeof l->plugin) || (*l->plugin && (l->policy || l->index)))
		return "has a policy or an index beside a plug-in";
	if (nm_level_looks_ahead(l) && (l->no_allocate || l->inclusion || l->sector))
		return "has policy=opt, but what it is asked for depends on what it holds";
	if (l->pages >> NM_PAGE_SIZES || l->huge >= NM_PAGE_SIZES || (l->huge && !l->pages))
		return "has no such pages";
	if (l->pages && l->line != 1u << nm_page_shifts[__builtin_ctz(l->pages)])
		return "has lines that are not the smallest of its pages";
	if ((unsigned)l->prefetch >= NM_PREFETCH_COUNT || l->degree > MAX_DEGREE ||
	    l->distance > MAX_DISTANCE || l->table > MAX_TABLE ||
	    (!l->prefetch && (l->degree || l->distance || l->table || l->cross_pages)) || prefetch_fault(l))
		return "has a prefetcher that cannot be";
	if (l->protocol && l->pages)
		return "is of a TLB, which has no protocol";
	if (l->sector && sector_fault(l))
		return "has sectors that cannot be";
	if (l->index == NM_INDEX_SLICES && l->slices != 2 && l->slices != 4 && l->slices != 8)
		return "has 2, 4 or 8 slices";
	return nm_indexes[l->index].lacks ? nm_indexes[l->index].lacks(l) : NULL;
}

int nm_machine_check(const struct nm_machine *m, struct nm_error *err)
{
	if (!m->count || m->count > NM_MAX_LEVELS)
		return nm_fail(err, NM_EINVAL, "a machine has 1 to %d levels", NM_MAX_LEVELS);
	if (m->cores > NM_MAX_CORES)
		return nm_fail(err, NM_EINVAL, "a machine has at most %d cores", NM_MAX_CORES);
	if (m->nodes > NM_MAX_NODES)
		return nm_fail(err, NM_EINVAL, "a machine has at most %d nodes", NM_MAX_NODES);
	if (m->tlb > NM_MAX_TLB)
		return nm_fail(err, NM_EINVAL, "a TLB holds at most %d pages", NM_MAX_TLB);
	for (unsigned i = 0; i < m->count; i++) {
		const struct nm_level_spec *l = &m->levels[i];
		if (!l->name[0] || !memchr(l->name, 0, sizeof l->name))
			return nm_fail(err, NM_EINVAL, "level %u has no name", i + 1);
		if (!l->pages && (l->line < 8 || l->line > MAX_LINE_BYTES || (l->line & (l->line - 1))))
			return nm_fail(err, NM_EINVAL,
				       "level %s: a line must be a power of two from 8 to %d bytes", l->name,
				       MAX_LINE_BYTES);
		if (!l->ways || !l->sets || l->ways > MAX_LINES || l->sets > MAX_LINES / l->ways)
			return nm_fail(err, NM_EINVAL, "level %s: sets * ways must be from 1 to %d", l->name,
				       MAX_LINES);
		if (l->size != l->sets * l->ways * l->line)
			return nm_fail(err, NM_EINVAL, "level %s: size is not sets * ways * line", l->name);
		const char *wrong = choice_fault(l);
		if (!wrong && m->hints && nm_level_looks_ahead(l))
			wrong = "has policy=opt, but the program's prefetches are simulated";
		if (!wrong && nm_level_is_coherent(l) && has_opt(m, l->name))
			wrong = "has a protocol, but its machine has a level with policy=opt";
		if (!wrong)
			wrong = machine_clash(m, i);
		if (wrong)
			return nm_fail(err, NM_EINVAL, "level %s %s", l->name, wrong);
	}
	return 0;
}

unsigned nm_machine_opt_before(const struct nm_machine *m, unsigned i)
{
	unsigned n = 0;

	for (unsigned j = 0; j < i; j++)
		n += nm_level_looks_ahead(&m->levels[j]) && takes_fills_of(&m->levels[i], &m->levels[j]);
	return n;
}

unsigned nm_machine_runs_ahead(const struct nm_machine *m)
{
	unsigned runs = 0;

	for (unsigned i = 0; i < m->count; i++)
		if (nm_level_looks_ahead(&m->levels[i]) && nm_machine_opt_before(m, i) + 1 > runs)
			runs = nm_machine_opt_before(m, i) + 1;
	return runs;
}

int nm_machine_check_present(const struct nm_machine *m, int stored, struct nm_error *err)
{
	for (unsigned i = 0; i < m->count && !stored; i++)
		if (nm_level_looks_ahead(&m->levels[i]))
			return nm_fail(err, NM_EINVAL,
				       "level %s: policy=opt must know the references to come, which no run "
				       "tells",
				       m->levels[i].name);
	for (unsigned i = 0; i < m->count; i++) {
		struct nm_plugin plugin;
		int status = *m->levels[i].plugin ? nm_plugin_open(&plugin, &m->levels[i], err) : 0;

		if (status)
			return status;
		if (*m->levels[i].plugin)
			nm_plugin_close(&plugin);
	}
	return 0;
}

/* Whether a name can be a prefix and no level has it yet. */
static int is_free_prefix(const struct nm_machine *m, const char *name)
{
	char level[64];

	snprintf(level, sizeof level, "%.40s/", name);
	if (!*name || strlen(name) > NM_PREFIX_MOST || strspn(name, NM_PREFIX_LETTERS) != strlen(name))
		return 0;
	for (unsigned i = 0; i < m->count; i++)
		if (nm_machine_same(m->levels[i].name, level))
			return 0;
	return 1;
}

/* Whether all levels of m have prefixes that no level of `to` has. */
static int has_own_prefixes(const struct nm_machine *to, const struct nm_machine *m)
{
	for (unsigned i = 0; i < m->count; i++) {
		if (!strchr(m->levels[i].name, '/'))
			return 0;
		for (unsigned k = 0; k < to->count; k++)
			if (nm_machine_same(to->levels[k].name, m->levels[i].name))
				return 0;
	}
	return 1;
}

/* Chooses a prefix for the levels of m behind those of `to`: that of its first level, the machine's name, or
 * a number. */
static void choose_prefix(const struct nm_machine *to, const struct nm_machine *m,
			  char name[NM_PREFIX_MOST + 1])
{
	const char *first = m->levels[0].name;

	snprintf(name, NM_PREFIX_MOST + 1, "%.*s", name_prefix(first) ? (int)name_prefix(first) - 1 : 0,
		 first);
	if (!is_free_prefix(to, name) && is_free_prefix(to, m->name))
		snprintf(name, NM_PREFIX_MOST + 1, "%.*s", NM_PREFIX_MOST, m->name);
	for (unsigned number = 2; !is_free_prefix(to, name); number++)
		snprintf(name, NM_PREFIX_MOST + 1, "%u", number);
}

int nm_machine_join(struct nm_machine *to, const struct nm_machine *m, struct nm_error *err)
{
	char name[NM_PREFIX_MOST + 1];
	struct nm_machine joined = *to;

	if (!to->count) {
		*to = *m;
		return 0;
	}
	if (to->count + m->count > NM_MAX_LEVELS)
		return nm_fail(err, NM_EINVAL, "the machines have more than %d levels together",
			       NM_MAX_LEVELS);
	const int keep_names = has_own_prefixes(to, m);
	choose_prefix(to, m, name);
	for (unsigned i = 0; i < m->count; i++) {
		struct nm_level_spec *level = &joined.levels[joined.count++];

		*level = m->levels[i];
		const char *slash = strchr(m->levels[i].name, '/');

		if (keep_names)
			continue;
		snprintf(level->name, sizeof level->name, "%s/%.*s", name, NM_LEVEL_NAME_MOST,
			 slash ? slash + 1 : m->levels[i].name);
	}
	size_t n = strlen(to->name);
	snprintf(joined.name + n, sizeof joined.name - n, ", %s", name);
	snprintf(joined.description, sizeof joined.description,
		 "side by side, levels of further ones behind their name");
	*to = joined;
	return nm_machine_check(to, err);
}

void nm_machine_drop_fetches(struct nm_machine *machine)
{
	const enum nm_page_size huge = machine->levels[0].huge;
	unsigned kept = 0;

	for (unsigned i = 0; i < machine->count; i++)
		if (machine->levels[i].side != NM_SIDE_INSTRUCTION)
			machine->levels[kept++] = machine->levels[i];
	machine->count = kept;
	if (kept)
		machine->levels[0].huge = huge; /* of the TLB; kept in the first level */
}

const struct nm_level_spec *nm_machine_data_cache(const struct nm_machine *machine)
{
	for (unsigned i = 0; i < machine->count; i++)
		if (nm_machine_first(machine, i, NM_SIDE_DATA))
			return &machine->levels[i];
	return NULL;
}
