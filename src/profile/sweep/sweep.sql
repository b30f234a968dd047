-- SPDX-License-Identifier: MIT
--
-- sweep.sql - what the file of a sweep has beyond the tables and views of a profile. A task that is done has the number of its
-- process.

CREATE TABLE task(
	id INTEGER PRIMARY KEY, kind TEXT, input TEXT, settings TEXT, bytes INTEGER, modified INTEGER,
	machine TEXT, level TEXT, policy TEXT, size INTEGER, spec TEXT, work REAL,
	state TEXT, seconds REAL, worker INTEGER, remark TEXT, entered INTEGER,
	UNIQUE(kind, input, settings, spec));
CREATE TABLE sweep_run(
	id INTEGER PRIMARY KEY, ended INTEGER, workers INTEGER, tasks INTEGER, messages INTEGER, bytes INTEGER,
	seconds REAL, busy REAL);

CREATE VIEW tasks AS
	SELECT t.id AS task, t.state AS state, t.kind AS kind, t.input AS input, t.settings AS settings,
		t.machine AS machine, t.level AS level, t.size AS size, t.policy AS policy,
		l.reads AS reads, l.writes AS writes, l.read_misses AS read_misses, l.write_misses AS write_misses,
		l.cold AS cold, l.capacity AS capacity, l.conflict AS conflict,
		p.name AS process, t.spec AS spec, t.work AS work, t.seconds AS seconds, t.worker AS worker,
		t.remark AS remark
	FROM task t LEFT JOIN process p ON p.id = t.id
	LEFT JOIN level l ON l.id BETWEEN t.id * 64 AND t.id * 64 + 63 AND l.name = t.level;

CREATE VIEW sweep_runs AS
	SELECT id AS run, ended, workers, tasks, messages, bytes, seconds, busy FROM sweep_run;

DROP VIEW info;
CREATE VIEW info AS
	SELECT key, value FROM entry UNION ALL
	SELECT 'processes', count(*) FROM process UNION ALL
	SELECT 'instructions', coalesce(sum(instructions), 0) FROM process UNION ALL
	SELECT 'references', coalesce(sum(refs), 0) FROM process;

-- A point for each size of the level that varies.
DROP VIEW curve;
CREATE VIEW curve AS
	SELECT 'total' AS scope, policy || ' ' || level || ' of ' || machine AS name, size,
		1.0 * (read_misses + write_misses) / nullif(reads + writes, 0) AS miss_ratio,
		1.0 * (read_misses + write_misses) / nullif(reads + writes, 0) AS low,
		1.0 * (read_misses + write_misses) / nullif(reads + writes, 0) AS high,
		reads + writes AS samples, 'simulated' AS method, policy,
		1.0 * cold / nullif(reads + writes, 0) AS cold_ratio, reads + writes AS refs,
		trim(input || ' ' || settings) AS process
	FROM tasks WHERE state = 'done';
