/* SPDX-License-Identifier: MIT
 *
 * curve_data.c - curves as CSV (a line for each point) and JSON (with their knees).
 */
#include <inttypes.h>
#include <math.h>

#include "curve_priv.h"
#include "table.h"
#include "text.h"

static int is_shown(const struct nm_curves *curves, const struct nm_curve_point *p)
{
	return p->bytes >= curves->from && p->bytes <= curves->to;
}

static void csv_text(const char *text, FILE *out)
{
	nm_csv_field(text, out);
	fputc(',', out);
}

static void write_references(const struct nm_curve *c, const char *unknown, FILE *out)
{
	if (c->references)
		fprintf(out, "%" PRId64, c->references);
	else
		fputs(unknown, out);
}

int nm_curves_csv(struct nm_curves *curves, const struct nm_curve_request *request, FILE *out)
{
	fputs(
	    "profile,process,scope,name,method,policy,size,miss_ratio,low,high,samples,references,cold_ratio\n",
	    out);
	for (size_t i = 0; i < curves->list.count; i++) {
		const struct nm_curve *c = &curves->list.at[i];

		for (size_t k = 0; k < c->points.count; k++) {
			const struct nm_curve_point *p = &c->points.at[k];

			if (!is_shown(curves, p))
				continue;
			csv_text(c->source ? c->source : "", out);
			csv_text(c->process, out);
			csv_text(request->by, out);
			csv_text(c->name, out);
			csv_text(c->method, out);
			csv_text(c->policy, out);
			fprintf(out, "%.0f,%.10g,%.10g,%.10g,%" PRId64 ",", p->bytes, p->ratio, p->low,
				p->high, c->samples);
			write_references(c, "", out);
			fprintf(out, ",%.10g\n", c->cold_ratio);
		}
	}
	return 0;
}

static int json_text(const char *key, const char *text, FILE *out)
{
	fprintf(out, "\"%s\":", key);
	if (!text)
		return fputs("null,", out) < 0;
	if (nm_json_text(text, out))
		return NM_ENOMEM;
	fputc(',', out);
	return 0;
}

static int json_knees(const struct nm_curves *curves, const struct nm_curve *c, FILE *out)
{
	const char *comma = "";

	fputs(",\"knees\":[", out);
	for (size_t i = 0; i < curves->knees.count; i++) {
		const struct nm_knee *knee = &curves->knees.at[i];

		if (knee->curve != c)
			continue;
		fprintf(out, "%s{", comma);
		if (json_text("object", knee->object, out))
			return NM_ENOMEM;
		fprintf(out, "\"size\":%.0f,\"before\":%.10g,\"after\":%.10g,\"share\":%.10g,\"fits\":%s}",
			knee->bytes, knee->before, knee->after, knee->share, knee->fits ? "true" : "false");
		comma = ",";
	}
	fputs("]", out);
	return 0;
}

static void json_point(double bytes, const struct nm_curve_point *p, const char *comma, FILE *out)
{
	fprintf(out, "%s\n{\"size\":%.0f,\"miss_ratio\":%.10g,\"low\":%.10g,\"high\":%.10g}", comma, bytes,
		p->ratio, p->low, p->high);
}

static void json_points(const struct nm_curves *curves, const struct nm_curve *c, int has_start, FILE *out)
{
	const struct nm_curve_point start = nm_curve_at(c, curves->from);
	const char *comma = "";

	if (has_start && start.bytes < curves->from) {
		json_point(curves->from, &start, comma, out);
		comma = ",";
	}
	for (size_t k = 0; k < c->points.count; k++) {
		const struct nm_curve_point *p = &c->points.at[k];

		if (!is_shown(curves, p))
			continue;
		json_point(p->bytes, p, comma, out);
		comma = ",";
	}
}

static int json_curve(const struct nm_curves *curves, const struct nm_curve *c, int has_start, FILE *out)
{

	fputc('{', out);
	if (json_text("profile", c->source, out) || json_text("process", c->process, out) ||
	    json_text("name", c->name, out) || json_text("method", c->method, out) ||
	    json_text("policy", c->policy, out))
		return NM_ENOMEM;
	fputs("\"references\":", out);
	write_references(c, "null", out);
	fprintf(out, ",\"samples\":%" PRId64 ",\"cold_ratio\":%.10g,\"points\":[", c->samples, c->cold_ratio);
	json_points(curves, c, has_start, out);
	fputs("]", out);
	if (json_knees(curves, c, out))
		return NM_ENOMEM;
	fputc('}', out);
	return 0;
}

int nm_curves_json(struct nm_curves *curves, const struct nm_curve_request *request, FILE *out)
{
	int status = 0;

	nm_json_begin("curve", out);
	fputc(',', out);
	status |= json_text("scope", request->by, out);
	fputs("\"marks\":[", out);
	for (size_t i = 0; i < request->mark_count; i++) {
		fputs(i ? ",{" : "{", out);
		status |= json_text("label", request->marks[i].label, out);
		fprintf(out, "\"size\":%.0f}", request->marks[i].bytes);
	}
	fputs("],\"curves\":[", out);
	for (size_t i = 0; i < curves->list.count && !status; i++) {
		fputs(i ? ",\n" : "\n", out);
		status = json_curve(curves, &curves->list.at[i], request->has_start, out);
	}
	fputs("\n],\"notes\":[", out);
	for (size_t i = 0; i < curves->notes.count && !status; i++) {
		fputs(i ? "," : "", out);
		status = nm_json_text(curves->notes.at[i], out);
	}
	fputs("]}\n", out);
	return status ? NM_ENOMEM : 0;
}
