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
			<span class="fine">{level}{skip > 0 && `, skips ${full(skip)} matches`}, stopped {full(hits)} times</span>
			<button type="button" aria-label={`Remove breakpoint ${id}`}
				onClick={() => void watch.changeBreakpoints(() => source.removeBreakpoint(id))}>×</button>
		</li>
	);
}

function Form({ watch }: { watch: Watch }) {
	const [kind, setKind] = useState("reference");
	const fields = [...KINDS[kind]!.fields, ...ALL];
	const add = (event: SubmitEvent) => {
		event.preventDefault();
		const form = event.currentTarget as HTMLFormElement;
		const breakpoint = { ...watch.level(0), kind, ...readFields(new FormData(form), fields) };
		void watch.changeBreakpoints(() => source.addBreakpoint(breakpoint));
	};
	return (
		<form onSubmit={add}>
			<label>Stop at <select value={kind} onChange={(event) => setKind(event.currentTarget.value)}>
				{Object.entries(KINDS).filter(([, { isFor }]) => isFor?.(watch.session) ?? true)
					.map(([name, { label }]) => <option key={name} value={name}>{label}</option>)}
			</select></label>
			{fields.map(([name, label, shape]) => (
				<label key={`${kind} ${name}`}>{label}{" "}
					<input name={name} size={shape === "number" ? 7 : 13} placeholder={HINTS[name] ?? ""}
						inputMode={shape === "number" ? "numeric" : "text"} />
				</label>
			))}
			<button type="submit">Add</button>
		</form>
	);
}

function readFields(form: FormData, fields: Field[]): NewBreakpoint {
	const read: NewBreakpoint = {};
	for (const [name, , shape] of fields) {
		const text = String(form.get(name) ?? "").trim();
		if (text === "") continue;
		read[name] = shape === "text" ? text : shape === "number" ? Number(text) : readLoops(text);
	}
	return read;
}

/** "i=3, j=7" */
function readLoops(text: string): Record<string, number> {
	return Object.fromEntries(text.split(",").map((pair) => {
		const [name = "", value = ""] = pair.split("=");
		return [name.trim(), Number(value)];
	}));
}
