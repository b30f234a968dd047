/* SPDX-License-Identifier: MIT
 *
 * simulated_pmu.c - reads what a simulated PMU is to sample; see simulated_pmu.h.
 */
#include "simulated_pmu.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

enum { USUAL_SHADOW = 8, USUAL_HANDLER = 32, MOST_SHADOW = 1 << 20 };

const char *const nm_pmu_rule_names[NM_PMU_RULES] = {"miss", "precise", "pebs", "ibs"};

_Static_assert(sizeof((struct nm_pmu *)0)->level >= sizeof((struct nm_level_spec *)0)->name,
	       "a level's name fits");

static const uint64_t most_period = UINT64_C(1) << 48;

/* A number of `length` digits, at most `most`. */
static int read_number(const char *text, size_t length, uint64_t most, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 10);
	return isdigit((unsigned char)*text) && end == text + length && !errno && *ret <= most;
}

static int read_sampler(const char *word, size_t length, struct nm_pmu *pmu, struct nm_error *err)
{
	const char *at = memchr(word, '@', length);
	struct nm_pmu_request r = {.rule = NM_PMU_RULES};

	for (unsigned i = 0; at && i < NM_PMU_RULES; i++)
		if (strlen(nm_pmu_rule_names[i]) == (size_t)(at - word) &&
		    !memcmp(nm_pmu_rule_names[i], word, (size_t)(at - word)))
			r.rule = (enum nm_pmu_rule)i;
	if (r.rule == NM_PMU_RULES)
		return nm_fail(
		    err, NM_EINVAL,
		    "a sampler is miss, precise, pebs or ibs with its period, such as miss@1000, not \"%.*s\"",
		    (int)length, word);
	if (!read_number(at + 1, length - (size_t)(at + 1 - word), most_period, &r.period) || !r.period)
		return nm_fail(err, NM_EINVAL, "a period is a number of events from 1 on, not \"%.*s\"",
			       (int)(length - (size_t)(at + 1 - word)), at + 1);
	for (unsigned i = 0; i < pmu->count; i++)
		if (pmu->samplers[i].rule == r.rule && pmu->samplers[i].period == r.period)
			return nm_fail(err, NM_EINVAL, "the sampler %.*s is named twice", (int)length, word);
	if (pmu->count == NM_PMU_SAMPLERS)
		return nm_fail(err, NM_EINVAL, "there can be at most %d samplers", NM_PMU_SAMPLERS);
	pmu->samplers[pmu->count++] = r;
	return 0;
}

static int read_level(const char *value, size_t length, struct nm_pmu *pmu, struct nm_error *err)
{
	if (!length || length >= sizeof pmu->level)
		return nm_fail(err, NM_EINVAL, "level= takes the name of a level, not \"%.*s\"", (int)length,
			       value);
	memcpy(pmu->level, value, length);
	pmu->level[length] = 0;
	return 0;
}

static int read_key(const char *word, size_t key, size_t length, struct nm_pmu *pmu, struct nm_error *err)
{
	static const struct {
		const char *name;
		uint64_t most;
	} keys[] = {{"random", UINT32_MAX}, {"shadow", MOST_SHADOW}, {"handler", NM_PMU_MOST_LINES}};
	enum { RANDOM, SHADOW, HANDLER, KEYS } which = RANDOM;
	const char *value = word + key + 1;
	uint64_t n;

	if (key == strlen("level") && !memcmp(word, "level", key))
		return read_level(value, length - key - 1, pmu, err);
	while (which < KEYS && (strlen(keys[which].name) != key || memcmp(keys[which].name, word, key) != 0))
		which++;
	if (which == KEYS)
		return nm_fail(err, NM_EINVAL,
			       "there are random=, shadow=, handler= and level=, and no \"%.*s\"", (int)key,
			       word);
	if (!read_number(value, length - key - 1, keys[which].most, &n))
		return nm_fail(err, NM_EINVAL, "%s= takes a number from 0 to %" PRIu64 ", not \"%.*s\"",
			       keys[which].name, keys[which].most, (int)(length - key - 1), value);
	if (which == RANDOM) {
		pmu->random = 1;
		pmu->seed = n;
	} else if (which == SHADOW) {
		pmu->shadow = (uint32_t)n;
	} else {
		pmu->handler = (uint32_t)n;
	}
	return 0;
}

int nm_pmu_parse(const char *text, struct nm_pmu *ret_pmu, struct nm_error *err)
{
	struct nm_pmu pmu = {.shadow = USUAL_SHADOW, .handler = USUAL_HANDLER};
	int status = 0;

	for (;;) {
		const size_t length = strcspn(text, ",");
		const char *equals = memchr(text, '=', length);

		status = equals ? read_key(text, (size_t)(equals - text), length, &pmu, err)
				: read_sampler(text, length, &pmu, err);
		if (status)
			return status;
		if (!text[length])
			break;
		text += length + 1;
	}
	if (!pmu.count)
		return nm_fail(err, NM_EINVAL, "name a sampler, such as miss@1000");
	*ret_pmu = pmu;
	return 0;
}

int nm_pmu_level(const struct nm_pmu *pmu, const struct nm_machine *machine, unsigned *ret_level,
		 struct nm_error *err)
{
	const struct nm_level_spec *first = nm_machine_data_cache(machine);
	const char *name = *pmu->level ? pmu->level : first ? first->name : "";

	for (unsigned i = 0; i < machine->count; i++) {
		*ret_level = i;
		if (!strcmp(machine->levels[i].name, name))
			return 0;
	}
	return nm_fail(err, NM_EINVAL,
		       *name ? "the machine has no level %s whose misses could be sampled"
			     : "the machine has no cache of data%s",
		       name);
}

void nm_pmu_name(const struct nm_pmu_request *request, char name[NM_PMU_NAME])
{
	snprintf(name, NM_PMU_NAME, "%s@%" PRIu64, nm_pmu_rule_names[request->rule], request->period);
}

int nm_pmu_needs_instructions(const struct nm_pmu *pmu)
{
	for (unsigned i = 0; i < pmu->count; i++)
		if (pmu->samplers[i].rule == NM_PMU_PEBS || pmu->samplers[i].rule == NM_PMU_IBS)
			return 1;
	return 0;
}
