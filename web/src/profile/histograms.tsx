// SPDX-License-Identifier: MIT
// histograms.tsx - how counts are spread over sets, lines of memory, reuse and stack distances.
import { scaleLinear } from "d3-scale";
import type { HistogramAnswer } from "../answers";
import { Answer, useAnswer } from "../common/answer";
import { Axes, thinned } from "../common/axes";
import { Choice, LevelChoice, useLevel } from "../common/choice";
import { category } from "../common/colors";
import { useSheet } from "../common/csv";
import { full, short } from "../common/format";
import { useWidth } from "../common/size";
import type { PageProps } from "../views";
import { Legend } from "./overview";

type Bin = HistogramAnswer["bins"][number];

const KINDS = [
	{ value: "set", title: "sets of the cache" },
	{ value: "memory_line", title: "lines of memory" },
	{ value: "reuse", title: "reuse distances" },
	{ value: "stack", title: "stack distances" },
];

/** A place as its axis names it: addresses in hexadecimal. */
function placeName(value: number | null, unit: string): string {
	if (value === null) return "first";
	return unit === "address" ? `0x${value.toString(16)}` : short(value);
}

function range({ from, to }: Bin, unit: string): string {
	if (from === null) return "none: first uses";
	if (to === null) return `from ${placeName(from, unit)} on`;
	return from === to ? placeName(from, unit) : `${placeName(from, unit)} to ${placeName(to, unit)}`;
}

/** One of the counts, over all places. */
function Bars({ answer, name, color }: { answer: HistogramAnswer; name: string; color: string }) {
	const { ref, width } = useWidth<HTMLDivElement>();
	const frame = { left: 52, top: 30, right: width - 12, bottom: 170 };
	const values = answer.bins.map((bin) => bin.values[name] ?? 0);
	const y = scaleLinear([0, Math.max(1, ...values)], [frame.bottom, frame.top]).nice(4);
	const step = (frame.right - frame.left) / answer.bins.length;
	const ticks = answer.bins.map((bin, n) => ({ at: frame.left + step * (n + 0.5), text: placeName(bin.from, answer.unit) }));
	return (
		<div ref={ref}>
			{width > 0 && (
				<svg class="chart" width={width} height={214} viewBox={`0 0 ${width} 214`} role="img"
					aria-label={`${name}: at most ${full(Math.max(...values))} in one bin`}>
					<Axes frame={frame} x={thinned(ticks, frame.right - frame.left, answer.unit === "address" ? 120 : 60)}
						y={y.ticks(4).map((value) => ({ at: y(value), text: short(value) }))} xTitle={answer.unit} yTitle={name} />
					{answer.bins.map((bin, n) => (
						<rect key={n} x={frame.left + step * n} width={Math.max(0.5, step - (step > 3 ? 1 : 0))} y={y(values[n] ?? 0)}
							height={frame.bottom - y(values[n] ?? 0)} fill={color}>
							<title>{`${answer.unit} ${range(bin, answer.unit)}: ${full(values[n] ?? 0)} ${name}`}</title>
						</rect>
					))}
				</svg>
			)}
		</div>
	);
}

function Content({ answer }: { answer: HistogramAnswer }) {
	const names = Object.keys(answer.bins[0]?.values ?? {}).filter((name) => answer.bins.some((bin) => bin.values[name]));
	if (names.length === 0) return <p>Nothing was counted here.</p>;
	const colors = Object.fromEntries(names.map((name, n) => [name, category(n)]));
	return (
		<>
			<Legend names={names} colors={colors} />
			{names.map((name) => <Bars key={name} answer={answer} name={name} color={colors[name] as string} />)}
		</>
	);
}

export function Histograms(props: PageProps) {
	const { profile, params, set } = props;
	const { level, levels } = useLevel(props);
	const of = params["of"] ?? "set";
	const asked = useAnswer<HistogramAnswer>(level && `/api/p/${profile}/histogram`, { of, level, bins: 256 });
	const names = Object.keys(asked.answer?.bins[0]?.values ?? {});
	useSheet(asked.answer && {
		headings: ["from", "to", ...names],
		rows: asked.answer.bins.map((bin) => [bin.from, bin.to, ...names.map((name) => bin.values[name] ?? 0)]),
	});
	return (
		<>
			<div class="controls">
				<Choice label="Over" value={of} options={KINDS} onChange={(value) => set({ of: value })} />
				<LevelChoice level={level} levels={levels} set={set} />
			</div>
			<Answer of={asked}>{(answer) => <Content answer={answer} />}</Answer>
		</>
	);
}
