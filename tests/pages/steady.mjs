// SPDX-License-Identifier: MIT
// steady.mjs - waits for a page to stand still: drawings follow an answer, a width or a theme some frames later.

/** Returns when five frames in a row are the same, drawings included. */
export function steady(page) {
	return page.evaluate(async () => {
		const look = () => document.body.innerHTML + [...document.querySelectorAll("canvas")].map((one) => one.toDataURL());
		for (let last = "", same = 0; same < 4;) {
			await new Promise((next) => requestAnimationFrame(() => setTimeout(next))); // drawings wait for a timer, too
			const now = look();
			same = now === last ? same + 1 : 0;
			last = now;
		}
	});
}
