// SPDX-License-Identifier: MIT
// cut.mjs - what a page shows only in part: whoever looks at it cannot scroll there.

/** What is cut, in words. An element may be wider than its place only if it scrolls; texts of a chart end within it. */
export function whatIsCut(page) {
	return page.evaluate(() => {
		const found = [];
		const beside = document.documentElement.scrollWidth - innerWidth;
		if (beside > 0) found.push(`${beside} pixels beside the screen`);
		for (const element of document.querySelectorAll("#app *:not(svg *)")) {
			const { overflowX, display, clipPath } = getComputedStyle(element);
			const scrolls = overflowX === "auto" || overflowX === "scroll" || display === "inline" || clipPath !== "none";
			const over = element.scrollWidth - element.clientWidth;
			if (!scrolls && element.clientWidth && over > 1) found.push(`${element.tagName}.${element.className}: ${over} pixels`);
		}
		for (const text of document.querySelectorAll("svg text")) {
			const [inner, outer] = [text.getBoundingClientRect(), text.ownerSVGElement.getBoundingClientRect()];
			const over = Math.max(outer.left - inner.left, inner.right - outer.right, outer.top - inner.top, inner.bottom - outer.bottom);
			if (over > 1.5) found.push(`"${text.textContent}": ${Math.round(over)} pixels`);
		}
		return found;
	});
}
