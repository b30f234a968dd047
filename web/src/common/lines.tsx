// SPDX-License-Identifier: MIT
// lines.tsx - fields to scale on cache lines, coloured by their misses; what holds none is dashed.
import { heat } from "./colors";
import { fitting } from "./fit";
import { full, short } from "./format";
import { useWidth } from "./size";
import { useTheme } from "./theme";

export const LINE = 64;
const ROW = 46;
/** Lines that are drawn at most; the table has all fields. */
const LINES = 64;

interface Extent {
	name: string;
	offset: number;
	size: number;
	misses: number;
}

interface Piece {
	field: Extent;
	row: number;
	from: number;
	to: number;
}

/** A field cut at the ends of lines. */
function pieces(field: Extent): Piece[] {
	const list: Piece[] = [];
	const end = field.offset + Math.max(1, field.size);
	for (let at = field.offset; at < end; ) {
		const row = Math.floor(at / LINE);
		const to = Math.min(end, (row + 1) * LINE);
		list.push({ field, row, from: at - row * LINE, to: to - row * LINE });
		at = to;
	}
	return list;
}

export interface LinesProps {
	of: { type: string; size: number; fields: Extent[] };
	/** Misses of the darkest field; else those of the hottest one that is shown. */
	most?: number;
}

/** A structure, or a part of one, as it lies on lines. */
export function Lines({ of: structure, most: given }: LinesProps) {
	const { ref, width } = useWidth<HTMLDivElement>();
	const theme = useTheme();
	const lines = Math.max(1, Math.ceil(structure.size / LINE));
	const rows = Math.min(lines, LINES);
	const [left, top] = [44, 24];
	const scale = (width - left - 4) / LINE;
	const most = given ?? Math.max(1, ...structure.fields.map(({ misses }) => misses));
	const height = top + rows * ROW + 6;
	const used = (row: number) => Math.min(LINE, structure.size - row * LINE);
	return (
		<div ref={ref}>
			{width > 0 && (
				<svg class="chart" width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${structure.type}: ${structure.fields.length} fields on ${lines} lines`}>
					{[0, 8, 16, 24, 32, 40, 48, 56].map((byte) => <text key={byte} x={left + byte * scale} y={16} class="faint">{byte}</text>)}
					{Array.from({ length: rows }, (_, row) => (
						<g key={row}>
							<text x={left - 6} y={top + row * ROW + 25} text-anchor="end" class="faint">{row * LINE}</text>
							<rect x={left} y={top + row * ROW} width={used(row) * scale} height={ROW - 8} class="padding" />
						</g>
					))}
					{structure.fields.flatMap(pieces).filter(({ row }) => row < rows).map((piece, n) => {
						const color = heat(piece.field.misses > 0 ? 0.08 + 0.92 * (piece.field.misses / most) : 0, theme);
						const [x, w] = [left + piece.from * scale, (piece.to - piece.from) * scale];
						const { name, misses } = piece.field;
						const [title, count] = [fitting(name, w - 8), short(misses)];
						return (
							<g key={n}>
								<title>{`${name}: offset ${piece.field.offset}, ${piece.field.size} bytes, ${full(misses)} misses`}</title>
								<rect x={x} y={top + piece.row * ROW} width={Math.max(1, w - 1)} height={ROW - 8} fill={color.background} class="square" />
								{title && <text x={x + 4} y={top + piece.row * ROW + 16} fill={color.text}>{title}</text>}
								{misses > 0 && fitting(count, w - 8, 11) === count && <text x={x + 4} y={top + piece.row * ROW + 31} fill={color.text} class="small">{count}</text>}
							</g>
						);
					})}
				</svg>
			)}
			{lines > rows && <p class="fine">{`${full(lines - rows)} more lines are not drawn.`}</p>}
		</div>
	);
}
