// SPDX-License-Identifier: MIT
// prediction.ts - asks the server to predict, and watches: one prediction runs at a time, for all tabs.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Prediction } from "../answers";
import { get, post, remove } from "../api";

const PATH = "/api/prediction";
/** Milliseconds between two looks at one that runs. */
const PAUSE = 400;

export interface Predictor {
	/** What the server has; null: not known yet. */
	now: Prediction | null;
	/** Why a request was refused. */
	error: string | null;
	start(profile: number, candidate: string): void;
	cancel(): void;
}

export function usePredictor(asks: boolean): Predictor {
	const [now, setNow] = useState<Prediction | null>(null);
	const [error, setError] = useState<string | null>(null);
	const timer = useRef(0);
	const request = useRef(0);
	const take = (asked: Promise<Prediction>) => {
		const mine = ++request.current;
		clearTimeout(timer.current);
		asked.then(
			(answer) => {
				if (mine !== request.current) return; // a later request tells more
				setNow(answer);
				setError(null);
				if (answer.state === "running") timer.current = window.setTimeout(() => take(get(PATH)), PAUSE);
			},
			(reason: Error) => mine === request.current && setError(reason.message),
		);
	};
	useEffect(() => {
		if (asks) take(get(PATH));
		return () => {
			request.current++;
			clearTimeout(timer.current);
		};
	}, [asks]);
	return {
		now,
		error,
		start: (profile, candidate) => take(post(PATH, { profile, candidate })),
		cancel: () => take(remove(PATH)),
	};
}
