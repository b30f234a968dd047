// SPDX-License-Identifier: MIT
// memory.tsx - the memory side: each object as a band from its first line to its last, filled as high as its
// lines are cached in the level of the first cache.
import { csv } from "../../common/csv";
import { fitting, textWidth } from "../../common/fit";
import { brief, full } from "../../common/format";
import type { Palettes } from "../draw/colours";
import { Drawing } from "../draw/drawing";
import type { Surface } from "../draw/surface";
import type { Band } from "../types";
import type { Watch } from "../watch";

const BAND = 16;
const PITCH = 36;

interface MemoryProps { watch: Watch; palettes: Palettes; ground: string; ink: string }

export function MemoryPanel({ watch, palettes, ground, ink }: MemoryProps) {
	const { bands: all, rest } = watch.memory!;
	const bands = all.filter(({ low, end }) => end > low); // others have no place: names for what is not known or not measured
	return (
		<section class="panel memory" aria-label="Memory">
			<h2>Memory: lines that are in {watch.level(0).level}</h2>
			<Drawing name={`memory-at-${watch.state!.position}`} label={describe(bands)}
				height={() => bands.length * PITCH}
				draw={(surface, width) => bands.forEach((band, i) =>
					drawBand(surface, band, i * PITCH, width, palettes.object.of(band.object), ground, ink))}
				sheet={() => csv({
					headings: ["object", "low", "end", "lines", "cached"],
					rows: bands.map((band) => [band.object, band.low, band.end, band.lines, total(band)]),
				})} />
			{rest > 0 && <p class="fine">and {full(rest)} other objects</p>}
		</section>
	);
}

const total = (band: Band) => band.cached.reduce((sum, lines) => sum + lines, 0);

function describe(bands: Band[]): string {
	return bands.map((band) => `${band.object}: ${total(band)} of ${band.lines} lines cached`).join("; ");
}

function titleOf(band: Band, width: number): string {
	const cached = total(band);
	const lines = band.scattered ? `${full(cached)} ${cached === 1 ? "line" : "lines, in several places"}`
		: `${full(cached)} of ${full(band.lines)} lines`;
	const figures = ` at 0x${band.low.toString(16)}: ${lines}`;
	return fitting(brief(band.object), width - textWidth(figures)) + figures;
}

function drawBand(surface: Surface, band: Band, y: number, width: number, colour: string, ground: string,
	ink: string): void {
	const bottom = y + PITCH - 4;
	const step = width / Math.max(1, band.cached.length);
	surface.text(0, y + 12, titleOf(band, width), ink);
	surface.rect(0, bottom - BAND, width, BAND, ground);
	band.cached.forEach((lines, i) => {
		if (!lines) return;
		const tall = Math.max(3, Math.round(BAND * Math.min(1, lines / band.lines_per_bin)));
		surface.rect(i * step, bottom - tall, Math.max(1, step), tall, colour);
	});
}
