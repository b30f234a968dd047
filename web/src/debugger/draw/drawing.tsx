// SPDX-License-Identifier: MIT
// drawing.tsx - a drawing on the page: a canvas as wide as its place, sharp on any screen, that saves itself
// as SVG and PNG.  `draw` is called whenever the page is, and on the SVG as on the canvas.
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { download } from "../../common/save";
import { CanvasSurface, SvgSurface, type Surface } from "./surface";

export interface DrawingProps {
	name: string;                       // of the files
	label: string;                      // for those who cannot see it
	height: (width: number) => number;
	draw: (surface: Surface, width: number, height: number) => void;
	sheet?: () => string;                // the figures of it, as CSV
	pointer?: JSX.HTMLAttributes<HTMLCanvasElement>;
	saves?: boolean;
}

/** The width of an element, kept up to date. */
function useWidth(): [{ current: HTMLDivElement | null }, number] {
	const place = useRef<HTMLDivElement>(null);
	const [width, setWidth] = useState(0);
	useEffect(() => {
		const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry!.contentRect.width)));
		observer.observe(place.current!);
		return () => observer.disconnect();
	}, []);
	return [place, width];
}

export function Drawing({ name, label, height, draw, sheet, pointer, saves = true }: DrawingProps) {
	const [place, width] = useWidth();
	const canvas = useRef<HTMLCanvasElement>(null);
	const tall = height(width);
	useLayoutEffect(() => {
		if (width) paint(canvas.current!, width, tall, draw);
	});
	const saveSvg = () => {
		const surface = new SvgSurface();
		draw(surface, width, tall);
		const ground = getComputedStyle(document.body).backgroundColor;
		download(`${name}.svg`, new Blob([surface.file(width, tall, ground)], { type: "image/svg+xml" }));
	};
	const savePng = () => canvas.current!.toBlob((blob) => blob && download(`${name}.png`, blob));
	const saveCsv = () => download(`${name}.csv`, new Blob([sheet!()], { type: "text/csv" }));
	return (
		<div class="drawing" ref={place}>
			<canvas ref={canvas} role="img" aria-label={label} {...pointer} />
			{saves && <span class="saves" role="group" aria-label={`Save ${name}`}>
				<button type="button" onClick={saveSvg}>SVG</button>
				<button type="button" onClick={savePng}>PNG</button>
				{sheet && <button type="button" onClick={saveCsv}>CSV</button>}
			</span>}
		</div>
	);
}

function paint(canvas: HTMLCanvasElement, width: number, height: number, draw: DrawingProps["draw"]): void {
	const ratio = devicePixelRatio || 1;
	if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
		canvas.style.width = `${width}px`;
		canvas.style.height = `${height}px`;
	}
	const context = canvas.getContext("2d")!;
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.clearRect(0, 0, width, height);
	draw(new CanvasSurface(context), width, height);
}
