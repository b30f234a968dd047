/* SPDX-License-Identifier: MIT
 *
 * demangle.c - names as the source writes them, by libiberty.
 *
 * Compilers split and clone functions: foo.cold, foo.part.0, foo.isra.0.constprop.1, foo.lto_priv.3,
 * foo.llvm.123; coroutines: foo.resume. The clone suffix is cut before demangling, so all parts of a function have the
 * same name, also those that g++ gives a coroutine's frame as parameter. Rust's
 * paths have two dots where its source has colons (core..clone..Clone) and are no suffixes. C++
 * names keep their parameters, since overloads are different functions; Rust names lose their hash. Fortran
 * module procedures become module::name.
 */
#include <libiberty/demangle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol_priv.h"

/* Where the first clone suffix starts, or the length of the name. */
static size_t plain_length(const char *name)
{
	static const char *const suffixes[] = {".cold",      ".part.",   ".isra.",      ".constprop.",
					       ".lto_priv.", ".llvm.",   ".localalias", ".clone.",
					       ".resume",    ".destroy", ".cleanup",    ".actor"};
	size_t length = strlen(name);
	for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.'))
		for (size_t i = 0; dot != name && dot[-1] != '.' && i < sizeof suffixes / sizeof *suffixes;
		     i++)
			if (!strncmp(dot, suffixes[i], strlen(suffixes[i])))
				return (size_t)(dot - name);
	return length;
}

/* gfortran names the procedures and variables of modules __<module>_MOD_<name>. */
static const char *fortran_separator(const char *name)
{
	const char *found = name[0] == '_' && name[1] == '_' ? strstr(name + 2, "_MOD_") : NULL;
	return found && found > name + 2 && found[5] ? found : NULL;
}

int is_mangled(const char *name)
{
	return (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R')) || fortran_separator(name);
}

/* Cuts "f(f(int)::_Z1fi.Frame*)", a part of a coroutine, to "f(int)". */
static void name_coroutine(char *source)
{
	const char *frame = strstr(source, "::_Z"), *end = frame ? strstr(frame, ".Frame*)") : NULL;

	for (const char *open = strchr(source, '('); end && open && open < frame;
	     open = strchr(open + 1, '('))
		if (!strncmp(source, open + 1, (size_t)(open - source))) {
			const size_t length = (size_t)(frame - open - 1);

			memmove(source, open + 1, length);
			source[length] = '\0';
			return;
		}
}

/* The mangled name's source form, to be freed, or NULL. */
static char *source_of(const char *name)
{
	const char *separator = fortran_separator(name);
	char *source = NULL;
	if (separator &&
	    asprintf(&source, "%.*s::%s", (int)(separator - name - 2), name + 2, separator + 5) < 0)
		return NULL;
	if (separator)
		return source;
	if (!is_mangled(name))
		return NULL;
	source = rust_demangle(name, 0);
	if (!source)
		source = cplus_demangle_v3(name, DMGL_PARAMS | DMGL_ANSI);
	if (source)
		name_coroutine(source);
	return source;
}

const char *demangle(struct nm_strings *pool, const char *name)
{
	size_t length = plain_length(name);
	const char *stub = strstr(name, "@plt");
	if (stub && (size_t)(stub - name) < length)
		length = (size_t)(stub - name);
	const char *plain = nm_intern_n(pool, name, length);
	char *source = plain ? source_of(plain) : NULL;
	if (stub && plain) {
		char *whole;
		if (asprintf(&whole, "%s@plt", source ? source : plain) < 0)
			whole = NULL;
		free(source);
		source = whole;
		plain = whole ? plain : NULL;
	}
	const char *result = source ? nm_intern(pool, source) : plain;
	free(source);
	return result;
}
