// SPDX-License-Identifier: MIT
// view.ts - what a link to the debugger restores: the moment, and how it is looked at.
import { ARRANGEMENTS, type Arrangement } from "./draw/grid";
import { unescaped } from "../router";
import { COLOURINGS, type Colouring } from "./draw/colours";
import type { Breakpoint } from "./types";

export const STATISTICS = ["reference", "object", "line", "set", "total"] as const;
export type StatisticsBy = (typeof STATISTICS)[number];

/** What is shown of a cache; `set_from` is the first set of a large one, or null: those around the cursor. */
export interface Pane { level: string; core: number; set_from: number | null }

/** What a link says of a breakpoint: its number and how often it stopped are of this run alone. */
export type Kept = Pick<Breakpoint, "cache" | "level" | "skip" | "enabled" | "expression">;

export interface View {
	position: number;
	panes: Pane[];          // one for each cache
	colouring: Colouring;
	arrangement: Arrangement;
	statistics: StatisticsBy;
	interval: number;       // statistics of the last so many references; 0: of all so far
	pads: Record<string, number>;
	bases: Record<string, number>;
	parameters: Record<string, number>;
	breakpoints: Kept[] | null; // null: those that are there
}

export function defaultView(): View {
	return {
		position: 0, panes: [], colouring: "object", arrangement: "sets", statistics: "reference", interval: 0,
		pads: {}, bases: {}, parameters: {}, breakpoints: null,
	};
}

// Pairs are divided by `:` and `,`, so names are escaped by themselves.
function writePairs(pairs: Record<string, number>): string {
	return Object.entries(pairs).map(([name, value]) => `${encodeURIComponent(name)}:${value}`).join(",");
}

function readPairs(text: string | undefined): Record<string, number> {
	const pairs: Record<string, number> = {};
	for (const pair of text ? text.split(",") : []) {
		const [name, value] = pair.split(":");
		if (name && Number.isSafeInteger(Number(value))) pairs[unescaped(name)] = Number(value);
	}
	return pairs;
}

function writePane({ level, core, set_from }: Pane): string {
	return `${encodeURIComponent(level)}:${core}${set_from === null ? "" : `:${set_from}`}`;
}

function readPane(text: string): Pane {
	const [level = "", core, set_from] = text.split(":");
	return { level: unescaped(level), core: naturalNumber(core), set_from: set_from ? naturalNumber(set_from) : null };
}

function writeBreakpoint({ cache, level, skip, enabled, expression }: Kept): string {
	return [cache, encodeURIComponent(level), skip, Number(enabled), encodeURIComponent(expression)].join(":");
}

function readBreakpoint(text: string): Kept {
	const [cache, level = "", skip, enabled, expression = ""] = text.split(":");
	return { cache: naturalNumber(cache), level: unescaped(level), skip: naturalNumber(skip), enabled: enabled !== "0", expression: unescaped(expression) };
}

/** The parameters of the page's address; null: the address does without. */
export function writeView(view: View): Record<string, string | number | null> {
	const plain = defaultView();
	const differing = <K extends keyof View>(key: K) => (view[key] === plain[key] ? null : String(view[key]));
	return {
		position: view.position,
		panes: view.panes.map(writePane).join(",") || null,
		colouring: differing("colouring"), arrangement: differing("arrangement"),
		statistics: differing("statistics"), interval: differing("interval"),
		parameters: writePairs(view.parameters) || null, pads: writePairs(view.pads) || null,
		bases: writePairs(view.bases) || null,
		breakpoints: view.breakpoints?.map(writeBreakpoint).join(",") || null,
	};
}

function oneOf<T extends string>(allowed: readonly T[], value: string | undefined, otherwise: T): T {
	return allowed.includes(value as T) ? (value as T) : otherwise;
}

function naturalNumber(text: string | undefined): number {
	const value = Number(text);
	return Number.isSafeInteger(value) && value > 0 ? value : 0;
}

/** Whatever a link says, a view comes out. */
export function readView(params: Record<string, string>): View {
	const plain = defaultView();
	return {
		position: naturalNumber(params["position"]),
		panes: params["panes"] ? params["panes"].split(",").map(readPane) : [],
		colouring: oneOf(COLOURINGS, params["colouring"], plain.colouring),
		arrangement: oneOf(ARRANGEMENTS, params["arrangement"], plain.arrangement),
		statistics: oneOf(STATISTICS, params["statistics"], plain.statistics),
		interval: naturalNumber(params["interval"]),
		pads: readPairs(params["pads"]),
		bases: readPairs(params["bases"]),
		parameters: readPairs(params["parameters"]),
		breakpoints: params["breakpoints"]?.split(",").map(readBreakpoint) ?? null,
	};
}
