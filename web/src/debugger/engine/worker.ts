// SPDX-License-Identifier: MIT
// worker.ts - the engine in a thread of its own, so that the page can be used while it simulates.  The first message has the
// parts of a file; each further one is a question.
import { Engine, type Part } from "./engine";

export interface Question { method: string; path: string; body: object }

export type Told = { answer: unknown } | { error: string };

let engine: Promise<Engine> | null = null;

async function answerTo(message: Part[] | Question): Promise<unknown> {
	if (Array.isArray(message)) {
		await (engine = Engine.open(message));
		return null;
	}
	return (await engine!).answer(message.method, message.path, message.body);
}

addEventListener("message", ({ data }: MessageEvent<Part[] | Question>) => {
	answerTo(data).then(
		(answer) => postMessage({ answer } satisfies Told),
		(fault: unknown) => postMessage({ error: fault instanceof Error ? fault.message : String(fault) } satisfies Told));
});
