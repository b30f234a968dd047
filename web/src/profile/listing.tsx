// SPDX-License-Identifier: MIT
// listing.tsx - the text of a file with the misses of each line, a strip of the whole file's, and ways to its hot lines.
import { useEffect, useRef } from "preact/hooks";
import type { SourceAnswer } from "../answers";
import { heat } from "../common/colors";
import { baseName, full, short } from "../common/format";
import { highlight, type Piece } from "../common/highlight";
import { useTheme } from "../common/theme";
import { go, href } from "../router";
import type { PageProps } from "../views";

type Line = SourceAnswer["lines"][number];

/** Lines that are drawn at most, around the one that is open. */
const WINDOW = 3000;

/** Hot lines have this part of a file's misses, and are at most so many. */
const HOT = 0.01;
const MOST_HOT = 60;

export const missesOf = (line: Line): number => Number(line.figures?.["misses"] ?? 0);

/** The hot lines of a file, in its order. */
function hotLines(lines: Line[]): Line[] {
	const all = lines.reduce((sum, line) => sum + missesOf(line), 0);
	const hot = lines.filter((line) => missesOf(line) > 0 && missesOf(line) >= HOT * all);
	return hot.sort((a, b) => missesOf(b) - missesOf(a)).slice(0, MOST_HOT).sort((a, b) => a.n - b.n);
}

function Row({ line, pieces, most, open, props }: { line: Line; pieces: Piece[]; most: number; open: boolean; props: PageProps }) {
	const theme = useTheme();
	const misses = missesOf(line);
	const color = heat(misses > 0 ? 0.08 + 0.92 * (misses / most) : 0, theme);
	const number = line.figures && (line.figures["misses"] ?? null) !== null ? <a href={href("source", { ...props.params, line: line.n })}
		aria-current={open ? "true" : undefined} aria-label={`Line ${line.n}, ${full(misses)} misses`}>{line.n}</a> : line.n;
	return (
		<tr id={`line-${line.n}`} class={open ? "open" : undefined}>
			<td class="line-number">{number}</td>
			<td class="heat" style={{ backgroundColor: color.background, color: color.text }}>{misses > 0 ? short(misses) : ""}</td>
			<td class="code">{pieces.map(({ text, kind }, n) => (kind ? <span key={n} class={`code-${kind}`}>{text}</span> : text))}</td>
		</tr>
	);
}

/** The hot lines as marks beside the scroll bar, each where it stands in the file. */
function Strip({ hot, most, last, address }: { hot: Line[]; most: number; last: number; address: (line: Line) => string }) {
	const theme = useTheme();
	return (
		<nav class="strip" aria-label="Hot lines">
			{hot.map((line) => (
				<a key={line.n} href={address(line)} aria-label={`Line ${line.n}, ${full(missesOf(line))} misses`} title={`Line ${line.n}: ${full(missesOf(line))} misses`}
					style={{ top: `${(100 * line.n) / last}%`, backgroundColor: heat(0.3 + 0.7 * (missesOf(line) / most), theme).background }} />
			))}
		</nav>
	);
}

export function Listing({ answer, props }: { answer: SourceAnswer; props: PageProps }) {
	const openLine = Number(props.params["line"] ?? 0);
	const listing = useRef<HTMLDivElement>(null);
	const most = Math.max(1, ...answer.lines.map(missesOf));
	const hot = hotLines(answer.lines);
	const hottest = answer.lines.reduce((best, line) => (missesOf(line) > missesOf(best) ? line : best), answer.lines[0] as Line);
	const current = openLine || hottest?.n || 0;
	const at = answer.lines.findIndex(({ n }) => n === current);
	const first = Math.max(0, Math.min(at - WINDOW / 2, answer.lines.length - WINDOW));
	const shown = answer.lines.slice(first, first + WINDOW);
	const pieces = highlight(answer.file, shown.map(({ text }) => text ?? ""));
	const address = ({ n }: Line) => href("source", { ...props.params, line: n });
	const [before, after] = [hot.filter(({ n }) => n < current).at(-1), hot.find(({ n }) => n > current)];
	useEffect(() => {
		const box = listing.current;
		const row = box?.querySelector<HTMLElement>(`#line-${current}`);
		if (box && row) box.scrollTop += row.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 3;
	}, [answer, openLine]);
	return (
		<div>
			{openLine > 0 && at < 0 && <p role="alert">{`There is no line ${full(openLine)}: ${baseName(answer.file)} ends at line ${full(answer.lines.at(-1)?.n ?? 0)}.`}</p>}
			<div class="controls">
				<button type="button" disabled={!before} onClick={() => before && go(address(before))}>Hot line before</button>
				<button type="button" disabled={!after} onClick={() => after && go(address(after))}>Next hot line</button>
			</div>
			<div class="stripped">
				<div class="scroll listing" ref={listing} tabIndex={0} role="region" aria-label={answer.file}>
					<table>
						<thead><tr><th scope="col">Line</th><th scope="col">Misses</th><th scope="col">Source</th></tr></thead>
						<tbody>
							{first > 0 && <tr><td colSpan={3} class="fine">{`${full(first)} lines before`}</td></tr>}
							{shown.map((line, n) => <Row key={line.n} line={line} pieces={pieces[n] ?? []} most={most} open={line.n === openLine} props={props} />)}
							{first + WINDOW < answer.lines.length && <tr><td colSpan={3} class="fine">{`${full(answer.lines.length - first - WINDOW)} lines more`}</td></tr>}
						</tbody>
					</table>
				</div>
				<Strip hot={hot} most={most} last={answer.lines.at(-1)?.n ?? 1} address={address} />
			</div>
		</div>
	);
}
