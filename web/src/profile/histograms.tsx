// SPDX-License-Identifier: MIT
// histograms.tsx - how counts are spread over sets, lines of memory, reuse and stack distances; a part of the places exactly.
import { scaleLinear } from "d3-scale";
import type { HistogramAnswer, SessionProfile } from "../answers";
import { isSelfContained } from "../api";
import { Answer, useAnswer } from "../common/answer";
import { Axes, thinned, type Frame } from "../common/axes";
import { Choice, LevelChoice, useLevel } from "../common/choice";
import { category } from "../common/colors";
import { useSheet } from "../common/csv";
import { fitting } from "../common/fit";
import { full, short } from "../common/format";
import { Lacking } from "../common/lacking";
import { useWidth } from "../common/size";
import { lackOf, lackText, type Lack, type Need } from "../needs";
import type { PageProps } from "../views";
import { Legend } from "./overview";

type Bin = HistogramAnswer["bins"][number];

const KINDS: { value: string; title: string; need: Need }[] = [
	{ value: "set", title: "sets of the cache", need: "sets" },
	{ value: "served", title: "lines of memory: who serves them", need: "events" },
	{ value: "memory_line", title: "lines of memory: events of a level", need: "events" },
	{ value: "reuse", title: "reuse distances", need: "distances" },
	{ value: "stack", title: "stack distances", need: "distances" },
];
export const needs = KINDS.map(({ need }) => need);
/** The axis of distances: the unit alone does not say from where to where. */
const AXES: Record<string, string> = { reuse: "references since the last use", stack: "other lines used since the last use" };
const BANDS = 30;

const valueOf = (bin: Bin, name: string) => bin.values[name] ?? 0;
const hex = (address: number) => `0x${address.toString(16)}`;

function range({ from, to }: Bin): string {
	if (from === null) return "none: first uses";
	if (to === null) return `from ${full(from)} on`;
	return from === to ? full(from) : `${full(from)} to ${full(to)}`;
}

function describe(bin: Bin, unit: string, name: string): string {
	const where = bin.address === undefined ? "" : `, from ${hex(bin.address)} on, ${bin.object ?? "unknown"}`;
	return `${unit} ${range(bin)}${where}: ${full(valueOf(bin, name))} ${name}`;
}

/** Which object neighbouring bins are of, under the axis. */
function Objects({ bins, frame, step }: { bins: Bin[]; frame: Frame; step: number }) {
	const bands: { object: string; from: number; to: number }[] = [];
	bins.forEach(({ object }, n) => {
		const last = bands[bands.length - 1];
		if (last && last.object === (object ?? "")) last.to = n + 1;
		else bands.push({ object: object ?? "", from: n, to: n + 1 });
	});
	return (
		<>
			{bands.filter(({ object }) => object).map(({ object, from, to }, n) => {
				const [x, width, y] = [frame.left + step * from, step * (to - from), frame.bottom + 46];
				const shown = fitting(object, width - 6, 11);
				return (
					<g key={n}>
						<title>{object}</title>
						<rect x={x} y={y} width={Math.max(0.5, width - 1)} height={18} class="padding" />
						{shown && <text x={x + 3} y={y + 13} class="small">{shown}</text>}
					</g>
				);
			})}
		</>
	);
}

/** Counts over all places, one upon the other. */
function Bars({ answer, names, title, colors }: { answer: HistogramAnswer; names: string[]; title: string; colors: Record<string, string> }) {
	const { ref, width } = useWidth<HTMLDivElement>();
	const { bins, unit } = answer;
	const hasObjects = bins.some(({ object }) => object);
	const frame = { left: 52, top: 30, right: width - 26, bottom: names.length > 1 ? 250 : 170 };
	const height = frame.bottom + 44 + (hasObjects ? BANDS : 0);
	const sums = bins.map((bin) => names.reduce((sum, name) => sum + valueOf(bin, name), 0));
	const y = scaleLinear([0, Math.max(1, ...sums)], [frame.bottom, frame.top]).nice(4);
	const step = (frame.right - frame.left) / bins.length;
	const ticks = bins.map(({ from }, n) => ({ at: frame.left + step * (n + 0.5), text: from === null ? "first" : short(from) }));
	return (
		<div ref={ref}>
			{width > 0 && (
				<svg class="chart" width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${title}: at most ${full(Math.max(...sums))} in one bin`}>
					<Axes frame={frame} x={thinned(ticks, frame.right - frame.left, 60)} y={y.ticks(4).map((value) => ({ at: y(value), text: short(value) }))}
						xTitle={AXES[answer.of] ?? unit} yTitle={title} />
					{bins.map((bin, n) => {
						let below = 0;
						return names.map((name) => {
							const from = y(below);
							below += valueOf(bin, name);
							return (
								<rect key={`${n} ${name}`} x={frame.left + step * n} width={Math.max(0.5, step - (step > 3 ? 1 : 0))} y={y(below)} height={from - y(below)} fill={colors[name]}>
									<title>{describe(bin, unit, name)}</title>
								</rect>
							);
						});
					})}
					{hasObjects && <Objects bins={bins} frame={frame} step={step} />}
				</svg>
			)}
		</div>
	);
}

function Content({ answer }: { answer: HistogramAnswer }) {
	const names = Object.keys(answer.bins[0]?.values ?? {}).filter((name) => answer.bins.some((bin) => bin.values[name]));
	if (names.length === 0) return <p>Nothing was counted here.</p>;
	const colors = Object.fromEntries(names.map((name, n) => [name, name === "memory" ? "#d55e00" : category(n)]));
	return (
		<>
			<Legend names={names} colors={colors} />
			{answer.of === "served" ? <Bars answer={answer} names={names} title="accesses" colors={colors} />
				: names.map((name) => <Bars key={name} answer={answer} names={[name]} title={name} colors={colors} />)}
		</>
	);
}

/** Chooses the part of the places that is shown: half or double, to the left or right, or by its ends. */
function Part({ answer, set }: { answer: HistogramAnswer; set: PageProps["set"] }) {
	const places = answer.places ?? 0;
	const [from, to] = [answer.bins[0]?.from ?? 0, answer.bins[answer.bins.length - 1]?.to ?? 0];
	const length = to - from + 1;
	const show = (first: number, count: number) => {
		const [shown, start] = [Math.max(1, Math.min(places, Math.round(count))), Math.round(first)];
		const low = Math.max(0, Math.min(places - shown, start));
		set({ from: low || null, to: low + shown < places ? low + shown - 1 : null }, true);
	};
	const typed = (event: Event) => Math.max(0, Math.floor(Number((event.currentTarget as HTMLInputElement).value) || 0));
	return (
		<div class="paging">
			<label>From <input type="number" min={0} max={places - 1} value={from} onChange={(event) => show(typed(event), length)} /></label>
			<label>to <input type="number" min={0} max={places - 1} value={to} onChange={(event) => show(from, typed(event) - from + 1)} /></label>
			<span role="status">{`of ${full(places)} ${answer.unit}s`}</span>
			<button type="button" disabled={length <= 1} onClick={() => show(from + length / 4, length / 2)}>Closer</button>
			<button type="button" disabled={length >= places} onClick={() => show(from - length / 2, length * 2)}>Wider</button>
			<button type="button" disabled={from === 0} onClick={() => show(from - length / 2, length)}>Left</button>
			<button type="button" disabled={to >= places - 1} onClick={() => show(from + length / 2, length)}>Right</button>
		</div>
	);
}

/** What else the page could show, with the commands that record it. */
function Absent({ lacks }: { lacks: (Lack | null)[] }) {
	const texts = [...new Set(lacks.flatMap((lack) => (lack ? [lackText(lack)] : [])))];
	return texts.length > 0 ? <ul class="fine">{texts.map((text) => <li key={text}>{text}</li>)}</ul> : null;
}

export function Histograms(props: PageProps) {
	const { session, profile, params, set } = props;
	const { level, levels } = useLevel(props);
	const lacks = KINDS.map(({ need }) => lackOf(session.profiles[Number(profile)] as SessionProfile, need));
	const of = params["of"] ?? KINDS.find((_, n) => !lacks[n])?.value ?? "";
	const lack = lacks[KINDS.findIndex(({ value }) => value === of)] ?? null;
	const asked = useAnswer<HistogramAnswer>(lack ? null : level && `/api/p/${profile}/histogram`, { of, level, bins: 256, from: params["from"], to: params["to"] });
	const { answer } = asked;
	const names = Object.keys(answer?.bins[0]?.values ?? {});
	useSheet(answer && {
		headings: ["from", "to", "address", "object", ...names],
		rows: answer.bins.map((bin) => [bin.from, bin.to, bin.address === undefined ? null : hex(bin.address), bin.object ?? null, ...names.map((name) => valueOf(bin, name))]),
	});
	return (
		<>
			<div class="controls">
				<Choice label="Over" value={of} options={KINDS.map((kind, n) => ({ ...kind, disabled: lacks[n] !== null }))} onChange={(value) => set({ of: value, from: null, to: null })} />
				{(of === "set" || of === "memory_line") && (
					<LevelChoice level={level} levels={levels} set={(changes) => set({ ...changes, from: null, to: null })} />
				)}
			</div>
			{lack ? <Lacking of={lack} /> : <Answer of={asked}>{(shown) => <Content answer={shown} />}</Answer>}
			{answer?.places && !isSelfContained() ? <Part answer={answer} set={set} /> : null}
			<Absent lacks={lacks} />
		</>
	);
}
