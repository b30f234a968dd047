// SPDX-License-Identifier: MIT
// source.tsx - the source around the line of the last reference; a file has none.  While it runs, the text stays that of the last
// pause.
import { useEffect, useState } from "preact/hooks";
import { isSelfContained } from "../../api";
import { useAnswer } from "../../common/answer";
import { baseName } from "../../common/format";
import { highlight } from "../../common/highlight";
import type { Reference, SourceText } from "../types";
import type { Watch } from "../watch";

/** Lines above and below the one that is marked. */
const AROUND = 6;
/** Lines that are asked for at once, so that a step to the next line asks nothing. */
const CHUNK = 200;

/** The last reference that was made while it did not run. */
function usePaused(watch: Watch): Reference | null {
	const reference = watch.state?.reference ?? null;
	const running = watch.player.isRunning || watch.searching;
	const [paused, setPaused] = useState(reference);
	useEffect(() => { if (!running) setPaused(reference); }, [running, reference]);
	return paused;
}

export function SourcePanel({ watch }: { watch: Watch }) {
	const { file = null, line = 0 } = usePaused(watch) ?? {};
	const from = Math.max(1, Math.floor(line / CHUNK) * CHUNK - AROUND);
	const asked = useAnswer<SourceText>(file && line && !isSelfContained() ? "/api/d/source" : null, { file, from, limit: CHUNK + 2 * AROUND });
	if (!file || !line || isSelfContained()) return null;
	const { answer, error } = asked;
	const first = answer ? Math.max(0, line - answer.from - AROUND) : 0;
	const lines = answer?.lines.slice(first, line - answer.from + AROUND + 1) ?? [];
	const pieces = highlight(file, lines);
	return (
		<section class="panel source-text" aria-label="Source">
			<h2>{`${baseName(file)}:${line}`}</h2>
			{error !== null && <p class="fine">{error}</p>}
			{answer && (
				<pre tabIndex={0} aria-label={`${baseName(file)}, line ${line}`}>
					{pieces.map((parts, n) => {
						const number = answer.from + first + n;
						const Line = number === line ? "mark" : "span";
						return (
							<Line key={number} class="row">
								<span class="number">{number}</span>
								{parts.map(({ text, kind }, part) => (kind ? <span key={part} class={`code-${kind}`}>{text}</span> : text))}
								{"\n"}
							</Line>
						);
					})}
				</pre>
			)}
		</section>
	);
}
