/* SPDX-License-Identifier: MIT */
#include "user_code.h"

#include <string.h>

#include "mpi_code.h"

static int starts_with_any(const char *s, const char *const *prefixes)
{
	for (; *prefixes; prefixes++)
		if (!strncmp(s, *prefixes, strlen(*prefixes)))
			return 1;
	return 0;
}

const char *nm_name_proper(const char *function)
{
	const char *start = function;
	int depth = 0;

	for (const char *s = function; *s; s++) {
		if (!strncmp(s, "operator", 8) || (*s == '(' && !depth && strncmp(s, "(anonymous", 10)))
			break;
		if (*s == '<' || *s == '(')
			depth++;
		else if (*s == ')' || (*s == '>' && s > function && s[-1] != '-'))
			depth--;
		else if (*s == ' ' && !depth)
			start = s + 1;
	}
	return start;
}

/* Rust's "<f64 as alloc::vec::SpecFromElem>::from_elem": what a library does for a type that is not the
 * user's. */
static int is_library_method(const char *function)
{
	static const char *const crates[] = {"alloc::", "core::", "std::", "hashbrown::", NULL};
	const char *as = *function == '<' ? strstr(function, " as ") : NULL;

	return as && starts_with_any(as + 4, crates) &&
	       (!memmem(function, (size_t)(as - function), "::", 2) || starts_with_any(function + 1, crates));
}

int nm_is_library_function(const char *function)
{
	static const char *const prefixes[] = {"std::",
					       "__gnu_cxx::",
					       "__cxxabiv1::",
					       "operator new",
					       "operator delete",
					       "alloc::",
					       "<alloc::",
					       "core::",
					       "<core::",
					       "hashbrown::",
					       "<std::",
					       "<hashbrown::",
					       "__rust_",
					       "__rdl_",
					       "__rg_",
					       "__rustc::",
					       "Eigen::",
					       "boost::",
					       "absl::",
					       "fmt::",
					       "tbb::",
					       "_gfortran_",
					       NULL};

	function = nm_name_proper(function);
	return starts_with_any(function, prefixes) || is_library_method(function);
}

int nm_is_system_library(const char *module)
{
	static const char *const prefixes[] = {
	    "libc.so",    "libc-",       "libstdc++.so", "libc++.so",   "ld-linux",
	    "libpthread", "libm.so",     "libgcc_s",     "libgfortran", "libquadmath",
	    "libgomp.so", "libjemalloc", "libtcmalloc",  "libmimalloc", NULL};

	return starts_with_any(module, prefixes) || nm_is_mpi_library(module);
}

/* What the compiler and the C library link into each program: it starts and ends the program. */
static int is_startup(const char *function)
{
	static const char *const names[] = {"_start",
					    "_init",
					    "_fini",
					    "frame_dummy",
					    "__do_global_dtors_aux",
					    "register_tm_clones",
					    "deregister_tm_clones",
					    NULL};

	for (size_t i = 0; names[i]; i++)
		if (!strcmp(function, names[i]))
			return 1;
	return 0;
}

/* Sources that come with a system, a compiler or a package manager. */
static int is_library_source(const char *file)
{
	static const char *const folders[] = {
	    "/usr/include/", "/usr/local/include/", "/usr/lib/", "/usr/share/", "/rustc/", NULL};
	static const char *const parts[] = {"/include/c++/",
					    "/.cargo/registry/",
					    "/library/core/src/",
					    "/library/std/src/",
					    "/library/alloc/src/",
					    "/eigen3/",
					    "/Eigen/src/",
					    "/boost/",
					    NULL};

	for (size_t i = 0; parts[i]; i++)
		if (strstr(file, parts[i]))
			return 1;
	return starts_with_any(file, folders);
}

/* Is a file below one of the folders of a list? */
static int is_below(const char *folders, const char *file)
{
	for (const char *at = folders; *at;) {
		size_t n = strcspn(at, ":"), bare = n;

		while (bare > 1 && at[bare - 1] == '/')
			bare--;
		if (bare && !strncmp(file, at, bare) &&
		    (at[bare - 1] == '/' || file[bare] == '/' || !file[bare]))
			return 1;
		at += n + (at[n] == ':');
	}
	return 0;
}

int nm_is_user_code(const char *folders, const char *module, const struct nm_source_position *p)
{
	if (folders)
		return p->file && is_below(folders, p->file);
	if (nm_is_system_library(module) || (p->function && nm_is_library_function(p->function)))
		return 0;
	return p->file ? !is_library_source(p->file) : !p->function || !is_startup(p->function);
}
