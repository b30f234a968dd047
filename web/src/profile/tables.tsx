// SPDX-License-Identifier: MIT
// tables.tsx - the counts by any dimensions, sorted and filtered; a part of them at a time.
import type { Cell, TableAnswer } from "../answers";
import { getAll, isSelfContained } from "../api";
import { Answer, useAnswer } from "../common/answer";
import { Choice, LevelChoice, Mine, plain, useLevel } from "../common/choice";
import { useSheet } from "../common/csv";
import { full } from "../common/format";
import { Table, type Sorting } from "../common/table";
import { href } from "../router";
import type { PageProps } from "../views";

const LIMIT = 100;

/** Rows that a self-contained file holds of a table at most, those that miss most (src/view/file/questions.c). */
const HELD = 300;

/** Percent of the misses below which rows are summed, as one. */
const LEAST = 1;

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

/** What is shown of a table; a file cannot sum rows, as ratios are among their figures. */
type Shown = Omit<TableAnswer, "sums" | "rest"> & { sums?: Cell[]; rest?: Cell[] };

function compared(a: Cell, b: Cell): number {
	return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
}

/** The rows that a file holds, sorted and filtered. */
function inFile({ sums, rest, ...answer }: TableAnswer, keys: number, sorting: Sorting, text: string, all: boolean): Shown {
	const at = (key: string) => answer.columns.findIndex((column) => column.key === key);
	const [by, misses, whole] = [at(sorting.key), at("misses"), Number(sums[at("misses")] ?? 0)];
	const found = answer.rows.filter((row) => row.slice(0, keys).some((cell) => String(cell ?? "").toLowerCase().includes(text.toLowerCase())));
	const large = all ? [] : found.filter((row) => Number(row[misses]) * 100 >= LEAST * whole);
	const rows = [...(large.length > 0 ? large : found)].sort((a, b) => {
		const [x, y] = [a[by] ?? null, b[by] ?? null];
		return x === null || y === null ? Number(x === null) - Number(y === null) : compared(x, y) * (sorting.descending ? -1 : 1);
	});
	return { ...answer, rows, total_rows: rows.length, small: found.length - rows.length, ...(text === "" ? { sums } : {}),
		...(text === "" && rows.length === answer.total_rows ? { rest } : {}) };
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
function rowAddress(answer: Pick<TableAnswer, "columns">, { profile, params }: PageProps) {
	const at = (key: string) => answer.columns.findIndex((column) => column.key === key);
	const [file, line] = [at("file"), at("line")];
	const first = answer.columns[0]?.key;
	return (row: Cell[]) => {
		if (file >= 0 && row[file]) {
			return href("source", { p: profile, level: params["level"], input: params["input"], file: String(row[file]), line: line < 0 ? null : Number(row[line]) });
		}
		if (row[0] === null || (first !== "object" && first !== "function")) return null;
		const within = isSelfContained() ? "file,line" : first === "object" ? "file,line,function" : "file,line,object";
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
	const filter = params["filter"] ?? "";
	const descending = params["order"] !== "asc";
	const mine = !input && params["mine"] !== "0";
	const small = params["small"] === "1" || filter !== ""; // who names a row looks for it
	const held = isSelfContained();
	const of = { by: by.join(","), level, mine: mine ? "1" : undefined, input };
	const query = { ...of, sort, order: descending ? "desc" : "asc", filter };
	const asked = useAnswer<TableAnswer>(level && `/api/p/${profile}/table`, held
		? { ...of, sort: "misses", order: "desc", offset: 0, limit: HELD }
		: { ...query, least: small ? undefined : LEAST, offset, limit: LIMIT });
	const answer: Shown | null = asked.answer && held ? inFile(asked.answer, by.length, { key: sort, descending }, filter, small) : asked.answer;
	useSheet(answer && {
		headings: answer.columns.map(({ key }) => key),
		rows: answer.rows,
		all: () => getAll<Cell[]>(`/api/p/${profile}/table`, query),
	});
	return (
		<>
			<div class="controls">
				<ByChoice dimensions={dimensions} by={by} set={set} />
				<LevelChoice level={level} levels={levels} set={set} />
				<Filter value={filter} set={set} />
				{!input && <Mine checked={mine} set={set} />}
				<label class="check">
					<input type="checkbox" checked={small} disabled={filter !== ""} onChange={() => set({ small: small ? null : "1", offset: null })} />
					Rows below 1 %
				</label>
			</div>
			<Answer of={{ ...asked, answer }}>
				{(shown) => (
					<>
						<Table caption={`Counts by ${by.join(" and ")}`} {...shown} rowHref={rowAddress(shown, props)}
							{...(shown.small > 0 ? { restTitle: `${full(shown.small)} more, each below 1 %` } : {})}
							sorting={{ key: sort, descending }}
							onSort={({ key, descending: down }) => set({ sort: key, order: down ? null : "asc", offset: null })} />
						{mine && shown.total_rows === 0 && filter === "" && <p>None of it is of your code, nor of what your code made run.</p>}
						{held && shown.small > 0 && <p class="fine">{`${full(shown.small)} more, each below 1 %.`}</p>}
						{held && (asked.answer?.total_rows ?? 0) > HELD && <p class="fine">{`This file holds the first ${HELD} of ${full(asked.answer?.total_rows ?? 0)} rows.`}</p>}
						<Paging offset={held ? 0 : offset} rows={shown.rows.length} total={shown.total_rows} set={set} />
					</>
				)}
			</Answer>
		</>
	);
}
