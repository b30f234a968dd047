// SPDX-License-Identifier: MIT
// views.ts - the list of all pages.  One more page is a file and a row here.
import type { ComponentType } from "preact";
import type { Session, SessionProfile } from "./answers";
import { lackOf, lackOfAll, type Lack, type Need } from "./needs";
import type { Params } from "./router";
import { DebuggerPage } from "./debugger/page";
import { keys as debuggerKeys } from "./debugger/panels/controls";
import { Chains, keys as chainKeys } from "./profile/chains";
import { Compare } from "./profile/compare";
import { Curves } from "./profile/curves";
import { Evictions } from "./profile/evictions";
import { Histograms, needs as histogramNeeds } from "./profile/histograms";
import { Overview } from "./profile/overview";
import { Sharing } from "./profile/sharing";
import { Source } from "./profile/source";
import { Structures } from "./profile/structures";
import { Tables } from "./profile/tables";
import { keys as timelineKeys, Timeline } from "./profile/timeline";
import { TreeMap } from "./profile/treemap";
import { keys as whatIfKeys, WhatIf } from "./whatif/page";

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
	/** What it needs where it is not shown. */
	needs: string;
	Page: ComponentType<PageProps>;
	/** What it shows of a profile: greyed without any of it. */
	data?: readonly Need[];
	/** What it could show more of. */
	more?: Need;
	/** It shows one rank of a merged profile too. */
	byRank?: true;
	/** It chooses profiles itself. */
	ofAllProfiles?: true;
	/** Keys of this page, with what they do. */
	keys?: [key: string, help: string][];
}

const ofProfile = {
	shown: ({ profiles }: Session) => profiles.length > 0,
	needs: "This page is about a profile: nearmiss view PROFILE.nmp opens one.",
};

export const views: View[] = [
	{
		name: "overview",
		title: "Overview",
		question: "Which data misses the cache, why, and what should be changed?",
		...ofProfile,
		byRank: true,
		Page: Overview,
	},
	{
		name: "treemap",
		title: "Tree map",
		question: "Which objects take most of the misses, and which functions within them?",
		...ofProfile,
		byRank: true,
		data: ["counts"],
		Page: TreeMap,
	},
	{
		name: "tables",
		title: "Tables",
		question: "What are the counts of any object, function, line or thread?",
		...ofProfile,
		byRank: true,
		data: ["counts"],
		Page: Tables,
	},
	{
		name: "source",
		title: "Source",
		question: "Which lines of code miss, on what data, and who evicts it?",
		...ofProfile,
		byRank: true,
		data: ["counts"],
		Page: Source,
	},
	{
		name: "chains",
		title: "Chains",
		question: "Which calls led to the misses?",
		...ofProfile,
		data: ["contexts"],
		Page: Chains,
		keys: chainKeys,
	},
	{
		name: "timeline",
		title: "Timeline",
		question: "When does the program miss, and on what?",
		...ofProfile,
		data: ["timeline"],
		Page: Timeline,
		keys: timelineKeys,
	},
	{
		name: "evictions",
		title: "Evictions",
		question: "Which data drives which out of the cache?",
		...ofProfile,
		data: ["evictions"],
		Page: Evictions,
	},
	{
		name: "curves",
		title: "Curves",
		question: "How would a larger or smaller cache do?",
		...ofProfile,
		data: ["curves"],
		Page: Curves,
	},
	{
		name: "histograms",
		title: "Histograms",
		question: "Are misses spread evenly over sets and memory, and how far apart are uses?",
		...ofProfile,
		data: histogramNeeds,
		Page: Histograms,
	},
	{
		name: "sharing",
		title: "Sharing",
		question: "Which lines do cores take from each other, and is it the data that they share?",
		...ofProfile,
		data: ["sharing"],
		Page: Sharing,
	},
	{
		name: "structures",
		title: "Structures",
		question: "Which fields are hot, and which are used together?",
		...ofProfile,
		data: ["fields"],
		Page: Structures,
	},
	{
		name: "whatif",
		title: "What if",
		question: "What would another order of a structure's fields gain, or a split of it?",
		...ofProfile,
		data: ["fields"],
		more: "trace",
		Page: WhatIf,
		keys: whatIfKeys,
	},
	{
		name: "compare",
		title: "Compare",
		question: "What did a change bring?",
		shown: ({ profiles }) => profiles.length > 1,
		needs: "This page compares two profiles: nearmiss view BEFORE.nmp AFTER.nmp opens both.",
		Page: Compare,
		ofAllProfiles: true,
	},
	{
		name: "debugger",
		title: "Debugger",
		question: "What does each reference do to the cache, and who evicted the line that it misses?",
		shown: (session) => session.debugger !== null,
		needs: "This page runs a trace or a loop nest: nearmiss view RUN.nmt opens one (record --trace RUN.nmt writes it).",
		Page: DebuggerPage,
		keys: debuggerKeys,
	},
];

/** Why a page has nothing to show of a profile; null: it has. */
export const lackOfPage = (view: View, profile: SessionProfile | undefined): Lack | null =>
	profile && view.data ? lackOfAll(profile, view.data) : null;

/** Why it has nothing, or less than it could. */
export const lackOfMore = (view: View, profile: SessionProfile | undefined): Lack | null =>
	lackOfPage(view, profile) ?? (profile && view.more ? lackOf(profile, view.more) : null);
