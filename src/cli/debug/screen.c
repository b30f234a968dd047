/* SPDX-License-Identifier: MIT
 *
 * screen.c - draws the cache as a grid and goes where keys say.
 *
 * A box is a line of the first cache that takes data: sets from left to right and downwards, the ways of a
 * set beside each other. Its letter and colour are the object's; the last reference is shown in reverse, and
 * as a cross if it missed.
 */
#include <ctype.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>

#include "debug.h"
#include "message.h"

enum { COLOURS = 6, HEAD = 4, FOOT = 2, ROOM = 200 };

struct screen {
	struct nm_debugger *debugger;
	json_t *session, *state;
	char message[512];
};

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "?";
}

static long long number_of(const json_t *object, const char *name)
{
	return (long long)json_integer_value(json_object_get(object, name));
}

/* ---- drawing ---- */

/* The number of an object in the session, from 0; -1: it has no name. */
static int object_number(const struct screen *s, const char *name)
{
	const json_t *objects = json_object_get(s->session, "objects"), *object;
	size_t i;

	json_array_foreach((json_t *)objects, i,
			   object) if (!strcmp(text_of(object, "name"), name)) return (int)i;
	return -1;
}

static void draw_slot(const struct screen *s, const json_t *slot, int is_cursor, int is_hit)
{
	const int object = json_is_object(slot) ? object_number(s, text_of(slot, "object")) : -1;
	const int colour = object < 0 ? 0 : COLOR_PAIR(1 + object % COLOURS);
	const chtype letter = !json_is_object(slot) ? '.' : object < 0 ? '?' : (chtype)('A' + object % 26);

	addch((is_cursor && !is_hit ? 'X' : letter) | (chtype)colour | (is_cursor ? A_REVERSE : 0));
}

static void draw_grid(const struct screen *s, const json_t *grid)
{
	const json_t *slots = json_object_get(grid, "slots"), *cursor = json_object_get(grid, "cursor"),
		     *slot;
	const long long ways = number_of(grid, "ways"), set = number_of(cursor, "set"),
			way = number_of(cursor, "way");
	const int per_row = (int)ways + (ways > 1);
	const int sets_per_row = COLS / per_row > 0 ? COLS / per_row : 1;
	size_t i;

	json_array_foreach((json_t *)slots, i, slot)
	{
		const long long at_set = (long long)i / ways, at_way = (long long)i % ways;
		const int row = HEAD + (int)(at_set / sets_per_row);

		if (row >= LINES - FOOT)
			break;
		move(row, (int)(at_set % sets_per_row) * per_row + (int)at_way);
		draw_slot(s, slot, json_is_object(cursor) && at_set == set && at_way == way,
			  json_is_true(json_object_get(cursor, "hit")));
	}
}

static void draw_reference(const struct screen *s)
{
	const json_t *r = json_object_get(s->state, "reference"), *loop;
	const char *name;

	if (!json_is_object(r)) {
		addstr("before the first reference");
		return;
	}
	printw("%s %s of %s at 0x%llx, line %lld ", text_of(r, "kind"), text_of(r, "function"),
	       text_of(r, "object"), (unsigned long long)number_of(r, "address"), number_of(r, "line"));
	json_object_foreach(json_object_get(r, "loops"), name, loop)
	    printw(" %s=%lld", name, (long long)json_integer_value(loop));
}

static void draw_effects(const struct screen *s)
{
	json_t *effect;
	size_t i;

	json_array_foreach(json_object_get(s->state, "effects"), i, effect)
	{
		const json_t *left = json_object_get(effect, "evicted");

		printw("%s%s: %s %s, set %lld", i ? "; " : "", text_of(effect, "level"),
		       json_is_true(json_object_get(effect, "hit")) ? "hit" : "miss",
		       json_is_string(json_object_get(effect, "class")) ? text_of(effect, "class") : "",
		       number_of(effect, "set"));
		if (json_is_object(left))
			printw(", evicts %s last used at %lld", text_of(left, "object"),
			       number_of(json_object_get(left, "last_used"), "position"));
	}
}

static void draw_screen(const struct screen *s)
{
	struct nm_error err;
	json_t *grid = nm_debug_ask(s->debugger, "GET", "grid", json_object(), &err);

	erase();
	mvprintw(
	    0, 0, "reference %lld of %lld  %s", number_of(s->state, "position"), number_of(s->state, "total"),
	    json_is_string(json_object_get(s->state, "stopped_by")) ? text_of(s->state, "stopped_by") : "");
	move(1, 0);
	draw_reference(s);
	move(2, 0);
	draw_effects(s);
	if (grid)
		draw_grid(s, grid);
	mvaddnstr(LINES - 2, 0, s->message, COLS);
	mvaddnstr(
	    LINES - 1, 0,
	    "s step  b back  n/N next/previous miss  c/C run on/back to a breakpoint  p break  g go to  "
	    "e who evicted  q quit",
	    COLS);
	refresh();
	json_decref(grid);
}

/* ---- keys ---- */

/* Goes somewhere: the answer is the state, or a message. Takes the body. */
static void post_move(struct screen *s, const char *path, json_t *body)
{
	struct nm_error err = {0};
	json_t *state = nm_debug_ask(s->debugger, "POST", path, body, &err);

	snprintf(s->message, sizeof s->message, "%s", state ? "" : err.text);
	if (!state)
		return;
	json_decref(s->state);
	s->state = state;
}

static void run_until(struct screen *s, const char *until, int backwards)
{
	post_move(s, "run",
		  json_pack("{s:s, s:b, s:i}", "until", until, "backwards", backwards, "limit_ms", 10000));
}

static void prompt_line(const char *what, char text[ROOM])
{
	move(LINES - 2, 0);
	clrtoeol();
	addstr(what);
	echo();
	getnstr(text, ROOM - 1);
	noecho();
}

static void ask_position(struct screen *s)
{
	char text[ROOM] = "";

	prompt_line("go to reference: ", text);
	post_move(s, "goto", json_pack("{s:s}", "position", text));
}

static void ask_breakpoint(struct screen *s)
{
	struct nm_error err = {0};
	char text[ROOM] = "";
	json_t *answer;

	prompt_line("stop where (object == \"A\" && miss): ", text);
	answer = nm_debug_ask(s->debugger, "POST", "breakpoints",
			      json_pack("{s:s, s:s}", "kind", "condition", "condition", text), &err);
	snprintf(s->message, sizeof s->message, "%s", answer ? "breakpoint set: c runs to it" : err.text);
	json_decref(answer);
}

static void ask_evicted(struct screen *s)
{
	struct nm_error err = {0};
	char text[ROOM] = "";
	json_t *answer;
	const json_t *by, *used;

	prompt_line("which address (0x...): ", text);
	answer = nm_debug_ask(s->debugger, "GET", "evicted", json_pack("{s:s}", "address", text), &err);
	by = json_object_get(answer, "evictor");
	used = json_object_get(json_object_get(answer, "evicted"), "last_used");
	if (!answer)
		snprintf(s->message, sizeof s->message, "%s", err.text);
	else if (!json_is_object(by))
		snprintf(s->message, sizeof s->message, "the line is %s, and never left",
			 strcmp(text_of(answer, "is"), "never") ? "there" : "not there");
	else
		snprintf(s->message, sizeof s->message,
			 "%sevicted at %lld by %s (%s), last used at %lld by %s",
			 strcmp(text_of(answer, "is"), "resident") ? "" : "there again; ",
			 number_of(answer, "evicted_at"), text_of(by, "function"), text_of(by, "object"),
			 number_of(used, "position"), text_of(used, "function"));
	json_decref(answer);
}

/* 0: the user quits. */
static int take_key(struct screen *s, int key)
{
	switch (key) {
	case 'q': return 0;
	case 's':
	case KEY_RIGHT: post_move(s, "step", json_pack("{s:i}", "count", 1)); break;
	case 'b':
	case KEY_LEFT: post_move(s, "step", json_pack("{s:i}", "count", -1)); break;
	case KEY_NPAGE: post_move(s, "step", json_pack("{s:i}", "count", 1000)); break;
	case KEY_PPAGE: post_move(s, "step", json_pack("{s:i}", "count", -1000)); break;
	case KEY_HOME: post_move(s, "goto", json_pack("{s:i}", "position", 0)); break;
	case KEY_END:
		post_move(s, "goto",
			  json_pack("{s:I}", "position", (json_int_t)nm_debugger_total(s->debugger)));
		break;
	case 'n': run_until(s, "miss", 0); break;
	case 'N': run_until(s, "miss", 1); break;
	case 'c': run_until(s, "breakpoint", 0); break;
	case 'C': run_until(s, "breakpoint", 1); break;
	case 'p': ask_breakpoint(s); break;
	case 'g': ask_position(s); break;
	case 'e': ask_evicted(s); break;
	default: break;
	}
	return 1;
}

static void start_colours(void)
{
	static const short colours[COLOURS] = {COLOR_CYAN,    COLOR_YELLOW, COLOR_GREEN,
					       COLOR_MAGENTA, COLOR_BLUE,   COLOR_RED};

	if (!has_colors() || getenv("NO_COLOR"))
		return;
	start_color();
	use_default_colors();
	for (short i = 0; i < COLOURS; i++)
		init_pair((short)(i + 1), colours[i], -1);
}

int nm_debug_screen(struct nm_debugger *debugger)
{
	struct screen s = {.debugger = debugger};
	struct nm_error err;

	s.session = nm_debug_ask(debugger, "GET", "session", json_object(), &err);
	s.state = nm_debug_ask(debugger, "GET", "state", json_object(), &err);
	if (!s.session || !s.state)
		return NM_STATUS_FAILED;
	initscr();
	start_colours();
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	do
		draw_screen(&s);
	while (take_key(&s, getch()));
	endwin();
	json_decref(s.session);
	json_decref(s.state);
	return NM_STATUS_OK;
}
