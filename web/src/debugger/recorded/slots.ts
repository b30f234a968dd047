// SPDX-License-Identifier: MIT
// slots.ts - the slots of one cache, in pages: those of a large cache that nothing was loaded into take no memory, and a copy
// shares all pages until one of the two changes them.

const PAGE_BITS = 9;
const PAGE = 1 << PAGE_BITS;

class Page {
	readonly line = new Float64Array(PAGE).fill(NaN);
	readonly key = new Int32Array(PAGE);
	readonly reuse = new Float64Array(PAGE);
	readonly loadedAt = new Float64Array(PAGE);
	readonly lastUsed = new Float64Array(PAGE);
	readonly dirty = new Uint8Array(PAGE);
	readonly state = new Uint8Array(PAGE);

	clone(): Page {
		const copy = new Page();
		for (const name of FIGURES) copy[name].set(this[name]);
		return copy;
	}
}

const FIGURES = ["line", "key", "reuse", "loadedAt", "lastUsed", "dirty", "state"] as const;
const none = new Page();

export class Slots {
	private readonly pages: Page[];
	private readonly shared: Uint8Array;   // pages that a copy has too, or that there are none of

	constructor(readonly sets: number, readonly ways: number, readonly level: number, readonly core: number, pages?: Page[]) {
		const count = ((sets * ways - 1) >> PAGE_BITS) + 1;
		this.pages = pages ?? new Array<Page>(count).fill(none);
		this.shared = new Uint8Array(count).fill(1);
	}

	clone(): Slots {
		this.shared.fill(1);
		return new Slots(this.sets, this.ways, this.level, this.core, this.pages.slice());
	}

	private page(slot: number): Page {
		return this.pages[slot >> PAGE_BITS] ?? none;
	}

	/** The page of a slot that is about to change. */
	writable(slot: number): Page {
		const number = slot >> PAGE_BITS;
		if (this.shared[number]) {
			this.pages[number] = this.pages[number]!.clone();
			this.shared[number] = 0;
		}
		return this.pages[number]!;
	}

	/** Where a slot is in its page. */
	static at(slot: number): number {
		return slot & (PAGE - 1);
	}

	line(slot: number): number { return this.page(slot).line[Slots.at(slot)]!; }
	key(slot: number): number { return this.page(slot).key[Slots.at(slot)]!; }
	reuse(slot: number): number { return this.page(slot).reuse[Slots.at(slot)]!; }
	loadedAt(slot: number): number { return this.page(slot).loadedAt[Slots.at(slot)]!; }
	lastUsed(slot: number): number { return this.page(slot).lastUsed[Slots.at(slot)]!; }
	dirty(slot: number): number { return this.page(slot).dirty[Slots.at(slot)]!; }
	state(slot: number): number { return this.page(slot).state[Slots.at(slot)]!; }

	isEmpty(slot: number): boolean {
		return Number.isNaN(this.line(slot));
	}

	clear(slot: number): void {
		if (this.isEmpty(slot)) return;
		const page = this.writable(slot);
		for (const name of FIGURES) page[name][Slots.at(slot)] = 0;
		page.line[Slots.at(slot)] = NaN;
	}

	fill(slot: number, line: number, key: number, now: number, reuse: number, dirty: boolean): void {
		const page = this.writable(slot);
		const at = Slots.at(slot);
		page.line[at] = line;
		page.key[at] = key;
		page.reuse[at] = reuse;
		page.state[at] = 0;
		page.loadedAt[at] = page.lastUsed[at] = now;
		page.dirty[at] = dirty ? 1 : 0;
	}

	hit(slot: number, now: number, uses: number, dirties: boolean): void {
		const page = this.writable(slot);
		page.lastUsed[Slots.at(slot)] = now;
		this.use(slot, uses, dirties);
	}

	use(slot: number, uses: number, dirties: boolean): void {
		const page = this.writable(slot);
		page.reuse[Slots.at(slot)]! += uses;
		if (dirties) page.dirty[Slots.at(slot)] = 1;
	}

	/** The way of a set that has a line, or -1. */
	wayOf(set: number, line: number): number {
		for (let way = 0, slot = set * this.ways; way < this.ways; way++, slot++)
			if (this.line(slot) === line) return way;
		return -1;
	}

	/** The slot of a line, or -1. */
	slotOf(line: number): number {
		for (let number = 0; number < this.pages.length; number++) {
			const at = this.pages[number] === none ? -1 : this.pages[number]!.line.indexOf(line);
			if (at >= 0) return number * PAGE + at;
		}
		return -1;
	}

	/** Calls for each slot from one to before another that is not empty. */
	forEach(from: number, to: number, see: (slot: number) => void): void {
		for (let slot = from; slot < to; slot++) {
			if (this.page(slot) === none) slot |= PAGE - 1;
			else if (!this.isEmpty(slot)) see(slot);
		}
	}

	isSame(slot: number, other: Slots): boolean {
		const [one, another] = [this.page(slot), other.page(slot)];
		return one === another || FIGURES.every((name) => Object.is(one[name][Slots.at(slot)], another[name][Slots.at(slot)]));
	}

	/** Bytes that a copy may come to take, if most of it changes. */
	get bytes(): number {
		return this.pages.filter((page) => page !== none).length * PAGE * 38;
	}
}
