// SPDX-License-Identifier: MIT
// picture.ts - what all caches hold at a moment, and the sums until it.
import type { Bytes } from "./bytes";
import type { Description } from "./file";
import { Slots } from "./slots";

/** Figures of a sum, in the order of the file. */
export const REFERENCES = 0, MISSES = 1, CLASSES = 1 /* + class */, EVICTIONS = 6, FIGURES = 7;

/** Sums of one level: FIGURES numbers for each key, and for each set. */
export interface Sums { byKey: Float64Array; bySet: Float64Array }

export class Picture {
	constructor(readonly caches: Slots[], readonly firstOf: number[], readonly sums: Sums[]) {}

	static empty({ session, levels, keys }: Description): Picture {
		const caches: Slots[] = [];
		const firstOf: number[] = [];
		levels.forEach(({ sets, ways, private: own }, level) => {
			firstOf.push(caches.length);
			for (let core = 0; core < (own ? session.cores : 1); core++) caches.push(new Slots(sets, ways, level, core));
		});
		const sums = levels.map(({ sets }) => ({
			byKey: new Float64Array(keys.row.length * FIGURES), bySet: new Float64Array(sets * FIGURES),
		}));
		return new Picture(caches, firstOf, sums);
	}

	clone(): Picture {
		return new Picture(this.caches.map((slots) => slots.clone()), this.firstOf,
			this.sums.map(({ byKey, bySet }) => ({ byKey: byKey.slice(), bySet: bySet.slice() })));
	}

	get bytes(): number {
		return this.caches.reduce((sum, { bytes }) => sum + bytes, 0) +
			this.sums.reduce((sum, { byKey, bySet }) => sum + byKey.byteLength + bySet.byteLength, 0);
	}

	/** Number of the cache of a level that serves a core. */
	cacheOf(level: number, core: number): number {
		const first = this.firstOf[level]!;
		const end = this.firstOf[level + 1] ?? this.caches.length;
		return end - first > 1 ? first + core : first;
	}

	readSums(from: Bytes, read: (column: Uint8Array) => Bytes): void {
		for (const { byKey, bySet } of this.sums)
			for (const to of [byKey, bySet]) {
				const column = read(from.column());
				for (let row = 0; !column.isAtEnd;) {
					row += column.number();
					for (let figure = 0; figure < FIGURES; figure++) to[row * FIGURES + figure] = column.number();
				}
			}
	}
}
