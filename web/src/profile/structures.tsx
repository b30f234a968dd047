// SPDX-License-Identifier: MIT
// structures.tsx - a structure with its fields to scale on cache lines, how hot each is, and which are used together.
import type { Cell, Column, Structure } from "../answers";
import { getEach } from "../api";
import { Answer, useAnswer } from "../common/answer";
import { Choice, LevelChoice, useLevel } from "../common/choice";
import { useSheet } from "../common/csv";
import { brief, bytes, full, percent, short } from "../common/format";
import { HeatMap } from "../common/heatmap";
import { Lines, LINE } from "../common/lines";
import { Table } from "../common/table";
import { useTheme } from "../common/theme";
import type { PageProps } from "../views";

const fieldColumns: Column[] = [
	{ key: "name", heading: "Field", kind: "text" },
	{ key: "offset", heading: "Offset", unit: null, kind: "number" },
	{ key: "size", heading: "Bytes", unit: null, kind: "number" },
	{ key: "reads", heading: "Reads", unit: "count", kind: "number" },
	{ key: "writes", heading: "Writes", unit: "count", kind: "number" },
	{ key: "misses", heading: "Misses", unit: "count", kind: "number" },
];

const rowsOf = (structure: Structure) =>
	structure.fields.map((field) => [field.name, field.offset, field.size, field.reads, field.writes, field.misses]);

function One({ structure }: { structure: Structure }) {
	const names = structure.fields.map(({ name }) => name);
	return (
		<>
			<p>
				{`${bytes(structure.size)}, ${full(structure.misses)} misses. Each row is a cache line of ${LINE} bytes, if the structure starts on one; `}
				{`the ${useTheme() === "dark" ? "brighter" : "darker"}, the more misses.`}
			</p>
			<Lines of={structure} />
			<h2>Fields</h2>
			<Table caption="Fields" columns={fieldColumns} rows={rowsOf(structure)} />
			{names.length > 1 && (
				<>
					<h2>Used together</h2>
					<p class="fine">How often a visit to one of two fields uses the other as well: what is used together belongs on one line.</p>
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
						<Choice label="Structure (misses)" value={shown?.type ?? ""} onChange={(value) => set({ type: value })}
							options={structures.map(({ type, misses }) => ({ value: type, title: `${brief(type)} (${short(misses)})` }))} />
						<LevelChoice level={level} levels={levels} set={set} />
					</div>
					{shown ? <One structure={shown} /> : <p>No structure with debug information was accessed: compile with -g.</p>}
				</>
			)}
		</Answer>
	);
}
