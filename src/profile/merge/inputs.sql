-- SPDX-License-Identifier: MIT
--
-- inputs.sql - what each input counted by itself.  An input that is a merged profile gives its own inputs; input_of has
-- their numbers, of another profile that of 0.

INSERT INTO main.input_level
	SELECT (SELECT id FROM temp.input_of), $LEVEL(l.id), $COUNTS(l) FROM src.level l
	WHERE NOT EXISTS (SELECT 1 FROM src.input) ON CONFLICT(input, level) DO UPDATE SET $SUMS;
INSERT INTO main.input_level
	SELECT $OF(input, i.input), $LEVEL(i.level), $COUNTS(i) FROM src.input_level i
	WHERE true ON CONFLICT(input, level) DO UPDATE SET $SUMS;
INSERT INTO main.input_cell
	SELECT (SELECT id FROM temp.input_of), $LEVEL(c.level), $OF(place, c.place), c.read_misses + c.write_misses, c.loads
	FROM src.cell c WHERE c.read_misses + c.write_misses + c.loads > 0 AND NOT EXISTS (SELECT 1 FROM src.input)
	ON CONFLICT(input, level, place) DO UPDATE SET misses = misses + excluded.misses, loads = loads + excluded.loads;
INSERT INTO main.input_cell
	SELECT $OF(input, c.input), $LEVEL(c.level), $OF(place, c.place), c.misses, c.loads FROM src.input_cell c
	WHERE true ON CONFLICT(input, level, place) DO UPDATE SET misses = misses + excluded.misses,
		loads = loads + excluded.loads;
