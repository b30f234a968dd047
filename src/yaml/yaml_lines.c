/* SPDX-License-Identifier: MIT */
#include "yaml_lines.h"

#include <string.h>

int nm_yaml_lines_load(yaml_document_t *document, const char *text, size_t bytes, const char *path,
		       struct nm_error *err)
{
	yaml_parser_t parser;
	int status = 0;

	if (!yaml_parser_initialize(&parser))
		return nm_fail_memory(err);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, bytes);
	if (!yaml_parser_load(&parser, document))
		status = parser.error == YAML_MEMORY_ERROR
			     ? nm_fail_memory(err)
			     : nm_fail(err, NM_EINVAL, "%s:%zu: %s", path, parser.problem_mark.line + 1,
				       parser.problem);
	yaml_parser_delete(&parser);
	return status;
}

static int is_key(const yaml_node_t *node, const char *name)
{
	return node && node->type == YAML_SCALAR_NODE && !strcmp((const char *)node->data.scalar.value, name);
}

static const yaml_node_pair_t *find_key(yaml_document_t *document, const yaml_node_t *mapping,
					const char *name)
{
	if (!mapping || mapping->type != YAML_MAPPING_NODE)
		return NULL;
	for (const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
	     pair < mapping->data.mapping.pairs.top; pair++)
		if (is_key(yaml_document_get_node(document, pair->key), name))
			return pair;
	return NULL;
}

static int line_of(yaml_document_t *document, int node)
{
	return (int)yaml_document_get_node(document, node)->start_mark.line + 1;
}

int nm_yaml_line_of_entry(yaml_document_t *document, const char *list, size_t i, const char *key)
{
	const yaml_node_pair_t *pair = find_key(document, yaml_document_get_root_node(document), list);
	const yaml_node_t *entries = pair ? yaml_document_get_node(document, pair->value) : NULL;
	const yaml_node_pair_t *found;
	int entry;

	if (!entries || entries->type != YAML_SEQUENCE_NODE ||
	    i >= (size_t)(entries->data.sequence.items.top - entries->data.sequence.items.start))
		return pair ? line_of(document, pair->key) : 1;
	entry = entries->data.sequence.items.start[i];
	found = key ? find_key(document, yaml_document_get_node(document, entry), key) : NULL;
	return line_of(document, found ? found->key : entry);
}

int nm_yaml_line_of_key(yaml_document_t *document, const char *key)
{
	for (const yaml_node_t *node = document->nodes.start; node < document->nodes.top; node++) {
		const yaml_node_pair_t *pair = find_key(document, node, key);

		if (pair)
			return line_of(document, pair->key);
	}
	return 0;
}
