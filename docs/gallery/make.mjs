// SPDX-License-Identifier: MIT
// make.mjs NEARMISS EXAMPLES FOLDER - makes the pictures of the gallery: each is a nest, a moment and a view of the debugger's
// page, as its address says.  Run it from web/, which has playwright-core.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";

const { chromium } = createRequire(join(process.cwd(), "package.json"))("playwright-core");
const [nearmiss, examples, folder] = process.argv.slice(2);
const CACHE = ["--cache", "L1d=8K,1,32"];
const MERSENNE = ["--cache", "L1d=8K,1,32,sets=253"];
const APART = "bases=Y:1089024";
const PICTURES = [
	["cvt-2d", "interference.nest", CACHE, "position=24&colouring=reference&arrangement=linear"],
	["cvt-2e", "interference.nest", CACHE, "position=2400&colouring=reference&arrangement=linear"],
	["cvt-3a", "interference.nest", CACHE, `${APART}&position=24&colouring=reference&arrangement=linear`],
	["cvt-3b", "interference.nest", CACHE, `${APART}&position=2400&colouring=reference&arrangement=linear`],
	["cvt-3c", "interference.nest", CACHE, `${APART}&position=30000&colouring=reference&arrangement=linear`],
	["cvt-4", "blocked.nest", CACHE, "position=10920&arrangement=linear"],
	["cvt-5", "blocked.nest", CACHE, "parameters=N:256&position=10920&arrangement=linear"],
	["cvt-6", "eflux.nest", CACHE, "position=99999999&statistics=set&colouring=reference&arrangement=linear"],
	["cvt-7", "eflux.nest", CACHE, "position=4400&interval=1000&colouring=reference&arrangement=linear"],
	["cvt-8", "blocked.nest", [...MERSENNE, ...CACHE], "parameters=N:256&position=10920&arrangement=linear"],
];

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
for (const [name, nest, options, view] of PICTURES) {
	const server = spawn(nearmiss, ["view", "--no-browser", ...options, join(examples, nest)],
		{ stdio: ["ignore", "pipe", "inherit"] });
	const address = await new Promise((resolve) => createInterface(server.stdout).once("line", resolve));
	const page = await browser.newPage({ viewport: { width: 1000, height: 900 } });
	await page.goto(`${address}#/debugger?${view}`);
	await page.waitForSelector(".debugger canvas");
	await page.waitForTimeout(500);
	await page.locator(".debugger .caches").screenshot({ path: join(folder, `${name}.png`) });
	await page.close();
	server.kill();
}
await browser.close();
