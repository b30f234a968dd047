// SPDX-License-Identifier: MIT
// strip.ts - the scrubber: the whole trace as a strip of miss density, with the position as a line.  The
// server answers in bins of pixels, so the strip of 1e8 references costs as much as that of a hundred.
import type { Strip } from "../types";
import type { Surface } from "./surface";

export interface StripColours { ground: string; misses: string; position: string; window: string }

/** A part of the trace: positions. */
export interface Span { from: number; to: number }

export function drawStrip(surface: Surface, strip: Strip, position: number, interval: Span | null,
	width: number, height: number, colours: StripColours): void {
	surface.rect(0, 0, width, height, colours.ground);
	strip.bins.forEach((bin) => {
		const left = toPixel(strip, bin.from, width);
		const tall = bin.references ? Math.ceil((bin.misses / bin.references) * (height - 2)) : 0;
		if (tall) surface.rect(left, height - tall, Math.max(1, toPixel(strip, bin.to, width) - left), tall, colours.misses);
	});
	if (interval) {
		const left = toPixel(strip, interval.from, width);
		surface.frame(left + 0.5, 0.5, Math.max(1, toPixel(strip, interval.to, width) - left), height - 1,
			colours.window, 1);
	}
	surface.rect(Math.round(toPixel(strip, position, width)) - 1, 0, 2, height, colours.position);
}

const lengthOf = (strip: Strip) => Math.max(1, strip.bins[strip.bins.length - 1]?.to ?? 1);

function toPixel(strip: Strip, position: number, width: number): number {
	return (position / lengthOf(strip)) * width;
}

export function toPosition(strip: Strip, pixel: number, width: number): number {
	return Math.round(Math.min(1, Math.max(0, pixel / width)) * lengthOf(strip));
}
