-- SPDX-License-Identifier: MIT
--
-- views.sql - the views of a profile, which are a promise: see docs/format/profile.md.
--
-- $COUNTS(c) stands for the columns of counts.def, of table c.  $PLACE(c.place) joins the place x with its site s, function
-- fn, file fi and object n; $PLACE(c.place, v) the same as vx, vs, vfn, vfi and vn; $USERS_PLACE the same with the site of
-- the user's code.  $USER(s) stands for the columns of the user's code at the site s, which $USERS(s) joins.

CREATE VIEW info AS SELECT key, value FROM entry;

CREATE VIEW processes AS
	SELECT name AS process, path, command, exit_status, instructions, refs, lost_words, repeated FROM process;

CREATE VIEW instructions AS
	SELECT p.name AS process, c.thread AS thread, l.name AS level, m.text AS module,
		i.address AS address, fn.text AS function, fi.text AS file, s.line AS line, n.text AS object,
		$COUNTS(c),
		rg.text AS region, ph.text AS phase
	FROM level l
	CROSS JOIN process p ON p.id = l.process
	CROSS JOIN instruction_cell c ON c.level = l.id
	LEFT JOIN instruction i ON i.id = c.instruction
	LEFT JOIN text m ON m.id = i.module
	$PLACE(i.place);

CREATE VIEW instruction_fields AS
	SELECT p.name AS process, m.text AS module, i.address AS address, n.text AS object, t.text AS type,
		f.text AS field, c.accesses AS accesses
	FROM process p CROSS JOIN instruction_field c ON c.process = p.id
	JOIN instruction i ON i.id = c.instruction
	LEFT JOIN text m ON m.id = i.module
	LEFT JOIN place x ON x.id = i.place
	LEFT JOIN text n ON n.id = x.object
	LEFT JOIN text t ON t.id = c.type
	LEFT JOIN text f ON f.id = c.field;

CREATE VIEW code AS
	SELECT m.text AS module, c.address AS address, f.text AS function, c.bytes AS bytes, p.name AS process
	FROM process p CROSS JOIN code_block c ON c.process = p.id
	LEFT JOIN text m ON m.id = c.module
	LEFT JOIN text f ON f.id = c.function;

CREATE VIEW code_lines AS
	SELECT m.text AS module, c.address AS address, fn.text AS function, fi.text AS file, c.line AS line,
		p.name AS process
	FROM process p CROSS JOIN code_line c ON c.process = p.id
	LEFT JOIN text m ON m.id = c.module
	LEFT JOIN text fn ON fn.id = c.function
	LEFT JOIN text fi ON fi.id = c.file;

CREATE VIEW sources AS
	SELECT f.text AS file, s.bytes AS bytes, s.modified AS modified, s.md5 AS md5, s.newer AS newer,
		s.text AS text, s.compiled AS compiled
	FROM source s CROSS JOIN text f ON f.id = s.file;

CREATE VIEW modules AS
	SELECT p.name AS process, m.path AS module, m.name AS name, m.build_id AS build_id
	FROM process p CROSS JOIN module m ON m.process = p.id;

CREATE VIEW undebugged AS
	SELECT p.name AS process, m.module AS module
	FROM process p CROSS JOIN module_undebugged m ON m.process = p.id;

CREATE VIEW pass_figures AS
	SELECT p.name AS process, f.pass AS pass, n.text AS object, f.name AS name, f.value AS value
	FROM process p CROSS JOIN pass_figure f ON f.process = p.id
	LEFT JOIN text n ON n.id = f.object;

CREATE VIEW levels AS
	SELECT l.name AS level, l.size AS size, l.ways AS ways, l.line_size AS line_size,
		l.sets AS sets, l.policy AS policy, l.reads AS reads, l.writes AS writes,
		l.read_misses AS read_misses, l.write_misses AS write_misses, l.cold AS cold,
		l.capacity AS capacity, l.conflict AS conflict, l.coherence AS coherence,
		l.loads AS loads, l.evictions AS evictions, l.writebacks AS writebacks,
		p.name AS process, l.side AS side, l.id % 64 AS position, l.pages AS pages,
		l.huge_pages AS huge_pages, l.sector_size AS sector_size, l.prefetch AS prefetch,
		l.protocol AS protocol
	FROM level l CROSS JOIN process p ON p.id = l.process;

CREATE VIEW objects AS
	SELECT n.text AS object, o.kind AS kind, t.text AS type, o.bytes AS bytes,
		o.blocks AS blocks, o.largest AS largest, a.text AS allocated_at, p.name AS process
	FROM object o CROSS JOIN process p ON p.id = o.process
	LEFT JOIN text n ON n.id = o.name
	LEFT JOIN text t ON t.id = o.type
	LEFT JOIN text a ON a.id = o.allocated_at;

CREATE VIEW regions AS
	SELECT p.name AS process, t.text AS region, r.entries AS entries, r.instructions AS instructions, h.text AS phase
	FROM process p CROSS JOIN region r ON r.process = p.id
	LEFT JOIN text t ON t.id = r.name
	LEFT JOIN text h ON h.id = r.phase;

CREATE VIEW counts AS
	SELECT p.name AS process, c.thread AS thread, l.name AS level, fn.text AS function,
		fi.text AS file, s.line AS line, n.text AS object,
		$COUNTS(c),
		$USER(s),
		rg.text AS region, ph.text AS phase
	FROM level l
	CROSS JOIN process p ON p.id = l.process
	CROSS JOIN cell c ON c.level = l.id
	$PLACE(c.place)
	$USERS(s);

CREATE VIEW sectors AS
	SELECT p.name AS process, c.thread AS thread, l.name AS level, fn.text AS function,
		fi.text AS file, s.line AS line, n.text AS object, c.sector_misses AS sector_misses,
		$USER(s),
		rg.text AS region, ph.text AS phase
	FROM level l
	CROSS JOIN process p ON p.id = l.process
	CROSS JOIN extra c ON c.level = l.id AND c.sector_misses > 0
	$PLACE(c.place)
	$USERS(s);

CREATE VIEW prefetches AS
	SELECT p.name AS process, c.thread AS thread, l.name AS level, fn.text AS function,
		fi.text AS file, s.line AS line, n.text AS object, c.prefetches AS prefetches,
		c.useful AS useful, c.late_evicted AS late_evicted, c.pollution AS pollution,
		$USER(s),
		rg.text AS region, ph.text AS phase,
		c.redundant AS redundant, c.late AS late
	FROM level l
	CROSS JOIN process p ON p.id = l.process
	CROSS JOIN extra c ON c.level = l.id AND (c.prefetches > 0 OR c.redundant > 0)
	$PLACE(c.place)
	$USERS(s);

CREATE VIEW non_temporal AS
	SELECT p.name AS process, c.thread AS thread, l.name AS level, fn.text AS function,
		fi.text AS file, s.line AS line, n.text AS object, c.non_temporal AS stores,
		$USER(s),
		rg.text AS region, ph.text AS phase
	FROM level l
	CROSS JOIN process p ON p.id = l.process
	CROSS JOIN extra c ON c.level = l.id AND c.non_temporal > 0
	$PLACE(c.place)
	$USERS(s);

CREATE VIEW sites AS
	SELECT p.name AS process, fn.text AS function, fi.text AS file, s.line AS line, n.text AS object,
		t.sampled AS sampled, t.stride AS stride, t.followed AS followed, t.halved AS halved, t.place AS place,
		$USER(s),
		rg.text AS region, ph.text AS phase
	FROM process p
	CROSS JOIN pattern t ON t.process = p.id
	$PLACE(t.place)
	$USERS(s);

CREATE VIEW walks AS
	SELECT p.name AS process, fn.text AS function, fi.text AS file, s.line AS line, n.text AS object,
		t.loads AS loads, t.step AS step, t.followed AS followed, t.place AS place,
		$USER(s),
		rg.text AS region, ph.text AS phase
	FROM process p
	CROSS JOIN walk t ON t.process = p.id
	$PLACE(t.place)
	$USERS(s);

CREATE VIEW fields AS
	SELECT p.name AS process, n.text AS object, t.text AS type, f.structure AS structure,
		m.text AS field, f.offset AS offset, f.bytes AS bytes, f.sampled AS sampled,
		f.residencies AS residencies, f.used AS used, ft.text AS field_type
	FROM field f
	CROSS JOIN object o ON o.id = f.object
	CROSS JOIN process p ON p.id = o.process
	LEFT JOIN text n ON n.id = o.name
	LEFT JOIN text t ON t.id = f.type
	LEFT JOIN text m ON m.id = f.name
	LEFT JOIN text ft ON ft.id = f.field_type;

CREATE VIEW affinity AS
	SELECT p.name AS process, n.text AS object, t.text AS type, m.text AS field, mo.text AS other,
		f.offset AS offset, g.offset AS other_offset, a.together AS together, a.apart AS apart,
		a.visits AS visits, a.both AS both
	FROM field_pair a
	CROSS JOIN field f ON f.id = a.field
	CROSS JOIN field g ON g.id = a.other
	CROSS JOIN object o ON o.id = f.object
	CROSS JOIN process p ON p.id = o.process
	LEFT JOIN text n ON n.id = o.name
	LEFT JOIN text t ON t.id = f.type
	LEFT JOIN text m ON m.id = f.name
	LEFT JOIN text mo ON mo.id = g.name;

CREATE VIEW hot_lines AS
	SELECT p.name AS process, n.text AS object, l.lines AS lines, l.residencies AS residencies,
		l.accesses AS accesses, l.hot AS hot, l.hot_residencies AS hot_residencies, l.idle AS idle
	FROM object_lines l
	CROSS JOIN object o ON o.id = l.object
	CROSS JOIN process p ON p.id = o.process
	LEFT JOIN text n ON n.id = o.name;

-- Cells of which no access to a field was sampled are rows without one.
CREATE VIEW field_counts AS
	SELECT p.name AS process, c.thread AS thread, l.name AS level, fn.text AS function,
		fi.text AS file, s.line AS line, n.text AS object,
		$COUNTS(c),
		t.text AS type, m.text AS field,
		$USER(s),
		rg.text AS region, ph.text AS phase
	FROM level l
	CROSS JOIN process p ON p.id = l.process
	CROSS JOIN field_cell c ON c.level = l.id
	LEFT JOIN field f ON f.id = c.field
	LEFT JOIN text t ON t.id = f.type
	LEFT JOIN text m ON m.id = f.name
	$PLACE(c.place)
	$USERS(s)
	UNION ALL
	SELECT p.name AS process, c.thread AS thread, l.name AS level, fn.text AS function,
		fi.text AS file, s.line AS line, n.text AS object,
		$COUNTS(c),
		NULL AS type, NULL AS field,
		$USER(s),
		rg.text AS region, ph.text AS phase
	FROM level l
	CROSS JOIN process p ON p.id = l.process
	CROSS JOIN cell c ON c.level = l.id AND NOT EXISTS (
		SELECT 1 FROM field_cell d WHERE d.level = c.level AND d.thread = c.thread AND
			d.place = c.place)
	$PLACE(c.place)
	$USERS(s);

CREATE VIEW contexts AS
	SELECT p.name AS process, l.name AS level, c.context AS context, c.parent AS parent,
		fn.text AS function, cfn.text AS caller, fi.text AS file, s.line AS line, c.calls AS calls,
		$COUNTS(t),
		$USER(s)
	FROM level l
	CROSS JOIN process p ON p.id = l.process
	CROSS JOIN context_sum t ON t.level = l.id
	LEFT JOIN context c ON c.process = l.process AND c.context = t.context
	LEFT JOIN text fn ON fn.id = c.function
	LEFT JOIN site s ON s.id = c.site
	LEFT JOIN text cfn ON cfn.id = s.function
	LEFT JOIN text fi ON fi.id = s.file
	$USERS(s);

CREATE VIEW context_counts AS
	SELECT p.name AS process, c.thread AS thread, l.name AS level, c.context AS context,
		fn.text AS function, fi.text AS file, s.line AS line, n.text AS object,
		$COUNTS(c),
		$USER(s),
		rg.text AS region, ph.text AS phase
	FROM level l
	CROSS JOIN process p ON p.id = l.process
	CROSS JOIN context_cell c ON c.level = l.id
	LEFT JOIN context k ON k.process = l.process AND k.context = c.context
	$PLACE(c.place)
	$USERS(s, CASE WHEN s.library THEN coalesce(k.user, s.user) ELSE s.user END);

CREATE VIEW buckets AS
	WITH RECURSIVE up(object, context, process, next, chain) AS (
		SELECT b.object, b.context, o.process, c.parent, f.text
		FROM bucket b CROSS JOIN object o ON o.id = b.object
		CROSS JOIN context c ON c.process = o.process AND c.context = b.context
		LEFT JOIN text f ON f.id = c.function
		UNION ALL
		SELECT u.object, u.context, u.process, c.parent,
			CASE WHEN c.parent IS NULL THEN u.chain ELSE coalesce(f.text, '?') || ' / ' || u.chain END
		FROM up u CROSS JOIN context c ON c.process = u.process AND c.context = u.next
		LEFT JOIN text f ON f.id = c.function)
	SELECT p.name AS process, n.text AS object, u.context AS context, u.chain AS chain
	FROM up u CROSS JOIN process p ON p.id = u.process
	CROSS JOIN object o ON o.id = u.object
	LEFT JOIN text n ON n.id = o.name
	WHERE u.next IS NULL;

CREATE VIEW evictions AS
	SELECT l.name AS level, fn.text AS function, fi.text AS file, s.line AS line,
		n.text AS evictor, vn.text AS victim, vfn.text AS victim_function,
		vfi.text AS victim_file, vs.line AS victim_line, e.count AS count, p.name AS process,
		e.prefetches AS prefetches,
		$USER(s), $USER(vs),
		rg.text AS region, vrg.text AS victim_region, ph.text AS phase, vph.text AS victim_phase,
		ep.name AS evictor_process
	FROM eviction e
	CROSS JOIN level l ON l.id = e.level
	CROSS JOIN process p ON p.id = l.process
	$PLACE(e.evictor)
	LEFT JOIN process ep ON ep.id = x.process
	$PLACE(e.victim, v)
	$USERS(s)
	$USERS(vs);

CREATE VIEW events AS
	SELECT p.name AS process, coalesce(l.name, 'memory') AS level,
		CASE e.kind WHEN 0 THEN 'hit' WHEN 1 THEN 'miss' WHEN 2 THEN 'load' WHEN 3 THEN 'replace'
			WHEN 4 THEN 'invalidate' WHEN 5 THEN 'prefetch' END AS event,
		CASE e.unit WHEN 1 THEN e.at END AS cache_set, CASE e.unit WHEN 2 THEN e.at END AS address,
		fn.text AS function, fi.text AS file, s.line AS line, n.text AS object,
		vn.text AS victim, vfn.text AS victim_function, vfi.text AS victim_file, vs.line AS victim_line,
		e.count AS count,
		rg.text AS region, vrg.text AS victim_region, ph.text AS phase, vph.text AS victim_phase
	FROM process p
	CROSS JOIN event e ON e.process = p.id
	LEFT JOIN level l ON l.id = e.level
	$PLACE(e.maker)
	$PLACE(e.victim, v);

CREATE VIEW sets AS
	SELECT p.name AS process, l.name AS level, e.at AS cache_set,
		sum((e.kind = 2) * e.count) AS loads, sum((e.kind IN (3, 4)) * e.count) AS evictions,
		sum((e.kind = 5) * e.count) AS prefetches
	FROM level l
	CROSS JOIN process p ON p.id = l.process
	CROSS JOIN event e ON e.process = l.process AND e.level = l.id AND e.unit = 1
	GROUP BY e.process, e.level, e.at;

CREATE VIEW top_evictors AS
	SELECT l.name AS level, fn.text AS function, fi.text AS file, s.line AS line,
		n.text AS evictor, vn.text AS victim, vfn.text AS victim_function,
		vfi.text AS victim_file, vs.line AS victim_line, e.count AS count, p.name AS process,
		e.prefetches AS prefetches, e.victim AS victim_place,
		$USER(s), $USER(vs),
		rg.text AS region, vrg.text AS victim_region, ph.text AS phase, vph.text AS victim_phase
	FROM top_eviction e
	CROSS JOIN level l ON l.id = e.level
	CROSS JOIN process p ON p.id = l.process
	$PLACE(e.evictor)
	$PLACE(e.victim, v)
	$USERS(s)
	$USERS(vs);

CREATE VIEW threads AS
	SELECT p.name AS process, t.thread AS thread, t.core AS core
	FROM process p CROSS JOIN thread t ON t.process = p.id;

-- `counts` with numbers in the place of texts, and what they stand for.
CREATE VIEW cells AS
	SELECT p.name AS process, c.thread AS thread, l.name AS level, c.place AS place, s.base AS site,
		x.object AS name, $COUNTS(c), s.user AS user_site, x.site AS chain_site,
		rg.text AS region, ph.text AS phase
	FROM level l
	LEFT JOIN process p ON p.id = l.process
	CROSS JOIN cell c ON c.level = l.id
	LEFT JOIN place x ON x.id = c.place
	LEFT JOIN site s ON s.id = x.site
	LEFT JOIN text rg ON rg.id = x.region
	LEFT JOIN text ph ON ph.id = x.phase;

CREATE VIEW places AS
	SELECT x.id AS place, s.base AS site, x.object AS name, fn.text AS function, fi.text AS file,
		s.line AS line, n.text AS object,
		$USER(s), s.user AS user_site, x.site AS chain_site,
		rg.text AS region, ph.text AS phase
	FROM place x
	LEFT JOIN site s ON s.id = x.site
	LEFT JOIN text rg ON rg.id = x.region
	LEFT JOIN text ph ON ph.id = x.phase
	LEFT JOIN text fn ON fn.id = s.function
	LEFT JOIN text fi ON fi.id = s.file
	LEFT JOIN text n ON n.id = x.object
	$USERS(s);

CREATE VIEW distances AS
	SELECT p.name AS process, d.thread AS thread, fn.text AS function, fi.text AS file, s.line AS line,
		n.text AS object, CASE d.unit WHEN 0 THEN 'lines' ELSE 'references' END AS unit,
		b.low AS low, b.high AS high, d.count AS count, d.place AS place, r.line_size AS line_size,
		rg.text AS region, ph.text AS phase
	FROM process p
	CROSS JOIN distance_run r ON r.process = p.id
	CROSS JOIN distance d ON d.process = p.id
	CROSS JOIN distance_bin b ON b.bin = d.bin
	$USERS_PLACE(d.place);

CREATE VIEW reuses AS
	SELECT p.name AS process, fn.text AS function, fi.text AS file, s.line AS line, n.text AS object,
		vfn.text AS previous_function, vfi.text AS previous_file, vs.line AS previous_line,
		vn.text AS previous_object, b.low AS low, b.high AS high, e.count AS count,
		e.place AS place, e.previous AS previous_place, r.line_size AS line_size,
		rg.text AS region, ph.text AS phase
	FROM process p
	CROSS JOIN distance_run r ON r.process = p.id
	CROSS JOIN reuse e ON e.process = p.id
	CROSS JOIN distance_bin b ON b.bin = e.bin
	$USERS_PLACE(e.place)
	$USERS_PLACE(e.previous, v);

-- Stack distances of each scope: from `edge` lines on `hits` of `count` references hit.  What is cold or beyond never does.
CREATE VIEW scope_distances AS
	WITH d AS NOT MATERIALIZED (
		SELECT d.process AS process, d.thread AS thread, d.place AS place, d.count AS count,
			coalesce(b.high + 1, 1) AS edge, (b.high IS NOT NULL) * d.count AS hits,
			(b.low IS NULL) * d.count AS cold
		FROM distance d CROSS JOIN distance_bin b ON b.bin = d.bin WHERE d.unit = 0)
	SELECT 'total' AS scope, process, process AS name, edge, sum(count) AS count, sum(hits) AS hits,
		sum(cold) AS cold
	FROM d GROUP BY process, edge
	UNION ALL
	SELECT 'thread', process, thread, edge, sum(count), sum(hits), sum(cold)
	FROM d GROUP BY process, thread, edge
	UNION ALL
	SELECT 'object', d.process, x.object, edge, sum(count), sum(hits), sum(cold)
	FROM d CROSS JOIN place x ON x.id = d.place GROUP BY d.process, x.object, edge
	UNION ALL
	SELECT 'function', d.process, s.function, edge, sum(count), sum(hits), sum(cold)
	FROM d CROSS JOIN place x ON x.id = d.place CROSS JOIN site z ON z.id = x.site CROSS JOIN site s ON s.id = z.user
	GROUP BY d.process, s.function, edge
	UNION ALL
	SELECT 'line', d.process, coalesce(t.text || ':' || s.line, n.text) AS source, edge, sum(count), sum(hits), sum(cold)
	FROM d CROSS JOIN place x ON x.id = d.place CROSS JOIN site z ON z.id = x.site CROSS JOIN site s ON s.id = z.user
	LEFT JOIN text t ON t.id = s.file LEFT JOIN text n ON n.id = s.function GROUP BY d.process, source, edge
	UNION ALL
	SELECT 'field', d.process, t.text || '.' || m.text, edge, sum(count * share), sum(hits * share),
		sum(cold * share)
	FROM d CROSS JOIN distance_run r ON r.process = d.process
	CROSS JOIN (
		SELECT f.level, f.thread, f.place, f.field,
			1.0 * (f.reads + f.writes) / nullif(c.reads + c.writes, 0) AS share
		FROM field_cell f CROSS JOIN cell c
			ON c.level = f.level AND c.thread = f.thread AND c.place = f.place
		WHERE f.field > 0) g ON g.level = r.level AND g.thread = d.thread AND g.place = d.place
	CROSS JOIN field f ON f.id = g.field
	LEFT JOIN text t ON t.id = f.type
	LEFT JOIN text m ON m.id = f.name
	GROUP BY d.process, t.text, m.text, edge;

-- A row where a curve falls: misses are the references that hit in no cache of up to `size` bytes.
CREATE VIEW curve AS
	SELECT c.scope AS scope, CASE c.scope WHEN 'total' THEN p.name WHEN 'object' THEN t.text WHEN 'function'
		THEN t.text ELSE c.name END AS name,
		c.edge * r.line_size AS size, 1.0 * (c.refs - c.hits) / c.refs AS miss_ratio,
		1.0 * (c.refs - c.hits) / c.refs AS low, 1.0 * (c.refs - c.hits) / c.refs AS high,
		CAST(c.refs AS INTEGER) AS samples, 'exact' AS method, 'lru' AS policy,
		1.0 * c.cold / c.refs AS cold_ratio, CAST(c.refs AS INTEGER) AS refs, p.name AS process
	FROM (
		SELECT scope, process, name, edge,
			sum(hits) OVER (PARTITION BY scope, process, name ORDER BY edge) AS hits,
			sum(count) OVER (PARTITION BY scope, process, name) AS refs,
			sum(cold) OVER (PARTITION BY scope, process, name) AS cold
		FROM scope_distances) c
	CROSS JOIN process p ON p.id = c.process
	CROSS JOIN distance_run r ON r.process = c.process
	LEFT JOIN text t ON t.id = c.name AND c.scope IN ('object', 'function')
	UNION ALL
	SELECT e.scope AS scope, CASE e.scope WHEN 'total' THEN p.name WHEN 'thread' THEN e.name ELSE t.text END AS name,
		e.size AS size, e.miss_ratio AS miss_ratio, e.low AS low,
		e.high AS high, e.samples AS samples, e.method AS method, e.policy AS policy,
		e.cold_ratio AS cold_ratio, NULL AS refs, p.name AS process
	FROM estimate e
	CROSS JOIN process p ON p.id = e.process
	LEFT JOIN text t ON t.id = e.name AND e.scope <> 'thread';

CREATE VIEW coherence AS
	SELECT p.name AS process, c.thread AS thread, l.name AS level, fn.text AS function,
		fi.text AS file, s.line AS line, n.text AS object, c.coherence AS coherence,
		c.coherence - c.false_sharing - c.unneeded AS true_sharing, c.false_sharing AS false_sharing,
		c.unneeded AS unneeded, c.false_first AS false_first, c.false_words AS false_words,
		rg.text AS region, ph.text AS phase
	FROM level l
	CROSS JOIN process p ON p.id = l.process
	CROSS JOIN extra c ON c.level = l.id AND c.coherence > 0
	$USERS_PLACE(c.place);

-- The same by every order of the threads.
CREATE VIEW schedule_sharing AS
	SELECT p.name AS process, l.name AS level, t.block AS block, t.offset AS offset, t.bytes AS bytes,
		t.thread AS thread, h.core AS core, fn.text AS function, fi.text AS file, s.line AS line,
		n.text AS object, y.text AS type, f.text AS field, t.structure AS structure,
		t.field_offset AS field_offset, t.position AS position, t.reads AS reads, t.writes AS writes,
		t.misses AS misses, t.false_misses AS false_misses, t.invalidations AS invalidations,
		xp.name AS thread_process, t.schedule AS schedule
	FROM level l
	CROSS JOIN process p ON p.id = l.process
	CROSS JOIN touch t ON t.level = l.id
	LEFT JOIN text y ON y.id = t.type
	LEFT JOIN text f ON f.id = t.field
	$USERS_PLACE(t.place)
	LEFT JOIN process xp ON xp.id = x.process
	LEFT JOIN thread h ON h.process = x.process AND h.thread = t.thread;

CREATE VIEW sharing AS
	SELECT process, level, block, offset, bytes, thread, core, function, file, line, object, type, field, structure,
		field_offset, position, reads, writes, misses, false_misses, invalidations, thread_process
	FROM schedule_sharing WHERE schedule = 0;

CREATE VIEW schedule_contenders AS
	SELECT p.name AS process, l.name AS level, c.block AS block, c.thread AS thread, h.core AS core,
		fn.text AS function, fi.text AS file, s.line AS line, n.text AS object,
		c.victim_thread AS victim_thread, vh.core AS victim_core, vfn.text AS victim_function,
		vfi.text AS victim_file, vs.line AS victim_line, vn.text AS victim,
		c.invalidations AS invalidations, c.interventions AS interventions,
		c.writebacks AS writebacks, c.upgrades AS upgrades, c.schedule AS schedule,
		c.offset AS offset, y.text AS type, f.text AS field,
		c.victim_offset AS victim_offset, vy.text AS victim_type, vf.text AS victim_field,
		xp.name AS thread_process, vxp.name AS victim_process
	FROM level l
	CROSS JOIN process p ON p.id = l.process
	CROSS JOIN contender c ON c.level = l.id
	LEFT JOIN text y ON y.id = c.type
	LEFT JOIN text f ON f.id = c.field
	LEFT JOIN text vy ON vy.id = c.victim_type
	LEFT JOIN text vf ON vf.id = c.victim_field
	$USERS_PLACE(c.place)
	$USERS_PLACE(c.victim, v)
	LEFT JOIN process xp ON xp.id = x.process
	LEFT JOIN process vxp ON vxp.id = vx.process
	LEFT JOIN thread h ON h.process = x.process AND h.thread = c.thread
	LEFT JOIN thread vh ON vh.process = vx.process AND vh.thread = c.victim_thread;

CREATE VIEW contenders AS
	SELECT process, level, block, thread, core, function, file, line, object, victim_thread, victim_core,
		victim_function, victim_file, victim_line, victim, invalidations, interventions, writebacks, upgrades,
		offset, type, field, victim_offset, victim_type, victim_field, thread_process, victim_process
	FROM schedule_contenders WHERE schedule = 0;

CREATE VIEW schedule_latent AS
	SELECT p.name AS process, l.name AS level, t.line_size AS line_size, t.earlier AS earlier,
		t.address AS address, t.bytes AS bytes, t.thread AS thread, h.core AS core, fn.text AS function,
		fi.text AS file, s.line AS line, n.text AS object, y.text AS type, f.text AS field,
		t.other_address AS other_address, t.other_bytes AS other_bytes, t.other_thread AS other_thread,
		oh.core AS other_core, ofn.text AS other_function, ofi.text AS other_file, os.line AS other_line,
		o.text AS other_object, oy.text AS other_type, of.text AS other_field, t.misses AS misses,
		t.schedule AS schedule
	FROM level l
	CROSS JOIN process p ON p.id = l.process
	CROSS JOIN latent_pair t ON t.level = l.id
	LEFT JOIN thread h ON h.process = l.process AND h.thread = t.thread
	LEFT JOIN thread oh ON oh.process = l.process AND oh.thread = t.other_thread
	LEFT JOIN text y ON y.id = t.type
	LEFT JOIN text f ON f.id = t.field
	LEFT JOIN text oy ON oy.id = t.other_type
	LEFT JOIN text of ON of.id = t.other_field
	$USERS_PLACE(t.place)
	LEFT JOIN place ox ON ox.id = t.other
	LEFT JOIN site oz ON oz.id = ox.site
	LEFT JOIN site os ON os.id = oz.user
	LEFT JOIN text ofn ON ofn.id = os.function
	LEFT JOIN text ofi ON ofi.id = os.file
	LEFT JOIN text o ON o.id = ox.object;

CREATE VIEW latent AS
	SELECT process, level, line_size, earlier, address, bytes, thread, core, function, file, line, object, type, field,
		other_address, other_bytes, other_thread, other_core, other_function, other_file, other_line, other_object,
		other_type, other_field, misses
	FROM schedule_latent WHERE schedule = 0;

CREATE VIEW schedules AS
	SELECT p.name AS process, s.schedule AS schedule, s.rule AS rule, s.stalls AS stalls
	FROM process p CROSS JOIN schedule s ON s.process = p.id;

CREATE VIEW schedule_levels AS
	SELECT p.name AS process, l.name AS level, c.schedule AS schedule, $COUNTS(c), l.id % 64 AS position
	FROM level l CROSS JOIN process p ON p.id = l.process
	CROSS JOIN schedule_level c ON c.level = l.id;

CREATE VIEW schedule_coherence AS
	SELECT p.name AS process, c.thread AS thread, l.name AS level, fn.text AS function,
		fi.text AS file, s.line AS line, n.text AS object, c.coherence AS coherence,
		c.coherence - c.false_sharing - c.unneeded AS true_sharing, c.false_sharing AS false_sharing,
		c.unneeded AS unneeded, c.schedule AS schedule,
		rg.text AS region, ph.text AS phase
	FROM level l
	CROSS JOIN process p ON p.id = l.process
	CROSS JOIN schedule_extra c ON c.level = l.id
	$USERS_PLACE(c.place);

CREATE VIEW relocations AS
	SELECT p.name AS process, l.name AS level, fn.text AS function, fi.text AS file, s.line AS line,
		n.text AS object, j.key AS relocation, j.value AS misses,
		rg.text AS region, ph.text AS phase
	FROM level l
	CROSS JOIN process p ON p.id = l.process
	CROSS JOIN relocated c ON c.level = l.id
	$USERS_PLACE(c.place)
	CROSS JOIN json_each(c.misses) j;

CREATE VIEW pmu_samplers AS
	SELECT p.name AS process, m.sampler AS number, m.name AS sampler, l.name AS level, m.rule AS rule,
		m.period AS period, m.seed AS seed, m.shadow AS shadow, m.handler AS handler,
		m.interrupts AS interrupts, m.tagged_accesses AS tagged_accesses,
		m.program_misses AS program_misses, m.handler_misses AS handler_misses
	FROM process p
	CROSS JOIN pmu_sampler m ON m.process = p.id
	CROSS JOIN level l ON l.id = m.level;

CREATE VIEW pmu_samples AS
	SELECT p.name AS process, m.sampler AS number, m.name AS sampler, l.name AS level, fn.text AS function,
		fi.text AS file, s.line AS line, n.text AS object, vn.text AS victim, vfn.text AS victim_function,
		vfi.text AS victim_file, vs.line AS victim_line, e.count AS count,
		$USER(s), $USER(vs)
	FROM process p
	CROSS JOIN pmu_sample e ON e.process = p.id
	CROSS JOIN pmu_sampler m ON m.process = p.id AND m.sampler = e.sampler
	CROSS JOIN level l ON l.id = m.level
	$PLACE(e.place)
	$PLACE(e.victim, v)
	$USERS(s)
	$USERS(vs);

CREATE VIEW messages AS
	SELECT p.name AS process, l.name AS level, l.protocol AS protocol, m.fabric AS fabric,
		m.name AS message, m.count AS count, m.bytes AS bytes
	FROM level l
	CROSS JOIN process p ON p.id = l.process
	CROSS JOIN message m ON m.level = l.id;

CREATE VIEW numa AS
	SELECT p.name AS process, c.thread AS thread, l.name AS level, fn.text AS function,
		fi.text AS file, s.line AS line, n.text AS object, c.loads AS loads,
		coalesce(e.remote, 0) AS remote,
		rg.text AS region, ph.text AS phase
	FROM level l
	CROSS JOIN process p ON p.id = l.process
	CROSS JOIN cell c ON c.level = l.id AND c.loads > 0
	LEFT JOIN extra e ON e.level = c.level AND e.thread = c.thread AND e.place = c.place
	$USERS_PLACE(c.place)
	WHERE l.nodes > 1;

-- What stack distances predict of objects in sets that lines fall into at random, beside what was simulated.
CREATE VIEW predictions AS
	SELECT p.name AS process, l.name AS level, n.text AS object, f.value AS predicted, c.misses AS misses,
		c.refs AS refs, 1.0 * (f.value - c.misses) / nullif(c.refs, 0) AS error
	FROM process p
	CROSS JOIN pass_figure f ON f.process = p.id AND f.pass = 'predicted misses'
	CROSS JOIN level l ON l.process = p.id AND l.name = f.name
	CROSS JOIN (
		SELECT d.level AS level, x.object AS object, sum(d.read_misses + d.write_misses) AS misses,
			sum(d.reads + d.writes) AS refs
		FROM cell d CROSS JOIN place x ON x.id = d.place GROUP BY d.level, x.object) c
		ON c.level = l.id AND c.object = f.object
	LEFT JOIN text n ON n.id = f.object;

CREATE VIEW samples AS
	SELECT p.name AS process, c.thread AS thread, fn.text AS function, fi.text AS file, s.line AS line,
		n.text AS object, e.text AS event, c.operation AS operation, c.served AS served, c.missed AS missed,
		c.snoop AS snoop, c.tlb AS tlb, c.locked AS locked, c.latency_low AS latency_low,
		c.latency_high AS latency_high, c.count AS count, c.latency AS latency, $USER(s),
		t.text AS type, m.text AS field, c.shared AS shared
	FROM process p
	CROSS JOIN sample c ON c.process = p.id
	LEFT JOIN text e ON e.id = c.event
	LEFT JOIN text t ON t.id = c.type
	LEFT JOIN text m ON m.id = c.field
	$PLACE(c.place)
	$USERS(s);

CREATE VIEW timeline AS
	SELECT p.name AS process, c.interval AS interval, l.name AS level, i.begin AS begin,
		i.instructions AS instructions, c.reads AS reads, c.writes AS writes, c.read_misses AS read_misses,
		c.write_misses AS write_misses, c.cold AS cold, c.capacity AS capacity, c.conflict AS conflict,
		c.coherence AS coherence, c.loads AS loads, i.working_set AS working_set, n.text AS object,
		fn.text AS function, fi.text AS file, s.line AS line
	FROM level l
	CROSS JOIN process p ON p.id = l.process
	CROSS JOIN interval_level c ON c.level = l.id
	CROSS JOIN interval i ON i.process = l.process AND i.interval = c.interval
	LEFT JOIN text n ON n.id = c.object
	$SITE(c.site);

CREATE VIEW timeline_objects AS
	SELECT p.name AS process, c.interval AS interval, l.name AS level, n.text AS object,
		c.read_misses AS read_misses, c.write_misses AS write_misses, c.loads AS loads
	FROM level l
	CROSS JOIN process p ON p.id = l.process
	CROSS JOIN interval_object c ON c.level = l.id
	LEFT JOIN text n ON n.id = c.object;

CREATE VIEW timeline_lines AS
	SELECT p.name AS process, c.interval AS interval, l.name AS level, fn.text AS function,
		fi.text AS file, s.line AS line, c.read_misses AS read_misses, c.write_misses AS write_misses,
		c.loads AS loads
	FROM level l
	CROSS JOIN process p ON p.id = l.process
	CROSS JOIN interval_line c ON c.level = l.id
	$SITE(c.site);

CREATE VIEW phases AS
	SELECT p.name AS process, h.phase AS phase, h.name AS name, t.interval AS interval, t.intervals AS intervals,
		min(i.begin) AS begin, sum(i.instructions) AS instructions, n.text AS object, fn.text AS function,
		fi.text AS file, s.line AS line
	FROM process p
	CROSS JOIN stretch t ON t.process = p.id
	CROSS JOIN interval i ON i.process = p.id AND i.interval >= t.interval AND i.interval < t.interval + t.intervals
	CROSS JOIN phase h ON h.process = p.id AND h.phase = t.phase
	LEFT JOIN text n ON n.id = h.object
	$SITE(h.site)
	GROUP BY t.process, t.interval;

-- The profiles that a merged one was made of.
CREATE VIEW inputs AS
	SELECT name AS input, file, rank, host, command, exit_status, instructions, refs, lost_words, alike,
		id AS position
	FROM input;

CREATE VIEW input_levels AS
	SELECT i.name AS input, p.name AS process, l.name AS level, $COUNTS(c), l.id % 64 AS position
	FROM input i CROSS JOIN input_level c ON c.input = i.id
	CROSS JOIN level l ON l.id = c.level
	CROSS JOIN process p ON p.id = l.process;

CREATE VIEW input_counts AS
	SELECT i.name AS input, p.name AS process, l.name AS level, fn.text AS function, fi.text AS file, s.line AS line,
		n.text AS object, c.misses AS misses, c.loads AS loads
	FROM input i CROSS JOIN input_cell c ON c.input = i.id
	CROSS JOIN level l ON l.id = c.level
	CROSS JOIN process p ON p.id = l.process
	$USERS_PLACE(c.place);

-- An input without a row has 0.  Beside max(), SQLite takes `input` from the row that has it.
CREATE VIEW spread_objects AS
	SELECT p.name AS process, l.name AS level, n.text AS object, t.inputs AS inputs, sum(c.misses) AS misses,
		CASE WHEN count(*) < t.inputs THEN 0 ELSE min(c.misses) END AS least,
		1.0 * sum(c.misses) / t.inputs AS mean, max(c.misses) AS greatest, i.name AS greatest_input
	FROM (SELECT c.level AS level, c.input AS input, x.object AS object, sum(c.misses) AS misses
		FROM input_cell c CROSS JOIN place x ON x.id = c.place GROUP BY c.level, c.input, x.object) c
	CROSS JOIN (SELECT level, count(*) AS inputs FROM input_level GROUP BY level) t ON t.level = c.level
	CROSS JOIN level l ON l.id = c.level
	CROSS JOIN process p ON p.id = l.process
	CROSS JOIN input i ON i.id = c.input
	LEFT JOIN text n ON n.id = c.object
	GROUP BY c.level, c.object;

CREATE VIEW spread_lines AS
	SELECT p.name AS process, l.name AS level, fn.text AS function, fi.text AS file, s.line AS line, t.inputs AS inputs,
		sum(c.misses) AS misses, CASE WHEN count(*) < t.inputs THEN 0 ELSE min(c.misses) END AS least,
		1.0 * sum(c.misses) / t.inputs AS mean, max(c.misses) AS greatest, i.name AS greatest_input
	FROM (SELECT c.level AS level, c.input AS input, z.user AS site, sum(c.misses) AS misses
		FROM input_cell c CROSS JOIN place x ON x.id = c.place LEFT JOIN site z ON z.id = x.site
		GROUP BY c.level, c.input, z.user) c
	CROSS JOIN (SELECT level, count(*) AS inputs FROM input_level GROUP BY level) t ON t.level = c.level
	CROSS JOIN level l ON l.id = c.level
	CROSS JOIN process p ON p.id = l.process
	CROSS JOIN input i ON i.id = c.input
	$SITE(c.site)
	GROUP BY c.level, c.site;
