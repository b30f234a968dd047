// SPDX-License-Identifier: MIT
// player.ts - runs the trace at a speed.  Each frame of the screen makes the references that are due; a new
// request goes out only when the answer of the last one has been drawn, so a slow server lowers the speed
// and never queues.

export class Player {
	speed = 10;  // references a second
	private running = false;
	private due = 0;
	private last = 0;

	// `advance` makes so many references, draws, and says whether to go on.
	constructor(private readonly advance: (count: number) => Promise<boolean>,
		private readonly changed: () => void) {}

	get isRunning(): boolean {
		return this.running;
	}

	toggle(): void {
		if (this.running) this.pause();
		else this.start();
	}

	start(): void {
		this.running = true;
		this.due = 0;
		this.last = performance.now();
		this.changed();
		requestAnimationFrame((now) => void this.frame(now));
	}

	pause(): void {
		this.running = false;
		this.changed();
	}

	private async frame(now: number): Promise<void> {
		if (!this.running) return;
		// A tab that slept for a minute does not owe a minute's references.
		this.due += (Math.min(250, Math.max(0, now - this.last)) / 1000) * this.speed;
		this.last = now;
		const count = Math.floor(this.due);
		if (count > 0) {
			this.due -= count;
			if (!(await this.advance(count))) this.pause();
		}
		requestAnimationFrame((next) => void this.frame(next));
	}
}
