// SPDX-License-Identifier: MIT
// api.ts - asks for answers: first in the page itself, which a self-contained file brings along, then at the server.
// A file answers about the debugger by an engine that it brings along too.
// The name of an answer is its method and its path with the query sorted, as docs/format/view.md says.

import { answerInFile } from "./debugger/engine/file";
import { isRead } from "./read";
import { tabToken } from "./tab";

export type Query = Record<string, string | number | null | undefined>;

export class Missing extends Error {}

const DEBUGGER = "/api/d/";

type Answers = Record<string, unknown>;

function answersIn(id: string): Answers | null {
	const element = document.getElementById(id);
	return element && (JSON.parse(element.textContent ?? "{}") as Answers);
}

let first: Answers | null | undefined;
let more: Promise<Answers | null> | undefined;

/** What a self-contained file answers before all of it is read: what its first page asks. */
function firstAnswers(): Answers | null {
	return first === undefined ? first = answersIn("answers") : first;
}

function moreAnswers(): Promise<Answers | null> {
	return more ??= isRead().then(() => answersIn("more-answers"));
}

/** Whether the page was opened from a file that holds all it can show. */
export function isSelfContained(): boolean {
	return firstAnswers() !== null;
}

/** The path with its query: sorted by name, empty values left out. */
export function pathWithQuery(path: string, query: Query = {}): string {
	const parts = Object.entries(query)
		.filter(([, value]) => value !== null && value !== undefined && value !== "")
		.sort(([a], [b]) => (a < b ? -1 : 1))
		.map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(String(value))}`);
	return parts.length ? `${path}?${parts.join("&")}` : path;
}

/** The debugger of a server has a moment for each tab. */
function ofTab(path: string): string {
	return path.startsWith(DEBUGGER) ? `${path}${path.includes("?") ? "&" : "?"}tab=${tabToken()}` : path;
}

async function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
	const answers = firstAnswers();
	if (answers) {
		const [name = "", parameters = ""] = path.split("?");
		if (name.startsWith(DEBUGGER))
			return await answerInFile(method, name.slice(DEBUGGER.length), parameters, body) as T;
		const key = `${method} ${path}`;
		const answer = answers[key] ?? (await moreAnswers())?.[key];
		if (answer === undefined) {
			throw new Missing("This is not in this file. Run `nearmiss view` on the profile to see it.");
		}
		const error = errorIn(answer);
		if (error !== null) throw new Error(error);
		return answer as T;
	}
	const { response, text } = await askServer(method, path, body);
	if (!response.ok) {
		throw new Error(errorIn(parsed(text)) ?? `The server answers ${response.status} ${response.statusText}.`);
	}
	return JSON.parse(text) as T;
}

/** The answer of the server with its text. Whether there is one at all, states.tsx shows. */
async function askServer(method: string, path: string, body: unknown): Promise<{ response: Response; text: string }> {
	try {
		const response = await fetch(ofTab(path), {
			method,
			credentials: "same-origin",
			...(body === undefined
				? {}
				: { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }),
		});
		const text = await response.text();
		dispatchEvent(new Event("serverback"));
		return { response, text };
	} catch {
		dispatchEvent(new Event("servergone"));
		throw new Error("nearmiss view does not answer.");
	}
}

/** What an answer says was wrong: {"error": TEXT}. */
function errorIn(answer: unknown): string | null {
	const error = answer && typeof answer === "object" ? (answer as { error?: unknown }).error : null;
	return typeof error === "string" ? error : null;
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}

export const get = <T>(path: string, query?: Query): Promise<T> => ask<T>("GET", pathWithQuery(path, query));
export const post = <T>(path: string, body: unknown): Promise<T> => ask<T>("POST", path, body);
export const remove = <T>(path: string, query?: Query): Promise<T> => ask<T>("DELETE", pathWithQuery(path, query));

/** Rows that an answer has at most. */
const MOST_ROWS = 1000;

/** All that an answer lists in parts. `listed` finds the list in a part. */
export async function getEach<Part, One>(path: string, query: Query, listed: (part: Part) => One[]): Promise<One[]> {
	const limit = MOST_ROWS;
	const all: One[] = [];
	for (;;) {
		const part = listed(await get<Part>(path, { ...query, offset: all.length, limit }));
		all.push(...part);
		if (part.length < limit) return all;
	}
}

/** All rows of a table. */
export function getAll<Row>(path: string, query: Query): Promise<Row[]> {
	return getEach(path, query, ({ rows }: { rows: Row[] }) => rows);
}
