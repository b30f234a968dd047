// SPDX-License-Identifier: MIT
// nest.tsx - what a nest can be asked anew with: its parameters, where its arrays lie, and room behind them.
import type { Watch } from "../watch";

type Change = "parameters" | "bases" | "pads";

export function NestPanel({ watch }: { watch: Watch }) {
	const { parameters, objects } = watch.session;
	return (
		<section class="panel nest" aria-label="Nest">
			<h2>Change the nest</h2>
			<div class="parameters">
				{Object.entries(parameters ?? {}).map(([name, value]) => (
					<label key={name}>{name} <Figure watch={watch} what="parameters" name={name} label="parameter" value={value} /></label>
				))}
			</div>
			<div class="wide"><table>
				<thead><tr><th scope="col">array</th><th scope="col">base address</th><th scope="col">padding behind it</th></tr></thead>
				<tbody>{objects.map(({ name, low }) => (
					<tr key={name}>
						<th scope="row">{name}</th>
						<td><Figure watch={watch} what="bases" name={name} label="base of" value={low} /></td>
						<td><Figure watch={watch} what="pads" name={name} label="padding of" value={watch.view.pads[name] ?? 0} /></td>
					</tr>
				))}</tbody>
			</table></div>
		</section>
	);
}

interface FigureProps { watch: Watch; what: Change; name: string; label: string; value: number }

function Figure({ watch, what, name, label, value }: FigureProps) {
	const change = (text: string) => {
		const figure = Number(text);
		if (text.trim() === "" || !Number.isSafeInteger(figure)) return;
		const { parameters, bases, pads } = watch.view;
		void watch.changeNest({ parameters, bases, pads, [what]: { ...watch.view[what], [name]: figure } });
	};
	return <input aria-label={`${label} ${name}`} size={9} inputMode="numeric" value={value}
		onChange={(event) => change(event.currentTarget.value)} />;
}
