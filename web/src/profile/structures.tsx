// SPDX-License-Identifier: MIT
// structures.tsx - a structure with its fields to scale on cache lines, how hot each is, and which are used together.
import type { Cell, Column, Field, Structure } from "../answers";
import { getEach } from "../api";
import { Answer, useAnswer } from "../common/answer";
import { Choice, LevelChoice, useLevel } from "../common/choice";
import { heat } from "../common/colors";
import { useSheet } from "../common/csv";
import { fitting } from "../common/fit";
import { brief, bytes, full, percent, short } from "../common/format";
import { HeatMap } from "../common/heatmap";
import { useWidth } from "../common/size";
import { Table } from "../common/table";
import { useTheme } from "../common/theme";
import type { PageProps } from "../views";

const LINE = 64;
const ROW = 46;
/** Lines that are drawn at most; the table has all fields. */
const LINES = 64;

interface Piece {
	field: Field;
	row: number;
	from: number;
	to: number;
}

/** A field cut at the ends of lines. */
function pieces(field: Field): Piece[] {
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

function Layout({ structure }: { structure: Structure }) {
	const { ref, width } = useWidth<HTMLDivElement>();
	const theme = useTheme();
	const lines = Math.max(1, Math.ceil(structure.size / LINE));
	const rows = Math.min(lines, LINES);
	const [left, top] = [44, 24];
	const scale = (width - left - 4) / LINE;
	const most = Math.max(1, ...structure.fields.map(({ misses }) => misses));
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

const fieldColumns: Column[] = [
	{ key: "name", heading: "Field", kind: "text" },
	{ key: "offset", heading: "Offset", unit: null, kind: "number" },
	{ key: "size", heading: "Bytes", unit: null, kind: "number" },
	{ key: "reads", heading: "Reads", unit: "count", kind: "number" },
	{ key: "writes", heading: "Writes", unit: "count", kind: "number" },
	{ key: "misses", heading: "Misses", unit: "count", kind: "number" },
];

const rowsOf = (structure: Structure) =>
	structure.fields.map((field) => [field.name, field.offset, field.size, field.reads, field.writes, field.misses]);

function One({ structure }: { structure: Structure }) {
	const names = structure.fields.map(({ name }) => name);
	return (
		<>
			<p>
				{`${bytes(structure.size)}, ${full(structure.misses)} misses. Each row is a cache line of ${LINE} bytes, if the structure starts on one; `}
				{`the ${useTheme() === "dark" ? "brighter" : "darker"}, the more misses.`}
			</p>
			<Layout structure={structure} />
			<h2>Fields</h2>
			<Table caption="Fields" columns={fieldColumns} rows={rowsOf(structure)} />
			{names.length > 1 && (
				<>
					<h2>Used together</h2>
					<p class="fine">How often a visit to one of two fields uses the other as well: what is used together belongs on one line.</p>
					<HeatMap title="Fields used together" rows={names} columns={names} values={structure.affinity} rowTitle="field" columnTitle="with" format={percent} />
				</>
			)}
			<p class="fine">{`Objects: ${structure.objects.join(", ")}`}</p>
		</>
	);
}

const sheetOf = (structures: Structure[]): Cell[][] =>
	structures.flatMap((structure) => rowsOf(structure).map((row) => [structure.type, ...row]));

export function Structures(props: PageProps) {
	const { profile, params, set } = props;
	const { level, levels } = useLevel(props);
	const asked = useAnswer<Structure[]>(level && `/api/p/${profile}/structures`, { level });
	const shown = asked.answer?.find(({ type }) => type === params["type"]) ?? asked.answer?.[0];
	useSheet(asked.answer && {
		headings: ["structure", ...fieldColumns.map(({ key }) => key)],
		rows: sheetOf(asked.answer),
		all: async () => sheetOf(await getEach(`/api/p/${profile}/structures`, { level }, (part: Structure[]) => part)),
	});
	return (
		<Answer of={asked}>
			{(structures) => (
				<>
					<div class="controls">
						<Choice label="Structure (misses)" value={shown?.type ?? ""} onChange={(value) => set({ type: value })}
							options={structures.map(({ type, misses }) => ({ value: type, title: `${brief(type)} (${short(misses)})` }))} />
						<LevelChoice level={level} levels={levels} set={set} />
					</div>
					{shown ? <One structure={shown} /> : <p>No structure with debug information was accessed: compile with -g.</p>}
				</>
			)}
		</Answer>
	);
}
