/* SPDX-License-Identifier: MIT
 *
 * yaml_load.h - what a person wrote in YAML, by a schema of libcyaml: each fault with its line.
 *
 *     nm_yaml_lines_load(&lines, text, bytes, path, err)      its syntax
 *     nm_yaml_load(text, bytes, path, &lines, &schema, ...)   its keys and shapes
 *     nm_yaml_free(&schema, document)
 *     nm_yaml_lines_done(&lines)
 */
#ifndef NM_YAML_LOAD_H
#define NM_YAML_LOAD_H

#include <cyaml/cyaml.h>

#include "yaml_lines.h"

/* 0, NM_ENOMEM, or NM_EINVAL with the line: an unknown key, a wrong shape, or, as `empty` says, nothing in the file. On
 * failure the document may be there in part: free it in any case. */
int nm_yaml_load(const char *text, size_t bytes, const char *path, yaml_document_t *lines,
		 const cyaml_schema_value_t *schema, const char *empty, void **ret_document,
		 struct nm_error *err);
void nm_yaml_free(const cyaml_schema_value_t *schema, void *document);

#endif
