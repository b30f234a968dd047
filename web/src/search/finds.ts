// SPDX-License-Identifier: MIT
// finds.ts - what a search can find: names in the profile, with the page that each leads to, and commands.
import type { Name } from "../answers";
import { short } from "../common/format";
import { href } from "../router";

/** What is found: where it leads, or what it does. */
export interface Find {
	kind: string;
	title: string;
	/** Said beside the title. */
	note: string;
	/** Of finds that fit alike, that with the most comes first. */
	misses: number;
	go: string | (() => void);
}

/** The page of a name: a file's is its source, others have their rows in a table, whoever made them run. */
function addressOf({ kind, name }: Name, profile: string | null): string {
	if (kind === "file") return href("source", { p: profile, file: name });
	const by = { object: "object,file,line", function: "function,file,line", type: "type,field", field: "field,type,file,line" }[kind];
	return href("tables", { p: profile, by, filter: name, mine: "0" });
}

export function findOf(name: Name, profile: string | null): Find {
	const title = name.of ? `${name.of}: ${name.name}` : name.name;
	return { kind: name.kind, title, note: `${short(name.misses)} misses`, misses: name.misses, go: addressOf(name, profile) };
}

/** The words of what was typed; a find has all of them somewhere. */
export const wordsOf = (typed: string): string[] => typed.toLowerCase().split(/\s+/).filter(Boolean);

export function matches({ kind, title }: Find, words: string[]): boolean {
	const text = `${kind} ${title}`.toLowerCase();
	return words.every((word) => text.includes(word));
}

/** Names that begin with the first word, then those that miss most. */
export function byFit(words: string[]): (a: Find, b: Find) => number {
	const begins = ({ title }: Find) => Number(words.length > 0 && title.toLowerCase().startsWith(words[0] ?? ""));
	return (a, b) => begins(b) - begins(a) || b.misses - a.misses;
}

const KINDS = ["object", "function", "file", "type", "field", "command"];

/** What the server is asked for: the longest word but for kinds, as names that lack it are not found. */
export const filterOf = (words: string[]): string =>
	words.filter((word) => !KINDS.includes(word)).reduce((longest, word) => (word.length > longest.length ? word : longest), "");
