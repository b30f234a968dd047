/* SPDX-License-Identifier: MIT
 *
 * cmd_view.c - nearmiss view: serves profiles to a browser of this machine until it is interrupted.
 */
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assets.h"
#include "debugger.h"
#include "html_output.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "peek.h"
#include "server.h"
#include "simulation_options.h"

enum { TICK = 250 }; /* milliseconds until a signal is noticed that another thread took */

struct view_options {
	struct nm_simulation_options simulation; /* of the debugger */
	const char *html;
	int64_t port;
	int no_browser;
};

static const struct nm_option options[] = {
    NM_ROW_MACHINE(struct view_options, simulation),
    NM_ROW_CACHE(struct view_options, simulation),
    {"html", 0, "FILE", "write one file that needs no server, and end", NM_OPTION_TEXT,
     offsetof(struct view_options, html), NULL},
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

/* Whether somebody sits before a screen. */
static int has_screen(void)
{
	const char *display = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");

	return isatty(STDERR_FILENO) && ((display && *display) || (wayland && *wayland));
}

/* The browser is the user's own affair: that it does not start is no error, since the address is printed. */
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
	int status;

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
	nm_view_prepare(view);
	while (!status && !interrupted)
		nm_server_run(server, TICK);
	nm_server_stop(server);
	return status;
}

/* ---- what to show: profiles, and at most one loop nest ---- */

struct inputs {
	const char *profiles[NM_VIEW_PROFILES];
	size_t count;
	const char *nest;
};

/* What cannot be read is a profile too: opening it tells why. */
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
			if (in->nest)
				return nm_usage(
				    self,
				    "%s is no profile, nor is %s: one loop nest can be debugged at a time",
				    path, in->nest);
			in->nest = path;
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

static int show(const struct inputs *in, const struct view_options *o, struct nm_debugger *debugger)
{
	struct nm_view *view;
	struct nm_error err;
	int status = NM_STATUS_OK;

	for (size_t i = 0; o->html && !status && i < in->count; i++)
		status = nm_refuse_same_file(o->html, in->profiles[i], "input");
	if (status)
		return status;
	if (nm_view_open(&view, in->profiles, in->count, &err))
		return nm_failed(&err, NM_STATUS_NO_PROFILE);
	if (debugger)
		nm_view_set_debugger(view, debugger);
	status = o->html ? nm_write_html(view, o->html) : serve(view, o);
	nm_view_close(view);
	return status;
}

/* The debugger starts before the server: its processes have none of the server's sockets. */
static int debug(const struct nm_command *self, const struct inputs *in, const struct view_options *o)
{
	static const char *const no_settings[] = {NULL};
	struct nm_simulation simulation = {.machine = {.count = 0}};
	struct nm_debugger_source source = {
	    .path = in->nest, .settings = no_settings, .machine = &simulation.machine};
	struct nm_debugger *debugger;
	struct nm_error err;
	int status = nm_simulation_prepare(self, &o->simulation, &simulation);

	if (status)
		return status;
	if (nm_debugger_open(&debugger, &source, &err))
		return nm_failed(&err, NM_STATUS_BAD_NEST);
	status = show(in, o, debugger);
	nm_debugger_close(debugger);
	return status;
}

static int run(const struct nm_command *self, int argc, char **argv)
{
	struct view_options o = {.simulation = {.threads = 1}};
	struct inputs in = {.count = 0};
	struct nm_operands operands;
	int status;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	if (o.port > UINT16_MAX)
		return nm_usage(self, "--port must be at most %d", UINT16_MAX);
	status = sort_inputs(self, &operands, &in);
	if (status)
		return status;
	if (in.nest && o.html)
		return nm_usage(self, "--html writes profiles: a loop nest needs the server");
	if (!in.nest && (o.simulation.machines.count || o.simulation.caches.count))
		return nm_usage(self,
				"--machine and --cache are for a loop nest: a profile has its own machine");
	return in.nest ? debug(self, &in, &o) : show(&in, &o, NULL);
}

const struct nm_command nm_cmd_view = {
    .name = "view",
    .summary = "Show profiles in a browser, and step through a loop nest",
    .operands = "[PROFILE...] [NEST]",
    .details =
	"Serves pages about the profiles (nearmiss.nmp) on 127.0.0.1 until it is interrupted. With --html,\n"
	"writes the pages with all that they show at first into a file, which can be mailed and kept.\n"
	"Of a loop nest, the pages are a debugger of the caches.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run,
};
