/* SPDX-License-Identifier: MIT
 *
 * search_test.c - the log of visits against a list of them; the cost of orders against caches that search lists of
 * lines; what the search and the trials find against orders that are drawn; declarations.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "declaration.h"
#include "numbers.h"
#include "order_trials.h"

enum { FIELDS = 24, ELEMENTS = 300, LINE = 64, ARRAY = 1 << 20, VISITS = 4000 };

static struct nm_field fields[FIELDS];
static const struct nm_type type = {
    .name = "struct s", .bytes = 8 * FIELDS, .fields = fields, .field_count = FIELDS};

static int set_up(void **state)
{
	static char names[FIELDS][2];

	(void)state;
	for (unsigned i = 0; i < FIELDS; i++) {
		names[i][0] = (char)('a' + i);
		fields[i] = (struct nm_field){
		    .name = names[i], .offset = 8 * i, .bytes = 8, .count = 1, .type = "long"};
	}
	return 0;
}

/* ---- the log ---- */

struct seen {
	uint64_t low;
	unsigned element, fields;
};

/* Random references; runs of them to one element are a visit. */
static void visits_are_logged(void **state)
{
	enum { CHUNK = NM_VISIT_CHUNK, LIMIT = 2 * CHUNK, REFERENCES = 9 * CHUNK };
	struct seen *all = calloc(REFERENCES, sizeof *all);
	struct nm_visit_log log;
	size_t count = 0, kept = 0;

	(void)state;
	assert_non_null(all);
	nm_visit_log_init(&log, "s", LIMIT);
	assert_int_equal(nm_visit_log_set_type(&log, &type), 0);
	for (unsigned i = 0; i < REFERENCES; i++) {
		const struct seen now = {ARRAY * (1 + below(2)), (unsigned)below(3), (unsigned)below(5)};

		if (!count || all[count - 1].low != now.low || all[count - 1].element != now.element)
			all[count++] = (struct seen){now.low, now.element, 0};
		all[count - 1].fields |= 3u << now.fields; /* the reference is to two fields */
		assert_int_equal(nm_visit_log_add(&log, now.low, now.element, 8 * now.fields + 4, 8, 1), 0);
	}
	assert_int_equal(nm_visit_log_end(&log), 0);
	assert_in_range(log.period, 2, 3);
	assert_in_range(log.visits.count, CHUNK, LIMIT);
	for (size_t i = 0; i < count; i++) {
		const struct nm_visit *v = &log.visits.at[kept];
		unsigned used = 0;

		if (i / CHUNK % (1u << log.period))
			continue;
		assert_true(kept++ < log.visits.count);
		for (size_t u = 0; u < log.units.count; u++)
			used |= (unsigned)(v->units >> u & 1) << log.units.at[u].member;
		assert_int_equal(v->low, all[i].low);
		assert_int_equal(v->element, all[i].element);
		assert_int_equal(used, all[i].fields);
	}
	assert_int_equal(kept, log.visits.count);
	nm_visit_log_done(&log);
	free(all);
}

/* ---- costs ---- */

/* A set is a list of lines, the one touched last first. */
struct twin {
	unsigned sets, ways;
	uint64_t lines[64][8];
	uint64_t misses;
};

static int touch(struct twin *t, uint64_t line)
{
	uint64_t *set = t->lines[line % t->sets];
	unsigned at = 0;
	int hits;

	while (at + 1 < t->ways && set[at] != line)
		at++;
	hits = set[at] == line;
	for (; at; at--)
		set[at] = set[at - 1];
	set[0] = line;
	t->misses += !hits;
	return hits;
}

/* Visits of a few sets of fields that are far apart, and of single ones; other memory between. */
static void make_log(struct nm_visit_log *log)
{
	static const unsigned together[][3] = {{0, 9, 18}, {4, 12, 23}, {7, 16, 22}};

	nm_visit_log_init(log, "s", 1 << 20);
	assert_int_equal(nm_visit_log_set_type(log, &type), 0);
	for (unsigned i = 0; i < VISITS; i++) {
		const unsigned element = (unsigned)below(ELEMENTS), kind = (unsigned)below(4);

		for (unsigned k = 0; k < 3; k++)
			assert_int_equal(nm_visit_log_add(log, ARRAY, element,
							  8 * (kind < 3 ? together[kind][k] : below(FIELDS)),
							  8, 1),
					 0);
		assert_int_equal(nm_visit_log_add_other(log, 64 * below(10000), 2), 0);
	}
	assert_int_equal(nm_visit_log_end(log), 0);
}

static double twin_cost(const struct nm_visit_log *log, const unsigned order[FIELDS])
{
	struct twin *first = calloc(1, sizeof *first), *second = calloc(1, sizeof *second);
	double cost;

	assert_true(first && second);
	*first = (struct twin){.sets = 8, .ways = 2};
	*second = (struct twin){.sets = 32, .ways = 8};
	for (size_t i = 0; i < log->visits.count; i++) {
		const struct nm_visit *v = &log->visits.at[i];

		if (!v->units && !touch(first, v->low / LINE))
			touch(second, v->low / LINE);
		for (size_t u = 0; u < log->units.count; u++)
			for (uint64_t at = 0; v->units >> u & 1 && at < FIELDS; at++)
				if (order[at] == log->units.at[u].member) {
					const uint64_t line =
					    (v->low + v->element * type.bytes + 8 * at) / LINE;

					if (!touch(first, line))
						touch(second, line);
				}
	}
	cost = (double)first->misses + 10 * (double)second->misses;
	free(first);
	free(second);
	return cost;
}

static void write_order(const unsigned order[FIELDS], char text[200])
{
	text += sprintf(text, "reorder s: ");
	for (unsigned i = 0; i < FIELDS; i++)
		text += sprintf(text, "%s%s", i ? ", " : "", fields[order[i]].name);
}

static void shuffle(unsigned order[FIELDS])
{
	for (unsigned i = FIELDS; i > 1; i--) {
		const unsigned other = (unsigned)below(i), kept = order[i - 1];

		order[i - 1] = order[other];
		order[other] = kept;
	}
}

/* Neither cost is that of a set in which several lines of a visit compete: their order there may differ. */
static void costs_are_those_of_the_twin(void **state)
{
	enum { ORDERS = 100 };
	struct nm_machine machine;
	struct nm_visit_log log;
	struct nm_order_search search = {
	    .log = &log, .machine = &machine, .most = 600, .costs = {{0, 1}, {0, 10}}};
	struct nm_error err;
	unsigned order[FIELDS];
	double own, cost, best = 1e9;

	(void)state;
	assert_int_equal(nm_machine_parse("L1=1K,2,64:L2=16K,8,64", &machine, &err), 0);
	make_log(&log);
	for (unsigned i = 0; i < FIELDS; i++)
		order[i] = i;
	own = twin_cost(&log, order);
	for (unsigned i = 0; i < ORDERS; i++) {
		char text[200];

		shuffle(order);
		write_order(order, text);
		assert_int_equal(nm_order_cost(&search, text, &cost, &err), 0);
		assert_true(cost > 0.99 * twin_cost(&log, order) && cost < 1.01 * twin_cost(&log, order));
		best = cost < best ? cost : best;
	}
	assert_int_equal(nm_order_search_run(&search, &err), 0);
	assert_true(search.own > 0.99 * own && search.own < 1.01 * own);
	assert_in_range(search.tried, 100, 600 + FIELDS);
	assert_non_null(search.orders[0].text);
	assert_true(search.orders[0].order.cost <= best && search.orders[0].order.cost < 0.8 * search.own);
	for (unsigned i = 0; i < NM_FOUND_ORDERS; i++) {
		assert_int_equal(nm_order_cost(&search, search.orders[i].text, &cost, &err), 0);
		assert_true(cost == search.orders[i].order.cost);
	}
	nm_order_search_done(&search);
	nm_visit_log_done(&log);
}

/* Members used together share lines; those that hardly are used leave the structure. */
static void splits_are_found(void **state)
{
	struct nm_machine machine;
	struct nm_visit_log log;
	struct nm_order_search search = {.log = &log, .machine = &machine, .most = 100, .costs = {{0, 1}}};
	struct nm_error err;

	(void)state;
	assert_int_equal(nm_machine_parse("L1=1K,2,64", &machine, &err), 0);
	nm_visit_log_init(&log, "s", 1 << 20);
	assert_int_equal(nm_visit_log_set_type(&log, &type), 0);
	for (unsigned i = 0; i < 20 * ELEMENTS; i++)
		for (unsigned k = 0; k < (i % 100 ? 2 : FIELDS); k++)
			assert_int_equal(
			    nm_visit_log_add(&log, ARRAY, i % ELEMENTS, i % 100 ? 96 * k : 8 * k, 8, 1), 0);
	assert_int_equal(nm_visit_log_end(&log), 0);
	assert_int_equal(nm_visit_log_affinity(&log, 0, 12), log.visits.count);
	assert_int_equal(nm_order_search_run(&search, &err), 0);
	assert_int_equal(nm_order_search_splits(&search, &search.orders[0].order, &err), 0);
	assert_non_null(search.splits[0].text);
	assert_non_null(strstr(search.splits[0].text, "split struct s hot(a, m) parallel"));
	assert_true(search.splits[0].order.cost < search.orders[0].order.cost);
	nm_order_search_done(&search);
	nm_visit_log_done(&log);
}

/* ---- trials ---- */

/* A cost that the log does not tell, as a part of that of the order as it is: pairs of fields are to lie in one line. */
static double hidden_cost(const struct nm_order *o, int own_is_best)
{
	unsigned at[FIELDS], cost = 1;

	for (unsigned i = 0; i < FIELDS; i++)
		at[o->at[i]] = i;
	for (unsigned i = 0; i < FIELDS; i++)
		cost += own_is_best ? at[i] != i : i < FIELDS / 2 && at[i] / 8 != at[FIELDS - 1 - i] / 8;
	return cost / (own_is_best ? 1.0 : 1.0 + FIELDS / 2 - 4); /* four pairs lie in the second line */
}

/* Runs the trials; at most `ret` layouts. Splits cost more than the structure as it is. */
static unsigned run_trials(struct nm_order_search *search, int own_is_best, struct nm_found_layout *ret,
			   unsigned most)
{
	struct nm_order_trials trials = {.search = search, .most = 64};
	struct nm_error err;
	unsigned count;

	nm_order_trials_init(&trials);
	for (;;) {
		double costs[8];

		assert_int_equal(nm_order_trials_next(&trials, 8, &err), 0);
		if (trials.told == trials.tried.count)
			break;
		assert_in_range(trials.tried.count - trials.told, 1, 8);
		for (size_t i = trials.told; i < trials.tried.count; i++) {
			const struct nm_found_layout *layout = &trials.tried.at[i];

			assert_int_equal(layout->order.count, FIELDS);
			for (size_t k = 0; k < i; k++)
				assert_string_not_equal(layout->text, trials.tried.at[k].text);
			costs[i - trials.told] = layout->hot ? 2 : hidden_cost(&layout->order, own_is_best);
		}
		nm_order_trials_tell(&trials, costs);
	}
	assert_in_range(trials.told, 64, 64 + NM_FOUND_SPLITS);
	assert_int_equal(nm_order_trials_found(&trials, 1, most, ret), 0);
	count = nm_order_trials_found(&trials, 0, most, ret);
	nm_order_trials_done(&trials);
	return count;
}

static void trials_find_what_the_estimate_does_not_see(void **state)
{
	enum { ORDERS = 100, MOST = 3 };
	struct nm_machine machine;
	struct nm_visit_log log;
	struct nm_order_search search = {.log = &log, .machine = &machine, .most = 100, .costs = {{0, 1}}};
	struct nm_found_layout found[MOST], again[MOST];
	struct nm_order drawn = {.count = FIELDS};
	struct nm_error err;
	unsigned order[FIELDS];
	double best = 1;

	(void)state;
	assert_int_equal(nm_machine_parse("L1=1K,2,64", &machine, &err), 0);
	make_log(&log);
	assert_int_equal(nm_order_search_run(&search, &err), 0);
	for (unsigned i = 0; i < FIELDS; i++)
		order[i] = i;
	for (unsigned i = 0; i < ORDERS; i++) {
		shuffle(order);
		memcpy(drawn.at, order, sizeof order);
		best = hidden_cost(&drawn, 0) < best ? hidden_cost(&drawn, 0) : best;
	}
	assert_int_equal(run_trials(&search, 0, found, MOST), MOST);
	assert_true(found[0].order.cost <= best && found[0].order.cost <= found[1].order.cost &&
		    found[1].order.cost <= found[2].order.cost);
	assert_int_equal(run_trials(&search, 0, again, MOST), MOST);
	for (unsigned i = 0; i < MOST; i++)
		assert_string_equal(found[i].text, again[i].text);
	assert_int_equal(run_trials(&search, 1, found, MOST), 0);
	nm_order_search_done(&search);
	nm_visit_log_done(&log);
}

/* ---- declarations ---- */

static void layouts_are_declared(void **state)
{
	static const struct nm_field of_c[] = {{"_vptr.S", 0, 8, 0, 1, "void **"},
					       {"name", 8, 16, 0, 1, "char [16]"},
					       {"place.x", 24, 4, 0, 1, "int"},
					       {"place.y", 28, 4, 0, 1, "int"},
					       {"a|b", 32, 4, 0, 1, NULL},
					       {"key", 40, 8, 0, 1, "long"}},
				     of_fortran[] = {{"x", 0, 8, 0, 1, "real(kind=8)"},
						     {"v", 8, 24, 0, 1, "real(kind=8)(3)"}},
				     of_rust[] = {{"x", 0, 8, 0, 1, "f64"}, {"n", 8, 4, 0, 1, "u32"}};
	static const struct {
		struct nm_type type;
		const char *candidate, *text;
		enum nm_declaration_style style;
	} cases[] = {
	    {{"struct app::S", 48, 0, of_c, 6},
	     "reorder S: key, name; split S hot(key, name) by pointer",
	     "struct app::S { /* 32 bytes, not 48 */\n\tlong key;\n\tchar name[16];\n\tstruct app::S_rest *rest;\n};\n"
	     "struct app::S_rest { /* 24 bytes */\n\t/* _vptr, 8 bytes, as declared now */\n"
	     "\t/* place, 8 bytes, as declared now */\n\t/* a|b, 4 bytes, as declared now */\n};\n",
	     NM_DECLARE_C},
	    {{"type(body)", 32, 0, of_fortran, 2},
	     "reorder body: v",
	     "type body ! 32 bytes\n  real(kind=8) :: v(3)\n  real(kind=8) :: x\nend type\n",
	     NM_DECLARE_FORTRAN},
	    {{"Body", 16, 0, of_rust, 2},
	     "reorder Body: n",
	     "#[repr(C)]\nstruct Body { // 16 bytes\n    n: u32,\n    x: f64,\n}\n",
	     NM_DECLARE_RUST},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct nm_element_map map;
		struct nm_candidate c;
		struct nm_error err;
		char *text = NULL;
		size_t bytes;
		FILE *out = open_memstream(&text, &bytes);

		assert_int_equal(nm_candidate_parse(&c, cases[i].candidate, &err), 0);
		assert_int_equal(nm_element_map_init(&map, &cases[i].type), 0);
		for (size_t k = 0; k < c.transforms.count; k++)
			assert_int_equal(
			    nm_element_map_apply(&map, &cases[i].type, &c.transforms.at[k], &err), 0);
		nm_element_map_declare(&map, &cases[i].type, cases[i].style, out);
		fclose(out);
		assert_string_equal(text, cases[i].text);
		free(text);
		nm_element_map_done(&map);
		nm_candidate_done(&c);
	}
}

static void types_are_named(void **state)
{
	(void)state;
	assert_true(nm_is_type_named("struct node", "node") &&
		    nm_is_type_named("struct node", "struct node"));
	assert_true(nm_is_type_named("type(node)", "node") && nm_is_type_named("app::node", "app::node"));
	assert_false(nm_is_type_named("struct nodes", "node") || nm_is_type_named("type(node)", "nod") ||
		     nm_is_type_named("struct node", "ode"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(visits_are_logged),
	    cmocka_unit_test(costs_are_those_of_the_twin),
	    cmocka_unit_test(splits_are_found),
	    cmocka_unit_test(trials_find_what_the_estimate_does_not_see),
	    cmocka_unit_test(layouts_are_declared),
	    cmocka_unit_test(types_are_named),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
