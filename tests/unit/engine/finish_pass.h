/* SPDX-License-Identifier: MIT
 *
 * finish_pass.h - ends a pass that ran without an engine: each key is an attribution of its own, all of one object.
 */
#ifndef FINISH_PASS_H
#define FINISH_PASS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pass.h"

enum { MOST_KEYS = 20 };

static inline void finish_pass(const struct nm_pass *pass, void *self, size_t keys, struct nm_result *result)
{
	static struct nm_result_object object = {.name = "x", .kind = NM_OBJECT_GLOBAL};
	static struct nm_result_attribution attrs[MOST_KEYS];
	uint32_t same[MOST_KEYS];

	assert_true(keys <= MOST_KEYS);
	for (uint32_t i = 0; i < keys; i++)
		same[i] = i;
	result->objects = &object;
	result->attrs = attrs;
	result->attr_count = keys;
	assert_int_equal(pass->finish(self, &(struct nm_pass_merge){.key_count = keys, .keys = same}, result),
			 0);
}

#endif
