// SPDX-License-Identifier: MIT
// read.ts - a self-contained file is shown while the browser still reads what stands behind the script.

/** Ends once all of the file is there. */
export async function isRead(): Promise<void> {
	if (document.readyState === "loading")
		await new Promise((read) => addEventListener("DOMContentLoaded", read, { once: true }));
}
