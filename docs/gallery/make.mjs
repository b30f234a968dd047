// SPDX-License-Identifier: MIT
// make.mjs NEARMISS EXAMPLES FOLDER [NAME...] - makes the pictures of the gallery, or those named: each is a nest or a trace, a moment
// and a view of the debugger's page, as its address says.  Run it from web/, which has playwright-core.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

const { chromium } = createRequire(join(process.cwd(), "package.json"))("playwright-core");
const [nearmiss, examples, folder, ...only] = process.argv.slice(2);
const CACHE = ["--cache", "L1d=8K,1,32"];
const MERSENNE = ["--cache", "L1d=8K,1,32,sets=253"];
const SLICE = ["--from", "4000000", "--to", "4099999"];
const scratch = mkdtempSync(join(tmpdir(), "nearmiss-gallery-"));
const SORT = join(scratch, "sort.nmt");
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
	["cvt-9", SORT, [...CACHE, ...SLICE], "position=100000&statistics=set&colouring=reference&arrangement=linear"],
];

/** A program that exists: sort, of numbers that are in no order. */
function recordSort() {
	const numbers = join(scratch, "numbers");
	writeFileSync(numbers, Array.from({ length: 9000 }, (_, i) => `${((i + 1) * 7919) % 9001}\n`).join(""));
	spawnSync(nearmiss, ["record", "-q", "--trace", SORT, "-o", join(scratch, "p.nmp"), ...CACHE, "--",
		"sort", numbers, "-o", join(scratch, "sorted")], { stdio: "inherit" });
}

if (!only.length || only.includes("cvt-9")) recordSort();
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
for (const [name, nest, options, view] of PICTURES.filter(([name]) => !only.length || only.includes(name))) {
	const server = spawn(nearmiss, ["view", "--no-browser", ...options, resolve(examples, nest)],
		{ stdio: ["ignore", "pipe", "inherit"] });
	const address = await new Promise((resolve) => createInterface(server.stdout).once("line", resolve));
	const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
	await page.goto(`${address}#/debugger?${view}`);
	await page.waitForSelector(".debugger canvas");
	await page.waitForTimeout(500);
	await page.locator(".debugger .caches").screenshot({ path: join(folder, `${name}.png`) });
	await page.close();
	server.kill();
}
await browser.close();
rmSync(scratch, { recursive: true });
