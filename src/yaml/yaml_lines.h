/* SPDX-License-Identifier: MIT
 *
 * yaml_lines.h - in which line of a YAML document something stands; libcyaml does not tell.
 */
#ifndef NM_YAML_LINES_H
#define NM_YAML_LINES_H

#include <stddef.h>
#include <yaml.h>

#include "errors.h"

/* 0, or NM_EINVAL with the line of a fault in the syntax, NM_ENOMEM. Call nm_yaml_lines_done after success. */
int nm_yaml_lines_load(yaml_document_t *document, const char *text, size_t bytes, const char *path,
		       struct nm_error *err);
#define nm_yaml_lines_done yaml_document_delete

/* Lines count from 1. Of a key in entry i of the list that the document's key `list` has; of the entry itself
 * if it has no such key or the key is NULL. */
int nm_yaml_line_of_entry(yaml_document_t *document, const char *list, size_t i, const char *key);

/* Of the first key with this name; 0: there is none. */
int nm_yaml_line_of_key(yaml_document_t *document, const char *key);

#endif
