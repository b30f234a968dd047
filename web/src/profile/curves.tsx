// SPDX-License-Identifier: MIT
// curves.tsx - miss ratio by the size of the cache, with the sizes of the simulated ones.
import { scaleLinear, scaleLog, type ScaleContinuousNumeric } from "d3-scale";
import { area, curveStepAfter, line } from "d3-shape";
import type { Cell, Curve, CurvesAnswer } from "../answers";
import { getEach } from "../api";
import { Answer, useAnswer } from "../common/answer";
import { Axes, thinned } from "../common/axes";
import { Choice, plain } from "../common/choice";
import { category } from "../common/colors";
import { useSheet } from "../common/csv";
import { brief, bytes, percent } from "../common/format";
import { useWidth } from "../common/size";
import { Table } from "../common/table";
import type { PageProps } from "../views";

const DASHES = ["", "6 3", "2 2", "8 3 2 3"];
const nameOf = (curve: Curve) => curve.name ?? "all";

/** Powers of two from low to high. */
function powers(low: number, high: number): number[] {
	const list = [];
	for (let size = 2 ** Math.ceil(Math.log2(low)); size <= high; size *= 2) list.push(size);
	return list;
}

function Plot({ answer }: { answer: CurvesAnswer }) {
	const { ref, width } = useWidth<HTMLDivElement>();
	const points = answer.series.flatMap((curve) => curve.points).filter(({ size }) => size > 0);
	const sizes = [...points.map(({ size }) => size), ...answer.machine_sizes.map(({ size }) => size)];
	const frame = { left: 52, top: 44, right: width - 26, bottom: 330 };
	const x = scaleLog([Math.min(...sizes), Math.max(...sizes)], [frame.left, frame.right]).base(2);
	const y = scaleLinear([0, Math.max(0.01, ...points.map((point) => point.high ?? point.ratio))], [frame.bottom, frame.top]).nice(5);
	const ticks = powers(...(x.domain() as [number, number])).map((size) => ({ at: x(size), text: bytes(size) }));
	return (
		<div ref={ref}>
			{width > 0 && (
				<svg class="chart" width={width} height={380} viewBox={`0 0 ${width} 380`} role="img" aria-label="Miss ratio by size of the cache">
					<Axes frame={frame} x={thinned(ticks, frame.right - frame.left, 72)} y={y.ticks(5).map((value) => ({ at: y(value), text: percent(value) }))}
						xTitle="size of the cache" yTitle="miss ratio" />
					{answer.machine_sizes.map(({ level, size }, n) => (
						<g key={level}>
							<line class="marker" x1={x(size)} x2={x(size)} y1={frame.top} y2={frame.bottom} />
							<text class="faint" x={x(size) + (x(size) > frame.right - 60 ? -3 : 3)} y={frame.top + 12 + 14 * (n % 3)}
								text-anchor={x(size) > frame.right - 60 ? "end" : "start"}>{level}</text>
						</g>
					))}
					{answer.series.map((curve, n) => <Line key={n} curve={curve} n={n} x={x} y={y} />)}
				</svg>
			)}
		</div>
	);
}

type Scale = ScaleContinuousNumeric<number, number>;

/** The points of a curve from one size to the other. It is constant between them, also beyond the first and the last. */
function across({ points }: Curve, from = 0, to = 0): Curve["points"] {
	const before = points.filter(({ size }) => size <= from).pop();
	const within = points.filter(({ size }) => size > from);
	const last = within[within.length - 1] ?? before;
	return [...(before ? [{ ...before, size: from }] : []), ...within, ...(last ? [{ ...last, size: to }] : [])];
}

function Line({ curve, n, x, y }: { curve: Curve; n: number; x: Scale; y: Scale }) {
	const points = across(curve, ...x.domain());
	const banded = points.filter(({ low, high }) => low != null && high != null);
	type Point = (typeof points)[number];
	const path = line<Point>((point) => x(point.size), (point) => y(point.ratio)).curve(curveStepAfter)(points);
	const band = area<Point>((point) => x(point.size), (point) => y(point.low ?? 0), (point) => y(point.high ?? 0)).curve(curveStepAfter)(banded);
	return (
		<g>
			{banded.length > 0 && <path d={band ?? ""} fill={category(n)} fill-opacity={0.2} />}
			<path d={path ?? ""} fill="none" stroke={category(n)} stroke-width={2} stroke-dasharray={DASHES[Math.floor(n / 2) % DASHES.length]}>
				<title>{nameOf(curve)}</title>
			</path>
		</g>
	);
}

function Key({ series }: { series: Curve[] }) {
	return (
		<ul class="legend">
			{series.map((curve, n) => (
				<li key={n}>
					<svg width="28" height="10" aria-hidden="true">
						<line x1="0" x2="28" y1="5" y2="5" stroke={category(n)} stroke-width="3" stroke-dasharray={DASHES[Math.floor(n / 2) % DASHES.length]} />
					</svg>
					{" "}<span title={nameOf(curve)}>{brief(nameOf(curve))}</span>
				</li>
			))}
		</ul>
	);
}

/** The ratios at the sizes of the simulated caches. */
function AtMachine({ answer }: { answer: CurvesAnswer }) {
	const columns = [
		{ key: "name", heading: "Of", kind: "text" as const },
		...answer.machine_sizes.map(({ level, size }) => ({ key: level, heading: `${level}, ${bytes(size)}`, unit: "percent", kind: "number" as const })),
	];
	const rows = answer.series.map((curve) => [
		nameOf(curve),
		...answer.machine_sizes.map(({ size }) => {
			const point = curve.points.filter((each) => each.size <= size).pop();
			return point ? point.ratio * 100 : null;
		}),
	]);
	return <Table caption="Miss ratios at the sizes of the simulated caches" columns={columns} rows={rows} />;
}

const sheetOf = (series: Curve[]): Cell[][] => series.flatMap((curve) =>
	curve.points.map(({ size, ratio, low, high }) => [curve.name, size, ratio, low ?? null, high ?? null]));

export function Curves({ profile, params, set }: PageProps) {
	const by = params["by"] ?? "total";
	const asked = useAnswer<CurvesAnswer>(`/api/p/${profile}/curves`, { by });
	useSheet(asked.answer && {
		headings: ["name", "size", "ratio", "low", "high"],
		rows: sheetOf(asked.answer.series),
		all: async () => sheetOf(await getEach(`/api/p/${profile}/curves`, { by }, ({ series }: CurvesAnswer) => series)),
	});
	return (
		<>
			<div class="controls">
				<Choice label="A curve for each" value={by} options={plain(["total", "object", "function", "line"])} onChange={(value) => set({ by: value })} />
			</div>
			<Answer of={asked}>
				{(answer) => answer.series.length === 0
					? <p>None has enough samples for a curve.</p>
					: (
						<>
							<Plot answer={answer} />
							<Key series={answer.series} />
							<h2>At the sizes of the simulated caches</h2>
							<AtMachine answer={answer} />
						</>
					)}
			</Answer>
		</>
	);
}
