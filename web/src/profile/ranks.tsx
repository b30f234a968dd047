// SPDX-License-Identifier: MIT
// ranks.tsx - above the pages of a merged profile: a strip with a cell for each rank or run that it was made of, those that
// behave alike side by side. The one that is chosen stands in the address. Arrow keys move over the cells, Enter chooses.
import { useRef } from "preact/hooks";
import type { Input, InputsAnswer } from "../answers";
import { Answer, useAnswer } from "../common/answer";
import { LevelChoice, useLevel } from "../common/choice";
import { heat } from "../common/colors";
import { full, profileName } from "../common/format";
import { useTheme } from "../common/theme";
import type { PageProps } from "../views";

const STEPS: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };

const groupTitle = (members: number) => (members === 1 ? "unlike the others" : `${full(members)} alike`);

function misses({ input, misses: count, mpki }: Input, level: string): string {
	if (count === null) return `${input}: not at ${level}`;
	return `${input}: ${full(count)} misses of ${level}${mpki === null ? "" : `, ${mpki.toFixed(2)} MPKI`}`;
}

interface CellProps {
	text: string;
	title: string;
	chosen: boolean;
	/** Of the most misses. */
	share: number;
	choose: () => void;
}

function Cell({ text, title, chosen, share, choose }: CellProps) {
	const color = heat(share > 0 ? 0.08 + 0.92 * share : 0, useTheme());
	return (
		<button type="button" role="option" aria-selected={chosen} aria-label={title} title={title} tabIndex={chosen ? 0 : -1}
			onClick={choose} style={{ backgroundColor: color.background, color: color.text }}>{text}</button>
	);
}

function Cells({ answer, chosen, choose }: { answer: InputsAnswer; chosen: string | null; choose: (input: string | null) => void }) {
	const strip = useRef<HTMLDivElement>(null);
	const most = Math.max(1, ...answer.inputs.map((input) => input.misses ?? 0));
	const pressed = (event: KeyboardEvent) => {
		const step = STEPS[event.key];
		if (step === undefined) return;
		const cells = [...strip.current?.querySelectorAll<HTMLElement>("[role=option]") ?? []];
		const at = cells.indexOf(document.activeElement as HTMLElement);
		cells[Math.min(cells.length - 1, Math.max(0, at + step))]?.focus();
		event.preventDefault();
	};
	return (
		<div class="ranks" ref={strip} role="listbox" aria-label="Ranks or runs" aria-orientation="horizontal" onKeyDown={pressed}>
			<Cell text="All" title={`All ${full(answer.total)} together`} chosen={chosen === null} share={0} choose={() => choose(null)} />
			{answer.groups.map(({ group, profiles }) => (
				<div key={group} role="group" aria-label={groupTitle(profiles)}>
					{answer.inputs.filter((input) => input.group === group).map((input) => (
						<Cell key={input.input} text={input.rank === null ? profileName(input.input) : String(input.rank)}
							title={misses(input, answer.level)} chosen={input.input === chosen} share={(input.misses ?? 0) / most}
							choose={() => choose(input.input)} />
					))}
				</div>
			))}
		</div>
	);
}

/** `levels`: whether to choose the level here, since the page does not. */
export function Ranks({ props, levels }: { props: PageProps; levels: boolean }) {
	const { profile, params, set } = props;
	const shown = useLevel(props);
	const asked = useAnswer<InputsAnswer>(shown.level && `/api/p/${profile}/inputs`, { level: shown.level });
	const chosen = params["input"] ?? null;
	// What one rank may not have, or has in another order, is chosen anew.
	const choose = (input: string | null) => set({ input, sort: null, order: null, offset: null, at: null });
	const status = ({ inputs, level, total }: InputsAnswer) => {
		const one = inputs.find(({ input }) => input === chosen);
		const text = one ? misses(one, level) : chosen ?? `${full(total)} profiles; colours tell their misses of ${level}`;
		return total > inputs.length ? `${text}; the first ${full(inputs.length)} are shown.` : `${text}.`;
	};
	return (
		<section aria-label="Merged profile">
			{levels && <div class="controls"><LevelChoice level={shown.level} levels={shown.levels} set={set} /></div>}
			<Answer of={asked}>
				{(answer) => (
					<>
						<Cells answer={answer} chosen={chosen} choose={choose} />
						<p class="fine" role="status">{status(answer)}</p>
					</>
				)}
			</Answer>
		</section>
	);
}

/** In place of a page about what is known of all ranks together only. */
export function NotByRank({ title, input, all }: { title: string; input: string; all: string }) {
	return <p>{`${title}: a merged profile does not hold this by rank. `}<a href={all}>{`Show all together, not ${input} alone`}</a>.</p>;
}
