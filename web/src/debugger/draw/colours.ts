// SPDX-License-Identifier: MIT
// colours.ts - which colour a cached line has, and what the colours mean.  Names take the categories of
// colors.ts in the order in which they are known; the names behind the last share a grey.  Ages and reuses
// are placed on a scale from dark to bright, by their logarithm.
import { categories } from "../../common/colors";
import { referenceName, type SourceKind } from "../names";
import type { Slot } from "../types";

export const COLOURINGS = ["object", "reference", "age", "reuse", "dirty", "thread", "state"] as const;
export type Colouring = (typeof COLOURINGS)[number];

// The last category is the grey.
const NAMED = categories.slice(0, -1);
const OTHERS = categories[categories.length - 1]!;
// Viridis (van der Walt and Smith, 2015) in eight steps: its lightness alone tells the order.
const SCALE = ["#440154", "#46327e", "#365c8d", "#277f8e", "#1fa187", "#4ac16d", "#a0da39", "#fde725"];
const CLEAN = categories[4]!;
const DIRTY = categories[5]!;
const STATES: Record<string, string> = {
	M: categories[5]!, O: categories[3]!, E: categories[2]!, F: categories[1]!, S: categories[4]!,
};
const STATE_NAMES: Record<string, string> = { M: "modified", O: "owned", E: "exclusive", F: "forward", S: "shared" };

export interface LegendEntry { label: string; colour: string }

export class Palette {
	private readonly colours = new Map<string, string>();

	/** Names get their colours in this order, before any other. */
	constructor(names: Iterable<string>) {
		for (const name of names) this.of(name);
	}

	of(name: string | null): string {
		const known = this.colours.get(name ?? "");
		if (known !== undefined) return known;
		const colour = NAMED[this.colours.size] ?? OTHERS;
		this.colours.set(name ?? "", colour);
		return colour;
	}

	legend(): LegendEntry[] {
		const named = [...this.colours].slice(0, NAMED.length)
			.map(([label, colour]) => ({ label: label || "no name", colour }));
		const rest = this.colours.size - NAMED.length;
		return rest > 0 ? [...named, { label: `${rest} others`, colour: OTHERS }] : named;
	}
}

/** One step of the scale is a factor of two. */
function scaled(value: number): string {
	return SCALE[Math.min(SCALE.length - 1, Math.floor(Math.log2(Math.max(value, 1))))]!;
}

/** The younger the brighter; ages are longer than reuses are many, so one step is a factor of four. */
function scaledAge(age: number): string {
	return SCALE[SCALE.length - 1 - Math.min(SCALE.length - 1, Math.floor(Math.log2(Math.max(age, 1)) / 2))]!;
}

export interface Palettes { object: Palette; reference: Palette; thread: Palette; kind: SourceKind }

export function colourOf(slot: Slot, by: Colouring, palettes: Palettes): string {
	switch (by) {
	case "object": return palettes.object.of(slot.object);
	case "reference": return palettes.reference.of(referenceName(slot.reference, slot.code_line, palettes.kind));
	case "thread": return palettes.thread.of(`thread ${slot.thread}`);
	case "age": return scaledAge(slot.age);
	case "reuse": return scaled(slot.reuse);
	case "dirty": return slot.dirty ? DIRTY : CLEAN;
	case "state": return STATES[slot.state ?? ""] ?? OTHERS;
	}
}

/** What the numbers of a legend count. */
export const LEGEND_UNITS: Partial<Record<Colouring, string>> = {
	age: "references since its last use", reuse: "uses since it was loaded",
};

export function legendOf(by: Colouring, palettes: Palettes): LegendEntry[] {
	const last = SCALE.length - 1;
	const steps = (base: number) => SCALE.map((_, i) => (i === last ? `${base ** i} or more` : `${base ** i}`));
	switch (by) {
	case "object": case "reference": case "thread": return palettes[by].legend();
	case "age": return steps(4).map((label, i) => ({ label, colour: scaledAge(4 ** i) }));
	case "reuse": return steps(2).map((label, i) => ({ label, colour: SCALE[i]! }));
	case "dirty": return [{ label: "dirty", colour: DIRTY }, { label: "clean", colour: CLEAN }];
	case "state": return [...Object.entries(STATES).map(([state, colour]) => ({ label: `${state}: ${STATE_NAMES[state]}`, colour })),
		{ label: "no protocol", colour: OTHERS }];
	}
}
