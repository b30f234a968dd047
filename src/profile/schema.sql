-- SPDX-License-Identifier: MIT
--
-- schema.sql - the tables of a profile (which may change) and the views (which are a promise,
-- see docs/format/profile.md).
--
-- Texts and sites are stored once for all processes, under a hash of what they say, so that no id
-- depends on the order in which processes end.  `process` in every table is the sort key that the
-- writer makes of the process's path ("0.12" becomes "a0.b12"), so that rows lie, and are read, in the
-- order of the process tree.

CREATE TABLE entry(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE text(id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE site(id INTEGER PRIMARY KEY, function INTEGER, file INTEGER, line INTEGER);
CREATE TABLE process(
	process TEXT PRIMARY KEY, name TEXT, path TEXT, command TEXT, exit_status INTEGER,
	instructions INTEGER, refs INTEGER, lost_words INTEGER) WITHOUT ROWID;
CREATE TABLE module_undebugged(process TEXT, module TEXT, PRIMARY KEY(process, module)) WITHOUT ROWID;
CREATE TABLE thread(process TEXT, thread INTEGER, core INTEGER, PRIMARY KEY(process, thread)) WITHOUT ROWID;
CREATE TABLE level(
	process TEXT, level INTEGER, name TEXT, size INTEGER, ways INTEGER, line_size INTEGER,
	sets INTEGER, policy TEXT, side TEXT,
	reads INTEGER, writes INTEGER, read_misses INTEGER, write_misses INTEGER, cold INTEGER,
	capacity INTEGER, conflict INTEGER, coherence INTEGER, loads INTEGER, reuse INTEGER,
	used_bytes INTEGER, loaded_bytes INTEGER, evictions INTEGER, writebacks INTEGER, weighted_bytes INTEGER,
	pages TEXT, huge_pages TEXT, sector_size INTEGER, prefetch TEXT,
	PRIMARY KEY(process, level)) WITHOUT ROWID;
CREATE TABLE object(
	process TEXT, object INTEGER, name INTEGER, kind TEXT, type INTEGER, bytes INTEGER,
	blocks INTEGER, largest INTEGER, allocated_at INTEGER,
	PRIMARY KEY(process, object)) WITHOUT ROWID;
-- A place is a line of a function that uses an object.
CREATE TABLE place(
	process TEXT, place INTEGER, site INTEGER, object INTEGER,
	PRIMARY KEY(process, place)) WITHOUT ROWID;
CREATE TABLE cell(
	process TEXT, level INTEGER, thread INTEGER, place INTEGER,
	reads INTEGER, writes INTEGER, read_misses INTEGER, write_misses INTEGER, cold INTEGER,
	capacity INTEGER, conflict INTEGER, coherence INTEGER, loads INTEGER, reuse INTEGER,
	used_bytes INTEGER, loaded_bytes INTEGER, evictions INTEGER, writebacks INTEGER, weighted_bytes INTEGER,
	PRIMARY KEY(process, level, thread, place)) WITHOUT ROWID;
-- What only some levels count.
CREATE TABLE extra(
	process TEXT, level INTEGER, thread INTEGER, place INTEGER, sector_misses INTEGER,
	prefetches INTEGER, useful INTEGER, late_evicted INTEGER, pollution INTEGER,
	PRIMARY KEY(process, level, thread, place)) WITHOUT ROWID;
-- prefetches: of the count, evictions by a prefetch that the evictor caused.
CREATE TABLE eviction(
	process TEXT, level INTEGER, victim INTEGER, evictor INTEGER, count INTEGER, prefetches INTEGER,
	PRIMARY KEY(process, level, victim, evictor)) WITHOUT ROWID;
-- Call chains, where they were asked for: the call of a function from a site, in the context of its caller.
CREATE TABLE context(
	process TEXT, context INTEGER, parent INTEGER, function INTEGER, site INTEGER, calls INTEGER,
	PRIMARY KEY(process, context)) WITHOUT ROWID;
CREATE TABLE context_cell(
	process TEXT, level INTEGER, context INTEGER, thread INTEGER, place INTEGER,
	reads INTEGER, writes INTEGER, read_misses INTEGER, write_misses INTEGER, cold INTEGER,
	capacity INTEGER, conflict INTEGER, coherence INTEGER, loads INTEGER, reuse INTEGER,
	used_bytes INTEGER, loaded_bytes INTEGER, evictions INTEGER, writebacks INTEGER, weighted_bytes INTEGER,
	PRIMARY KEY(process, level, context, thread, place)) WITHOUT ROWID;
-- With all that is called from there.
CREATE TABLE context_sum(
	process TEXT, level INTEGER, context INTEGER,
	reads INTEGER, writes INTEGER, read_misses INTEGER, write_misses INTEGER, cold INTEGER,
	capacity INTEGER, conflict INTEGER, coherence INTEGER, loads INTEGER, reuse INTEGER,
	used_bytes INTEGER, loaded_bytes INTEGER, evictions INTEGER, writebacks INTEGER, weighted_bytes INTEGER,
	PRIMARY KEY(process, level, context)) WITHOUT ROWID;
-- The chain of calls that allocates a heap bucket, where buckets were told apart by it.
CREATE TABLE bucket(process TEXT, object INTEGER, context INTEGER, PRIMARY KEY(process, object)) WITHOUT ROWID;
-- Single events, where they were asked for: how often an event of a kind happened at a place.  unit: what a place is
-- (1 a set, 2 the first byte of a granule, 0 nothing: it is 0); level: beyond the last one is the memory; kind: enum
-- nm_event_kind; maker: the place that made it; victim: the place that had loaded a replaced line, else -1.
CREATE TABLE event(
	process TEXT, level INTEGER, unit INTEGER, at INTEGER, kind INTEGER, maker INTEGER, victim INTEGER, count INTEGER,
	PRIMARY KEY(process, level, unit, at, kind, maker, victim)) WITHOUT ROWID;
-- By how many bytes the accesses of a place step: the stride that most of those follow that were looked at.
CREATE TABLE pattern(
	process TEXT, place INTEGER, sampled INTEGER, stride INTEGER, followed INTEGER,
	PRIMARY KEY(process, place)) WITHOUT ROWID;
-- Fields of the structures that objects are, or that their elements are, numbered from 1 on; fields of which two were
-- used together; cells shared out to fields (0: none); lines of objects.
CREATE TABLE field(
	process TEXT, field INTEGER, object INTEGER, type INTEGER, structure INTEGER, name INTEGER,
	offset INTEGER, bytes INTEGER, sampled INTEGER, stays INTEGER, used INTEGER,
	PRIMARY KEY(process, field)) WITHOUT ROWID;
CREATE TABLE field_pair(
	process TEXT, field INTEGER, other INTEGER, together INTEGER, apart INTEGER, visits INTEGER, both INTEGER,
	PRIMARY KEY(process, field, other)) WITHOUT ROWID;
CREATE TABLE field_cell(
	process TEXT, level INTEGER, thread INTEGER, place INTEGER, field INTEGER,
	reads INTEGER, writes INTEGER, read_misses INTEGER, write_misses INTEGER, cold INTEGER,
	capacity INTEGER, conflict INTEGER, coherence INTEGER, loads INTEGER, reuse INTEGER,
	used_bytes INTEGER, loaded_bytes INTEGER, evictions INTEGER, writebacks INTEGER, weighted_bytes INTEGER,
	PRIMARY KEY(process, level, thread, place, field)) WITHOUT ROWID;
CREATE TABLE object_lines(
	process TEXT, object INTEGER, lines INTEGER, stays INTEGER, accesses INTEGER, hot INTEGER,
	hot_stays INTEGER, idle INTEGER,
	PRIMARY KEY(process, object)) WITHOUT ROWID;
-- For each victim the evictor that replaced most of its lines.
CREATE TABLE top_eviction(
	process TEXT, level INTEGER, victim INTEGER, evictor INTEGER, count INTEGER, prefetches INTEGER,
	PRIMARY KEY(process, level, victim)) WITHOUT ROWID;

-- Each file that a site names and that could be read, or whose MD5 when it was compiled is known; text: see sources.c.
CREATE TABLE source(file INTEGER PRIMARY KEY, bytes INTEGER, modified INTEGER, md5 TEXT, newer INTEGER, text BLOB,
	compiled TEXT);

-- Where instructions were told apart: each with the place that it is part of, and its counts.
CREATE TABLE instruction(
	process TEXT, instruction INTEGER, module INTEGER, address INTEGER, place INTEGER,
	PRIMARY KEY(process, instruction)) WITHOUT ROWID;
CREATE TABLE instruction_cell(
	process TEXT, level INTEGER, thread INTEGER, instruction INTEGER,
	reads INTEGER, writes INTEGER, read_misses INTEGER, write_misses INTEGER, cold INTEGER,
	capacity INTEGER, conflict INTEGER, coherence INTEGER, loads INTEGER, reuse INTEGER,
	used_bytes INTEGER, loaded_bytes INTEGER, evictions INTEGER, writebacks INTEGER, weighted_bytes INTEGER,
	PRIMARY KEY(process, level, thread, instruction)) WITHOUT ROWID;
CREATE TABLE code_block(
	process TEXT, module INTEGER, address INTEGER, function INTEGER, bytes BLOB,
	PRIMARY KEY(process, module, address)) WITHOUT ROWID;
-- From its address to that of the next row: one line.
CREATE TABLE code_line(
	process TEXT, module INTEGER, address INTEGER, function INTEGER, file INTEGER, line INTEGER,
	PRIMARY KEY(process, module, address)) WITHOUT ROWID;

CREATE VIEW info AS SELECT key, value FROM entry;

CREATE VIEW processes AS
	SELECT name AS process, path, command, exit_status, instructions, refs, lost_words FROM process;

CREATE VIEW instructions AS
	SELECT p.name AS process, c.thread AS thread, l.name AS level, m.text AS module,
		i.address AS address, fn.text AS function, fi.text AS file, s.line AS line, n.text AS object,
		c.reads AS reads, c.writes AS writes, c.read_misses AS read_misses,
		c.write_misses AS write_misses, c.cold AS cold, c.capacity AS capacity,
		c.conflict AS conflict, c.coherence AS coherence, c.loads AS loads,
		c.reuse AS reuse, c.used_bytes AS used_bytes, c.loaded_bytes AS loaded_bytes,
		c.evictions AS evictions, c.writebacks AS writebacks, c.weighted_bytes AS weighted_bytes
	FROM process p
	CROSS JOIN level l ON l.process = p.process
	CROSS JOIN instruction_cell c ON c.process = l.process AND c.level = l.level
	LEFT JOIN instruction i ON i.process = c.process AND i.instruction = c.instruction
	LEFT JOIN text m ON m.id = i.module
	LEFT JOIN place x ON x.process = i.process AND x.place = i.place
	LEFT JOIN site s ON s.id = x.site
	LEFT JOIN text fn ON fn.id = s.function
	LEFT JOIN text fi ON fi.id = s.file
	LEFT JOIN object o ON o.process = x.process AND o.object = x.object
	LEFT JOIN text n ON n.id = o.name;

CREATE VIEW code AS
	SELECT m.text AS module, c.address AS address, f.text AS function, c.bytes AS bytes, p.name AS process
	FROM process p CROSS JOIN code_block c ON c.process = p.process
	LEFT JOIN text m ON m.id = c.module
	LEFT JOIN text f ON f.id = c.function;

CREATE VIEW code_lines AS
	SELECT m.text AS module, c.address AS address, fn.text AS function, fi.text AS file, c.line AS line,
		p.name AS process
	FROM process p CROSS JOIN code_line c ON c.process = p.process
	LEFT JOIN text m ON m.id = c.module
	LEFT JOIN text fn ON fn.id = c.function
	LEFT JOIN text fi ON fi.id = c.file;

CREATE VIEW sources AS
	SELECT f.text AS file, s.bytes AS bytes, s.modified AS modified, s.md5 AS md5, s.newer AS newer,
		s.text AS text, s.compiled AS compiled
	FROM source s CROSS JOIN text f ON f.id = s.file;

CREATE VIEW undebugged AS
	SELECT p.name AS process, m.module AS module
	FROM process p CROSS JOIN module_undebugged m ON m.process = p.process;

CREATE VIEW levels AS
	SELECT l.name AS level, l.size AS size, l.ways AS ways, l.line_size AS line_size,
		l.sets AS sets, l.policy AS policy, l.reads AS reads, l.writes AS writes,
		l.read_misses AS read_misses, l.write_misses AS write_misses, l.cold AS cold,
		l.capacity AS capacity, l.conflict AS conflict, l.coherence AS coherence,
		l.loads AS loads, l.evictions AS evictions, l.writebacks AS writebacks,
		p.name AS process, l.side AS side, l.level AS position, l.pages AS pages,
		l.huge_pages AS huge_pages, l.sector_size AS sector_size, l.prefetch AS prefetch
	FROM process p CROSS JOIN level l ON l.process = p.process;

CREATE VIEW objects AS
	SELECT n.text AS object, o.kind AS kind, t.text AS type, o.bytes AS bytes,
		o.blocks AS blocks, o.largest AS largest, a.text AS allocated_at, p.name AS process
	FROM process p CROSS JOIN object o ON o.process = p.process
	LEFT JOIN text n ON n.id = o.name
	LEFT JOIN text t ON t.id = o.type
	LEFT JOIN text a ON a.id = o.allocated_at;

CREATE VIEW counts AS
	SELECT p.name AS process, c.thread AS thread, l.name AS level, fn.text AS function,
		fi.text AS file, s.line AS line, n.text AS object,
		c.reads AS reads, c.writes AS writes, c.read_misses AS read_misses,
		c.write_misses AS write_misses, c.cold AS cold, c.capacity AS capacity,
		c.conflict AS conflict, c.coherence AS coherence, c.loads AS loads,
		c.reuse AS reuse, c.used_bytes AS used_bytes, c.loaded_bytes AS loaded_bytes,
		c.evictions AS evictions, c.writebacks AS writebacks, c.weighted_bytes AS weighted_bytes
	FROM process p
	CROSS JOIN level l ON l.process = p.process
	CROSS JOIN cell c ON c.process = l.process AND c.level = l.level
	LEFT JOIN place x ON x.process = c.process AND x.place = c.place
	LEFT JOIN site s ON s.id = x.site
	LEFT JOIN text fn ON fn.id = s.function
	LEFT JOIN text fi ON fi.id = s.file
	LEFT JOIN object o ON o.process = x.process AND o.object = x.object
	LEFT JOIN text n ON n.id = o.name;

CREATE VIEW sectors AS
	SELECT p.name AS process, c.thread AS thread, l.name AS level, fn.text AS function,
		fi.text AS file, s.line AS line, n.text AS object, c.sector_misses AS sector_misses
	FROM process p
	CROSS JOIN level l ON l.process = p.process
	CROSS JOIN extra c ON c.process = l.process AND c.level = l.level AND c.sector_misses > 0
	LEFT JOIN place x ON x.process = c.process AND x.place = c.place
	LEFT JOIN site s ON s.id = x.site
	LEFT JOIN text fn ON fn.id = s.function
	LEFT JOIN text fi ON fi.id = s.file
	LEFT JOIN object o ON o.process = x.process AND o.object = x.object
	LEFT JOIN text n ON n.id = o.name;

CREATE VIEW prefetches AS
	SELECT p.name AS process, c.thread AS thread, l.name AS level, fn.text AS function,
		fi.text AS file, s.line AS line, n.text AS object, c.prefetches AS prefetches,
		c.useful AS useful, c.late_evicted AS late_evicted, c.pollution AS pollution
	FROM process p
	CROSS JOIN level l ON l.process = p.process
	CROSS JOIN extra c ON c.process = l.process AND c.level = l.level AND c.prefetches > 0
	LEFT JOIN place x ON x.process = c.process AND x.place = c.place
	LEFT JOIN site s ON s.id = x.site
	LEFT JOIN text fn ON fn.id = s.function
	LEFT JOIN text fi ON fi.id = s.file
	LEFT JOIN object o ON o.process = x.process AND o.object = x.object
	LEFT JOIN text n ON n.id = o.name;

CREATE VIEW sites AS
	SELECT p.name AS process, fn.text AS function, fi.text AS file, s.line AS line, n.text AS object,
		t.sampled AS sampled, t.stride AS stride, t.followed AS followed
	FROM process p
	CROSS JOIN pattern t ON t.process = p.process
	LEFT JOIN place x ON x.process = t.process AND x.place = t.place
	LEFT JOIN site s ON s.id = x.site
	LEFT JOIN text fn ON fn.id = s.function
	LEFT JOIN text fi ON fi.id = s.file
	LEFT JOIN object o ON o.process = x.process AND o.object = x.object
	LEFT JOIN text n ON n.id = o.name;

CREATE VIEW fields AS
	SELECT p.name AS process, n.text AS object, t.text AS type, f.structure AS structure,
		m.text AS field, f.offset AS offset, f.bytes AS bytes, f.sampled AS sampled,
		f.stays AS stays, f.used AS used
	FROM process p
	CROSS JOIN field f ON f.process = p.process
	LEFT JOIN object o ON o.process = f.process AND o.object = f.object
	LEFT JOIN text n ON n.id = o.name
	LEFT JOIN text t ON t.id = f.type
	LEFT JOIN text m ON m.id = f.name;

CREATE VIEW affinity AS
	SELECT p.name AS process, n.text AS object, t.text AS type, m.text AS field, mo.text AS other,
		f.offset AS offset, g.offset AS other_offset, a.together AS together, a.apart AS apart,
		a.visits AS visits, a.both AS both
	FROM process p
	CROSS JOIN field_pair a ON a.process = p.process
	LEFT JOIN field f ON f.process = a.process AND f.field = a.field
	LEFT JOIN field g ON g.process = a.process AND g.field = a.other
	LEFT JOIN object o ON o.process = f.process AND o.object = f.object
	LEFT JOIN text n ON n.id = o.name
	LEFT JOIN text t ON t.id = f.type
	LEFT JOIN text m ON m.id = f.name
	LEFT JOIN text mo ON mo.id = g.name;

CREATE VIEW hot_lines AS
	SELECT p.name AS process, n.text AS object, l.lines AS lines, l.stays AS stays,
		l.accesses AS accesses, l.hot AS hot, l.hot_stays AS hot_stays, l.idle AS idle
	FROM process p
	CROSS JOIN object_lines l ON l.process = p.process
	LEFT JOIN object o ON o.process = l.process AND o.object = l.object
	LEFT JOIN text n ON n.id = o.name;

-- Cells of which no access to a field was sampled are rows without one.
CREATE VIEW field_counts AS
	SELECT p.name AS process, c.thread AS thread, l.name AS level, fn.text AS function,
		fi.text AS file, s.line AS line, n.text AS object,
		c.reads AS reads, c.writes AS writes, c.read_misses AS read_misses,
		c.write_misses AS write_misses, c.cold AS cold, c.capacity AS capacity,
		c.conflict AS conflict, c.coherence AS coherence, c.loads AS loads,
		c.reuse AS reuse, c.used_bytes AS used_bytes, c.loaded_bytes AS loaded_bytes,
		c.evictions AS evictions, c.writebacks AS writebacks, c.weighted_bytes AS weighted_bytes,
		t.text AS type, m.text AS field
	FROM process p
	CROSS JOIN level l ON l.process = p.process
	CROSS JOIN field_cell c ON c.process = l.process AND c.level = l.level
	LEFT JOIN field f ON f.process = c.process AND f.field = c.field
	LEFT JOIN text t ON t.id = f.type
	LEFT JOIN text m ON m.id = f.name
	LEFT JOIN place x ON x.process = c.process AND x.place = c.place
	LEFT JOIN site s ON s.id = x.site
	LEFT JOIN text fn ON fn.id = s.function
	LEFT JOIN text fi ON fi.id = s.file
	LEFT JOIN object o ON o.process = x.process AND o.object = x.object
	LEFT JOIN text n ON n.id = o.name
	UNION ALL
	SELECT p.name AS process, c.thread AS thread, l.name AS level, fn.text AS function,
		fi.text AS file, s.line AS line, n.text AS object,
		c.reads AS reads, c.writes AS writes, c.read_misses AS read_misses,
		c.write_misses AS write_misses, c.cold AS cold, c.capacity AS capacity,
		c.conflict AS conflict, c.coherence AS coherence, c.loads AS loads,
		c.reuse AS reuse, c.used_bytes AS used_bytes, c.loaded_bytes AS loaded_bytes,
		c.evictions AS evictions, c.writebacks AS writebacks, c.weighted_bytes AS weighted_bytes,
		NULL AS type, NULL AS field
	FROM process p
	CROSS JOIN level l ON l.process = p.process
	CROSS JOIN cell c ON c.process = l.process AND c.level = l.level AND NOT EXISTS (
		SELECT 1 FROM field_cell d WHERE d.process = c.process AND d.level = c.level AND
			d.thread = c.thread AND d.place = c.place)
	LEFT JOIN place x ON x.process = c.process AND x.place = c.place
	LEFT JOIN site s ON s.id = x.site
	LEFT JOIN text fn ON fn.id = s.function
	LEFT JOIN text fi ON fi.id = s.file
	LEFT JOIN object o ON o.process = x.process AND o.object = x.object
	LEFT JOIN text n ON n.id = o.name;

CREATE VIEW contexts AS
	SELECT p.name AS process, l.name AS level, c.context AS context, c.parent AS parent,
		fn.text AS function, cfn.text AS caller, fi.text AS file, s.line AS line, c.calls AS calls,
		t.reads AS reads, t.writes AS writes, t.read_misses AS read_misses,
		t.write_misses AS write_misses, t.cold AS cold, t.capacity AS capacity,
		t.conflict AS conflict, t.coherence AS coherence, t.loads AS loads,
		t.reuse AS reuse, t.used_bytes AS used_bytes, t.loaded_bytes AS loaded_bytes,
		t.evictions AS evictions, t.writebacks AS writebacks, t.weighted_bytes AS weighted_bytes
	FROM process p
	CROSS JOIN level l ON l.process = p.process
	CROSS JOIN context_sum t ON t.process = l.process AND t.level = l.level
	LEFT JOIN context c ON c.process = t.process AND c.context = t.context
	LEFT JOIN text fn ON fn.id = c.function
	LEFT JOIN site s ON s.id = c.site
	LEFT JOIN text cfn ON cfn.id = s.function
	LEFT JOIN text fi ON fi.id = s.file;

CREATE VIEW context_counts AS
	SELECT p.name AS process, c.thread AS thread, l.name AS level, c.context AS context,
		fn.text AS function, fi.text AS file, s.line AS line, n.text AS object,
		c.reads AS reads, c.writes AS writes, c.read_misses AS read_misses,
		c.write_misses AS write_misses, c.cold AS cold, c.capacity AS capacity,
		c.conflict AS conflict, c.coherence AS coherence, c.loads AS loads,
		c.reuse AS reuse, c.used_bytes AS used_bytes, c.loaded_bytes AS loaded_bytes,
		c.evictions AS evictions, c.writebacks AS writebacks, c.weighted_bytes AS weighted_bytes
	FROM process p
	CROSS JOIN level l ON l.process = p.process
	CROSS JOIN context_cell c ON c.process = l.process AND c.level = l.level
	LEFT JOIN place x ON x.process = c.process AND x.place = c.place
	LEFT JOIN site s ON s.id = x.site
	LEFT JOIN text fn ON fn.id = s.function
	LEFT JOIN text fi ON fi.id = s.file
	LEFT JOIN object o ON o.process = x.process AND o.object = x.object
	LEFT JOIN text n ON n.id = o.name;

CREATE VIEW buckets AS
	WITH RECURSIVE up(process, object, context, next, chain) AS (
		SELECT b.process, b.object, b.context, c.parent, f.text
		FROM bucket b CROSS JOIN context c ON c.process = b.process AND c.context = b.context
		LEFT JOIN text f ON f.id = c.function
		UNION ALL
		SELECT u.process, u.object, u.context, c.parent,
			CASE WHEN c.parent IS NULL THEN u.chain ELSE coalesce(f.text, '?') || ' / ' || u.chain END
		FROM up u CROSS JOIN context c ON c.process = u.process AND c.context = u.next
		LEFT JOIN text f ON f.id = c.function)
	SELECT p.name AS process, n.text AS object, u.context AS context, u.chain AS chain
	FROM up u CROSS JOIN process p ON p.process = u.process
	CROSS JOIN object o ON o.process = u.process AND o.object = u.object
	LEFT JOIN text n ON n.id = o.name
	WHERE u.next IS NULL;

CREATE VIEW evictions AS
	SELECT l.name AS level, fn.text AS function, fi.text AS file, s.line AS line,
		n.text AS evictor, vn.text AS victim, vfn.text AS victim_function,
		vfi.text AS victim_file, vs.line AS victim_line, e.count AS count, p.name AS process,
		e.prefetches AS prefetches
	FROM process p
	CROSS JOIN level l ON l.process = p.process
	CROSS JOIN eviction e ON e.process = l.process AND e.level = l.level
	LEFT JOIN place x ON x.process = e.process AND x.place = e.evictor
	LEFT JOIN site s ON s.id = x.site
	LEFT JOIN text fn ON fn.id = s.function
	LEFT JOIN text fi ON fi.id = s.file
	LEFT JOIN object o ON o.process = x.process AND o.object = x.object
	LEFT JOIN text n ON n.id = o.name
	LEFT JOIN place vx ON vx.process = e.process AND vx.place = e.victim
	LEFT JOIN site vs ON vs.id = vx.site
	LEFT JOIN text vfn ON vfn.id = vs.function
	LEFT JOIN text vfi ON vfi.id = vs.file
	LEFT JOIN object vo ON vo.process = vx.process AND vo.object = vx.object
	LEFT JOIN text vn ON vn.id = vo.name;

CREATE VIEW events AS
	SELECT p.name AS process, coalesce(l.name, 'memory') AS level,
		CASE e.kind WHEN 0 THEN 'hit' WHEN 1 THEN 'miss' WHEN 2 THEN 'load' WHEN 3 THEN 'replace'
			WHEN 4 THEN 'invalidate' WHEN 5 THEN 'prefetch' END AS event,
		CASE e.unit WHEN 1 THEN e.at END AS cache_set, CASE e.unit WHEN 2 THEN e.at END AS address,
		fn.text AS function, fi.text AS file, s.line AS line, n.text AS object,
		vn.text AS victim, vfn.text AS victim_function, vfi.text AS victim_file, vs.line AS victim_line,
		e.count AS count
	FROM process p
	CROSS JOIN event e ON e.process = p.process
	LEFT JOIN level l ON l.process = e.process AND l.level = e.level
	LEFT JOIN place x ON x.process = e.process AND x.place = e.maker
	LEFT JOIN site s ON s.id = x.site
	LEFT JOIN text fn ON fn.id = s.function
	LEFT JOIN text fi ON fi.id = s.file
	LEFT JOIN object o ON o.process = x.process AND o.object = x.object
	LEFT JOIN text n ON n.id = o.name
	LEFT JOIN place vx ON vx.process = e.process AND vx.place = e.victim
	LEFT JOIN site vs ON vs.id = vx.site
	LEFT JOIN text vfn ON vfn.id = vs.function
	LEFT JOIN text vfi ON vfi.id = vs.file
	LEFT JOIN object vo ON vo.process = vx.process AND vo.object = vx.object
	LEFT JOIN text vn ON vn.id = vo.name;

CREATE VIEW sets AS
	SELECT p.name AS process, l.name AS level, e.at AS cache_set,
		sum((e.kind = 2) * e.count) AS loads, sum((e.kind IN (3, 4)) * e.count) AS evictions,
		sum((e.kind = 5) * e.count) AS prefetches
	FROM process p
	CROSS JOIN level l ON l.process = p.process
	CROSS JOIN event e ON e.process = l.process AND e.level = l.level AND e.unit = 1
	GROUP BY e.process, e.level, e.at;

CREATE VIEW top_evictors AS
	SELECT l.name AS level, fn.text AS function, fi.text AS file, s.line AS line,
		n.text AS evictor, vn.text AS victim, vfn.text AS victim_function,
		vfi.text AS victim_file, vs.line AS victim_line, e.count AS count, p.name AS process,
		e.prefetches AS prefetches
	FROM process p
	CROSS JOIN level l ON l.process = p.process
	CROSS JOIN top_eviction e ON e.process = l.process AND e.level = l.level
	LEFT JOIN place x ON x.process = e.process AND x.place = e.evictor
	LEFT JOIN site s ON s.id = x.site
	LEFT JOIN text fn ON fn.id = s.function
	LEFT JOIN text fi ON fi.id = s.file
	LEFT JOIN object o ON o.process = x.process AND o.object = x.object
	LEFT JOIN text n ON n.id = o.name
	LEFT JOIN place vx ON vx.process = e.process AND vx.place = e.victim
	LEFT JOIN site vs ON vs.id = vx.site
	LEFT JOIN text vfn ON vfn.id = vs.function
	LEFT JOIN text vfi ON vfi.id = vs.file
	LEFT JOIN object vo ON vo.process = vx.process AND vo.object = vx.object
	LEFT JOIN text vn ON vn.id = vo.name;

CREATE VIEW threads AS
	SELECT p.name AS process, t.thread AS thread, t.core AS core
	FROM process p CROSS JOIN thread t ON t.process = p.process;
