// SPDX-License-Identifier: MIT
// source.tsx - a file with the heat of its lines beside it; a line opens what is known of it: objects, classes, reuse,
// evictors, call chains.
import type { Cell, Column, LineAnswer, OverviewAnswer, SourceAnswer, SourceFile } from "../answers";
import { Answer, useAnswer } from "../common/answer";
import { Choice, LevelChoice, useLevel } from "../common/choice";
import { classColors } from "../common/colors";
import { useSheet } from "../common/csv";
import { brief, full, percent, place, sentence, short } from "../common/format";
import { Lacking } from "../common/lacking";
import { Table } from "../common/table";
import { lackOf } from "../needs";
import { href } from "../router";
import type { PageProps } from "../views";
import { Listing, missesOf } from "./listing";
import { Legend } from "./overview";
import { Suggestions } from "./suggestions";

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
				rowHref={([object]) => href("tables", { p: profile, by: "object,file,line", filter: String(object), mine: "0", input })} />
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

/** Chains that are shown of a line. */
const MOST_CHAINS = 5;

/** The calls that led to a line, each with the place that calls; or how to record them. */
function Led({ chains, props: { profile, session } }: { chains: LineAnswer["chains"]; props: PageProps }) {
	const shown = session.profiles[Number(profile)];
	const lack = shown && lackOf(shown, "contexts");
	if (lack) return <details><summary>Call chains</summary><Lacking of={lack} /></details>;
	const all = chains?.reduce((sum, { misses }) => sum + misses, 0);
	if (!chains || !all) return null;
	return (
		<section aria-label="Call chains">
			<h3>Call chains</h3>
			<ol class="calls">
				{chains.slice(0, MOST_CHAINS).map(({ misses, calls }, n) => (
					<li key={n}>
						{`${percent(misses / all)}: `}
						{calls.length === 0 && "no call is known"}
						{calls.map(({ function: name, file, line }, at) => (
							<span key={at}>
								{at > 0 && " < "}<span title={name ?? undefined}>{brief(name ?? "unknown")}</span>
								{file && <>{" ("}<a href={href("source", { p: profile, file, line })}>{place(file, line)}</a>)</>}
							</span>
						))}
					</li>
				))}
			</ol>
			{chains.length > MOST_CHAINS && <p class="fine">{`${chains.length - MOST_CHAINS} more chains. `}<a href={href("chains", { p: profile })}>All of them</a></p>}
		</section>
	);
}

function Popover({ props, file, line, level }: { props: PageProps; file: string; line: string; level: string | null | undefined }) {
	const input = props.params["input"];
	const asked = useAnswer<LineAnswer>(level && `/api/p/${props.profile}/line`, { file, line, level, input });
	const { advice = [] } = useAnswer<OverviewAnswer>(`/api/p/${props.profile}/overview`).answer ?? {};
	const here = input ? [] : advice.filter((one) => one.file === file && one.line === Number(line));
	const close = () => props.set({ line: null });
	return (
		<aside class="popover" aria-label={`Line ${line}`} onKeyDown={(event) => event.key === "Escape" && close()}>
			<h2>{place(file, Number(line))}</h2>
			<button type="button" class="close" onClick={close}>Close</button>
			<Suggestions advice={here} profile={props.profile} level={null} />
			<Answer of={asked}>
				{(answer) => (
					<>
						<Details answer={answer} profile={props.profile} input={input} />
						{!input && <Led chains={answer.chains} props={props} />}
					</>
				)}
			</Answer>
		</aside>
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
			<div class="controls" aria-busy={sources.waiting}>
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
