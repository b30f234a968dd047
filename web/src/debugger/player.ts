// SPDX-License-Identifier: MIT
// player.ts - runs the trace at a speed, in moments that are as many references apart as the screen has not
// frames for.  Each frame shows the last of the moments that are due; the next frame waits until it is drawn, so
// a slow server lowers the speed and never queues.

const FRAMES = 60;  // a second

export class Player {
	speed = 10;  // references a second
	private running = false;
	private due = 0;
	private last = 0;

	// `advance` goes on by so many moments, so many references apart, draws, and says whether to go on.
	constructor(private readonly advance: (moments: number, by: number) => Promise<boolean>,
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
		const by = Math.max(1, Math.round(this.speed / FRAMES));
		const moments = Math.floor(this.due / by);
		if (moments > 0) {
			this.due -= moments * by;
			if (!(await this.advance(moments, by))) this.pause();
		}
		requestAnimationFrame((next) => void this.frame(next));
	}
}
