// SPDX-License-Identifier: MIT
// page.tsx - a structure whose fields can be moved, its lines then, and the misses that `nearmiss whatif` predicts.
import type { Column, OverviewAnswer, Prediction, SessionProfile, Structure } from "../answers";
import { Answer, useAnswer } from "../common/answer";
import { Choice, LevelChoice, useLevel } from "../common/choice";
import { useSheet } from "../common/csv";
import { brief, bytes, full, short } from "../common/format";
import { Lacking } from "../common/lacking";
import { Lines } from "../common/lines";
import { Table } from "../common/table";
import { lackOf, type Lack } from "../needs";
import type { PageProps } from "../views";
import { Board } from "./board";
import { card, changesOf, changeText, verdict, whatifCommand, type Change } from "./card";
import { asRecorded, fieldsOf, holes, isAsRecorded, place, read, transformations, written, type Candidate, type Part } from "./layout";
import { usePredictor, type Predictor } from "./prediction";

export { keys } from "./board";

function Drawing({ structure, parts }: { structure: Structure; parts: Part[] }) {
	const missesOf = (part: Part) => part.members.map(({ member, offset }) => ({
		name: member.name,
		offset,
		size: member.size,
		misses: fieldsOf(structure, member).reduce((sum, { misses }) => sum + misses, 0),
	}));
	const drawn = parts.map(missesOf);
	const most = Math.max(1, ...drawn.flat().map(({ misses }) => misses));
	const unused = parts.map((part) => holes(part).reduce((sum, [, count]) => sum + count, 0));
	const estimated = structure.members.filter((member) => member.estimated).map(({ name }) => name);
	return (
		<>
			<p>
				{parts.map(({ size, pointer }, n) =>
					`${n ? "Second part: " : ""}${bytes(size)}${n || size === structure.size ? "" : ` instead of ${bytes(structure.size)}`}, ${full(unused[n] ?? 0)} bytes unused` +
					`${pointer === null ? "" : `, a pointer at ${pointer}`}. `).join("")}
				Each row is a line of 64 bytes, if the structure starts on one; misses are those of the recording.
			</p>
			{parts.map((part, n) => <Lines key={n} most={most} of={{ type: n ? "Second part" : structure.type, size: part.size, fields: drawn[n] ?? [] }} />)}
			{estimated.length > 0 && <p class="fine">{`Places behind ${estimated.join(", ")} are estimated: the profile does not hold the alignment of arrays of structures.`}</p>}
		</>
	);
}

function Progress({ now, total, cancel }: { now: Prediction; total: number; cancel: () => void }) {
	const share = Math.min(1, (now.references ?? 0) / Math.max(1, total));
	return (
		<div class="controls">
			<progress aria-label="References replayed" value={share} max={1} />
			<span>{`${short(now.references ?? 0)} of ${short(total)} references`}</span>
			<button type="button" onClick={cancel}>Cancel</button>
		</div>
	);
}

const columns: Column[] = [
	{ key: "level", heading: "Level", kind: "text" },
	{ key: "misses", heading: "Misses", kind: "number", unit: "count" },
	{ key: "predicted", heading: "Predicted", kind: "number", unit: "count" },
	{ key: "change", heading: "Change", kind: "text" },
	{ key: "least", heading: "Least", kind: "number", unit: "count", help: "of other placements of memory" },
	{ key: "greatest", heading: "Greatest", kind: "number", unit: "count", help: "of other placements of memory" },
];

const rowsOf = (changes: Change[]) =>
	changes.map(({ before, after }) => [before.level, before.misses, after.misses, changeText(after), after.least, after.greatest]);

interface PanelProps {
	profile: SessionProfile;
	predictor: Predictor;
	/** As --apply takes it; "": as recorded. */
	text: string;
	changes: Change[];
	level: string;
}

function Panel({ profile, predictor: { now, error, start, cancel }, text, changes, level }: PanelProps) {
	const mine = now?.profile === profile.n && now.candidate === text ? now : null;
	const runs = now?.state === "running";
	return (
		<>
			<div class="controls">
				<button type="button" disabled={!text || runs} onClick={() => start(profile.n, text)}>Predict misses</button>
				{!text && <span class="fine">The layout is as recorded: move a field first.</span>}
			</div>
			{runs && !mine && <p>{`Another layout is being predicted: ${now.candidate}`}</p>}
			{runs && <Progress now={now} total={Number(profile.references)} cancel={cancel} />}
			{error && <p class="failed" role="alert">{error}</p>}
			{mine?.state === "cancelled" && <p role="status">Cancelled.</p>}
			{mine?.state === "failed" && <pre class="failed" role="alert" tabIndex={0}>{mine.messages}</pre>}
			{mine?.state === "done" && (
				<div role="status">
					{changes.filter(({ before }) => before.level === level).map((change) => <p key={level} class="verdict">{verdict(change)}</p>)}
					{mine.messages && <pre tabIndex={0}>{mine.messages}</pre>}
				</div>
			)}
			{changes.length > 0 && <Table caption="Predicted misses" columns={columns} rows={rowsOf(changes)} />}
		</>
	);
}

function NoTrace({ lack }: { lack: Lack }) {
	return (
		<>
			<Lacking of={lack} />
			{lack.command && <p>A trace that is kept elsewhere is named by <code>nearmiss view --trace FILE</code>.</p>}
		</>
	);
}

function Card({ text }: { text: string }) {
	return (
		<details>
			<summary>As Markdown</summary>
			<textarea readOnly rows={14} aria-label="The candidate as Markdown" value={text} />
			<button type="button" onClick={() => navigator.clipboard?.writeText(text)}>Copy</button>
		</details>
	);
}

interface OneProps extends PageProps {
	structure: Structure;
	level: string;
	spec: string | undefined;
}

function One({ structure, level, spec, session, profile: number, params, set }: OneProps) {
	const profile = session.profiles[Number(number)] as SessionProfile;
	const candidate = read(structure, params["layout"], params["split"]);
	const parts = place(structure, candidate);
	const text = transformations(structure, candidate);
	const lack = lackOf(profile, "trace");
	const predictor = usePredictor(lack === null);
	const { now } = predictor;
	const changes = now?.state === "done" && now.profile === profile.n && now.candidate === text ? changesOf(now.rows ?? []) : [];
	const change = (next: Candidate) =>
		set({ type: structure.type, layout: isAsRecorded(next) ? null : written(next), split: next.parts[1].length && next.way === "pointer" ? next.way : null });
	useSheet(changes.length
		? { headings: columns.map(({ key }) => key), rows: rowsOf(changes) }
		: { headings: ["part", "field", "offset", "bytes"], rows: parts.flatMap((part, n) => part.members.map(({ member, offset }) => [n + 1, member.name, offset, member.size])) });
	return (
		<>
			<div class="controls">
				{candidate.parts[1].length > 0 && (
					<Choice label="The second part is" value={candidate.way} options={[{ value: "parallel", title: "an array beside the first" }, { value: "pointer", title: "behind a pointer" }]}
						onChange={(value) => change({ ...candidate, way: value === "pointer" ? "pointer" : "parallel" })} />
				)}
				<button type="button" disabled={!text} onClick={() => change(asRecorded(structure))}>As recorded</button>
			</div>
			<div class="beside">
				<div><Drawing structure={structure} parts={parts} /></div>
				<Board structure={structure} candidate={candidate} parts={parts} onChange={change} />
			</div>
			<h2>Predicted misses</h2>
			{lack ? <NoTrace lack={lack} /> : <Panel profile={profile} predictor={predictor} text={text} changes={changes} level={level} />}
			{text && <Card text={card(structure, candidate, parts, changes, profile.trace && !lack ? whatifCommand(profile.trace, spec, text) : null)} />}
		</>
	);
}

export function WhatIf(props: PageProps) {
	const { profile, params, set } = props;
	const { level, levels } = useLevel(props);
	const { answer: overview } = useAnswer<OverviewAnswer>(`/api/p/${profile}/overview`);
	const asked = useAnswer<Structure[]>(level && `/api/p/${profile}/structures`, { level });
	return (
		<Answer of={asked}>
			{(structures) => {
				const movable = structures.filter(({ members }) => members.length > 1);
				const shown = movable.find(({ type }) => type === params["type"]) ?? movable[0];
				return (
					<>
						<div class="controls">
							<Choice label="Structure (misses)" value={shown?.type ?? ""} onChange={(value) => set({ type: value, layout: null, split: null })}
								options={movable.map(({ type, misses }) => ({ value: type, title: `${brief(type)} (${short(misses)})` }))} />
							<LevelChoice level={level} levels={levels} set={set} />
						</div>
						{shown && level
							? <One key={shown.type} {...props} structure={shown} level={level} spec={overview?.info["machine_spec"]} />
							: <p>No structure with debug information was accessed: compile with -g.</p>}
					</>
				);
			}}
		</Answer>
	);
}
