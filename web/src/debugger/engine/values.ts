// SPDX-License-Identifier: MIT
// values.ts - JSON for the engine: the functions of Jansson that it calls (src/debugger/page/include/jansson.h), on values of
// JavaScript.  The engine has a number for each value, 0 for none; all of them are forgotten after an answer.
import type { Memory } from "./memory";

type Parts = Record<string, unknown>;

export class Values {
	/** What the engine has answered last. */
	answer: unknown = null;
	private values: unknown[] = [];
	private texts: number[] = [];

	constructor(private readonly memory: Memory) {}

	forget(): void {
		this.values = [];
		for (const at of this.texts) this.memory.leave(at);
		this.texts = [];
	}

	private keep(value: unknown): number {
		return value === undefined ? 0 : this.values.push(value);
	}

	private at<T>(number: number): T {
		return this.values[number - 1] as T;
	}

	private lend(text: unknown): number {
		if (typeof text !== "string") return 0;
		const at = this.memory.putText(text);
		this.texts.push(at);
		return at;
	}

	/** "{s:I, s:o}" or "[s, s]" with the arguments as C passes them: each at a multiple of its size. */
	private pack(format: string, next: number): unknown {
		const { view } = this.memory;
		const word = () => (next += 4, view.getUint32(next - 4, true));
		const values = [...format.replace(/[^a-zA-Z]/g, "")].map((kind) => {
			if (kind === "s") return this.memory.text(word());
			if (kind === "o" || kind === "O") return this.at(word());
			if (kind === "b") return word() !== 0;
			if (kind !== "I" && kind !== "f") throw new Error(`json_pack: "${format}"`);
			const at = (next + 7) & ~7;
			next = at + 8;
			return kind === "f" ? view.getFloat64(at, true) : Number(view.getBigInt64(at, true));
		});
		if (format.startsWith("[")) return values;
		const object: Parts = {};
		for (let i = 0; i < values.length; i += 2) object[values[i] as string] = values[i + 1];
		return object;
	}

	readonly functions = {
		json_null: () => this.keep(null),
		json_integer: (number: bigint) => this.keep(Number(number)),
		json_string: (at: number) => this.keep(this.memory.text(at)),
		json_stringn: (at: number, bytes: number) => this.keep(this.memory.text(at, bytes)),
		json_array: () => this.keep([]),
		json_object: () => this.keep({}),
		json_pack: (format: number, next: number) => this.keep(this.pack(this.memory.text(format), next)),
		json_loads: (at: number) => this.keep(JSON.parse(this.memory.text(at))),
		json_dumpf: (value: number) => (this.answer = this.at(value), 0),

		json_is_integer: (value: number) => Number(Number.isInteger(this.at(value))),
		json_is_null: (value: number) => Number(this.at(value) === null),
		json_is_object: (value: number) => {
			const object = this.at(value);
			return Number(typeof object === "object" && object !== null && !Array.isArray(object));
		},
		json_is_true: (value: number) => Number(this.at(value) === true),
		json_is_false: (value: number) => Number(this.at(value) === false),
		json_integer_value: (value: number) => {
			const number = this.at(value);
			return Number.isInteger(number) ? BigInt(number as number) : 0n;
		},
		json_string_value: (value: number) => this.lend(this.at(value)),

		json_array_append_new: (array: number, value: number) => (this.at<unknown[]>(array).push(this.at(value)), 0),
		json_array_get: (array: number, i: number) => this.keep(this.at<unknown[] | undefined>(array)?.[i]),
		json_array_size: (array: number) => this.at<unknown[] | undefined>(array)?.length ?? 0,
		json_object_get: (object: number, name: number) => this.keep(this.at<Parts | null | undefined>(object)?.[this.memory.text(name)]),
		json_object_size: (object: number) => Object.keys(this.at<Parts | undefined>(object) ?? {}).length,
		json_object_set_new: (object: number, name: number, value: number) =>
			(this.at<Parts>(object)[this.memory.text(name)] = this.at(value), 0),
		json_object_update_new: (object: number, other: number) => (Object.assign(this.at<Parts>(object), this.at(other)), 0),
		json_object_name: (object: number, i: number) => this.lend(Object.keys(this.at<Parts | undefined>(object) ?? {})[i]),
	};
}
