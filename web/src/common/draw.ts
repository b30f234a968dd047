// SPDX-License-Identifier: MIT
// draw.ts - draws what is on the screen as one SVG: boxes with a background or border become rectangles, text becomes
// text, word by word where it stands, SVG is copied, a canvas becomes an image.  So each page can be saved, and what is
// saved is what was seen.  All style is written as attributes: the file needs no style sheet.

const SVG = "http://www.w3.org/2000/svg";
const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size",
	"font-family", "font-weight", "text-anchor", "dominant-baseline"];

interface Place {
	left: number;
	top: number;
}

function node(name: string, attributes: Record<string, string | number>): SVGElement {
	const element = document.createElementNS(SVG, name);
	for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
	return element;
}

const transparent = (color: string) => color === "transparent" || /, 0\)$/.test(color);

function box(element: Element, style: CSSStyleDeclaration, origin: Place): SVGElement | null {
	const border = parseFloat(style.borderBottomWidth) > 0 && style.borderBottomStyle !== "none";
	if (transparent(style.backgroundColor) && !border) return null;
	const rect = element.getBoundingClientRect();
	if (!rect.width || !rect.height) return null;
	const all = parseFloat(style.borderTopWidth) > 0 && border;
	const group = node("g", {});
	group.append(node("rect", {
		x: rect.left - origin.left, y: rect.top - origin.top, width: rect.width, height: rect.height,
		rx: parseFloat(style.borderTopLeftRadius) || 0,
		fill: transparent(style.backgroundColor) ? "none" : style.backgroundColor,
		stroke: all ? style.borderBottomColor : "none",
	}));
	if (border && !all) {
		const y = rect.bottom - origin.top;
		group.append(node("line", {
			x1: rect.left - origin.left, x2: rect.right - origin.left, y1: y, y2: y, stroke: style.borderBottomColor,
		}));
	}
	return group;
}

/** The words of a text, each where the browser put it. */
function words(text: Text, style: CSSStyleDeclaration, origin: Place): SVGElement[] {
	const drawn: SVGElement[] = [];
	const range = document.createRange();
	for (const match of text.data.matchAll(/\S+/g)) {
		range.setStart(text, match.index);
		range.setEnd(text, match.index + match[0].length);
		const rect = range.getBoundingClientRect();
		if (!rect.width) continue;
		const word = node("text", {
			x: rect.left - origin.left,
			y: rect.top - origin.top + rect.height * 0.78,
			fill: style.color,
			"font-size": style.fontSize,
			"font-family": style.fontFamily,
			"font-weight": style.fontWeight,
			textLength: rect.width,
			lengthAdjust: "spacingAndGlyphs",
		});
		word.textContent = match[0];
		drawn.push(word);
	}
	return drawn;
}

function copySvg(source: SVGElement, origin: Place): SVGElement {
	const copy = source.cloneNode(true) as SVGElement;
	const originals = [source, ...source.querySelectorAll("*")];
	const copies = [copy, ...copy.querySelectorAll("*")];
	originals.forEach((original, n) => {
		const style = getComputedStyle(original);
		for (const name of STYLES) copies[n]?.setAttribute(name, style.getPropertyValue(name));
		copies[n]?.removeAttribute("style");
		copies[n]?.removeAttribute("class");
	});
	const rect = source.getBoundingClientRect();
	copy.setAttribute("x", String(rect.left - origin.left));
	copy.setAttribute("y", String(rect.top - origin.top));
	copy.setAttribute("width", String(rect.width));
	copy.setAttribute("height", String(rect.height));
	return copy;
}

function draw(element: Element, origin: Place, into: SVGElement): void {
	const style = getComputedStyle(element);
	if (style.display === "none" || style.visibility === "hidden" || element.classList.contains("hidden")) return;
	if (element instanceof SVGElement) {
		into.append(copySvg(element, origin));
		return;
	}
	const background = box(element, style, origin);
	if (background) into.append(background);
	if (element instanceof HTMLCanvasElement) {
		const rect = element.getBoundingClientRect();
		into.append(node("image", {
			x: rect.left - origin.left, y: rect.top - origin.top, width: rect.width, height: rect.height,
			href: element.toDataURL(),
		}));
		return;
	}
	if (element instanceof HTMLSelectElement || element instanceof HTMLInputElement) {
		control(element, style, origin, into);
		return;
	}
	for (const child of element.childNodes) {
		if (child instanceof Text) into.append(...words(child, style, origin));
		else if (child instanceof Element) draw(child, origin, into);
	}
}

function control(element: HTMLSelectElement | HTMLInputElement, style: CSSStyleDeclaration, origin: Place,
	into: SVGElement): void {
	const rect = element.getBoundingClientRect();
	const text = node("text", {
		x: rect.left - origin.left + 8, y: rect.top - origin.top + rect.height * 0.66,
		fill: style.color, "font-size": style.fontSize, "font-family": style.fontFamily,
	});
	text.textContent = element instanceof HTMLSelectElement ? (element.selectedOptions[0]?.text ?? "") : element.value;
	into.append(text);
}

/** One SVG of all that the element shows, its parts outside of scrolled areas included. */
export function drawing(element: Element): SVGSVGElement {
	const rect = element.getBoundingClientRect();
	const width = Math.ceil(Math.max(rect.width, element.scrollWidth));
	const height = Math.ceil(Math.max(rect.height, element.scrollHeight));
	const svg = node("svg", { xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}` }) as SVGSVGElement;
	svg.append(node("rect", { width, height, fill: getComputedStyle(document.body).backgroundColor }));
	draw(element, rect, svg);
	return svg;
}
