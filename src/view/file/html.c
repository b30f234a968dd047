/* SPDX-License-Identifier: MIT
 *
 * html.c - see html.h. questions.h selects the answers of a file.
 *
 * Answers are in a script element of type data, by the question's key. They cannot end the element, since
 * "<" is written as a JSON escape; and only the page's own script can run, whose digest is in the content
 * security policy, and the debugger's engine, which is WebAssembly in a worker. The answers of the first page
 * stand before the script, all others and the debugger behind it, so that the page is shown before they are
 * read.
 */
#include "html.h"

#include <sha2.h>
#include <stdlib.h>
#include <string.h>

#include "assets.h"
#include "html_parts.h"
#include "memstream.h"
#include "questions.h"
#include "view_priv.h"

struct html {
	struct nm_view *view;
	FILE *out;
	const struct nm_asset *script;
	size_t bytes; /* written */
	size_t most;  /* largest size at the end of the answers */
	unsigned questions;
	const char *separator; /* of the next answer from the one before */
};

static const struct nm_asset *find_asset(const char *name)
{
	for (size_t i = 0; i < nm_n_assets; i++)
		if (!strcmp(nm_assets[i].name, name))
			return &nm_assets[i];
	return NULL;
}

static void put_text(struct html *html, const char *text)
{
	html->bytes += strlen(text);
	fputs(text, html->out);
}

static void put_asset(struct html *html, const struct nm_asset *a)
{
	html->bytes += a->n_bytes;
	fwrite(a->bytes, 1, a->n_bytes, html->out);
}

/* ---- the frame ---- */

static void put_policy(struct html *html, const struct nm_asset *script)
{
	const int debugs = html->view->tabs.first != NULL;
	unsigned char digest[SHA256_DIGEST_LENGTH];
	SHA2_CTX context;

	SHA256Init(&context);
	SHA256Update(&context, script->bytes, script->n_bytes);
	SHA256Final(digest, &context);
	put_text(
	    html,
	    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
	    "img-src data: blob:; ");
	put_text(html,
		 debugs ? "worker-src blob:; script-src 'wasm-unsafe-eval' 'sha256-" : "script-src 'sha256-");
	nm_base64_write(digest, sizeof digest, html->out);
	html->bytes += nm_base64_length(sizeof digest);
	put_text(html, "'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		       "<title>nearmiss</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n");
}

/* ---- answers ---- */

/* Writes JSON, escaped for an HTML element. */
static void write_escaped(const char *json, FILE *out)
{
	for (; *json; json++)
		if (*json == '<')
			fputs("\\u003c", out);
		else
			fputc(*json, out);
}

/* The answer as JSON; {"error": TEXT} if there is none. */
static int make_answer(struct html *html, const struct nm_request *request, char **ret_answer)
{
	struct nm_error err;
	FILE *out = nm_memstream_open(ret_answer, NULL);
	int status = out ? nm_view_answer(html->view, request, out, &err) : 0;

	if (!out || nm_memstream_close(out, ret_answer))
		return NM_ENOMEM;
	if (!status)
		return 0;
	free(*ret_answer);
	out = nm_memstream_open(ret_answer, NULL);
	if (!out)
		return NM_ENOMEM;
	nm_view_write_error(err.text, out);
	return nm_memstream_close(out, ret_answer);
}

/* `"KEY":ANSWER`. */
static int make_member(const struct nm_request *request, const char *answer, char **ret_text,
		       size_t *ret_bytes)
{
	FILE *out = nm_memstream_open(ret_text, ret_bytes);

	if (!out)
		return NM_ENOMEM;
	fputc('"', out);
	nm_request_write_key(request, out);
	fputs("\":", out);
	write_escaped(answer, out);
	return nm_memstream_close(out, ret_text);
}

static const char begin[] = "<script type=\"application/json\" id=\"%s\">{", end[] = "\n}</script>\n",
		  tail[] = "</body>\n</html>\n";

static void begin_answers(struct html *html, const char *id)
{
	char text[sizeof begin + 20];

	snprintf(text, sizeof text, begin, id);
	put_text(html, text);
	html->separator = "\n";
}

/* Ends the answers of the first page, and begins the others. */
static void put_script(struct html *html)
{
	put_text(html, end);
	put_text(html, "<script>");
	put_asset(html, html->script);
	put_text(html, "</script>\n");
	begin_answers(html, "more-answers");
}

static int put_member(void *self, const struct nm_request *request, struct nm_error *err)
{
	struct html *html = self;
	char *answer = NULL, *text = NULL;
	size_t bytes = 0;
	int status = make_answer(html, request, &answer);

	if (!status)
		status = make_member(request, answer, &text, &bytes);
	free(answer);
	if (status)
		return nm_fail_memory(err);
	if (html->questions == NM_VIEW_FIRST_QUESTIONS)
		put_script(html);
	html->questions++;
	if (html->bytes + bytes + 2 <= html->most) {
		put_text(html, html->separator);
		put_text(html, text);
		html->separator = ",\n";
	}
	free(text);
	if (html->view->progress)
		html->view->progress(html->questions, html->bytes);
	return 0;
}

static int put_debugger(struct html *html, struct nm_error *err)
{
	struct nm_view *view = html->view;

	if (!view->tabs.first)
		return 0;
	return nm_html_write_parts(view->tabs.first, find_asset("engine.wasm"),
				   NM_HTML_LARGEST - html->bytes - sizeof tail, html->out, &view->written,
				   err);
}

int nm_view_write_html(struct nm_view *view, FILE *out, struct nm_error *err)
{
	const struct nm_asset *style = find_asset("app.css");
	struct html html = {.view = view,
			    .out = out,
			    .script = find_asset("app.js"),
			    .most = (view->tabs.first ? NM_HTML_LARGEST / 2 : NM_HTML_LARGEST) - sizeof end -
				    sizeof tail};
	int status;

	if (!html.script || !style)
		return nm_fail(err, NM_ENOENT,
			       "this nearmiss was built without its pages: run tools/install-pages in its "
			       "sources, and build it again");
	put_policy(&html, html.script);
	put_asset(&html, style);
	put_text(&html, "\n</style>\n</head>\n<body>\n<div id=\"app\">"
			"<p class=\"waiting\" role=\"status\">Loading &hellip;</p></div>\n"
			"<noscript>The pages of nearmiss need JavaScript.</noscript>\n");
	begin_answers(&html, "answers");
	status = nm_view_questions(view, put_member, &html, err);
	if (html.questions <= NM_VIEW_FIRST_QUESTIONS)
		put_script(&html);
	put_text(&html, end);
	if (!status)
		status = put_debugger(&html, err);
	put_text(&html, tail);
	return status;
}
