/* SPDX-License-Identifier: MIT
 *
 * output.c - see output.h.
 *
 * While a pager runs, an interrupt is its own business: nearmiss must not end before it, or the terminal
 * stays as the pager had set it.
 */
#include "output.h"

#include <errno.h>
#include <langinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "message.h"

int nm_output_no_pager;

static unsigned terminal_width(int fd)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	int n = columns ? atoi(columns) : 0;

	if (n > 0)
		return (unsigned)n;
	if (!ioctl(fd, TIOCGWINSZ, &size) && size.ws_col > 0)
		return size.ws_col;
	return 100;
}

static int may_colour(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no && *no) && term && strcmp(term, "dumb");
}

struct nm_style nm_style_of(FILE *stream, enum nm_format format, int64_t width)
{
	int fd = fileno(stream), terminal = isatty(fd);
	struct nm_style style = {.format = format};

	if (width >= 0)
		style.width = (unsigned)width;
	else
		style.width = terminal ? terminal_width(fd) : 0;
	style.colour = terminal && may_colour();
	style.ellipsis = strcmp(nl_langinfo(CODESET), "UTF-8") ? "..." : "\xe2\x80\xa6";
	return style;
}

static const char *pager(void)
{
	const char *command = getenv("NEARMISS_PAGER");

	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = "less -FRX";
	return *command && strcmp(command, "cat") ? command : NULL;
}

void nm_output_open(struct nm_output *output, enum nm_format format)
{
	const char *command = pager();

	output->file = stdout;
	output->is_pager = 0;
	if (nm_output_no_pager || format != NM_FORMAT_TEXT || !command || !isatty(STDOUT_FILENO))
		return;
	setenv("LESS", "FRX", 0);
	output->file = popen(command, "we");
	output->is_pager = output->file != NULL;
	if (!output->is_pager) {
		output->file = stdout;
		return;
	}
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN); /* a reader who has seen enough is no failure */
}

int nm_output_close(struct nm_output *output)
{
	int failed;

	if (output->is_pager) {
		pclose(output->file);
		return NM_STATUS_OK;
	}
	errno = 0;
	failed = ferror(output->file);
	if (fflush(output->file))
		failed = 1;
	if (!failed)
		return NM_STATUS_OK;
	nm_message("cannot write standard output: %s", strerror(errno ? errno : EIO));
	return errno == ENOSPC ? NM_STATUS_FULL : NM_STATUS_NO_OUTPUT;
}
