// SPDX-License-Identifier: MIT
// evictions.tsx - which object evicts which, as a heat map; a square opens the lines of code of its pair.
import type { Cell, Column, EvictionLine, EvictionLinesAnswer, EvictionsAnswer } from "../answers";
import { getAll, isSelfContained } from "../api";
import { Answer, useAnswer } from "../common/answer";
import { LevelChoice, useLevel } from "../common/choice";
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

/** Pairs of lines that are drawn. */
const SHOWN = 30;

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

function Lines({ asked, profile }: { asked: EvictionLine[]; profile: string }) {
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
			}} />
	);
}

function Matrix({ answer, props }: { answer: EvictionsAnswer; props: PageProps }) {
	const { params, set } = props;
	if (answer.objects.length === 0) return <p>No line was evicted.</p>;
	const at = (object: string | undefined) => answer.objects.indexOf(object ?? "");
	const selected = { row: at(params["evictor"]), column: at(params["victim"]) };
	return (
		<>
			<HeatMap title="Evictions" rows={answer.objects} columns={answer.objects} values={answer.matrix}
				rowTitle="evicted by" columnTitle="lines of" format={short}
				selected={selected.row >= 0 && selected.column >= 0 ? selected : null}
				onOpen={(row, column) => set({ evictor: answer.objects[row] ?? null, victim: answer.objects[column] ?? null })} />
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
	const matrix = useAnswer<EvictionsAnswer>(level && `/api/p/${profile}/evictions`, { level, top: 40 });
	// A self-contained file has the lines of pairs only.
	const asksLines = level && (evictor || !isSelfContained());
	const path = `/api/p/${profile}/evictions/lines`;
	const lines = useAnswer<EvictionLinesAnswer>(asksLines ? path : null, { level, evictor, victim });
	useSheet(lines.answer && {
		headings: ["evictor", "file", "line", "victim", "victim_file", "victim_line", "count"],
		rows: lines.answer.rows.map(sheetRow),
		all: async () => (await getAll<EvictionLine>(path, { level, evictor, victim })).map(sheetRow),
	});
	return (
		<>
			<div class="controls"><LevelChoice level={level} levels={levels} set={set} /></div>
			<Answer of={matrix}>{(answer) => <Matrix answer={answer} props={props} />}</Answer>
			<h2>{evictor && victim ? `${brief(evictor)} evicts ${brief(victim)}` : asksLines ? "Lines that evict most" : "Choose a square to see its lines"}</h2>
			{evictor && <button type="button" onClick={() => set({ evictor: null, victim: null })}>All pairs</button>}
			<Answer of={lines}>
				{({ rows, total_rows }) => (
					<>
						<Lines asked={rows.slice(0, SHOWN)} profile={profile} />
						{total_rows > SHOWN && <p class="fine">{`The first ${SHOWN} of ${full(total_rows)} pairs of lines${isSelfContained() ? "" : ": save them all as CSV"}.`}</p>}
					</>
				)}
			</Answer>
		</>
	);
}
