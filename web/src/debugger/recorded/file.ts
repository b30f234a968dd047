// SPDX-License-Identifier: MIT
// file.ts - the parts of a recorded run within the page, docs/format/recorded-run.md: elements of text, each zlib in
// base64.
import { isRead } from "../../read";
import type { DebuggerSession } from "../types";

export interface Part { kind: string; from: number; count: number; element: Element }

export interface RecordedLevel {
	cache: number;
	level: string;
	name: string;      // with its machine
	sets: number;
	ways: number;      // sectors one by one
	line: number;
	unit: number;      // a line, or a sector of it
	data: boolean;     // it takes data, and is no table of pages
	first: boolean;    // it takes the program's references only
	dirties: boolean;  // a write leaves its line dirty here
	keeps: boolean;    // what was written to its lines, until they leave
	private: boolean;
	next: number;      // the level that it asks; -1: memory
}

export interface Description {
	session: DebuggerSession;
	texts: string[];
	keys: Record<"line" | "thread" | "core" | "element" | "row" | "uncounted", number[]> &
		Record<"function" | "file" | "object", (number | null)[]>;
	scattered: number[];
	levels: RecordedLevel[];
	bin: number;       // references of a bin
	misses: number[];  // of each bin
}

/** The parts of a file, once the browser has read all of it: the page is shown before. */
export async function recordedParts(): Promise<Part[]> {
	await isRead();
	return [...document.querySelectorAll(".recorded")].map((element) => ({
		kind: element.getAttribute("data-kind") ?? "",
		from: Number(element.getAttribute("data-from")),
		count: Number(element.getAttribute("data-count")),
		element,
	}));
}

/** The bytes of a part. */
export async function unpacked({ element }: Part): Promise<Uint8Array> {
	const characters = atob(element.textContent ?? "");
	const packed = new Uint8Array(characters.length);
	for (let i = 0; i < packed.length; i++) packed[i] = characters.charCodeAt(i);
	const { readable, writable } = new DecompressionStream("deflate");
	const writer = writable.getWriter();
	void writer.write(packed);
	void writer.close();
	return new Uint8Array(await new Response(readable).arrayBuffer());
}
