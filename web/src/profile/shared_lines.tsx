// SPDX-License-Identifier: MIT
// shared_lines.tsx - whether threads share data or only lines: the verdict, and for each contended line of memory who touches
// which of its bytes from where, who takes it from whom, and the repair.
import type { Cell, Column, SharedLine, SharedLinesAnswer } from "../answers";
import { full, percent, place, sentence } from "../common/format";
import { Table } from "../common/table";
import { href } from "../router";

const number = (key: string, heading: string, help?: string): Column => ({ key, heading, help, unit: "count", kind: "number" });
const text = (key: string, heading: string): Column => ({ key, heading, kind: "text" });

const TOUCHES: Column[] = [
	text("line", "Line"), text("thread", "Thread"), text("data", "Data"), text("bytes", "Bytes"),
	number("reads", "Reads"), number("writes", "Writes"), number("misses", "Misses", "Coherence misses: another core had written to the line"),
	number("false_misses", "false", "Of these, false sharing: the bytes that it uses were not written"),
];
const TAKERS: Column[] = [
	text("line", "Taken at"), text("thread", "by thread"), text("victim_line", "loaded at"), text("victim_thread", "by thread"),
	number("invalidations", "Times"),
];

/** Rows below this part of a line's misses, or of its accesses, are left out. */
const SMALL = 0.01;

/** What contention is, by its misses and those of them that are false sharing. */
function kindOf(misses: number, falseMisses: number): string {
	const share = misses > 0 ? falseMisses / misses : 0;
	return share >= 0.9 ? "false sharing" : share <= 0.1 ? "true sharing" : "true and false sharing";
}

/** Whether contention has a part in the misses of the level, `all`, that is worth a repair. */
const isWorth = ({ misses = 0 }: SharedLinesAnswer, all: number) => misses > 0 && misses >= SMALL * all;

function verdictOf(answer: SharedLinesAnswer, all: number): string {
	const { lines = 0, misses = 0, false_misses = 0, note } = answer;
	if (note !== null) return note;
	if (misses === 0) return "No sharing: no core missed a line because another one had written to it";
	if (!isWorth(answer, all)) return `Hardly any sharing: ${full(misses)} of ${full(all)} misses are of lines that another core had written to`;
	const part = `${percent(false_misses / misses)} of ${full(misses)} coherence misses, on ${full(lines)} lines of memory, are of bytes that no other core wrote`;
	const kind = kindOf(misses, false_misses);
	const meaning = kind === "false sharing" ? "Threads share lines, not data: padding or moving fields removes these misses"
		: kind === "true sharing" ? "Threads use data that others write: only less communication removes these misses"
		: "Padding or moving fields removes the false part";
	return `${kind[0]?.toUpperCase()}${kind.slice(1)}: ${part}. ${meaning}`;
}

const where = (file: string | null, line: number | null, profile: string) => (file ? href("source", { p: profile, file, line }) : null);
const link = (shown: string, address: string | null) => (address ? <a href={address}>{shown}</a> : undefined);

/** "2", or "2 of worker" where all processes ran on one machine. */
const threadOf = (thread: number, process?: string) => (process ? `${thread} of ${process}` : String(thread));

function Touches({ of: { touches, misses, block }, profile }: { of: SharedLine; profile: string }) {
	const all = touches.reduce((sum, { reads, writes }) => sum + reads + writes, 0);
	const shown = touches.filter((one) => one.misses >= SMALL * misses || one.reads + one.writes >= SMALL * all);
	const rows = shown.map((one): Cell[] => [
		place(one.file, one.line, one.function), threadOf(one.thread, one.thread_process), [one.object, one.field].filter(Boolean).join("."),
		`${one.offset} to ${one.offset + one.bytes - 1}`, one.reads, one.writes, one.misses, one.false_misses,
	]);
	const left = touches.length - shown.length;
	return (
		<>
			<Table caption={`Accesses to line 0x${block.toString(16)}`} columns={TOUCHES} rows={rows} rowHref={(_, at) => where(shown[at]?.file ?? null, shown[at]?.line ?? null, profile)} />
			{left > 0 && <p class="fine">{`${full(left)} more below 1 %.`}</p>}
		</>
	);
}

function Takers({ of: { takers, block }, profile }: { of: SharedLine; profile: string }) {
	const most = Math.max(...takers.map(({ invalidations }) => invalidations));
	const shown = takers.filter(({ invalidations }) => invalidations > 0 && invalidations >= SMALL * most);
	const rows = shown.map((one): Cell[] => [
		place(one.file, one.line, one.function), threadOf(one.thread, one.thread_process),
		place(one.victim_file, one.victim_line, one.victim_function), threadOf(one.victim_thread, one.victim_process), one.invalidations,
	]);
	if (shown.length === 0) return null;
	return (
		<Table caption={`Who takes line 0x${block.toString(16)} from whom`} columns={TAKERS} rows={rows}
			rowHref={(_, at) => where(shown[at]?.file ?? null, shown[at]?.line ?? null, profile)}
			cell={(_, { key }, at, shownText) => (key === "victim_line" ? link(shownText, where(shown[at]?.victim_file ?? null, shown[at]?.victim_line ?? null, profile)) : undefined)} />
	);
}

/** `all`: the misses of the level. */
export function SharedLines({ answer, profile, all }: { answer: SharedLinesAnswer; profile: string; all: number }) {
	const shown = isWorth(answer, all) ? answer.rows.filter(({ misses }) => misses >= SMALL * (answer.misses ?? 0)) : [];
	const rest = (answer.lines ?? 0) - shown.length;
	const restMisses = (answer.misses ?? 0) - shown.reduce((sum, { misses }) => sum + misses, 0);
	return (
		<>
			<p class="verdict sentence">{sentence(verdictOf(answer, all))}</p>
			{shown.map((line) => (
				<article key={`${line.process} ${line.block}`} class="card shared">
					<h2>{`${line.touches.find(({ object }) => object)?.object ?? "Line"}, 0x${line.block.toString(16)}: ${kindOf(line.misses, line.false_misses)}`}</h2>
					<p class="fine">{`${full(line.misses)} coherence misses, ${full(line.false_misses)} of them false sharing; ${full(line.threads)} threads.`}</p>
					{line.repair && <p class="repair"><strong>Repair: </strong>{sentence(line.repair)}</p>}
					<Touches of={line} profile={profile} />
					<Takers of={line} profile={profile} />
				</article>
			))}
			{rest > 0 && shown.length > 0 && <p class="fine">{`${full(rest)} more lines have ${full(restMisses)} of the misses.`}</p>}
		</>
	);
}
