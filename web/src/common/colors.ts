// SPDX-License-Identifier: MIT
// colors.ts - palettes that colour-blind people tell apart.  Categories: Okabe and Ito, "Color Universal Design", 2008.
// Heat: one hue whose lightness alone says how much, from the page's background on.
import type { Theme } from "./theme";

export const categories = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999"];

/** The colour of the n-th category; they repeat. */
export const category = (n: number): string => categories[n % categories.length] as string;

/** Colours of the classes of misses, the same on every page. */
export const classColors: Record<string, string> = {
	cold: "#56b4e9",
	capacity: "#0072b2",
	conflict: "#d55e00",
	coherence: "#cc79a7",
};

type Rgb = [number, number, number];

const ramps: Record<Theme, Rgb[]> = {
	light: [[255, 255, 255], [254, 224, 182], [241, 163, 64], [179, 88, 6], [94, 42, 4]],
	dark: [[24, 27, 33], [84, 48, 5], [160, 86, 14], [232, 152, 52], [255, 224, 170]],
};

export interface Heat {
	background: string;
	text: string;
}

/** The colour of a share of the most, 0 to 1, and that of text on it. */
export function heat(share: number, theme: Theme): Heat {
	const ramp = ramps[theme];
	const at = Math.min(1, Math.max(0, share)) * (ramp.length - 1);
	const low = ramp[Math.floor(at)] as Rgb;
	const high = ramp[Math.ceil(at)] as Rgb;
	const mixed = low.map((value, n) => Math.round(value + ((high[n] as number) - value) * (at % 1))) as Rgb;
	return { background: `rgb(${mixed.join(",")})`, text: textOn(mixed) };
}

/** Black or white, whichever has the greater contrast (WCAG 2.1, relative luminance). */
function textOn(color: Rgb): string {
	const [r, g, b] = color.map((value) => {
		const s = value / 255;
		return s <= 0.03928 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
	}) as Rgb;
	return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#ffffff";
}

/** The same for a colour written as #rrggbb. */
export function textOnHex(color: string): string {
	return textOn([1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16)) as Rgb);
}
