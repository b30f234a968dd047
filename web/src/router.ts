// SPDX-License-Identifier: MIT
// router.ts - the address of what is shown: #/VIEW?name=value.  All state of a view that is worth a link is in it.
import { useEffect, useState } from "preact/hooks";

export type Params = Record<string, string>;

export interface Route {
	hash: string;
	view: string;
	params: Params;
}

/** A part of an address that may have been cut anywhere. */
export function unescaped(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

export function parseHash(hash: string): Route {
	const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
	return { hash, view: unescaped(path), params: Object.fromEntries(new URLSearchParams(query)) };
}

/** What the reader chose that stays chosen wherever a link leads, unless the link says otherwise. */
const KEPT = ["level"];

/** The address of a view.  Parameters that are null or empty are left out. */
export function href(view: string, params: Record<string, string | number | null | undefined> = {}): string {
	const query = new URLSearchParams();
	const here = parseHash(location.hash).params;
	const kept = Object.fromEntries(KEPT.filter((key) => params[key] === undefined).map((key) => [key, here[key]]));
	for (const [key, value] of Object.entries({ ...params, ...kept })) {
		if (value !== null && value !== undefined && value !== "") query.set(key, String(value));
	}
	const text = query.toString();
	return `#/${encodeURIComponent(view)}${text ? `?${text}` : ""}`;
}

/** Goes to a view.  With `replace` the step back leads to where one came from before this view. */
export function go(address: string, replace = false): void {
	if (address === location.hash) return;
	if (!replace) {
		location.hash = address;
		return;
	}
	history.replaceState(null, "", address);
	dispatchEvent(new HashChangeEvent("hashchange"));
}

export function useRoute(): Route {
	const [route, setRoute] = useState(() => parseHash(location.hash));
	useEffect(() => {
		const changed = () => setRoute(parseHash(location.hash));
		addEventListener("hashchange", changed);
		changed(); // it may have changed since this was first drawn
		return () => removeEventListener("hashchange", changed);
	}, []);
	return route;
}
