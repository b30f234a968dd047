// SPDX-License-Identifier: MIT
// views.ts - the list of all pages.  One more page is a file and a row here.
import type { ComponentType } from "preact";
import type { Session } from "./answers";
import type { Params } from "./router";
import { DebuggerPage } from "./debugger/page";
import { keys as debuggerKeys } from "./debugger/panels/controls";
import { Overview } from "./profile/overview";

export interface PageProps {
	session: Session;
	/** The number of the profile that is shown, as a string; "0" unless the address says otherwise. */
	profile: string;
	params: Params;
	/** Changes parameters of this view; null removes one.  The address follows. */
	set(changes: Record<string, string | number | null>, replace?: boolean): void;
}

export interface View {
	/** In the address: #/NAME */
	name: string;
	title: string;
	/** The question that the page answers, in one line. */
	question: string;
	shown(session: Session): boolean;
	Page: ComponentType<PageProps>;
	/** Keys of this page, with what they do. */
	keys?: [key: string, help: string][];
}

const withProfile = (session: Session) => session.profiles.length > 0;

export const views: View[] = [
	{
		name: "overview",
		title: "Overview",
		question: "Which data misses the cache, why, and what should be changed?",
		shown: withProfile,
		Page: Overview,
	},
	{
		name: "debugger",
		title: "Debugger",
		question: "What does each reference do to the cache, and who evicted the line that it misses?",
		shown: (session) => session.debugger !== null,
		Page: DebuggerPage,
		keys: debuggerKeys,
	},
];
