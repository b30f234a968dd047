// SPDX-License-Identifier: MIT
// structures.tsx - a structure with its fields to scale on cache lines, how hot each is, which are used together, the lines
// of code that access one, and what to change.
import type { Cell, Column, OverviewAnswer, Structure, TableAnswer } from "../answers";
import { getEach } from "../api";
import { Answer, useAnswer } from "../common/answer";
import { Choice, LevelChoice, useLevel } from "../common/choice";
import { useSheet } from "../common/csv";
import { brief, bytes, full, percent, place, short } from "../common/format";
import { HeatMap } from "../common/heatmap";
import { Lines, LINE } from "../common/lines";
import { Table } from "../common/table";
import { useTheme } from "../common/theme";
import { href } from "../router";
import type { PageProps } from "../views";
import { Groups } from "./groups";
import { Suggestions } from "./suggestions";

const fieldColumns: Column[] = [
	{ key: "name", heading: "Field", kind: "text" },
	{ key: "offset", heading: "Offset", unit: null, kind: "number" },
	{ key: "size", heading: "Bytes", unit: null, kind: "number" },
	{ key: "reads", heading: "Reads", unit: "count", kind: "number" },
	{ key: "writes", heading: "Writes", unit: "count", kind: "number" },
	{ key: "misses", heading: "Misses", unit: "count", kind: "number" },
];

/** Lines of a field that are asked for at most, as a self-contained file holds them. */
const MOST_LINES = 20;

const rowsOf = (structure: Structure) =>
	structure.fields.map((field) => [field.name, field.offset, field.size, field.reads, field.writes, field.misses]);

const lineColumns: Column[] = [
	{ key: "place", heading: "Line", kind: "text" },
	{ key: "function", heading: "Function", kind: "text" },
	...fieldColumns.slice(-3),
];

/** The lines of code that access a field. */
function LinesOfField({ type, field, level, props }: { type: string; field: string; level: string; props: PageProps }) {
	const { profile } = props;
	const asked = useAnswer<TableAnswer>(`/api/p/${profile}/table`, { by: "file,line,function", type, field, level, limit: MOST_LINES });
	return (
		<section aria-label={`Accesses to ${field}`}>
			<h2>{`Accesses to ${field}`}</h2>
			<Answer of={asked}>
				{({ columns, rows, total_rows }) => {
					const cell = (row: Cell[], key: string) => row[columns.findIndex((column) => column.key === key)] ?? null;
					const at = (row: Cell[]) => ({ file: cell(row, "file") as string | null, line: cell(row, "line") as number | null });
					return (
						<>
							<Table caption={`Lines that access ${field}`} columns={lineColumns}
								rows={rows.map((row) => [place(at(row).file, at(row).line), ...lineColumns.slice(1).map(({ key }) => cell(row, key))])}
								rowHref={(_, n) => (at(rows[n] as Cell[]).file ? href("source", { p: profile, level, ...at(rows[n] as Cell[]) }) : null)} />
							{total_rows > rows.length && <p class="fine">{`${full(total_rows - rows.length)} lines more, of fewer misses.`}</p>}
						</>
					);
				}}
			</Answer>
		</section>
	);
}

function One({ structure, level, props }: { structure: Structure; level: string; props: PageProps }) {
	const { profile, params } = props;
	const { advice = [] } = useAnswer<OverviewAnswer>(`/api/p/${profile}/overview`).answer ?? {};
	const field = structure.fields.find(({ name }) => name === params["field"])?.name;
	const names = structure.fields.map(({ name }) => name);
	return (
		<>
			<p>
				{`${bytes(structure.size)}, ${full(structure.misses)} misses. Each row is a cache line of ${LINE} bytes, if the structure starts on one; `}
				{`the ${useTheme() === "dark" ? "brighter" : "darker"}, the more misses.`}
			</p>
			<Lines of={structure} />
			<h2>Fields</h2>
			<Table caption="Fields" columns={fieldColumns} rows={rowsOf(structure)}
				rowHref={([name]) => href("structures", { ...params, type: structure.type, field: String(name) })} />
			{field && <LinesOfField type={structure.type} field={field} level={level} props={props} />}
			<Suggestions advice={advice.filter(({ object }) => object !== null && structure.objects.includes(object))} profile={profile} level={null} />
			{names.length > 1 && (
				<>
					<h2>Used together</h2>
					<p class="fine">Groups of fields that belong on one line, and how often a visit to one of two fields uses the other as well.</p>
					<Groups structure={structure} profile={profile} />
					<HeatMap title="Fields used together" rows={names} columns={names} values={structure.affinity} rowTitle="field" columnTitle="with" format={percent} />
				</>
			)}
			<p class="fine">{`Objects: ${structure.objects.join(", ")}`}</p>
		</>
	);
}

const sheetOf = (structures: Structure[]): Cell[][] =>
	structures.flatMap((structure) => rowsOf(structure).map((row) => [structure.type, ...row]));

export function Structures(props: PageProps) {
	const { profile, params, set } = props;
	const { level, levels } = useLevel(props);
	const asked = useAnswer<Structure[]>(level && `/api/p/${profile}/structures`, { level });
	const shown = asked.answer?.find(({ type }) => type === params["type"]) ?? asked.answer?.[0];
	useSheet(asked.answer && {
		headings: ["structure", ...fieldColumns.map(({ key }) => key)],
		rows: sheetOf(asked.answer),
		all: async () => sheetOf(await getEach(`/api/p/${profile}/structures`, { level }, (part: Structure[]) => part)),
	});
	return (
		<Answer of={asked}>
			{(structures) => (
				<>
					<div class="controls">
						<Choice label="Structure (misses)" value={shown?.type ?? ""} onChange={(value) => set({ type: value, field: null })}
							options={structures.map(({ type, misses }) => ({ value: type, title: `${brief(type)} (${short(misses)})` }))} />
						<LevelChoice level={level} levels={levels} set={set} />
					</div>
					{shown && level ? <One structure={shown} level={level} props={props} /> : <p>No structure with debug information was accessed: compile with -g.</p>}
				</>
			)}
		</Answer>
	);
}
