// SPDX-License-Identifier: MIT
// system.ts - the few functions of WASI that the engine's C library calls.  There are no files; what it writes is a fault's text.
import type { Memory } from "./memory";

const BAD_DESCRIPTOR = 8, NANOSECONDS = 1e6;

export function systemOf(memory: Memory) {
	return {
		fd_write(_descriptor: number, pieces: number, count: number, ret_written: number): number {
			const { view } = memory;
			let written = 0, text = "";
			for (let i = 0; i < count; i++) {
				const bytes = view.getUint32(pieces + 8 * i + 4, true);
				text += memory.text(view.getUint32(pieces + 8 * i, true), bytes);
				written += bytes;
			}
			console.error(text);
			view.setUint32(ret_written, written, true);
			return 0;
		},
		clock_time_get(_clock: number, _precision: bigint, ret: number): number {
			memory.view.setBigUint64(ret, BigInt(Math.round(performance.now() * NANOSECONDS)), true);
			return 0;
		},
		proc_exit(status: number): never {
			throw new Error(`The debugger has ended with ${status}.`);
		},
		fd_close: () => BAD_DESCRIPTOR,
		fd_seek: () => BAD_DESCRIPTOR,
		fd_fdstat_get: () => BAD_DESCRIPTOR,
	};
}
