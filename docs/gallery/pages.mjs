// SPDX-License-Identifier: MIT
// pages.mjs NEARMISS TOP FOLDER [NAME...] - makes the pictures of the pages in FOLDER, or those named: builds and records the
// programs that they show, from the sources in TOP, and opens each page as its address says.  Run it from web/, which has
// playwright-core.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

const { chromium } = createRequire(join(process.cwd(), "package.json"))("playwright-core");
const [nearmiss, top, folder] = process.argv.slice(2, 5).map((path) => resolve(path));
const only = process.argv.slice(5);
const scratch = mkdtempSync(join(tmpdir(), "gallery-"));

const CACHES = ["-c", "L1d=32K,8,64:L2=256K,8,64"];
// The caches of WATER are as small beside its data as those of the paper may have been.
const SMALL = ["-c", "L1d=2K,2,32:L2=8K,4,32"];
const RECORD = ["record", "-q", "--embed-sources", ...CACHES, "-o"];
const at = (name) => join(scratch, name);
const PROFILES = [
	["quake", "examples/quake.c", [], [...RECORD, at("quake.nmp"), "--callgraph", "--sets", "--distances", "--", at("quake"), "12", "3"]],
	["packed", "examples/quake.c", ["-DREPAIRED=1"], [...RECORD, at("packed.nmp"), "--sets", "--", at("packed"), "12", "3"]],
	["sharing", "examples/sharing.c", ["-pthread"], [...RECORD, at("sharing.nmp"), "--trace", at("sharing.nmt"), "--cores", "4", "--", at("sharing")]],
	["matrix", "examples/matrix.c", [], [...RECORD, at("matrix.nmp"), "--sets", "--", at("matrix"), "columns"]],
	["cold", "examples/faults/cold.c", [], [...RECORD, at("cold.nmp"), "--trace", at("cold.nmt"), "--", at("cold"), "2"]],
	["water", "bench/programs/splash/water.c", ["-pthread", "-lm"],
		["monitor", "-q", "--histogram=line", ...SMALL, `--profile=${at("water.nmp")}`, "-o", at("water.txt"), "--", at("water")]],
];
const PICTURES = [
	["overview", "overview"],
	["overview-narrow", "overview", "light", 390],
	["treemap", "treemap"],
	["tables", "tables", "dark"],
	["source", "source?p=3&line=36"],
	["chains", "chains"],
	["timeline", "timeline?p=3&at=60"],
	["evictions", "evictions"],
	["curves", "curves?by=object"],
	["histograms", "histograms?p=3", "dark"],
	["cachein-3", "histograms?p=5&of=served&from=85&to=184"],
	["sharing", "sharing?p=2"],
	["structures", "structures?p=2"],
	["whatif", "whatif?p=4&layout=0.2.4_1.3"],
	["compare", "compare"],
	["debugger-file", "debugger?position=10000&panes=L1d:2&colouring=state"],
];
/** The debugger in one file, with a part of the trace. */
const FILE = ["view", "--html", at("sharing.html"), "--cores", "4", "--from", "8000001", "--to", "8020000", "-c", "L1d=2K,4,64:L2=16K,8,64", at("sharing.nmt")];

for (const [program, source, options, run] of PROFILES) {
	execFileSync("gcc", ["-g", "-O1", `-fdebug-prefix-map=${top}=.`, "-o", at(program), source, ...options], { cwd: top, stdio: "inherit" });
	execFileSync(nearmiss, run, { cwd: top, stdio: ["ignore", "ignore", "inherit"] }); // which has the sources
}
execFileSync(nearmiss, FILE, { stdio: "inherit" });
const server = spawn(nearmiss, ["view", "--no-browser", ...PROFILES.map(([name]) => `${name}.nmp`)], { cwd: scratch, stdio: ["ignore", "pipe", "inherit"] });
const address = await new Promise((done) => createInterface(server.stdout).once("line", done));
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
for (const [name, view, theme = "light", width = 1280] of PICTURES.filter(([name]) => !only.length || only.includes(name))) {
	const page = await browser.newPage({ colorScheme: theme, viewport: { width, height: width < 600 ? 844 : 700 } });
	await page.goto(`${name === "debugger-file" ? `file://${at("sharing.html")}` : address}#/${view}`);
	await page.waitForSelector(`#page[data-view="${view.split("?")[0]}"]`);
	await page.waitForTimeout(300);
	await page.waitForFunction(() => !document.querySelector(".waiting, [aria-busy=true]"));
	if (name === "whatif") {
		await page.click("button:has-text('Predict misses')");
		await page.waitForSelector(".verdict");
	}
	await page.waitForTimeout(200);
	await page.screenshot({ path: join(folder, `${name}.png`) });
	await page.close();
}
await browser.close();
server.kill();
