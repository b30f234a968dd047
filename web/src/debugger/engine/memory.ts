// SPDX-License-Identifier: MIT
// memory.ts - texts and bytes in the engine's memory, which moves when it grows.
const encoder = new TextEncoder(), decoder = new TextDecoder();

export interface Exports {
	memory: WebAssembly.Memory;
	room: (bytes: number) => number;
	leave: (at: number) => void;
}

export class Memory {
	/** Set once the module is there. */
	exports!: Exports;

	get view(): DataView {
		return new DataView(this.exports.memory.buffer);
	}

	put(bytes: Uint8Array): number {
		const at = this.exports.room(bytes.length);
		if (!at) throw new Error("There is no memory left for this page.");
		new Uint8Array(this.exports.memory.buffer).set(bytes, at);
		return at;
	}

	putText(text: string): number {
		return this.put(encoder.encode(`${text}\0`));
	}

	leave(at: number): void {
		this.exports.leave(at);
	}

	/** The text that ends with NUL, or has so many bytes. */
	text(at: number, bytes?: number): string {
		const all = new Uint8Array(this.exports.memory.buffer);
		return decoder.decode(all.subarray(at, bytes === undefined ? all.indexOf(0, at) : at + bytes));
	}
}
