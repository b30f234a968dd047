// SPDX-License-Identifier: MIT
// grid.ts - the cache as a grid.  "sets" puts sets side by side and the ways of a set below each other, in
// as many bands as it takes; "linear" is paper 2's: line after line, from the top left to the bottom right.
// The last reference has a cursor, and a cross if it missed.
import type { Grid, Slot } from "../types";
import type { Surface } from "./surface";

export const ARRANGEMENTS = ["sets", "linear"] as const;
export type Arrangement = (typeof ARRANGEMENTS)[number];

export interface Layout {
	cell: number;      // pixels of a cell's side
	columns: number;   // cells beside each other
	rows: number;      // of a band
	gap: number;       // pixels between bands
	width: number;
	height: number;
}

export interface GridColours { empty: string; cursor: string; miss: string; ground: string }

// The largest cells with which the grid fits into the width and, as far as it goes, the height.
export function layOut(grid: Grid, arrangement: Arrangement, width: number, height: number): Layout {
	const rows = arrangement === "sets" ? grid.ways : 1;
	const count = grid.slots.length / rows;
	const gap = rows > 1 ? 4 : 0;
	for (let cell = 28; ; cell--) {
		const columns = roundColumns(Math.floor(width / cell), count);
		const bands = Math.ceil(count / columns);
		const used = bands * (rows * cell + gap);
		if (used <= height || cell === 2)
			return { cell, columns, rows, gap, width: columns * cell, height: used };
	}
}

// A power of two shows strides of powers of two as columns.
function roundColumns(fit: number, count: number): number {
	if (count <= fit) return Math.max(1, count);
	return 2 ** Math.floor(Math.log2(Math.max(1, fit)));
}

// The corner of the cell of a slot, by its index in `slots`.
export function corner(layout: Layout, slot: number): { x: number; y: number } {
	const row = slot % layout.rows;
	const column = Math.floor(slot / layout.rows);
	const band = Math.floor(column / layout.columns);
	return {
		x: (column % layout.columns) * layout.cell,
		y: band * (layout.rows * layout.cell + layout.gap) + row * layout.cell,
	};
}

// The slot under a pixel, or -1.
export function slotAt(layout: Layout, slots: number, x: number, y: number): number {
	const column = Math.floor(x / layout.cell);
	const pitch = layout.rows * layout.cell + layout.gap;
	const band = Math.floor(y / pitch);
	const row = Math.floor((y - band * pitch) / layout.cell);
	if (x < 0 || y < 0 || column >= layout.columns || row >= layout.rows) return -1;
	const slot = (band * layout.columns + column) * layout.rows + row;
	return slot < slots ? slot : -1;
}

export function drawGrid(surface: Surface, grid: Grid, layout: Layout, colours: GridColours,
	colourOf: (slot: Slot) => string): void {
	const side = layout.cell > 4 ? layout.cell - 1 : layout.cell;
	grid.slots.forEach((slot, index) => {
		const { x, y } = corner(layout, index);
		surface.rect(x, y, side, side, slot ? colourOf(slot) : colours.empty);
	});
	drawCursor(surface, grid, layout, colours, side);
}

function drawCursor(surface: Surface, grid: Grid, layout: Layout, colours: GridColours, side: number): void {
	const cursor = grid.cursor;
	if (!cursor || cursor.set < grid.set_from || cursor.set >= grid.set_to) return;
	const { x, y } = corner(layout, (cursor.set - grid.set_from) * grid.ways + cursor.way);
	surface.frame(x - 1.5, y - 1.5, side + 3, side + 3, colours.ground, 3);
	surface.frame(x - 1, y - 1, side + 2, side + 2, colours.cursor, 2);
	if (cursor.hit) {
		const dot = Math.max(2, Math.floor(side / 3));
		surface.rect(x + (side - dot) / 2, y + (side - dot) / 2, dot, dot, colours.cursor);
	} else {
		surface.line(x + 1, y + 1, x + side - 1, y + side - 1, colours.miss, 2);
		surface.line(x + side - 1, y + 1, x + 1, y + side - 1, colours.miss, 2);
	}
}
