// SPDX-License-Identifier: MIT
// page.tsx - the debugger: its panels around one moment.  The address of the page follows the moment, so it
// can be sent.
import { useEffect, useMemo, useReducer, useState } from "preact/hooks";
import { useTheme } from "../common/theme";
import { parseHash } from "../router";
import type { PageProps } from "../views";
import { BreakpointsPanel } from "./panels/breakpoints";
import { CachePanel } from "./panels/cache";
import { COLOURINGS, Palette, type Colouring, type Palettes } from "./draw/colours";
import { commandsOf, Controls, useKeys, type Target } from "./panels/controls";
import "./debugger.css";
import { ARRANGEMENTS, type Arrangement, type GridColours } from "./draw/grid";
import { MemoryPanel } from "./panels/memory";
import { MomentPanel } from "./panels/moment";
import { NestPanel } from "./panels/nest";
import { Scrubber } from "./panels/scrubber";
import { source } from "./source";
import { SourcePanel } from "./panels/source";
import { StatisticsPanel } from "./panels/statistics";
import { readView, writeView } from "./view";
import { Watch } from "./watch";

const COLOURS: Record<"light" | "dark", GridColours> = {
	light: { empty: "#e4e7ec", cursor: "#000000", miss: "#000000", ground: "#ffffff" },
	dark: { empty: "#2a2f38", cursor: "#ffffff", miss: "#ffffff", ground: "#000000" },
};

/** The watch of this page, opened once; the page is drawn anew whenever the watch says so. */
function useWatch(): { watch: Watch | null; problem: string | null } {
	const [, draw] = useReducer((n: number) => n + 1, 0);
	const [opened, setOpened] = useState<{ watch: Watch | null; problem: string | null }>({ watch: null, problem: null });
	useEffect(() => {
		let watch: Watch | null = null;
		const open = async () => {
			watch = new Watch(await source.session(), readView(parseHash(location.hash).params), () => draw(0));
			await watch.open();
			setOpened({ watch, problem: watch.problem });
		};
		open().catch((error: Error) => setOpened({ watch: null, problem: error.message }));
		return () => watch?.stop();
	}, []);
	return opened;
}

/** How often the reader went to another address, by a link or the browser's own buttons; the page itself sets addresses too. */
function useVisits(): number {
	const [visits, visit] = useReducer((n: number) => n + 1, 0);
	useEffect(() => {
		const changed = (event: Event) => { if (event.isTrusted) visit(0); };
		addEventListener("hashchange", changed);
		return () => removeEventListener("hashchange", changed);
	}, []);
	return visits;
}

export function DebuggerPage(props: PageProps) {
	return <Visit key={useVisits()} {...props} />;
}

function Visit({ set }: PageProps) {
	const { watch, problem } = useWatch();
	if (!watch?.state)
		return problem ? <p class="failed" role="alert">{problem}</p> : <p class="waiting" role="status">Loading …</p>;
	return <Open watch={watch} set={set} />;
}

function Open({ watch, set }: { watch: Watch; set: PageProps["set"] }) {
	const [target, setTarget] = useState<Target>({ skip: 100, object: watch.objects[0] ?? "", set: 0, func: firstFunction(watch) });
	const commands = commandsOf(target);
	const address = writeView(watch.view);
	useKeys(watch, commands);
	useEffect(() => {
		if (!watch.player.isRunning) set(address, true);
	}, [JSON.stringify(address), watch.player.isRunning]);
	return (
		<div class="debugger">
			{watch.problem && <p class="failed" role="alert">{watch.problem}</p>}
			<Controls {...{ watch, commands, target, setTarget }} />
			<Scrubber watch={watch} />
			<Looks watch={watch} />
			<SourcePanel watch={watch} />
			<Panels watch={watch} />
		</div>
	);
}

/** Where the user's code begins, before which the loader runs. */
function firstFunction({ session: { functions } }: Watch): string {
	return functions.find((name) => name === "main") ?? functions[0] ?? "";
}

function Looks({ watch }: { watch: Watch }) {
	const { colouring, arrangement } = watch.view;
	return (
		<div class="looks">
			<label>colour by <select value={colouring} onChange={(event) =>
				void watch.look({ colouring: event.currentTarget.value as Colouring })}>
				{COLOURINGS.map((by) => <option key={by}>{by}</option>)}
			</select></label>
			<label>arrange <select value={arrangement} onChange={(event) =>
				void watch.look({ arrangement: event.currentTarget.value as Arrangement })}>
				{ARRANGEMENTS.map((how) => <option key={how} value={how}>{how === "sets" ? "ways × sets" : how}</option>)}
			</select></label>
		</div>
	);
}

/** The same name has the same colour in all panels, at every moment. */
function usePalettes(watch: Watch): Palettes {
	const { objects } = watch;
	return useMemo(() => ({
		object: new Palette(objects), reference: new Palette(watch.references), thread: new Palette([]),
		kind: watch.session.kind,
	}), [objects, watch.references]);
}

function Panels({ watch }: { watch: Watch }) {
	const palettes = usePalettes(watch);
	const colours = COLOURS[useTheme()];
	const { statistics, memory, view } = watch;
	// While it runs, these are read now and then: a frame that has nothing new for them does not draw them.
	const sums = useMemo(() => <StatisticsPanel watch={watch} />, [statistics, view.statistics, view.interval]);
	const bands = useMemo(() => <MemoryPanel watch={watch} palettes={palettes} ground={colours.empty} ink={colours.cursor} />,
		[memory, palettes, colours]);
	return (
		<>
			<div class={`caches ${watch.caches.length > 1 ? "several" : "single"}`}>
				{watch.caches.map((_, cache) => <CachePanel key={cache} {...{ watch, cache, palettes, colours }} />)}
				<div class="now-and-sums">
					<MomentPanel watch={watch} />
					{sums}
				</div>
			</div>
			<div class="panels">
				{bands}
				<BreakpointsPanel watch={watch} />
				{watch.session.kind === "nest" && <NestPanel watch={watch} />}
			</div>
		</>
	);
}
