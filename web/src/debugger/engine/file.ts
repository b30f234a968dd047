// SPDX-License-Identifier: MIT
// file.ts - asks the engine that a self-contained file holds (docs/format/view.md), where the pages otherwise ask the server.
import { isRead } from "../../read";
import type { Part } from "./engine";
import type { Question, Told } from "./worker";

/** The script of the worker, which build.mjs puts here. */
declare const ENGINE_WORKER: string;

/** A part of the file: zlib in base64. */
async function unpacked(element: Element): Promise<Part> {
	const packed = Uint8Array.from(atob(element.textContent ?? ""), (character) => character.charCodeAt(0));
	const bytes = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
	return {
		kind: element.getAttribute("data-kind") ?? "",
		count: Number(element.getAttribute("data-count")),
		bytes: new Uint8Array(await new Response(bytes).arrayBuffer()),
	};
}

/** Answers come in the order of the questions. */
class Asked {
	private readonly worker = new Worker(URL.createObjectURL(new Blob([ENGINE_WORKER], { type: "text/javascript" })));
	private readonly waiting: { resolve: (answer: unknown) => void; reject: (fault: Error) => void }[] = [];

	constructor() {
		this.worker.onmessage = ({ data }: MessageEvent<Told>) => {
			const { resolve, reject } = this.waiting.shift()!;
			if ("error" in data) reject(new Error(data.error));
			else resolve(data.answer);
		};
	}

	ask(message: Part[] | Question): Promise<unknown> {
		return new Promise((resolve, reject) => {
			this.waiting.push({ resolve, reject });
			this.worker.postMessage(message);
		});
	}
}

async function open(): Promise<Asked> {
	await isRead();
	const asked = new Asked();
	await asked.ask(await Promise.all([...document.querySelectorAll(".part")].map(unpacked)));
	return asked;
}

let opened: Promise<Asked> | undefined;

/** What the file answers to a question for the debugger, whose query is `parameters`. */
export async function answerInFile(method: string, path: string, parameters: string, body: unknown): Promise<unknown> {
	const asked = await (opened ??= open());
	return asked.ask({ method, path, body: { ...Object.fromEntries(new URLSearchParams(parameters)), ...(body as object | undefined) } });
}
