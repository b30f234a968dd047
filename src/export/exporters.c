/* SPDX-License-Identifier: MIT
 *
 * exporters.c - the table of exporters.
 */
#include <string.h>

#include "export_priv.h"

extern const struct nm_exporter nm_exporter_callgrind, nm_exporter_csv, nm_exporter_folded, nm_exporter_json,
    nm_exporter_pprof, nm_exporter_speedscope;

static const struct nm_exporter *const exporters[] = {
    &nm_exporter_callgrind, &nm_exporter_csv,   &nm_exporter_folded,
    &nm_exporter_json,      &nm_exporter_pprof, &nm_exporter_speedscope,
};

const struct nm_exporter *nm_exporter_at(unsigned i)
{
	return i < sizeof exporters / sizeof *exporters ? exporters[i] : NULL;
}

const struct nm_exporter *nm_exporter_named(const char *name)
{
	for (unsigned i = 0; nm_exporter_at(i); i++)
		if (!strcmp(exporters[i]->name, name))
			return exporters[i];
	return NULL;
}

const char *nm_exporter_name(const struct nm_exporter *exporter) { return exporter->name; }
const char *nm_exporter_summary(const struct nm_exporter *exporter) { return exporter->summary; }

int nm_exporter_is_binary(const struct nm_exporter *exporter)
{
	return !!(exporter->flags & NM_EXPORTER_BINARY);
}
