// SPDX-License-Identifier: MIT
// keys.ts - whether a key press is for a control or for the page.

/** Whether a key is meant for the control that has the focus. */
export function isTyping(event: KeyboardEvent): boolean {
	const target = event.target as HTMLElement;
	return event.ctrlKey || event.altKey || event.metaKey || target.matches("input, select, textarea");
}
