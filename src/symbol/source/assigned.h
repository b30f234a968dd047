/* SPDX-License-Identifier: MIT
 *
 * assigned.h - what a source assigns the result of a call to, from its text.
 *
 * DWARF gives the position of a call, but not the use of its result. Compilers give the column of a call:
 * that of its name, its opening parenthesis, or the last character of a new-expression or subscript. From
 * there the text is read to the left.
 */
#ifndef NM_SYMBOL_ASSIGNED_H
#define NM_SYMBOL_ASSIGNED_H

#include <stddef.h>
#include <stdint.h>

enum { STATEMENT_ROOM = 4096, ASSIGNED_ROOM = 128 };

/* The statement around a line of a file: from the end of the one before to its own end, some lines at most,
 * comments blanked. *ret_line: where the line begins in it. 0 if the file cannot be read. */
int statement_read(const char *file, uint32_t line, char text[STATEMENT_ROOM], size_t *ret_line);

/* The lines of a file behind one, some at most, comments blanked. 0 if the file cannot be read. */
int lines_behind(const char *file, uint32_t line, char text[STATEMENT_ROOM]);

/* A call in a statement. */
struct statement_call {
	const char *text;
	size_t line;        /* where the line of the call begins in the text */
	uint32_t column;    /* of the call, from 1; 0: not known */
	const char *callee; /* name of the function that is called, demangled, or NULL */
	unsigned order;     /* how many calls of the line come before it in the code */
	/* it returns one, such as an index: the memory is that of the object it is called on */
	int is_number;
};

/* The last component of a demangled name, without template arguments: "push_back" of
 * "std::vector<int>::push_back(int)". 1 if it is the name of its class, too: a constructor. */
int callee_name(const char *callee, char name[ASSIGNED_ROOM]);

/* Writes what the result is assigned to, as the source writes it: "u", "SD.grid", "nodes[i]->next", of a
 * container's method the container, "v[]" for what is put into a container. 0 if the text does not tell. */
int statement_assigned(const struct statement_call *call, char name[ASSIGNED_ROOM]);

/* The same for its type: the last name of that, and how many subscripts and stars it has. */
int statement_pointer(const struct statement_call *call, char word[ASSIGNED_ROOM], unsigned *ret_steps);

/* Does the line of the call ask for a number of elements, "n * sizeof *p", and nothing besides? */
int statement_counts(const struct statement_call *call);

/* Writes an argument of the call, from 1, without its ampersand; 0 if it is no operand. */
int statement_argument(const struct statement_call *call, unsigned argument, char name[ASSIGNED_ROOM]);

/* Is "*name" assigned to in the text? */
int text_assigns_through(const char *text, const char *name);

/* Is the result what the function returns, "return f(n);", or in Rust the expression at its end? */
int statement_returns(const struct statement_call *call, int is_rust);

/* What a local variable is copied to in the text, "t->room" by "t->room = p;". 0: to nothing. */
int text_copied(const char *text, const char *name, char copied[ASSIGNED_ROOM]);

#endif
