// SPDX-License-Identifier: MIT
// tables.tsx - the counts by any dimensions, sorted and filtered; a part of them at a time.
import type { Cell, TableAnswer } from "../answers";
import { getAll } from "../api";
import { Answer, useAnswer } from "../common/answer";
import { Choice, LevelChoice, Mine, plain, useLevel } from "../common/choice";
import { useSheet } from "../common/csv";
import { full } from "../common/format";
import { Table } from "../common/table";
import { href } from "../router";
import type { PageProps } from "../views";

const LIMIT = 100;

interface By {
	dimensions: string[];
	by: string[];
	set: PageProps["set"];
}

/** Each name once, and a line with its file: a number tells nothing without it. */
function withFiles(names: string[]): string[] {
	const all = names.filter(Boolean).flatMap((name) => (name === "line" ? ["file", "line"] : [name]));
	return all.filter((name, at) => all.indexOf(name) === at);
}

/** The dimensions that rows are summed by: the first, and within it up to three more. */
function ByChoice({ dimensions, by, set }: By) {
	const change = (n: number, value: string) => {
		set({ by: withFiles([...by.slice(0, n), value, ...by.slice(n + 1)]).join(","), offset: null });
	};
	const none = { value: "", title: "–" };
	return (
		<>
			{[0, 1, 2, 3].filter((n) => n <= by.length).map((n) => (
				<Choice key={n} label={n === 0 ? "By" : "and"} value={by[n] ?? ""} onChange={(value) => change(n, value)}
					options={n === 0 ? plain(dimensions) : [none, ...plain(dimensions)]} />
			))}
		</>
	);
}

function Filter({ value, set }: { value: string; set: PageProps["set"] }) {
	return (
		<label>
			Filter
			<input type="search" value={value} placeholder="part of a name"
				onInput={(event) => set({ filter: event.currentTarget.value, offset: null }, true)} />
		</label>
	);
}

function Paging({ offset, rows, total, set }: { offset: number; rows: number; total: number; set: PageProps["set"] }) {
	return (
		<div class="paging">
			<button type="button" disabled={offset === 0} onClick={() => set({ offset: Math.max(0, offset - LIMIT) || null })}>
				Before
			</button>
			<span role="status">
				{total === 0 ? "No rows" : `Rows ${full(offset + 1)} to ${full(offset + rows)} of ${full(total)}`}
			</span>
			<button type="button" disabled={offset + rows >= total} onClick={() => set({ offset: offset + LIMIT })}>Next</button>
		</div>
	);
}

/** Where a row leads: to its line of source, or to the lines of its object or function. */
function rowAddress(answer: TableAnswer, { profile, params }: PageProps) {
	const at = (key: string) => answer.columns.findIndex((column) => column.key === key);
	const [file, line] = [at("file"), at("line")];
	const first = answer.columns[0]?.key;
	return (row: Cell[]) => {
		if (file >= 0 && row[file]) {
			return href("source", { p: profile, level: params["level"], input: params["input"], file: String(row[file]), line: line < 0 ? null : Number(row[line]) });
		}
		if (row[0] === null || (first !== "object" && first !== "function")) return null;
		const within = first === "object" ? "file,line,function" : "file,line,object";
		return href("tables", { ...params, by: `${first},${within}`, filter: String(row[0]), offset: null });
	};
}

export function Tables(props: PageProps) {
	const { profile, params, set } = props;
	const { level, levels } = useLevel(props);
	const input = params["input"];
	const dimensions = useAnswer<string[]>(`/api/p/${profile}/dimensions`, { input }).answer ?? ["object"];
	const by = (params["by"] ?? "object").split(",");
	const offset = Number(params["offset"] ?? 0);
	const sort = params["sort"] ?? "misses";
	const mine = !input && params["mine"] !== "0";
	const query = { by: by.join(","), level, mine: mine ? "1" : undefined, sort, order: params["order"] ?? "desc", filter: params["filter"], input };
	const asked = useAnswer<TableAnswer>(level && `/api/p/${profile}/table`, { ...query, offset, limit: LIMIT });
	useSheet(asked.answer && {
		headings: asked.answer.columns.map(({ key }) => key),
		rows: asked.answer.rows,
		all: () => getAll<Cell[]>(`/api/p/${profile}/table`, query),
	});
	return (
		<>
			<div class="controls">
				<ByChoice dimensions={dimensions} by={by} set={set} />
				<LevelChoice level={level} levels={levels} set={set} />
				<Filter value={params["filter"] ?? ""} set={set} />
				{!input && <Mine checked={mine} set={set} />}
			</div>
			<Answer of={asked}>
				{(answer) => (
					<>
						<Table caption={`Counts by ${by.join(" and ")}`} {...answer} rowHref={rowAddress(answer, props)}
							sorting={{ key: sort, descending: params["order"] !== "asc" }}
							onSort={({ key, descending }) => set({ sort: key, order: descending ? null : "asc", offset: null })} />
						{mine && answer.total_rows === 0 && <p>None of it is of your code, nor of what your code made run.</p>}
						<Paging offset={offset} rows={answer.rows.length} total={answer.total_rows} set={set} />
					</>
				)}
			</Answer>
		</>
	);
}
