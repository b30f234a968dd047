// SPDX-License-Identifier: MIT
// condition.ts - the expressions of breakpoints, as src/debugger/simulation/condition.c has them: operators of C over one
// reference and what it did.  What has no value is null: it equals nothing, and is neither less nor more than anything.

export const CLASS_NAMES = [null, "cold", "capacity", "conflict", "coherence"] as const;

export type Value = number | string | null;

const VALUES = ["position", "address", "size", "write", "thread", "object", "function", "file", "line", "element", "set", "way",
	"hit", "miss", "class", "evicted", "false_sharing"] as const;
export type Named = (typeof VALUES)[number];

/** What an expression is about. */
export interface Frame { value(name: Named): Value; loop(name: string): Value }

export type Condition = (frame: Frame) => boolean;
type Term = (frame: Frame) => Value;

const holds = (value: Value): boolean => value !== null && value !== 0;
const known = (a: Value, b: Value): boolean => a !== null && b !== null;
const flag = (is: boolean): number => (is ? 1 : 0);

function number(a: Value, b: Value, result: (a: number, b: number) => number | null): Value {
	return typeof a === "number" && typeof b === "number" ? result(a, b) : null;
}

// From those that bind least; longer ones first.
const OPERATORS: [level: number, text: string, does: (a: Value, b: Value) => Value][] = [
	[0, "||", (a, b) => flag(holds(a) || holds(b))],
	[1, "&&", (a, b) => flag(holds(a) && holds(b))],
	[2, "==", (a, b) => flag(known(a, b) && a === b)],
	[2, "!=", (a, b) => flag(!known(a, b) || a !== b)],
	[3, "<=", (a, b) => flag(known(a, b) && a! <= b!)],
	[3, ">=", (a, b) => flag(known(a, b) && a! >= b!)],
	[3, "<", (a, b) => flag(known(a, b) && a! < b!)],
	[3, ">", (a, b) => flag(known(a, b) && a! > b!)],
	[4, "+", (a, b) => number(a, b, (x, y) => x + y)],
	[4, "-", (a, b) => number(a, b, (x, y) => x - y)],
	[5, "*", (a, b) => number(a, b, (x, y) => x * y)],
	[5, "/", (a, b) => number(a, b, (x, y) => (y ? Math.trunc(x / y) : null))],
	[5, "%", (a, b) => number(a, b, (x, y) => (y ? x % y : null))],
];
const LEVELS = 6;
const DEPTH = 32;

class Parser {
	private at = 0;
	private depth = 0;

	constructor(private readonly text: string, private readonly hasLoops: boolean) {}

	parse(): Term {
		const term = this.level(0);
		if (this.at < this.text.length) throw new Error("an operator is missing here");
		return term;
	}

	private level(level: number): Term {
		if (level === LEVELS) return this.operand();
		let term = this.level(level + 1);
		for (;;) {
			this.skipBlanks();
			const operator = OPERATORS.find(([of, text]) => of === level && this.text.startsWith(text, this.at));
			if (!operator) return term;
			const [, text, does] = operator;
			this.at += text.length;
			const left = term;
			const right = this.level(level + 1);
			term = (frame) => does(left(frame), right(frame));
		}
	}

	private operand(): Term {
		this.skipBlanks();
		if (++this.depth > DEPTH) throw new Error("the condition is nested too deeply");
		const term = this.atom();
		this.depth--;
		return term;
	}

	private atom(): Term {
		const mark = this.text[this.at] ?? "";
		if (mark === "!" || mark === "-") {
			this.at++;
			const of = this.operand();
			return mark === "!" ? (frame) => flag(!holds(of(frame))) : (frame) => number(of(frame), 0, (a) => -a);
		}
		if (mark === "(") {
			this.at++;
			const inner = this.level(0);
			if (this.text[this.at] !== ")") throw new Error("a parenthesis is not closed");
			this.at++;
			return inner;
		}
		if (mark === '"' || mark === "'") return this.name(mark);
		if (/[0-9]/.test(mark)) return this.number();
		if (/[A-Za-z_]/.test(mark)) return this.word();
		throw new Error("a name or a number is missing here");
	}

	private name(mark: string): Term {
		const end = this.text.indexOf(mark, this.at + 1);
		if (end < 0) throw new Error("the name does not end");
		const name = this.text.slice(this.at + 1, end);
		this.at = end + 1;
		return () => name;
	}

	private number(): Term {
		const [text] = /^(0[xX][0-9a-fA-F]+|[0-9]+)/.exec(this.text.slice(this.at))!;
		this.at += text.length;
		if (/[0-9A-Za-z]/.test(this.text[this.at] ?? "")) throw new Error("this is not a number");
		const value = /^0[0-7]+$/.test(text) ? parseInt(text, 8) : Number(text);
		return () => value;
	}

	private word(): Term {
		const [word] = /^[A-Za-z0-9_]+/.exec(this.text.slice(this.at))!;
		this.at += word.length;
		if (VALUES.includes(word as Named)) return (frame) => frame.value(word as Named);
		const of = (CLASS_NAMES as readonly (string | null)[]).indexOf(word);
		if (of > 0) return () => of;
		if (!this.hasLoops) throw new Error("this name means nothing here");
		return (frame) => frame.loop(word);
	}

	private skipBlanks(): void {
		while (/\s/.test(this.text[this.at] ?? "")) this.at++;
	}
}

/** Throws what is wrong with the text. */
export function conditionOf(text: string, hasLoops: boolean): Condition {
	const term = new Parser(text, hasLoops).parse();
	return (frame) => holds(term(frame));
}
