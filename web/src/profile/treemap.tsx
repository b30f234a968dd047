// SPDX-License-Identifier: MIT
// treemap.tsx - objects as areas, within them the functions that miss on them.  Areas are misses; a click goes inside.
import { hierarchy, treemap, type HierarchyRectangularNode } from "d3-hierarchy";
import type { Cell, TableAnswer, TreeNode } from "../answers";
import { get, getAll } from "../api";
import { Answer, useAnswer } from "../common/answer";
import { Choice, LevelChoice, plain, useLevel } from "../common/choice";
import { category, textOnHex } from "../common/colors";
import { useSheet } from "../common/csv";
import { fitting } from "../common/fit";
import { brief, full, percent } from "../common/format";
import { useWidth } from "../common/size";
import { href } from "../router";
import type { PageProps } from "../views";

type Area = HierarchyRectangularNode<TreeNode>;

const ORDERS = ["object,function", "function,object", "file,function", "object,file,line", "thread,object"];
const TITLE = 20;

const nameOf = (node: TreeNode) => (node.rest ? "the rest" : (node.name ?? "unknown"));
const titleOf = (node: TreeNode) => brief(nameOf(node));

/** The node that the address names: the numbers of the children on the way, joined by dots. */
function nodeAt(root: TreeNode, at: string): TreeNode[] {
	const path = [root];
	for (const n of at ? at.split(".").map(Number) : []) {
		const child = path[path.length - 1]?.children?.[n];
		if (!child) break;
		path.push(child);
	}
	return path;
}

function areas(root: TreeNode, width: number, height: number): Area[] {
	const sums = hierarchy(root, (node) => (node.children?.length ? node.children : null))
		.sum((node) => (node.children?.length ? 0 : node.value))
		.sort((a, b) => (b.value ?? 0) - (a.value ?? 0));
	return treemap<TreeNode>().size([width, height]).paddingInner(1).paddingTop((node) => (node.depth === 1 ? TITLE : 0))(sums)
		.descendants().filter((node) => node.depth > 0 && node.depth <= 2);
}

function Rectangle({ area, color, address, whole }: { area: Area; color: string; address: string | null; whole: number }) {
	const [width, height] = [area.x1 - area.x0, area.y1 - area.y0];
	const name = titleOf(area.data);
	const value = area.value ?? 0;
	const shape = (
		<g>
			<title>{`${area.ancestors().reverse().slice(1).map((node) => nameOf(node.data)).join(" › ")}: ${full(value)} (${percent(value / whole)})`}</title>
			<rect x={area.x0} y={area.y0} width={width} height={height} fill={area.data.rest ? "#8a8f98" : color} class="area" />
			{height > 16 && (
				<text x={area.x0 + 4} y={area.y0 + 14} fill={textOnHex(area.data.rest ? "#8a8f98" : color)}>{fitting(name, width - 8)}</text>
			)}
		</g>
	);
	return address ? <a href={address}>{shape}</a> : shape;
}

function Map({ root, at, props, metric }: { root: TreeNode; at: string; props: PageProps; metric: string }) {
	const { ref, width } = useWidth<HTMLDivElement>();
	const path = nodeAt(root, at);
	const shown = path[path.length - 1] as TreeNode;
	const height = Math.round(Math.max(360, Math.min(640, width * 0.55)));
	const within = (n: number) => href("treemap", { ...props.params, at: at ? `${at}.${n}` : String(n) });
	const colors = new globalThis.Map((shown.children ?? []).map((child, n) => [child, category(n)]));
	const address = (area: Area) =>
		area.depth === 1 && area.data.children?.length ? within(shown.children?.indexOf(area.data) ?? 0) : null;
	const top = (area: Area) => area.ancestors()[area.depth - 1] as Area;
	return (
		<>
			<p class="path">
				{path.map((node, n) => {
					const title = n === 0 ? "All" : titleOf(node);
					const to = at.split(".").slice(0, n).join(".");
					return n === path.length - 1 ? <b key={n}>{title}</b>
						: <span key={n}><a href={href("treemap", { ...props.params, at: to })}>{title}</a>{" › "}</span>;
				})}
				{`: ${full(shown.value)} ${metric.replaceAll("_", " ")}`}
			</p>
			<div ref={ref}>
				{width > 0 && (
					<svg class="chart" width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="group" aria-label="Tree map">
						{areas(shown, width, height).map((area, n) => (
							<Rectangle key={n} area={area} color={colors.get(top(area).data) ?? category(0)} address={address(area)} whole={root.value || 1} />
						))}
					</svg>
				)}
			</div>
		</>
	);
}

function rows(node: TreeNode, path: string[] = []): [string, number][] {
	if (!node.children?.length) return [[path.join(" › "), node.value]];
	return node.children.flatMap((child) => rows(child, [...path, nameOf(child)]));
}

/** All areas, also those that are too small to be drawn: the rows of the table that the tree sums. */
async function allRows(profile: string, by: string, metric: string, level: string | null | undefined, input?: string): Promise<[string, number][]> {
	const path = `/api/p/${profile}/table`;
	const query = { by, level, sort: metric, input };
	const [{ columns }, table] = await Promise.all([get<TableAnswer>(path, { ...query, limit: 1 }), getAll<Cell[]>(path, query)]);
	const value = columns.findIndex(({ key }) => key === metric);
	const keys = by.split(",");
	const named = (row: Cell[]) => keys.map((key, n) => `${n === 0 ? "" : key === "line" ? ":" : " › "}${row[n] ?? "unknown"}`).join("");
	return table.filter((row) => Number(row[value]) > 0).map((row) => [named(row), Number(row[value])]);
}

export function TreeMap(props: PageProps) {
	const { profile, params, set } = props;
	const { level, levels } = useLevel(props);
	const by = params["by"] ?? "object,function";
	const metric = params["metric"] ?? "misses";
	const input = params["input"];
	const asked = useAnswer<TreeNode>(level && `/api/p/${profile}/tree`, { by, metric, level, nodes: 400, input });
	useSheet(asked.answer && {
		headings: [by.replaceAll(",", " › "), metric],
		rows: rows(asked.answer),
		all: () => allRows(profile, by, metric, level, input),
	});
	return (
		<>
			<div class="controls">
				<Choice label="Areas" value={by} onChange={(value) => set({ by: value, at: null })}
					options={ORDERS.filter((order) => !input || !order.startsWith("thread")).map((value) => ({ value, title: value.replace("file,line", "line").replace(",", ", within it ") }))} />
				<Choice label="Size" value={metric} onChange={(value) => set({ metric: value })}
					options={plain(input ? ["misses", "loads"] : ["misses", "loads", "cold", "capacity", "conflict", "loaded_bytes"])} />
				<LevelChoice level={level} levels={levels} set={set} />
			</div>
			<Answer of={asked}>{(root) => <Map root={root} at={params["at"] ?? ""} props={props} metric={metric} />}</Answer>
		</>
	);
}
