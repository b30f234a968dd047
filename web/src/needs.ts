// SPDX-License-Identifier: MIT
// needs.ts - what pages need that not every profile holds, and the command that records it.  The one table of both; the server
// says what a profile holds (src/view/answers/session.c).
import type { SessionProfile } from "./answers";
import { isSelfContained } from "./api";

interface Recording {
	/** What is missing, in the plural. */
	what: string;
	/** What records it: a command with its options, and those of `nearmiss nest` where it can. */
	record: string;
	nest?: string;
}

const RECORDINGS = {
	counts: { what: "counts of misses", record: "record", nest: "" },
	contexts: { what: "call chains", record: "record --callgraph" },
	curves: { what: "curves", record: "record --distances", nest: "--distances" },
	distances: { what: "distances", record: "record --distances", nest: "--distances" },
	evictions: { what: "evictions", record: "record", nest: "" },
	events: { what: "events of single lines", record: "monitor --histogram=line --profile=nearmiss.nmp" },
	fields: { what: "structures with debug information", record: "record" },
	sets: { what: "counts of sets", record: "record --sets", nest: "--sets" },
	sharing: { what: "cores that a protocol keeps coherent", record: "record --cores=4" },
	timeline: { what: "intervals", record: "record", nest: "" },
	trace: { what: "traces", record: "record --trace run.nmt" },
} satisfies Record<string, Recording>;

export type Need = keyof typeof RECORDINGS;

export interface Lack {
	/** What is missing and what it takes, in one sentence. */
	text: string;
	/** The command that records it, if there is one. */
	command: string | null;
}

function commandFor({ record, nest }: Recording, { collector, command }: SessionProfile): string {
	if (collector === "nest" && nest !== undefined) return ["nearmiss nest", nest, command].filter(Boolean).join(" ");
	return `nearmiss ${record} -- ${(collector === "valgrind" && command) || "PROGRAM"}`;
}

/** Why a profile has not what is needed, and how to get it; null: it has. */
export function lackOf(profile: SessionProfile, need: Need): Lack | null {
	if (need === "trace" && isSelfContained()) return { text: "Predictions need nearmiss view: a file cannot replay.", command: null };
	if (need === "trace" ? profile.trace !== null : profile.holds.includes(need)) return null;
	const recording: Recording = RECORDINGS[need];
	const text = `This profile has no ${recording.what}.`;
	if (profile.merged) return { text: `${text} Those that it was merged from may have some.`, command: null };
	const compiled = need === "fields" ? ", of a program that was compiled with -g" : "";
	return { text: `${text} Record some${compiled}:`, command: commandFor(recording, profile) };
}

/** What is missing of all that a page can show: null if it has something. */
export function lackOfAll(profile: SessionProfile, needs: readonly Need[]): Lack | null {
	const lacks = needs.map((need) => lackOf(profile, need));
	return lacks.every((lack) => lack !== null) ? lacks[0] ?? null : null;
}

export const lackText = ({ text, command }: Lack): string => (command ? `${text} ${command}` : text);
