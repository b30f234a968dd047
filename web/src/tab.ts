// SPDX-License-Identifier: MIT
// tab.ts - the token by which the debugger knows this tab, so that each tab has its own moment.
// It outlives a reload, but is stored only while the page goes away: a duplicated tab finds none, and makes its own.
const KEY = "nearmiss-tab";
let token: string | null = null;

export function tabToken(): string {
	if (token !== null) return token;
	token = sessionStorage.getItem(KEY) ?? crypto.randomUUID();
	sessionStorage.removeItem(KEY);
	addEventListener("pagehide", () => sessionStorage.setItem(KEY, token!));
	addEventListener("pageshow", () => sessionStorage.removeItem(KEY));
	return token;
}
