// SPDX-License-Identifier: MIT
// axes.tsx - the frame of a chart: ticks, their lines, titles of both axes.
export interface Tick {
	at: number;
	text: string;
}

export interface Frame {
	left: number;
	top: number;
	right: number;
	bottom: number;
}

export interface AxesProps {
	frame: Frame;
	x: Tick[];
	y: Tick[];
	xTitle: string;
	yTitle: string;
}

export function Axes({ frame, x, y, xTitle, yTitle }: AxesProps) {
	const { left, top, right, bottom } = frame;
	return (
		<g class="axes">
			{y.map(({ at, text }) => (
				<g key={at}>
					<line class="grid" x1={left} x2={right} y1={at} y2={at} />
					<text x={left - 6} y={at + 4} text-anchor="end">{text}</text>
				</g>
			))}
			{x.map(({ at, text }) => (
				<g key={at}>
					<line class="rule" x1={at} x2={at} y1={bottom} y2={bottom + 4} />
					<text x={at} y={bottom + 18} text-anchor="middle">{text}</text>
				</g>
			))}
			<line class="rule" x1={left} x2={right} y1={bottom} y2={bottom} />
			<text x={(left + right) / 2} y={bottom + 38} text-anchor="middle">{xTitle}</text>
			<text x={left} y={top - 10}>{yTitle}</text>
		</g>
	);
}

/** As many of the ticks as fit without touching each other. */
export function thinned(ticks: Tick[], room: number, each: number): Tick[] {
	const step = Math.max(1, Math.ceil((ticks.length * each) / Math.max(1, room)));
	return ticks.filter((_, n) => n % step === 0);
}
