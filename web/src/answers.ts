// SPDX-License-Identifier: MIT
// answers.ts - the shapes of the answers about profiles; docs/format/view.md describes them.

export interface Session {
	version: string;
	profiles: SessionProfile[];
	debugger: { source: string; caches: unknown[] } | null;
}

export interface SessionProfile {
	n: number;
	file: string;
	command: string;
	machine: string;
	date: string;
	/** How many profiles it was made of; "" if it was not. */
	merged: string;
	references: string;
	/** "valgrind", if a program was recorded. */
	collector: string;
	/** What it holds of what pages need (needs.ts). */
	holds: string[];
	/** A trace of its run that the server can replay. */
	trace: string | null;
}

export interface Level {
	level: string;
	size: number;
	ways: number;
	line: number;
	reads: number;
	writes: number;
	misses: number;
	cold: number;
	capacity: number;
	conflict: number;
	coherence: number;
	miss_ratio: number | null;
	mpki: number | null;
	bytes: number;
	/** Not known of one input, as all that may be missing. */
	cycles?: number | null;
}

export interface Pair {
	object: string | null;
	function: string | null;
	file: string | null;
	line: number | null;
	misses: number;
	share: number;
	cycles_share?: number | null;
	cause?: string;
}

export interface Advice {
	title: string;
	text: string;
	object: string | null;
	file: string | null;
	line: number | null;
	saving_misses: number | null;
	saving_cycles: number | null;
}

export interface OverviewAnswer {
	info: Record<string, string>;
	verdict?: string;
	/** The level that the verdict names; null: none. */
	verdict_level?: string | null;
	not_simulated?: string;
	notes?: string[];
	levels: Level[];
	pairs: Pair[];
	advice?: Advice[];
}

/** One of the profiles that a merged one was made of. */
export interface Input {
	input: string;
	rank: number | null;
	group: number;
	misses: number | null;
	mpki: number | null;
}

export interface InputsAnswer {
	level: string;
	total: number;
	groups: { group: number; profiles: number }[];
	inputs: Input[];
}

export interface Column {
	key: string;
	heading: string;
	unit?: string | null;
	help?: string | null;
	kind: "text" | "number";
}

export type Cell = string | number | null;

export interface TableAnswer {
	columns: Column[];
	rows: Cell[][];
	total_rows: number;
	/** Rows that are only summed, as each is below the least share. */
	small: number;
	sums: Cell[];
	rest: Cell[];
}

/** What can be found by its name. `of`: the type that has the field. */
export interface Name {
	kind: "object" | "function" | "file" | "type" | "field";
	name: string;
	misses: number;
	of: string | null;
}

export interface TreeNode {
	name: string | null;
	value: number;
	/** What was cut, summed: it has no children. */
	rest?: boolean;
	children?: TreeNode[];
}

/** A box of call chains: what it is, and its misses. */
export interface ChainNode {
	kind: "all" | "object" | "line" | "call";
	value: number;
	/** Of the object; of the called function. */
	name?: string | null;
	/** The line; that which calls. */
	file?: string | null;
	line?: number | null;
	children?: ChainNode[];
	/** The sum of those below 1 % of the root. */
	rest?: number | undefined;
}

export interface ChainsAnswer {
	level: string;
	by: "object" | "call";
	/** From the sum of all to the tree's parent. */
	path: ChainNode[];
	tree: ChainNode;
	/** Whether there are calls below the deepest boxes. */
	deeper: boolean;
}

export interface SourceFile {
	file: string;
	misses: number;
	available: boolean;
}

export interface SourceAnswer {
	file: string;
	level: string;
	/** Why the text is missing or may not be that which was compiled. */
	note: string | null;
	lines: { n: number; text: string | null; figures: Record<string, Cell> | null }[];
}

export interface LineAnswer {
	objects: { object: string | null; function: string | null; misses: number; loads: number; reuse?: number }[];
	evictors?: { victim: string | null; object: string | null; function: string | null; file: string | null; line: number | null; evictions: number }[];
	reuses?: { previous_file: string | null; previous_line: number | null; previous_function: string | null; previous_object: string | null; count: number }[];
	/** The calls that led here, from that of the line's function outwards, and the misses that came of them. */
	chains?: { misses: number; calls: { function: string | null; file: string | null; line: number | null }[] }[];
	classes?: Record<string, number>;
	reuse?: { per_load: number | null; waste: number | null };
}

export interface EvictionsAnswer {
	level: string;
	objects: string[];
	/** matrix[evictor][victim] */
	matrix: number[][];
	total: number;
	rest: number;
}

export interface EvictionLine {
	evictor: string | null;
	file: string | null;
	line: number | null;
	function: string | null;
	victim: string | null;
	victim_file: string | null;
	victim_line: number | null;
	victim_function: string | null;
	/** The innermost frames, of inlined calls too, where the lines are the user's. */
	inner_file?: string | null;
	inner_line?: number | null;
	victim_inner_file?: string | null;
	victim_inner_line?: number | null;
	count: number;
	share: number;
}

export interface EvictionLinesAnswer {
	rows: EvictionLine[];
	total_rows: number;
	/** Evictions by the lines that are not among the rows. */
	rest: number;
}

export interface Curve {
	name: string | null;
	points: { size: number; ratio: number; low?: number | null; high?: number | null }[];
}

export interface CurvesAnswer {
	by: string;
	series: Curve[];
	machine_sizes: { level: string; size: number }[];
}

export interface HistogramAnswer {
	of: string;
	level: string;
	unit: string;
	/** How many there are in all; not of distances. */
	places?: number;
	/** `to` is null: without end; `from` is null: what has no distance, as first uses. Lines have the address of the first of them. */
	bins: { from: number | null; to: number | null; address?: number; object?: string | null; values: Record<string, number> }[];
}

export interface SharingAnswer {
	rows: Record<string, Cell>[];
	/** Why there are no rows. */
	note: string | null;
}

/** How one thread touches bytes of a contended line. */
export interface Touch {
	/** Where all processes ran on one machine; so in a taker. */
	thread_process?: string;
	offset: number;
	bytes: number;
	thread: number;
	object: string | null;
	field: string | null;
	function: string | null;
	file: string | null;
	line: number | null;
	reads: number;
	writes: number;
	misses: number;
	false_misses: number;
	invalidations: number;
}

/** Who takes the line from whom. */
export interface Taker {
	thread_process?: string;
	victim_process?: string;
	thread: number;
	function: string | null;
	file: string | null;
	line: number | null;
	victim_thread: number;
	victim_function: string | null;
	victim_file: string | null;
	victim_line: number | null;
	invalidations: number;
}

export interface SharedLine {
	process: string;
	block: number;
	misses: number;
	false_misses: number;
	threads: number;
	touches: Touch[];
	takers: Taker[];
	repair: string;
}

export interface SharedLinesAnswer {
	/** How many lines are contended for, and the sums of all; missing where there are no cores. */
	lines?: number;
	misses?: number;
	false_misses?: number;
	rows: SharedLine[];
	note: string | null;
}

export interface Field {
	name: string;
	offset: number;
	size: number;
	/** Accesses that were sampled, whatever the level. */
	sampled: number;
	reads: number;
	writes: number;
	misses: number;
}

/** What a layout moves: a field, or all fields of a nested structure, union or array. */
export interface Member {
	name: string;
	offset: number;
	size: number;
	align: number;
	/** Its alignment is not known for certain. */
	estimated: boolean;
}

export interface Structure {
	type: string;
	size: number;
	objects: string[];
	misses: number;
	fields: Field[];
	members: Member[];
	/** affinity[i][j]: the share of visits to either field that used both; null: not known */
	affinity: (number | null)[][];
}

/** The misses of a candidate layout that were asked for last. rows: of the program as it is ("A") and of the candidate ("B"). */
export interface Prediction {
	state: "none" | "running" | "done" | "failed" | "cancelled";
	profile?: number;
	candidate?: string;
	/** How many have been replayed. */
	references?: number;
	/** Why it failed, or what it warns of. */
	messages?: string;
	rows?: PredictedLevel[];
}

export interface PredictedLevel {
	candidate: string;
	level: string;
	misses: number;
	change_percent: number | null;
	/** Of other placements of memory. */
	least: number | null;
	greatest: number | null;
}

/** What a level counted in an interval, and where it misses most. */
export interface TimelineCell {
	level: string;
	reads: number;
	writes: number;
	read_misses: number;
	write_misses: number;
	cold: number;
	capacity: number;
	conflict: number;
	coherence: number;
	loads: number;
	object: string | null;
	function: string | null;
	file: string | null;
	line: number | null;
}

export interface TimelineInterval {
	begin: number;
	instructions: number;
	working_set: number;
	levels: TimelineCell[];
}

export interface TimelineAnswer {
	process: string;
	instructions: number;
	/** The processes that have a timeline. */
	processes: { process: string }[];
	intervals: TimelineInterval[];
}

/** Misses of objects or lines by interval. */
export interface TimelineRowsAnswer {
	level: string;
	rows: { name: string; misses: number[] }[];
}

export interface CompareAnswer {
	level: string;
	verdict: string;
	rows: Record<string, Cell>[];
	changed: number;
	unchanged: number;
}
