// SPDX-License-Identifier: MIT
// choice.tsx - labelled lists to choose from, and the choice of a level that most pages have.
import type { Level, OverviewAnswer } from "../answers";
import type { PageProps } from "../views";
import { useAnswer } from "./answer";

export interface ChoiceProps {
	label: string;
	value: string;
	options: { value: string; title: string; disabled?: boolean }[];
	onChange: (value: string) => void;
}

export function Choice({ label, value, options, onChange }: ChoiceProps) {
	return (
		<label>
			{label}
			<select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
				{options.map((option) => <option key={option.value} value={option.value} disabled={option.disabled}>{option.title}</option>)}
			</select>
		</label>
	);
}

/** Options that are shown as they are named. */
export const plain = (names: readonly string[]) => names.map((name) => ({ value: name, title: name.replaceAll("_", " ") }));

/** The level of the address, else that of the verdict (unless the page is about another), else the first level of data that
 * misses; undefined until the levels are known, null where there are none. `all`: what is known of each. */
export function useLevel({ profile, params }: PageProps, ofVerdict = true): { level: string | null | undefined; levels: string[]; all: Level[] } {
	const { answer, waiting } = useAnswer<OverviewAnswer>(`/api/p/${profile}/overview`);
	const all = answer?.levels ?? [];
	const levels = all.map(({ level }) => level);
	const first = all.find(({ level, misses }) => misses > 0 && !level.endsWith("L1i")) ?? all[0];
	const level = [params["level"], ofVerdict ? answer?.verdict_level : null].find((name) => name && levels.includes(name));
	return { level: level ?? first?.level ?? (waiting ? undefined : null), levels, all };
}

/** Whether what no code of the user made run is left out: the work of the loader, of libraries' start. */
export function Mine({ checked, set }: { checked: boolean; set: PageProps["set"] }) {
	return (
		<label class="check">
			<input type="checkbox" checked={checked} onChange={() => set({ mine: checked ? "0" : null, offset: null })} />
			Mine only
		</label>
	);
}

export function LevelChoice({ level, levels, set }: { level: string | null | undefined; levels: string[]; set: PageProps["set"] }) {
	return (
		<Choice label="Level" value={level ?? ""} options={plain(levels)} onChange={(value) => set({ level: value, offset: null })} />
	);
}
