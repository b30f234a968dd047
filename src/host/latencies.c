/* SPDX-License-Identifier: MIT
 *
 * The file host-HASH.machine in the cache folder is a machine description (docs/machine-files.md) of the host
 * with the measured latencies. HASH is of the processor's name, since several hosts may share a home. Latencies
 * are measured again if the file's caches are not the host's; a user may edit or remove it.
 */
#include "host.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cache_folder.h"
#include "map.h"
#include "measure.h"

enum { TEXT = 4096 };

/* Of the line that names the processor. */
static uint64_t processor_hash(void)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[300] = "";
	uint64_t hash = 0;

	while (file && fgets(line, sizeof line, file))
		if (!strncmp(line, "model name", 10))
			break;
	if (file)
		fclose(file);
	for (const char *c = line; *c; c++)
		hash = nm_mix64(hash ^ (unsigned char)*c);
	return hash;
}

/* Whether two machines have the same caches, whatever their latencies. */
static int is_alike(const struct nm_machine *m, const struct nm_machine *b)
{
	if (m->count != b->count)
		return 0;
	for (unsigned i = 0; i < m->count; i++) {
		const struct nm_level_spec *s = &m->levels[i], *y = &b->levels[i];

		if (strcmp(s->name, y->name) || s->size != y->size || s->ways != y->ways ||
		    s->line != y->line)
			return 0;
	}
	return 1;
}

/* Takes the latencies of a file; 0: it has none for this host. */
static int read_latencies(const char *path, struct nm_machine *host)
{
	FILE *file = fopen(path, "re");
	struct nm_machine kept;
	char text[TEXT];
	size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;

	if (file)
		fclose(file);
	text[n] = '\0';
	if (!n || nm_machine_read(text, path, &kept, NULL) || !is_alike(&kept, host))
		return 0;
	for (unsigned i = 0; i < host->count; i++)
		host->levels[i].latency = kept.levels[i].latency;
	host->memory_latency = kept.memory_latency;
	host->walk_latency = kept.walk_latency;
	return 1;
}

static int write_latencies(const char *folder, const char *path, const struct nm_machine *host)
{
	static const char head[] = "# Latencies of this machine as nearmiss measured them, in cycles\n";
	char text[TEXT];
	size_t n = (size_t)snprintf(text, sizeof text, "%s", head);

	n += nm_machine_format(host, text + n, sizeof text - n - 1);
	if (n + 1 >= sizeof text)
		return NM_EINVAL;
	text[n++] = '\n';
	return nm_cache_folder_write(folder, path, text, n);
}

void nm_latencies_know(struct nm_machine *host)
{
	char folder[NM_CACHE_PATH], path[NM_CACHE_PATH];

	if (!nm_cache_folder_find(folder) || snprintf(path, sizeof path, "%s/host-%016" PRIx64 ".machine",
						      folder, processor_hash()) >= NM_CACHE_PATH)
		return;
	if (read_latencies(path, host) ||
	    write_latencies(folder, path, host)) /* nothing is measured that cannot be kept */
		return;
	nm_measure_latencies(host);
	(void)write_latencies(folder, path, host);
}
