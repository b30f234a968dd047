// SPDX-License-Identifier: MIT
// about.tsx - the facts of a recording, in words.
import { full } from "../common/format";

const count = (value: string) => full(Number(value));
const moment = (value: string) => `${new Date(Number(value) * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC`;

/** Facts in the order in which they are shown: the key in the profile, what it is called, how it reads. */
const FACTS: [key: string, title: string, text?: (value: string) => string][] = [
	["command", "Command"],
	["recorded_at", "Recorded", moment],
	["wall_seconds", "Took", (value) => `${full(Number(value))} seconds`],
	["exit_status", "Exit status"],
	["processes", "Processes", count],
	["instructions", "Instructions", count],
	["references", "References", count],
	["lost_words", "Events lost", (value) => (value === "0" ? "none" : `${count(value)} words`)],
	["machine", "Machine"],
	["machine_description", "It is"],
	["machine_spec", "Caches"],
	["collector", "Recorded with"],
	["host", "On host"],
	["rank", "Rank"],
	["merged", "Profiles merged", count],
	["missing_ranks", "Ranks without a profile"],
	["version", "Version of nearmiss"],
	["nearmiss_version", "Version of nearmiss"],
];
const UNTOLD = ["profile_version"];

export function About({ info }: { info: Record<string, string> }) {
	const known = FACTS.filter(([key]) => info[key] !== undefined);
	const named = new Set([...FACTS.map(([key]) => key), ...UNTOLD]);
	const others = Object.entries(info).filter(([key]) => !named.has(key));
	return (
		<details>
			<summary>About the recording</summary>
			<dl class="facts">
				{known.map(([key, title, text]) => <div key={key}><dt>{title}</dt><dd>{text ? text(info[key] as string) : info[key]}</dd></div>)}
				{others.map(([key, value]) => <div key={key}><dt>{key.replaceAll("_", " ")}</dt><dd>{value}</dd></div>)}
			</dl>
		</details>
	);
}
