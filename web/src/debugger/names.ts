// SPDX-License-Identifier: MIT
// names.ts - what references and rows are called.  A reference of a nest is written as in the nest,
// `Y(j,k)`; one of a program is its function and line.
import { place } from "../common/format";
import type { DebuggerSession, RowName } from "./types";

export type SourceKind = DebuggerSession["kind"];

export function referenceName(name: string | null, line: number, kind: SourceKind): string {
	return kind === "nest" || !line ? (name ?? "no name") : `${name ?? "no name"}:${line}`;
}

export function rowName(name: RowName, kind: SourceKind): string {
	if (name === null) return "no name";
	if (typeof name === "number") return `set ${name}`;
	if (typeof name === "string") return name;
	if ("address" in name) return `0x${name.address.toString(16)} ${name.object ?? ""}`;
	return referenceName(name.function, name.line, kind);
}

/** Where the code of a row is, if it is about code. */
export function rowPlace(name: RowName): string | undefined {
	return name !== null && typeof name === "object" && "file" in name ? place(name.file, name.line) : undefined;
}

/** The thread of a row of a reference. */
export function rowThread(name: RowName): number | null {
	return name !== null && typeof name === "object" && "function" in name ? name.thread : null;
}

/** The object of a row of a reference. */
export function rowObject(name: RowName): string | null {
	return name !== null && typeof name === "object" && "function" in name ? name.object : null;
}
