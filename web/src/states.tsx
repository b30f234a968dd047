// SPDX-License-Identifier: MIT
// states.tsx - what is said where a page cannot be shown: the server has ended, the address names no page or no profile.
import { useEffect, useState } from "preact/hooks";
import type { Session } from "./answers";
import { profileName } from "./common/format";
import { href, type Route } from "./router";
import { views } from "./views";

export interface Absence {
	title: string;
	text: string;
	/** Where to go instead. */
	links: { title: string; address: string }[];
}

/** Why the address leads nowhere; null: it leads somewhere. */
export function absenceOf({ view: name, params }: Route, { profiles }: Session, shown: string[]): Absence | null {
	const view = views.find((one) => one.name === name);
	const first = { title: "Go to the first page", address: href(shown[0] ?? "", { level: null }) };
	if (name !== "" && !view) return { title: "No such page", text: `There is no page “${name}”.`, links: [first] };
	if (view && !shown.includes(name)) return { title: view.title, text: view.needs ?? "", links: [first] };
	const profile = params["p"];
	if (profile === undefined || name === "debugger" || profiles.some(({ n }) => String(n) === profile)) return null;
	const links = profiles.map(({ n, file }) => ({ title: profileName(file), address: href(name, { p: n === 0 ? null : n }) }));
	return { title: "No such profile", text: `The address names profile ${profile}, and they are numbered from 0. These are open:`, links };
}

export function Absent({ of: { title, text, links } }: { of: Absence }) {
	return (
		<>
			<h1>{title}</h1>
			<p role="alert">{text}</p>
			<ul>{links.map(({ title: name, address }) => <li key={address}><a href={address}>{name}</a></li>)}</ul>
		</>
	);
}

/** Says so from the first question on that no server answers. */
export function ServerGone() {
	const [gone, setGone] = useState(false);
	useEffect(() => {
		const heard = (event: Event) => setGone(event.type === "servergone");
		addEventListener("servergone", heard);
		addEventListener("serverback", heard);
		return () => {
			removeEventListener("servergone", heard);
			removeEventListener("serverback", heard);
		};
	}, []);
	return gone ? (
		<p class="gone" role="alert">
			<strong>nearmiss view has ended.</strong> What is shown is the last that it answered. Start it again, and open the address that it prints.
		</p>
	) : null;
}
