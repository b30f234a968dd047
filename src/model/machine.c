/* SPDX-License-Identifier: MIT
 *
 * machine.c - reads, writes and checks descriptions of cache hierarchies.
 *
 * The grammar of a SPEC:  level (':' level)* (':memory=' CYCLES)?,
 * level = NAME '=' SIZE ',' WAYS ',' LINE (',' KEY '=' VALUE)*.
 * The side of a level follows from its name: a last letter `d` is data, `i` is instructions (D1 and I1, as
 * Cachegrind writes them, too), all else is unified; `side=` overrides that.  Every fault is told with
 * the column where the wrong word starts.
 */
#include "machine.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MAX_LINES = 1 << 26, MAX_LINE_BYTES = 4096, MAX_LATENCY = 1000000 };

static const char *const side_names[] = {"unified", "data", "instruction"};

/* A text being read. */
struct reader {
	const char *spec, *at;
	struct nm_error *err;
};

static int column(const struct reader *r, const char *at) { return (int)(at - r->spec); }

#define fault(r, at, ...) nm_fail_at((r)->err, (r)->spec, column((r), (at)), __VA_ARGS__)

static enum nm_level_side side_of(const char *name)
{
	size_t n = strlen(name);
	if (!strcmp(name, "D1") || (n && name[n - 1] == 'd'))
		return NM_SIDE_DATA;
	if (!strcmp(name, "I1") || (n && name[n - 1] == 'i'))
		return NM_SIDE_INSTRUCTION;
	return NM_SIDE_UNIFIED;
}

/* A number, with a suffix K, M or G where `suffix`. */
static int read_number(struct reader *r, const char *what, int suffix, uint64_t *ret)
{
	const char *start = r->at;
	uint64_t n = 0;

	for (; isdigit((unsigned char)*r->at); r->at++) {
		if (n > (UINT64_MAX >> 32) / 10)
			return fault(r, start, "%s is too large", what);
		n = n * 10 + (uint64_t)(*r->at - '0');
	}
	if (r->at == start)
		return fault(r, start, "%s must be a number%s", what, suffix ? " of bytes, e.g. 32K" : "");
	if (suffix && *r->at && strchr("kKmMgG", *r->at)) {
		char c = (char)toupper((unsigned char)*r->at++);
		n <<= c == 'K' ? 10 : c == 'M' ? 20 : 30;
	}
	if (*r->at && !strchr(",:", *r->at))
		return fault(r, r->at, "unexpected '%c' in %s", *r->at, what);
	*ret = n;
	return 0;
}

static int expect_comma(struct reader *r, const char *next)
{
	if (*r->at != ',')
		return fault(r, r->at, "%s is missing: a level is NAME=SIZE,WAYS,LINE", next);
	r->at++;
	return 0;
}

static int read_name(struct reader *r, struct nm_level_spec *level)
{
	const char *start = r->at;
	size_t n = 0;

	while (isalnum((unsigned char)start[n]))
		n++;
	if (!n)
		return fault(r, start, "a level must start with its name, e.g. L1d=32K,8,64");
	if (n >= sizeof level->name)
		return fault(r, start, "the name of a level is longer than %zu letters",
			     sizeof level->name - 1);
	if (start[n] != '=')
		return fault(r, start + n, "'=' must follow the name of a level, e.g. L1d=32K,8,64");
	memcpy(level->name, start, n);
	level->name[n] = 0;
	level->side = side_of(level->name);
	r->at = start + n + 1;
	return 0;
}

static int read_side(struct reader *r, enum nm_level_side *ret)
{
	size_t n = strcspn(r->at, ",:");
	for (unsigned s = 0; s < sizeof side_names / sizeof side_names[0]; s++)
		if (strlen(side_names[s]) == n && !strncmp(r->at, side_names[s], n)) {
			*ret = (enum nm_level_side)s;
			r->at += n;
			return 0;
		}
	return fault(r, r->at, "side must be unified, data or instruction");
}

static int read_latency(struct reader *r, uint32_t *ret)
{
	const char *start = r->at;
	uint64_t cycles;
	int code = read_number(r, "a latency", 0, &cycles);

	if (!code && (!cycles || cycles > MAX_LATENCY))
		code = fault(r, start, "a latency must be from 1 to %d cycles", MAX_LATENCY);
	if (!code)
		*ret = (uint32_t)cycles;
	return code;
}

/* What may follow SIZE,WAYS,LINE. */
static int read_keys(struct reader *r, struct nm_level_spec *level, uint64_t *sets, const char **sets_at)
{
	int code = 0;
	while (!code && *r->at == ',') {
		const char *key = ++r->at;
		r->at += strcspn(r->at, "=,:");
		size_t n = (size_t)(r->at - key);
		if (*r->at != '=')
			return fault(r, key, "key=value expected, e.g. sets=253");
		r->at++;
		if (n == 4 && !strncmp(key, "sets", 4)) {
			*sets_at = r->at;
			code = read_number(r, "sets", 0, sets);
			if (!code && !*sets)
				code = fault(r, *sets_at, "a level needs at least one set");
		} else if (n == 4 && !strncmp(key, "side", 4)) {
			code = read_side(r, &level->side);
		} else if (n == 7 && !strncmp(key, "latency", 7)) {
			code = read_latency(r, &level->latency);
		} else {
			return fault(r, key, "unknown key '%.*s': sets, side and latency are known", (int)n,
				     key);
		}
	}
	return code;
}

/* The places in the text where the figures of a level stand. */
struct places {
	const char *size, *ways, *line, *sets;
};

/* Makes size, ways and sets agree. */
static int fit_level(struct reader *r, struct nm_level_spec *level, int full, uint64_t ways, uint64_t line,
		     uint64_t sets, const struct places *at)
{
	if (line < 8 || line > MAX_LINE_BYTES || (line & (line - 1)))
		return fault(r, at->line, "a line must be a power of two from 8 to %d bytes", MAX_LINE_BYTES);
	if (!full && !ways)
		return fault(r, at->ways, "a level needs at least one way");
	if (full && at->sets)
		return fault(r, at->sets, "a fully associative level has one set");
	if (full)
		ways = level->size / line;
	if (ways > MAX_LINES)
		return fault(r, full ? at->size : at->ways, "more than %d ways", MAX_LINES);
	if (at->sets) {
		if (sets > MAX_LINES / ways)
			return fault(r, at->sets, "more than %d lines", MAX_LINES);
		level->size = sets * ways * line;
	}
	if (!level->size || !ways || level->size % (ways * line))
		return fault(r, at->size, "%s: %llu bytes are not a multiple of %llu ways of %llu bytes",
			     level->name, (unsigned long long)level->size,
			     (unsigned long long)(ways ? ways : 1), (unsigned long long)line);
	level->sets = level->size / (ways * line);
	if (level->sets > MAX_LINES / ways)
		return fault(r, at->size, "%s has more than %d lines", level->name, MAX_LINES);
	level->ways = (uint32_t)ways;
	level->line = (uint32_t)line;
	return 0;
}

static int read_level(struct reader *r, struct nm_level_spec *level)
{
	struct places at = {0};
	uint64_t ways = 0, line = 0, sets = 0;
	int full, code = read_name(r, level);

	if (code)
		return code;
	at.size = r->at;
	if ((code = read_number(r, "the size", 1, &level->size)) || (code = expect_comma(r, "WAYS")))
		return code;
	at.ways = r->at;
	full = !strncmp(r->at, "full", 4) && (!r->at[4] || strchr(",:", r->at[4]));
	if (full)
		r->at += 4;
	else if ((code = read_number(r, "the number of ways", 0, &ways)))
		return code;
	if ((code = expect_comma(r, "LINE")))
		return code;
	at.line = r->at;
	if ((code = read_number(r, "the line size", 0, &line)) ||
	    (code = read_keys(r, level, &sets, &at.sets)))
		return code;
	return fit_level(r, level, full, ways, line, sets, &at);
}

/* What level i makes impossible beside those before it; NULL if nothing. */
static const char *clash(const struct nm_machine *m, unsigned i)
{
	const struct nm_level_spec *l = &m->levels[i];
	for (unsigned j = 0; j < i; j++) {
		const struct nm_level_spec *upper = &m->levels[j];
		if (!strcmp(upper->name, l->name))
			return "has the name of an earlier level";
		if (upper->side == NM_SIDE_UNIFIED && l->side != NM_SIDE_UNIFIED)
			return "takes one side only, but stands behind a unified level";
		if ((l->side == NM_SIDE_UNIFIED || l->side == upper->side) && l->line < upper->line)
			return "has shorter lines than a level before it";
	}
	return NULL;
}

/* "memory=CYCLES" at the end of the text. */
static int read_memory(struct reader *r, uint32_t *ret)
{
	int code;

	r->at += strlen("memory=");
	code = read_latency(r, ret);
	if (!code && *r->at)
		code = fault(r, r->at, "nothing can stand behind memory");
	return code;
}

int nm_machine_parse(const char *spec, struct nm_machine *ret_machine, struct nm_error *err)
{
	struct nm_machine m = {0};
	struct reader r = {spec, spec, err};

	for (;;) {
		const char *start = r.at;
		if (m.count && !strncmp(start, "memory=", 7)) {
			int wrong_latency = read_memory(&r, &m.memory_latency);
			if (wrong_latency)
				return wrong_latency;
			break;
		}
		if (m.count == NM_MAX_LEVELS)
			return fault(&r, start, "more than %d levels", NM_MAX_LEVELS);
		int code = read_level(&r, &m.levels[m.count]);
		if (code)
			return code;
		const char *wrong = clash(&m, m.count);
		if (wrong)
			return fault(&r, start, "level %s %s", m.levels[m.count].name, wrong);
		m.count++;
		if (!*r.at)
			break;
		r.at++;
	}
	snprintf(m.name, sizeof m.name, "%s", spec);
	snprintf(m.description, sizeof m.description, "as given by the user");
	*ret_machine = m;
	return nm_machine_check(&m, err);
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

size_t nm_machine_format(const struct nm_machine *m, char *text, size_t room)
{
	size_t n = 0;
	for (unsigned i = 0; i < m->count; i++) {
		const struct nm_level_spec *l = &m->levels[i];
		char size[32], ways[16] = "full", side[32] = "", latency[32] = "", level[128];
		format_size(size, sizeof size, l->size);
		if (l->sets > 1)
			snprintf(ways, sizeof ways, "%u", l->ways);
		if (l->side != side_of(l->name))
			snprintf(side, sizeof side, ",side=%s", side_names[l->side]);
		if (l->latency)
			snprintf(latency, sizeof latency, ",latency=%u", l->latency);
		int length = snprintf(level, sizeof level, "%s%s=%s,%s,%u%s%s", i ? ":" : "", l->name, size,
				      ways, l->line, side, latency);
		if (n < room)
			snprintf(text + n, room - n, "%s", level);
		n += (size_t)length;
	}
	if (m->memory_latency)
		n += (size_t)snprintf(n < room ? text + n : NULL, n < room ? room - n : 0, ":memory=%u",
				      m->memory_latency);
	return n;
}

int nm_machine_check(const struct nm_machine *m, struct nm_error *err)
{
	if (!m->count || m->count > NM_MAX_LEVELS)
		return nm_fail(err, NM_EINVAL, "a machine has 1 to %d levels", NM_MAX_LEVELS);
	for (unsigned i = 0; i < m->count; i++) {
		const struct nm_level_spec *l = &m->levels[i];
		if (!l->name[0] || !memchr(l->name, 0, sizeof l->name))
			return nm_fail(err, NM_EINVAL, "level %u has no name", i + 1);
		if (l->line < 8 || l->line > MAX_LINE_BYTES || (l->line & (l->line - 1)))
			return nm_fail(err, NM_EINVAL,
				       "level %s: a line must be a power of two from 8 to %d bytes", l->name,
				       MAX_LINE_BYTES);
		if (!l->ways || !l->sets || l->ways > MAX_LINES || l->sets > MAX_LINES / l->ways)
			return nm_fail(err, NM_EINVAL, "level %s: sets * ways must be from 1 to %d", l->name,
				       MAX_LINES);
		if (l->size != l->sets * l->ways * l->line)
			return nm_fail(err, NM_EINVAL, "level %s: size is not sets * ways * line", l->name);
		if ((unsigned)l->side > NM_SIDE_INSTRUCTION)
			return nm_fail(err, NM_EINVAL, "level %s has no side", l->name);
		const char *wrong = clash(m, i);
		if (wrong)
			return nm_fail(err, NM_EINVAL, "level %s %s", l->name, wrong);
	}
	return 0;
}
