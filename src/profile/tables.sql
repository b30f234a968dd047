-- SPDX-License-Identifier: MIT
--
-- tables.sql - the tables of a profile, which may change; views.sql is what others read.
-- $COUNTS stands for the columns of counts.def.
--
-- Rows refer to each other by numbers that are unique in the whole file and given in the order of the process tree: SQLite
-- is fastest where rows are appended under growing numbers and found by one.  Evictions, by far the most rows, have no key
-- at all.  Texts and sites are stored once for all processes; places and cells are sorted by process, level, thread and
-- place, as they are read.

CREATE TABLE entry(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE text(id INTEGER PRIMARY KEY, text TEXT NOT NULL);
-- base: the site of the same function, file and line without its chain of inlined calls; user: that of the nearest frame
-- of the user's code, or the base; library: 1 where there is none; inlined: the chain as text; module: of code without a
-- file.
CREATE TABLE site(
	id INTEGER PRIMARY KEY, function INTEGER, file INTEGER, line INTEGER,
	base INTEGER, user INTEGER, library INTEGER, inlined INTEGER, module INTEGER);
CREATE TABLE process(
	id INTEGER PRIMARY KEY, name TEXT, path TEXT UNIQUE, command TEXT, exit_status INTEGER,
	instructions INTEGER, refs INTEGER, lost_words INTEGER, repeated INTEGER);
-- Programs and libraries that a process had loaded; name: the last component of the path.
CREATE TABLE module(process INTEGER, path TEXT, name TEXT, build_id TEXT, PRIMARY KEY(process, path)) WITHOUT ROWID;
CREATE TABLE module_undebugged(process INTEGER, module TEXT, PRIMARY KEY(process, module)) WITHOUT ROWID;
-- Numbers of objects that passes found and that have no table of their own.
CREATE TABLE pass_figure(process INTEGER, pass TEXT, object INTEGER, name TEXT, value INTEGER);
CREATE TABLE thread(process INTEGER, thread INTEGER, core INTEGER, PRIMARY KEY(process, thread)) WITHOUT ROWID;
-- id: 64 for each process, and the position.
CREATE TABLE level(
	id INTEGER PRIMARY KEY, process INTEGER, name TEXT, size INTEGER, ways INTEGER, line_size INTEGER,
	sets INTEGER, policy TEXT, side TEXT,
	$COUNTS,
	pages TEXT, huge_pages TEXT, sector_size INTEGER, prefetch TEXT, protocol TEXT, nodes INTEGER);
-- call: tells allocating calls of one name apart, the same in every run; 0: there is one.
CREATE TABLE object(
	id INTEGER PRIMARY KEY, process INTEGER, name INTEGER, kind TEXT, type INTEGER, bytes INTEGER,
	blocks INTEGER, largest INTEGER, allocated_at INTEGER, call INTEGER);
-- Regions that the program names, in each phase that they were counted by; 0 is outside of all, and has no name.
CREATE TABLE region(process INTEGER, region INTEGER, name INTEGER, entries INTEGER, instructions INTEGER, phase INTEGER,
	PRIMARY KEY(process, region)) WITHOUT ROWID;
-- A place is a line of a function that uses an object, of one process, region and phase.  object: the text of its name; 0:
-- it has none; region, phase: the text of its name, NULL outside of all, or where they were not counted by.
CREATE TABLE place(id INTEGER PRIMARY KEY, process INTEGER, site INTEGER, object INTEGER, region INTEGER, phase INTEGER);
CREATE TABLE cell(
	level INTEGER, thread INTEGER, place INTEGER,
	$COUNTS,
	PRIMARY KEY(level, thread, place)) WITHOUT ROWID;
-- What only some levels count.
CREATE TABLE extra(
	level INTEGER, thread INTEGER, place INTEGER, sector_misses INTEGER,
	prefetches INTEGER, useful INTEGER, late_evicted INTEGER, pollution INTEGER,
	coherence INTEGER, false_sharing INTEGER, false_first INTEGER, false_words INTEGER, unneeded INTEGER,
	remote INTEGER, redundant INTEGER, late INTEGER, non_temporal INTEGER,
	PRIMARY KEY(level, thread, place)) WITHOUT ROWID;
-- Each pair of places once, by level, victim and evictor.  prefetches: of the count, evictions by a prefetch that the
-- evictor caused.
CREATE TABLE eviction(level INTEGER, victim INTEGER, evictor INTEGER, count INTEGER, prefetches INTEGER);
-- For each victim the evictor that replaced most of its lines.
CREATE TABLE top_eviction(level INTEGER, victim INTEGER, evictor INTEGER, count INTEGER, prefetches INTEGER);
-- Call chains, where they were asked for: the call of a function from a site, in the context of its caller.  user: the
-- site of the nearest call in the chain that the user wrote.
CREATE TABLE context(
	process INTEGER, context INTEGER, parent INTEGER, function INTEGER, site INTEGER, calls INTEGER,
	user INTEGER,
	PRIMARY KEY(process, context)) WITHOUT ROWID;
CREATE TABLE context_cell(
	level INTEGER, context INTEGER, thread INTEGER, place INTEGER,
	$COUNTS,
	PRIMARY KEY(level, context, thread, place)) WITHOUT ROWID;
-- With all that is called from there.
CREATE TABLE context_sum(
	level INTEGER, context INTEGER,
	$COUNTS,
	PRIMARY KEY(level, context)) WITHOUT ROWID;
-- The chain of calls that allocates a heap bucket, where buckets were told apart by it.
CREATE TABLE bucket(object INTEGER PRIMARY KEY, context INTEGER);
-- Single events, where they were asked for: how often an event of a kind happened at a place.  unit: what a place is
-- (1 a set, 2 the first byte of a granule, 0 nothing: it is 0); level: beyond the last one is the memory; kind: enum
-- nm_event_kind; maker: the place that made it; victim: the place that had loaded a replaced line, else -1.
CREATE TABLE event(
	process INTEGER, level INTEGER, unit INTEGER, at INTEGER, kind INTEGER, maker INTEGER, victim INTEGER, count INTEGER,
	PRIMARY KEY(process, level, unit, at, kind, maker, victim)) WITHOUT ROWID;
-- By how many bytes the accesses of a place step: the stride that most of those follow that were looked at, and how many
-- steps were about half of the one before.
CREATE TABLE pattern(process INTEGER, place INTEGER, sampled INTEGER, stride INTEGER, followed INTEGER, halved INTEGER,
	PRIMARY KEY(process, place)) WITHOUT ROWID;
-- The same of loads of the first level, where prefetchers cover some: all, and the step that most followed.
CREATE TABLE walk(process INTEGER, place INTEGER, loads INTEGER, step INTEGER, followed INTEGER,
	PRIMARY KEY(process, place)) WITHOUT ROWID;
-- Fields of the structures that objects are, or that their elements are; fields of which two were used together; cells
-- shared out to fields (0: none); lines of objects.
CREATE TABLE field(
	id INTEGER PRIMARY KEY, object INTEGER, type INTEGER, structure INTEGER, name INTEGER,
	offset INTEGER, bytes INTEGER, sampled INTEGER, residencies INTEGER, used INTEGER, field_type INTEGER);
CREATE TABLE field_pair(
	field INTEGER, other INTEGER, together INTEGER, apart INTEGER, visits INTEGER, both INTEGER,
	PRIMARY KEY(field, other)) WITHOUT ROWID;
CREATE TABLE field_cell(
	level INTEGER, thread INTEGER, place INTEGER, field INTEGER,
	$COUNTS,
	PRIMARY KEY(level, thread, place, field)) WITHOUT ROWID;
CREATE TABLE object_lines(
	object INTEGER PRIMARY KEY, lines INTEGER, residencies INTEGER, accesses INTEGER, hot INTEGER,
	hot_residencies INTEGER, idle INTEGER);

-- The course of a run: its intervals, what each counted at a level (of the most misses: object, a text, and site; NULL: nothing
-- missed), and the parts of the objects and lines that miss most in the run.
CREATE TABLE interval(
	process INTEGER, interval INTEGER, begin INTEGER, instructions INTEGER, working_set INTEGER,
	PRIMARY KEY(process, interval)) WITHOUT ROWID;
-- Phases, and the stretches of the run that are of one: `intervals` of them from `interval` on.  site: of the line that misses
-- most in it.
CREATE TABLE phase(process INTEGER, phase INTEGER, name TEXT, object INTEGER, site INTEGER,
	PRIMARY KEY(process, phase)) WITHOUT ROWID;
CREATE TABLE stretch(process INTEGER, interval INTEGER, intervals INTEGER, phase INTEGER,
	PRIMARY KEY(process, interval)) WITHOUT ROWID;
CREATE TABLE interval_level(
	level INTEGER, interval INTEGER, reads INTEGER, writes INTEGER, read_misses INTEGER, write_misses INTEGER,
	cold INTEGER, capacity INTEGER, conflict INTEGER, coherence INTEGER, loads INTEGER, object INTEGER, site INTEGER,
	PRIMARY KEY(level, interval)) WITHOUT ROWID;
CREATE TABLE interval_object(
	level INTEGER, interval INTEGER, object INTEGER, read_misses INTEGER, write_misses INTEGER, loads INTEGER,
	PRIMARY KEY(level, interval, object)) WITHOUT ROWID;
CREATE TABLE interval_line(
	level INTEGER, interval INTEGER, site INTEGER, read_misses INTEGER, write_misses INTEGER, loads INTEGER,
	PRIMARY KEY(level, interval, site)) WITHOUT ROWID;

-- How distances were counted: lines of so many bytes; of `field`s by the references of this level; from `beyond` lines on
-- they are not told apart (0: no limit).
CREATE TABLE distance_run(process INTEGER PRIMARY KEY, line_size INTEGER, level INTEGER, beyond INTEGER);
-- Histograms of a place: unit 0 stack distances, 1 reuse distances.  distance_bin says what a bin is.
CREATE TABLE distance(
	process INTEGER, thread INTEGER, place INTEGER, unit INTEGER, bin INTEGER, count INTEGER,
	PRIMARY KEY(process, thread, place, unit, bin)) WITHOUT ROWID;
-- Stack distances above 0 by the place that had touched the line before.
CREATE TABLE reuse(
	process INTEGER, place INTEGER, previous INTEGER, bin INTEGER, count INTEGER,
	PRIMARY KEY(process, place, previous, bin)) WITHOUT ROWID;
-- The bins that occur (bins.h); low and high are NULL for cold references, high is for those that are beyond.
CREATE TABLE distance_bin(bin INTEGER PRIMARY KEY, low INTEGER, high INTEGER);
-- Miss ratios that were estimated: name is a text, of threads their number; 0 where nothing is known.
CREATE TABLE estimate(
	process INTEGER, method TEXT, policy TEXT, scope TEXT, name INTEGER, size INTEGER, miss_ratio REAL,
	cold_ratio REAL, low REAL, high REAL, samples INTEGER,
	PRIMARY KEY(process, method, scope, name, size)) WITHOUT ROWID;

-- Where cores contend for a block of memory, at a level that a protocol keeps coherent: who touches which bytes of it, and who
-- takes it from whom (block NULL: blocks that nobody contends for, together).  field and type are texts; position: in the
-- variable or heap block, NULL if that is not known.
CREATE TABLE touch(
	level INTEGER, block INTEGER, offset INTEGER, bytes INTEGER, thread INTEGER, place INTEGER, type INTEGER,
	structure INTEGER, field INTEGER, field_offset INTEGER, position INTEGER, reads INTEGER, writes INTEGER,
	misses INTEGER, false_misses INTEGER, invalidations INTEGER, schedule INTEGER);
CREATE TABLE contender(
	level INTEGER, block INTEGER, thread INTEGER, place INTEGER, victim_thread INTEGER, victim INTEGER,
	invalidations INTEGER, interventions INTEGER, writebacks INTEGER, upgrades INTEGER, schedule INTEGER,
	offset INTEGER, type INTEGER, field INTEGER, victim_offset INTEGER, victim_type INTEGER, victim_field INTEGER);
-- False sharing that would be, in lines of line_size bytes, if data lay so many bytes earlier: a touch and that which would
-- take its line.
CREATE TABLE latent_pair(
	level INTEGER, line_size INTEGER, earlier INTEGER, misses INTEGER,
	address INTEGER, bytes INTEGER, thread INTEGER, place INTEGER, type INTEGER, field INTEGER,
	other_address INTEGER, other_bytes INTEGER, other_thread INTEGER, other INTEGER, other_type INTEGER,
	other_field INTEGER, schedule INTEGER);
-- What other orders of the threads gave (touch, contender and latent_pair above too): schedule 0 is that of the rest of the profile.
CREATE TABLE schedule(process INTEGER, schedule INTEGER, rule TEXT, stalls INTEGER,
	PRIMARY KEY(process, schedule)) WITHOUT ROWID;
CREATE TABLE schedule_level(level INTEGER, schedule INTEGER, $COUNTS, PRIMARY KEY(level, schedule)) WITHOUT ROWID;
-- Misses of a place if memory lay elsewhere, as a JSON list: the first number is that of the rest of the profile.
CREATE TABLE relocated(level INTEGER, place INTEGER, misses TEXT, PRIMARY KEY(level, place)) WITHOUT ROWID;
-- Samplers of a simulated PMU, and their samples; victim NULL: no line left, or the sampler's rule does not tell.
CREATE TABLE pmu_sampler(process INTEGER, sampler INTEGER, level INTEGER, name TEXT, rule TEXT, period INTEGER, seed INTEGER,
	shadow INTEGER, handler INTEGER, interrupts INTEGER, tagged_accesses INTEGER, program_misses INTEGER,
	handler_misses INTEGER, PRIMARY KEY(process, sampler)) WITHOUT ROWID;
CREATE TABLE pmu_sample(process INTEGER, sampler INTEGER, place INTEGER, victim INTEGER, count INTEGER);
CREATE TABLE schedule_extra(
	level INTEGER, schedule INTEGER, thread INTEGER, place INTEGER, coherence INTEGER, false_sharing INTEGER,
	unneeded INTEGER,
	PRIMARY KEY(level, schedule, thread, place)) WITHOUT ROWID;
CREATE TABLE message(level INTEGER, fabric TEXT, name TEXT, count INTEGER, bytes INTEGER);

-- Each file that a site names and that could be read, or whose MD5 when it was compiled is known; text: see sources.c.
CREATE TABLE source(file INTEGER PRIMARY KEY, bytes INTEGER, modified INTEGER, md5 TEXT, newer INTEGER, text BLOB,
	compiled TEXT);

-- Where instructions were told apart: each with the place that it is part of, and its counts.
CREATE TABLE instruction(id INTEGER PRIMARY KEY, module INTEGER, address INTEGER, place INTEGER);
CREATE TABLE instruction_cell(
	level INTEGER, thread INTEGER, instruction INTEGER,
	$COUNTS,
	PRIMARY KEY(level, thread, instruction)) WITHOUT ROWID;
-- An instruction's accesses to fields, sampled as those of its place; type and field are texts.
CREATE TABLE instruction_field(
	process INTEGER, instruction INTEGER, type INTEGER, field INTEGER, accesses INTEGER,
	PRIMARY KEY(instruction, type, field)) WITHOUT ROWID;
CREATE TABLE code_block(
	process INTEGER, module INTEGER, address INTEGER, function INTEGER, bytes BLOB,
	PRIMARY KEY(process, module, address)) WITHOUT ROWID;
-- From its address to that of the next row: one line.
CREATE TABLE code_line(
	process INTEGER, module INTEGER, address INTEGER, function INTEGER, file INTEGER, line INTEGER,
	PRIMARY KEY(process, module, address)) WITHOUT ROWID;

-- Of a merged profile: the profiles that it was made of (alike: inputs with the same number behave alike), what each counted,
-- and its misses and loads where there are some.
CREATE TABLE input(
	id INTEGER PRIMARY KEY, name TEXT UNIQUE, file TEXT, rank INTEGER, host TEXT, command TEXT, exit_status INTEGER,
	instructions INTEGER, refs INTEGER, lost_words INTEGER, alike INTEGER);
CREATE TABLE input_level(input INTEGER, level INTEGER, $COUNTS, PRIMARY KEY(input, level)) WITHOUT ROWID;
CREATE TABLE input_cell(
	input INTEGER, level INTEGER, place INTEGER, misses INTEGER, loads INTEGER,
	PRIMARY KEY(input, level, place)) WITHOUT ROWID;

-- Samples of a processor's counters: those of a thread at a place that agree in what they found.  Texts are those of
-- data_source.h, NULL where the processor does not say; latencies are cycles, from latency_low to latency_high of each
-- sample, and `latency` is their sum.  type and field (texts) and shared: of those joined with a recording.
CREATE TABLE sample(
	process INTEGER, thread INTEGER, place INTEGER, event INTEGER, operation TEXT, served TEXT, missed INTEGER,
	snoop TEXT, tlb TEXT, locked INTEGER, latency_low INTEGER, latency_high INTEGER, count INTEGER, latency INTEGER,
	type INTEGER, field INTEGER, shared INTEGER);
