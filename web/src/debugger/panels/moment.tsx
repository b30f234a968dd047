// SPDX-License-Identifier: MIT
// moment.tsx - the last reference: its line of code, loop indices and address; and, when asked, the story of
// a line.
import { brief, full, place } from "../../common/format";
import type { CodePlace, Reference, State } from "../types";
import type { Story, Watch } from "../watch";

export function MomentPanel({ watch }: { watch: Watch }) {
	const state = watch.state!;
	return (
		<section class="panel moment" aria-label="Last reference">
			<h2>Last reference</h2>
			{state.reference ? <Facts state={state} reference={state.reference} /> : <p>None yet: step to make the first.</p>}
			<p class="stopped" role="status">{stopOf(state, watch)}</p>
			{watch.story && <LineStory story={watch.story} watch={watch} />}
		</section>
	);
}

function stopOf({ stopped_by: reason, breakpoint }: State, { searching }: Watch): string {
	switch (reason) {
	case null: return "";
	case "start": return "At the start of the trace.";
	case "end": return "At the end of the trace.";
	case "limit": return searching ? "Searching …" : "Not found so far: the search was stopped.";
	case "breakpoint": return `Stopped by breakpoint ${breakpoint}.`;
	default: return "Found.";
	}
}

function Facts({ state, reference }: { state: State; reference: Reference }) {
	const loops = Object.entries(reference.loops).map(([name, value]) => `${name} = ${value}`).join(", ");
	const element = reference.array_index === null ? "" : `, element ${full(reference.array_index)}`;
	return (
		<dl>
			<dt>Number</dt><dd>{full(state.position)} of {full(state.total)}</dd>
			<dt>Code</dt><dd>{place(reference.file, reference.line)} <Name of={reference.function} /></dd>
			{loops && <><dt>Loops</dt><dd>{loops}</dd></>}
			<dt>Data</dt><dd>{reference.kind} {reference.size} B of {brief(reference.object ?? "no name")}{element}</dd>
			<dt>Address</dt><dd>0x{reference.address.toString(16)}</dd>
			<dt>Thread</dt><dd>{reference.thread}</dd>
			{reference.measured === false && <><dt>Counted</dt><dd>no: measuring is off</dd></>}
		</dl>
	);
}

function Name({ of: name }: { of: string | null }) {
	return <code title={name ?? undefined}>{name && brief(name)}</code>;
}

function LineStory({ story: { address, level, told }, watch }: { story: Story; watch: Watch }) {
	const jump = (to: CodePlace | null) => to && <Jump to={to} watch={watch} />;
	return (
		<div class="story" role="status">
			<h3>The line of 0x{address.toString(16)} in {level.level}</h3>
			<ul>
				{told.evictor && told.evicted && told.evicted_at ? <>
					<li>evicted by {brief(told.evictor.object ?? "no name")}, <Name of={told.evictor.function} />{" "}
						{jump({ ...told.evictor, position: told.evicted_at })}</li>
					<li>before that last used {jump(told.evicted.last_used)}</li>
					<li>and loaded {jump(told.evicted.loaded_at)}</li>
				</> : <li>never there before</li>}
				{told.is === "resident" && <>
					<li>now in set {told.set}, way {told.way}, loaded {jump(told.loaded_at)}</li>
					<li>since then used {told.slot.reuse} times, last {jump(told.last_used)}</li>
				</>}
			</ul>
		</div>
	);
}

function Jump({ to, watch }: { to: CodePlace; watch: Watch }) {
	return (
		<button type="button" class="link" onClick={() => void watch.goTo(to.position)}>
			at {full(to.position)} ({place(to.file, to.line)})
		</button>
	);
}
