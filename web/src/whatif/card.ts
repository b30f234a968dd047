// SPDX-License-Identifier: MIT
// card.ts - a candidate and its prediction in Markdown, to paste into a pull request; and the commands that give the same.
import type { PredictedLevel, Structure } from "../answers";
import { full } from "../common/format";
import { holes, transformations, type Candidate, type Part } from "./layout";

/** A level before and after. */
export interface Change {
	before: PredictedLevel;
	after: PredictedLevel;
}

export const changesOf = (rows: PredictedLevel[]): Change[] =>
	rows.filter(({ candidate }) => candidate === "A").flatMap((before) => {
		const after = rows.find(({ candidate, level }) => candidate === "B" && level === before.level);
		return after ? [{ before, after }] : [];
	});

/** Whether other placements of memory change as much. */
const isNoEffect = ({ before, after }: Change) =>
	after.misses === before.misses || (before.least !== null && before.greatest !== null && after.misses >= before.least && after.misses <= before.greatest);

const signed = (value: number) => `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(value).toFixed(1)} %`;

export const changeText = ({ change_percent: percent }: PredictedLevel) => (percent === null ? "–" : signed(percent));

/** One sentence that can be quoted. */
export function verdict(change: Change): string {
	const { before, after } = change;
	if (isNoEffect(change)) return `No effect on ${before.level}: ${full(before.misses)} misses before, ${full(after.misses)} predicted.`;
	return `${full(after.misses)} misses of ${before.level} are predicted instead of ${full(before.misses)} (${changeText(after)}).`;
}

/** A word of a shell's command. */
const quoted = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

export const whatifCommand = (trace: string, cache: string | undefined, text: string) =>
	`nearmiss whatif ${quoted(trace)} --cache ${quoted(cache ?? "SPEC")} --apply ${quoted(text)}`;

const cell = (text: string) => text.replace(/[\\|`*_<>[\]]/g, "\\$&");
const row = (cells: string[]) => `|${cells.join("|")}|\n`;

function layoutTable(parts: Part[]): string {
	return parts.map((part, n) => {
		const unused = holes(part).reduce((sum, [, bytes]) => sum + bytes, 0);
		return `\n${n ? "Second part" : "Layout"}: ${part.size} bytes, ${unused} of them unused\n\n` +
			row(["field", "offset", "bytes", "was at"]) + row(["---", "--:", "--:", "--:"]) +
			part.members.map(({ member, offset }) => row([cell(member.name), String(offset), String(member.size), String(member.offset)])).join("");
	}).join("");
}

/** changes: none without a prediction. */
export function card(structure: Structure, candidate: Candidate, parts: Part[], changes: Change[], command: string | null): string {
	const levels = changes.length === 0 ? "" : row(["level", "misses", "predicted", "change", "other placements"]) + row(["---", "--:", "--:", "--:", "--:"]) +
		changes.map(({ before, after }) => row([cell(before.level), full(before.misses), full(after.misses), changeText(after),
			after.least === null || after.greatest === null ? "–" : `${full(after.least)} to ${full(after.greatest)}`])).join("");
	const first = changes[0];
	return `### ${cell(structure.type)}: ${cell(transformations(structure, candidate))}\n\n${first ? `${verdict(first)}\n\n` : ""}${levels}` +
		layoutTable(parts) + (command ? `\n\`\`\`\n${command}\n\`\`\`\n` : "");
}
