/* SPDX-License-Identifier: MIT
 *
 * symbol_fixture.h - opens the programs that were compiled for tests of symbols, and finds functions and
 * variables by name: addresses are not written down, so it walks over the module.
 */
#ifndef SYMBOL_FIXTURE_H
#define SYMBOL_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol.h"

static struct nm_symbols *store;

static inline int open_store(void **state)
{
	(void)state;
	return nm_symbols_new(&store, NULL);
}

static inline int close_store(void **state)
{
	(void)state;
	nm_symbols_free(store);
	return 0;
}

/* A compiled program; without its compiler there is none, and the test is skipped. */
static inline struct nm_module *program(const char *name)
{
	char path[4096];
	struct nm_module *module;
	struct nm_error error;
	snprintf(path, sizeof path, PROGRAMS "symbols-%s", name);
	if (access(path, R_OK) != 0)
		skip();
	assert_int_equal(nm_symbols_module(store, path, NULL, 0, &module, &error), 0);
	return module;
}

/* Walks all variables; 1 and the variable if one has that name. */
static inline int find_variable(struct nm_module *module, const char *name, struct nm_variable *ret_variable)
{
	uint64_t at, end;
	assert_int_equal(nm_module_extent(module, &at, &end), 1);
	while (at < end) {
		struct nm_variable variable;
		if (!nm_module_variable(module, at, &variable)) {
			at++;
			continue;
		}
		assert_true(variable.low <= at && at < variable.end);
		if (!strcmp(variable.name, name)) {
			*ret_variable = variable;
			return 1;
		}
		at = variable.end;
	}
	return 0;
}

static inline int find_tls(struct nm_module *module, const char *name, struct nm_variable *ret_variable)
{
	uint64_t bytes, align;
	nm_module_tls(module, &bytes, &align);
	for (uint64_t at = 0; at < bytes;) {
		assert_int_equal(nm_module_tls_variable(module, at, ret_variable), 1);
		assert_true(ret_variable->low <= at && at < ret_variable->end);
		if (!strcmp(ret_variable->name, name))
			return 1;
		at = ret_variable->end;
	}
	return 0;
}

static inline int find_function(struct nm_module *module, const char *name, struct nm_function *ret_function)
{
	uint64_t at, end;
	assert_int_equal(nm_module_extent(module, &at, &end), 1);
	while (at < end) {
		if (!nm_module_function(module, at, ret_function)) {
			at++;
			continue;
		}
		assert_true(ret_function->low <= at && at < ret_function->end);
		if (!strcmp(ret_function->name, name))
			return 1;
		at = ret_function->end;
	}
	return 0;
}

#endif
