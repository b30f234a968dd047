-- SPDX-License-Identifier: MIT
--
-- end.sql - what follows from the sums of all inputs.  Beside max(), SQLite takes the other columns of the row that has it.
-- A merged profile keeps all strides and steps, so that a merge of merged profiles chooses as one of all their inputs does.

DROP INDEX merge_eviction;
DROP INDEX merge_figure;
DROP INDEX merge_message;
INSERT INTO top_eviction
	SELECT level, victim, evictor, count, prefetches FROM (
		SELECT level, victim, evictor, max(count) AS count, prefetches FROM eviction GROUP BY level, victim);
UPDATE pattern SET stride = s.stride, followed = s.followed
	FROM (SELECT process, place, stride, max(followed) AS followed FROM temp.stride_sum GROUP BY process, place) s
	WHERE s.process = pattern.process AND s.place = pattern.place;
UPDATE walk SET step = s.step, followed = s.followed
	FROM (SELECT process, place, step, max(followed) AS followed FROM temp.step_sum GROUP BY process, place) s
	WHERE s.process = walk.process AND s.place = walk.place;
CREATE TABLE main.stride_sum AS SELECT * FROM temp.stride_sum;
CREATE TABLE main.step_sum AS SELECT * FROM temp.step_sum;
