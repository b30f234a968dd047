// SPDX-License-Identifier: MIT
// breakpoints.ts - breakpoints of a recorded run: a kind with its figures becomes an expression, as
// src/debugger/answers/breakpoints.c says it.
import type { Breakpoint } from "../types";
import { conditionOf, type Condition } from "./condition";

type Field = [name: string, isText: boolean, isOptional: boolean, before: string];

const KINDS: Record<string, { always?: string; fields: Field[] }> = {
	reference: { fields: [["position", false, true, "position =="], ["reference", true, true, "function =="]] },
	line: { fields: [["line", false, false, "line =="], ["file", true, true, "file =="]] },
	object: { fields: [["object", true, false, "object =="]] },
	section: { fields: [["object", true, true, "object =="], ["from", false, true, "element >="], ["to", false, true, "element <="],
		["address_from", false, true, "address >="], ["address_to", false, true, "address <="]] },
	cache: { fields: [["set_from", false, false, "set >="], ["set_to", false, false, "set <="], ["way", false, true, "way =="]] },
	loops: { fields: [] },
	evicts: { always: "evicted == evicted", fields: [["evictor", true, true, "object =="], ["victim", true, true, "evicted =="]] },
	conflict: { always: "class == conflict", fields: [["object", true, true, "object =="]] },
	false_sharing: { always: "false_sharing", fields: [["object", true, true, "object =="]] },
	condition: { fields: [] },
};
const MOST = 64;
const ROOM = 256;

export type Body = Record<string, unknown>;

const isWhole = (value: unknown): value is number => Number.isInteger(value);

export function quoted(name: string): string {
	const mark = name.includes('"') ? "'" : '"';
	if (name.includes(mark) || name.length + 3 > ROOM) throw new Error("this name cannot be written in a condition");
	return mark + name + mark;
}

function fieldPart(body: Body, [name, isText, isOptional, before]: Field): string | null {
	const value = body[name];
	if (value === undefined || value === null) {
		if (isOptional) return null;
		throw new Error(`"${name}" is missing`);
	}
	if (isText ? typeof value !== "string" : !isWhole(value))
		throw new Error(`"${name}" must be ${isText ? "text" : "a number"}`);
	return `${before} ${isText ? quoted(value as string) : String(value)}`;
}

function loopParts(body: Body): string[] {
	const loops = Object.entries((body["loops"] ?? {}) as Record<string, unknown>);
	if (!loops.length) throw new Error('"loops" is missing');
	return loops.map(([name, value]) => {
		if (!isWhole(value)) throw new Error("an index must be a number");
		return `${name} == ${value}`;
	});
}

function expressionOf(kind: string, body: Body): string {
	const { always, fields } = KINDS[kind]!;
	const parts = [always ?? null, ...fields.map((field) => fieldPart(body, field)), ...(kind === "loops" ? loopParts(body) : [])];
	const { condition } = body;
	if (typeof condition === "string" && condition) parts.push(`(${condition})`);
	const expression = parts.filter((part) => part !== null).join(" && ");
	if (!expression) throw new Error("a breakpoint needs something to stop at");
	if (expression.length >= ROOM) throw new Error("the condition is too long");
	return expression;
}

export class Breakpoints {
	list: Breakpoint[] = [];
	private readonly conditions = new Map<number, Condition>();
	private lastId = 0;

	constructor(private readonly hasLoops: boolean) {}

	add(body: Body, cache: number, level: string): void {
		const kind = String(body["kind"] ?? "");
		if (!Object.hasOwn(KINDS, kind)) throw new Error("there is no such kind of breakpoint");
		const expression = expressionOf(kind, body);
		const condition = conditionOf(expression, this.hasLoops);
		if (this.list.length === MOST) throw new Error(`there are ${MOST} breakpoints already`);
		const id = ++this.lastId;
		this.conditions.set(id, condition);
		this.list.push({
			id, kind, expression, cache, level, enabled: body["enabled"] !== false,
			skip: Math.max(0, Number(body["skip"] ?? 0)), hits: 0,
		});
	}

	enable(id: number, enabled: unknown): void {
		const one = this.list.find((breakpoint) => breakpoint.id === id);
		if (!one) throw new Error("there is no such breakpoint");
		if (enabled !== undefined) one.enabled = enabled === true;
	}

	remove(id: number): void {
		if (!this.list.some((breakpoint) => breakpoint.id === id)) throw new Error("there is no such breakpoint");
		this.list = this.list.filter((breakpoint) => breakpoint.id !== id);
	}

	conditionOf(id: number): Condition {
		return this.conditions.get(id)!;
	}
}
