// SPDX-License-Identifier: MIT
// recording.ts - a recorded run: its description, its windows, and the moment that is looked at.
import { recordedParts, unpacked, type Description, type Part } from "./file";
import { Moment } from "./moment";
import { Tape } from "./tape";

/** What a file does not hold; `nearmiss view` does. */
export class NotRecorded extends Error {}

export interface RecordedReference { key: number; address: number; size: number; writes: boolean; isUncounted: boolean }

export class Recording {
	readonly main: Tape;  // the longest
	tape: Tape;           // of the moment
	private moment: Moment | null = null;

	constructor(readonly description: Description, readonly tapes: Tape[]) {
		this.main = this.tape = tapes.reduce((longest, tape) => (tape.to - tape.from > longest.to - longest.from ? tape : longest));
	}

	static async open(): Promise<Recording> {
		const [run, ...parts] = await recordedParts();
		if (!run) throw new NotRecorded("This file holds no run of the debugger.");
		const description = JSON.parse(new TextDecoder().decode(await unpacked(run))) as Description;
		const tapes: Tape[] = [];
		for (let i = 0; i < parts.length;) {
			const begin = parts[i++]!;
			const chunks: Part[] = [];
			while (parts[i]?.kind === "chunk") chunks.push(parts[i++]!);
			const earlier: Part[] = [];
			while (parts[i]?.kind === "earlier") earlier.push(parts[i++]!);
			if (chunks.length) tapes.push(new Tape(description, begin, chunks, earlier));
		}
		if (!tapes.length) throw new NotRecorded("This file holds no reference of the run.");
		const recording = new Recording(description, tapes);
		await recording.goTo(recording.main.first);
		return recording;
	}

	get now(): Moment {
		return this.moment!;
	}

	get total(): number {
		return this.description.session.total;
	}

	get hint(): string {
		return `\`nearmiss view ${this.description.session.source}\` has all.`;
	}

	/** The recorded position nearest to one. */
	nearest(position: number): { tape: Tape; position: number } {
		const places = this.tapes.map((tape) => ({ tape, position: Math.min(tape.to, Math.max(tape.first, position)) }));
		return places.reduce((best, place) =>
			(Math.abs(place.position - position) < Math.abs(best.position - position) ? place : best));
	}

	/** The window that has a position. */
	tapeOf(position: number): Tape | null {
		return this.tape.has(position) ? this.tape : this.tapes.find((tape) => tape.has(position)) ?? null;
	}

	/** Goes to a position, or to the nearest that is recorded: false. */
	async goTo(wanted: number): Promise<boolean> {
		const tape = this.tapeOf(wanted);
		const place = tape ? { tape, position: wanted } : this.nearest(wanted);
		await place.tape.load(place.position);
		this.moment = place.tape.at(place.position, place.tape === this.tape ? this.moment : null);
		this.tape = place.tape;
		return place.position === wanted;
	}

	/** The sums until a position, by level. */
	async sumsAt(position: number): Promise<Moment["picture"]["sums"] | null> {
		if (position === 0) return null;
		if (position === this.now.position) return this.now.picture.sums;
		const begins = this.tapes.find(({ from }) => from === position);
		const tape = begins ?? this.tapeOf(position);
		if (!tape) throw new NotRecorded(`This file does not hold the sums until reference ${position}: ${this.hint}`);
		await tape.load(position);
		return tape.at(position).picture.sums;
	}

	reference(position: number): RecordedReference {
		const chunk = this.tape.chunkAt(position - 1);
		const i = position - 1 - chunk.from;
		const shape = chunk.shapes[i]!;
		return { key: chunk.keys[i]!, address: chunk.addresses[i]!, size: shape >> 2, writes: (shape & 1) === 1,
			isUncounted: (shape & 2) === 2 };
	}

	loops(position: number): Record<string, number> {
		const chunk = this.tape.chunkAt(position - 1);
		return chunk.loopsAt(position - 1 - chunk.from);
	}

	/* ---- names of keys ---- */

	text(number: number | null | undefined): string | null {
		return number === null || number === undefined ? null : this.description.texts[number] ?? null;
	}

	functionOf(key: number): string | null { return this.text(this.description.keys.function[key]); }
	fileOf(key: number): string | null { return this.text(this.description.keys.file[key]); }

	objectOf(key: number): string | null {
		const object = this.description.keys.object[key];
		return object === null || object === undefined ? null : this.description.session.objects[object]!.name;
	}

	/** Number of the element of its object that a reference touches; null: not known. */
	elementOf({ key, address }: Pick<RecordedReference, "key" | "address">): number | null {
		const { element, object } = this.description.keys;
		const of = object[key];
		if (!element[key] || of === null || of === undefined) return null;
		return Math.floor((address - this.description.session.objects[of]!.low) / element[key]!);
	}
}

