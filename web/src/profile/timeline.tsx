// SPDX-License-Identifier: MIT
// timeline.tsx - when a process misses: its levels and its working set over the instructions, the objects or lines that miss
// most, and what dominates the interval that the reader looks at.
import { useState } from "preact/hooks";
import type { Cell, Column, Level, TimelineAnswer, TimelineCell, TimelineInterval, TimelineRowsAnswer } from "../answers";
import { Answer, useAnswer } from "../common/answer";
import { Choice, LevelChoice, plain, useLevel } from "../common/choice";
import { category, classColors } from "../common/colors";
import { useSheet } from "../common/csv";
import { bytes, full, percent, place, short } from "../common/format";
import { Table } from "../common/table";
import { go, href } from "../router";
import type { PageProps } from "../views";
import { type Picture, TimelineChart } from "./timeline_chart";
import { Legend } from "./overview";

export const keys: [string, string][] = [["← and →", "from interval to interval, on the timeline"], ["Home and End", "to the first or last interval"],
	["Enter", "to the line that misses most in it"]];

const misses = (cell: TimelineCell) => cell.read_misses + cell.write_misses;
const references = (cell: TimelineCell) => cell.reads + cell.writes;

interface Metric {
	/** Of which the picture shows the numbers. */
	title: string;
	/** Stacked upon each other. */
	series: { name: string; color: string; value: (cell: TimelineCell) => number }[];
	/** Of references, not of instructions. */
	isRatio?: true;
}

const METRICS: Record<string, Metric> = {
	class: {
		title: "lines loaded in 1000 instructions",
		series: (["cold", "capacity", "conflict", "coherence"] as const).map((name) => ({ name, color: classColors[name] as string, value: (cell) => cell[name] })),
	},
	misses: {
		title: "misses in 1000 instructions",
		series: [{ name: "reads", color: category(0), value: (cell) => cell.read_misses }, { name: "writes", color: category(5), value: (cell) => cell.write_misses }],
	},
	references: {
		title: "references in 1000 instructions",
		series: [{ name: "reads", color: category(0), value: (cell) => cell.reads }, { name: "writes", color: category(5), value: (cell) => cell.writes }],
	},
	ratio: { title: "of the references miss", series: [{ name: "miss ratio", color: category(0), value: misses }], isRatio: true },
};
const CHOICES = [
	{ value: "class", title: "misses by class" }, { value: "misses", title: "misses by reads and writes" },
	{ value: "references", title: "references" }, { value: "ratio", title: "miss ratio" },
];

/** A level's picture. Rates make intervals of different lengths comparable. */
function pictureOf(level: string, n: number, intervals: TimelineInterval[], { title, series, isRatio }: Metric): Picture {
	const rate = (interval: TimelineInterval, value: (cell: TimelineCell) => number) => {
		const cell = interval.levels[n];
		const all = cell && isRatio ? references(cell) : interval.instructions / 1000;
		return cell && all > 0 ? value(cell) / all : 0;
	};
	return {
		name: level,
		series: series.map(({ name, color, value }) => ({ name, color, values: intervals.map((interval) => rate(interval, value)) })),
		format: (value) => `${isRatio ? percent(value) : short(value)} ${title}`,
	};
}

/** The working set, and the bytes of the lines that were loaded until then, by the first level's cold misses. */
function bytesOf(intervals: TimelineInterval[], first: Level): Picture[] {
	let sum = 0;
	const loaded = intervals.map(({ levels }) => (sum += first.line * (levels.find(({ level }) => level === first.level)?.cold ?? 0)));
	const picture = (name: string, n: number, values: number[]) => ({ name, series: [{ name, color: category(n), values }], format: bytes });
	return [picture("working set", 1, intervals.map(({ working_set }) => working_set)), picture("footprint, loaded until then", 2, loaded)];
}

const sourceOf = (cell: TimelineCell, profile: string) => href("source", { p: profile, file: cell.file, line: cell.line, level: cell.level });

const count = (key: string, heading: string): Column => ({ key, heading, unit: "count", kind: "number" });
const COLUMNS: Column[] = [
	{ key: "level", heading: "Level", kind: "text" },
	{ key: "object", heading: "Misses most on", kind: "text" },
	{ key: "line", heading: "at", kind: "text" },
	count("misses", "Misses"), count("references", "References"), count("cold", "cold"), count("capacity", "capacity"),
	count("conflict", "conflict"), count("coherence", "coherence"), count("loads", "Loads"),
];

/** What an interval counts, and where it misses most; names lead to the object's counts and to the source. */
function Moment({ interval, at, intervals, profile }: { interval: TimelineInterval; at: number; intervals: number; profile: string }) {
	const rows: Cell[][] = interval.levels.map((cell) => [cell.level, cell.object, misses(cell) ? place(cell.file, cell.line, cell.function) : null,
		misses(cell), references(cell), cell.cold, cell.capacity, cell.conflict, cell.coherence, cell.loads]);
	return (
		<>
			<p class="fine" role="status">
				{`Interval ${full(at + 1)} of ${full(intervals)}: ${full(interval.instructions)} instructions from ${full(interval.begin)} on, working set ${bytes(interval.working_set)}.`}
			</p>
			<Table caption="What the interval counts" columns={COLUMNS} rows={rows} cell={(row, { key }) => {
				const cell = interval.levels[rows.indexOf(row)] as TimelineCell;
				if (key === "object" && cell.object)
					return <a href={href("tables", { p: profile, by: "object,file,line", filter: cell.object, level: cell.level })}>{cell.object}</a>;
				if (key === "line" && cell.file && misses(cell))
					return <a href={sourceOf(cell, profile)} title={cell.file}>{place(cell.file, cell.line)}</a>;
				return undefined;
			}} />
		</>
	);
}

/** The rows of the view `timeline`, as `nearmiss timeline --format csv` writes them. */
const sheetOf = ({ process, intervals }: TimelineAnswer) => ({
	headings: ["process", "interval", "begin", "instructions", "working_set", ...Object.keys(intervals[0]?.levels[0] ?? {})],
	rows: intervals.flatMap(({ begin, instructions, working_set, levels }, n) =>
		levels.map((cell) => [process, n, begin, instructions, working_set, ...Object.values(cell) as Cell[]])),
});

interface ContentProps {
	answer: TimelineAnswer;
	rows: TimelineRowsAnswer | null;
	by: string;
	/** The first level of data. */
	first: Level | undefined;
	page: PageProps;
}

function Content({ answer, rows, by, first, page: { profile, params, set } }: ContentProps) {
	const [looked, setLooked] = useState<number | null>(null);
	const { intervals } = answer;
	const levels = intervals[0]?.levels.map(({ level }) => level) ?? [];
	const metric = METRICS[params["metric"] ?? "class"] ?? METRICS["class"] as Metric;
	const chosen = Math.min(intervals.length - 1, Math.max(0, Math.floor(Number(params["at"] ?? 0)) || 0));
	const at = Math.min(intervals.length - 1, looked ?? chosen);
	const pictures = [...levels.map((level, n) => pictureOf(level, n, intervals, metric)), ...(first ? bytesOf(intervals, first) : [])];
	const strips = (rows?.rows ?? []).map(({ name, misses: values }) => ({ name, values }));
	const open = (interval: number) => {
		const cell = intervals[interval]?.levels.find(({ level }) => level === rows?.level);
		if (cell?.file && misses(cell)) go(sourceOf(cell, profile));
	};
	const colors = Object.fromEntries(metric.series.map(({ name, color }) => [name, color]));
	return (
		<>
			<Legend names={Object.keys(colors)} colors={colors} />
			<TimelineChart title={`Timeline of ${answer.process}`} intervals={intervals} instructions={answer.instructions} pictures={pictures}
				stripTitle={rows ? `${rows.level}: misses by ${by}` : ""} strips={strips} at={at} onLook={setLooked} onOpen={open}
				onChoose={(next) => { setLooked(null); set({ at: next || null }, true); }} />
			<h2>What dominates there</h2>
			<Moment interval={intervals[at] as TimelineInterval} at={at} intervals={intervals.length} profile={profile} />
		</>
	);
}

export function Timeline(props: PageProps) {
	const { profile, params, set } = props;
	const { level, levels, all } = useLevel(props);
	const by = params["by"] ?? "object";
	const process = params["process"];
	const usual = useAnswer<TimelineAnswer>(`/api/p/${profile}/timeline`);
	const other = useAnswer<TimelineAnswer>(process ? `/api/p/${profile}/timeline` : null, { process });
	const asked = process ? other : usual;
	const rows = useAnswer<TimelineRowsAnswer>(level && `/api/p/${profile}/timeline/rows`, { by, level, process });
	const processes = usual.answer?.processes.map((each) => each.process) ?? [];
	const first = all.find((each) => !each.level.endsWith("L1i"));
	useSheet(asked.answer && sheetOf(asked.answer));
	return (
		<>
			<div class="controls">
				{processes.length > 1 && (
					<Choice label="Process" value={process ?? processes[0] ?? ""} options={plain(processes)}
						onChange={(value) => set({ process: value === processes[0] ? null : value, at: null })} />
				)}
				<Choice label="Show" value={params["metric"] ?? "class"} options={CHOICES} onChange={(value) => set({ metric: value })} />
				<Choice label="A strip for each" value={by} options={plain(["object", "line"])} onChange={(value) => set({ by: value })} />
				<LevelChoice level={level} levels={levels} set={set} />
			</div>
			<Answer of={asked}>
				{(answer) => answer.intervals.length === 0 ? <p>This process has no timeline.</p>
					: <Content answer={answer} rows={rows.answer} by={by} first={first} page={props} />}
			</Answer>
		</>
	);
}
