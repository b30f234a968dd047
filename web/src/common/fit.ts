// SPDX-License-Identifier: MIT
// fit.ts - how wide a text of a chart is, and as much of it as fits.
const context = document.createElement("canvas").getContext("2d")!;

/** The width of a text in the letters of charts. */
export function textWidth(text: string, size = 12): number {
	context.font = `${size}px system-ui, "DejaVu Sans", sans-serif`;
	return context.measureText(text).width;
}

/** As much of a text as fits into so many pixels; nothing if that is not even two letters. `tail`: the part of them that is taken
 * from the text's end. */
export function fitting(text: string, width: number, size = 12, tail = 0): string {
	const cut = (letters: number) => {
		const last = Math.floor(letters * tail);
		return `${text.slice(0, letters - last)}…${text.slice(text.length - last)}`;
	};
	if (textWidth(text, size) <= width) return text;
	let letters = Math.min(text.length, Math.floor(width / 3));
	while (letters > 1 && textWidth(cut(letters), size) > width) letters--;
	return letters > 1 ? cut(letters) : "";
}
