// SPDX-License-Identifier: MIT
// engine.ts - the debugger of a file: the server's own code, as WebAssembly (src/debugger/page/engine.c).
import { Memory, type Exports } from "./memory";
import { systemOf } from "./system";
import { Values } from "./values";

export interface Part { kind: string; count: number; bytes: Uint8Array }

interface Calls extends Exports {
	_initialize: () => void;
	/** Each returns a text that says what was wrong, or 0. */
	give_run: (text: number) => number;
	give_file: (bytes: number, size: number) => number;
	give_blocks: (bytes: number, size: number, count: number) => number;
	open: () => number;
	answer: (method: number, path: number, body: number) => number;
}

export class Engine {
	private constructor(private readonly calls: Calls, private readonly memory: Memory, private readonly values: Values) {}

	/** Opens the debugger with all that a file has: the module first. */
	static async open([module, ...parts]: Part[]): Promise<Engine> {
		const memory = new Memory(), values = new Values(memory);
		const { instance } = await WebAssembly.instantiate(module!.bytes as BufferSource,
			{ wasi_snapshot_preview1: systemOf(memory), json: values.functions });
		const calls = instance.exports as unknown as Calls;
		memory.exports = calls;
		calls._initialize();
		const engine = new Engine(calls, memory, values);
		for (const part of parts) engine.give(part);
		engine.check(calls.open());
		return engine;
	}

	private give({ kind, count, bytes }: Part): void {
		if (kind === "run") this.check(this.calls.give_run(this.memory.put(new Uint8Array([...bytes, 0]))));
		else if (kind === "file") this.check(this.calls.give_file(this.memory.put(bytes), bytes.length));
		else this.check(this.calls.give_blocks(this.memory.put(bytes), bytes.length, count));
	}

	/** What the server would answer; parameters of a query may stand in the body. */
	answer(method: string, path: string, body: object): unknown {
		const put = (text: string) => this.memory.putText(text);
		this.check(this.calls.answer(put(method), put(path), put(JSON.stringify(body))));
		return this.values.answer;
	}

	private check(fault: number): void {
		this.values.forget();
		if (fault) throw new Error(this.memory.text(fault));
	}
}
