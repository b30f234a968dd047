// SPDX-License-Identifier: MIT
// controls.tsx - the commands of the debugger, each once: as a button, as a key, and as a line of the help.
import { useEffect, useMemo } from "preact/hooks";
import { brief, full } from "../../common/format";
import { isTyping } from "../../common/keys";
import type { Watch } from "../watch";

/** What the reader has typed into the bar: the n of skips, and what to look for. */
export interface Target { skip: number; object: string; set: number; func: string }

export interface Command { key: string; label: string; help: string; run: (watch: Watch) => void }

const SKIPS = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000];
const SPEEDS = [1, 3, 10, 60, 300, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

export function commandsOf(target: Target): Command[] {
	return [
		{ key: " ", label: "Run", help: "run at the chosen speed, or pause",
			run: (watch) => (watch.searching ? watch.stop() : watch.player.toggle()) },
		{ key: "ArrowLeft", label: "Step back", help: "step back one reference", run: (watch) => void watch.step(-1) },
		{ key: "ArrowRight", label: "Step", help: "step one reference", run: (watch) => void watch.step(1) },
		{ key: "PageUp", label: "Skip back", help: "skip back by n", run: (watch) => void watch.step(-target.skip) },
		{ key: "PageDown", label: "Skip", help: "skip by n", run: (watch) => void watch.step(target.skip) },
		{ key: "m", label: "Next miss", help: "run to the next miss", run: (watch) => void watch.run({ until: "miss" }) },
		{ key: "M", label: "Previous miss", help: "run back to the last miss",
			run: (watch) => void watch.run({ until: "miss", backwards: true }) },
		{ key: "b", label: "Next breakpoint", help: "run to the next breakpoint",
			run: (watch) => void watch.run({ until: "breakpoint" }) },
		{ key: "B", label: "Previous breakpoint", help: "run back to the last breakpoint",
			run: (watch) => void watch.run({ until: "breakpoint", backwards: true }) },
		{ key: "e", label: "Next eviction of", help: "run to the next eviction of the chosen object",
			run: (watch) => void watch.run({ until: "eviction", object: target.object }) },
		{ key: "v", label: "Next visit of set", help: "run to the next visit of the chosen set",
			run: (watch) => void watch.run({ until: "visit", set: target.set }) },
		{ key: "f", label: "Go to function", help: "go to the first reference of the chosen function",
			run: (watch) => void watch.goToFunction(target.func) },
		{ key: "w", label: "Who evicted?", help: "who evicted the line of the last reference, and when was it last used",
			run: (watch) => { if (watch.state?.reference) void watch.askWhoEvicted(watch.state.reference.address, 0); } },
		{ key: "Home", label: "Start", help: "go to the start of the trace", run: (watch) => void watch.goTo(0) },
		{ key: "End", label: "End", help: "go to the end of the trace",
			run: (watch) => void watch.goTo(Number.MAX_SAFE_INTEGER) },
	];
}

interface ControlsProps {
	watch: Watch;
	commands: Command[];
	target: Target;
	setTarget: (target: Target) => void;
}

export function Controls({ watch, commands, target, setTarget }: ControlsProps) {
	const running = watch.player.isRunning || watch.searching;
	// Programs have hundreds of objects; a frame has nothing new about them.
	const objects = useMemo(() => watch.objects.map((object) => <option key={object} value={object}>{brief(object)}</option>),
		[watch.objects]);
	const functions = useMemo(() => watch.session.functions.map((name) => <option key={name} value={name}>{brief(name)}</option>),
		[watch.session.functions]);
	return (
		<div class="transport" role="toolbar" aria-label="Run control">
			{commands.map((command) => (
				<button key={command.key} type="button" title={`${command.help} (${keyName(command.key)})`}
					aria-pressed={command.key === " " ? running : undefined} onClick={() => command.run(watch)}>
					{command.key === " " && running ? "Pause" : command.label}
				</button>
			))}
			<label>speed <select value={watch.player.speed} onChange={(event) => {
				watch.player.speed = Number(event.currentTarget.value);
			}}>
				{SPEEDS.map((speed) => <option key={speed} value={speed}>{full(speed)}/s</option>)}
			</select></label>
			<label>n <select value={target.skip} onChange={(event) =>
				setTarget({ ...target, skip: Number(event.currentTarget.value) })}>
				{SKIPS.map((count) => <option key={count} value={count}>{full(count)}</option>)}
			</select></label>
			<label>object <select value={target.object} onChange={(event) =>
				setTarget({ ...target, object: event.currentTarget.value })}>
				{objects}
			</select></label>
			<label>{watch.session.kind === "nest" ? "reference" : "function"} <select value={target.func} onChange={(event) =>
				setTarget({ ...target, func: event.currentTarget.value })}>
				{functions}
			</select></label>
			<label>set <input type="number" min={0} value={target.set} onChange={(event) =>
				setTarget({ ...target, set: Number(event.currentTarget.value) })} /></label>
		</div>
	);
}

function keyName(key: string): string {
	return key === " " ? "Space" : key.replace("Arrow", "");
}

export function useKeys(watch: Watch, commands: Command[]): void {
	useEffect(() => {
		const pressed = (event: KeyboardEvent) => {
			const onButton = event.key === " " && event.target instanceof HTMLButtonElement;
			const command = commands.find(({ key }) => key === event.key);
			if (!command || onButton || isTyping(event)) return;
			command.run(watch);
			event.preventDefault();
		};
		addEventListener("keydown", pressed);
		return () => removeEventListener("keydown", pressed);
	});
}

/** For the page's help on keys. */
export const keys: [string, string][] = commandsOf({ skip: 1, object: "", set: 0, func: "" })
	.map(({ key, help }) => [keyName(key), help]);
