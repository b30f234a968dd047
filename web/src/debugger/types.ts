// SPDX-License-Identifier: MIT
// types.ts - what the debugger's half of the HTTP interface answers (docs/format/view.md, /api/d).
// Positions count references from the start of the trace: at position p the first p have been made, and the
// last of them is shown.

export interface CodePlace {
	position: number;
	file: string | null;
	line: number;
	function: string | null;
	object: string | null;
}

export interface Reference {
	thread: number;
	core: number;
	kind: "read" | "write";
	address: number;
	size: number;
	measured?: boolean;  // false: measuring was off
	file: string | null;
	line: number;
	function: string | null;
	object: string | null;
	array_index: number | null;
	loops: Record<string, number>;
}

/** A line that left a level: `how` is the event, a replacement or an invalidation. */
export interface Departed {
	line: number;
	object: string | null;
	dirty: boolean;
	how: string;
	loaded_at: CodePlace | null;
	last_used: CodePlace | null;
}

/** What the last reference did to a line of one level of one cache. */
export interface Effect {
	cache: number;
	level: string;
	core: number;
	set: number;
	way: number;
	line: number;
	event: string;
	hit: boolean;
	class: string | null;
	false_sharing: boolean;
	evicted: Departed | null;
}

export interface State {
	position: number;
	total: number;
	reference: Reference | null;
	effects: Effect[];
	stopped_by: string | null;
	breakpoint: number | null;
}

export interface Slot {
	line: number;
	object: string | null;
	reference: string | null;
	code_line: number;
	dirty: boolean;
	age: number;
	reuse: number;
	loaded_at: number;
	last_used: number;
	thread: number;
	state: string | null;
}

/** Sets of a large cache together: how many of their lines are of which object. */
export interface Group { set_from: number; set_to: number; lines: number; dirty: number; objects: Record<string, number> }

export interface Grid {
	sets: number;
	ways: number;
	line: number;
	set_from: number;
	set_to: number;
	slots: (Slot | null)[];  // set by set, from set_from; within a set way by way
	groups?: Group[];
	cursor: { set: number; way: number; hit: boolean } | null;
}

/** A moment while it runs, as what changed in each grid since the one before. */
export interface Played {
	state: State;
	grids: { cursor: Grid["cursor"]; changes: [number, Slot | null][] }[];
	slow?: SlowPanels;  // read at this moment
}

/** What is read now and then while it runs, not watched. */
export interface SlowPanels { memory: Memory; statistics: Statistics; groups: Group[][] }

/** An object as a band: of each bin of its lines, how many are cached. */
export interface Band {
	object: string;
	scattered: boolean;  // several places of one name
	low: number;
	end: number;
	lines: number;
	lines_per_bin: number;
	cached: number[];
}

export interface Memory { bands: Band[]; rest: number }

export interface LevelShape { level: string; size: number; sets: number; ways: number; line: number; policy: string; private: boolean }

export interface CacheShape { name: string; levels: LevelShape[] }

export interface DebuggerSession {
	source: string;
	kind: "nest" | "trace";
	total: number;
	first: number;
	cores: number;
	caches: CacheShape[];
	objects: { name: string; low: number; end: number }[];
	/** Those that make references; of a nest, the references as they are written. */
	functions: string[];
	parameters?: Record<string, number>;  // of a nest
}

export type Stop = "miss" | "breakpoint" | "eviction" | "visit" | "condition";

export interface RunRequest {
	until: Stop;
	cache?: number;
	level?: string;
	object?: string;
	set?: number;
	condition?: string;
	backwards?: boolean;
	limit_ms: number;
}

/** Lines of a file, from one of them on. */
export interface SourceText { file: string; from: number; lines: string[] }

/** Who made a line leave, the last time. */
export interface Eviction { evicted: Departed; evictor: Reference; evicted_at: number }

/** Where a line is, and who made it leave before, if it ever left. */
export type Evicted = Partial<Eviction> & (
	| { is: "resident"; set: number; way: number; slot: Slot; loaded_at: CodePlace | null; last_used: CodePlace | null }
	| { is: "evicted" }
	| { is: "never" });

export interface Strip { bins: { from: number; to: number; references: number; misses: number }[] }

/** What a row of statistics is about: a reference, a line of memory, an object by name, or a set by number. */
export type RowName =
	| { function: string | null; file: string | null; line: number; object: string | null; thread: number }
	| { address: number; object: string | null }
	| string | number | null;

/** The columns behind the first are sums until the position; "interval_…" are those of the interval. */
export interface Statistics {
	columns: string[];
	rows: [RowName, ...number[]][];
	total_rows: number;
	rest: ["(rest)", ...number[]] | null;
}

export interface Breakpoint {
	id: number;
	kind: string;
	expression: string;
	cache: number;
	level: string;
	enabled: boolean;
	skip: number;
	hits: number;
}

/** What is asked for: a kind, its fields, and a condition. */
export type NewBreakpoint = Record<string, string | number | Record<string, number>>;
