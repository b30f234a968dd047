// SPDX-License-Identifier: MIT
// statistics.tsx - the statistics windows: misses, references and reuses by object, reference, line of
// memory, set or in all; of all references so far, or of the last interval.
import { csv, useSheet, type Sheet } from "../../common/csv";
import { brief, full, percent } from "../../common/format";
import { download } from "../../common/save";
import { classColors } from "../../common/colors";
import { Drawing } from "../draw/drawing";
import { rowName, rowObject, rowPlace, rowThread } from "../names";
import type { RowName, Statistics } from "../types";
import { STATISTICS, type StatisticsBy } from "../view";
import { LINES_INTERVAL, type Watch } from "../watch";

const INTERVALS = [0, 100, 1_000, 10_000, 100_000, 1_000_000];
const INTERVAL = "interval_";
/** Rows that are drawn: they change five times a second while it runs. */
const DRAWN = 100;
const MISSES = classColors["conflict"]!;

export function StatisticsPanel({ watch }: { watch: Watch }) {
	const { statistics: by, interval, position } = watch.view;
	const statistics = watch.statistics!;
	const save = () => download(`statistics-by-${by}-at-${position}.csv`, new Blob([csv(sheetOf(watch))]));
	useSheet(sheetOf(watch));
	return (
		<section class="panel statistics" aria-label="Statistics">
			<div class="heading">
				<h2>Statistics</h2>
				<label>by <select value={by} onChange={(event) =>
					void watch.look({ statistics: event.currentTarget.value as StatisticsBy })}>
					{STATISTICS.map((choice) => <option key={choice}>{choice}</option>)}
				</select></label>
				<label>of <select value={interval || (by === "line" ? LINES_INTERVAL : 0)} onChange={(event) =>
					void watch.look({ interval: Number(event.currentTarget.value) })}>
					{INTERVALS.filter((count) => count || by !== "line").map((count) => <option key={count} value={count}>{intervalName(count)}</option>)}
				</select></label>
				<button type="button" onClick={save}>CSV</button>
			</div>
			{by === "set" && <MissesBySet statistics={statistics} ofInterval={interval > 0} />}
			<Table watch={watch} columns={shownColumns(statistics, interval > 0)} />
		</section>
	);
}

/** A reference that crosses lines may load two, and is one miss. */
const OF_LINES = new Set(["cold", "capacity", "conflict", "coherence", "evictions"]);

const BARS = 90;

/** Paper 2's distribution of misses: a bar for each set. */
function MissesBySet({ statistics: { rows, columns }, ofInterval }: { statistics: Statistics; ofInterval: boolean }) {
	const misses = columns.indexOf(ofInterval ? `${INTERVAL}misses` : "misses");
	const counts = rows.map((row) => row[misses] as number);
	const most = Math.max(1, ...counts);
	return (
		<Drawing name="misses-by-set" height={() => BARS} label={`Misses of each of ${rows.length} sets, at most ${most}`}
			draw={(surface, width) => counts.forEach((count, set) => {
				const tall = Math.round((count / most) * BARS);
				const step = width / counts.length;
				surface.rect(set * step, BARS - tall, Math.max(1, step * 0.8), tall, MISSES);
			})} />
	);
}

function intervalName(count: number): string {
	return count ? `the last ${full(count)}` : "all so far";
}

/** Numbers of the columns: of the interval, or of all; of the classes those that occur. */
function shownColumns({ columns, rows }: Statistics, ofInterval: boolean): number[] {
	return columns.map((_, i) => i).filter((i) => {
		if (i === 0) return false;
		if (columns[i]!.startsWith(INTERVAL) !== ofInterval) return false;
		return i <= 4 || ofInterval || rows.some((row) => row[i]);
	});
}

/** Whether rows are told apart by their threads. */
const hasThreads = (rows: Statistics["rows"]) => new Set(rows.map(([name]) => rowThread(name))).size > 1;

function sheetOf(watch: Watch): Sheet {
	const { columns, rows } = watch.statistics!;
	const hasObjects = rows.some(([name]) => rowObject(name) !== null);
	const ofThreads = hasThreads(rows);
	const [by = "", ...figureNames] = columns;
	return {
		headings: [by, ...(hasObjects ? ["object"] : []), ...(ofThreads ? ["thread"] : []), ...figureNames],
		rows: rows.map(([name, ...figures]) =>
			[rowName(name, watch.session.kind), ...(hasObjects ? [rowObject(name)] : []), ...(ofThreads ? [rowThread(name)] : []), ...figures]),
	};
}

const mostMissesFirst = (rows: Statistics["rows"], misses: number) =>
	[...rows].sort((a, b) => (b[misses] as number) - (a[misses] as number));

function Table({ watch, columns: shown }: { watch: Watch; columns: number[] }) {
	const { columns, rows, rest, total_rows } = watch.statistics!;
	const by = watch.view.statistics;
	const heading = (column: string) => column.replace(INTERVAL, "");
	const figure = (column: string, value: number) => (heading(column) === "ratio" ? percent(value) : full(value));
	// A line of a program may access several objects, with a row for each; a reference of a nest names its own.
	const objectOf = (name: RowName) => {
		const object = watch.session.kind === "nest" ? null : rowObject(name);
		return object && <span class="fine" title={object}>{` ${brief(object)}`}</span>;
	};
	const ofThreads = hasThreads(rows);
	const threadOf = (name: RowName) => ofThreads && rowThread(name) !== null && <span class="fine">{`, thread ${rowThread(name)}`}</span>;
	const titleOf = (name: RowName) => [rowName(name, watch.session.kind), rowPlace(name)].filter(Boolean).join(", ");
	const drawn = (by === "set" ? mostMissesFirst(rows, shown[1]!) : rows).slice(0, DRAWN);
	const all = rest && rows.length <= DRAWN ? [...drawn, rest] : drawn;
	return (
		<div class="scroll" tabIndex={0} role="region" aria-label="Table of statistics">
			<table>
				<thead><tr>
					<th scope="col">{columns[0]}</th>
					{shown.map((i) => <th key={i} scope="col" class="number" title={OF_LINES.has(columns[i]!) ? "of lines, two if a reference crosses them" : undefined}>{heading(columns[i]!)}</th>)}
				</tr></thead>
				<tbody>{all.map((row, at) => (
					<tr key={at}>
						<td title={titleOf(row[0])}>{brief(rowName(row[0], watch.session.kind))}{objectOf(row[0])}{threadOf(row[0])}</td>
						{shown.map((i) => <td key={i} class="number">{figure(columns[i]!, row[i] as number)}</td>)}
					</tr>
				))}</tbody>
			</table>
			{rows.length > DRAWN && <p class="fine">{`${full(DRAWN)} of ${full(total_rows)} rows, most misses first: save the others as CSV.`}</p>}
		</div>
	);
}
