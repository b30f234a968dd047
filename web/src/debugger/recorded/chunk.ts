// SPDX-License-Identifier: MIT
// chunk.ts - some thousand references of a window: what each is, and in bytes what it does.
import { Bytes, unfold } from "./bytes";

export class Chunk {
	readonly keys: Int32Array;
	readonly addresses: Float64Array;
	readonly shapes: Int32Array;   // 4 * size, + 2: it is not counted, + 1: it writes
	readonly effects: Uint8Array;
	readonly figures: Uint8Array;
	readonly corrections: Uint8Array;
	private readonly loopColumn: Uint8Array;
	private loops: LoopReader;

	/** References behind position `from`. */
	constructor(readonly from: number, readonly count: number, bytes: Uint8Array, keyCount: number) {
		const all = new Bytes(bytes);
		this.keys = new Int32Array(count);
		this.addresses = new Float64Array(count);
		this.shapes = new Int32Array(count);
		this.readReferences(new Bytes(all.column()), new Bytes(all.column()), keyCount);
		this.loopColumn = all.column();
		this.loops = new LoopReader(this.loopColumn);
		this.effects = all.column();
		this.figures = all.column();
		this.corrections = all.column();
	}

	/** The same key follows as the last time; its address moves, its size and kind mostly stay. */
	private readReferences(keys: Bytes, addresses: Bytes, keyCount: number): void {
		const next = new Int32Array(keyCount + 1);
		const address = new Float64Array(keyCount + 1);
		const shape = new Int32Array(keyCount + 1);
		for (let i = 0, last = 0; i < this.count; i++) {
			const told = keys.number();
			const key = told ? told - 1 : next[last]!;
			const move = addresses.number();
			next[last] = last = key;
			address[key]! += unfold(Math.floor(move / 2));
			if (move % 2) shape[key] = addresses.number();
			this.keys[i] = key;
			this.addresses[i] = address[key]!;
			this.shapes[i] = shape[key]!;
		}
	}

	/** The loops around the i-th reference of the chunk. */
	loopsAt(i: number): Record<string, number> {
		if (this.loops.read > i) this.loops = new LoopReader(this.loopColumn);
		return this.loops.at(i);
	}
}

/** Indices of loops, forward: by how much they are not as they were. */
class LoopReader {
	read = 0;
	private readonly names: string[] = [];
	private readonly values: number[] = [];
	private readonly column: Bytes;
	private current: Record<string, number> = {};

	constructor(column: Uint8Array) {
		this.column = new Bytes(column);
	}

	at(i: number): Record<string, number> {
		for (; this.read <= i && !this.column.isAtEnd; this.read++) this.next();
		return this.current;
	}

	private next(): void {
		this.current = {};
		for (let count = this.column.number(); count > 0; count--) {
			const loop = this.column.number();
			if (loop === this.names.length) {
				this.names.push(this.column.text());
				this.values.push(0);
			}
			this.values[loop]! += this.column.signed();
			this.current[this.names[loop]!] = this.values[loop]!;
		}
	}
}
