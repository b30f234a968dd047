// SPDX-License-Identifier: MIT
// table.tsx - the one table of all pages: sortable headings, numbers with bars of their share, rows that lead on.
import type { ComponentChildren } from "preact";
import type { Cell, Column } from "../answers";
import { brief, bytes, full, percent, short } from "./format";

export interface Sorting {
	key: string;
	descending: boolean;
}

export interface TableProps {
	caption: string;
	columns: Column[];
	rows: Cell[][];
	sums?: Cell[];
	rest?: Cell[];
	restTitle?: string;
	/** Rows that are drawn at most; a line says how many more there are, and where. */
	most?: number;
	more?: string;
	sorting?: Sorting;
	onSort?: (sorting: Sorting) => void;
	/** The address that a row leads to, from its first cell. */
	rowHref?: (row: Cell[], at: number) => string | null;
	/** Draws cells that are more than text or a number; undefined leaves a cell to the table. */
	cell?: (row: Cell[], column: Column, at: number) => ComponentChildren | undefined;
}

/** Whether a number measures something; that of a line or a thread is its name, and has no unit. */
const isMeasured = ({ unit }: Column) => unit !== null;

/** A cell as text, by the unit of its column. */
export function cellText(value: Cell, column: Column): string {
	if (value === null) return "–";
	if (typeof value === "string") return value;
	if (!isMeasured(column)) return String(value);
	if (column.unit === "percent") return percent(value / 100);
	if (column.unit === "bytes") return bytes(value);
	return Number.isInteger(value) && Math.abs(value) < 100000 ? full(value) : short(value);
}

function Heading({ column, sorting, onSort }: { column: Column } & Pick<TableProps, "sorting" | "onSort">) {
	const sorted = sorting?.key === column.key;
	const direction = sorted ? (sorting?.descending ? "descending" : "ascending") : undefined;
	const descending = sorted ? !sorting?.descending : column.kind === "number";
	return (
		<th scope="col" class={column.kind} aria-sort={direction} title={column.help ?? undefined}>
			{onSort ? (
				<button type="button" onClick={() => onSort({ key: column.key, descending })}>
					{column.heading}
					<span aria-hidden="true">{sorted ? (sorting?.descending ? " ▾" : " ▴") : ""}</span>
				</button>
			) : (
				column.heading
			)}
		</th>
	);
}

export function Table(props: TableProps) {
	const { columns, sums, rest, rowHref } = props;
	const rows = props.rows.slice(0, props.most);
	const most = columns.map((column, n) =>
		column.kind === "number" && isMeasured(column) ? Math.max(0, ...rows.map((row) => Math.abs(Number(row[n] ?? 0)))) : 0,
	);
	const draw = (row: Cell[], n: number, at = 0): ComponentChildren => {
		const column = columns[n] as Column;
		const drawn = props.cell?.(row, column, at);
		if (drawn !== undefined) return drawn;
		const whole = cellText(row[n] ?? null, column);
		const text = column.kind === "text" ? brief(whole) : whole;
		const title = text === whole ? undefined : whole;
		const address = n === 0 ? rowHref?.(row, at) : null;
		return address ? <a href={address} title={title}>{text}</a> : title ? <span title={title}>{text}</span> : text;
	};
	const numberCell = (row: Cell[], n: number, at: number) => {
		const share = most[n] ? Math.abs(Number(row[n] ?? 0)) / (most[n] as number) : 0;
		return (
			<td class="number" key={columns[n]?.key} title={typeof row[n] === "number" ? full(row[n] as number) : undefined}>
				<span class="bar" style={{ width: `calc(${share} * (100% - 8px))` }} />
				<span class="value">{draw(row, n, at)}</span>
			</td>
		);
	};
	return (
		<div class="scroll" tabIndex={0} role="region" aria-label={props.caption}>
			<table>
				<caption class="hidden">{props.caption}</caption>
				<thead>
					<tr>{columns.map((column) => <Heading key={column.key} column={column} sorting={props.sorting} onSort={props.onSort} />)}</tr>
				</thead>
				<tbody>
					{rows.map((row, at) => (
						<tr key={at}>
							{columns.map((column, n) =>
								column.kind === "number" ? numberCell(row, n, at) : <td key={column.key} class="text">{draw(row, n, at)}</td>,
							)}
						</tr>
					))}
				</tbody>
				{(sums || rest) && (
					<tfoot>
						{rest && <Footer columns={columns} row={rest} title={props.restTitle ?? "the rest"} />}
						{sums && <Footer columns={columns} row={sums} title="all" />}
					</tfoot>
				)}
			</table>
			{rows.length < props.rows.length && <p class="fine">{`${full(props.rows.length - rows.length)} more rows${props.more ?? ": save them as CSV"}.`}</p>}
		</div>
	);
}

function Footer({ columns, row, title }: { columns: Column[]; row: Cell[]; title: string }) {
	return (
		<tr>
			{columns.map((column, n) =>
				n > 0 && isMeasured(column) ? (
					<td key={n} class="number"><span class="value">{cellText(row[n] ?? null, column)}</span></td>
				) : (
					<td key={n} class={column.kind}>{n === 0 ? title : ""}</td>
				),
			)}
		</tr>
	);
}
