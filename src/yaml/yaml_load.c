/* SPDX-License-Identifier: MIT */
#include "yaml_load.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What libcyaml logs: a sentence, then the places around it, from the innermost. */
struct complaint {
	char text[200];
	int line;
};

static void take_complaint(cyaml_log_t level, void *self, const char *format, va_list args)
{
	struct complaint *c = self;
	char text[sizeof c->text], *line;

	(void)level;
	vsnprintf(text, sizeof text, format, args);
	line = strstr(text, "(line: ");
	if (line && !c->line)
		c->line = atoi(line + strlen("(line: "));
	if (line || *c->text)
		return;
	text[strcspn(text, "\n")] = '\0';
	strcpy(c->text, text + (strncmp(text, "Load: ", 6) ? 0 : 6));
}

static const cyaml_config_t *config_of(struct complaint *complaint, cyaml_config_t *config)
{
	*config = (cyaml_config_t){.log_fn = take_complaint,
				   .log_ctx = complaint,
				   .log_level = CYAML_LOG_ERROR,
				   .mem_fn = cyaml_mem};
	return config;
}

int nm_yaml_load(const char *text, size_t bytes, const char *path, yaml_document_t *lines,
		 const cyaml_schema_value_t *schema, const char *empty, void **ret_document,
		 struct nm_error *err)
{
	static const char unexpected[] = "Unexpected key: ", list[] = "Expecting SEQUENCE";
	struct complaint c = {.line = 0};
	cyaml_config_t config;
	const cyaml_err_t code =
	    cyaml_load_data((const uint8_t *)text, bytes, config_of(&c, &config), schema, ret_document, NULL);
	const char *key =
	    strncmp(c.text, unexpected, strlen(unexpected)) ? NULL : c.text + strlen(unexpected);
	const int line = key ? nm_yaml_line_of_key(lines, key) : 0;

	if (code == CYAML_ERR_OOM)
		return nm_fail_memory(err);
	if (key)
		return nm_fail(err, NM_EINVAL, "%s:%d: unknown key \"%s\"", path, line ? line : c.line, key);
	if (!strncmp(c.text, list, strlen(list)))
		return nm_fail(err, NM_EINVAL, "%s:%d: this key takes a list: [ ... ]", path,
			       c.line ? c.line : 1);
	if (code != CYAML_OK)
		return nm_fail(err, NM_EINVAL, "%s:%d: %s", path, c.line ? c.line : 1,
			       *c.text ? c.text : cyaml_strerror(code));
	return *ret_document ? 0 : nm_fail(err, NM_EINVAL, "%s:1: %s", path, empty);
}

void nm_yaml_free(const cyaml_schema_value_t *schema, void *document)
{
	struct complaint ignored;
	cyaml_config_t config;

	cyaml_free(config_of(&ignored, &config), schema, document, 0);
}
