/* SPDX-License-Identifier: MIT
 *
 * turns_engine.c - the engine of this tree as a module that turns.c loads, beside that of another tree.
 */
#include "machine.h"
#include "recorded.h"
#include "session.h"
#include "turns.h"

static struct nm_machine machine;
static struct nm_symbols *symbols;
static struct nm_session *session;

static void begin(const char *path, const char *spec)
{
	struct nm_engine_options options = {.machine = &machine, .threads = 1};
	struct nm_trace *trace;
	struct nm_error err;

	must(nm_machine_parse(spec, &machine, &err), &err);
	must(nm_trace_open(&trace, path, &err), &err);
	must(nm_symbols_new(&symbols, &err), &err);
	recorded_learn(trace, symbols);
	nm_trace_free(trace);
	options.symbols = symbols;
	must(nm_session_new(&session, &options, &err), &err);
}

static double feed(uint32_t stream, const uint64_t *words, size_t count)
{
	const double before = cpu_seconds();
	struct nm_error err;

	if (count)
		must(nm_session_feed(session, stream, words, count, &err), &err);
	else
		must(nm_session_end(session, stream, &err), &err);
	return cpu_seconds() - before;
}

static void end(void)
{
	nm_session_free(session);
	nm_symbols_free(symbols);
}

extern __attribute__((visibility("default"))) const struct nm_contestant nm_contestant;
const struct nm_contestant nm_contestant = {begin, feed, end};
