// SPDX-License-Identifier: MIT
// sharing.tsx - what cores contend for: lines, objects, fields, functions, threads.
import type { Cell, Column, SharingAnswer } from "../answers";
import { getAll } from "../api";
import { Answer, useAnswer } from "../common/answer";
import { Choice, LevelChoice, plain, useLevel } from "../common/choice";
import { useSheet } from "../common/csv";
import { baseName } from "../common/format";
import { Table } from "../common/table";
import type { PageProps } from "../views";

const BY = ["line", "object", "field", "function", "thread", "core"];

/** What is contended for, and by whom; behind it are the counts, and then where exactly it lies. */
const FIRST = ["block", "object", "field", "function", "file", "line", "thread", "core", "victim_thread", "victim_core"];
const LAST = ["type", "offset", "bytes", "position", "process"];
const NAMES = new Set([...FIRST, ...LAST]);

function headingOf(key: string): string {
	return key === "block" ? "cache line" : key.replaceAll("_", " ");
}

/** A cell as it is shown: files without their folders, addresses in hexadecimal. */
function shown(key: string, value: Cell): Cell {
	if (key === "file" && value) return baseName(String(value));
	return key === "block" && typeof value === "number" ? `0x${value.toString(16)}` : value;
}

/** The columns are those that the rows have. */
function sheetOf(rows: SharingAnswer["rows"]): { columns: Column[]; cells: Cell[][] } {
	const order = (key: string) => {
		const [first, last] = [FIRST.indexOf(key), LAST.indexOf(key)];
		return first >= 0 ? first : FIRST.length + 1 + last;
	};
	const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))].sort((a, b) => order(a) - order(b));
	const columns = keys.map((key): Column => ({
		key,
		heading: headingOf(key),
		unit: NAMES.has(key) ? null : key === "share" ? "percent" : "count",
		kind: key === "block" || rows.some((row) => typeof row[key] === "string") ? "text" : "number",
	}));
	return { columns, cells: rows.map((row) => keys.map((key) => shown(key, row[key] ?? null))) };
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
	const query = { by: by === "line" ? null : by, level };
	const asked = useAnswer<SharingAnswer>(level && `/api/p/${profile}/sharing`, query);
	const sheet = asked.answer && sheetOf(asked.answer.rows);
	useSheet(sheet && {
		headings: sheet.columns.map(({ key }) => key),
		rows: sheet.cells,
		all: async () => sheetOf(await getAll(`/api/p/${profile}/sharing`, query)).cells,
	});
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
