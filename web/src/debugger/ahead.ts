// SPDX-License-Identifier: MIT
// ahead.ts - the moments that come next while it runs.  They are fetched in blocks, the next block while this
// one is shown, so that each frame of the screen has its moment without a request of its own.
import type { Played } from "./types";

export const BLOCK = 32;      // moments of a request
const ENOUGH = BLOCK / 2;     // with fewer in store the next are asked for

export class Ahead {
	by = 0;                   // references between two moments; 0: nothing is ahead
	private moments: Played[] = [];
	private asking: Promise<void> | null = null;
	private fault: unknown = null;

	/** `ask` has the server go on by so many references, as often as a block has moments. */
	constructor(private readonly ask: (by: number) => Promise<Played[]>) {}

	get isAhead(): boolean {
		return this.by > 0;
	}

	/** The moment that the server is at, if it is ahead of the one that is shown. */
	get last(): Played | undefined {
		return this.moments[this.moments.length - 1];
	}

	/** Up to so many of the next moments; none at the end of the trace. */
	async take(count: number, by: number): Promise<Played[]> {
		this.by = by;
		if (this.moments.length < ENOUGH) this.fill();
		if (!this.moments.length) await this.asking;
		if (this.fault) throw this.fault;
		return this.moments.splice(0, count);
	}

	/** Forgets what was not shown; then the server is somewhere ahead, and asks for nothing more. */
	async drop(): Promise<void> {
		await this.asking;
		this.moments = [];
		this.by = 0;
		this.fault = null;
	}

	private fill(): void {
		this.asking ??= this.ask(this.by)
			.then((more) => { this.moments.push(...more); }, (fault: unknown) => { this.fault = fault; })
			.finally(() => { this.asking = null; });
	}
}
