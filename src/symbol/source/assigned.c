/* SPDX-License-Identifier: MIT */
#include "source/assigned.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static int is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Back over blanks before `at`. */
static size_t back_blanks(const char *text, size_t at)
{
	while (at && isspace((unsigned char)text[at - 1]))
		at--;
	return at;
}

/* The bracket that opens what text[at - 1] closes, or `at` if there is none in the block. */
static size_t back_group(const char *text, size_t at)
{
	const char close = text[at - 1], open = close == ')' ? '(' : close == ']' ? '[' : '<';
	size_t i = at, depth = 0, blocks = 0;

	while (i) {
		char c = text[--i];

		depth += c == close && !(close == '>' && i && text[i - 1] == '-');
		if (c == open && !--depth)
			return i;
		if (!blocks && (c == ';' || c == '{'))
			break;
		blocks += (size_t)(c == '}') - (size_t)(c == '{');
	}
	return at;
}

static size_t back_word(const char *text, size_t at)
{
	while (at && is_word(text[at - 1]))
		at--;
	return at;
}

/* "a", "a.b", "a[i]->b", "x::a": where the operand begins that ends before `at`; `at` if there is none. */
static size_t back_operand(const char *text, size_t at)
{
	for (size_t end = at;;) {
		size_t i = back_blanks(text, end), word;

		while (i && (text[i - 1] == ']' || text[i - 1] == ')')) {
			size_t open = back_group(text, i);

			if (open == i)
				return at;
			i = back_blanks(text, open);
		}
		word = back_word(text, i);
		if (word == i)
			return i < back_blanks(text, end) ? i + strspn(text + i, " \t\n") : at;
		i = back_blanks(text, word);
		if (i && (text[i - 1] == '.' || text[i - 1] == '%'))
			end = i - 1;
		else if (i > 1 && (!strncmp(text + i - 2, "->", 2) || !strncmp(text + i - 2, "::", 2)))
			end = i - 2;
		else
			return word;
	}
}

/* The operand without blanks; 0 if it is none that names anything. */
static int take_operand(const char *text, size_t from, size_t to, const char *behind, char *name)
{
	size_t n = 0;

	for (; from < to && n + 1 < ASSIGNED_ROOM; from++)
		if (!isspace((unsigned char)text[from]))
			name[n++] = text[from];
	name[n] = '\0';
	if (!strncmp(name, "this->", 6))
		memmove(name, name + 6, strlen(name + 6) + 1);
	else if (!strncmp(name, "self.", 5))
		memmove(name, name + 5, strlen(name + 5) + 1);
	if (!is_word(*name) && *name != '(')
		return 0;
	strncat(name, behind, ASSIGNED_ROOM - strlen(name) - 1);
	return 1;
}

static int is_token(const char *text, size_t from, size_t to, const char *token)
{
	return to - from == strlen(token) && !strncmp(text + from, token, to - from);
}

int callee_name(const char *callee, char name[ASSIGNED_ROOM])
{
	const char *start = callee, *before = callee, *end = callee;
	int depth = 0;

	for (; *end && (depth || *end != '('); end++) {
		if (!depth && !strncmp(end, "operator", 8))
			break;
		depth += (*end == '<') - (*end == '>');
		if (!depth && (*end == ':' || *end == ' ')) {
			before = *end == ':' && start < end ? start : before;
			start = end + 1;
		}
	}
	if (!strncmp(end, "operator", 8)) {
		start = end;
		snprintf(name, ASSIGNED_ROOM, "%.*s", (int)(8 + strcspn(start + 8, "(<")), start);
		if (!strncmp(start, "operator<<", 10) || !strncmp(start, "operator()", 10))
			snprintf(name, ASSIGNED_ROOM, "%.10s", start);
		return 0;
	}
	snprintf(name, ASSIGNED_ROOM, "%.*s", (int)strcspn(start, "<("), start);
	return *name && before < start && !strncmp(before, name, strlen(name)) &&
	       !is_word(before[strlen(name)]);
}

/* Methods by which containers grow; what they return is not the memory. */
static int is_growth(const char *method)
{
	static const char *const names[] = {"push",   "emplace", "insert",    "resize", "reserve",
					    "assign", "append",  "extend",    "grow",   "add",
					    "put",    "entry",   "or_insert", NULL};

	for (size_t i = 0; names[i]; i++)
		if (!strncmp(method, names[i], strlen(names[i])))
			return 1;
	return !strncmp(method, "operator", 8) && method[8] && method[8] != ' ';
}

/* The method of an operand at `at`: "all.push(x)", of which some compilers record where `all` is. `at` if
 * there is none. */
static size_t find_method(const char *text, size_t at, const char *method)
{
	const size_t n = strlen(method), end = at + strcspn(text + at, ";={}");

	if (!n || !is_word(*method) || !strncmp(text + at, method, n))
		return at;
	for (size_t i = at + 1; i + n < end; i++)
		if (text[i - 1] == '.' && !strncmp(text + i, method, n) &&
		    (text[i + n] == '(' || text[i + n] == ':'))
			return i;
	return at;
}

/* Where the expression of the call begins, and the word that is called. */
struct call {
	size_t start, word, word_end;
	int is_new;
};

/* From the place that a compiler recorded, or, without one, from the first word of the callee's name. */
static int find_call(const struct statement_call *c, const char *method, struct call *ret_call)
{
	const char *text = c->text, *found;
	size_t at = c->line + c->column - 1, end;

	if (!c->column || at >= strlen(text)) {
		found = *method && is_word(*method) ? strstr(text + c->line, method) : NULL;
		if (!found)
			return 0;
		at = (size_t)(found - text);
	}
	if (text[at] == ')' || text[at] == ']')
		at = back_group(text, at + 1);
	if (is_word(text[at])) {
		at = find_method(text, at, method);
		end =
		    at + strspn(text + at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
	} else {
		end = back_blanks(text, at);
		if (end && text[end - 1] == '>')
			end = back_blanks(text, back_group(text, end));
	}
	*ret_call = (struct call){.word = back_word(text, end), .word_end = end};
	ret_call->start = ret_call->word;
	while (ret_call->start > 1 && !strncmp(text + ret_call->start - 2, "::", 2))
		ret_call->start = back_word(text, ret_call->start - 2);
	end = back_blanks(text, ret_call->start);
	ret_call->is_new = is_token(text, ret_call->word, ret_call->word_end, "new");
	if (is_token(text, back_word(text, end), end, "new")) {
		ret_call->is_new = 1;
		ret_call->start = back_word(text, end);
	}
	return ret_call->word < ret_call->word_end;
}

/* Before a cast, a star or an ampersand in front of `at`. */
static size_t back_casts(const char *text, size_t at)
{
	for (;;) {
		size_t i = back_blanks(text, at), open;

		if (!i || (text[i - 1] != ')' && text[i - 1] != '*' && text[i - 1] != '&'))
			return i;
		if (text[i - 1] != ')') {
			at = i - 1;
			continue;
		}
		open = back_group(text, i);
		if (open == i || is_word(open ? text[open - 1] : ' ')) /* a call, not a cast */
			return i;
		at = open;
	}
}

/* Does an assignment end before `at`? */
static int is_assignment(const char *text, size_t at)
{
	return at && text[at - 1] == '=' && (at < 2 || !strchr("=!<>", text[at - 2]));
}

/* The target of an assignment whose sign ends before `at`. "let mut v: Vec<f64> =" names its variable at the
 * start. */
static int assigned_target(const char *text, size_t at, char *name)
{
	size_t end = at - 1, from, let;

	for (let = end; let && !strchr(";{}", text[let - 1]); let--)
		;
	let += strspn(text + let, " \t\n");
	if (!strncmp(text + let, "let ", 4)) {
		let += 4 + strspn(text + let + 4, " ");
		let += strncmp(text + let, "mut ", 4) ? 0 : 4;
		return take_operand(text, let, let + strcspn(text + let, " :="), "", name);
	}
	while (end && strchr("+-*/|&^", text[end - 1]))
		end--;
	end = back_blanks(text, end);
	from = back_operand(text, end);
	return from < end && take_operand(text, from, end, "", name);
}

/* The call or declaration whose parenthesis encloses `at`, or 0. */
static size_t back_enclosing(const char *text, size_t at)
{
	size_t depth = 0;

	for (; at; at--) {
		char c = text[at - 1];

		if (c == ';' || c == '}' || c == '{')
			return 0;
		depth += c == ')' || c == ']';
		if (c == '(' || c == '[') {
			if (!depth)
				return at - 1;
			depth--;
		}
	}
	return 0;
}

/* Is what a parenthesis holds a closure, "|x| ..." or "move |x| ..."? */
static int holds_closure(const char *text, size_t parenthesis)
{
	const char *at = text + parenthesis + 1;

	at += strspn(at, " \t\n");
	at += strncmp(at, "move ", 5) ? 0 : 5;
	return *at == '|';
}

static int used_by(const char *text, size_t at, char *name);

/* What a closure yields that is handed to a method of the operand at [from, end): what becomes of the whole
 * holds it. */
static int yielded_operand(const char *text, size_t from, size_t end, char *name)
{
	if (from == end || !used_by(text, from, name))
		return 0;
	if (name[strlen(name) - 1] != ']')
		strncat(name, "[]", ASSIGNED_ROOM - strlen(name) - 1);
	return 1;
}

/* Where the item after a comma of a list at `from` begins, or `end`. */
static size_t next_item(const char *text, size_t from, size_t end)
{
	size_t depth = 0;

	for (; from < end; from++) {
		depth += (size_t)(text[from] == '(') - (size_t)(text[from] == ')');
		if (!depth && text[from] == ',')
			return from + 1;
	}
	return end;
}

/* "let (u, mut v) = (f(), g());": the name of the item at `at` of the list that opens at `open`, behind a sign of
 * assignment that ends before `sign`. */
static int tuple_item(const char *text, size_t open, size_t sign, size_t at, char *name)
{
	const size_t end = back_blanks(text, sign - 1);
	size_t from, other = open + 1, to;

	if (!end || text[end - 1] != ')' || (from = back_group(text, end)) == end)
		return 0;
	for (from++; (other = next_item(text, other, at)) < at;)
		from = next_item(text, from, end - 1);
	to = next_item(text, from, end - 1);
	from += strspn(text + from, " \t\n");
	from += strncmp(text + from, "mut ", 4) ? 0 : 4;
	to -= text[to - 1] == ',';
	return from < to && take_operand(text, from, to, "", name);
}

/* What becomes of the value of an expression that begins at `at`. */
static int used_by(const char *text, size_t at, char *name)
{
	enum { MOST_LEVELS = 8 };

	for (unsigned level = 0; level < MOST_LEVELS; level++) {
		size_t i = back_casts(text, at), word, receiver, enclosing;

		if (is_assignment(text, i))
			return assigned_target(text, i, name);
		if (i && (text[i - 1] == '?' || text[i - 1] == ':') && (i < 2 || text[i - 2] != ':')) {
			size_t question = i;

			while (question && !strchr(";{}?", text[question - 1]))
				question--;
			if (!question || text[question - 1] != '?') /* "field: value" */
				return take_operand(text, back_word(text, back_blanks(text, i - 1)),
						    back_blanks(text, i - 1), "", name);
			for (at = question - 1;
			     at && !is_assignment(text, at) && !strchr(";{}", text[at - 1]); at--)
				;
			return is_assignment(text, at) && assigned_target(text, at, name);
		}
		enclosing = back_enclosing(text, i);
		i = back_blanks(text, enclosing);
		if (i && text[i - 1] == '>') /* static_cast<T>(value) */
			i = back_group(text, i);
		word = back_word(text, i);
		if (word == i)
			return is_assignment(text, i) && tuple_item(text, enclosing, i, at, name);
		receiver = back_blanks(text, word);
		if (receiver > 1 && (text[receiver - 1] == '.' || !strncmp(text + receiver - 2, "->", 2))) {
			size_t end = receiver - (text[receiver - 1] == '.' ? 1 : 2),
			       from = back_operand(text, end);

			if (holds_closure(text, enclosing))
				return yielded_operand(text, from, end, name);
			return from < end && take_operand(text, from, end,
							  is_token(text, word, i, "reset") ? "" : "[]", name);
		}
		if (receiver && (is_word(text[receiver - 1]) || text[receiver - 1] == '>') &&
		    !is_token(text, back_word(text, receiver), receiver, "return"))
			return take_operand(text, word, i, "", name); /* a declaration: type name(value) */
		at = word;
	}
	return 0;
}

/* Behind "allocate(" of Fortran, a statement by itself or after a condition; or NULL. */
static const char *find_allocate(const char *text)
{
	static const char word[] = "allocate";
	const char *at = strcasestr(text, word);
	const size_t before = at ? back_blanks(text, (size_t)(at - text)) : 0;

	if (!at || (before && !strchr(");", text[before - 1])))
		return NULL;
	at += strlen(word) + strspn(at + strlen(word), " ");
	return *at == '(' ? at + 1 : NULL;
}

/* The order-th array of its list "a(n), b(i)%c(m), stat=i": its name ends at the last parenthesis. */
static int allocated_item(const char *list, unsigned order, char *name)
{
	const char *item = list, *end = NULL; /* of the name of an item */
	size_t depth = 0;

	for (const char *at = list; *at; at++) {
		if (*at == '(' && !depth++)
			end = at;
		if (depth || (*at != ',' && *at != ')')) {
			depth -= *at == ')';
			end = !depth && *at == '%' ? NULL : end;
			continue;
		}
		end = end ? end : at;
		item += strspn(item, " \t\n&");
		if (!memchr(item, '=', (size_t)(end - item)) && !order--)
			return take_operand(item, 0, (size_t)(end - item), "", name);
		if (*at == ')')
			return 0;
		item = at + 1;
		end = NULL;
	}
	return 0;
}

/* The left side of an assignment operator, "operator+=", on the line of the call. */
static int operand_of(const struct statement_call *c, const char *sign, char *name)
{
	size_t n = strlen(sign);

	for (const char *at = c->text + c->line; (at = strstr(at, sign)); at++)
		if (sign[n - 1] == '=' && at[n] != '=' &&
		    (n > 1 || is_assignment(c->text, (size_t)(at - c->text) + 1)))
			return assigned_target(c->text, (size_t)(at - c->text) + n, name);
	return 0;
}

/* Functions of C's library that store what they allocate where their first argument points: "&line". */
static int by_argument(const char *text, const struct call *call, char *name)
{
	static const char *const functions[] = {"getline",        "getdelim",       "asprintf", "vasprintf",
						"posix_memalign", "open_memstream", NULL};
	size_t at = call->word_end + strspn(text + call->word_end, " \t\n"), i = 0;

	while (functions[i] && !is_token(text, call->word, call->word_end, functions[i]))
		i++;
	if (!functions[i] || text[at] != '(')
		return 0;
	at += 1 + strspn(text + at + 1, " \t\n");
	if (text[at] == '(') /* a cast */
		at += strcspn(text + at, ")") + 1;
	at += strspn(text + at, " \t\n");
	return text[at] == '&' && take_operand(text, at + 1, at + strcspn(text + at, ",);"), "", name);
}

/* The last argument of a list that begins at its parenthesis; *ret_end: behind it. */
static size_t last_argument(const char *text, size_t list, size_t *ret_end)
{
	size_t depth = 0, at = list, from = list + 1;

	for (; text[at] && !strchr(";{}", text[at]); at++) {
		depth += (text[at] == '(') - (text[at] == ')');
		if (!depth)
			break;
		if (depth == 1 && text[at] == ',')
			from = at + 1;
	}
	*ret_end = at;
	return from + strspn(text + from, " \t\n");
}

/* What Rust's readers append to, "&mut text" at the end of their arguments, and C++'s std::getline(stream, text). */
static int by_last_argument(const char *text, const struct call *call, const char *callee, char *name)
{
	static const char *const readers[] = {"read_to_string", "read_to_end", "read_line", "read_until",
					      NULL};
	static const char mut[] = "&mut ";
	const size_t list = call->word_end + strspn(text + call->word_end, " \t\n");
	size_t i = 0, from, end;

	while (readers[i] && !is_token(text, call->word, call->word_end, readers[i]))
		i++;
	if (text[list] != '(' || (!readers[i] && !strstr(callee, "std::getline<")))
		return 0;
	from = last_argument(text, list, &end);
	if (readers[i]) {
		if (strncmp(text + from, mut, strlen(mut)))
			return 0;
		from += strlen(mut);
	}
	return from < end && take_operand(text, from, end, "", name);
}

int statement_argument(const struct statement_call *c, unsigned argument, char name[ASSIGNED_ROOM])
{
	const char *text = c->text;
	char method[ASSIGNED_ROOM] = "";
	struct call call = {0};
	size_t at, end, depth = 0;

	if (c->callee)
		(void)callee_name(c->callee, method);
	if (!find_call(c, method, &call))
		return 0;
	at = call.word_end + strspn(text + call.word_end, " \t\n");
	if (text[at] == '<')
		at += strcspn(text + at, "(;");
	if (text[at++] != '(')
		return 0;
	for (; argument > 1 && text[at] && !strchr(";{}", text[at]); at++) {
		depth += strchr("([", text[at]) != NULL;
		if (strchr(")]", text[at]) && !depth--)
			return 0;
		argument -= !depth && text[at] == ',';
	}
	at += strspn(text + at, " \t\n&");
	for (end = at; text[end] && !strchr(";{}", text[end]); end++) {
		if (!depth && strchr(",)", text[end]))
			break;
		depth += strchr("([", text[end]) != NULL;
		depth -= strchr(")]", text[end]) != NULL;
	}
	end = back_blanks(text, end);
	return argument == 1 && back_operand(text, end) == at && take_operand(text, at, end, "", name);
}

int text_copied(const char *text, const char *name, char copied[ASSIGNED_ROOM])
{
	const size_t n = strlen(name);

	for (const char *at = text; n && (at = strstr(at, name)); at += n) {
		const size_t from = (size_t)(at - text), before = back_casts(text, from);

		if (!is_word(at[n]) && at[n + strspn(at + n, " \t")] == ';' && is_assignment(text, before))
			return assigned_target(text, before, copied);
	}
	return 0;
}

/* Does a word that is constructed stand in a declaration or a list of members, "type word(value)", "), word(value)",
 * rather than for the type of a value, "f(text(value))", "x = ns::text(value)"? */
static int is_declared(const char *text, size_t start, size_t word)
{
	const size_t before = back_blanks(text, start);

	return start == word && !is_assignment(text, before) && !back_enclosing(text, start) &&
	       !is_token(text, back_word(text, before), before, "return");
}

int statement_assigned(const struct statement_call *c, char name[ASSIGNED_ROOM])
{
	char method[ASSIGNED_ROOM] = "";
	const char *text = c->text, *list = find_allocate(text), *equals;
	struct call call = {0};
	size_t before, from;
	int constructs = 0;

	if (list)
		return allocated_item(list, c->order, name);
	if (c->callee)
		constructs = callee_name(c->callee, method);
	if (!strncmp(method, "operator", 8) && is_growth(method) && strchr(method, '='))
		return operand_of(c, method + strlen("operator"), name);
	if (!find_call(c, method, &call)) {
		equals = strchr(text + c->line, '=');
		return equals && is_assignment(text, (size_t)(equals - text) + 1) && equals[1] != '=' &&
		       assigned_target(text, (size_t)(equals - text) + 1, name);
	}
	if (by_argument(text, &call, name) || (c->callee && by_last_argument(text, &call, c->callee, name)))
		return 1;
	before = back_blanks(text, call.start);
	if (!strcmp(method, "operator[]"))
		return take_operand(text, back_operand(text, call.word_end), call.word_end, "", name);
	if (constructs && !call.is_new && strncmp(text + call.word, method, strlen(method)) &&
	    is_declared(text, call.start, call.word))
		return take_operand(text, call.word, call.word_end, "",
				    name); /* a declaration, or a member that is constructed */
	if (before > 1 && (text[before - 1] == '.' || !strncmp(text + before - 2, "->", 2)) && c->callee &&
	    strstr(c->callee, "::")) {
		size_t end = before - (text[before - 1] == '.' ? 1 : 2);

		from = back_operand(text, end);
		if (!is_growth(method) && !c->is_number && used_by(text, from, name))
			return 1;
		return from < end && take_operand(text, from, end, "", name);
	}
	if (c->is_number)
		return 0;
	if (before && text[before - 1] == '.')
		call.start = back_operand(text, before - 1);
	else if (before > 1 && !strncmp(text + before - 2, "->", 2))
		call.start = back_operand(text, before - 2);
	return used_by(text, call.start, name);
}

/* Does an expression at `at` reach the end of the block, with no semicolon but in brackets? */
static int is_last_of_block(const char *text, size_t at)
{
	const size_t end = back_blanks(text, strlen(text));
	size_t depth = 0;

	for (; at < end; at++) {
		if (!depth && (text[at] == ';' || text[at] == '}'))
			break;
		depth +=
		    (size_t)(strchr("([{", text[at]) != NULL) - (size_t)(strchr(")]}", text[at]) != NULL);
	}
	if (at + 1 != end || text[at] != '}')
		return 0;
	at = back_blanks(text, at);
	return at && text[at - 1] == ')';
}

int statement_returns(const struct statement_call *c, int is_rust)
{
	const char *text = c->text + strspn(c->text, " \t\n");
	const size_t at = c->line + (c->column ? c->column - 1 : 0);
	char method[ASSIGNED_ROOM] = "";
	struct call call = {0};

	if (is_rust)
		return at < strlen(c->text) && !back_enclosing(c->text, at) && is_last_of_block(c->text, at);
	if (c->callee)
		(void)callee_name(c->callee, method);
	return !strncmp(text, "return", 6) && !is_word(text[6]) && find_call(c, method, &call) &&
	       !back_enclosing(c->text, call.start);
}
