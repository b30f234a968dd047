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

/** What was answered last, and to what. */
interface Last<T> {
	key: string | null;
	answer: T | null;
	error: string | null;
}
const nothing = { key: null, answer: null, error: null };

/** The answer to GET path?query; null as path asks nothing, undefined waits until it is known what to ask. */
export function useAnswer<T>(path: string | null | undefined, query?: Query): Asked<T> {
	const [last, setLast] = useState<Last<T>>(nothing);
	const key = path === null || path === undefined ? null : pathWithQuery(path, query);
	useEffect(() => {
		if (key === null) {
			setLast(nothing);
			return;
		}
		let current = true;
		get<T>(key).then(
			(answer) => current && setLast({ key, answer, error: null }),
			(error: Error) => current && setLast({ key, answer: null, error: error.message }),
		);
		return () => {
			current = false;
		};
	}, [key]);
	return { answer: last.answer, error: last.error, waiting: path === undefined || last.key !== key };
}

/** An answer that takes longer says for how long. */
const SLOW_SECONDS = 2;

function Waiting() {
	const [seconds, setSeconds] = useState(0);
	useEffect(() => {
		const clock = setInterval(() => setSeconds((before) => before + 1), 1000);
		return () => clearInterval(clock);
	}, []);
	return (
		<p class="waiting">
			<span role="status">{seconds < SLOW_SECONDS ? "Loading …" : "This takes a while: the first question about a large profile reads much of it."}</span>
			{seconds >= SLOW_SECONDS && ` ${seconds} s`}
		</p>
	);
}

/** Shows an answer, or that it is awaited, or what went wrong; nothing if nothing was asked. */
export function Answer<T>({ of, children }: { of: Asked<T>; children: (answer: T) => ComponentChildren }) {
	if (of.error !== null) return <p class="failed" role="alert" aria-busy={of.waiting}>{of.error}</p>;
	if (of.answer === null) return of.waiting ? <Waiting /> : null;
	return <div class="answer" aria-busy={of.waiting}>{children(of.answer)}</div>;
}
