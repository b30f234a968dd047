// SPDX-License-Identifier: MIT
// chains.tsx - the calls that led to misses: from the object and its line outwards, or from the first call inwards.
import type { ChainNode, ChainsAnswer } from "../answers";
import { isSelfContained } from "../api";
import { Answer, useAnswer } from "../common/answer";
import { Choice, LevelChoice, Mine, useLevel } from "../common/choice";
import { useSheet } from "../common/csv";
import { full, percent } from "../common/format";
import { href } from "../router";
import type { PageProps } from "../views";
import { Icicle, isNamed, legend, nodeAt, titleOf } from "./icicle";

export const keys: [string, string][] = [["arrow keys", "move between boxes"], ["Enter", "zoom in"], ["Backspace", "zoom out"]];

const ORDERS = [{ value: "object", title: "object, its line, who called" }, { value: "call", title: "first call, what it calls, line, object" }];

const numbersOf = (at: string | undefined): number[] => (at ? at.split(".").map(Number) : []);

/** The part of a tree whose chains have a box with this text; null: none has. */
function having(node: ChainNode, text: string): ChainNode | null {
	if (text === "" || isNamed(node, text)) return node;
	const children = (node.children ?? []).map((child) => having(child, text)).filter((child) => child !== null);
	const value = children.reduce((sum, child) => sum + child.value, 0);
	return children.length > 0 ? { ...node, children, value, rest: undefined } : null;
}

/** What a file, which has no server to ask, shows of the whole tree that it holds. */
function inFile(answer: ChainsAnswer, at: number[], text: string): ChainsAnswer {
	const all = having(answer.tree, text) ?? { ...answer.tree, value: 0, children: [], rest: undefined };
	const path = at.map((_, n) => nodeAt(all, at.slice(0, n)));
	const tree = nodeAt(all, at);
	return tree ? { ...answer, tree, path: path.filter((node) => node !== undefined) } : { ...answer, tree: all };
}

function rows(node: ChainNode, path: string[] = []): [string, number][] {
	const here = [...path, titleOf(node)];
	return [[here.join(" › "), node.value], ...(node.children ?? []).flatMap((child) => rows(child, here))];
}

/** Leads from a box to its line or object. */
function More({ of: { kind, name, file, line }, props: { profile, params } }: { of: ChainNode; props: PageProps }) {
	if (file) return <p><a href={href("source", { p: profile, file, line })}>{kind === "call" ? "Show the call in the source" : "Show the line in the source"}</a></p>;
	if (kind !== "object" || !name) return null;
	return <p><a href={href("tables", { p: profile, by: "object,file,line", filter: name, mine: params["mine"] })}>Show the lines of this object</a></p>;
}

function Shown({ answer, at, props }: { answer: ChainsAnswer; at: number[]; props: PageProps }) {
	const { set, params } = props;
	const all = (answer.path[0] ?? answer.tree).value;
	const to = (numbers: number[]) => set({ at: numbers.join(".") || null });
	if (answer.tree.value === 0) return <p>{params["filter"] ? "No chain has this name." : "No miss was counted here."}</p>;
	return (
		<>
			<p class="path">
				{answer.path.map((node, n) => <span key={n}><a href={href("chains", { ...params, at: at.slice(0, n).join(".") })}>{titleOf(node)}</a>{" › "}</span>)}
				<b>{titleOf(answer.tree)}</b>
				{`: ${full(answer.tree.value)} misses${answer.path.length > 0 ? `, ${percent(answer.tree.value / (all || 1))}` : ""}`}
			</p>
			<Icicle key={`${params["by"]} ${params["at"]} ${params["filter"]}`} root={answer.tree} all={all} found={params["filter"] ?? ""}
				zoom={(numbers) => to([...at, ...numbers])} out={() => to(at.slice(0, -1))} more={(node) => <More of={node} props={props} />} />
			{answer.deeper && <p class="fine">Deeper calls are shown inside a box.</p>}
			<ul class="legend">{legend.map(([name, color]) => <li key={name}><span class="swatch" style={{ backgroundColor: color }} />{name}</li>)}</ul>
		</>
	);
}

export function Chains(props: PageProps) {
	const { profile, params, set } = props;
	const { level, levels } = useLevel(props);
	const by = params["by"] === "call" ? "call" : "object";
	const at = numbersOf(params["at"]);
	const text = params["filter"] ?? "";
	const mine = isSelfContained() || params["mine"] !== "0" ? "1" : undefined; // which is what a file has
	const asked = useAnswer<ChainsAnswer>(level && `/api/p/${profile}/chains`,
		{ by, level, mine, ...(isSelfContained() ? {} : { at: params["at"], filter: text }) });
	const fromTop: PageProps["set"] = (changes) => set({ ...changes, at: null });
	const answer = asked.answer && isSelfContained() ? inFile(asked.answer, at, text) : asked.answer;
	useSheet(answer && { headings: ["chain", "misses"], rows: rows(answer.tree) });
	return (
		<>
			<div class="controls">
				<Choice label="From" value={by} options={ORDERS} onChange={(value) => fromTop({ by: value })} />
				<LevelChoice level={level} levels={levels} set={fromTop} />
				<label>
					Find
					<input type="search" value={text} placeholder="part of a name" onInput={(event) => set({ filter: event.currentTarget.value, at: null }, true)} />
				</label>
				{!isSelfContained() && <Mine checked={mine === "1"} set={fromTop} />}
			</div>
			<Answer of={{ ...asked, answer }}>{(shown) => <Shown answer={shown} at={at.slice(0, shown.path.length)} props={props} />}</Answer>
		</>
	);
}
