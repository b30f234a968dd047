// SPDX-License-Identifier: MIT
// first_paint.mjs ADDRESS CHROMIUM [SELECTOR] - prints the milliseconds from opening the address to the first paint of the browser, to
// the head of the page being drawn, and to the verdict of the overview, or another element: ".cache canvas" of the debugger.
import { createRequire } from "node:module";

const { chromium } = createRequire(new URL("../web/package.json", import.meta.url))("playwright-core");
const [address, executablePath, selector = ".verdict"] = process.argv.slice(2);

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const page = await browser.newPage();
// Looked for within the page: asking from here would wait for the browser's other work.
await page.addInitScript((selectors) => {
	globalThis.drawnAt = Promise.all(selectors.map((one) => new Promise((resolve) => {
		const look = () => (document.querySelector(one) ? requestAnimationFrame(() => resolve(performance.now())) : requestAnimationFrame(look));
		look();
	})));
}, ["header", selector]);
await page.goto(address, { waitUntil: "commit" });
const [head, element] = await page.evaluate(() => globalThis.drawnAt);
const first = await page.evaluate(() => performance.getEntriesByName("first-paint")[0].startTime);
console.log(`${[first, head, element].map(Math.round).join(" ")} ms: first paint, head, ${selector}`);
await browser.close();
