/* SPDX-License-Identifier: MIT
 *
 * sarif.c - SARIF 2.1.0: a result for each budget that is not met, on the line of code, with the declaration or
 * allocation of the object beside it. An ignored budget is a suppressed result.
 */
#include <string.h>

#include "gate_priv.h"

#define SCHEMA "https://json.schemastore.org/sarif-2.1.0.json"

static json_t *location_json(const char *file, int64_t line)
{
	return json_pack("{s:{s:{s:s, s:o*}, s:{s:I}}}", "physicalLocation", "artifactLocation", "uri", file,
			 "uriBaseId", *file == '/' ? NULL : json_string("%SRCROOT%"), "region", "startLine",
			 (json_int_t)line);
}

/* The declaration as a related location has a message. */
static json_t *related_json(const struct nm_gate_place *p)
{
	json_t *at = location_json(p->declared_file, p->declared_line);

	if (at && json_object_set_new(at, "message", json_pack("{s:s}", "text", "the object"))) {
		json_decref(at);
		return NULL;
	}
	return at;
}

static json_t *result_json(const struct nm_judgement *j)
{
	const struct nm_gate_place *p = &j->place;
	const int has_line = j->has_place && p->file && p->line > 0;
	json_t *r = json_pack("{s:s, s:s, s:{s:s}}", "ruleId", j->id, "level", "error", "message", "text",
			      j->sentence);
	int failed = !r;

	if (!failed && has_line)
		failed |=
		    json_object_set_new(r, "locations", json_pack("[o]", location_json(p->file, p->line)));
	if (!failed && j->has_place && p->declared_file && p->declared_line > 0)
		failed |= json_object_set_new(r, "relatedLocations", json_pack("[o]", related_json(p)));
	if (!failed && j->has_place)
		failed |= json_object_set_new(r, "partialFingerprints",
					      json_pack("{s:s}", "nearmiss/v1", p->fingerprint));
	if (!failed && j->outcome == NM_GATE_IGNORED)
		failed |= json_object_set_new(
		    r, "suppressions",
		    json_pack("[{s:s, s:s}]", "kind", "external", "justification", j->budget->ignore));
	if (!failed)
		return r;
	json_decref(r);
	return NULL;
}

static int has_rule(const json_t *rules, const char *id)
{
	for (size_t i = 0; i < json_array_size(rules); i++)
		if (!strcmp(json_string_value(json_object_get(json_array_get(rules, i), "id")), id))
			return 1;
	return 0;
}

static json_t *rule_json(const struct nm_judgement *j)
{
	const char *metric = nm_diff_metric_names[j->budget->metric];

	return json_pack("{s:s, s:{s:o}, s:{s:o}, s:{s:s, s:s}, s:{s:s}}", "id", j->id, "shortDescription",
			 "text", json_sprintf("%s of %s", metric, j->level), "fullDescription", "text",
			 json_sprintf("The %s of %s are over a budget", metric, j->level), "help", "text",
			 "nearmiss diff BASE NEW shows all that changed.", "markdown",
			 "`nearmiss diff BASE NEW` shows all that changed.", "defaultConfiguration", "level",
			 "error");
}

static int write_sarif(const struct nm_gate *g, FILE *out)
{
	json_t *rules = json_array(), *results = json_array();
	int failed = 0;

	for (size_t i = 0; i < g->judgements.count && !failed; i++) {
		const struct nm_judgement *j = &g->judgements.at[i];

		if (!has_rule(rules, j->id))
			failed |= json_array_append_new(rules, rule_json(j));
		if (j->outcome != NM_GATE_MET)
			failed |= json_array_append_new(results, result_json(j));
	}
	if (failed) {
		json_decref(rules);
		json_decref(results);
		return NM_ENOMEM;
	}
	return nm_gate_dump(json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:s, s:o}}, s:{s:o}, s:s, s:o}]}", "$schema",
				      SCHEMA, "version", "2.1.0", "runs", "tool", "driver", "name",
				      "nearmiss", "version", NM_VERSION, "rules", rules, "automationDetails",
				      "id", json_sprintf("nearmiss/%s/", g->request->name), "columnKind",
				      "utf16CodeUnits", "results", results),
			    out);
}

const struct nm_gate_format nm_gate_format_sarif = {
    .name = "sarif", .summary = "SARIF 2.1.0, for code scanning", .write = write_sarif};
