// SPDX-License-Identifier: MIT
// bytes.ts - reads numbers as nearmiss writes them: seven bits per byte, lowest first; the last byte is below 128.

export class Bytes {
	at = 0;

	constructor(readonly bytes: Uint8Array) {}

	get isAtEnd(): boolean {
		return this.at >= this.bytes.length;
	}

	number(): number {
		const first = this.bytes[this.at++]!;
		return first < 128 ? first : this.further(first);
	}

	private further(first: number): number {
		let value = first & 127;
		for (let factor = 128; ; factor *= 128) {
			const byte = this.bytes[this.at++]!;
			value += (byte & 127) * factor;
			if (byte < 128) return value;
		}
	}

	/** 0, -1, 1, -2, 2 ... are written as 0, 1, 2, 3, 4 ... */
	signed(): number {
		return unfold(this.number());
	}

	/** A column behind its length. */
	column(): Uint8Array {
		const length = this.number();
		const column = this.bytes.subarray(this.at, this.at + length);
		this.at += length;
		return column;
	}

	text(): string {
		return new TextDecoder().decode(this.column());
	}
}

export function unfold(folded: number): number {
	return folded % 2 ? -(folded + 1) / 2 : folded / 2;
}
