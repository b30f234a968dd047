/* SPDX-License-Identifier: MIT
 *
 * cmd_view.c - nearmiss view: serves profiles to a browser of this machine until it is interrupted.
 */
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <unistd.h>

#include "assets.h"
#include "html_output.h"
#include "message.h"
#include "options.h"
#include "output.h"
#include "server.h"

enum { TICK = 250 }; /* milliseconds until a signal is noticed that another thread took */

struct view_options {
	const char *html;
	int64_t port;
	int no_browser;
};

static const struct nm_option options[] = {
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

static int run(const struct nm_command *self, int argc, char **argv)
{
	static const char *const usual[] = {"nearmiss.nmp"};
	struct view_options o = {.port = 0};
	const char *const *inputs;
	size_t count;
	struct nm_operands operands;
	struct nm_view *view;
	struct nm_error err;
	int status;

	if (!nm_options_parse(self, argc, argv, &o, &operands, &status))
		return status;
	if (o.port > UINT16_MAX)
		return nm_usage(self, "--port must be at most %d", UINT16_MAX);
	if (operands.count > NM_VIEW_PROFILES)
		return nm_usage(self, "at most %d profiles can be viewed at once", NM_VIEW_PROFILES);
	inputs = operands.count ? (const char *const *)operands.at : usual;
	count = operands.count ? (size_t)operands.count : 1;
	for (size_t i = 0; o.html && i < count; i++)
		if ((status = nm_refuse_same_file(o.html, inputs[i], "input")))
			return status;
	if (nm_view_open(&view, inputs, count, &err))
		return nm_failed(&err, NM_STATUS_NO_PROFILE);
	status = o.html ? nm_write_html(view, o.html) : serve(view, &o);
	nm_view_close(view);
	return status;
}

const struct nm_command nm_cmd_view = {
    .name = "view",
    .summary = "Show profiles in a browser",
    .operands = "[PROFILE...]",
    .details =
	"Serves pages about the profiles (nearmiss.nmp) on 127.0.0.1 until it is interrupted. With --html,\n"
	"writes the pages with all that they show at first into a file, which can be mailed and kept.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run,
};
