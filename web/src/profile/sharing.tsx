// SPDX-License-Identifier: MIT
// sharing.tsx - what cores contend for: the verdict and the lines of memory with their repair (shared_lines.tsx), and counts by
// object, field, function, thread, core or process.
import type { Cell, Column, SharedLinesAnswer, SharingAnswer } from "../answers";
import { getAll } from "../api";
import { Answer, useAnswer } from "../common/answer";
import { Choice, LevelChoice, plain, useLevel } from "../common/choice";
import { useSheet } from "../common/csv";
import { full, place, sentence } from "../common/format";
import { Table } from "../common/table";
import { href } from "../router";
import type { PageProps } from "../views";
import { SharedLines } from "./shared_lines";

/** What a row is, by the choice of the reader. The counts follow, and behind them all else that is known of it. */
const FIRST: Record<string, string[]> = {
	line: ["object", "field", "block", "thread_process", "thread", "core"],
	object: ["object"],
	field: ["object", "field"],
	function: ["function", "thread_process", "victim_function", "victim_process"],
	thread: ["thread_process", "thread", "victim_process", "victim_thread"],
	core: ["core", "victim_core"],
	process: ["thread_process", "victim_process"],
};
const LAST = ["function", "file", "line", "object", "victim", "type", "offset", "bytes", "position", "process"];
const NAMES = new Set([...Object.values(FIRST).flat(), ...LAST]);

/** Headings of keys that do not say what they are. */
const HEADINGS: Record<string, [heading: string, help?: string]> = {
	block: ["cache line"],
	victim_function: ["takes from", "the function that had loaded the line"],
	victim: ["loaded for", "the object for which that core had loaded it"],
	thread_process: ["process"],
	victim_process: ["takes from process"],
	victim_thread: ["takes from thread"],
	victim_core: ["takes from core"],
	misses: ["misses", "coherence misses: another core had written to the line"],
	false_misses: ["false", "of these, false sharing"],
	true_misses: ["true", "of these, true sharing"],
	invalidations: ["copies taken", "copies of other cores that writes invalidated"],
	interventions: ["handed over", "requests that the other core served"],
	writebacks: ["written back", "how often the other core wrote the line back for that"],
	upgrades: ["upgrades", "requests to write to a line that the core could only read"],
};

type Row = SharingAnswer["rows"][number];

/** The keys that have a value in some row, in their order. */
function keysOf(rows: Row[], by: string): string[] {
	const begin = FIRST[by] ?? [];
	const order = (key: string) => (begin.includes(key) ? begin.indexOf(key) : begin.length + 1 + LAST.indexOf(key));
	const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))].sort((a, b) => order(a) - order(b));
	return keys.filter((key) => rows.some((row) => row[key] !== null));
}

function columnOf(key: string, rows: Row[]): Column {
	const [heading = key.replaceAll("_", " "), help] = HEADINGS[key] ?? [];
	return {
		key, heading, help,
		unit: NAMES.has(key) ? null : key === "share" ? "percent" : "count",
		kind: key === "block" || key === "line" || rows.some((row) => typeof row[key] === "string") ? "text" : "number",
	};
}

/** A cell of the page: a line with its file, addresses in hexadecimal. */
function cellOf(key: string, row: Row): Cell {
	const value = row[key] ?? null;
	if (key === "line") return value === null ? null : place(String(row["file"]), Number(value));
	return key === "block" && typeof value === "number" ? `0x${value.toString(16)}` : value;
}

/** The figure that tells whether a row contends at all. */
const mainOf = (row: Row) => Number(row["misses"] ?? 0) || Number(row["invalidations"] ?? 0);

/** Rows below this part of all are summed up in one. */
const SMALL = 0.01;

function Content({ answer: { rows, note }, by, profile }: { answer: SharingAnswer; by: string; profile: string }) {
	const contended = rows.filter((row) => mainOf(row) > 0);
	const all = contended.reduce((sum, row) => sum + mainOf(row), 0);
	const shown = contended.filter((row) => mainOf(row) >= SMALL * all);
	const small = contended.filter((row) => mainOf(row) < SMALL * all);
	if (contended.length === 0) return <p class="sentence">{sentence(note ?? "no line is contended for")}</p>;
	const columns = keysOf(shown, by).filter((key) => key !== "file").map((key) => columnOf(key, shown));
	const cells = shown.map((row) => columns.map(({ key }) => cellOf(key, row)));
	const rest = columns.map(({ key }) => (NAMES.has(key) ? null : small.reduce((sum, row) => sum + Number(row[key] ?? 0), 0)));
	return (
		<Table caption="Contended lines" columns={columns} rows={cells} cell={(_, { key }, at, text) => {
			const row = shown[at];
			return key === "line" && row?.["file"] ? <a href={href("source", { p: profile, file: row["file"], line: row["line"] })}>{text}</a> : undefined;
		}} {...(small.length > 0 ? { rest, restTitle: `${full(small.length)} more, each below 1 %` } : {})} />
	);
}

/** Rows that are asked for, of which small ones are summed up. */
const MOST = 1000;

export function Sharing(props: PageProps) {
	const { profile, params, set } = props;
	const { level, levels, all } = useLevel(props, false);
	const misses = all.find((one) => one.level === level)?.misses ?? 0;
	const by = params["by"] ?? "line";
	const query = { by: by === "line" ? null : by, level };
	const lines = useAnswer<SharedLinesAnswer>(level && `/api/p/${profile}/sharing/lines`, { level });
	const asked = useAnswer<SharingAnswer>(level && `/api/p/${profile}/sharing`, { ...query, limit: MOST });
	const keys = keysOf(asked.answer?.rows ?? [], by);
	const values = (row: Row) => keys.map((key) => row[key] ?? null);
	useSheet(asked.answer && {
		headings: keys,
		rows: asked.answer.rows.map(values),
		all: async () => (await getAll<Row>(`/api/p/${profile}/sharing`, query)).map(values),
	});
	return (
		<>
			<div class="controls"><LevelChoice level={level} levels={levels} set={set} /></div>
			<Answer of={lines}>{(answer) => <SharedLines answer={answer} profile={profile} all={misses} />}</Answer>
			<h2>All contention</h2>
			<div class="controls">
				<Choice label="By" value={by} options={plain(Object.keys(FIRST))} onChange={(value) => set({ by: value })} />
			</div>
			<Answer of={asked}>{(answer) => answer.note === null && <Content answer={answer} by={by} profile={profile} />}</Answer>
		</>
	);
}
