// SPDX-License-Identifier: MIT
// suggestions.tsx - what to change, by structure: for each its causes, the lines that they are of, and what a change saves.
import type { Advice, SourceAnswer } from "../answers";
import { useAnswer } from "../common/answer";
import { brief, place, sentence, short } from "../common/format";
import { href } from "../router";

interface Suggestion extends Advice {
	/** All lines of the object that it is said of. */
	lines: { file: string; line: number | null }[];
	/** The object of which the same was said before. */
	as?: string | undefined;
}

const withoutNumbers = (text: string): string => text.replace(/[0-9]+/g, "");

/** Advice by object, what differs in its numbers alone once; in the order in which they come first. */
function byObject(advice: Advice[]): Map<string, Suggestion[]> {
	const objects = new Map<string, Suggestion[]>();
	const first = new Map<string, string>(); // a text -> the first object that has it
	for (const one of advice) {
		const of = objects.get(one.object ?? "") ?? [];
		const told = of.find(({ text }) => withoutNumbers(text) === withoutNumbers(one.text));
		const lines = one.file ? [{ file: one.file, line: one.line }] : [];
		objects.set(one.object ?? "", of);
		if (told === undefined) of.push({ ...one, lines, as: first.get(one.text) });
		else {
			told.lines.push(...lines);
			told.saving_misses = (told.saving_misses ?? 0) + (one.saving_misses ?? 0);
			told.saving_cycles = (told.saving_cycles ?? 0) + (one.saving_cycles ?? 0);
		}
		if (!first.has(one.text)) first.set(one.text, one.object ?? "");
	}
	return objects;
}

/** A line of code with its text, where the source is known. */
function Line({ profile, level, file, line }: { profile: string; level: string | null | undefined; file: string; line: number | null }) {
	const { answer } = useAnswer<SourceAnswer>(level && `/api/p/${profile}/source`, { file, level });
	const text = answer?.lines.find(({ n }) => n === line)?.text?.trim();
	return (
		<p class="excerpt">
			<a href={href("source", { p: profile, file, line })}>{place(file, line)}</a>
			{text && <code>{text}</code>}
		</p>
	);
}

/** The layout that a text suggests, to be copied. */
function Layout({ text }: { text: string }) {
	const layout = /struct \{[^}]*\}/.exec(text)?.[0];
	return layout ? <button type="button" onClick={() => navigator.clipboard?.writeText(layout)}>Copy the layout</button> : null;
}

function Saving({ of: { saving_misses, saving_cycles } }: { of: Suggestion }) {
	const parts = [saving_misses && `${short(saving_misses)} misses`, saving_cycles && `${short(saving_cycles)} cycles`].filter(Boolean);
	return parts.length > 0 ? <p class="fine">{`Saves up to ${parts.join(", ")}.`}</p> : null;
}

export function Suggestions({ advice, profile, level }: { advice: Advice[]; profile: string; level: string | null | undefined }) {
	return (
		<div class="cards">
			{[...byObject(advice)].map(([object, suggestions]) => (
				<article key={object} class="card">
					<h3>{object ? <a href={href("tables", { p: profile, by: "object,file,line", filter: object, mine: "0" })} title={object}>{brief(object)}</a> : "Unnamed memory"}</h3>
					{suggestions.map((one) => (
						<section key={one.text} aria-label={`${brief(object)}: ${one.title}`}>
							<h4>{one.title}</h4>
							{one.lines.map(({ file, line }) => <Line key={`${file}:${line}`} profile={profile} level={level} file={file} line={line} />)}
							{one.as !== undefined ? <p>{`As for ${brief(one.as)}.`}</p> : <p class="sentence">{sentence(one.text)}</p>}
							<Layout text={one.text} />
							<Saving of={one} />
						</section>
					))}
				</article>
			))}
		</div>
	);
}
