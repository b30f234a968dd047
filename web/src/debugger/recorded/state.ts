// SPDX-License-Identifier: MIT
// state.ts - a recorded moment in the words of docs/format/view.md: references, effects, slots, and what a cache holds.
import type { Band, CodePlace, Departed, Effect as EffectAnswer, Grid, Group, Memory, Reference, Slot, State } from "../types";
import { CLASS_NAMES } from "./condition";
import { effectAt, HIT, MISS, REPLACE, victimOf, type Effect } from "./moment";
import type { Slots } from "./slots";
import type { Recording } from "./recording";

const EVENTS = ["hit", "miss", "load", "replace", "invalidate", "prefetch"];
const STATES = [null, "S", "F", "E", "O", "M"];
const MOST_SLOTS = 1 << 16;

/* ---- references ---- */

export function placeOf(run: Recording, position: number): CodePlace | null {
	if (!position) return null;
	const key = run.tape.keyAt(position);
	return {
		position, file: run.fileOf(key), line: run.description.keys.line[key]!, function: run.functionOf(key),
		object: run.objectOf(key),
	};
}

export function referenceAt(run: Recording, position: number): Reference | null {
	if (!position) return null;
	const reference = run.reference(position);
	const { key, address, size, writes, isUncounted } = reference;
	const { thread, core, line } = run.description.keys;
	return {
		thread: thread[key]!, core: core[key]!, kind: writes ? "write" : "read", address, size,
		measured: !isUncounted,
		file: run.fileOf(key), line: line[key]!, function: run.functionOf(key), object: run.objectOf(key),
		array_index: run.elementOf(reference), loops: run.loops(position),
	};
}

export function departed(run: Recording, { line, key, dirty, kind, loadedAt, lastUsed }: Effect): Departed {
	return {
		line, object: run.objectOf(key), dirty, how: EVENTS[kind]!, loaded_at: placeOf(run, loadedAt),
		last_used: placeOf(run, lastUsed),
	};
}

/* ---- state ---- */

function effectOf(run: Recording, effects: Effect[], i: number): EffectAnswer {
	const effect = effects[i]!;
	const { cache, level } = run.description.levels[effect.level]!;
	const left = victimOf(effects, i);
	return {
		cache, level, core: effect.core ? effect.core - 1 : 0, set: effect.set, way: effect.way, line: effect.line,
		event: EVENTS[effect.kind]!, hit: effect.kind === HIT, class: CLASS_NAMES[effect.class] ?? null,
		false_sharing: effect.falseSharing, evicted: left ? departed(run, left) : null,
	};
}

export function stateOf(run: Recording, stopped_by: string | null, breakpoint: number | null = null): State {
	const { position, effects } = run.now;
	const shown = effects.map((_, i) => i).filter((i) => {
		const { kind, level } = effects[i]!;
		return kind !== REPLACE && (kind !== MISS || effectAt(effects, level) === effects[i]);
	});
	return {
		position, total: run.total, reference: referenceAt(run, position),
		effects: shown.map((i) => effectOf(run, effects, i)), stopped_by, breakpoint,
	};
}

/* ---- what a cache holds ---- */

/** A window of sets of a level's cache of a core. */
export interface Sets { level: number; core: number; from: number; to: number }

export const slotsOf = (run: Recording, { level, core }: Sets): Slots =>
	run.now.picture.caches[run.now.picture.cacheOf(level, core)]!;

export function slotOf(run: Recording, slots: Slots, slot: number): Slot | null {
	if (slots.isEmpty(slot)) return null;
	const used = slots.lastUsed(slot);
	const key = slots.key(slot);
	const by = used ? run.tape.keyAt(used) : key;
	const { line, thread } = run.description.keys;
	return {
		line: slots.line(slot), object: run.objectOf(key), dirty: slots.dirty(slot) === 1,
		age: run.now.position - used, reuse: slots.reuse(slot), loaded_at: slots.loadedAt(slot), last_used: used,
		reference: run.functionOf(by), code_line: line[by]!, thread: thread[by]!, state: STATES[slots.state(slot)] ?? null,
	};
}

export function cursorOf(run: Recording, { level, core }: Sets): Grid["cursor"] {
	const effect = effectAt(run.now.effects, level);
	return effect && (effect.core === 0 || effect.core === core + 1) ? { set: effect.set, way: effect.way, hit: effect.kind === HIT } : null;
}

function groupOf(run: Recording, slots: Slots, set_from: number, set_to: number): Group {
	const group: Group = { set_from, set_to, lines: 0, dirty: 0, objects: {} };
	slots.forEach(set_from * slots.ways, set_to * slots.ways, (slot) => {
		const name = run.objectOf(slots.key(slot)) ?? "";
		group.objects[name] = (group.objects[name] ?? 0) + 1;
		group.dirty += slots.dirty(slot);
		group.lines++;
	});
	return group;
}

export function gridOf(run: Recording, sets: Sets, cells: number): Grid {
	const slots = slotsOf(run, sets);
	const { from, to } = sets;
	const count = (to - from) * slots.ways;
	const grid: Grid = {
		sets: slots.sets, ways: slots.ways, line: run.description.levels[sets.level]!.unit, set_from: from, set_to: to,
		slots: [], cursor: cursorOf(run, sets),
	};
	const groups = cells || (count > MOST_SLOTS ? 1024 : 0);
	if (groups > 0) {
		const step = Math.floor((to - from + groups - 1) / groups);
		grid.groups = [];
		for (let set = from; set < to; set += step) grid.groups.push(groupOf(run, slots, set, Math.min(to, set + step)));
	} else {
		for (let i = 0; i < count; i++) grid.slots.push(slotOf(run, slots, from * slots.ways + i));
	}
	return grid;
}

/* ---- memory ---- */

function bandOf(run: Recording, object: number, sets: Sets, bins: number): Band {
	const { name, low: begin, end } = run.description.session.objects[object]!;
	const { unit } = run.description.levels[sets.level]!;
	const slots = slotsOf(run, sets);
	const low = Math.floor(begin / unit) * unit;
	const lines = Math.floor((end - low + unit - 1) / unit);
	const lines_per_bin = Math.floor((lines + bins - 1) / bins);
	const cached = new Array<number>(lines_per_bin ? Math.floor((lines + lines_per_bin - 1) / lines_per_bin) : 0).fill(0);
	const scattered = run.description.scattered.includes(object);
	slots.forEach(sets.from * slots.ways, sets.to * slots.ways, (slot) => {
		const line = slots.line(slot);
		const isOf = !scattered || run.description.keys.object[slots.key(slot)] === object;
		if (line >= low && line < end && isOf) cached[Math.floor((line - low) / unit / lines_per_bin)]!++;
	});
	return { object: name, scattered, low: begin, end, lines, lines_per_bin, cached };
}

/** Cached lines that were loaded for each object. */
function linesOf(run: Recording, sets: Sets): number[] {
	const slots = slotsOf(run, sets);
	const lines = run.description.session.objects.map(() => 0);
	slots.forEach(sets.from * slots.ways, sets.to * slots.ways, (slot) => {
		const object = run.description.keys.object[slots.key(slot)];
		if (object !== null && object !== undefined) lines[object]!++;
	});
	return lines;
}

/** Where not all objects have room, those that most lines were loaded for, as src/debugger/answers/memory.c does. */
export function memoryOf(run: Recording, sets: Sets, bands: number, bins: number): Memory {
	const { objects } = run.description.session;
	const scattered = new Set(run.description.scattered);
	const referenced = objects.map((_, i) => i).filter((i) => objects[i]!.end);
	const fit = referenced.length <= bands;
	const lines = fit ? objects.map(() => 0) : linesOf(run, sets);
	const order = referenced.sort((a, b) => {
		const [x, y] = [objects[a]!, objects[b]!];
		return lines[b]! - lines[a]! || Number(scattered.has(a)) - Number(scattered.has(b)) ||
			(y.end - y.low) - (x.end - x.low) || x.low - y.low;
	});
	const shown = order.slice(0, bands).filter((object) => fit || lines[object]);
	return { bands: shown.map((object) => bandOf(run, object, sets, bins)), rest: order.length - shown.length };
}
