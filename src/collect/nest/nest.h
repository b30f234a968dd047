/* SPDX-License-Identifier: MIT
 *
 * nest.h - loop nests: arrays, loops and references described in a text instead of a program.
 *
 * The language is docs/format/nest.md. nm_nest_load reads a nest and lays its arrays out; nm_nest_run
 * executes it, any number of times, and sends its references as a stream of the wire. In the stream each
 * array is a named range, each run of statements a block, and each reference a site ("Y(j,k)" at its line of
 * the file).
 */
#ifndef NM_NEST_H
#define NM_NEST_H

#include <stddef.h>
#include <stdint.h>

#include "errors.h"

struct nm_nest;

/* Reads the nest at path. settings: "NAME=VALUE" for a parameter's value or an array's address, ended by
 * NULL; the last of one name holds. A fault in the text is NM_EINVAL: its text begins with file, line and
 * column, and the line is its subject. */
int nm_nest_load(struct nm_nest **ret_nest, const char *path, const char *const *settings,
		 struct nm_error *err);

/* The same from memory; path is for messages, places and the folder of files of values. */
int nm_nest_parse(struct nm_nest **ret_nest, const char *text, size_t bytes, const char *path,
		  const char *const *settings, struct nm_error *err);
void nm_nest_free(struct nm_nest *nest);

/* The range "FROM:TO" or "FROM:TO:STEP" (else 1) that a text holds from offset `at` to its end: constant
 * expressions, in which parameters of the nest may stand. NM_EINVAL: the text is the error's subject. */
struct nm_nest_range {
	int64_t from, to, step;
};
int nm_nest_read_range(struct nm_nest *nest, const char *text, size_t at, struct nm_nest_range *ret,
		       struct nm_error *err);

/* What takes whole records. Not 0: the run ends with that code. Called now and then even without words. */
struct nm_nest_sink {
	int (*take)(void *self, const uint64_t *words, size_t count, struct nm_error *err);
	void *self;
};

/* Sends the whole stream, PROCESS to EXIT. argv (ended by NULL) is what the stream says was run. NM_EINVAL: a
 * subscript left its array; the message has the loop indices. */
int nm_nest_run(struct nm_nest *nest, const char *const *argv, const struct nm_nest_sink *sink,
		struct nm_error *err);

/* About how many references a run makes, with warm-up; takes no longer for many iterations than for few. */
double nm_nest_estimate(const struct nm_nest *nest);

/* One reference as it is made. */
struct nm_nest_step {
	uint64_t number;  /* from 1, in order of execution */
	size_t reference; /* for nm_nest_reference_at */
	uint64_t address;
	unsigned loops;           /* around it, outermost first: */
	const char *const *index; /* their indices' names */
	const int64_t *value;     /* and values */
	int warms_up;
};

struct nm_nest_visitor {
	int (*see)(void *self, const struct nm_nest_step *step,
		   struct nm_error *err); /* not 0: ends the walk with that code */
	void *self;
};

/* Goes through the references from number `first` to number `last`. */
int nm_nest_walk(struct nm_nest *nest, uint64_t first, uint64_t last, const struct nm_nest_visitor *visitor,
		 struct nm_error *err);

/* How often each reference misses in a level of a machine, by number of nm_nest_reference_at, without warm-up: what
 * simulating the stream counts. Far faster, but of nests without index arrays, whose loops show that no subscript
 * leaves its array, and caches with the default rules. 0, NM_ENOMEM or NM_NEST_SIMULATE: this is none of them. */
enum { NM_NEST_SIMULATE = 1 };
struct nm_nest_misses {
	uint64_t *misses;    /* the caller frees them */
	uint64_t references; /* in all, with warm-up; */
	uint64_t warped;     /* of these, in iterations that were skipped */
};
struct nm_machine;
int nm_nest_count_misses(const struct nm_nest *nest, const struct nm_machine *machine, unsigned level,
			 struct nm_nest_misses *ret);

/* ---- what is in it ---- */

struct nm_nest_array_info {
	const char *name;
	uint64_t address, bytes;
};

struct nm_nest_parameter_info {
	const char *name;
	int64_t value;
};

struct nm_nest_reference_info {
	const char *name;         /* of its place: "Y(j,k)", "Z(j,i) =" for a write */
	const char *array;        /* its array's name */
	unsigned statement, part; /* numbers from 1: statement of the nest, reference of the statement */
	unsigned line, column;    /* from 1 */
	int is_write;
	unsigned bytes;
};

/* A file of values. */
struct nm_nest_file {
	const char *name; /* as the text has it */
	const char *path; /* where it was read */
};

/* The text of a file, at most `most` bytes, ended by NUL. 0, NM_EFORMAT: it is larger; or from errno. */
int nm_nest_read_file(const char *path, size_t most, char **ret_text, size_t *ret_bytes,
		      struct nm_error *err);

/* i-th in order of the text; 0: there are no more. Strings live as long as the nest. */
int nm_nest_parameter_at(const struct nm_nest *nest, size_t i, struct nm_nest_parameter_info *ret);
int nm_nest_array_at(const struct nm_nest *nest, size_t i, struct nm_nest_array_info *ret);
int nm_nest_file_at(const struct nm_nest *nest, size_t i, struct nm_nest_file *ret);
int nm_nest_reference_at(const struct nm_nest *nest, size_t i, struct nm_nest_reference_info *ret);

/* How the address of reference i follows from the loop indices: "0x100000 + 4 (j) + 896 (k)". As snprintf. */
size_t nm_nest_reference_address(const struct nm_nest *nest, size_t i, char *text, size_t room);

/* What a place that is left out of the measurement is called: the reference's name and this. */
#define NM_NEST_WARM_UP " (warm-up)"

#endif
