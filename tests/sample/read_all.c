/* SPDX-License-Identifier: MIT
 *
 * read_all.c - see read_all.h.
 */
#include "read_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "annotate.h"
#include "evictions.h"
#include "export.h"
#include "questions.h"
#include "report.h"
#include "sharing.h"

/* Counts failures; each must say why, in one line. */
static int failed(int status, const struct nm_error *err)
{
	if (status && (!*err->text || strchr(err->text, '\n')))
		abort();
	return status != 0;
}

static int read_reports(struct nm_profile *profile, const struct nm_style *style, FILE *out)
{
	static const char *const keys[] = {"process,thread,level", "function,line", "object,type,field"};
	struct nm_error err = {.text = ""};
	int failures = 0;

	for (unsigned i = 0; nm_report_at(i); i++) {
		struct nm_report_request request = {.limit = 10};

		failures += failed(nm_report_run(nm_report_at(i), profile, &request, style, out, &err), &err);
	}
	for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++) {
		struct nm_report_request request = {.by = keys[i]};

		failures += failed(nm_report_run(&nm_report_by, profile, &request, style, out, &err), &err);
	}
	for (unsigned card = NM_CARD_PAHOLE; card <= NM_CARD_DATA_TYPE; card++) {
		struct nm_report_request request = {.card = (enum nm_card)card};

		failures += failed(
		    nm_report_run(nm_report_named("struct"), profile, &request, style, out, &err), &err);
	}
	for (int as_c2c = 0; as_c2c < 2; as_c2c++) {
		struct nm_sharing_request request = {.limit = -1, .as_c2c = as_c2c};

		failures += failed(nm_sharing_run(profile, &request, style, out, &err), &err);
	}
	for (int by_set = 0; by_set < 2; by_set++) {
		struct nm_evictions_request request = {.limit = -1, .by_set = by_set};

		failures += failed(nm_evictions_run(profile, &request, style, out, &err), &err);
		request.victim = "*";
		failures += failed(nm_evictions_run(profile, &request, style, out, &err), &err);
	}
	for (int assembly = 0; assembly < 2; assembly++) {
		struct nm_annotate_request request = {.assembly = assembly, .context = 2};

		failures += failed(nm_annotate_run(profile, &request, style, out, &err), &err);
	}
	return failures;
}

static int read_exports(struct nm_profile *profile, FILE *out)
{
	struct nm_error err = {.text = ""};
	int failures = 0;

	for (unsigned i = 0; nm_exporter_at(i); i++)
		for (int objects = 0; objects < 2; objects++) {
			struct nm_export_request request = {.objects = objects};
			struct nm_export *export;

			if (failed(nm_export_open(&export, nm_exporter_at(i), profile, &request, &err),
				   &err)) {
				failures++;
				continue;
			}
			for (unsigned part = 0; part <= nm_export_parts(export) && part < 3; part++)
				failures += failed(nm_export_write(export, part, out, &err), &err);
			nm_export_close(export);
		}
	return failures;
}

struct asked {
	struct nm_view *view;
	FILE *out;
	int failures;
};

static int answer(void *self, const struct nm_request *request, struct nm_error *err)
{
	struct asked *asked = self;

	asked->failures += failed(nm_view_answer(asked->view, request, asked->out, err), err);
	return 0;
}

/* All that the pages of a browser ask about a profile, and about it beside itself. */
static int read_answers(const char *path, FILE *out)
{
	const char *const paths[] = {path, path};
	struct asked asked = {.out = out};
	struct nm_error err = {.text = ""};

	if (failed(nm_view_open(&asked.view, paths, 2, &err), &err))
		return 1;
	asked.failures += failed(nm_view_questions(asked.view, answer, &asked, &err), &err);
	nm_view_close(asked.view);
	return asked.failures;
}

int nm_read_all(const char *path)
{
	struct nm_style styles[] = {{.format = NM_FORMAT_TEXT, .width = 100, .ellipsis = "..."},
				    {.format = NM_FORMAT_CSV},
				    {.format = NM_FORMAT_JSON}};
	struct nm_error err = {.text = ""};
	struct nm_profile *profile;
	FILE *out = fopen("/dev/null", "w");
	int failures = 0;

	if (!out)
		abort();
	if (failed(nm_profile_open(&profile, path, &err), &err)) {
		fclose(out);
		return -1;
	}
	for (unsigned i = 0; i < sizeof styles / sizeof *styles; i++)
		failures += read_reports(profile, &styles[i], out);
	failures += read_exports(profile, out);
	failures += read_answers(path, out);
	nm_profile_close(profile);
	fclose(out);
	return failures;
}
