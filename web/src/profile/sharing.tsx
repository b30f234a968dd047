// SPDX-License-Identifier: MIT
// sharing.tsx - what cores contend for: lines, objects, fields, functions, threads.
import type { Cell, Column, SharingAnswer } from "../answers";
import { Answer, useAnswer } from "../common/answer";
import { Choice, LevelChoice, plain, useLevel } from "../common/choice";
import { useSheet } from "../common/csv";
import { baseName } from "../common/format";
import { Table } from "../common/table";
import type { PageProps } from "../views";

const BY = ["line", "object", "field", "function", "thread", "core"];

/** Numbers that say which or where, not how much. */
const NAMES = new Set(["block", "offset", "bytes", "thread", "core", "line", "position"]);

function headingOf(key: string): string {
	return key.replaceAll("_", " ");
}

/** The columns are those that the rows have: who and how much first, then where exactly. */
function sheetOf(rows: SharingAnswer["rows"]): { columns: Column[]; cells: Cell[][] } {
	const isLast = (key: string) => Number(NAMES.has(key) && key !== "line");
	const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))].sort((a, b) => isLast(a) - isLast(b));
	const columns = keys.map((key): Column => ({
		key,
		heading: headingOf(key),
		unit: NAMES.has(key) ? null : key === "share" ? "percent" : "count",
		kind: rows.some((row) => typeof row[key] === "string") ? "text" : "number",
	}));
	return { columns, cells: rows.map((row) => keys.map((key) => (key === "file" && row[key] ? baseName(String(row[key])) : (row[key] ?? null)))) };
}

function Content({ answer }: { answer: SharingAnswer }) {
	if (answer.rows.length === 0) return <p>{answer.note ?? "No line is contended for."}</p>;
	const { columns, cells } = sheetOf(answer.rows);
	return <Table caption="Contended lines" columns={columns} rows={cells} />;
}

export function Sharing(props: PageProps) {
	const { profile, params, set } = props;
	const { level, levels } = useLevel(props);
	const by = params["by"] ?? "line";
	const asked = useAnswer<SharingAnswer>(level && `/api/p/${profile}/sharing`, { by: by === "line" ? null : by, level });
	const sheet = asked.answer && sheetOf(asked.answer.rows);
	useSheet(sheet && { headings: sheet.columns.map(({ key }) => key), rows: sheet.cells });
	return (
		<>
			<div class="controls">
				<Choice label="By" value={by} options={plain(BY)} onChange={(value) => set({ by: value })} />
				<LevelChoice level={level} levels={levels} set={set} />
			</div>
			<Answer of={asked}>{(answer) => <Content answer={answer} />}</Answer>
		</>
	);
}
