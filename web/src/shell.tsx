// SPDX-License-Identifier: MIT
// shell.tsx - what stands around every page: the list of pages, the profile, saving, the theme, the keys.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Session } from "./answers";
import { save, type Format } from "./common/save";
import { baseName, profileName } from "./common/format";
import { isTyping } from "./common/keys";
import { Lacking } from "./common/lacking";
import { switchTheme, useTheme } from "./common/theme";
import { lackText } from "./needs";
import { go, href, useRoute } from "./router";
import { NotByRank, Ranks } from "./profile/ranks";
import type { Find } from "./search/finds";
import { Search } from "./search/search";
import { absenceOf, Absent, ServerGone } from "./states";
import { lackOfMore, lackOfPage, views, type View } from "./views";

const KEYS: [string, string][] = [
	["Ctrl K", "search for a name or a command"],
	["1 … 9", "go to a page"],
	["[ and ]", "go to the page before or after"],
	["/", "filter or find; search where a page has no filter"],
	["s", "save"],
	["t", "light or dark"],
	["?", "show these keys"],
];

function SaveMenu({ name }: { name: string }) {
	const [error, setError] = useState("");
	const menu = useRef<HTMLDetailsElement>(null);
	const saveAs = (format: Format) => {
		const page = document.getElementById("page");
		if (menu.current) menu.current.open = false;
		if (page) save(format, name, page).then(() => setError(""), (reason: Error) => setError(reason.message));
	};
	return (
		<details class="menu" id="save" ref={menu}>
			<summary>Save</summary>
			<div class="choices">
				<button type="button" onClick={() => saveAs("svg")}>SVG picture</button>
				<button type="button" onClick={() => saveAs("png")}>PNG picture</button>
				<button type="button" onClick={() => saveAs("csv")}>CSV figures</button>
			</div>
			{error && <p class="failed" role="alert">{error}</p>}
		</details>
	);
}

function Keys({ of: view, close }: { of: View; close: () => void }) {
	const dialog = useRef<HTMLDialogElement>(null);
	useEffect(() => dialog.current?.showModal(), []);
	return (
		<dialog ref={dialog} onClose={close} aria-label="Keys">
			<h2>Keys</h2>
			<dl>{[...(view.keys ?? []), ...KEYS].map(([key, what]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{what}</dd></div>)}</dl>
			<button type="button" onClick={close}>Close</button>
		</dialog>
	);
}

/** Opens the menu of formats, or closes it; the next Tab leads into it. */
function openMenu(): void {
	const summary = document.querySelector<HTMLElement>("#save summary");
	summary?.click();
	summary?.focus();
}

/** Leads to the field of the page where names are typed; where it has none, does `otherwise`. */
function focusFilter(otherwise: () => void): void {
	const field = document.querySelector<HTMLElement>("#page input:not([type=checkbox])");
	if (field) field.focus();
	else otherwise();
}

interface Dialogs { help: () => void; search: () => void }

function useKeys(shown: View[], current: View, address: (view: View) => string, { help, search }: Dialogs): void {
	useLayoutEffect(() => { // before the page can be seen: keys lead on from what it shows
		const pressed = (event: KeyboardEvent) => {
			if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
				search();
				event.preventDefault();
				return;
			}
			if (isTyping(event)) return;
			const at = shown.indexOf(current);
			const next = /^[1-9]$/.test(event.key) ? shown[Number(event.key) - 1]
				: event.key === "]" ? shown[at + 1] : event.key === "[" ? shown[at - 1] : undefined;
			if (next) go(address(next));
			else if (event.key === "t") switchTheme();
			else if (event.key === "?") help();
			else if (event.key === "s") openMenu();
			else if (event.key === "/") focusFilter(search);
			else return;
			event.preventDefault();
		};
		addEventListener("keydown", pressed);
		return () => removeEventListener("keydown", pressed);
	});
}

/** What can be done from every page. */
function commandsOf(shown: View[], address: (view: View) => string, { profiles }: Session, help: () => void): Find[] {
	const command = (title: string, note: string, to: Find["go"]): Find => ({ kind: "command", title, note, misses: 0, go: to });
	return [
		...shown.map((view, n) => command(`Go to ${view.title}`, n < 9 ? String(n + 1) : "", address(view))),
		...(profiles.length > 1 ? profiles.map(({ n, file }) => command(`Open profile ${profileName(file)}`, "", href("overview", { p: n || null, level: null }))) : []),
		command("Save what is shown", "s", openMenu),
		command("Light or dark", "t", switchTheme),
		command("Show the keys", "?", help),
	];
}

/** What ran, when, and on which machine. */
function Ran({ of: { command, date, machine } }: { of: Session["profiles"][number] }) {
	const when = date && `${date.slice(0, 16).replace("T", " ")} UTC`;
	const [program = "", ...rest] = command.split(" ");
	return <p class="ran fine">{command && <code title={command}>{[baseName(program), ...rest].join(" ")}</code>}{[when, machine].filter(Boolean).map((fact) => ` · ${fact}`)}</p>;
}

export function Shell({ session }: { session: Session }) {
	const route = useRoute();
	const theme = useTheme();
	const [help, setHelp] = useState(false);
	const shown = views.filter((view) => view.shown(session));
	const absent = absenceOf(route, session, shown.map(({ name }) => name));
	const view = shown.find(({ name }) => name === route.view) ?? (shown[0] as View);
	const profile = route.params["p"] ?? "0";
	const input = route.params["input"] ?? null;
	const address = (to: View) => href(to.name, { p: profile === "0" ? null : profile, level: route.params["level"], input: to.ofAllProfiles ? null : input });
	const set = (changes: Record<string, string | number | null>, replace = false) =>
		go(href(view.name, { ...route.params, ...changes }), replace);
	const page = { session, profile, params: route.params, set };
	const shownProfile = session.profiles[Number(profile)];
	const merged = !view.ofAllProfiles && view.name !== "debugger" && shownProfile?.merged;
	const lack = view.ofAllProfiles ? null : lackOfPage(view, shownProfile);
	const [searching, setSearching] = useState(false);
	const dialogs = { help: () => setHelp(true), search: () => setSearching(true) };
	useKeys(shown, view, address, dialogs);
	const of = view.ofAllProfiles || view.name === "debugger" ? undefined : session.profiles[Number(profile)];
	const program = of && baseName(of.command.split(" ", 1)[0] ?? "");
	useEffect(() => {
		document.title = [absent?.title ?? view.title, program, "nearmiss"].filter(Boolean).join(" – ");
	}, [absent?.title, view, program]);
	return (
		<>
			<a class="skip" href="#page" onClick={(event) => { event.preventDefault(); document.getElementById("page")?.focus(); }}>
				Skip to the page
			</a>
			<header>
				<strong class="brand">nearmiss</strong>
				<nav aria-label="Pages">
					{shown.map((item) => {
						const lack = lackOfMore(item, shownProfile);
						return (
							<a key={item.name} href={address(item)} class={lack ? "lacking" : undefined} title={lack ? `${item.question} ${lackText(lack)}` : item.question}
								aria-current={item === view && !absent ? "page" : undefined}>
								{item.title}
							</a>
						);
					})}
				</nav>
				<div class="tools">
					{session.profiles.length > 1 && !view.ofAllProfiles && (
						<label>Profile{" "}
							<select value={profile} onChange={(event) => set({ p: event.currentTarget.value, input: null })}>
								{session.profiles.map(({ n, file }) => <option key={n} value={n}>{profileName(file)}</option>)}
							</select>
						</label>
					)}
					<button type="button" onClick={dialogs.search} title="Ctrl K">Search</button>
					<SaveMenu name={view.name} />
					<button type="button" onClick={switchTheme}>{theme === "dark" ? "Light" : "Dark"}</button>
					<button type="button" onClick={dialogs.help} aria-label="Keys">?</button>
				</div>
			</header>
			<main id="page" tabIndex={-1} data-view={absent ? "" : view.name} data-hash={route.hash}>
				<ServerGone />
				{absent ? <Absent of={absent} /> : (
					<>
						<h1>{view.title}</h1>
						<p class="question">{view.question}</p>
						{of && <Ran of={of} />}
						{merged && <Ranks key={profile} props={page} levels={view.name === "overview"} />}
						{input !== null && !view.byRank && merged
							? <NotByRank title={view.title} input={input} all={href(view.name, { ...route.params, input: null })} />
							: lack ? <Lacking of={lack} />
							: <view.Page key={`${view.name} ${profile}`} {...page} />}
					</>
				)}
			</main>
			{help && <Keys of={view} close={() => setHelp(false)} />}
			{searching && <Search profile={of ? profile : null} commands={commandsOf(shown, address, session, dialogs.help)} close={() => setSearching(false)} />}
		</>
	);
}
