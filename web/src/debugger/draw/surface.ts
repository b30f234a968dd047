// SPDX-License-Identifier: MIT
// surface.ts - where a drawing goes: to a canvas on the screen, or to the text of an SVG file.  What is
// drawn is written once.

export interface Surface {
	rect(x: number, y: number, width: number, height: number, fill: string): void;
	frame(x: number, y: number, width: number, height: number, stroke: string, thickness: number): void;
	line(x1: number, y1: number, x2: number, y2: number, stroke: string, thickness: number): void;
	text(x: number, y: number, text: string, fill: string): void;
}

export class CanvasSurface implements Surface {
	constructor(private readonly context: CanvasRenderingContext2D) {
		context.font = "12px system-ui, sans-serif";
	}

	rect(x: number, y: number, width: number, height: number, fill: string): void {
		this.context.fillStyle = fill;
		this.context.fillRect(x, y, width, height);
	}

	frame(x: number, y: number, width: number, height: number, stroke: string, thickness: number): void {
		this.context.strokeStyle = stroke;
		this.context.lineWidth = thickness;
		this.context.strokeRect(x, y, width, height);
	}

	line(x1: number, y1: number, x2: number, y2: number, stroke: string, thickness: number): void {
		this.context.strokeStyle = stroke;
		this.context.lineWidth = thickness;
		this.context.beginPath();
		this.context.moveTo(x1, y1);
		this.context.lineTo(x2, y2);
		this.context.stroke();
	}

	text(x: number, y: number, text: string, fill: string): void {
		this.context.fillStyle = fill;
		this.context.fillText(text, x, y);
	}
}

export class SvgSurface implements Surface {
	private readonly parts: string[] = [];

	rect(x: number, y: number, width: number, height: number, fill: string): void {
		this.parts.push(`<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${fill}"/>`);
	}

	frame(x: number, y: number, width: number, height: number, stroke: string, thickness: number): void {
		this.parts.push(`<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="none" ` +
			`stroke="${stroke}" stroke-width="${thickness}"/>`);
	}

	line(x1: number, y1: number, x2: number, y2: number, stroke: string, thickness: number): void {
		this.parts.push(`<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" ` +
			`stroke="${stroke}" stroke-width="${thickness}"/>`);
	}

	text(x: number, y: number, text: string, fill: string): void {
		this.parts.push(`<text x="${x}" y="${y}" fill="${fill}">${escapeXml(text)}</text>`);
	}

	// The whole file, on a ground of the page's colour.
	file(width: number, height: number, ground: string): string {
		return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
			`viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">` +
			`<rect width="100%" height="100%" fill="${ground}"/>${this.parts.join("")}</svg>\n`;
	}
}

// XML knows no control characters; they become the sign for what cannot be shown.
function escapeXml(text: string): string {
	return text
		.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
		.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
