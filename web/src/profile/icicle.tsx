// SPDX-License-Identifier: MIT
// icicle.tsx - a tree of chains as boxes, each as wide as its misses, below the box that leads to it. A click or Enter zooms;
// arrow keys move.
import { useState } from "preact/hooks";
import type { ChainNode } from "../answers";
import { category, textOnHex } from "../common/colors";
import { fitting } from "../common/fit";
import { brief, full, percent, place } from "../common/format";
import { useWidth } from "../common/size";

const ROW = 22;
const REST = "#8a8f98";
const FOUND = "#d55e00";
const COLORS: Record<ChainNode["kind"], string> = { all: "#999999", object: category(0), line: category(1), call: category(4) };
export const legend: [string, string][] = [["object", COLORS.object], ["line", COLORS.line], ["call", COLORS.call]];

/** What a box is: an object, a line, or a function with the line that calls it. */
export function titleOf({ kind, name = null, file = null, line = null }: ChainNode): string {
	if (kind === "all") return "All";
	if (kind === "line") return place(file, line);
	return [name ?? "unknown", kind === "call" && file ? `(from ${place(file, line)})` : ""].filter(Boolean).join(" ");
}

/** Whether what a box is contains a text. */
export const isNamed = ({ name, file }: ChainNode, text: string): boolean =>
	[name, file].some((part) => part?.toLowerCase().includes(text.toLowerCase()));

interface Box {
	node: ChainNode;
	/** Numbers of the children on the way to it; null: what its parent has below 1 %. */
	at: number[] | null;
	depth: number;
	/** Of the root's width. */
	from: number;
	width: number;
}

function boxes(node: ChainNode, at: number[] = [], from = 0, whole = node.value || 1): Box[] {
	const list: Box[] = [{ node, at, depth: at.length, from, width: node.value / whole }];
	let next = from;
	(node.children ?? []).forEach((child, n) => {
		list.push(...boxes(child, [...at, n], next, whole));
		next += child.value / whole;
	});
	if (node.rest) list.push({ node, at: null, depth: at.length + 1, from: next, width: node.rest / whole });
	return list;
}

export const nodeAt = (root: ChainNode, at: number[]): ChainNode | undefined =>
	at.reduce<ChainNode | undefined>((node, n) => node?.children?.[n], root);

/** Where an arrow key leads from a box; null: nowhere. */
function beside(root: ChainNode, at: number[], key: string): number[] | null {
	const up = at.slice(0, -1);
	const to = {
		ArrowDown: [...at, 0], ArrowUp: at.length > 0 ? up : null,
		ArrowLeft: at.length > 0 ? [...up, (at.at(-1) ?? 0) - 1] : null, ArrowRight: at.length > 0 ? [...up, (at.at(-1) ?? 0) + 1] : null,
	}[key];
	return to && nodeAt(root, to) ? to : null;
}

interface IcicleProps {
	root: ChainNode;
	/** All misses, of which shares are said. */
	all: number;
	/** Marks the boxes that have it. */
	found: string;
	zoom: (at: number[]) => void;
	out: () => void;
	/** Draws what else is said of the box that the keys are at. */
	more: (node: ChainNode) => preact.ComponentChildren;
}

export function Icicle({ root, all, found, zoom, out, more }: IcicleProps) {
	const { ref, width } = useWidth<HTMLDivElement>();
	const [at, setAt] = useState<number[]>([]);
	const cursor = nodeAt(root, at) ? at : [];
	const here = nodeAt(root, cursor) as ChainNode;
	const list = boxes(root);
	const height = ROW * (1 + Math.max(...list.map(({ depth }) => depth)));
	const said = (node: ChainNode, value = node.value) => `${full(value)} misses (${percent(value / (all || 1))})`;
	const pressed = (event: KeyboardEvent) => {
		const to = beside(root, cursor, event.key);
		if (to) setAt(to);
		else if (event.key === "Enter" && cursor.length > 0) zoom(cursor);
		else if (event.key === "Backspace") out();
		else if (!event.key.startsWith("Arrow")) return;
		event.preventDefault();
	};
	return (
		<>
			<div ref={ref} tabIndex={0} role="application" aria-roledescription="icicle" aria-label="Call chains. Arrow keys move, Enter zooms in, Backspace out." onKeyDown={pressed}>
				{width > 0 && (
					<svg class="chart icicle" width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
						{list.map(({ node, at: path, depth, from, width: part }, n) => {
							const color = path === null ? REST : found && isNamed(node, found) ? FOUND : COLORS[node.kind];
							const text = path === null ? "below 1 %" : brief(titleOf(node));
							const box = { x: from * width, y: depth * ROW, width: Math.max(0.5, part * width), height: ROW - 1 };
							return (
								<g key={n} onClick={() => path && (path.length > 0 ? zoom(path) : setAt([]))}>
									<title>{path === null ? `Each below 1 %: ${said(node, node.rest)}` : `${titleOf(node)}: ${said(node)}`}</title>
									<rect {...box} fill={color} class={path?.join() === cursor.join() ? "area cursor" : "area"} />
									<text x={box.x + 4} y={box.y + 15} fill={textOnHex(color)}>{fitting(text, box.width - 8)}</text>
								</g>
							);
						})}
					</svg>
				)}
			</div>
			<p role="status">{`${titleOf(here)}: ${said(here)}`}</p>
			{more(here)}
		</>
	);
}
