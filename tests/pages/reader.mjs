// SPDX-License-Identifier: MIT
// reader.mjs - a reader at a browser: opens tabs, goes to pages, and waits until they show what their address says.
import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";
import { steady } from "./steady.mjs";

const require = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");

/** Longer than a busy machine needs: what waits so long waits for something that does not come. */
export const PATIENCE_MS = 120_000;

/** The browser, and a function that opens a tab of a reader with this theme and width; what goes wrong in it is collected. */
export async function reader(address, executablePath) {
	const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
	const tab = async ({ theme = "light", width = 1280, at = "" } = {}) => {
		const context = await browser.newContext({ colorScheme: theme, viewport: { width, height: 844 }, acceptDownloads: true });
		context.setDefaultTimeout(PATIENCE_MS);
		const page = await context.newPage();
		const faults = [];
		page.on("pageerror", (error) => faults.push(error.message));
		page.on("console", (message) => message.type() === "error" && !/status of 4/.test(message.text()) && faults.push(message.text()));
		await page.goto(address + at);
		return { page, faults, context };
	};
	return { browser, tab };
}

/** Waits until the page shows what its address says: all answers, drawn. */
export async function settled(page, view) {
	await page.waitForSelector(`#page[data-view="${view}"]`);
	await page.waitForFunction(() => document.querySelector("#page").dataset.hash === location.hash &&
		!document.querySelector(".waiting, [aria-busy=true]"));
	await steady(page);
}

export async function show(page, view, query = "") {
	await page.evaluate((hash) => { location.hash = hash; }, `#/${view}${query}`);
	await settled(page, view);
}

/** A function that returns what axe finds wrong on the page, in words. */
export async function axeOf(page) {
	await page.evaluate(await readFile(require.resolve("axe-core/axe.min.js"), "utf8")); // not as an element: the policy allows none
	return async () => {
		const { violations } = await page.evaluate(() => globalThis.axe.run());
		return violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`);
	};
}

/** Runs the case of a name; exits 1 with what was wrong. */
export async function run(cases, name, browser) {
	try {
		await cases[name]();
	} catch (error) {
		console.error(error.message);
		process.exitCode = 1;
	} finally {
		await browser.close();
	}
}
