// SPDX-License-Identifier: MIT
// moment.ts - a moment of a window, which goes forward reference by reference: src/debugger/simulation/changes.c writes
// what is read here, and both apply the same rules to the same picture.
import { Bytes } from "./bytes";
import type { Chunk } from "./chunk";
import { CLASSES, EVICTIONS, FIGURES, MISSES, REFERENCES, type Picture } from "./picture";
import { Slots } from "./slots";
import type { RecordedLevel } from "./file";

export const HIT = 0, MISS = 1, LOAD = 2, REPLACE = 3, INVALIDATE = 4, PREFETCH = 5;
const ODD_LINE = 1, ODD_SET = 2, ODD_WAY = 4, ODD_KEY = 8, ODD_HISTORY = 16;
const IS_EMPTY = 1, OTHER_LINE = 2, OTHER_KEY = 4, OTHER_REUSE = 8, OTHER_DIRTY = 16, OTHER_STATE = 32, OTHER_LOADED = 64,
	OTHER_USED = 128;

const MOST_WAYS = 64;  // that are searched

export const leaves = (kind: number): boolean => kind === REPLACE || kind === INVALIDATE;

/** What one event of a reference is, as far as many have it in common. */
export interface Shape {
	kind: number;
	level: number;
	class: number;
	dirty: boolean;          // of a line that leaves
	falseSharing: boolean;
	odd: number;
	core: number;            // 1 + whose cache; 0: all share it
}

export interface Effect extends Shape {
	set: number;
	way: number;
	line: number;
	/** Of a line that leaves: */
	key: number;
	loadedAt: number;
	lastUsed: number;
}

export function readShape(packed: number): Shape {
	return {
		kind: packed & 7, level: packed >> 3 & 31, class: packed >> 8 & 7, dirty: (packed >> 11 & 1) === 1,
		falseSharing: (packed >> 12 & 1) === 1, odd: packed >> 13 & 31, core: packed >> 18,
	};
}

/** What moments of a window have in common. */
export interface Window {
	levels: RecordedLevel[];
	coreOf: number[];        // by key
	uncounted: number[];     // by key: 1, if its references are in no sum
	shapes: Shape[];         // in the order in which they come first
	chunkAt(position: number): Chunk;  // that has the reference behind a position
	/** A line leaves; called once for each, however often it is gone through. */
	left?(position: number, effect: Effect): void;
}

const none = new Bytes(new Uint8Array());

export class Moment {
	effects: Effect[] = [];
	private shapesKnown = 0;
	private chunk: Chunk | null = null;
	private effectColumn = none;
	private figures = none;
	private corrections = none;
	private counted = 0;      // a bit for each level
	private readonly lastWay: Int32Array;
	private readonly lastAt: Float64Array;

	constructor(private readonly window: Window, public position: number, readonly picture: Picture) {
		this.lastWay = new Int32Array(picture.caches.length);
		this.lastAt = new Float64Array(picture.caches.length);
	}

	/** Between two chunks. */
	clone(): Moment {
		const copy = new Moment(this.window, this.position, this.picture.clone());
		copy.shapesKnown = this.shapesKnown;
		copy.effects = this.effects;
		return copy;
	}

	step(): void {
		const chunk = this.enter();
		const i = this.position - chunk.from;
		this.position++;
		this.counted = 0;
		this.effects = [];
		const key = chunk.keys[i]!;
		const writes = (chunk.shapes[i]! & 1) === 1;
		for (let count = this.effectColumn.number(); count > 0; count--) {
			const effect = this.readEffect(chunk.addresses[i]!, key);
			this.effects.push(effect);
			this.apply(effect, key, writes);
			this.count(effect, key, (chunk.shapes[i]! & 2) === 2);
		}
		this.correct(this.corrections, chunk.addresses[i]!);
	}

	private enter(): Chunk {
		const { chunk } = this;
		if (chunk && this.position < chunk.from + chunk.count) return chunk;
		const next = this.window.chunkAt(this.position);
		this.chunk = next;
		this.effectColumn = new Bytes(next.effects);
		this.figures = new Bytes(next.figures);
		this.corrections = new Bytes(next.corrections);
		return next;
	}

	private cacheOf({ level, core }: Shape, key: number): number {
		return this.picture.cacheOf(level, core ? core - 1 : this.window.coreOf[key]!);
	}

	private nextShape(): Shape {
		const number = this.effectColumn.number();
		if (number === this.shapesKnown) {
			this.shapesKnown++;
			const shape = readShape(this.effectColumn.number());
			this.window.shapes[number] ??= shape;
		}
		return this.window.shapes[number]!;
	}

	private readEffect(address: number, key: number): Effect {
		const shape = this.nextShape();
		const { kind, odd, level } = shape;
		const { unit, line: lineSize, sets } = this.window.levels[level]!;
		const cache = this.cacheOf(shape, key);
		const slots = this.picture.caches[cache]!;
		const goes = leaves(kind);
		const home = Math.floor(address / unit) * unit;
		let line = odd & ODD_LINE && !goes ? home + this.figures.signed() : home;
		// Of a line that leaves, where it was tells which it is; but what is odd of it is written first.
		const oddLine = odd & ODD_LINE && goes ? home + this.figures.signed() : null;
		const set = odd & ODD_SET ? this.figures.number() : usualSet(line, lineSize, sets);
		const way = odd & ODD_WAY ? this.figures.number() : this.usualWay(cache, slots, goes, set, line);
		const slot = set < slots.sets && way < slots.ways ? set * slots.ways + way : -1;
		if (goes) line = oddLine ?? slots.line(slot);
		const effect: Effect = { ...shape, set, way, line, key: 0, loadedAt: 0, lastUsed: 0 };
		if (goes) this.readLeaving(effect, slots, slot);
		this.lastWay[cache] = way;
		this.lastAt[cache] = this.position;
		return effect;
	}

	private usualWay(cache: number, slots: Slots, goes: boolean, set: number, line: number): number {
		const way = goes || set >= slots.sets || slots.ways > MOST_WAYS ? -1 : slots.wayOf(set, line);
		if (way >= 0) return way;
		return this.lastAt[cache] === this.position ? this.lastWay[cache]! : 0;
	}

	private readLeaving(effect: Effect, slots: Slots, slot: number): void {
		effect.key = effect.odd & ODD_KEY ? this.figures.number() : slot < 0 ? 0 : slots.key(slot);
		const isOdd = (effect.odd & ODD_HISTORY) !== 0;
		effect.loadedAt = isOdd ? this.ago(this.figures) : slot < 0 ? 0 : slots.loadedAt(slot);
		effect.lastUsed = isOdd ? this.ago(this.figures) : slot < 0 ? 0 : slots.lastUsed(slot);
	}

	private ago(from: Bytes): number {
		const ago = from.number();
		return ago ? this.position + 1 - ago : 0;
	}

	private apply(effect: Effect, key: number, writes: boolean): void {
		const { kind, set, way, level } = effect;
		const slots = this.picture.caches[this.cacheOf(effect, key)]!;
		const { first, dirties: dirty } = this.window.levels[level]!;
		const dirties = writes && dirty;
		if (leaves(kind)) this.window.left?.(this.position, effect);
		if (set >= slots.sets || way >= slots.ways) return;
		const slot = set * slots.ways + way;
		if (kind === HIT) {
			slots.hit(slot, this.position, first ? 1 : 0, dirties);
		} else if (leaves(kind)) {
			this.credit(slots, slot);
			slots.clear(slot);
		} else if (kind !== MISS) {
			slots.fill(slot, effect.line, key, this.position, first && kind === LOAD ? 1 : 0, dirties);
		}
	}

	/** What a line that leaves was used for counts for it in the next level. */
	private credit(slots: Slots, slot: number): void {
		const { next } = this.window.levels[slots.level]!;
		const lower = this.window.levels[next];
		if (!lower || lower.ways > MOST_WAYS || slots.isEmpty(slot)) return;
		const line = Math.floor(slots.line(slot) / lower.unit) * lower.unit;
		const to = this.picture.caches[this.picture.cacheOf(next, slots.core)]!;
		const set = usualSet(line, lower.line, lower.sets);
		const way = to.wayOf(set, line);
		if (way >= 0) to.use(set * to.ways + way, slots.reuse(slot), slots.dirty(slot) === 1 && lower.keeps);
	}

	/** A reference that touches two lines is one reference of a first level, but one to each line's set. */
	private count({ kind, level, set, class: of, key: victim }: Effect, key: number, isUncounted: boolean): void {
		const { byKey, bySet } = this.picture.sums[level]!;
		if (leaves(kind) && !this.window.uncounted[victim]) byKey[victim * FIGURES + EVICTIONS]!++;
		if (leaves(kind) || kind === PREFETCH || isUncounted) return;
		const serves = kind === HIT || kind === MISS;
		const again = this.window.levels[level]!.first && (this.counted >>> level & 1) === 1;
		if (serves && !again) byKey[key * FIGURES + REFERENCES]!++;
		if (serves) this.counted |= 1 << level;
		if (serves) bySet[set * FIGURES + REFERENCES]!++;
		for (const [sums, row] of [[byKey, key], [bySet, set]] as const) {
			if (kind === MISS) sums[row * FIGURES + MISSES]!++;
			if (of) sums[row * FIGURES + CLASSES + of]!++;
		}
	}

	/** What the rules have got wrong; or, with nothing before, what the caches hold. */
	correct(from: Bytes, address: number | null): void {
		let slot = 0;
		for (let count = from.number(); count > 0; count--) {
			const slots = this.picture.caches[from.number()]!;
			slot += from.signed();
			this.correctSlot(from, address, slots, slot);
		}
	}

	private correctSlot(from: Bytes, address: number | null, slots: Slots, slot: number): void {
		const other = from.number();
		if (other & IS_EMPTY) {
			slots.clear(slot);
			return;
		}
		const { unit } = this.window.levels[slots.level]!;
		const home = address === null ? 0 : Math.floor(address / unit) * unit;
		const page = slots.writable(slot);
		const at = Slots.at(slot);
		if (other & OTHER_LINE) page.line[at] = home + from.signed();
		if (other & OTHER_KEY) page.key[at] = from.number();
		if (other & OTHER_REUSE) page.reuse[at]! += from.signed();
		if (other & OTHER_DIRTY) page.dirty[at]! ^= 1;
		if (other & OTHER_STATE) page.state[at] = from.number();
		if (other & OTHER_LOADED) page.loadedAt[at] = this.ago(from);
		if (other & OTHER_USED) page.lastUsed[at] = page.loadedAt[at]! + from.signed();
	}
}

function usualSet(line: number, lineSize: number, sets: number): number {
	const set = Math.floor(line / lineSize) % sets;
	return set < 0 ? set + sets : set;
}

/** The first hit, load or miss of a level. */
export function effectAt(effects: Effect[], level: number): Effect | null {
	let found: Effect | null = null;
	for (const effect of effects) {
		if (effect.level !== level || effect.kind >= REPLACE) continue;
		if (effect.kind !== MISS) return effect;  // a miss comes before its load, which says more
		found = effect;
	}
	return found;
}

/** The line that left for the i-th effect. */
export function victimOf(effects: Effect[], i: number): Effect | null {
	const before = effects[i - 1];
	return effects[i]!.kind === LOAD && before && before.level === effects[i]!.level && leaves(before.kind) ? before : null;
}
