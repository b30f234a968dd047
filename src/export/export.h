/* SPDX-License-Identifier: MIT
 *
 * export.h - writes a profile in the formats of other tools.
 *
 *     nm_export_open(&export, nm_exporter_named("callgrind"), profile, &request, &err)   checks the request
 *     nm_export_write(export, 0, out, &err)                                              writes all of it
 *     nm_export_close(export)
 */
#ifndef NM_EXPORT_H
#define NM_EXPORT_H

#include <stdio.h>

#include "inlined.h"
#include "reader.h"

struct nm_export_request {
	const char *levels;  /* "L1d,L2"; NULL: the format's default */
	const char *events;  /* "misses,loads"; NULL: the format's default */
	const char *process; /* NULL: all */
	int64_t thread;      /* 0: all */
	int objects;         /* show objects as functions that are called by the lines that access them */
	enum nm_shown_frame frame; /* of inlined calls; ignored by formats that write all frames */
	struct nm_shown_part part;
};

struct nm_exporter;
const struct nm_exporter *nm_exporter_at(unsigned i); /* NULL behind the last */
const struct nm_exporter *nm_exporter_named(const char *name);
const char *nm_exporter_name(const struct nm_exporter *exporter);
const char *nm_exporter_summary(const struct nm_exporter *exporter);
int nm_exporter_is_binary(const struct nm_exporter *exporter);

struct nm_export;

/* NM_EINVAL: the profile has no such level, event, process or thread, or the format cannot do what is
 * requested. The profile must outlive the export. */
int nm_export_open(struct nm_export **ret_export, const struct nm_exporter *exporter,
		   struct nm_profile *profile, const struct nm_export_request *request, struct nm_error *err);
void nm_export_close(struct nm_export *export);

/* The number of parts: one for each thread of the selected processes. */
unsigned nm_export_parts(const struct nm_export *export);

/* Writes a part, from 1, or 0: all in one. The caller checks ferror(out). */
int nm_export_write(struct nm_export *export, unsigned part, FILE *out, struct nm_error *err);

#endif
