// SPDX-License-Identifier: MIT
// evictions.tsx - which object evicts which, as a heat map; a square opens the lines of code of its pair.
import type { Cell, Column, EvictionLine, EvictionLinesAnswer, EvictionsAnswer } from "../answers";
import { getAll, isSelfContained } from "../api";
import { Answer, useAnswer } from "../common/answer";
import { LevelChoice, Mine, useLevel } from "../common/choice";
import { useSheet } from "../common/csv";
import { brief, full, place, short } from "../common/format";
import { HeatMap } from "../common/heatmap";
import { Table } from "../common/table";
import { href } from "../router";
import type { PageProps } from "../views";

const columns: Column[] = [
	{ key: "evictor", heading: "Evicted by", kind: "text" },
	{ key: "by", heading: "at line", kind: "text" },
	{ key: "victim", heading: "Object that lost its line", kind: "text" },
	{ key: "of", heading: "loaded at", kind: "text" },
	{ key: "count", heading: "Evictions", unit: "count", kind: "number" },
	{ key: "share", heading: "Share", unit: "percent", kind: "number" },
];

/** Pairs of lines that are drawn, each with at least this share of the evictions, in percent. */
const SHOWN = 30;
const LEAST = 1;

const name = (object: string | null) => object ?? "unknown";

/** The user's line, and the innermost one where that is another. */
function places(file: string | null, line: number | null, code: string | null, innerFile?: string | null,
	innerLine?: number | null): string {
	const shown = place(file, line, code);
	return !innerFile || (innerFile === file && innerLine === line) ? shown : `${shown} < ${place(innerFile, innerLine ?? null)}`;
}

function rowOf(line: EvictionLine): Cell[] {
	return [
		name(line.evictor), places(line.file, line.line, line.function, line.inner_file, line.inner_line), name(line.victim),
		places(line.victim_file, line.victim_line, line.victim_function, line.victim_inner_file, line.victim_inner_line),
		line.count, line.share,
	];
}

const sheetRow = (row: EvictionLine): Cell[] =>
	[row.evictor, row.file, row.line, row.victim, row.victim_file, row.victim_line, row.count];

function Lines({ answer, profile }: { answer: EvictionLinesAnswer; profile: string }) {
	const asked = answer.rows.slice(0, SHOWN).filter(({ share }, n) => n === 0 || share >= LEAST);
	const left = answer.total_rows - asked.length;
	const sum = (of: (line: EvictionLine) => number) => answer.rows.slice(asked.length).reduce((all, line) => all + of(line), 0);
	const shares = asked.reduce((all, { share }) => all + share, 0);
	const address = (file: string | null, line: number | null) => (file ? href("source", { p: profile, file, line }) : null);
	const link = (text: Cell, to: string | null) => (to ? <a href={to}>{String(text)}</a> : undefined);
	const rows = asked.map(rowOf);
	return (
		<Table caption="Lines of code" columns={columns} rows={rows}
			cell={(row, column) => {
				const line = asked[rows.indexOf(row)];
				if (!line) return undefined;
				if (column.key === "by") return link(row[1] ?? null, address(line.file, line.line));
				if (column.key === "of") return link(row[3] ?? null, address(line.victim_file, line.victim_line));
				return undefined;
			}} {...(left > 0 ? { rest: [null, null, null, null, answer.rest + sum(({ count }) => count), 100 - shares], restTitle: `${full(left)} more pairs` } : {})} />
	);
}

/** Objects below this part of all evictions are one row and one column. */
const SMALL = 0.01;

/** The matrix with small objects as one, behind the others. */
function withoutSmall({ objects, matrix, total }: EvictionsAnswer): { names: string[]; values: number[][] } {
	const of = (n: number) => objects.reduce((sum, _, other) => sum + (matrix[n]?.[other] ?? 0) + (other === n ? 0 : matrix[other]?.[n] ?? 0), 0);
	const large = objects.map((_, n) => n).filter((n) => of(n) >= SMALL * total);
	const small = objects.map((_, n) => n).filter((n) => !large.includes(n));
	const groups = [...large.map((n) => [n]), ...(small.length > 0 ? [small] : [])];
	const sum = (rows: number[], columns: number[]) => rows.reduce((all, n) => columns.reduce((part, m) => part + (matrix[n]?.[m] ?? 0), all), 0);
	return {
		names: [...large.map((n) => objects[n] ?? ""), ...(small.length > 0 ? [`${full(small.length)} others, each below 1 %`] : [])],
		values: groups.map((rows) => groups.map((columns) => sum(rows, columns))),
	};
}

function Matrix({ answer, props }: { answer: EvictionsAnswer; props: PageProps }) {
	const { params, set } = props;
	if (answer.objects.length === 0) return <p>{params["mine"] === "0" ? "No line was evicted." : "Your code, and what it made run, evicted no line."}</p>;
	const { names, values } = withoutSmall(answer);
	const at = (object: string | undefined) => names.indexOf(object ?? "");
	const open = (row: number, column: number) => {
		const [evictor, victim] = [names[row] ?? "", names[column] ?? ""];
		if (answer.objects.includes(evictor) && answer.objects.includes(victim)) set({ evictor, victim });
	};
	const selected = { row: at(params["evictor"]), column: at(params["victim"]) };
	return (
		<>
			<HeatMap title="Evictions" rows={names} columns={names} values={values}
				rowTitle="evicted by" columnTitle="lines of" format={short}
				selected={selected.row >= 0 && selected.column >= 0 ? selected : null}
				onOpen={open} />
			<p class="fine">
				{`${full(answer.total)} evictions`}{answer.rest > 0 ? `; ${full(answer.rest)} of other objects are not drawn.` : "."}
			</p>
		</>
	);
}

export function Evictions(props: PageProps) {
	const { profile, params, set } = props;
	const { level, levels } = useLevel(props);
	const { evictor, victim } = params;
	const mine = isSelfContained() || params["mine"] !== "0" ? "1" : undefined; // which is what a file has
	const matrix = useAnswer<EvictionsAnswer>(level && `/api/p/${profile}/evictions`, { level, top: 40, mine });
	// A self-contained file has the lines of pairs only.
	const asksLines = level && (evictor || !isSelfContained());
	const path = `/api/p/${profile}/evictions/lines`;
	const lines = useAnswer<EvictionLinesAnswer>(asksLines ? path : null, { level, evictor, victim, mine });
	useSheet(lines.answer && {
		headings: ["evictor", "file", "line", "victim", "victim_file", "victim_line", "count"],
		rows: lines.answer.rows.map(sheetRow),
		all: async () => (await getAll<EvictionLine>(path, { level, evictor, victim, mine })).map(sheetRow),
	});
	return (
		<>
			<div class="controls">
				<LevelChoice level={level} levels={levels} set={set} />
				{!isSelfContained() && <Mine checked={mine === "1"} set={set} />}
			</div>
			<Answer of={matrix}>{(answer) => <Matrix answer={answer} props={props} />}</Answer>
			<h2>{evictor && victim ? `${brief(evictor)} evicts ${brief(victim)}` : asksLines ? "Lines that evict most" : "Choose a square to see its lines"}</h2>
			{evictor && <button type="button" onClick={() => set({ evictor: null, victim: null })}>All pairs</button>}
			<Answer of={lines}>
				{(answer) => <Lines answer={answer} profile={profile} />}
			</Answer>
		</>
	);
}
