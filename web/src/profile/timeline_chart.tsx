// SPDX-License-Identifier: MIT
// timeline_chart.tsx - draws the timeline of a process over its instructions: areas for each level and for bytes, and a strip
// for each object or line, under one another, so that one frame marks the same interval in all of them.
import { scaleLinear, type ScaleLinear } from "d3-scale";
import type { TimelineInterval } from "../answers";
import { heat } from "../common/colors";
import { fitting, textWidth } from "../common/fit";
import { brief, full, short } from "../common/format";
import { useWidth } from "../common/size";
import { useTheme } from "../common/theme";

/** One picture: series over intervals, stacked upon each other. */
export interface Picture {
	name: string;
	series: { name: string; color: string; values: number[] }[];
	/** A number with its unit. */
	format: (value: number) => string;
}

/** A row of shades: sums of the intervals. */
export interface Strip {
	name: string;
	values: number[];
}

export interface TimelineChartProps {
	title: string;
	intervals: TimelineInterval[];
	instructions: number;
	pictures: Picture[];
	stripTitle: string;
	strips: Strip[];
	at: number;
	/** The reader looks at an interval; it remains so once it is chosen. */
	onLook: (at: number | null) => void;
	onChoose: (at: number) => void;
	onOpen: (at: number) => void;
}

const HEIGHT = 88, GAP = 30, STRIP = 20, AXIS = 44, RIGHT = 14;
/** The part of a cut name that is its end, which often tells it from others. */
const TAIL = 0.5;

type X = ScaleLinear<number, number>;

const ends = ({ begin, instructions }: TimelineInterval, x: X): [number, number] => [x(begin), x(begin + instructions)];

/** The upper edge of an area, level within each interval, as parts of a path. */
function steps(intervals: TimelineInterval[], x: X, height: (n: number) => number): string[] {
	return intervals.map((interval, n) => {
		const [from, to] = ends(interval, x);
		return `${from.toFixed(1)} ${height(n).toFixed(1)}H${to.toFixed(1)}`;
	});
}

/** The lower edge, from the right to the left. */
function stepsBack(intervals: TimelineInterval[], x: X, height: (n: number) => number): string[] {
	return intervals.map((interval, n) => {
		const [from, to] = ends(interval, x);
		return `${to.toFixed(1)} ${height(n).toFixed(1)}H${from.toFixed(1)}`;
	}).reverse();
}

function Drawn({ picture, intervals, x, top }: { picture: Picture; intervals: TimelineInterval[]; x: X; top: number }) {
	const { series } = picture;
	const below = intervals.map(() => 0);
	const most = Math.max(0, ...intervals.map((_, n) => series.reduce((sum, { values }) => sum + (values[n] ?? 0), 0)));
	const [left, right] = x.range() as [number, number];
	const y = scaleLinear([0, most || 1], [top + HEIGHT, top]);
	return (
		<g class="axes">
			<text x={left} y={top - 8}>{fitting(`${picture.name}: at most ${picture.format(most)}`, right - left)}</text>
			<line class="grid" x1={left} x2={right} y1={top} y2={top} />
			{series.map(({ name, color, values }) => {
				const floor = [...below];
				values.forEach((value, n) => { below[n] = (below[n] ?? 0) + value; });
				const edges = [...steps(intervals, x, (n) => y(below[n] ?? 0)), ...stepsBack(intervals, x, (n) => y(floor[n] ?? 0))];
				return <path key={name} d={`M${edges.join("L")}Z`} fill={color} />;
			})}
			<line class="rule" x1={left} x2={right} y1={top + HEIGHT} y2={top + HEIGHT} />
		</g>
	);
}

function Strips({ strips, intervals, x, top }: { strips: Strip[]; intervals: TimelineInterval[]; x: X; top: number }) {
	const theme = useTheme();
	const rates = strips.map(({ values }) => values.map((value, n) => value / (intervals[n]?.instructions || 1)));
	const most = Math.max(0, ...rates.flat());
	const left = x.range()[0] as number;
	return (
		<>
			{strips.map(({ name, values }, row) => {
				const y = top + STRIP * row;
				return (
					<g key={name}>
						<text x={left - 6} y={y + 14} text-anchor="end">
							{fitting(brief(name), left - 10, 12, TAIL)}<title>{`${name}: ${full(values.reduce((a, b) => a + b, 0))} misses`}</title>
						</text>
						{intervals.map((interval, n) => {
							const [from, to] = ends(interval, x);
							const rate = rates[row]?.[n] ?? 0;
							const color = heat(0.08 + 0.92 * Math.sqrt(rate / (most || 1)), theme);
							return rate > 0 && <rect key={n} x={from} y={y} width={Math.max(0.5, to - from)} height={STRIP - 3} fill={color.background} />;
						})}
					</g>
				);
			})}
		</>
	);
}

const KEYS: Record<string, (at: number, last: number) => number> = {
	ArrowLeft: (at) => at - 1, ArrowRight: (at) => at + 1, PageUp: (at) => at - 16, PageDown: (at) => at + 16,
	Home: () => 0, End: (_, last) => last,
};

export function TimelineChart(props: TimelineChartProps) {
	const { intervals, instructions, pictures, strips, at } = props;
	const { ref, width } = useWidth<HTMLDivElement>();
	const room = width < 600 ? 90 : 230;
	const left = Math.min(room, Math.max(30, ...strips.map(({ name }) => textWidth(brief(name))))) + 10;
	const x = scaleLinear([0, Math.max(1, instructions)], [left, Math.max(left + 1, width - RIGHT)]);
	const tops = pictures.map((_, n) => GAP + (HEIGHT + GAP) * n);
	const stripTop = GAP + (HEIGHT + GAP) * pictures.length;
	const bottom = stripTop + STRIP * strips.length;
	const marked = intervals[at];
	const [from, to] = marked ? ends(marked, x) : [0, 0];
	const under = (event: MouseEvent) => {
		const place = x.invert(event.clientX - (event.currentTarget as Element).getBoundingClientRect().left);
		const found = intervals.findIndex(({ begin, instructions: length }) => place < begin + length);
		return found < 0 ? intervals.length - 1 : found;
	};
	const pressed = (event: KeyboardEvent) => {
		const next = KEYS[event.key]?.(at, intervals.length - 1);
		if (next !== undefined) props.onChoose(Math.min(intervals.length - 1, Math.max(0, next)));
		else if (event.key === "Enter") props.onOpen(at);
		else return;
		event.preventDefault();
	};
	return (
		<div ref={ref} tabIndex={0} role="application" aria-roledescription="timeline" aria-label={`${props.title}. Arrow keys move from interval to interval, Enter opens the line that misses most.`} onKeyDown={pressed}>
			{width > 0 && (
				<svg class="chart timeline" width={width} height={bottom + AXIS} viewBox={`0 0 ${width} ${bottom + AXIS}`} aria-hidden="true"
					onPointerMove={(event) => props.onLook(under(event))} onPointerLeave={() => props.onLook(null)} onClick={(event) => props.onChoose(under(event))}>
					{pictures.map((picture, n) => <Drawn key={picture.name} picture={picture} intervals={intervals} x={x} top={tops[n] ?? 0} />)}
					{strips.length > 0 && <text x={left} y={stripTop - 8} class="faint">{fitting(props.stripTitle, width - RIGHT - left)}</text>}
					<Strips strips={strips} intervals={intervals} x={x} top={stripTop} />
					<rect class="cursor" x={from} y={GAP - 4} width={Math.max(1, to - from)} height={bottom - GAP + 4} fill="none" />
					<g class="axes">
						<text x={left} y={bottom + 16}>0</text>
						<text x={width - RIGHT} y={bottom + 16} text-anchor="end">{`${width < 600 ? short(instructions) : full(instructions)} instructions`}</text>
					</g>
				</svg>
			)}
		</div>
	);
}
