/* SPDX-License-Identifier: MIT */
#include "simulation_options.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "estimator.h"
#include "host.h"
#include "lru_misses.h"
#include "message.h"
#include "text.h"

enum {
	MAX_THREADS = 64,
	MAX_SCHEDULES = 64,
	MAX_DESCRIPTION = 1 << 16,
	MIN_LIMIT = 1 << 16,
	MAX_MACHINES = 256,
	ONE_MACHINE_CORES = 4
};

/* How many cores the user asks for; 0: one. */
static int64_t cores_of(const struct nm_simulation_options *o)
{
	return !o->cores && o->one_machine ? ONE_MACHINE_CORES : o->cores;
}

static const double LEAST_RATE = 1e-6, DEFAULT_RATE = 1e-2;

/* One thread to decode, one to simulate, and one to unpack a trace, as far as there are processors. Distances and
 * estimates take longer than the simulation: they have a thread of their own even if processors are fewer. */
static unsigned choose_threads(const struct nm_simulation_options *o)
{
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);
	const long stages = o->stored ? 3 : 2;

	if (o->threads)
		return (unsigned)o->threads;
	if (processors < 2)
		return 1;
	if (o->layouts)
		return (unsigned)(processors < MAX_THREADS ? processors : MAX_THREADS);
	if (o->distances || o->estimates || o->relocations)
		return (unsigned)stages + 1;
	return (unsigned)(processors < stages ? processors : stages);
}

static int read_description(const char *path, struct nm_machine *ret_machine)
{
	static char text[MAX_DESCRIPTION];
	FILE *file = fopen(path, "re");
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	struct nm_error err;
	size_t n;
	int failed;

	if (!file) {
		nm_message("cannot read the machine description \"%s\": %s", path, strerror(errno));
		return NM_STATUS_USAGE;
	}
	n = fread(text, 1, sizeof text, file);
	failed = ferror(file) ? errno : 0;
	fclose(file);
	if (failed || n == sizeof text || memchr(text, 0, n)) {
		nm_message("\"%s\" is not a machine description: %s", path,
			   failed             ? strerror(failed)
			   : n == sizeof text ? "it is larger than 64K"
					      : "it is not text");
		return NM_STATUS_USAGE;
	}
	text[n] = 0;
	return nm_machine_read(text, name, ret_machine, &err) ? nm_failed(&err, NM_STATUS_USAGE) : 0;
}

static int unknown_machine(const char *name)
{
	size_t count;
	const struct nm_machine *table = nm_machine_table(&count);
	const char *words[MAX_MACHINES], *near;

	assert(count + 2 <= MAX_MACHINES);
	for (size_t i = 0; i < count; i++)
		words[i] = table[i].name;
	words[count] = "host";
	words[count + 1] = NULL;
	near = nm_nearest(name, words);
	if (strchr(name, '='))
		nm_message("\"%s\" is no name of a machine: give a SPEC of caches with --cache", name);
	else if (near)
		nm_message("unknown machine \"%s\": did you mean %s? (see nearmiss machines)", name, near);
	else
		nm_message("unknown machine \"%s\" (see nearmiss machines)", name);
	return NM_STATUS_USAGE;
}

int nm_find_machine(const char *name, struct nm_machine *ret_machine)
{
	const struct nm_machine *named = nm_machine_named(name);
	struct nm_error err;

	if (!strcmp(name, "host")) {
		if (nm_machine_host(ret_machine, &err))
			return nm_failed(&err, NM_STATUS_FAILED);
		nm_latencies_know(ret_machine);
		return 0;
	}
	if (named)
		*ret_machine = *named;
	else if (strchr(name, '/') || strchr(name, '.') || !access(name, R_OK))
		return read_description(name, ret_machine);
	if (named)
		return 0;
	return unknown_machine(name);
}

int nm_each_machine(const char *names, int (*take)(void *arg, struct nm_machine *machine), void *arg)
{
	struct nm_machine machine;
	int status = 0;

	while (!status) {
		size_t n = strcspn(names, ",");
		char *name = strndup(names, n);

		if (!name) {
			nm_message("out of memory");
			return NM_STATUS_FAILED;
		}
		status = nm_find_machine(name, &machine);
		free(name);
		if (!status)
			status = take(arg, &machine);
		if (!names[n])
			break;
		names += n + 1;
	}
	return status;
}

/* Adds the same TLB with huge pages. */
static int join_huge(const struct nm_simulation_options *o, struct nm_machine *to,
		     const struct nm_machine *machine)
{
	struct nm_machine huge = *machine;
	struct nm_error err;

	if (!o->huge_pages || !machine->levels[0].pages || machine->levels[0].huge)
		return 0;
	huge.levels[0].huge = (enum nm_page_size)o->huge_pages;
	snprintf(huge.name, sizeof huge.name, "%.50s-%s", machine->name, nm_huge_pages_name(&huge, 0));
	return nm_machine_join(to, &huge, &err) ? nm_failed(&err, NM_STATUS_USAGE) : 0;
}

static int join_levels(const struct nm_simulation_options *o, struct nm_machine *to,
		       struct nm_machine *machine)
{
	struct nm_error err;

	if (nm_machine_check_present(machine, o->stored, &err))
		return nm_failed(&err, NM_STATUS_USAGE);
	if (!o->instructions)
		nm_machine_drop_fetches(machine);
	if (!machine->count) {
		nm_message("the machine has only instruction caches: add --instr");
		return NM_STATUS_USAGE;
	}
	if (nm_machine_join(to, machine, &err))
		return nm_failed(&err, NM_STATUS_USAGE);
	return join_huge(o, to, machine);
}

struct joined {
	const struct nm_simulation_options *options;
	struct nm_machine *to;
};

static int join_next(void *arg, struct nm_machine *machine)
{
	const struct joined *j = arg;

	return join_levels(j->options, j->to, machine);
}

static int join_named(const struct nm_simulation_options *o, const char *names, struct nm_machine *to)
{
	return nm_each_machine(names, join_next, &(struct joined){o, to});
}

static int join_described(const struct nm_simulation_options *o, const char *spec, struct nm_machine *to)
{
	struct nm_machine machine;
	struct nm_error err;
	int status = 0;

	if (!strcmp(spec, "host") || nm_machine_named(spec)) /* as with --machine */
		return join_named(o, spec, to);
	if (*spec == '@')
		status = read_description(spec + 1, &machine);
	else if (nm_machine_parse(spec, &machine, &err))
		status = nm_failed(&err, NM_STATUS_USAGE);
	return status ? status : join_levels(o, to, &machine);
}

/* Reads a number that must end at the character `end` or at the end of the text. */
static int read_number(const char **at, char end, unsigned long most, unsigned long *ret)
{
	char *behind;

	*ret = strtoul(*at, &behind, 10);
	if (behind == *at || !isdigit((unsigned char)**at) || *ret > most || (*behind && *behind != end))
		return 0;
	*at = behind;
	return 1;
}

/* "THREAD=CORE,..." */
static int read_map(const char *text, struct nm_machine *machine, struct nm_error *err)
{
	const char *at = text;

	do {
		const char *start = at += *at == ',';
		unsigned long thread, core;

		if (!read_number(&at, '=', NM_MAPPED_THREADS, &thread) || !thread || *at != '=')
			return nm_fail_at(err, text, (int)(start - text),
					  "--map takes THREAD=CORE,...: threads are 1 to %d",
					  NM_MAPPED_THREADS);
		start = ++at;
		if (!read_number(&at, ',', machine->cores - 1, &core))
			return nm_fail_at(err, text, (int)(start - text), "cores are 0 to %u",
					  machine->cores - 1);
		machine->core_of[thread - 1] = (uint16_t)(core + 1);
	} while (*at);
	return 0;
}

static int choose_cores(const struct nm_command *self, const struct nm_simulation_options *o,
			struct nm_machine *machine)
{
	struct nm_error err;

	if (o->cores > NM_MAX_CORES)
		return nm_usage(self, "--cores takes a number from 1 to %d", NM_MAX_CORES);
	if (o->map && cores_of(o) < 2)
		return nm_usage(self, "--map needs --cores");
	nm_machine_set_cores(machine, (unsigned)cores_of(o));
	return o->map && read_map(o->map, machine, &err) ? nm_failed(&err, NM_STATUS_USAGE) : 0;
}

/* Reads the order in which the threads of several cores are merged. */
static int choose_order(const struct nm_command *self, const struct nm_simulation_options *o,
			struct nm_thread_order *ret_order)
{
	const char random[] = "random:", *seed;
	unsigned long number;

	if ((o->quantum || o->schedule || o->schedules) && cores_of(o) < 2)
		return nm_usage(self, "--%s needs --cores",
				o->quantum    ? "quantum"
				: o->schedule ? "schedule"
					      : "schedules");
	if (o->quantum < 0 || o->quantum > NM_QUANTUM_MOST)
		return nm_usage(self, "--quantum takes a number from 1 to %d", NM_QUANTUM_MOST);
	*ret_order = (struct nm_thread_order){.quantum = (uint32_t)o->quantum};
	if (!o->schedule || !strcmp(o->schedule, "round-robin"))
		return 0;
	seed = o->schedule + strlen(random);
	if (strncmp(o->schedule, random, strlen(random)) || !read_number(&seed, '\0', UINT32_MAX, &number))
		return nm_usage(self, "--schedule takes round-robin or random:SEED, where SEED is a number");
	ret_order->random = 1;
	ret_order->seed = number;
	return 0;
}

/* Reads the number of orders. */
static int choose_schedules(const struct nm_command *self, const struct nm_simulation_options *o,
			    struct nm_engine_options *engine)
{
	if (o->schedules < 0 || o->schedules > MAX_SCHEDULES)
		return nm_usage(self, "--schedules takes a number from 1 to %d", MAX_SCHEDULES);
	if (o->schedules > 1 && nm_machine_runs_ahead(engine->machine))
		return nm_usage(self, "--schedules cannot look ahead: leave out policy=opt");
	engine->schedules = (unsigned)o->schedules;
	return 0;
}

/* Reads the number of relocations. */
static int choose_relocations(const struct nm_command *self, const struct nm_simulation_options *o,
			      struct nm_engine_options *engine)
{
	struct nm_error err;

	if (o->relocations > NM_RELOCATIONS)
		return nm_usage(self, "--relocate takes a number from 1 to %d", NM_RELOCATIONS);
	engine->relocations = (unsigned)o->relocations;
	return o->relocations && nm_lru_misses_check(engine->machine, "relocations", &err)
		   ? nm_failed(&err, NM_STATUS_USAGE)
		   : 0;
}

/* Reads the samplers of a simulated PMU. */
static int choose_pmu(const struct nm_command *self, const struct nm_simulation_options *o,
		      struct nm_chosen_simulation *s)
{
	struct nm_error err;
	unsigned level;

	if (!o->pmu)
		return 0;
	if (nm_pmu_parse(o->pmu, &s->pmu, &err) ||
	    nm_lru_misses_check(&s->machine, "samples of a PMU", &err) ||
	    nm_pmu_level(&s->pmu, &s->machine, &level, &err))
		return nm_usage(self, "--pmu: %s", err.text);
	s->run.engine.pmu = &s->pmu;
	return 0;
}

static int find_machines(const struct nm_command *self, const struct nm_simulation_options *o,
			 struct nm_machine *ret_machine)
{
	int status = 0;

	*ret_machine = (struct nm_machine){.count = 0};
	if (!o->machines.count && !o->caches.count)
		status = join_named(o, "host", ret_machine);
	for (size_t i = 0; i < o->machines.count && !status; i++)
		status = join_named(o, o->machines.at[i], ret_machine);
	for (size_t i = 0; i < o->caches.count && !status; i++)
		status = join_described(o, o->caches.at[i], ret_machine);
	return status ? status : choose_cores(self, o, ret_machine);
}

/* "enter:FUNCTION", "mark#2:NAME". 1, or 0: it is none. */
static int read_event(const char *text, struct nm_run_position *ret)
{
	for (int unit = NM_POSITION_ENTER; unit <= NM_POSITION_END; unit++) {
		const char *word = nm_position_words[unit];
		const size_t length = strlen(word);
		char *name = (char *)text + length;
		unsigned long long time = 1;

		if (strncmp(text, word, length))
			continue;
		if (*name == '#')
			time = isdigit((unsigned char)name[1]) ? strtoull(name + 1, &name, 10) : 0;
		if (time < 1 || *name != ':' || !name[1])
			continue;
		*ret = (struct nm_run_position){(enum nm_position_unit)unit, time, name + 1};
		return 1;
	}
	return 0;
}

/* "2.5e8", "1e6refs", "enter:FUNCTION"; the beginning of the run is no position. */
static int read_position(const struct nm_command *self, const char *option, const char *text,
			 struct nm_run_position *ret)
{
	char *end = NULL;
	const double at = text ? strtod(text, &end) : 0;

	if (!text || read_event(text, ret))
		return 0;
	if (end == text || !(at >= 0 && at < 0x1p53) || (*end && strcmp(end, "refs") != 0))
		return nm_usage(self,
				"%s takes a number of instructions, such as 2.5e8, or of references, such as "
				"1e6refs, or enter:FUNCTION, leave:FUNCTION, mark:NAME, end:NAME, not \"%s\"",
				option, text);
	if (at >= 1)
		*ret = (struct nm_run_position){*end ? NM_POSITION_REFERENCES : NM_POSITION_INSTRUCTIONS,
						(uint64_t)at, NULL};
	return 0;
}

static int choose_window(const struct nm_command *self, const struct nm_simulation_options *o,
			 struct nm_run_window *ret)
{
	int status = read_position(self, "--from", o->from, &ret->from), comparable;

	if (!status)
		status = read_position(self, "--until", o->until, &ret->until);
	comparable = ret->from.unit == ret->until.unit &&
		     (!ret->from.name || !strcmp(ret->from.name, ret->until.name));
	if (!status && o->until && (!ret->until.unit || (comparable && ret->from.at >= ret->until.at)))
		return nm_usage(self, "--until must be behind the beginning of what counts");
	if (!status && o->in && !*o->in)
		return nm_usage(self, "--in takes the name of a function");
	ret->in = o->in;
	return status;
}

static int choose_distances(const struct nm_command *self, const struct nm_simulation_options *o,
			    struct nm_engine_options *engine)
{
	engine->distances = o->distances;
	if (!o->distance_limit)
		return 0;
	if (!o->distances)
		return nm_usage(self, "--distance-limit needs --distances");
	if (!nm_read_size(o->distance_limit, &engine->distance_limit) || engine->distance_limit < MIN_LIMIT)
		return nm_usage(self, "--distance-limit takes a size from 64K on, such as 256M, not \"%s\"",
				o->distance_limit);
	return 0;
}

/* METHOD or METHOD@RATE, `length` bytes. */
static int choose_estimate(const struct nm_command *self, const char *text, size_t length,
			   struct nm_engine_options *engine)
{
	struct nm_estimate_request *request = &engine->estimates[engine->estimate_count];
	char name[32], *at, *end;

	if (engine->estimate_count == NM_MAX_ESTIMATES)
		return nm_usage(self, "--estimate takes %d methods at most", NM_MAX_ESTIMATES);
	snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), text);
	at = strchr(name, '@');
	request->rate = DEFAULT_RATE;
	if (at) {
		*at++ = 0;
		request->rate = strtod(at, &end);
		if (end == at || *end || !(request->rate >= LEAST_RATE && request->rate <= 1))
			return nm_usage(
			    self, "--estimate takes rates from 1e-6 to 1, such as 1e-3, not \"%s\"", at);
	}
	request->estimator = nm_estimator_named(name);
	if (!request->estimator)
		return nm_usage(
		    self,
		    "--estimate takes METHOD[@RATE],... of statcache, statstack, shards and shards-size, not \"%s\"",
		    name);
	for (unsigned i = 0; i < engine->estimate_count; i++)
		if (engine->estimates[i].estimator == request->estimator &&
		    engine->estimates[i].rate == request->rate)
			return nm_usage(self, "--estimate has %s at the rate %g twice", name, request->rate);
	engine->estimate_count++;
	return 0;
}

static int choose_estimates(const struct nm_command *self, const struct nm_simulation_options *o,
			    struct nm_engine_options *engine)
{
	int status = 0;

	for (const char *at = o->estimates; at && !status;) {
		const size_t length = strcspn(at, ",");

		status = choose_estimate(self, at, length, engine);
		at = at[length] ? at + length + 1 : NULL;
	}
	return status;
}

/* Each is "NAME", "NAME:ARGUMENT" or "NAME=BYTES". */
static int check_pools(const struct nm_command *self, const struct nm_simulation_options *o)
{
	enum { ARGUMENTS = 6, DIGITS = 9 };

	for (size_t i = 0; i < o->pools.count; i++) {
		const char *text = o->pools.at[i], *end = text + strlen(text), *digits = end;

		while (digits > text && isdigit((unsigned char)digits[-1]))
			digits--;
		if (digits > text && !strchr(":=", digits[-1]))
			continue;
		if (digits < text + 2 || digits == end || end - digits > DIGITS || !atoi(digits) ||
		    (digits[-1] == ':' && atoi(digits) > ARGUMENTS))
			return nm_usage(
			    self,
			    "--pool-fn takes NAME, NAME:N with the argument (1 to %d) that is the "
			    "size, or NAME=BYTES, not \"%s\"",
			    ARGUMENTS, text);
	}
	return 0;
}

int nm_simulation_prepare(const struct nm_command *self, const struct nm_simulation_options *o,
			  struct nm_chosen_simulation *ret_simulation)
{
	struct nm_chosen_simulation *s = ret_simulation;
	struct nm_engine_options *engine = &s->run.engine;
	int status;

	if (o->threads < 0 || o->threads > MAX_THREADS)
		return nm_usage(self, "--threads takes a number from 1 to %d, or 0: as many as are of use",
				MAX_THREADS);
	status = check_pools(self, o);
	if (!status)
		status = find_machines(self, o, &s->machine);
	if (status)
		return status;
	s->run = (struct nm_run_request){
	    .output = o->output, .sources = {o->embed_sources, o->source_roots.at, o->source_roots.count}};
	engine->machine = &s->machine;
	status = choose_order(self, o, &engine->order);
	if (!status)
		status = choose_schedules(self, o, engine);
	if (!status)
		status = choose_relocations(self, o, engine);
	if (!status)
		status = choose_pmu(self, o, s);
	if (status)
		return status;
	engine->threads = choose_threads(o);
	engine->on_one_machine = o->one_machine;
	engine->instructions = o->instructions;
	engine->by_instruction = o->by_instruction;
	engine->contexts = o->contexts;
	engine->heap_chains = o->heap_chains;
	status = choose_window(self, o, &engine->window);
	if (!status)
		status = choose_distances(self, o, engine);
	if (!status)
		status = choose_estimates(self, o, engine);
	if (status)
		return status;
	engine->user_folders = o->user_folders;
	engine->allocators = o->allocators.at;
	engine->allocator_count = o->allocators.count;
	engine->pools = o->pools.at;
	engine->pool_count = o->pools.count;
	if (o->sets) {
		nm_event_query_sets(&s->sets, &s->machine);
		engine->event_query = &s->sets;
	}
	s->run.feedback.warn = nm_message;
	if (!o->quiet && isatty(STDERR_FILENO)) {
		s->run.feedback.progress = nm_message_progress;
		s->run.feedback.progress_end = nm_message_progress_end;
	}
	return 0;
}
