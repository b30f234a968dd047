/* SPDX-License-Identifier: MIT
 *
 * jansson.h - the functions of Jansson that the debugger calls, on the page's own values: JavaScript has JSON
 * already. web/src/debugger/engine/values.ts implements them. Values live until the answer is read.
 */
#ifndef NM_PAGE_JANSSON_H
#define NM_PAGE_JANSSON_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct nm_page_value json_t;
typedef long long json_int_t;
typedef struct {
	char text[1];
} json_error_t;

enum { JSON_COMPACT = 0, JSON_ENCODE_ANY = 0, JSON_REJECT_DUPLICATES = 0 };

/* The page has them under the name "json" and their own. */
#define NM_PAGE_VALUE(name) __attribute__((import_module("json"), import_name(#name)))

json_t *json_null(void) NM_PAGE_VALUE(json_null);
json_t *json_integer(json_int_t number) NM_PAGE_VALUE(json_integer);
json_t *json_string(const char *text) NM_PAGE_VALUE(json_string);
json_t *json_stringn(const char *text, size_t bytes) NM_PAGE_VALUE(json_stringn);
json_t *json_array(void) NM_PAGE_VALUE(json_array);
json_t *json_object(void) NM_PAGE_VALUE(json_object);
json_t *json_pack(const char *format, ...) NM_PAGE_VALUE(json_pack);
json_t *json_loads(const char *text, size_t flags, json_error_t *fault) NM_PAGE_VALUE(json_loads);
int json_dumpf(const json_t *value, FILE *out, size_t flags) NM_PAGE_VALUE(json_dumpf);

int json_is_integer(const json_t *value) NM_PAGE_VALUE(json_is_integer);
int json_is_null(const json_t *value) NM_PAGE_VALUE(json_is_null);
int json_is_object(const json_t *value) NM_PAGE_VALUE(json_is_object);
int json_is_true(const json_t *value) NM_PAGE_VALUE(json_is_true);
int json_is_false(const json_t *value) NM_PAGE_VALUE(json_is_false);
json_int_t json_integer_value(const json_t *value) NM_PAGE_VALUE(json_integer_value);
const char *json_string_value(const json_t *value) NM_PAGE_VALUE(json_string_value);

int json_array_append_new(json_t *array, json_t *value) NM_PAGE_VALUE(json_array_append_new);
json_t *json_array_get(const json_t *array, size_t i) NM_PAGE_VALUE(json_array_get);
size_t json_array_size(const json_t *array) NM_PAGE_VALUE(json_array_size);
json_t *json_object_get(const json_t *object, const char *name) NM_PAGE_VALUE(json_object_get);
size_t json_object_size(const json_t *object) NM_PAGE_VALUE(json_object_size);
int json_object_set_new(json_t *object, const char *name, json_t *value) NM_PAGE_VALUE(json_object_set_new);
int json_object_update_new(json_t *object, json_t *other) NM_PAGE_VALUE(json_object_update_new);
const char *json_object_name(const json_t *object, size_t i) NM_PAGE_VALUE(json_object_name);

static inline json_t *json_stringn_nocheck(const char *text, size_t bytes)
{
	return json_stringn(text, bytes);
}

static inline void json_decref(json_t *value) { (void)value; }

#define json_object_foreach(object, name, value) \
	for (size_t nm_i = 0;                    \
	     ((name) = json_object_name(object, nm_i)) && ((value) = json_object_get(object, name)); nm_i++)

#endif
