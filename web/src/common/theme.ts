// SPDX-License-Identifier: MIT
// theme.ts - light or dark: as the system says, until the reader chooses.
import { useEffect, useState } from "preact/hooks";

export type Theme = "light" | "dark";

const KEY = "nearmiss-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

function chosen(): Theme | null {
	try {
		const value = localStorage.getItem(KEY);
		return value === "light" || value === "dark" ? value : null;
	} catch {
		return null; // a page from a file may be denied any storage
	}
}

export function theme(): Theme {
	const shown = document.documentElement.dataset["theme"];
	return shown === "dark" || shown === "light" ? shown : (chosen() ?? (system.matches ? "dark" : "light"));
}

function show(value: Theme): void {
	document.documentElement.dataset["theme"] = value;
	dispatchEvent(new Event("themechange"));
}

export function startTheme(): void {
	document.documentElement.dataset["theme"] = chosen() ?? (system.matches ? "dark" : "light");
	system.addEventListener("change", () => chosen() ?? show(system.matches ? "dark" : "light"));
}

export function switchTheme(): void {
	const next: Theme = theme() === "dark" ? "light" : "dark";
	try {
		localStorage.setItem(KEY, next);
	} catch {
		// it then lasts as long as the page
	}
	show(next);
}

/** The theme; whoever uses it is drawn again when it changes. */
export function useTheme(): Theme {
	const [value, setValue] = useState(theme());
	useEffect(() => {
		const changed = () => setValue(theme());
		addEventListener("themechange", changed);
		return () => removeEventListener("themechange", changed);
	}, []);
	return value;
}
