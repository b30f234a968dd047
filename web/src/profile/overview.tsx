// SPDX-License-Identifier: MIT
// overview.tsx - a profile in one page: the verdict, the levels, who misses where and why, and what to change.
import type { Cell, Column, Level, OverviewAnswer, Pair } from "../answers";
import { Answer, useAnswer } from "../common/answer";
import { useLevel } from "../common/choice";
import { classColors } from "../common/colors";
import { useSheet } from "../common/csv";
import { bytes, full, place, sentence } from "../common/format";
import { Table } from "../common/table";
import { href } from "../router";
import type { PageProps } from "../views";
import { About } from "./about";
import { Suggestions } from "./suggestions";

const CLASSES = ["cold", "capacity", "conflict", "coherence"] as const;

const levelColumns: Column[] = [
	{ key: "level", heading: "Level", kind: "text" },
	{ key: "size", heading: "Size", kind: "text" },
	{ key: "references", heading: "References", kind: "number", help: "Reads and writes that reached this level" },
	{ key: "misses", heading: "Misses", kind: "number", help: "References that did not find their line" },
	{ key: "ratio", heading: "Miss ratio", unit: "percent", kind: "number", help: "Misses of all references to this level" },
	{ key: "mpki", heading: "MPKI", kind: "number", help: "Misses for each 1000 instructions" },
	{ key: "bytes", heading: "Loaded", unit: "bytes", kind: "number", help: "Traffic from the level below" },
	{ key: "cycles", heading: "Cycles", kind: "number", help: "Estimated cycles that its misses cost" },
];

/** The columns that have something of one input. */
const ofInput = (columns: Column[]): Column[] => columns.filter(({ key }) => !["cycles", "cycles_share", "cause"].includes(key));

const levelRow = (level: Level): Cell[] => [
	level.level, bytes(level.size), level.reads + level.writes, level.misses, level.miss_ratio, level.mpki, level.bytes, level.cycles ?? null,
];

const pairColumns: Column[] = [
	{ key: "object", heading: "Object", kind: "text" },
	{ key: "place", heading: "Line", kind: "text" },
	{ key: "function", heading: "Function", kind: "text" },
	{ key: "misses", heading: "Misses", kind: "number" },
	{ key: "share", heading: "Share", unit: "percent", kind: "number" },
	{ key: "cycles_share", heading: "Cost", unit: "percent", kind: "number", help: "Share of the estimated cycles that misses cost: rows are in this order" },
	{ key: "cause", heading: "Cause", kind: "text" },
];

const pairRow = (pair: Pair): Cell[] => [
	pair.object ?? "<unknown>", place(pair.file, pair.line), pair.function, pair.misses, pair.share, pair.cycles_share ?? null, pair.cause ?? null,
];

/** The misses of each level by class, as bars of 100 %. */
function Classes({ levels }: { levels: Level[] }) {
	return (
		<div class="classes">
			{levels.filter(({ misses }) => misses > 0).map((level) => {
				const sum = CLASSES.reduce((before, name) => before + level[name], 0) || 1;
				return (
					<div key={level.level} class="stack-row">
						<span class="stack-name">{level.level}</span>
						<div class="stack" role="img"
							aria-label={`${level.level}: ${CLASSES.map((name) => `${name} ${full(level[name])}`).join(", ")}`}>
							{CLASSES.map((name) => (
								<span key={name} title={`${name}: ${full(level[name])}`}
									style={{ width: `${(level[name] / sum) * 100}%`, backgroundColor: classColors[name] }} />
							))}
						</div>
					</div>
				);
			})}
			<Legend names={[...CLASSES]} />
		</div>
	);
}

export function Legend({ names, colors = classColors }: { names: string[]; colors?: Record<string, string> }) {
	return (
		<ul class="legend">
			{names.map((name) => <li key={name}><span class="swatch" style={{ backgroundColor: colors[name] }} />{name}</li>)}
		</ul>
	);
}

function Content({ overview, props }: { overview: OverviewAnswer; props: PageProps }) {
	const { profile, params } = props;
	const { advice = [], notes = [], not_simulated = "" } = overview;
	const { level } = useLevel(props);
	const input = params["input"];
	const shown = input ? ofInput : (columns: Column[]) => columns;
	const worth = advice.filter((one, at) => at === 0 || one.saving_misses || one.saving_cycles);
	const others = advice.filter((one) => !worth.includes(one));
	const ofObject = ([object]: Cell[]) => href("tables", { p: profile, by: "object,file,line", filter: String(object), mine: "0", input });
	const ofLine = (row: Cell[], column: Column, at: number) => {
		const { file = null, line = null } = column.key === "place" ? overview.pairs[at] ?? {} : {};
		return file ? <a href={href("source", { p: profile, file, line, input, level: input && params["level"] })}>{row[1]}</a> : undefined;
	};
	const isSaid = (note: string) => advice.some(({ text }) => note.includes(text));
	return (
		<>
			{overview.verdict !== undefined ? <p class="verdict sentence">{sentence(overview.verdict)}</p>
				: <p>{`What ${input} counted. Verdict, costs, causes and advice are known of all together only.`}</p>}
			<h2>Levels</h2>
			<Table caption="Levels of the memory hierarchy" columns={shown(levelColumns)} rows={overview.levels.map(levelRow)} />
			<Classes levels={overview.levels} />
			<h2>Who misses, where and why</h2>
			<Table caption="Objects and lines with the most misses" columns={shown(pairColumns)}
				rows={overview.pairs.map(pairRow)} rowHref={ofObject} cell={ofLine} />
			{worth.length > 0 && <h2>What to change</h2>}
			<Suggestions advice={worth} profile={profile} level={level} />
			{others.length > 0 && (
				<details>
					<summary>{`Advice without a known saving (${others.length})`}</summary>
					<Suggestions advice={others} profile={profile} level={level} />
				</details>
			)}
			<ul class="fine">
				{[...notes, not_simulated].filter((note) => note && !isSaid(note)).map((note) => <li key={note} title={note}>{sentence(note)}</li>)}
			</ul>
			<About info={overview.info} />
		</>
	);
}

export function Overview(props: PageProps) {
	const { profile, params } = props;
	const { input, level } = params;
	const asked = useAnswer<OverviewAnswer>(`/api/p/${profile}/overview`, input ? { input, level } : {});
	useSheet(asked.answer && {
		headings: ["object", "function", "file", "line", "misses", "share", "cause"],
		rows: asked.answer.pairs.map((p) => [p.object, p.function, p.file, p.line, p.misses, p.share, p.cause ?? null]),
	});
	return <Answer of={asked}>{(overview) => <Content overview={overview} props={props} />}</Answer>;
}
