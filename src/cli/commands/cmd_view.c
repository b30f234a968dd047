/* SPDX-License-Identifier: MIT
 *
 * cmd_view.c - nearmiss view: serves profiles, and a debugger of a loop nest or a trace, to a browser of this
 * machine until it is interrupted.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assets.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "pages.h"
#include "server.h"

/* Milliseconds until a signal is noticed that another thread took; in which nobody asks, so that there is
 * time to prepare answers. */
enum { TICK = 250, PAUSE = 2 };

struct view_options {
	struct nm_pages_options pages; /* its output: the file of --html */
	const char *trace;
	int64_t port;
	int no_browser;
};

static const struct nm_option options[] = {
    NM_ROWS_DEBUG(struct view_options, pages.source),
    NM_ROW_PROCESS(struct view_options, pages.source),
    {"html", 0, "FILE", "write one file that needs no server, and end", NM_OPTION_TEXT,
     offsetof(struct view_options, pages.output), NULL},
    NM_ROW_SOURCE_DIR(struct view_options, pages),
    {"trace", 0, "FILE", "the first profile's run, for What if; the default is that of record --trace",
     NM_OPTION_TEXT, offsetof(struct view_options, trace), NULL},
    {"port", 'P', "N", "listen on this port of 127.0.0.1 (a free one)", NM_OPTION_NUMBER,
     offsetof(struct view_options, port), NULL},
    {"no-browser", 0, NULL, "print the address only", NM_OPTION_FLAG,
     offsetof(struct view_options, no_browser), NULL},
};

static volatile sig_atomic_t interrupted;

static void stop_on_signal(int signal)
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
	struct sigaction action = {.sa_handler = stop_on_signal};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static int serve_view(struct nm_view *view, const struct view_options *o)
{
	struct nm_command_output output = {.file = stdout};
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

static int run_view(const struct nm_command *self, int argc, char **argv)
{
	struct view_options o = {.pages.source.simulation.threads = 1};
	struct nm_operands operands;
	struct nm_pages pages;
	int status;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	if (o.port > UINT16_MAX)
		return nm_usage(self, "--port must be at most %d", UINT16_MAX);
	if (o.trace && access(o.trace, R_OK)) {
		nm_message("cannot read %s: %s", o.trace, strerror(errno));
		return NM_STATUS_BAD_INPUT;
	}
	/* The debugger starts before the server, so that its processes inherit none of the server's sockets. */
	status = nm_pages_open(&pages, self, &o.pages, operands.at, operands.count);
	if (status)
		return status;
	nm_view_set_predictor(pages.view, "/proc/self/exe", o.trace);
	status = o.pages.output ? nm_pages_write(&pages, o.pages.output) : serve_view(pages.view, &o);
	nm_pages_close(&pages);
	return status;
}

const struct nm_command nm_cmd_view = {
    .name = "view",
    .summary = "Show profiles in a browser, and step through a loop nest or a trace",
    .operands = "[PROFILE...] [NEST|TRACE]",
    .details =
	"Serves pages about the profiles (nearmiss.nmp) on 127.0.0.1 until it is interrupted. With --html,\n"
	"writes the pages with all that they show at first into a file, which can be mailed and kept; of a\n"
	"trace, as many references as 10 MB have room for.\n"
	"Of a loop nest or a trace, the pages are a debugger of the caches.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_view,
};
