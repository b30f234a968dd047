// SPDX-License-Identifier: MIT
// tape.ts - one window of a recorded run: any of its moments, from the nearest that is kept.  Chunks are unpacked in order
// when they are first needed, and moments between them are kept; where they take too much memory every second one goes.
import { Bytes } from "./bytes";
import { Chunk } from "./chunk";
import { unpacked, type Description, type Part } from "./file";
import type { Evicted } from "../types";
import { Moment, type Effect, type Shape, type Window } from "./moment";
import { Picture } from "./picture";

const KEPT_BYTES = 128 << 20;
const KEPT_LEAST = 4;

/** How a line last left before the window; without `how`: it never did. */
type EarlierRow = [level: number, core: number, line: number, how?: Pick<Evicted, "evicted" | "evictor" | "evicted_at">];

/** A line that left: found without going through the window again. */
interface Departure { position: number; level: number; core: number; line: number }

export class Tape implements Window {
	readonly from: number;   // position before its first reference
	readonly to: number;
	readonly levels;
	readonly coreOf;
	readonly uncounted;
	readonly shapes: Shape[] = [];
	private readonly chunks: Chunk[] = [];
	private kept: Moment[] = [];
	private stride = 1;      // chunks between kept moments
	private furthest: number;
	private readonly departures: Departure[] = [];
	private readonly earlier = new Map<number, number>();
	private begun = false;
	private earlierRows: Promise<Map<string, EarlierRow>> | undefined;

	constructor(private readonly description: Description, private readonly begin: Part, private readonly parts: Part[],
		private readonly earlierParts: Part[]) {
		this.from = this.furthest = begin.from;
		this.to = parts.reduce((sum, { count }) => sum + count, begin.from);
		this.levels = description.levels;
		this.coreOf = description.keys.core;
		this.uncounted = description.keys.uncounted;
	}

	/** Positions of moments: what the last reference before the first one did is not known. */
	get first(): number {
		return this.from ? this.from + 1 : 0;
	}

	has(position: number): boolean {
		return position >= this.first && position <= this.to;
	}

	/** Unpacks what moments up to a position need. */
	async load(position: number): Promise<void> {
		if (!this.begun) {
			this.begun = true;
			this.readBegin(await unpacked(this.begin));
		}
		for (let part = this.parts[this.chunks.length]; part && part.from < position; part = this.parts[this.chunks.length])
			this.chunks.push(new Chunk(part.from, part.count, await unpacked(part), this.coreOf.length));
	}

	private readBegin(bytes: Uint8Array): void {
		const all = new Bytes(bytes);
		const moment = new Moment(this, this.from, Picture.empty(this.description));
		const slots = new Bytes(all.column());
		moment.correct(slots, null);
		for (const cache of moment.picture.caches)
			cache.forEach(0, cache.sets * cache.ways, (slot) => this.earlier.set(cache.loadedAt(slot), cache.key(slot)));
		const earlier = new Bytes(all.column());
		for (let at = 0; !earlier.isAtEnd;) {
			at += earlier.number();
			this.earlier.set(at, earlier.number());
		}
		moment.picture.readSums(all, (column) => new Bytes(column));
		this.kept.push(moment);
	}

	chunkAt(position: number): Chunk {
		const { chunks } = this;
		const size = chunks[0]!.count;   // the last one may be shorter
		return chunks[Math.floor((position - this.from) / size)]!;
	}

	left(position: number, { level, core, line }: Effect): void {
		if (position > this.furthest) this.departures.push({ position, level, core, line });
	}

	/** The key of a reference of the window, or of one before it that a line was loaded or used by. */
	keyAt(position: number): number {
		if (position <= this.from) return this.earlier.get(position) ?? 0;
		const chunk = this.chunkAt(position - 1);
		return chunk.keys[position - 1 - chunk.from]!;
	}

	/** A moment of a position that is loaded: a new one, or `now`, gone there. */
	at(position: number, now?: Moment | null): Moment {
		let moment = this.nearest(position);
		if (now && now.position <= position && now.position >= moment.position) moment = now;
		else moment = moment.clone();
		while (moment.position < position) this.step(moment);
		return moment;
	}

	step(moment: Moment): void {
		moment.step();
		this.furthest = Math.max(this.furthest, moment.position);
		const { count } = this.chunks[0]!;
		const done = moment.position - this.from;
		if (done % (count * this.stride) === 0 && moment.position > this.kept[this.kept.length - 1]!.position) this.keep(moment);
	}

	/** Where the kept moment before a position is. */
	nearestTo(position: number): number {
		return this.nearest(position).position;
	}

	private nearest(position: number): Moment {
		let low = 0;
		for (let high = this.kept.length; high - low > 1;) {
			const middle = (low + high) >> 1;
			if (this.kept[middle]!.position <= position) low = middle;
			else high = middle;
		}
		return this.kept[low]!;
	}

	private keep(moment: Moment): void {
		this.kept.push(moment.clone());
		if (this.kept.length <= Math.max(KEPT_LEAST, KEPT_BYTES / moment.picture.bytes)) return;
		this.stride *= 2;
		const step = this.chunks[0]!.count * this.stride;
		this.kept = this.kept.filter(({ position }) => (position - this.from) % step === 0);
	}

	/** The last departure of a line before the window; null: the file does not know. */
	async departedEarlier(level: number, core: number, line: number): Promise<EarlierRow | null> {
		this.earlierRows ??= Promise.all(this.earlierParts.map(async (part) =>
			JSON.parse(new TextDecoder().decode(await unpacked(part))) as EarlierRow[]))
			.then((all) => new Map(all.flat().map((row) => [row.slice(0, 3).join(), row])));
		const rows = await this.earlierRows;
		return rows.get([level, this.levels[level]!.private ? 1 + core : 0, line].join()) ?? null;
	}

	/** The last time, at a position or before it, that a line left a level of a core; 0: not in this window. */
	departed(level: number, core: number, line: number, position: number): number {
		for (let i = this.departures.length - 1; i >= 0; i--) {
			const one = this.departures[i]!;
			if (one.position <= position && one.line === line && one.level === level && (!one.core || one.core === 1 + core))
				return one.position;
		}
		return 0;
	}
}
