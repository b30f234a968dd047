// SPDX-License-Identifier: MIT
// heatmap.tsx - a matrix of shares as squares.  The arrow keys move over it, Enter opens a square.
import { useState } from "preact/hooks";
import { heat } from "./colors";
import { fitting, textWidth } from "./fit";
import { brief } from "./format";
import { useWidth } from "./size";
import { useTheme } from "./theme";

export interface HeatMapProps {
	title: string;
	rows: string[];
	columns: string[];
	/** null: not known */
	values: (number | null)[][];
	rowTitle: string;
	columnTitle: string;
	format: (value: number) => string;
	selected?: { row: number; column: number } | null;
	onOpen?: (row: number, column: number) => void;
}

/** The part of a cut name that is its end, which often tells it from others. */
const TAIL = 0.4;
const STEPS: Record<string, [number, number]> = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

export function HeatMap(props: HeatMapProps) {
	const { rows, columns, values, selected, onOpen, format } = props;
	const { ref, width } = useWidth<HTMLDivElement>();
	const theme = useTheme();
	const [cursor, setCursor] = useState<[number, number]>([selected?.row ?? 0, selected?.column ?? 0]);
	const room = width < 600 ? 100 : 240;
	const longest = (names: string[]) => Math.min(room, Math.max(28, ...names.map((name) => textWidth(brief(name))))) + 12;
	const [left, top] = [longest(rows), longest(columns) + 24];
	const side = Math.max(14, Math.min(48, Math.floor((width - left - 4) / Math.max(1, columns.length))));
	const [w, h] = [left + side * columns.length + 4, top + side * rows.length + 4];
	const most = Math.max(0, ...values.flat().map((value) => value ?? 0));
	const hasRoom = values.flat().every((value) => !value || textWidth(format(value), 11) + 4 < side); // for all numbers, or none is shown
	const describe = (row: number, column: number) => {
		const value = values[row]?.[column] ?? null;
		return `${props.rowTitle} ${rows[row]}, ${props.columnTitle} ${columns[column]}: ${value === null ? "not known" : format(value)}`;
	};
	const pressed = (event: KeyboardEvent) => {
		const step = STEPS[event.key];
		const [row, column] = cursor;
		if (step) {
			setCursor([
				Math.min(rows.length - 1, Math.max(0, row + step[0])),
				Math.min(columns.length - 1, Math.max(0, column + step[1])),
			]);
		} else if (event.key === "Enter" || event.key === " ") onOpen?.(row, column);
		else return;
		event.preventDefault();
	};
	return (
		<div ref={ref} class="wide" tabIndex={0} role="application" aria-roledescription="heat map" aria-label={`${props.title}. Arrow keys move, Enter opens.`} onKeyDown={pressed}>
			{width > 0 && (
				<svg class="chart heatmap" width={w} height={h} viewBox={`0 0 ${w} ${h}`} aria-hidden="true">
					<text x={0} y={14} class="faint">{`${props.rowTitle} ↓  ${props.columnTitle} →`}</text>
					{columns.map((name, n) => (
						<text key={n} transform={`translate(${left + side * (n + 0.5) + 4},${top - 6}) rotate(-90)`}>{fitting(brief(name), room, 12, TAIL)}<title>{name}</title></text>
					))}
					{rows.map((name, row) => (
						<g key={row}>
							<text x={left - 6} y={top + side * (row + 0.5) + 4} text-anchor="end">{fitting(brief(name), room, 12, TAIL)}<title>{name}</title></text>
							{columns.map((_, column) => {
								const value = values[row]?.[column] ?? null;
								const color = heat(most && value ? 0.08 + 0.92 * Math.sqrt(value / most) : 0, theme);
								const text = value ? format(value) : "";
								const at = { x: left + side * column, y: top + side * row };
								return (
									<g key={column} onClick={() => { setCursor([row, column]); onOpen?.(row, column); }}>
										<title>{describe(row, column)}</title>
										<rect {...at} width={side - 1} height={side - 1} fill={value === null ? "none" : color.background} class="square" />
										{hasRoom && <text x={at.x + side / 2} y={at.y + side / 2 + 4} text-anchor="middle" fill={color.text} class="small">{text}</text>}
									</g>
								);
							})}
						</g>
					))}
					<rect class="cursor" x={left + side * cursor[1]} y={top + side * cursor[0]} width={side - 1} height={side - 1} fill="none" />
				</svg>
			)}
			<p class="fine" role="status">{describe(cursor[0], cursor[1])}</p>
		</div>
	);
}
