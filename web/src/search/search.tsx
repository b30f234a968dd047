// SPDX-License-Identifier: MIT
// search.tsx - a field over the page that finds objects, types, fields, functions, files and commands. Arrow keys choose, Enter
// goes there, once what was typed is found.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Name } from "../answers";
import { isSelfContained } from "../api";
import { useAnswer } from "../common/answer";
import { brief } from "../common/format";
import { go } from "../router";
import { byFit, filterOf, findOf, matches, wordsOf, type Find } from "./finds";

/** Finds that are shown at most. */
const MOST = 40;

interface SearchProps {
	/** The number of the profile in which names are found; null: none is shown. */
	profile: string | null;
	commands: Find[];
	close: () => void;
}

function useFinds(typed: string, { profile, commands }: SearchProps): { finds: Find[]; waiting: boolean } {
	const words = wordsOf(typed);
	// A file has the names that miss most, and no server to ask for others.
	const query = isSelfContained() ? { limit: 200 } : { filter: filterOf(words) };
	const { answer, waiting } = useAnswer<Name[]>(profile === null ? null : `/api/p/${profile}/names`, query);
	const names = (answer ?? []).map((name) => findOf(name, profile === "0" ? null : profile)).sort(byFit(words));
	const all = words.length > 0 ? [...names, ...commands] : [...commands, ...names];
	return { finds: all.filter((find) => matches(find, words)).slice(0, MOST), waiting };
}

export function Search(props: SearchProps) {
	const dialog = useRef<HTMLDialogElement>(null);
	const [typed, setTyped] = useState("");
	const [at, setAt] = useState(0);
	const [entered, setEntered] = useState(false); // before the names that were typed are there
	const { finds, waiting } = useFinds(typed, props);
	useEffect(() => dialog.current?.showModal(), []);
	useEffect(() => document.getElementById(`find-${at}`)?.scrollIntoView({ block: "nearest" }), [at]);
	const open = (find: Find | undefined) => {
		if (!find) return;
		dialog.current?.close();
		if (typeof find.go === "string") go(find.go);
		else find.go();
	};
	useEffect(() => {
		if (!entered || waiting) return;
		setEntered(false);
		open(finds[at]);
	}, [entered, waiting]);
	const pressed = (event: KeyboardEvent) => {
		const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
		if (step !== undefined) setAt(Math.min(finds.length - 1, Math.max(0, at + step)));
		else if (event.key === "Enter" && waiting) setEntered(true);
		else if (event.key === "Enter") open(finds[at]);
		else return;
		event.preventDefault();
	};
	return (
		<dialog ref={dialog} class="search" onClose={props.close} aria-label="Search">
			<input type="text" role="combobox" aria-label="Search for a name or a command" aria-expanded="true" aria-controls="finds" aria-autocomplete="list"
				aria-activedescendant={finds[at] ? `find-${at}` : undefined} placeholder="object, type, field, function, file or command"
				value={typed} onInput={(event) => { setTyped(event.currentTarget.value); setAt(0); setEntered(false); }} onKeyDown={pressed} />
			<ul id="finds" role="listbox" aria-label="Found">
				{finds.map((find, n) => (
					<li key={`${find.kind} ${find.title}`} id={`find-${n}`} role="option" aria-selected={n === at} title={find.title}
						onClick={() => open(find)} onMouseMove={() => setAt(n)}>
						<span class="kind">{find.kind}</span><span class="title">{brief(find.title)}</span><span class="note">{find.note}</span>
					</li>
				))}
			</ul>
			<p class="fine" role="status">{finds.length > 0 || waiting ? "" : "Nothing has this name."}</p>
		</dialog>
	);
}
