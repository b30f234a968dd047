// SPDX-License-Identifier: MIT
// format.ts - numbers as people read them.

const UNITS: [number, string][] = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

/** 1234567 as 1.23M. */
export function short(value: number): string {
	for (const [unit, letter] of UNITS) {
		if (Math.abs(value) >= unit) return digits(value / unit) + letter;
	}
	return Number.isInteger(value) ? String(value) : digits(value);
}

/** Three digits that count, or all before the point: 0.12, 1.23, 12.3, 123. */
export function digits(value: number): string {
	const size = Math.abs(value);
	return size >= 100 ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : value.toFixed(2);
}

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 3 });

/** 1234567 as 1,234,567. */
export function full(value: number): string {
	return grouped.format(value);
}

/** Sizes of caches and objects: 32 KiB. */
export function bytes(value: number): string {
	const names = ["B", "KiB", "MiB", "GiB", "TiB"];
	let n = 0;
	while (Math.abs(value) >= 1024 && n < names.length - 1) {
		value /= 1024;
		n++;
	}
	return `${Number.isInteger(value) ? value : digits(value)} ${names[n]}`;
}

/** 0.1234 as 12.3 %. */
export function percent(ratio: number): string {
	const value = ratio * 100;
	const size = Math.abs(value);
	return `${size >= 99.95 || size === 0 ? value.toFixed(0) : size >= 0.1 ? value.toFixed(1) : value.toPrecision(1)} %`;
}

/** The last component of a path. */
export function baseName(path: string): string {
	return path.slice(path.lastIndexOf("/") + 1);
}

/** The name of a profile: that of its file, without the usual ending. */
export function profileName(path: string): string {
	return baseName(path).replace(/\.nmp$/, "");
}

/** FILE:LINE, short; where no line is known, the function. */
export function place(file: string | null, line: number | null, functionName: string | null = null): string {
	if (!file) return functionName ?? "no line";
	return line === null ? baseName(file) : `${baseName(file)}:${line}`;
}

/** Replaces what stands between outermost brackets by an ellipsis, if it is long. Operators keep theirs, and so does a place
 * or a module behind a name: "heap f(…) (program)". */
function withoutInner(name: string, open: string, close: string): string {
	const long = 20;
	let depth = 0;
	let from = 0;
	let result = "";
	for (let at = 0; at < name.length; at++) {
		const letter = name[at];
		const isOperator = (open === "<" ? /operator[<>-]?$|-$/ : /operator$| $/).test(name.slice(Math.max(0, at - 9), at));
		if (letter === open && (depth > 0 || !isOperator)) {
			if (depth++ === 0) from = at + 1;
		} else if (letter === close && depth > 0 && !isOperator) {
			if (--depth === 0) {
				const inner = name.slice(from, at);
				result += open + (inner.length > long ? "…" : inner);
			}
		}
		if (depth === 0) result += letter;
	}
	return depth === 0 ? result : name;
}

/** A sentence of a report as pages show it: names of C++ without the arguments of templates, and a full stop. */
export function sentence(text: string): string {
	return `${withoutInner(text, "<", ">")}${/[.!?]$/.test(text) ? "" : "."}`;
}

/** A long name of C++ without the arguments of templates, and of functions if it still is: they say least. */
export function brief(name: string): string {
	const most = 60;
	const plain = name.length > most ? withoutInner(name, "<", ">") : name;
	return plain.length > most ? withoutInner(plain, "(", ")") : plain;
}
