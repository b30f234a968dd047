-- SPDX-License-Identifier: MIT
--
-- names.sql - the texts and sites of an input, attached as src.

DELETE FROM temp.text_of;
INSERT INTO main.text(text) SELECT s.text FROM src.text s
	WHERE NOT EXISTS (SELECT 1 FROM temp.text_key k WHERE k.text = s.text) ORDER BY s.id;
INSERT INTO temp.text_of SELECT s.id, k.id FROM src.text s CROSS JOIN temp.text_key k ON k.text = s.text;

-- First the sites that are their own base and user: the others refer to them.
DELETE FROM temp.site_of;
INSERT INTO temp.site_new
	SELECT s.id, coalesce($OF(text, s.function), 0), coalesce($OF(text, s.file), 0), coalesce(s.line, 0), 0, 0,
		coalesce(s.library, 0), coalesce($OF(text, s.inlined), 0), coalesce($OF(text, s.module), 0)
	FROM src.site s WHERE s.base = s.id AND s.user = s.id;
INSERT INTO main.site(function, file, line, base, user, library, inlined, module)
	SELECT nullif(function, 0), nullif(file, 0), nullif(line, 0), nullif(base, 0), nullif(user, 0), nullif(library, 0),
		nullif(inlined, 0), nullif(module, 0)
	FROM temp.site_new LEFT JOIN temp.site_key k USING(function, file, line, base, user, library, inlined, module)
	WHERE k.id IS NULL ORDER BY src;
INSERT INTO temp.site_of SELECT src, k.id FROM temp.site_new CROSS JOIN temp.site_key k
	USING(function, file, line, base, user, library, inlined, module);
DELETE FROM temp.site_new;

INSERT INTO temp.site_new
	SELECT s.id, coalesce($OF(text, s.function), 0), coalesce($OF(text, s.file), 0), coalesce(s.line, 0), $OF(site, s.base), $OF(site, s.user),
		coalesce(s.library, 0), coalesce($OF(text, s.inlined), 0), coalesce($OF(text, s.module), 0)
	FROM src.site s WHERE s.base <> s.id OR s.user <> s.id;
INSERT INTO main.site(function, file, line, base, user, library, inlined, module)
	SELECT nullif(function, 0), nullif(file, 0), nullif(line, 0), nullif(base, 0), nullif(user, 0), nullif(library, 0),
		nullif(inlined, 0), nullif(module, 0)
	FROM temp.site_new LEFT JOIN temp.site_key k USING(function, file, line, base, user, library, inlined, module)
	WHERE k.id IS NULL ORDER BY src;
INSERT INTO temp.site_of SELECT src, k.id FROM temp.site_new CROSS JOIN temp.site_key k
	USING(function, file, line, base, user, library, inlined, module);
DELETE FROM temp.site_new;
