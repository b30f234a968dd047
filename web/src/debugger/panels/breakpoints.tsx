// SPDX-License-Identifier: MIT
// breakpoints.tsx - the list of breakpoints, and the form for one more.  Each kind has the fields of its row
// in KINDS; what is left empty is not asked for.
import { useState } from "preact/hooks";
import { full } from "../../common/format";
import type { Breakpoint, DebuggerSession, NewBreakpoint } from "../types";
import { source } from "../source";
import type { Watch } from "../watch";

type Shape = "text" | "number" | "loops";
type Field = [name: string, label: string, shape: Shape];

const KINDS: Record<string, { label: string; fields: Field[]; isFor?: (session: DebuggerSession) => boolean }> = {
	reference: { label: "reference", fields: [["position", "number", "number"], ["reference", "or name", "text"]] },
	line: { label: "line of code", fields: [["line", "line", "number"], ["file", "file", "text"]] },
	object: { label: "object", fields: [["object", "name", "text"]] },
	section: { label: "section of an array", fields: [["object", "array", "text"], ["from", "from element", "number"],
		["to", "to element", "number"], ["address_from", "or from address", "number"], ["address_to", "to address", "number"]] },
	cache: { label: "area of the cache", fields: [["set_from", "from set", "number"], ["set_to", "to set", "number"],
		["way", "way", "number"]] },
	loops: { label: "loop indices", fields: [["loops", "indices", "loops"]], isFor: ({ kind }) => kind === "nest" },
	evicts: { label: "A evicts B", fields: [["evictor", "A", "text"], ["victim", "B", "text"]] },
	conflict: { label: "conflict miss", fields: [["object", "of object", "text"]] },
	false_sharing: { label: "false sharing", fields: [["object", "of object", "text"]], isFor: ({ cores }) => cores > 1 },
	condition: { label: "condition", fields: [] },
};

/** What all kinds take. */
const ALL: Field[] = [["condition", "if", "text"], ["skip", "skip", "number"]];
const HINTS: Partial<Record<string, string>> = {
	loops: "i=3, j=7", condition: "miss && set < 8", position: "", reference: "Y(j,i)", skip: "matches",
};

export function BreakpointsPanel({ watch }: { watch: Watch }) {
	return (
		<section class="panel breakpoints" aria-label="Breakpoints">
			<h2>Breakpoints</h2>
			<ul>{watch.breakpoints.map((breakpoint) => <Entry key={breakpoint.id} of={breakpoint} watch={watch} />)}</ul>
			<Form watch={watch} />
		</section>
	);
}

function Entry({ of: { id, expression, level, enabled, skip, hits }, watch }: { of: Breakpoint; watch: Watch }) {
	return (
		<li>
			<label>
				<input type="checkbox" checked={enabled} onChange={(event) => {
					const { checked } = event.currentTarget;
					void watch.changeBreakpoints(() => source.enableBreakpoint(id, checked));
				}} />
				{id}: <code>{expression}</code>
			</label>
			<span class="fine">{level}{skip > 0 && `, skips ${full(skip)} matches`}, stopped {hits === 1 ? "once" : `${full(hits)} times`}</span>
			<button type="button" aria-label={`Remove breakpoint ${id}`}
				onClick={() => void watch.changeBreakpoints(() => source.removeBreakpoint(id))}>×</button>
		</li>
	);
}

/** What is wrong with a field, by its name; that of the form as a whole is "". */
type Faults = Record<string, string>;

/** The field that the server's refusal is about: that which it names, or else the condition that the reader wrote. */
function fieldOf(refusal: string, read: NewBreakpoint, fields: Field[]): string {
	const named = /^"(\w+)"/.exec(refusal)?.[1];
	if (named && fields.some(([name]) => name === named)) return named;
	return "condition" in read ? "condition" : "";
}

/** The refusal in the words of the form. */
function worded(refusal: string, fields: Field[]): string {
	return refusal.replace(/^"(\w+)"/, (text, named: string) => fields.find(([name]) => name === named)?.[1] ?? text);
}

function Form({ watch }: { watch: Watch }) {
	const [kind, setKind] = useState("reference");
	const [faults, setFaults] = useState<Faults>({});
	const fields = [...KINDS[kind]!.fields, ...ALL];
	const add = async (event: SubmitEvent) => {
		event.preventDefault();
		const { read, wrong } = readFields(new FormData(event.currentTarget as HTMLFormElement), fields);
		if (Object.keys(wrong).length > 0) return setFaults(wrong);
		const refusal = await watch.addBreakpoint({ ...watch.level(0), kind, ...read });
		setFaults(refusal === null ? {} : { [fieldOf(refusal, read, fields)]: worded(refusal, fields) });
	};
	return (
		<form onSubmit={(event) => void add(event)}>
			<label>Stop at <select value={kind} onChange={(event) => { setKind(event.currentTarget.value); setFaults({}); }}>
				{Object.entries(KINDS).filter(([, { isFor }]) => isFor?.(watch.session) ?? true)
					.map(([name, { label }]) => <option key={name} value={name}>{label}</option>)}
			</select></label>
			{fields.map(([name, label, shape]) => (
				<div key={`${kind} ${name}`} class="field">
					<label>{label}{" "}
						<input name={name} size={shape === "number" ? 7 : 13} placeholder={HINTS[name] ?? ""}
							inputMode={shape === "number" ? "numeric" : "text"} aria-invalid={name in faults} aria-describedby={name in faults ? `fault-${name}` : undefined} />
					</label>
					{name in faults && <pre id={`fault-${name}`} class="failed" role="alert">{faults[name]}</pre>}
				</div>
			))}
			<button type="submit">Add</button>
			{"" in faults && <p class="failed" role="alert">{faults[""]}</p>}
		</form>
	);
}

/** The fields that are filled, and what is wrong with them. */
function readFields(form: FormData, fields: Field[]): { read: NewBreakpoint; wrong: Faults } {
	const read: NewBreakpoint = {};
	const wrong: Faults = {};
	for (const [name, , shape] of fields) {
		const text = String(form.get(name) ?? "").trim();
		if (text === "") continue;
		const value = shape === "text" ? text : shape === "number" ? readNumber(text) : readLoops(text);
		if (value === null) wrong[name] = shape === "loops" ? "indices are written i=3, j=7" : "this is not a whole number";
		else read[name] = value;
	}
	return { read, wrong };
}

/** A whole number, also as 0x40; null: it is none. */
function readNumber(text: string): number | null {
	return Number.isSafeInteger(Number(text)) ? Number(text) : null;
}

/** "i=3, j=7"; null: it is not written so. */
function readLoops(text: string): Record<string, number> | null {
	const pairs = text.split(",").map((pair) => pair.split("=").map((part) => part.trim()));
	const isWritten = pairs.every(([name, value, ...more]) => name && value && more.length === 0 && readNumber(value) !== null);
	return isWritten ? Object.fromEntries(pairs.map(([name, value]) => [name, Number(value)])) : null;
}
