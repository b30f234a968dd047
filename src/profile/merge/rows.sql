-- SPDX-License-Identifier: MIT
--
-- rows.sql - the rows of an input, attached as src, whose processes, names, objects and contexts have their numbers: added to
-- those that are there.  Left out is what belongs to one run and cannot be summed: its timeline and phases, single addresses, other
-- orders of its threads, memory that was moved, estimates, samples of a simulated PMU.

INSERT OR IGNORE INTO main.distance_bin SELECT * FROM src.distance_bin;
INSERT INTO main.level
	SELECT $LEVEL(l.id), $OF(process, l.process), l.name, l.size, l.ways, l.line_size, l.sets, l.policy, l.side, $COUNTS(l),
		l.pages, l.huge_pages, l.sector_size, l.prefetch, l.protocol, l.nodes
	FROM src.level l WHERE true ON CONFLICT(id) DO UPDATE SET $SUMS;
INSERT INTO main.thread SELECT $OF(process, t.process), t.thread, t.core FROM src.thread t
	WHERE true ON CONFLICT(process, thread) DO UPDATE SET core = CASE WHEN core IS excluded.core THEN core END;
INSERT INTO main.region
	SELECT $OF(process, r.process), coalesce($OF(text, r.name), 0), $OF(text, r.name), r.entries, r.instructions, NULL
	FROM src.region r
	WHERE true ON CONFLICT(process, region) DO UPDATE SET
		entries = entries + excluded.entries, instructions = instructions + excluded.instructions;
INSERT OR IGNORE INTO main.module_undebugged SELECT $OF(process, m.process), m.module FROM src.module_undebugged m;
INSERT INTO main.source
	SELECT $OF(text, s.file), s.bytes, s.modified, s.md5, s.newer, s.text, s.compiled FROM src.source s
	WHERE true ON CONFLICT(file) DO UPDATE SET newer = CASE WHEN md5 IS excluded.md5 THEN newer ELSE 1 END;

DELETE FROM temp.place_new;
INSERT INTO temp.place_new
	SELECT p.id, $OF(process, p.process), coalesce($OF(site, p.site), 0), coalesce(n.id, 0),
		coalesce($OF(text, p.region), 0)
	FROM src.place p LEFT JOIN temp.name_of n ON n.process = p.process AND n.name = p.object;
INSERT INTO main.place(process, site, object, region)
	SELECT DISTINCT process, nullif(site, 0), object, nullif(region, 0)
	FROM temp.place_new LEFT JOIN temp.place_key k USING(process, site, object, region) WHERE k.id IS NULL ORDER BY src;
DELETE FROM temp.place_of;
INSERT INTO temp.place_of
	SELECT src, k.id FROM temp.place_new CROSS JOIN temp.place_key k USING(process, site, object, region);

-- A cell of which no access to a field was sampled is one without a field (view field_counts), also beside one of another
-- input that has some: field 0.
INSERT INTO main.field_cell
	SELECT m.level, m.thread, m.place, 0, $COUNTS(m)
	FROM (SELECT DISTINCT $LEVEL(c.level) AS level, c.thread AS thread, $OF(place, c.place) AS place FROM src.field_cell c) k
	CROSS JOIN main.cell m ON m.level = k.level AND m.thread = k.thread AND m.place = k.place
	WHERE NOT EXISTS (
		SELECT 1 FROM main.field_cell f WHERE f.level = k.level AND f.thread = k.thread AND f.place = k.place);
INSERT INTO main.cell
	SELECT $LEVEL(c.level), c.thread, $OF(place, c.place), $COUNTS(c) FROM src.cell c
	WHERE true ON CONFLICT(level, thread, place) DO UPDATE SET $SUMS;
INSERT INTO main.extra
	SELECT $LEVEL(e.level), e.thread, $OF(place, e.place), $EXTRAS(e) FROM src.extra e
	WHERE true ON CONFLICT(level, thread, place) DO UPDATE SET $EXTRA_SUMS;
INSERT INTO main.eviction
	SELECT $LEVEL(e.level), $OF(place, e.victim), $OF(place, e.evictor), e.count, e.prefetches FROM src.eviction e
	WHERE true ON CONFLICT(level, victim, evictor) DO UPDATE SET
		count = count + excluded.count, prefetches = prefetches + excluded.prefetches;
INSERT INTO main.pass_figure
	SELECT $OF(process, f.process), f.pass, coalesce(n.id, 0), f.name, f.value
	FROM src.pass_figure f LEFT JOIN temp.name_of n ON n.process = f.process AND n.name = f.object
	WHERE true ON CONFLICT(process, pass, object, name) DO UPDATE SET value = value + excluded.value;
INSERT INTO main.message SELECT $LEVEL(m.level), m.fabric, m.name, m.count, m.bytes FROM src.message m
	WHERE true ON CONFLICT(level, fabric, name) DO UPDATE SET
		count = count + excluded.count, bytes = bytes + excluded.bytes;
INSERT INTO main.sample
	SELECT $OF(process, s.process), s.thread, $OF(place, s.place), $OF(text, s.event), s.operation, s.served, s.missed,
		s.snoop, s.tlb, s.locked, s.latency_low, s.latency_high, s.count, s.latency, $OF(text, s.type), $OF(text, s.field),
		s.shared
	FROM src.sample s;
INSERT INTO main.event
	SELECT $OF(process, e.process), $LEVEL(e.level), e.unit, e.at, e.kind, $OF(place, e.maker),
		coalesce($OF(place, e.victim), -1), e.count
	FROM src.event e WHERE e.unit < 2
	ON CONFLICT(process, level, unit, at, kind, maker, victim) DO UPDATE SET count = count + excluded.count;

INSERT INTO main.pattern
	SELECT $OF(process, p.process), $OF(place, p.place), p.sampled, 0, 0, p.halved FROM src.pattern p
	WHERE true ON CONFLICT(process, place) DO UPDATE SET
		sampled = sampled + excluded.sampled, halved = halved + excluded.halved;
INSERT INTO temp.stride_sum
	SELECT $OF(process, p.process), $OF(place, p.place), p.stride, p.followed FROM temp.src_stride p
	WHERE true ON CONFLICT(process, place, stride) DO UPDATE SET followed = followed + excluded.followed;
INSERT INTO main.walk SELECT $OF(process, w.process), $OF(place, w.place), w.loads, 0, 0 FROM src.walk w
	WHERE true ON CONFLICT(process, place) DO UPDATE SET loads = loads + excluded.loads;
INSERT INTO temp.step_sum
	SELECT $OF(process, w.process), $OF(place, w.place), w.step, w.followed FROM temp.src_step w
	WHERE true ON CONFLICT(process, place, step) DO UPDATE SET followed = followed + excluded.followed;

DELETE FROM temp.field_of;
INSERT INTO main.field(object, type, structure, name, offset, bytes, sampled, residencies, used, field_type)
	SELECT DISTINCT $OF(object, f.object) AS o, $OF(text, f.type) AS t, f.structure, $OF(text, f.name) AS n, f.offset,
		f.bytes, 0, 0, 0, $OF(text, f.field_type)
	FROM src.field f WHERE NOT EXISTS (
		SELECT 1 FROM temp.field_key k WHERE k.object = o AND k.type = coalesce(t, 0) AND k.structure = f.structure
			AND k.name = coalesce(n, 0) AND k.offset = f.offset)
	ORDER BY f.id;
INSERT INTO temp.field_of
	SELECT f.id, k.id FROM src.field f CROSS JOIN temp.field_key k ON k.object = $OF(object, f.object)
		AND k.type = coalesce($OF(text, f.type), 0) AND k.structure = f.structure
		AND k.name = coalesce($OF(text, f.name), 0) AND k.offset = f.offset;
UPDATE main.field SET sampled = field.sampled + n.sampled, residencies = field.residencies + n.residencies, used = field.used + n.used
	FROM (SELECT o.id AS id, sum(f.sampled) AS sampled, sum(f.residencies) AS residencies, sum(f.used) AS used
		FROM src.field f CROSS JOIN temp.field_of o ON o.src = f.id GROUP BY o.id) n WHERE n.id = field.id;
INSERT INTO main.field_pair
	SELECT $OF(field, p.field), $OF(field, p.other), p.together, p.apart, p.visits, p.both FROM src.field_pair p
	WHERE true ON CONFLICT(field, other) DO UPDATE SET together = together + excluded.together,
		apart = apart + excluded.apart, visits = visits + excluded.visits, both = both + excluded.both;
INSERT INTO main.field_cell
	SELECT $LEVEL(c.level), c.thread, $OF(place, c.place), coalesce($OF(field, c.field), 0), $COUNTS(c) FROM src.field_cell c
	WHERE true ON CONFLICT(level, thread, place, field) DO UPDATE SET $SUMS;
INSERT INTO main.field_cell
	SELECT $LEVEL(c.level) AS l, c.thread, $OF(place, c.place) AS p, 0, $COUNTS(c) FROM src.cell c
	WHERE NOT EXISTS (SELECT 1 FROM src.field_cell f WHERE f.level = c.level AND f.thread = c.thread AND f.place = c.place)
		AND EXISTS (SELECT 1 FROM main.field_cell f WHERE f.level = l AND f.thread = c.thread AND f.place = p)
	ON CONFLICT(level, thread, place, field) DO UPDATE SET $SUMS;
INSERT INTO main.object_lines
	SELECT $OF(object, l.object), l.lines, l.residencies, l.accesses, l.hot, l.hot_residencies, l.idle FROM src.object_lines l
	WHERE true ON CONFLICT(object) DO UPDATE SET lines = lines + excluded.lines, residencies = residencies + excluded.residencies,
		accesses = accesses + excluded.accesses, hot = hot + excluded.hot, hot_residencies = hot_residencies + excluded.hot_residencies,
		idle = idle + excluded.idle;

INSERT INTO main.context_cell
	SELECT $LEVEL(c.level), $CONTEXT(c), c.thread, $OF(place, c.place), $COUNTS(c) FROM src.context_cell c
	WHERE true ON CONFLICT(level, context, thread, place) DO UPDATE SET $SUMS;
INSERT INTO main.context_sum SELECT $LEVEL(c.level), $CONTEXT(c), $COUNTS(c) FROM src.context_sum c
	WHERE true ON CONFLICT(level, context) DO UPDATE SET $SUMS;
INSERT OR IGNORE INTO main.bucket
	SELECT $OF(object, b.object), x.id FROM src.bucket b CROSS JOIN src.object o ON o.id = b.object
	CROSS JOIN temp.context_of x ON x.process = o.process AND x.src = b.context;

INSERT OR IGNORE INTO main.distance_run
	SELECT $OF(process, r.process), r.line_size, $LEVEL(r.level), r.beyond FROM src.distance_run r;
INSERT INTO main.distance
	SELECT $OF(process, d.process), d.thread, $OF(place, d.place), d.unit, d.bin, d.count FROM src.distance d
	WHERE true ON CONFLICT(process, thread, place, unit, bin) DO UPDATE SET count = count + excluded.count;
INSERT INTO main.reuse
	SELECT $OF(process, r.process), $OF(place, r.place), $OF(place, r.previous), r.bin, r.count FROM src.reuse r
	WHERE true ON CONFLICT(process, place, previous, bin) DO UPDATE SET count = count + excluded.count;

DELETE FROM temp.instruction_of;
INSERT INTO main.instruction(module, address, place)
	SELECT DISTINCT $OF(text, i.module) AS m, i.address, $OF(place, i.place) AS p FROM src.instruction i WHERE NOT EXISTS (
		SELECT 1 FROM temp.instruction_key k WHERE k.module = coalesce(m, 0) AND k.address = i.address AND k.place = p)
	ORDER BY i.id;
INSERT INTO temp.instruction_of
	SELECT i.id, k.id FROM src.instruction i CROSS JOIN temp.instruction_key k
		ON k.module = coalesce($OF(text, i.module), 0) AND k.address = i.address AND k.place = $OF(place, i.place);
INSERT INTO main.instruction_cell
	SELECT $LEVEL(c.level), c.thread, $OF(instruction, c.instruction), $COUNTS(c) FROM src.instruction_cell c
	WHERE true ON CONFLICT(level, thread, instruction) DO UPDATE SET $SUMS;
INSERT INTO main.instruction_field
	SELECT $OF(process, f.process), $OF(instruction, f.instruction), $OF(text, f.type), $OF(text, f.field), f.accesses
	FROM src.instruction_field f
	WHERE true ON CONFLICT(instruction, type, field) DO UPDATE SET accesses = accesses + excluded.accesses;
INSERT OR IGNORE INTO main.code_block
	SELECT $OF(process, c.process), $OF(text, c.module), c.address, $OF(text, c.function), c.bytes FROM src.code_block c;
INSERT OR IGNORE INTO main.code_line
	SELECT $OF(process, c.process), $OF(text, c.module), c.address, $OF(text, c.function), $OF(text, c.file), c.line
	FROM src.code_line c;
