// SPDX-License-Identifier: MIT
// sums.ts - statistics of a recorded run, and the misses over all of it; src/debugger/answers/statistics.c has the same.
import type { RowName, Statistics, Strip } from "../types";
import { HIT, MISS } from "./moment";
import { CLASSES, EVICTIONS, FIGURES, MISSES, REFERENCES } from "./picture";
import { NotRecorded, type Recording } from "./recording";

const MOST_ROWS = 1000;
const FIGURE_COLUMNS = ["references", "misses", "reuses", "ratio", "cold", "capacity", "conflict", "coherence", "evictions",
	"interval_references", "interval_misses", "interval_reuses", "interval_ratio"];

export const STATISTICS_BY = ["total", "object", "reference", "set", "line"] as const;
export type By = (typeof STATISTICS_BY)[number];

interface Row { name: RowName; until: number[]; before: number[] }

const zeros = (): number[] => new Array<number>(FIGURES).fill(0);

function add(to: number[], sums: ArrayLike<number> | null, row: number): void {
	for (let i = 0; sums && i < FIGURES; i++) to[i]! += sums[row * FIGURES + i]!;
}

function hasFigures(sums: ArrayLike<number>, row: number): boolean {
	for (let i = 0; i < FIGURES; i++) if (sums[row * FIGURES + i]) return true;
	return false;
}

function answerRow({ name, until, before }: Row): [RowName, ...number[]] {
	const [references, misses] = [until[REFERENCES]!, until[MISSES]!];
	const [newReferences, newMisses] = [references - before[REFERENCES]!, misses - before[MISSES]!];
	return [name, references, misses, references - misses, references ? misses / references : 0,
		...until.slice(CLASSES + 1, EVICTIONS + 1),
		newReferences, newMisses, newReferences - newMisses, newReferences ? newMisses / newReferences : 0];
}

function answer(rows: Row[], by: By): Statistics {
	const order = rows.map((_, i) => i);
	if (by !== "set")
		order.sort((a, b) => rows[b]!.until[MISSES]! - rows[a]!.until[MISSES]! ||
			rows[b]!.until[REFERENCES]! - rows[a]!.until[REFERENCES]! || a - b);
	const shown = by === "set" ? order : order.slice(0, MOST_ROWS);
	const rest: Row = { name: "(rest)", until: zeros(), before: zeros() };
	for (const i of order.slice(shown.length)) {
		add(rest.until, rows[i]!.until, 0);
		add(rest.before, rows[i]!.before, 0);
	}
	return {
		columns: [by, ...FIGURE_COLUMNS], rows: shown.map((i) => answerRow(rows[i]!)), total_rows: rows.length,
		rest: rest.until[REFERENCES] ? answerRow(rest) as Statistics["rest"] : null,
	};
}

/** In which row the sums of a key go. */
function rowOf(run: Recording, by: By, key: number): number {
	const { keys, session } = run.description;
	return by === "total" ? 0 : by === "object" ? keys.object[key] ?? session.objects.length : keys.row[key]!;
}

function nameOf(run: Recording, by: By, row: number): RowName {
	if (by === "total") return "total";
	if (by === "set") return row;
	if (by === "object") return run.description.session.objects[row]?.name ?? null;
	const { line, thread } = run.description.keys;
	return { function: run.functionOf(row), file: run.fileOf(row), line: line[row]!, object: run.objectOf(row), thread: thread[row]! };
}

export async function statistics(run: Recording, level: number, by: By, from: number, to: number): Promise<Statistics> {
	if (by === "line") return byLine(run, level, from, to);
	const [before, until] = [await run.sumsAt(from), await run.sumsAt(to)].map((sums) =>
		(sums ? (by === "set" ? sums[level]!.bySet : sums[level]!.byKey) : null));
	const { keys, levels } = run.description;
	const count = by === "set" ? levels[level]!.sets : keys.row.length;
	const rows: Row[] = [];   // with gaps: of many keys nothing was referenced yet
	if (by === "total") rows.push({ name: null, until: zeros(), before: zeros() });
	for (let i = 0; i < count; i++) {
		if (by !== "set" && !(until && hasFigures(until, i))) continue;
		const row = rows[by === "set" ? i : rowOf(run, by, i)] ??= { name: null, until: zeros(), before: zeros() };
		add(row.until, until ?? null, i);
		add(row.before, before ?? null, i);
	}
	rows.forEach((row, i) => { row.name = nameOf(run, by, i); });
	return answer(rows.filter(({ until: sums }) =>
		by === "set" || by === "total" || sums[REFERENCES] || sums[EVICTIONS]), by);
}

/** Lines of memory: counted by going through the interval once more. */
async function byLine(run: Recording, level: number, from: number, to: number): Promise<Statistics> {
	const tape = run.tapes.find((one) => one.from <= from && to <= one.to && (one === run.tape || from < to)) ??
		run.tapeOf(to);
	if (!tape || from < tape.from)
		throw new NotRecorded(`This file does not hold reference ${from + 1}: ${run.hint}`);
	await tape.load(to);
	const lines = new Map<number, { key: number; references: number; misses: number }>();
	const moment = tape.at(from);
	while (moment.position < to) {
		tape.step(moment);
		for (const { level: of, kind, line } of moment.effects) {
			if (of !== level || (kind !== HIT && kind !== MISS)) continue;
			const one = lines.get(line) ?? { key: 0, references: 0, misses: 0 };
			lines.set(line, one);
			one.key = tape.keyAt(moment.position);
			one.references++;
			one.misses += kind === MISS ? 1 : 0;
		}
	}
	const rows = [...lines].map(([address, { key, references, misses }]): Row => {
		const until = zeros();
		until[REFERENCES] = references;
		until[MISSES] = misses;
		return { name: { address, object: run.objectOf(key) }, until, before: zeros() };
	});
	return answer(rows, "line");
}

/** Bins of the run are merged; where less than a bin is asked for, a bin is as fine as it gets. */
export function strip(run: Recording, from: number, to: number, bins: number): Strip {
	const { bin: size, misses } = run.description;
	const first = Math.floor(from / size);
	const last = Math.ceil(to / size);
	const step = Math.floor((last - first + bins - 1) / bins);
	const answered: Strip = { bins: [] };
	for (let bin = first; bin < last; bin += step) {
		const next = Math.min(last, bin + step);
		const begin = bin * size;
		const end = Math.min(run.total, next * size);
		let sum = 0;
		for (let i = bin; i < next; i++) sum += misses[i] ?? 0;
		answered.bins.push({ from: begin, to: end, references: end - begin, misses: sum });
	}
	return answered;
}

