// SPDX-License-Identifier: MIT
// source.ts - asks the server for moments of the caches.
import { get, post, remove } from "../api";
import type { Breakpoint, DebuggerSession, Evicted, Grid, Memory, NewBreakpoint, Played, RunRequest, State, Statistics,
	Strip } from "./types";

/** A level of a cache, of one core where it is private. */
export interface Level { cache: number; level: string; core: number }

/** A window of a level that is shown. */
export interface Pane extends Level { set_from: number; set_to: number }

export interface NestChange {
	parameters: Record<string, number>;
	pads: Record<string, number>;
	bases: Record<string, number>;
}

export interface Breakpoints { breakpoints: Breakpoint[] }

export const source = {
	session: () => get<DebuggerSession>("/api/d/session"),
	goTo: (position: number) => post<State>("/api/d/goto", { position }),
	step: (count: number) => post<State>("/api/d/step", { count }),
	run: (request: RunRequest) => post<State>("/api/d/run", request),
	/** The moments that come next, each `by` references after the one before. */
	play: (count: number, by: number, panes: Pane[]) => post<{ moments: Played[] }>("/api/d/play", { count, by, panes }),
	grid: (level: Level, set_from: number, set_to: number) => get<Grid>("/api/d/grid", { ...level, set_from, set_to }),
	/** The whole level in at most so many groups of sets. */
	groups: (level: Level, cells: number) => get<Grid>("/api/d/grid", { ...level, cells }),
	memory: (level: Level, bins: number) => get<Memory>("/api/d/memory", { ...level, bins }),
	strip: (bins: number) => get<Strip>("/api/d/strip", { bins }),
	statistics: (level: Level, by: string, from: number, to: number) =>
		get<Statistics>("/api/d/statistics", { ...level, by, from, to }),
	evicted: (level: Level, address: number) => get<Evicted>("/api/d/evicted", { ...level, address }),
	breakpoints: () => get<Breakpoints>("/api/d/breakpoints"),
	addBreakpoint: (breakpoint: NewBreakpoint) => post<Breakpoints>("/api/d/breakpoints", breakpoint),
	enableBreakpoint: (id: number, enabled: boolean) => post<Breakpoints>("/api/d/breakpoints", { id, enabled }),
	removeBreakpoint: (id: number) => remove<Breakpoints>("/api/d/breakpoints", { id }),
	changeNest: ({ parameters, pads, bases }: NestChange) => post<State>("/api/d/nest", { parameters, pads, bases }),
};
