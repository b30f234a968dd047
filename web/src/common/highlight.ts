// SPDX-License-Identifier: MIT
// highlight.ts - lines of source text, cut into pieces by what they are in their language.
import "./prism_manual";
import Prism from "prismjs";
import "prismjs/components/prism-c";
import "prismjs/components/prism-cpp";
import "prismjs/components/prism-fortran";
import "prismjs/components/prism-rust";

export interface Piece {
	text: string;
	/** One of KINDS, or "". */
	kind: string;
}

/** Those that have a colour (parts.css), by Prism's names. */
const KINDS: Record<string, string> = {
	comment: "comment", string: "string", char: "string", number: "number", keyword: "keyword", boolean: "keyword", macro: "macro", attribute: "macro",
};
const LANGUAGES: [RegExp, string][] = [
	[/\.(c|h)$/i, "c"], [/\.(cc|cpp|cxx|c\+\+|hh|hpp|hxx|ipp|tcc|inl)$|\/include\/c\+\+\//i, "cpp"], [/\.(f|for|f77|f90|f95|f03|f08)$/i, "fortran"], [/\.rs$/, "rust"],
];

type Token = string | Prism.Token;

function add(lines: Piece[][], text: string, kind: string): void {
	text.split("\n").forEach((part, n) => {
		if (n > 0) lines.push([]);
		if (part) lines.at(-1)?.push({ text: part, kind });
	});
}

function addToken(lines: Piece[][], token: Token, outer: string): void {
	if (typeof token === "string") return add(lines, token, outer);
	const kind = KINDS[token.type] ?? outer;
	for (const inner of Array.isArray(token.content) ? token.content : [token.content]) addToken(lines, inner as Token, kind);
}

/** Lines that follow one another in a file; those of a language that is not known are a piece each. */
export function highlight(file: string, lines: string[]): Piece[][] {
	const language = LANGUAGES.find(([ending]) => ending.test(file))?.[1];
	const grammar = language && Prism.languages[language];
	if (!grammar) return lines.map((text) => [{ text, kind: "" }]);
	const pieces: Piece[][] = [[]];
	for (const token of Prism.tokenize(lines.join("\n"), grammar)) addToken(pieces, token, "");
	return pieces;
}
