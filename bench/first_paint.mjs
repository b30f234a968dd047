// SPDX-License-Identifier: MIT
// first_paint.mjs ADDRESS CHROMIUM [SELECTOR] - prints the milliseconds from opening the address to the verdict of the overview being
// drawn, or another element: ".cache canvas" of the debugger.
import { createRequire } from "node:module";

const { chromium } = createRequire(new URL("../web/package.json", import.meta.url))("playwright-core");
const [address, executablePath, selector = ".verdict"] = process.argv.slice(2);

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const page = await browser.newPage();
const begun = performance.now();
await page.goto(address, { waitUntil: "commit" });
await page.waitForSelector(selector);
await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
console.log(Math.round(performance.now() - begun));
await browser.close();
