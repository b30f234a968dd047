// SPDX-License-Identifier: MIT
// answer.tsx - asks for an answer while a page is shown.  The last answer stays until the next one is there.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { get, pathWithQuery, type Query } from "../api";

export interface Asked<T> {
	answer: T | null;
	error: string | null;
	waiting: boolean;
}

/** The answer to GET path?query; null as path asks nothing. */
export function useAnswer<T>(path: string | null, query?: Query): Asked<T> {
	const [asked, setAsked] = useState<Asked<T>>({ answer: null, error: null, waiting: path !== null });
	const key = path === null ? null : pathWithQuery(path, query);
	useEffect(() => {
		if (key === null) {
			setAsked({ answer: null, error: null, waiting: false });
			return;
		}
		let current = true;
		setAsked((before) => ({ ...before, waiting: true }));
		get<T>(key).then(
			(answer) => current && setAsked({ answer, error: null, waiting: false }),
			(error: Error) => current && setAsked({ answer: null, error: error.message, waiting: false }),
		);
		return () => {
			current = false;
		};
	}, [key]);
	return asked;
}

/** Shows an answer, or that it is awaited, or what went wrong; nothing if nothing was asked. */
export function Answer<T>({ of, children }: { of: Asked<T>; children: (answer: T) => ComponentChildren }) {
	if (of.error !== null) return <p class="failed" role="alert">{of.error}</p>;
	if (of.answer === null) return of.waiting ? <p class="waiting" role="status">Loading …</p> : null;
	return <div class="answer" aria-busy={of.waiting}>{children(of.answer)}</div>;
}
