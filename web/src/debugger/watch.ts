// SPDX-License-Identifier: MIT
// watch.ts - the moment that is watched.  All that the page shows of a moment is fetched together and shown together, and
// what the reader asks for is done in order.
import { categories } from "../common/colors";
import { Ahead, BLOCK } from "./ahead";
import type { Breakpoint, DebuggerSession, Evicted, Grid, Group, Memory, NewBreakpoint, Played, RunRequest, SlowPanels, State,
	Statistics, Strip } from "./types";
import { rowName } from "./names";
import { Player } from "./player";
import { source, type Breakpoints, type Level, type NestChange } from "./source";
import { writeView, type Pane, type View } from "./view";

const RUN_LIMIT_MS = 200;     // how long the server searches before the page shows how far it is
const SLOW_PANELS_MS = 200;   // statistics, memory and the map of a large cache are read, not watched, while it runs
const SLOW_PANELS_PAUSE = 5;  // times as long as the reading took
const STRIP_BINS = 600;
const MEMORY_BINS = 256;
const WINDOW_SLOTS = 2048;    // of a cache that are shown one by one
const MAP_CELLS = 256;
/** Lines of memory are counted by going through the interval once more, so it has an end. */
export const LINES_INTERVAL = 1_000_000;

/** What is shown of one cache. */
export interface Shown { pane: Pane; grid: Grid; groups: Group[] }

/** Of a line: where it is now, and who had made it leave before it was loaded. */
export interface Story { level: Level; address: number; told: Evicted }

export class Watch {
	state: State | null = null;
	caches: Shown[] = [];
	memory: Memory | null = null;
	strip: Strip | null = null;
	statistics: Statistics | null = null;
	breakpoints: Breakpoint[] = [];
	references: string[] = [];   // the names of all references, those that miss most first
	objects: string[] = [];      // in the order in which they get colours
	story: Story | null = null;
	problem: string | null = null;
	busy = false;
	readonly player: Player;
	private queue = Promise.resolve();
	private search: object | null = null;  // the run that asks again until its stop is reached
	private slowPanelsAt = 0;
	private slowPanelsEach = SLOW_PANELS_MS;
	private readonly ahead = new Ahead((by) => this.fetchAhead(by));

	constructor(public session: DebuggerSession, public view: View,
		private readonly changed: () => void) {
		this.player = new Player((moments, by) => this.play(moments, by), () => this.paused());
		view.panes = session.caches.map(({ levels }, i) => {
			const asked = view.panes[i];
			return asked && levels.some(({ level }) => level === asked.level)
				? asked : { level: levels[0]!.level, core: 0, set_from: null };
		});
	}

	async open(): Promise<void> {
		await this.guard(async () => {
			const { parameters, pads, bases } = this.view;
			const isChanged = Object.keys({ ...parameters, ...pads, ...bases }).length > 0;
			if (isChanged) await source.changeNest(this.view);
			this.keep(await this.restoreBreakpoints());
			await this.readWhole();
			await this.show(await source.goTo(this.view.position));
		});
	}

	/** Those of the link, unless it says nothing of them. */
	private async restoreBreakpoints(): Promise<Breakpoints> {
		const wanted = this.view.breakpoints;
		const there = await source.breakpoints();
		if (wanted === null || writeView({ ...this.view, breakpoints: there.breakpoints })["breakpoints"] === writeView(this.view)["breakpoints"]) return there;
		for (const { id } of there.breakpoints) await source.removeBreakpoint(id);
		for (const { cache, level, skip, expression } of wanted)
			await source.addBreakpoint({ kind: "condition", cache, level, condition: expression, ...(skip > 0 ? { skip } : {}) });
		const { breakpoints } = await source.breakpoints();
		for (const [n, { id }] of breakpoints.entries()) if (!wanted[n]?.enabled) await source.enableBreakpoint(id, false);
		return source.breakpoints();
	}

	private keep({ breakpoints }: Breakpoints): void {
		this.breakpoints = breakpoints;
		this.view = { ...this.view, breakpoints };
	}

	level(cache: number): Level {
		const { level, core } = this.view.panes[cache]!;
		return { cache, level, core };
	}

	step(count: number): Promise<void> {
		this.search = null;
		return this.move(() => source.goTo(this.within(this.state!.position + count)));
	}

	goTo(position: number): Promise<void> {
		this.search = null;
		return this.move(() => source.goTo(this.within(position)));
	}

	private within(position: number): number {
		return Math.min(this.session.total, Math.max(0, position));
	}

	get searching(): boolean {
		return this.search !== null;
	}

	/** Runs until the stop is reached.  The server may answer before that: then the page shows how far it is
	 * and asks again, unless the reader has gone elsewhere. */
	async run(request: Omit<RunRequest, "limit_ms">): Promise<void> {
		if (request.until === "breakpoint" && !this.breakpoints.some(({ enabled }) => enabled))
			return this.guard(async () => { throw new Error("There is no breakpoint to stop at: add one below."); });
		const search = this.search = {};
		do {
			await this.move(() => source.run({ ...this.level(0), ...request, limit_ms: RUN_LIMIT_MS }));
		} while (this.search === search && this.state?.stopped_by === "limit");
		if (this.search === search) this.search = null;
		if (this.state?.stopped_by === "breakpoint") await this.changeBreakpoints(source.breakpoints); // it has stopped once more
		this.changed();
	}

	/** To the first reference of a function, or to the first of a nest that is written so. */
	async goToFunction(name: string): Promise<void> {
		const quote = name.includes('"') ? "'" : '"';
		await this.goTo(0);
		await this.run({ until: "condition", condition: `function == ${quote}${name}${quote}` });
	}

	stop(): void {
		this.search = null;
		this.player.pause();
	}

	look(change: Partial<View>): Promise<void> {
		this.view = { ...this.view, ...change };
		return this.guard(() => this.show(this.state));
	}

	lookAt(cache: number, change: Partial<Pane>): Promise<void> {
		return this.look({ panes: this.view.panes.map((pane, i) => (i === cache ? { ...pane, ...change } : pane)) });
	}

	askWhoEvicted(address: number, cache: number): Promise<void> {
		const level = this.level(cache);
		return this.guard(async () => {
			this.story = { level, address, told: await source.evicted(level, address) };
		});
	}

	changeNest(change: NestChange): Promise<void> {
		this.view = { ...this.view, ...change };
		return this.guard(async () => {
			const state = await source.changeNest(this.view);
			await this.readWhole();
			await this.show(state);
		});
	}

	changeBreakpoints(change: () => Promise<Breakpoints>): Promise<void> {
		return this.guard(async () => {
			this.keep(await change());
		});
	}

	/** Adds one; why there is none, or null. */
	async addBreakpoint(breakpoint: NewBreakpoint): Promise<string | null> {
		let refusal: string | null = null;
		await this.changeBreakpoints(() => source.addBreakpoint(breakpoint).catch((error: Error) => {
			refusal = error.message;
			return source.breakpoints();
		}));
		return refusal;
	}

	/** Once it does not run any more, all is read at the moment that is shown. */
	private paused(): void {
		this.changed();
		if (!this.player.isRunning && this.ahead.isAhead) void this.look({});
	}

	private async play(moments: number, by: number): Promise<boolean> {
		let shown: Played[] = [];
		if (this.ahead.isAhead && this.ahead.by !== by) await this.guard(async () => {});
		await this.guard(async () => {
			shown = await this.ahead.take(moments, by);
			this.showPlayed(shown);
		}, false);
		if (this.hasLeftWindow()) await this.look({});
		return !this.problem && shown.length > 0 && this.state!.position < this.state!.total;
	}

	/** The next moments of the server, which goes on to the last of them.  What is read at the moment where it is
	 * before that, is shown with it. */
	private async fetchAhead(by: number): Promise<Played[]> {
		const last = this.ahead.last;
		const due = performance.now() - this.slowPanelsAt > this.slowPanelsEach;
		if (due) {
			const begun = performance.now();
			const slow = await this.readSlowPanels(last?.state ?? this.state!);
			if (last) last.slow = slow;
			else this.showSlow(slow);
			this.slowPanelsAt = performance.now();
			this.slowPanelsEach = Math.max(SLOW_PANELS_MS, SLOW_PANELS_PAUSE * (this.slowPanelsAt - begun));
		}
		const panes = this.caches.map(({ grid: { set_from, set_to } }, cache) =>
			({ ...this.level(cache), set_from, set_to }));
		return (await source.play(BLOCK, by, panes)).moments;
	}

	private showPlayed(moments: Played[]): void {
		for (const { state, grids, slow } of moments) {
			this.state = state;
			if (slow) this.showSlow(slow);
			grids.forEach(({ cursor, changes }, i) => {
				const { grid } = this.caches[i]!;
				grid.cursor = cursor;
				for (const [slot, now] of changes) grid.slots[slot] = now;
			});
		}
		if (!moments.length) return;
		for (const { grid } of this.caches)
			for (const slot of grid.slots) if (slot) slot.age = this.state!.position - slot.last_used;
		this.story = null;
		this.view = { ...this.view, position: this.state!.position };
	}

	/** Whether the cursor is outside of what is shown of a large cache, which follows it. */
	private hasLeftWindow(): boolean {
		return this.caches.some(({ pane, grid: { cursor, set_from, set_to } }) =>
			pane.set_from === null && cursor !== null && (cursor.set < set_from || cursor.set >= set_to));
	}

	private showSlow({ memory, statistics, groups }: SlowPanels): void {
		this.memory = memory;
		this.statistics = statistics;
		this.caches.forEach((cache, i) => { cache.groups = groups[i]!; });
	}

	private move(ask: () => Promise<State>): Promise<void> {
		this.story = null;
		return this.guard(async () => this.show(await ask()));
	}

	private async show(state: State | null): Promise<void> {
		if (!state) return;
		const due = !this.player.isRunning || performance.now() - this.slowPanelsAt > SLOW_PANELS_MS;
		const [grids, slow] = await Promise.all([
			Promise.all(this.session.caches.map((_, cache) => this.readGrid(cache, state))),
			due ? this.readSlowPanels(state) : null,
		]);
		this.state = state;
		if (slow) {
			({ memory: this.memory, statistics: this.statistics } = slow);
			this.slowPanelsAt = performance.now();
		}
		this.caches = grids.map((grid, i) => ({
			pane: this.view.panes[i]!, grid, groups: slow?.groups[i] ?? this.caches[i]?.groups ?? [],
		}));
		this.view = { ...this.view, position: state.position };
		this.changed();
	}

	private readGrid(cache: number, state: State): Promise<Grid> {
		const { level, core, set_from } = this.view.panes[cache]!;
		const shape = this.shapeOf(cache);
		const shown = Math.max(1, Math.floor(WINDOW_SLOTS / shape.ways));
		const cursor = state.effects.find((one) => one.cache === cache && one.level === level && one.core === core);
		const from = set_from ?? Math.floor((cursor?.set ?? 0) / shown) * shown;
		return source.grid(this.level(cache), from, Math.min(shape.sets, from + shown));
	}

	private async readSlowPanels(state: State): Promise<SlowPanels> {
		const { statistics: by, interval } = this.view;
		const length = interval || (by === "line" ? LINES_INTERVAL : state.position);
		const [memory, statistics, groups] = await Promise.all([
			source.memory(this.level(0), MEMORY_BINS),
			source.statistics(this.level(0), by, Math.max(0, state.position - length), state.position),
			Promise.all(this.session.caches.map((_, cache) => this.readGroups(cache))),
		]);
		return { memory, statistics, groups };
	}

	/** The map of a level that is too large for its slots to be shown. */
	private async readGroups(cache: number): Promise<Group[]> {
		const { sets, ways } = this.shapeOf(cache);
		if (sets * ways <= WINDOW_SLOTS) return [];
		return (await source.groups(this.level(cache), MAP_CELLS)).groups ?? [];
	}

	private shapeOf(cache: number) {
		const name = this.view.panes[cache]!.level;
		return this.session.caches[cache]!.levels.find(({ level }) => level === name)!;
	}

	/** What belongs to the trace and not to a moment. */
	private async readWhole(): Promise<void> {
		this.session = await source.session();
		this.strip = await source.strip(STRIP_BINS);
		const all = await source.statistics(this.level(0), "reference", 0, this.session.total);
		this.references = [...new Set(all.rows.map(([name]) => rowName(name, this.session.kind)))];
		this.objects = await this.readObjects();
	}

	/** All objects; where they are more than colours, those that miss most are first. */
	private async readObjects(): Promise<string[]> {
		const names = this.session.objects.filter(({ end }) => end > 0).map(({ name }) => name);
		if (names.length < categories.length) return names;
		const { rows } = await source.statistics(this.level(0), "object", 0, this.session.total);
		return [...new Set([...rows.map(([name]) => rowName(name, this.session.kind)), ...names])];
	}

	/** One thing after the other: the server has one moment, and what is shown belongs to it.  `here`: it must
	 * be the one that is shown. */
	private guard(action: () => Promise<void>, here = true): Promise<void> {
		this.queue = this.queue.then(() => this.attempt(action, here));
		return this.queue;
	}

	private async attempt(action: () => Promise<void>, here: boolean): Promise<void> {
		this.busy = true;
		try {
			this.problem = null;
			if (here && this.ahead.isAhead) {
				await this.ahead.drop();
				await source.goTo(this.state!.position);
			}
			await action();
		} catch (error) {
			this.problem = error instanceof Error ? error.message : String(error);
			this.stop();
		}
		this.busy = false;
		this.changed();
	}
}
