// SPDX-License-Identifier: MIT
// source.tsx - a file with the heat of its lines beside it; a line opens what is known of it: objects, classes, reuse,
// evictors.
import { useEffect, useRef } from "preact/hooks";
import type { Cell, Column, LineAnswer, SourceAnswer, SourceFile } from "../answers";
import { Answer, useAnswer } from "../common/answer";
import { Choice, LevelChoice, useLevel } from "../common/choice";
import { classColors, heat } from "../common/colors";
import { useSheet } from "../common/csv";
import { full, place, sentence, short } from "../common/format";
import { Table } from "../common/table";
import { useTheme } from "../common/theme";
import { href } from "../router";
import type { PageProps } from "../views";
import { Legend } from "./overview";

type Line = SourceAnswer["lines"][number];

/** Lines that are drawn at most, around the one that is open. */
const WINDOW = 3000;

const missesOf = (line: Line): number => Number(line.figures?.["misses"] ?? 0);

const objectColumns: Column[] = [
	{ key: "object", heading: "Object", kind: "text" },
	{ key: "function", heading: "Function", kind: "text" },
	{ key: "misses", heading: "Misses", unit: "count", kind: "number" },
	{ key: "perload", heading: "Uses per load", unit: "ratio", kind: "number", help: "Accesses that each loaded line served" },
];

const evictorColumns: Column[] = [
	{ key: "evictor", heading: "Evicted by", kind: "text" },
	{ key: "place", heading: "at", kind: "text" },
	{ key: "count", heading: "Times", unit: "count", kind: "number" },
];

const reuseColumns: Column[] = [
	{ key: "place", heading: "Used before at", kind: "text" },
	{ key: "object", heading: "of object", kind: "text" },
	{ key: "count", heading: "Times", unit: "count", kind: "number" },
];

function Details({ answer, profile, input }: { answer: LineAnswer; profile: string; input?: string | undefined }) {
	const { evictors = [], reuses = [] } = answer;
	const columns = input ? objectColumns.filter(({ key }) => key !== "perload") : objectColumns;
	const classes = Object.entries(answer.classes ?? {}).filter(([, count]) => count > 0);
	const objects: Cell[][] = answer.objects.map((row) => [row.object ?? "unknown", row.function, row.misses, row.loads && row.reuse !== undefined ? row.reuse / row.loads : null]);
	const sum = classes.reduce((before, [, count]) => before + count, 0);
	if (objects.length === 0) return <p>{input ? `${input} missed nothing here.` : "No reference was made from this line."}</p>;
	return (
		<>
			{sum > 0 && (
				<>
					<div class="stack" role="img" aria-label={classes.map(([name, count]) => `${name} ${full(count)}`).join(", ")}>
						{classes.map(([name, count]) => (
							<span key={name} title={`${name}: ${full(count)}`} style={{ width: `${(count / sum) * 100}%`, backgroundColor: classColors[name] }} />
						))}
					</div>
					<Legend names={classes.map(([name]) => name)} />
				</>
			)}
			{answer.reuse ? (
				<p>
					{answer.reuse.per_load !== null && `Each loaded line served ${answer.reuse.per_load.toFixed(1)} accesses. `}
					{answer.reuse.waste !== null && `${answer.reuse.waste.toFixed(0)} % of the loaded bytes were never used.`}
				</p>
			) : <p>Classes, reuse and evictors are known of all ranks together only.</p>}
			<Table caption="Objects of this line" columns={columns} rows={objects}
				rowHref={([object]) => href("tables", { p: profile, by: "object,file,line", filter: String(object), input })} />
			{evictors.length > 0 && (
				<Table caption="Who evicts what this line loaded" columns={evictorColumns}
					rows={evictors.map((row) => [row.object ?? "unknown", place(row.file, row.line, row.function), row.evictions])} most={8} more=""
					rowHref={(_, at) => href("evictions", { p: profile, evictor: evictors[at]?.object, victim: evictors[at]?.victim })} />
			)}
			{reuses.length > 0 && (
				<Table caption="Where its data was used before" columns={reuseColumns} most={8} more=""
					rows={reuses.map((row) => [place(row.previous_file, row.previous_line, row.previous_function), row.previous_object, row.count])} />
			)}
		</>
	);
}

function Popover({ props, file, line, level }: { props: PageProps; file: string; line: string; level: string | null }) {
	const input = props.params["input"];
	const asked = useAnswer<LineAnswer>(level && `/api/p/${props.profile}/line`, { file, line, level, input });
	const close = () => props.set({ line: null });
	return (
		<aside class="popover" aria-label={`Line ${line}`} onKeyDown={(event) => event.key === "Escape" && close()}>
			<h2>{place(file, Number(line))}</h2>
			<button type="button" class="close" onClick={close}>Close</button>
			<Answer of={asked}>{(answer) => <Details answer={answer} profile={props.profile} input={input} />}</Answer>
		</aside>
	);
}

function Row({ line, most, open, props }: { line: Line; most: number; open: boolean; props: PageProps }) {
	const theme = useTheme();
	const misses = missesOf(line);
	const color = heat(misses > 0 ? 0.08 + 0.92 * (misses / most) : 0, theme);
	const number = line.figures && (line.figures["misses"] ?? null) !== null ? <a id={`line-${line.n}`} href={href("source", { ...props.params, line: line.n })}
		aria-current={open ? "true" : undefined} aria-label={`Line ${line.n}, ${full(misses)} misses`}>{line.n}</a> : line.n;
	return (
		<tr class={open ? "open" : undefined}>
			<td class="line-number">{number}</td>
			<td class="heat" style={{ backgroundColor: color.background, color: color.text }}>{misses > 0 ? short(misses) : ""}</td>
			<td class="code">{line.text ?? ""}</td>
		</tr>
	);
}

function Listing({ answer, props }: { answer: SourceAnswer; props: PageProps }) {
	const openLine = Number(props.params["line"] ?? 0);
	const listing = useRef<HTMLDivElement>(null);
	const most = Math.max(1, ...answer.lines.map(missesOf));
	const hottest = answer.lines.reduce((best, line) => (missesOf(line) > missesOf(best) ? line : best), answer.lines[0] as Line);
	const at = answer.lines.findIndex(({ n }) => n === (openLine || hottest?.n));
	const first = Math.max(0, Math.min(at - WINDOW / 2, answer.lines.length - WINDOW));
	const shown = answer.lines.slice(first, first + WINDOW);
	useEffect(() => {
		const box = listing.current;
		const row = box?.querySelector<HTMLElement>(`#line-${openLine || hottest?.n}`);
		if (box && row) box.scrollTop += row.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 3;
	}, [answer, openLine]);
	return (
		<div class="scroll listing" ref={listing} tabIndex={0} role="region" aria-label={answer.file}>
			<table>
				<thead><tr><th scope="col">Line</th><th scope="col">Misses</th><th scope="col">Source</th></tr></thead>
				<tbody>
					{first > 0 && <tr><td colSpan={3} class="fine">{`${full(first)} lines before`}</td></tr>}
					{shown.map((line) => <Row key={line.n} line={line} most={most} open={line.n === openLine} props={props} />)}
					{first + WINDOW < answer.lines.length && <tr><td colSpan={3} class="fine">{`${full(answer.lines.length - first - WINDOW)} lines more`}</td></tr>}
				</tbody>
			</table>
		</div>
	);
}

export function Source(props: PageProps) {
	const { profile, params, set } = props;
	const { level, levels } = useLevel(props);
	const input = params["input"];
	const sources = useAnswer<SourceFile[]>(level && `/api/p/${profile}/sources`, { level, input });
	const first = sources.answer?.find(({ available }) => available) ?? sources.answer?.[0];
	const file = params["file"] ?? first?.file ?? null;
	const asked = useAnswer<SourceAnswer>(level && file && `/api/p/${profile}/source`, { file, level, input });
	const line = params["line"];
	useSheet(asked.answer && {
		headings: ["line", "misses", "text"],
		rows: asked.answer.lines.map((each) => [each.n, missesOf(each), each.text]),
	});
	const files = (sources.answer ?? []).map((source) => ({ value: source.file, title: `${source.file} (${short(source.misses)})` }));
	if (file && !files.some(({ value }) => value === file)) files.push({ value: file, title: file });
	return (
		<>
			<div class="controls">
				<Choice label="File (misses)" value={file ?? ""} options={files} onChange={(value) => set({ file: value, line: null })} />
				<LevelChoice level={level} levels={levels} set={set} />
			</div>
			{sources.answer?.length === 0 && <p>{input ? `${input} missed in no known line.` : "No line of the program is known: compile it with -g."}</p>}
			{file && (
				<div class={line ? "beside" : undefined}>
					<Answer of={asked}>
						{(answer) => (
							<>
								{answer.note && <p class="fine sentence">{sentence(answer.note)}</p>}
								<Listing answer={answer} props={{ ...props, params: { ...params, file } }} />
							</>
						)}
					</Answer>
					{line && <Popover props={props} file={file} line={line} level={level} />}
				</div>
			)}
		</>
	);
}
