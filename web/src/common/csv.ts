// SPDX-License-Identifier: MIT
// csv.ts - RFC 4180, and the table that the page on display offers to be saved.
import { useEffect } from "preact/hooks";
import type { Cell } from "../answers";

export interface Sheet {
	headings: string[];
	rows: Cell[][];
	/** All rows, where the page shows only some. */
	all?: () => Promise<Cell[][]>;
}

export function csv({ headings, rows }: Sheet): string {
	return [headings, ...rows].map((row) => row.map(field).join(",") + "\r\n").join("");
}

function field(value: Cell): string {
	const text = value === null ? "" : String(value);
	return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

let offered: Sheet | null = null;

/** What the page shows, in figures; saved by the menu as long as the page is there. */
export function useSheet(sheet: Sheet | null): void {
	useEffect(() => {
		offered = sheet;
		return () => {
			offered = null;
		};
	});
}

export const currentSheet = (): Sheet | null => offered;
