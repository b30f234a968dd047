-- SPDX-License-Identifier: MIT
--
-- sites.sql - the sites of an input, attached as src: those that have no number yet, and whose base has one or is the site
-- itself. It runs twice, since a base and a user are sites that are their own.

INSERT INTO temp.site_new
	SELECT s.id, coalesce($OF(text, s.function), 0), coalesce($OF(text, s.file), 0), coalesce(s.line, 0),
		coalesce($OF(site, s.base), 0), coalesce($OF(site, s.user), 0), coalesce(s.library, 0),
		coalesce($OF(text, s.inlined), 0), coalesce($OF(text, s.module), 0)
	FROM src.site s WHERE s.id NOT IN (SELECT src FROM temp.site_of)
		AND (s.base = s.id OR s.base IN (SELECT src FROM temp.site_of));
INSERT INTO main.site(function, file, line, base, user, library, inlined, module)
	SELECT nullif(function, 0), nullif(file, 0), nullif(line, 0), nullif(base, 0), nullif(user, 0), nullif(library, 0),
		nullif(inlined, 0), nullif(module, 0)
	FROM temp.site_new LEFT JOIN temp.site_key k USING(function, file, line, base, user, library, inlined, module)
	WHERE k.id IS NULL ORDER BY src;
INSERT INTO temp.site_of SELECT src, k.id FROM temp.site_new CROSS JOIN temp.site_key k
	USING(function, file, line, base, user, library, inlined, module);
DELETE FROM temp.site_new;
