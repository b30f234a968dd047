/* SPDX-License-Identifier: MIT
 *
 * output.c - see output.h.
 *
 * While a pager runs, the pager handles interrupts: if nearmiss ended first, the terminal would be left in
 * the pager's mode.
 */
#include "output.h"

#include <errno.h>
#include <langinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files.h"
#include "message.h"

int nm_output_no_pager;

/* COLUMNS, the terminal's width, or that of most terminals where there is none: what goes through a pipe is often
 * read on one. */
static unsigned shown_width(int fd)
{
	enum { USUAL_WIDTH = 80 };
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	int n = columns ? atoi(columns) : 0;

	if (n > 0)
		return (unsigned)n;
	if (!ioctl(fd, TIOCGWINSZ, &size) && size.ws_col > 0)
		return size.ws_col;
	return USUAL_WIDTH;
}

static int may_colour(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no && *no) && term && strcmp(term, "dumb");
}

struct nm_style nm_style_of(FILE *stream, enum nm_format format, int64_t width)
{
	int fd = fileno(stream), terminal = isatty(fd);
	struct nm_style style = {.format = format, .on_terminal = terminal};

	style.width = width >= 0 ? (unsigned)width : shown_width(fd);
	style.colour = terminal && may_colour();
	style.ellipsis = strcmp(nl_langinfo(CODESET), "UTF-8") ? "..." : "\xe2\x80\xa6";
	return style;
}

/* Is there a program of this name? Asks the shell, as popen() will. */
static int shell_finds(const char *command)
{
	size_t length = strcspn(command, " \t");
	char *test;
	int found;

	if (length !=
	    strcspn(command, " \t'\"$\\=;&|<>()`*?[#~%!{")) /* more than a plain name: left to the shell */
		return 1;
	if (asprintf(&test, "command -v %.*s >/dev/null", (int)length, command) < 0)
		return 0;
	found = !system(test);
	free(test);
	return found;
}

/* The pager's command, or NULL. */
static const char *find_pager(void)
{
	static const char usual[] = "less -FRX";
	const char *command = getenv("NEARMISS_PAGER");

	if (!command)
		command = getenv("PAGER");
	if (!command)
		return shell_finds(usual) ? usual : NULL;
	if (!*command || !strcmp(command, "cat"))
		return NULL;
	if (shell_finds(command))
		return command;
	nm_message("cannot find the pager \"%s\": writing without one", command);
	return NULL;
}

void nm_output_open(struct nm_command_output *output, enum nm_format format)
{
	const char *command;

	output->file = stdout;
	output->is_pager = 0;
	if (nm_output_no_pager || format != NM_FORMAT_TEXT || !isatty(STDOUT_FILENO))
		return;
	command = find_pager();
	if (!command)
		return;
	setenv("LESS", "FRX", 0);
	output->file = popen(command, "we");
	output->is_pager = output->file != NULL;
	if (!output->is_pager) {
		output->file = stdout;
		return;
	}
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN); /* a reader may quit early */
}

int nm_output_close(struct nm_command_output *output)
{
	int failed;

	if (output->is_pager) {
		int ended = pclose(output->file);

		if (!WIFEXITED(ended) || WEXITSTATUS(ended) < 126)
			return NM_STATUS_OK;
		nm_message("the pager could not be started: use --no-pager");
		return NM_STATUS_NO_OUTPUT;
	}
	errno = 0;
	failed = ferror(output->file);
	if (fflush(output->file))
		failed = 1;
	if (!failed)
		return NM_STATUS_OK;
	nm_message("cannot write standard output: %s", strerror(errno ? errno : EIO));
	return NM_STATUS_NO_OUTPUT;
}

int nm_refuse_same_file(const char *output, const char *other, const char *what_other_is)
{
	if (!output || !other || !nm_is_same_file(output, other))
		return 0;
	nm_message("cannot write %s: it is the %s", output, what_other_is);
	return NM_STATUS_NO_OUTPUT;
}

int nm_cannot_write(const char *path, int error)
{
	nm_message("cannot write %s: %s", path, strerror(error ? error : EIO));
	return NM_STATUS_NO_OUTPUT;
}

void nm_remove_output(const char *path)
{
	struct stat st;

	if (!stat(path, &st) && S_ISREG(st.st_mode))
		unlink(path);
}

static int write_stdout(nm_output_writer *writer, void *self)
{
	struct nm_command_output output = {.file = stdout};
	struct nm_error err;
	int status = writer(self, stdout, &err), written = nm_output_close(&output);

	return status ? nm_failed(&err, NM_STATUS_FAILED) : written;
}

int nm_write_output(const char *path, nm_output_writer *writer, void *self)
{
	struct nm_error err;
	FILE *out = path ? fopen(path, "we") : NULL;
	int status, failed;

	if (!path)
		return write_stdout(writer, self);
	if (!out)
		return nm_cannot_write(path, errno);
	errno = 0;
	status = writer(self, out, &err);
	failed = ferror(out) | (fclose(out) != 0);
	if (!status && !failed)
		return NM_STATUS_OK;
	status = status ? nm_failed(&err, NM_STATUS_FAILED) : nm_cannot_write(path, errno);
	nm_remove_output(path);
	return status;
}
