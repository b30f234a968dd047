// SPDX-License-Identifier: MIT
// answers.ts - the shapes of the answers about profiles; docs/format/view.md describes them.

export interface Session {
	version: string;
	profiles: { n: number; file: string; command: string; machine: string; date: string }[];
	debugger: { source: string; caches: unknown[] } | null;
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
	mpki: number | null;
	bytes: number;
	cycles: number | null;
}

export interface Pair {
	object: string | null;
	function: string | null;
	file: string | null;
	line: number | null;
	misses: number;
	share: number;
	cause: string;
}

export interface Advice {
	title: string;
	text: string;
	object: string | null;
	saving_misses: number | null;
	saving_cycles: number | null;
}

export interface OverviewAnswer {
	info: Record<string, string>;
	verdict: string;
	not_simulated: string;
	levels: Level[];
	pairs: Pair[];
	advice: Advice[];
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
	sums: Cell[];
	rest: Cell[];
}
