/* SPDX-License-Identifier: MIT
 *
 * cmd_view.c - nearmiss view: serves profiles, and a debugger of a loop nest or a trace, to a browser of this
 * machine until it is interrupted.
 */
#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assets.h"
#include "debug/debug_options.h"
#include "html_output.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "peek.h"
#include "recording.h"
#include "server.h"
#include "source.h"

/* Milliseconds until a signal is noticed that another thread took; in which nobody asks, so that there is
 * time to prepare answers. */
enum { TICK = 250, PAUSE = 2 };

struct view_options {
	struct nm_debug_options source; /* of the debugger */
	struct nm_option_list folders;  /* of sources */
	const char *html, *window;
	int64_t port;
	int no_browser;
};

static const struct nm_option options[] = {
    NM_ROWS_DEBUG(struct view_options, source),
    {"html", 0, "FILE", "write one file that needs no server, and end", NM_OPTION_TEXT,
     offsetof(struct view_options, html), NULL},
    {"window", 0, "FIRST[:COUNT]", "the references of a nest or trace that the file holds (nearmiss-view(1))",
     NM_OPTION_TEXT, offsetof(struct view_options, window), NULL},
    {"source-dir", 0, "DIR", "look for sources here too; may be repeated", NM_OPTION_LIST,
     offsetof(struct view_options, folders), NULL},
    {"port", 'P', "N", "listen on this port of 127.0.0.1 (a free one)", NM_OPTION_NUMBER,
     offsetof(struct view_options, port), NULL},
    {"no-browser", 0, NULL, "print the address only", NM_OPTION_FLAG,
     offsetof(struct view_options, no_browser), NULL},
};

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

/* Whether there is a graphical session. */
static int has_screen(void)
{
	const char *display = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");

	return isatty(STDERR_FILENO) && ((display && *display) || (wayland && *wayland));
}

/* Starts the user's browser. A failure is no error, since the address is printed. */
static void open_browser(const char *address)
{
	char *const arguments[] = {(char *)"xdg-open", (char *)address, NULL};
	posix_spawn_file_actions_t actions;
	pid_t process;

	posix_spawn_file_actions_init(&actions);
	for (int fd = 0; fd < 3; fd++)
		posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
	posix_spawnp(&process, arguments[0], &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
}

static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = interrupt};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static int serve(struct nm_view *view, const struct view_options *o)
{
	struct nm_output output = {.file = stdout};
	struct nm_server *server;
	struct nm_error err;
	int status, is_prepared = 0;

	if (nm_server_start(&server, view, (unsigned)o->port, &err))
		return nm_failed(&err, NM_STATUS_FAILED);
	if (!nm_n_assets)
		nm_message(
		    "built without its pages: run tools/install-pages in the sources, and build again");
	printf("%s\n", nm_server_address(server));
	status = fflush(stdout) ? nm_output_close(&output) : NM_STATUS_OK;
	if (!status && !o->no_browser && has_screen())
		open_browser(nm_server_address(server));
	catch_signals();
	while (!status && !interrupted)
		if (!nm_server_run(server, is_prepared ? TICK : PAUSE) && !is_prepared)
			is_prepared = !nm_view_prepare(view);
	nm_server_stop(server);
	return status;
}

/* ---- what to show: profiles, and at most one loop nest or trace ---- */

struct inputs {
	const char *profiles[NM_VIEW_PROFILES];
	size_t count;
	const char *debugged; /* a loop nest or a trace, or NULL */
};

/* Whether a file is a profile rather than a nest; an unreadable one counts as a profile, whose opening
 * explains why. */
static int is_profile(const char *path)
{
	static const char magic[] = "SQLite format 3";
	struct nm_peeked_input peeked;

	if (nm_peek_input(&peeked, path, NULL))
		return 1;
	close(peeked.fd);
	return peeked.count == sizeof magic && !memcmp(peeked.bytes, magic, sizeof magic);
}

static int sort_inputs(const struct nm_command *self, const struct nm_operands *operands, struct inputs *in)
{
	for (int i = 0; i < operands->count; i++) {
		const char *path = operands->at[i];

		if (!is_profile(path)) {
			if (in->debugged)
				return nm_usage(self,
						"%s is no profile, nor is %s: one loop nest or trace can be "
						"debugged at a time",
						path, in->debugged);
			in->debugged = path;
		} else if (in->count == NM_VIEW_PROFILES) {
			return nm_usage(self, "at most %d profiles can be viewed at once", NM_VIEW_PROFILES);
		} else {
			in->profiles[in->count++] = path;
		}
	}
	if (!operands->count)
		in->profiles[in->count++] = "nearmiss.nmp";
	return NM_STATUS_OK;
}

/* "FIRST" or "FIRST:COUNT"; NULL: all zeros. 0 or NM_EINVAL. */
static int read_window(const char *text, struct nm_recording_window *ret)
{
	char *end = (char *)text;

	*ret = (struct nm_recording_window){0, 0};
	if (!text)
		return 0;
	if (isdigit((unsigned char)*text))
		ret->first = strtoull(text, &end, 10);
	if (*end == ':' && isdigit((unsigned char)end[1]))
		ret->count = strtoull(end + 1, &end, 10);
	return *end || !ret->first || (strchr(text, ':') && !ret->count) ? NM_EINVAL : 0;
}

/* Says which references a file holds, if it is not all of them. */
static int write_file(struct nm_view *view, struct nm_debugger *debugger, const struct view_options *o)
{
	struct nm_recording_window asked = {0, 0}, window;
	int status;

	read_window(o->window, &asked);
	nm_view_set_window(view, &asked);
	status = nm_write_html(view, o->html);
	window = nm_view_window(view);
	if (!status && debugger &&
	    (asked.count ? window.count < asked.count : window.count < nm_debugger_total(debugger)))
		nm_message("%s holds references %" PRIu64 " to %" PRIu64 " of %" PRIu64
			   ", as many as 10 MB have room for%s",
			   o->html, window.first, window.first + window.count - 1,
			   nm_debugger_total(debugger), o->window ? "" : ": --window chooses others");
	return status;
}

static int show(const struct inputs *in, const struct view_options *o, struct nm_debugger *debugger)
{
	const struct nm_source_search search = {.folders = o->folders.at, .folder_count = o->folders.count};
	struct nm_view *view;
	struct nm_error err;
	int status = NM_STATUS_OK;

	for (size_t i = 0; o->html && !status && i < in->count; i++)
		status = nm_refuse_same_file(o->html, in->profiles[i], "input");
	if (o->html && !status && in->debugged)
		status = nm_refuse_same_file(o->html, in->debugged, "input");
	if (status)
		return status;
	if (nm_view_open(&view, in->profiles, in->count, &err))
		return nm_failed(&err, NM_STATUS_NO_PROFILE);
	nm_view_set_search(view, &search);
	if (debugger)
		nm_view_set_debugger(view, debugger);
	status = o->html ? write_file(view, debugger, o) : serve(view, o);
	nm_view_close(view);
	return status;
}

/* Starts the debugger before the server, so that its processes inherit none of the server's sockets. */
static int debug(const struct nm_command *self, const struct inputs *in, const struct view_options *o)
{
	struct nm_debug_session session;
	int status = nm_debug_prepare(self, &o->source, &session);

	if (!status)
		status = nm_debug_open(&o->source, in->debugged, &session);
	if (status)
		return status;
	status = show(in, o, session.debugger);
	nm_debugger_close(session.debugger);
	return status;
}

static int run(const struct nm_command *self, int argc, char **argv)
{
	struct view_options o = {.source = {.simulation = {.threads = 1}}};
	struct inputs in = {.count = 0};
	struct nm_recording_window window;
	struct nm_operands operands;
	int status;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	if (o.port > UINT16_MAX)
		return nm_usage(self, "--port must be at most %d", UINT16_MAX);
	status = sort_inputs(self, &operands, &in);
	if (status)
		return status;
	if (o.window && (!in.debugged || !o.html))
		return nm_usage(self, "--window is for --html with a loop nest or a trace");
	if (read_window(o.window, &window))
		return nm_usage(self, "--window takes FIRST or FIRST:COUNT, numbers from 1, not \"%s\"",
				o.window);
	if (!in.debugged && (o.source.simulation.machines.count || o.source.simulation.caches.count))
		return nm_usage(self,
				"--machine and --cache are for a loop nest or a trace: a profile has its own "
				"machine");
	return in.debugged ? debug(self, &in, &o) : show(&in, &o, NULL);
}

const struct nm_command nm_cmd_view = {
    .name = "view",
    .summary = "Show profiles in a browser, and step through a loop nest or a trace",
    .operands = "[PROFILE...] [NEST|TRACE]",
    .details =
	"Serves pages about the profiles (nearmiss.nmp) on 127.0.0.1 until it is interrupted. With --html,\n"
	"writes the pages with all that they show at first into a file, which can be mailed and kept; of a\n"
	"nest or a trace, as many references as 10 MB have room for.\n"
	"Of a loop nest or a trace, the pages are a debugger of the caches.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run,
};
