// SPDX-License-Identifier: MIT
// compare.tsx - what changed between two profiles, as `nearmiss diff` finds it: a verdict, their levels, and the rows that
// changed, matched through edits of the source.
import type { Cell, Column, CompareAnswer, OverviewAnswer } from "../answers";
import { getAll } from "../api";
import { Answer, useAnswer } from "../common/answer";
import { Choice, LevelChoice, useLevel } from "../common/choice";
import { useSheet } from "../common/csv";
import { full, place, profileName, sentence } from "../common/format";
import { Table } from "../common/table";
import { href } from "../router";
import type { PageProps } from "../views";

type Row = CompareAnswer["rows"][number];

/** What rows are. Those of fields are offered where both profiles have fields. */
const KINDS = [
	{ value: "object,line", title: "object and line" }, { value: "object", title: "object" }, { value: "line", title: "line" },
	{ value: "function", title: "function" }, { value: "file", title: "file" }, { value: "object,class", title: "object and class" },
];
const FIELDS = { value: "object,type,field", title: "field" };

const ORDERS = [
	{ value: "cycles", title: "cost" }, { value: "misses", title: "misses" }, { value: "loads", title: "loads" },
	{ value: "references", title: "references" },
];

const number = (key: string, heading: string, unit = "count", help?: string): Column => ({ key, heading, unit, help, kind: "number" });
const text = (key: string, heading: string, help?: string): Column => ({ key, heading, help, kind: "text" });

const LEVELS: Column[] = [
	text("level", "Level"),
	number("misses_a", "Misses before"), number("misses_b", "after"),
	number("mpki_a", "MPKI before"), number("mpki_b", "after"),
	number("bytes_a", "Loaded before", "bytes"), number("bytes_b", "after", "bytes"),
];

const KEYS: Record<string, Column> = {
	object: text("object", "Object"), type: text("type", "Type"), field: text("field", "Field"), line: text("line", "Line"),
	function: text("function", "Function"), file: text("file", "File"), class: text("class", "Class"),
};
const FIGURES: Column[] = [
	text("is", "Row", "New: only in the profile after the change; gone: only in the one before; moved: it had another name or line"),
	number("misses_a", "Misses before"), number("misses_b", "after"), number("misses_change", "change"),
	number("change_percent", "change, %", "percent"),
	number("cycles_change", "Cost, cycles", "cycles", "The change of the cycles that misses cost, estimated"),
];

/** The levels that both simulated. */
function levelRows(a: OverviewAnswer, b: OverviewAnswer) {
	return a.levels.flatMap((before) => {
		const after = b.levels.find(({ level }) => level === before.level);
		return after ? [[before.level, before.misses, after.misses, before.mpki, after.mpki, before.bytes, after.bytes]] : [];
	});
}

const METRICS = ["misses", "references", "loads"];
const isNew = (row: Row) => METRICS.every((metric) => !row[`${metric}_a`]);
const isGone = (row: Row) => METRICS.every((metric) => !row[`${metric}_b`]);

/** A cell of the page: a line with its file, and what became of the row. */
function cellOf(row: Row, key: string): Cell {
	if (key === "line") return place(row["file"] as string | null, row["line"] as number | null, row["function"] as string | null);
	if (key !== "is") return row[key] ?? null;
	return isNew(row) ? "new" : isGone(row) ? "gone" : row["before"] ? `was ${row["before"]}` : "";
}

/** The columns of rows of this kind. */
function columnsOf(by: string): Column[] {
	const keys = by.split(",");
	const named = keys.includes("line") ? [...keys, "function"] : keys;
	const figures = keys.includes("class") ? FIGURES.filter(({ key }) => key !== "cycles_change") : FIGURES;
	return [...named.map((key) => KEYS[key] ?? text(key, key)), ...figures];
}

function Changes({ answer, by, a, b }: { answer: CompareAnswer; by: string; a: string; b: string }) {
	const columns = columnsOf(by);
	const rows = answer.rows.map((row) => columns.map(({ key }) => cellOf(row, key)));
	if (rows.length === 0) return null;
	return (
		<>
			<h2>What changed most</h2>
			<Table caption="What changed most" columns={columns} rows={rows} cell={(cells, column, _, shown) => {
				const { key } = column;
				const row = answer.rows[rows.indexOf(cells)] as Row;
				if (Number(row[key]) > 0 && /change/.test(key)) return `+${shown}`;
				if (key !== "line" || !row["file"]) return undefined;
				const at = { p: isGone(row) ? a : b, file: String(row["file"]), line: row["line"], level: answer.level };
				return <a href={href("source", at)} title={String(row["file"])}>{cellOf(row, key)}</a>;
			}} />
			<p class="fine">
				{answer.changed > rows.length && `${full(answer.changed - rows.length)} more rows changed: save them as CSV. `}
				{`${full(answer.unchanged)} did not change.`}
			</p>
		</>
	);
}

/** The choices of the page; `levels` are those of both profiles. */
function Controls({ session, params, set, level, levels, hasFields }: PageProps & { level: string | null | undefined; levels: string[]; hasFields: boolean }) {
	const profiles = session.profiles.map(({ n, file }) => ({ value: String(n), title: profileName(file) }));
	return (
		<div class="controls">
			<Choice label="Before" value={params["a"] ?? "0"} options={profiles} onChange={(value) => set({ a: value })} />
			<Choice label="After" value={params["b"] ?? "1"} options={profiles} onChange={(value) => set({ b: value })} />
			<Choice label="By" value={params["by"] ?? "object,line"} options={hasFields ? [...KINDS, FIELDS] : KINDS} onChange={(value) => set({ by: value })} />
			<Choice label="First what changed most in" value={params["sort"] ?? "cycles"} options={ORDERS} onChange={(value) => set({ sort: value })} />
			<LevelChoice level={level} levels={levels} set={set} />
		</div>
	);
}

export function Compare(props: PageProps) {
	const { params } = props;
	const [a, b] = [params["a"] ?? "0", params["b"] ?? "1"];
	const by = params["by"] ?? "object,line";
	const { level } = useLevel({ ...props, profile: a }, false);
	const before = useAnswer<OverviewAnswer>(`/api/p/${a}/overview`);
	const after = useAnswer<OverviewAnswer>(`/api/p/${b}/overview`);
	const keys = [useAnswer<string[]>(`/api/p/${a}/dimensions`), useAnswer<string[]>(`/api/p/${b}/dimensions`)];
	const query = { a, b, by, level, sort: params["sort"] };
	const asked = useAnswer<CompareAnswer>(level && "/api/compare", query);
	const rows = before.answer && after.answer ? levelRows(before.answer, after.answer) : [];
	const headings = Object.keys(asked.answer?.rows[0] ?? {});
	const values = (row: Row) => headings.map((heading) => row[heading] ?? null);
	useSheet(asked.answer && {
		headings,
		rows: asked.answer.rows.map(values),
		all: async () => (await getAll<Row>("/api/compare", query)).map(values),
	});
	return (
		<>
			<Controls {...props} level={level} levels={rows.map(([name]) => String(name))} hasFields={keys.every(({ answer }) => answer?.includes("field"))} />
			<Answer of={asked}>{(answer) => <p class="verdict sentence">{sentence(answer.verdict)}</p>}</Answer>
			<h2>Levels</h2>
			<Answer of={before}>
				{() => <Answer of={after}>{() => <Table caption="Levels of both profiles" columns={LEVELS} rows={rows} />}</Answer>}
			</Answer>
			<Answer of={asked}>{(answer) => <Changes answer={answer} by={by} a={a} b={b} />}</Answer>
		</>
	);
}
