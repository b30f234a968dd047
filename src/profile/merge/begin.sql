-- SPDX-License-Identifier: MIT
--
-- begin.sql - what a merge needs besides the tables of the profile that it makes: for each kind of row that has a number, a
-- table that finds it by what makes it the same in every run (KIND_key), and one from its number in the input at hand
-- (KIND_of). Triggers keep the former.

CREATE TEMP TABLE text_key(text TEXT PRIMARY KEY, id INTEGER) WITHOUT ROWID;
CREATE TEMP TRIGGER text_added AFTER INSERT ON main.text BEGIN
	INSERT INTO text_key VALUES(new.text, new.id);
END;

-- 0 stands for NULL, and for a base or user that is the site itself.
CREATE TEMP TABLE site_key(
	function INTEGER, file INTEGER, line INTEGER, base INTEGER, user INTEGER, library INTEGER, inlined INTEGER, module INTEGER,
	id INTEGER,
	PRIMARY KEY(function, file, line, base, user, library, inlined, module)) WITHOUT ROWID;
CREATE TEMP TRIGGER site_added AFTER INSERT ON main.site BEGIN
	INSERT INTO site_key VALUES(
		coalesce(new.function, 0), coalesce(new.file, 0), coalesce(new.line, 0), coalesce(new.base, 0),
		coalesce(new.user, 0), coalesce(new.library, 0), coalesce(new.inlined, 0), coalesce(new.module, 0), new.id);
	UPDATE site SET base = coalesce(new.base, new.id), user = coalesce(new.user, new.id) WHERE id = new.id;
END;

-- n: of objects that agree in all else, which one, in the order of their input.
CREATE TEMP TABLE object_key(
	process INTEGER, base TEXT, kind TEXT, allocated_at INTEGER, call INTEGER, n INTEGER, id INTEGER,
	PRIMARY KEY(process, base, kind, allocated_at, call, n)) WITHOUT ROWID;
CREATE TEMP TABLE object_name(process INTEGER, name INTEGER, PRIMARY KEY(process, name)) WITHOUT ROWID;

CREATE TEMP TABLE place_key(
	process INTEGER, site INTEGER, object INTEGER, region INTEGER, id INTEGER,
	PRIMARY KEY(process, site, object, region)) WITHOUT ROWID;
CREATE TEMP TRIGGER place_added AFTER INSERT ON main.place BEGIN
	INSERT INTO place_key VALUES(new.process, coalesce(new.site, 0), new.object, coalesce(new.region, 0), new.id);
END;

CREATE TEMP TABLE field_key(
	object INTEGER, type INTEGER, structure INTEGER, name INTEGER, offset INTEGER, id INTEGER,
	PRIMARY KEY(object, type, structure, name, offset)) WITHOUT ROWID;
CREATE TEMP TRIGGER field_added AFTER INSERT ON main.field BEGIN
	INSERT INTO field_key VALUES(new.object, coalesce(new.type, 0), new.structure, coalesce(new.name, 0), new.offset, new.id);
END;

CREATE TEMP TABLE instruction_key(
	module INTEGER, address INTEGER, place INTEGER, id INTEGER, PRIMARY KEY(module, address, place)) WITHOUT ROWID;
CREATE TEMP TRIGGER instruction_added AFTER INSERT ON main.instruction BEGIN
	INSERT INTO instruction_key VALUES(coalesce(new.module, 0), new.address, new.place, new.id);
END;

CREATE TEMP TABLE context_key(
	process INTEGER, parent INTEGER, function INTEGER, site INTEGER, context INTEGER,
	PRIMARY KEY(process, parent, function, site)) WITHOUT ROWID;

-- All strides and steps of a place, of which the end keeps the one that most followed.
CREATE TEMP TABLE stride_sum(process INTEGER, place INTEGER, stride INTEGER, followed INTEGER,
	PRIMARY KEY(process, place, stride)) WITHOUT ROWID;
CREATE TEMP TABLE step_sum(process INTEGER, place INTEGER, step INTEGER, followed INTEGER,
	PRIMARY KEY(process, place, step)) WITHOUT ROWID;

CREATE TEMP TABLE process_of(src INTEGER PRIMARY KEY, id INTEGER);
CREATE TEMP TABLE text_of(src INTEGER PRIMARY KEY, id INTEGER);
CREATE TEMP TABLE site_of(src INTEGER PRIMARY KEY, id INTEGER);
CREATE TEMP TABLE object_of(src INTEGER PRIMARY KEY, id INTEGER);
CREATE TEMP TABLE name_of(process INTEGER, name INTEGER, id INTEGER, PRIMARY KEY(process, name)) WITHOUT ROWID;
CREATE TEMP TABLE place_of(src INTEGER PRIMARY KEY, id INTEGER);
CREATE TEMP TABLE field_of(src INTEGER PRIMARY KEY, id INTEGER);
CREATE TEMP TABLE instruction_of(src INTEGER PRIMARY KEY, id INTEGER);
CREATE TEMP TABLE context_of(process INTEGER, src INTEGER, id INTEGER, PRIMARY KEY(process, src)) WITHOUT ROWID;
CREATE TEMP TABLE input_of(src INTEGER PRIMARY KEY, id INTEGER);
CREATE TEMP TABLE site_new(
	src INTEGER PRIMARY KEY, function INTEGER, file INTEGER, line INTEGER, base INTEGER, user INTEGER, library INTEGER,
	inlined INTEGER, module INTEGER);
CREATE TEMP TABLE place_new(
	src INTEGER PRIMARY KEY, process INTEGER, site INTEGER, object INTEGER, region INTEGER);

-- Rows without a key of their own are summed by one while inputs come.
CREATE UNIQUE INDEX merge_eviction ON eviction(level, victim, evictor);
CREATE UNIQUE INDEX merge_figure ON pass_figure(process, pass, object, name);
CREATE UNIQUE INDEX merge_message ON message(level, fabric, name);
