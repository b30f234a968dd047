-- SPDX-License-Identifier: MIT
--
-- names.sql - the texts of an input, attached as src.

DELETE FROM temp.text_of;
INSERT INTO main.text(text) SELECT s.text FROM src.text s
	WHERE NOT EXISTS (SELECT 1 FROM temp.text_key k WHERE k.text = s.text) ORDER BY s.id;
INSERT INTO temp.text_of SELECT s.id, k.id FROM src.text s CROSS JOIN temp.text_key k ON k.text = s.text;
DELETE FROM temp.site_of;
