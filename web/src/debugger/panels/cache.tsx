// SPDX-License-Identifier: MIT
// cache.tsx - one cache: its level's grid, what the last reference did there, and the line that is pointed
// at.  A large level has a map of all its sets, and the grid shows those around the cursor or around the
// place that was clicked.
import { useState } from "preact/hooks";
import { csv } from "../../common/csv";
import { brief, place, short } from "../../common/format";
import { colourOf, legendOf, LEGEND_UNITS, type Palettes } from "../draw/colours";
import { Drawing } from "../draw/drawing";
import { drawGrid, layOut, slotAt, type GridColours } from "../draw/grid";
import type { Effect, Grid, Group, Slot } from "../types";
import type { Watch } from "../watch";

const GRID_HEIGHT = 420;
const MAP_HEIGHT = 24;

interface CacheProps { watch: Watch; cache: number; palettes: Palettes; colours: GridColours }

export function CachePanel({ watch, cache, palettes, colours }: CacheProps) {
	const [pointed, setPointed] = useState(-1);
	const { grid, groups, pane } = watch.caches[cache]!;
	const { colouring, arrangement } = watch.view;
	const layoutFor = (width: number) => layOut(grid, arrangement, width, GRID_HEIGHT);
	const find = (event: MouseEvent) => {
		const canvas = event.currentTarget as HTMLCanvasElement;
		return slotAt(layoutFor(canvas.clientWidth), grid.slots.length, event.offsetX, event.offsetY);
	};
	return (
		<section class="panel cache" aria-label={`Cache ${cache + 1}`}>
			<Heading watch={watch} cache={cache} grid={grid} />
			{groups.length > 0 && <GroupMap {...{ watch, cache, groups, grid, palettes, colours }} />}
			<Drawing name={`${pane.level}-at-${watch.state!.position}`} label={describe(grid, pane.level)}
				height={(width) => layoutFor(width).height}
				draw={(surface, width) => drawGrid(surface, grid, layoutFor(width), colours,
					(slot) => colourOf(slot, colouring, palettes))}
				sheet={() => slotsAsCsv(grid)}
				pointer={{
					onMouseMove: (event) => setPointed(find(event)),
					onMouseLeave: () => setPointed(-1),
					onClick: (event) => {
						const slot = grid.slots[find(event)];
						if (slot) void watch.askWhoEvicted(slot.line, cache);
					},
				}} />
			<ul class="legend" aria-label={`Colours by ${colouring}`}>
				{LEGEND_UNITS[colouring] && <li>{LEGEND_UNITS[colouring]}:</li>}
				{legendOf(colouring, palettes).map(({ label, colour }) => (
					<li key={label}><span class="swatch" style={{ backgroundColor: colour }} /><span title={label}>{brief(label)}</span></li>
				))}
			</ul>
			<p class="pointed fine">{describeSlot(grid, pointed)}</p>
			<Effects watch={watch} cache={cache} />
		</section>
	);
}

function Heading({ watch, cache, grid }: { watch: Watch; cache: number; grid: Grid }) {
	const { name, levels } = watch.session.caches[cache]!;
	const pane = watch.view.panes[cache]!;
	const cores = levels.find(({ level }) => level === pane.level)!.private ? watch.session.cores : 1;
	return (
		<div class="heading">
			<h2>{watch.caches.length > 1 ? `Cache ${cache + 1}` : name}</h2>
			<select aria-label="Level" value={pane.level} onChange={(event) =>
				void watch.lookAt(cache, { level: event.currentTarget.value, core: 0, set_from: null })}>
				{levels.map(({ level }) => <option key={level}>{level}</option>)}
			</select>
			{cores > 1 && <select aria-label="Core" value={pane.core} onChange={(event) =>
				void watch.lookAt(cache, { core: Number(event.currentTarget.value) })}>
				{Array.from({ length: cores }, (_, core) => <option key={core} value={core}>core {core}</option>)}
			</select>}
			<span class="fine">{short(grid.sets)} sets × {grid.ways} {grid.ways === 1 ? "way" : "ways"} × {grid.line} B</span>
		</div>
	);
}

interface MapProps extends CacheProps { groups: Group[]; grid: Grid }

/** All sets of a large level in groups, each in the colour of the object that has most of its lines. */
function GroupMap({ watch, cache, groups, grid, palettes, colours }: MapProps) {
	const follows = watch.view.panes[cache]!.set_from === null;
	const shown = grid.set_to - grid.set_from;
	const draw = (surface: Parameters<Parameters<typeof Drawing>[0]["draw"]>[0], width: number) => {
		const step = width / groups.length;
		groups.forEach((group, i) => {
			const [most] = Object.entries(group.objects).sort(([, a], [, b]) => b - a)[0] ?? [null];
			const full = group.lines / ((group.set_to - group.set_from) * grid.ways);
			const tall = most === null ? 0 : Math.max(2, Math.round(full * MAP_HEIGHT));
			surface.rect(i * step, 0, step, MAP_HEIGHT, colours.empty);
			if (tall) surface.rect(i * step, MAP_HEIGHT - tall, step, tall, palettes.object.of(most));
		});
		const left = (grid.set_from / grid.sets) * width;
		surface.frame(left + 1, 1, Math.max(4, (shown / grid.sets) * width - 2), MAP_HEIGHT - 2, colours.cursor, 2);
	};
	const open = (event: MouseEvent) => {
		const canvas = event.currentTarget as HTMLCanvasElement;
		const set = Math.floor((event.offsetX / canvas.clientWidth) * grid.sets);
		void watch.lookAt(cache, { set_from: Math.floor(set / shown) * shown });
	};
	return (
		<div class="map">
			<Drawing name="sets" label={`All ${grid.sets} sets; ${grid.set_from} to ${grid.set_to - 1} are shown below`}
				saves={false} height={() => MAP_HEIGHT} draw={draw} pointer={{ onClick: open }} />
			<label>
				<input type="checkbox" checked={follows} onChange={() =>
					void watch.lookAt(cache, { set_from: follows ? grid.set_from : null })} />
				follow the cursor; sets {grid.set_from} to {grid.set_to - 1}
			</label>
		</div>
	);
}

function describe(grid: Grid, level: string): string {
	const used = grid.slots.filter(Boolean).length;
	const cursor = grid.cursor
		? `; the last reference ${grid.cursor.hit ? "hit" : "missed"} in set ${grid.cursor.set}, way ${grid.cursor.way}` : "";
	return `${level}: ${used} of ${grid.slots.length} lines in use${cursor}`;
}

function describeSlot(grid: Grid, index: number): string {
	if (index < 0 || index >= grid.slots.length) return "Point at a line to read it; click it for its story.";
	const set = grid.set_from + Math.floor(index / grid.ways);
	const slot = grid.slots[index];
	return `Set ${set}, way ${index % grid.ways}: ${slot ? describeLine(slot) : "empty"}`;
}

function describeLine(slot: Slot): string {
	return `${brief(slot.object ?? "no name")}, line 0x${slot.line.toString(16)}, last used by ${brief(slot.reference ?? "no name")} ` +
		`at ${slot.last_used}, loaded at ${slot.loaded_at}, used ${slot.reuse} times${slot.dirty ? ", dirty" : ""}` +
		`${slot.state ? `, state ${slot.state}` : ""}`;
}

function slotsAsCsv(grid: Grid): string {
	const headings = ["line", "object", "reference", "code_line", "dirty", "age", "reuse", "loaded_at", "last_used",
		"thread", "state"] as const;
	const rows = grid.slots.map((slot, i) => [grid.set_from + Math.floor(i / grid.ways), i % grid.ways,
		...headings.map((heading) => (slot ? String(slot[heading] ?? "") : ""))]);
	return csv({ headings: ["set", "way", ...headings], rows });
}

/** A row for each line that the last reference used, loaded or took away; a miss leads to the line's story. */
function Effects({ watch, cache }: { watch: Watch; cache: number }) {
	const effects = watch.state!.effects.filter((effect) => effect.cache === cache);
	const manyCores = watch.session.cores > 1;
	return (
		<ul class="effects">
			{effects.map((effect, i) => (
				<li key={i} class={effect.hit ? "hit" : "miss"}>
					<strong>{effect.level}{manyCores && ` of core ${effect.core}`}: {eventOf(effect)}</strong>
					{" "}in set {effect.set}, way {effect.way}{evictionOf(effect)}
					{effect.class !== null && <button type="button"
						onClick={() => void watch.askWhoEvicted(effect.line, cache)}>Who evicted this line?</button>}
				</li>
			))}
		</ul>
	);
}

function eventOf(effect: Effect): string {
	if (effect.hit) return "hit";
	return effect.class ? `${effect.class.replace("_", " ")} miss` : effect.event;
}

function evictionOf(effect: Effect): string {
	if (!effect.evicted) return "";
	const { object, last_used: used } = effect.evicted;
	return `; evicts a line of ${brief(object ?? "no name")}` +
		(used ? `, last used at ${used.position} (${place(used.file, used.line)})` : "");
}

