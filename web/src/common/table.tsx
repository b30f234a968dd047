// SPDX-License-Identifier: MIT
// table.tsx - the one table of all pages: sortable headings, numbers with bars of their share, rows that lead on.
import type { ComponentChildren } from "preact";
import type { Cell, Column } from "../answers";
import { brief, bytes, digits, full, percent, short } from "./format";

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
	/** Draws cells that are more than `text`; undefined leaves a cell to the table. */
	cell?: (row: Cell[], column: Column, at: number, text: string) => ComponentChildren | undefined;
}

/** Whether a number measures something; that of a line or a thread is its name, and has no unit. */
const isMeasured = ({ unit }: Column) => unit !== null;

/** How all numbers of a column are written, so that they compare at a glance. */
type Form = (value: number) => string;

/** Counts from which on a column is written as 1.23M. */
const LARGE = 100000;

function formOf(column: Column, values: Cell[]): Form {
	if (!isMeasured(column)) return String;
	if (column.unit === "percent") return (value) => percent(value / 100);
	if (column.unit === "bytes") return bytes;
	const numbers = values.filter((value) => typeof value === "number");
	if (numbers.some((value) => Math.abs(value) >= LARGE)) return short;
	return numbers.every(Number.isInteger) ? full : digits;
}

const cellText = (value: Cell, form: Form): string => (value === null ? "–" : typeof value === "string" ? value : form(value));

/** The columns that stay in sight where a table is wider than the screen: what a row is, and what rows are sorted by. */
function classOf(columns: Column[], n: number, sorting: Sorting | undefined): string {
	const { key, kind } = columns[n] as Column;
	const numbers = columns.filter((column) => column.kind === "number" && isMeasured(column));
	const main = [sorting?.key, "misses"].map((name) => numbers.find((column) => column.key === name)).find(Boolean) ?? numbers[0];
	return n === 0 ? `${kind} first` : key === main?.key ? `${kind} main` : kind;
}

function Heading({ column, name, sorting, onSort }: { column: Column; name: string } & Pick<TableProps, "sorting" | "onSort">) {
	const sorted = sorting?.key === column.key;
	const direction = sorted ? (sorting?.descending ? "descending" : "ascending") : undefined;
	const descending = sorted ? !sorting?.descending : column.kind === "number";
	return (
		<th scope="col" class={name} aria-sort={direction} title={column.help ?? undefined}>
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
	const forms = columns.map((column, n) => formOf(column, [...rows, ...[rest, sums].filter((row) => row !== undefined)].map((row) => row[n] ?? null)));
	const names = columns.map((_, n) => classOf(columns, n, props.sorting));
	const draw = (row: Cell[], n: number, at = 0): ComponentChildren => {
		const column = columns[n] as Column;
		const whole = cellText(row[n] ?? null, forms[n] as Form);
		const drawn = props.cell?.(row, column, at, whole);
		if (drawn !== undefined) return drawn;
		const text = column.kind === "text" ? brief(whole) : whole;
		const title = text === whole ? undefined : whole;
		const address = n === 0 ? rowHref?.(row, at) : null;
		return address ? <a href={address} title={title}>{text}</a> : title ? <span title={title}>{text}</span> : text;
	};
	const numberCell = (row: Cell[], n: number, at: number) => {
		const share = most[n] ? Math.abs(Number(row[n] ?? 0)) / (most[n] as number) : 0;
		return (
			<td class={names[n]} key={columns[n]?.key} title={typeof row[n] === "number" ? full(row[n] as number) : undefined}>
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
					<tr>{columns.map((column, n) => <Heading key={column.key} column={column} name={names[n] as string} sorting={props.sorting} onSort={props.onSort} />)}</tr>
				</thead>
				<tbody>
					{rows.map((row, at) => (
						<tr key={at}>
							{columns.map((column, n) =>
								column.kind === "number" ? numberCell(row, n, at) : <td key={column.key} class={names[n]}>{draw(row, n, at)}</td>,
							)}
						</tr>
					))}
				</tbody>
				{(sums || rest) && (
					<tfoot>
						{rest && <Footer {...{ columns, forms, names }} row={rest} title={props.restTitle ?? "the rest"} />}
						{sums && <Footer {...{ columns, forms, names }} row={sums} title="all" />}
					</tfoot>
				)}
			</table>
			{rows.length < props.rows.length && <p class="fine">{`${full(props.rows.length - rows.length)} more rows${props.more ?? ": save them as CSV"}.`}</p>}
		</div>
	);
}

function Footer({ columns, forms, names, row, title }: { columns: Column[]; forms: Form[]; names: string[]; row: Cell[]; title: string }) {
	return (
		<tr>
			{columns.map((column, n) =>
				n > 0 && isMeasured(column) ? (
					<td key={n} class={names[n]}><span class="value">{cellText(row[n] ?? null, forms[n] as Form)}</span></td>
				) : (
					<td key={n} class={names[n]}>{n === 0 ? title : ""}</td>
				),
			)}
		</tr>
	);
}
