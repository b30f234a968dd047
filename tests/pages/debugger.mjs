// SPDX-License-Identifier: MIT
// debugger.mjs NEARMISS EXAMPLES CHROMIUM PLUGIN - drives the debugger's page in Chromium over the nests of "A Cache Visualization Tool":
// steps and goes back, stops at breakpoints of each kind, compares two caches in lock-step, follows links, saves.
// The figures are those of the paper, as the nests of EXAMPLES state them.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
import { whatIsCut } from "./cut.mjs";
import { axeOf, PATIENCE_MS } from "./reader.mjs";
import { steady } from "./steady.mjs";

const require = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const [nearmiss, examples, executablePath, plugin] = process.argv.slice(2);
if (!executablePath) {
	console.log("debugger: skipped: chromium is not installed");
	process.exit(77);
}
const CACHES = ["--cache", "L1d=8K,1,32", "--cache", "L1d=8K,1,32,sets=253"];
let browser;

before(async () => {
	browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
});
after(() => browser.close());

/** Runs `check` with the page of a nest of the examples, or of a trace. */
async function debugging(nest, options, check, view = "") {
	const server = spawn(nearmiss, ["view", "--no-browser", ...options, resolve(examples, nest)],
		{ stdio: ["ignore", "pipe", "inherit"], cwd: tmpdir() }); // below which no source lies
	const context = await browser.newContext({ acceptDownloads: true });
	context.setDefaultTimeout(PATIENCE_MS);
	try {
		const [address] = await new Promise((resolve, reject) => {
			createInterface(server.stdout).once("line", (line) => resolve([line]));
			server.once("exit", (status) => reject(new Error(`nearmiss view ends with ${status}`)));
		});
		const faults = [];
		context.on("page", (page) => {
			page.on("pageerror", (error) => faults.push(error.message));
			page.on("request", (request) => noteTab(page, request.url()));
		});
		const page = await context.newPage();
		await page.goto(`${address}#/debugger?${view}`);
		await page.waitForSelector(".debugger");
		await check(page);
		assert.deepEqual(faults, []);
	} finally {
		await context.close();
		server.kill();
	}
}

const tabs = new Map();  // by page, the token that it sends

function noteTab(page, url) {
	const tab = new URL(url).searchParams.get("tab");
	if (tab) tabs.set(page, tab);
}

/** An answer about the moment of this page. */
function ask(page, path) {
	const asked = `${path}${path.includes("?") ? "&" : "?"}tab=${tabs.get(page)}`;
	return page.evaluate(async (name) => (await fetch(name)).json(), asked);
}

async function goTo(page, to) {
	await page.fill(".scrubber input", String(to));
	await page.press(".scrubber input", "Enter");
	await at(page, to);
}

async function at(page, expected) {
	const text = expected ? `${expected.toLocaleString("en")} of` : "None yet";
	await page.waitForFunction((start) => document.querySelector(".moment > p, .moment dd")?.textContent.startsWith(start), text);
}

/** All that is known of the moment, and the pixels that show it. */
async function moment(page) {
	const grid = await ask(page, "/api/d/grid?cache=0");
	const state = await ask(page, "/api/d/state");
	const pixels = await page.evaluate(() => [...document.querySelectorAll(".cache canvas")].map((one) => one.toDataURL()));
	return { grid, pixels, reference: state.reference, effects: state.effects };
}

/** Misses by reference, as the page's table shows them. */
async function misses(page) {
	const rows = await page.$$eval(".statistics tbody tr", (all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
	return Object.fromEntries(rows.map(([name, , count]) => [name, Number(count.replaceAll(",", ""))]));
}

async function addBreakpoint(page, kind, fields) {
	const count = await page.locator(".breakpoints li").count();
	await page.selectOption(".breakpoints form select", kind);
	for (const name of ["position", "reference", "condition"])
		if (await page.locator(`.breakpoints [name=${name}]`).count()) await page.fill(`.breakpoints [name=${name}]`, "");
	for (const [name, value] of Object.entries(fields)) await page.fill(`.breakpoints [name=${name}]`, String(value));
	await page.click(".breakpoints form button");
	await page.waitForFunction((n) => document.querySelectorAll(".breakpoints li").length === n, count + 1);
}

async function removeBreakpoint(page) {
	await page.click(".breakpoints li button");
	await page.waitForFunction(() => document.querySelectorAll(".breakpoints li").length === 0);
}

test("steps, and goes back to the same state", () => debugging("interference.nest", CACHES.slice(0, 2), async (page) => {
	await goTo(page, 2402);
	const before = await moment(page);
	await page.keyboard.press("Escape");
	await page.click("text=Step >> nth=1");
	await at(page, 2403);
	assert.notDeepEqual(await moment(page), before);
	await page.click("text=Step back");
	await at(page, 2402);
	assert.deepEqual(await moment(page), before);
	await page.click("text=End");
	await at(page, 30000);
	await goTo(page, 2402);
	assert.deepEqual(await moment(page), before);
}));

test("what runs by is the same as what is gone to", () => debugging("interference.nest", CACHES.slice(0, 2), async (page) => {
	await page.selectOption("text=speed >> select", "1000");
	await page.click("text=Run");
	await page.waitForFunction(() => Number(document.querySelector(".scrubber input").value) > 500);
	await page.click("text=Pause");
	await page.waitForFunction(() => location.hash.includes("position="));
	await page.waitForTimeout(500);
	const position = Number(await page.inputValue(".scrubber input"));
	const before = await moment(page);
	await goTo(page, 10);
	await goTo(page, position);
	assert.deepEqual(await moment(page), before);
}));

test("counts as the paper does", () => debugging("interference.nest", CACHES.slice(0, 2), async (page) => {
	await page.click("text=End");
	await at(page, 30000);
	assert.deepEqual(await misses(page), { "X(j,i+1)": 1251, "Y(j,i)": 1250, "X(j,i) =": 1250 });
	await page.fill("[aria-label='base of Y']", String(0x100000 + 40448));
	await page.press("[aria-label='base of Y']", "Enter");
	await page.waitForFunction(() => [...document.querySelectorAll(".statistics tbody tr")].some(({ cells }) =>
		cells[0].textContent === "X(j,i) =" && cells[2].textContent === "12"));
	await page.waitForURL(/bases=Y/);
}));

// Each kind of breakpoint, and where it must stop first: as the loops say, j fastest, three references an iteration.
const KINDS = [
	["reference", { position: 77 }, (state) => assert.equal(state.position, 77)],
	["reference", { reference: "Y(j,i)" }, (state) => assert.equal(state.position, 2)],
	["line", { line: 14 }, (state) => assert.equal(state.position, 1)],
	["object", { object: "Y" }, (state) => assert.equal(state.position, 2)],
	["section", { object: "Y", from: 200, to: 210 }, (state) => assert.equal(state.position, 602)],
	["cache", { set_from: 5, set_to: 5 }, (state) => assert.equal(state.effects[0].set, 5)],
	["loops", { loops: "i=3, j=7" }, (state) => assert.equal(state.position, 3 * (300 + 7) + 1)],
	["evicts", { evictor: "Y", victim: "X" }, ({ reference, effects }) =>
		assert.deepEqual([reference.object, effects[0].evicted.object], ["Y", "X"])],
	["conflict", {}, ({ effects }) => assert.equal(effects[0].class, "conflict")],
	["condition", { condition: "miss && write" }, ({ reference, effects }) =>
		assert.deepEqual([reference.kind, effects[0].hit], ["write", false])],
];

test("stops at breakpoints of each kind", () => debugging("interference.nest", CACHES.slice(0, 2), async (page) => {
	await page.click("text=Next breakpoint");
	await page.waitForSelector("text=/no breakpoint to stop at/");
	for (const [kind, fields, check] of KINDS) {
		await goTo(page, 0);
		await addBreakpoint(page, kind, fields);
		await page.click("text=Next breakpoint");
		await page.waitForSelector("text=/Stopped by breakpoint/");
		check(await ask(page, "/api/d/state"));
		await removeBreakpoint(page);
	}
}));

test("each tab has its own moment, breakpoints and nest", () => debugging("interference.nest", CACHES.slice(0, 2), async (page) => {
	await goTo(page, 2402);
	await addBreakpoint(page, "conflict", {});
	const before = await moment(page);
	const other = await page.context().newPage();
	await other.goto(page.url());
	await other.waitForSelector(".debugger");
	await at(other, 2402);
	assert.deepEqual(await moment(other), before);
	await removeBreakpoint(other);
	await goTo(other, 77);
	await other.fill("[aria-label='base of Y']", String(0x100000 + 40448));
	await other.press("[aria-label='base of Y']", "Enter");
	await other.waitForURL(/bases=Y/);
	assert.deepEqual(await moment(page), before);
	await page.click("text=Step >> nth=1");
	await at(page, 2403);
	assert.equal((await ask(other, "/api/d/state")).position, 77);
	await page.reload();
	await page.waitForSelector(".debugger");
	await at(page, 2403);
	assert.equal(await page.locator(".breakpoints li").count(), 1);
}));

test("says who evicted a line", () => debugging("interference.nest", CACHES.slice(0, 2), async (page) => {
	await addBreakpoint(page, "conflict", {});
	await page.click("text=Next breakpoint");
	await page.waitForSelector("text=/Stopped by breakpoint/");
	await page.click("text=Who evicted this line?");
	await page.waitForSelector(".story");
	assert.match(await page.textContent(".story"), /evicted by X, X\(j,i\+1\)|evicted by Y, Y\(j,i\)/);
}));

test("two caches go in lock-step", () => debugging("blocked.nest", CACHES, async (page) => {
	await page.click("text=End");
	await at(page, 10920);
	assert.equal(await page.locator(".cache canvas").count(), 2);
	const counted = [];
	for (const cache of [0, 1]) {
		const { rows } = await ask(page, `/api/d/statistics?by=object&cache=${cache}`);
		counted.push(rows.find(([name]) => name === "Y")[2]);
	}
	assert.deepEqual(counted, [480, 252]);
}, "parameters=N:256"));

test("a cache of a plug-in goes in lock-step", () => debugging("blocked.nest", [...CACHES.slice(0, 3), `L1d=8K,1,32,sets=253,plugin=${plugin}`],
	async (page) => {
		await page.click("text=End");
		await at(page, 10920);
		const { caches } = await ask(page, "/api/d/session");
		assert.deepEqual(caches.map(({ levels }) => levels[0].policy), ["lru", "plugin"]);
		const counted = [];
		for (const cache of [0, 1]) {
			const { rows } = await ask(page, `/api/d/statistics?by=object&cache=${cache}`);
			counted.push(rows.find(([name]) => name === "Y")[2]);
		}
		assert.deepEqual(counted, [480, 252]);
	}, "parameters=N:256"));

test("a link restores the moment and the views", () => debugging("blocked.nest", CACHES, async (page) => {
	await goTo(page, 5000);
	await page.selectOption(".looks select >> nth=0", "age");
	await page.selectOption(".looks select >> nth=1", "linear");
	await page.waitForURL(/position=5000.*arrangement=linear/);
	const link = page.url();
	const before = await moment(page);
	await goTo(page, 10);
	await page.goto(link); // in the same document
	await at(page, 5000);
	await page.waitForSelector(".debugger");
	await steady(page);
	assert.deepEqual(await moment(page), before);
}));

test("works by keyboard", () => debugging("interference.nest", CACHES.slice(0, 2), async (page) => {
	await page.evaluate(() => document.activeElement.blur());
	for (const [key, position] of [["End", 30000], ["ArrowLeft", 29999], ["Home", 0], ["m", 1], ["PageDown", 101], ["ArrowRight", 102],
		["PageUp", 2], ["M", 1]]) {
		await page.keyboard.press(key);
		await at(page, position);
	}
	await page.keyboard.press("w");
	await page.waitForSelector(".story");
	await page.keyboard.press(" ");
	await page.waitForFunction(() => Number(document.querySelector(".scrubber input").value) > 3);
	await page.keyboard.press(" ");
	await page.keyboard.press("?");
	await page.waitForSelector("dialog[open]");
}));

test("saves as SVG, PNG and CSV", () => debugging("blocked.nest", CACHES.slice(0, 2), async (page) => {
	await goTo(page, 3000);
	for (const [format, starts] of [["SVG", "<svg"], ["PNG", "\x89PNG"], ["CSV", "set,way,line"]]) {
		const saved = page.waitForEvent("download");
		await page.click(`.cache .saves >> text=${format}`);
		const content = await readFile(await (await saved).path(), "latin1");
		assert.ok(content.startsWith(starts), `${format} starts with ${content.slice(0, 20)}`);
	}
}));

// ---- traces ----

/** Two threads write to two words of one line by turns, and each reads a line of its own. */
async function sharingTrace(input = "input") {
	const path = join(tmpdir(), `nearmiss-sharing-${process.pid}.csv`);
	const rows = ["addr,rw,size,thread,object,function,file,line"];
	for (let i = 0; i < 400; i++)
		for (const thread of [1, 2]) {
			rows.push(`${0x10000 + 8 * thread},w,8,${thread},counters,count,count.c,${10 + thread}`);
			rows.push(`${0x20000 + 4096 * thread + 64 * (i % 8)},r,8,${thread},${input},count,count.c,20`);
		}
	await writeFile(path, rows.join("\n") + "\n");
	return path;
}

const CORES = ["--cores", "2", "--quantum", "1", "--cache", "L1d=1K,2,64:L2=8K,4,64"];

/** Each cached line is drawn in the colour that the legend gives to what it is coloured by. */
async function coloursAre(page, by, label) {
	await page.selectOption(".looks select >> nth=0", by);
	await page.waitForSelector(`[aria-label="Colours by ${by}"]`);
	await page.waitForFunction(() => document.querySelectorAll(".cache .legend li").length > 0);
	for (const core of [0, 1]) {
		await page.selectOption("[aria-label=Core]", String(core));
		await page.waitForURL(new RegExp(`L1d:${core}|L1d%3A${core}`));
		const { slots } = await ask(page, `/api/d/grid?core=${core}`);
		const labels = new Set(slots.filter(Boolean).map(label));
		const found = await page.evaluate(() => {
			const { width, height } = document.querySelector(".cache canvas");
			const { data } = document.querySelector(".cache canvas").getContext("2d").getImageData(0, 0, width, height);
			const drawn = {};
			for (let i = 0; i < data.length; i += 4) {
				const colour = `rgb(${data[i]}, ${data[i + 1]}, ${data[i + 2]})`;
				drawn[colour] = (drawn[colour] ?? 0) + 1;
			}
			return [...document.querySelectorAll(".cache .legend li")]
				.filter((one) => drawn[getComputedStyle(one.querySelector(".swatch")).backgroundColor] > 100)
				.map((one) => one.textContent.split(":")[0]); // "E: exclusive"
		});
		assert.deepEqual(new Set(found), labels, `${by} of core ${core}`);
	}
	await page.selectOption("[aria-label=Core]", "0");
}

test("a trace of threads: steps, goes back, stops at false sharing, colours by state", async () => {
	const trace = await sharingTrace();
	await debugging(trace, CORES, async (page) => {
		const { kind, total, cores } = await ask(page, "/api/d/session");
		assert.deepEqual([kind, total, cores], ["trace", 1600, 2]);
		assert.equal(await page.locator(".nest").count(), 0);
		assert.equal(await page.locator(".breakpoints option[value=loops]").count(), 0);
		await addBreakpoint(page, "false_sharing", { object: "counters" });
		await page.click("text=Next breakpoint");
		await page.waitForSelector("text=/Stopped by breakpoint/");
		const { position, reference, effects } = await ask(page, "/api/d/state");
		assert.equal(reference.object, "counters");
		assert.ok(effects.some((one) => one.false_sharing && one.class === "coherence"));
		assert.match(await page.textContent(".moment"), /count\.c:1[12]/);
		const before = await moment(page);
		await page.click("text=Step >> nth=1");
		await at(page, position + 1);
		await page.click("text=Step back");
		await at(page, position);
		assert.deepEqual((await moment(page)).grid, before.grid);
		const slots = (await ask(page, "/api/d/grid")).slots.filter(Boolean);
		assert.ok(slots.length > 0 && slots.every(({ state }) => "MOESF".includes(state)));
		await goTo(page, 1600);
		for (const [by, label] of [["state", ({ state }) => state], ["thread", ({ thread }) => `thread ${thread}`]])
			await coloursAre(page, by, label);
	});
	await rm(trace);
});

test("a trace in two caches in lock-step, one of another policy", async () => {
	const trace = await sharingTrace();
	await debugging(trace, ["--cache", "L1d=512,2,64", "--cache", "L1d=512,2,64,policy=fifo"], async (page) => {
		await page.click("text=End");
		await at(page, 1600);
		assert.equal(await page.locator(".cache canvas").count(), 2);
		for (const cache of [0, 1]) {
			const { rows } = await ask(page, `/api/d/statistics?by=total&cache=${cache}`);
			assert.equal(rows[0][1], 1600);
		}
	});
	await rm(trace);
});

// ---- source, functions, and what is wrong with a breakpoint ----

/** Behind speed, n and object. */
const FUNCTIONS = ".transport select >> nth=3";

/** The marked line of the source, once it is that of a number. */
async function marked(page, line) {
	await page.waitForFunction((number) => document.querySelector(".source-text mark .number")?.textContent === String(number), line);
	return page.innerText(".source-text mark");
}

/** Adds a breakpoint that is refused with a text at a field. */
async function refused(page, kind, fields, name, text) {
	await page.selectOption(".breakpoints form select", kind);
	for (const [field, value] of Object.entries(fields)) await page.fill(`.breakpoints [name=${field}]`, value);
	await page.click(".breakpoints form button");
	await page.waitForFunction(([field, wanted]) => document.querySelector(`#fault-${field}`)?.textContent.includes(wanted), [name, text]);
	assert.equal(await page.getAttribute(`.breakpoints [name=${name}]`, "aria-invalid"), "true");
	assert.equal(await page.locator(".breakpoints li").count(), 0);
	for (const field of Object.keys(fields)) await page.fill(`.breakpoints [name=${field}]`, "");
}

test("shows the source of a nest, and goes to a reference", () => debugging("interference.nest", CACHES.slice(0, 2), async (page) => {
	await page.click("text=Step >> nth=1");
	assert.match(await marked(page, 14), /X\(j, i\) = X\(j, i \+ 1\)/);
	await page.selectOption(FUNCTIONS, "Y(j,i)");
	await page.click("text=Go to function");
	await page.waitForSelector("text=/^Found/");
	assert.equal((await ask(page, "/api/d/state")).reference.function, "Y(j,i)");
}));

test("shows the source of a program, and goes to main", async () => {
	const [trace, profile] = [join(tmpdir(), `nearmiss-${process.pid}.nmt`), join(tmpdir(), `nearmiss-${process.pid}.nmp`)];
	execFileSync(nearmiss, ["record", "-q", "-o", profile, "--trace", trace, ...CACHES.slice(0, 2), "--", join(dirname(plugin), "oneline")], { stdio: "ignore" });
	const sources = resolve(examples, "../tests/programs");
	await debugging(trace, [...CACHES.slice(0, 2), "--source-dir", sources], async (page) => {
		await page.click("text=Step >> nth=1"); // in the loader, whose source is not here
		assert.equal(await page.inputValue(FUNCTIONS), "main");
		await page.keyboard.press("f");
		await page.waitForSelector("text=/^Found/");
		const { position, reference } = await ask(page, "/api/d/state");
		assert.ok(position > 1000 && reference.function === "main", `${reference.function} at ${position}`);
		const text = (await readFile(join(sources, "oneline.c"), "utf8")).split("\n")[reference.line - 1];
		assert.ok((await marked(page, reference.line)).includes(text.trim()), text);
	});
	await debugging(trace, CACHES.slice(0, 2), async (page) => { // a trace does not choose which files are shown
		await page.keyboard.press("f");
		await page.waitForSelector(".source-text:has-text('say where it is with --source-dir')");
		await refused(page, "condition", { condition: "object == items" }, "condition", "names of the program stand in quotes");
	});
	await Promise.all([rm(trace), rm(profile)]);
});

test("restores breakpoints from a link", () => debugging("interference.nest", CACHES.slice(0, 2), async (page, address) => {
	await addBreakpoint(page, "condition", { condition: 'object == "Y" && miss || set == 7', skip: 2 });
	await addBreakpoint(page, "conflict", { object: "X" });
	await page.click(".breakpoints li >> nth=1 >> input");
	await page.waitForFunction(() => /breakpoints=.*%3A0%3A/.test(location.hash));
	const listed = (one) => one.$$eval(".breakpoints li", (items) => items.map((item) => [item.innerText, item.querySelector("input").checked]));
	const other = await page.context().newPage();
	await other.goto(page.url());
	await other.waitForFunction(() => document.querySelectorAll(".breakpoints li").length === 2);
	assert.deepEqual(await listed(other), await listed(page));
	assert.deepEqual((await listed(page)).map(([, enabled]) => enabled), [true, false]);
	await other.close();
}));

test("says at the field what is wrong with a breakpoint, and how often it stopped", () => debugging("interference.nest", CACHES.slice(0, 2), async (page) => {
	await refused(page, "condition", { condition: "object = X" }, "condition", "a comparison is written ==");
	await refused(page, "condition", { condition: "(set < 8" }, "condition", "a parenthesis is not closed");
	await refused(page, "line", { line: "fourteen" }, "line", "this is not a whole number");
	await refused(page, "line", { file: "interference.nest" }, "line", "line is missing");
	await refused(page, "loops", { loops: "i 3" }, "loops", "i=3, j=7");
	await addBreakpoint(page, "condition", { condition: 'object == "Y" && miss' });
	assert.match(await page.innerText(".breakpoints li"), /stopped 0 times/);
	await page.click("text=Next breakpoint");
	await page.waitForSelector(".breakpoints li:has-text('stopped once')");
	await page.click("text=Next breakpoint");
	await page.waitForSelector(".breakpoints li:has-text('stopped 2 times')");
}));

// ---- every width and theme ----

test("fits both widths and themes, and axe finds no fault", async () => {
	const trace = await sharingTrace(`heap ${"a::long<name>::".repeat(12)}f()`);
	for (const [source, options] of [["blocked.nest", CACHES], ["interference.nest", CACHES.slice(0, 2)], [trace, CORES]])
		await debugging(source, options, async (page) => {
			const axe = await axeOf(page);
			await addBreakpoint(page, "conflict", {});
			await goTo(page, 1500);
			await page.click(".cache canvas", { position: { x: 20, y: 20 } });
			await page.waitForSelector(".story");
			for (const colorScheme of ["light", "dark"]) for (const width of [1280, 390]) {
				await page.emulateMedia({ colorScheme });
				await page.setViewportSize({ width, height: 844 });
				await page.waitForSelector(`html[data-theme=${colorScheme}]`);
				const where = `${source}, ${colorScheme}, ${width}`;
				await steady(page);
				assert.deepEqual(await whatIsCut(page), [], where);
				const scrolled = await page.$eval(".statistics .scroll", (table) => table.scrollWidth - table.clientWidth);
				assert.ok(width < 1280 || scrolled <= 0, `${where}: ${scrolled} pixels of the statistics are out of sight`);
				assert.deepEqual(await axe(), [], where);
			}
		});
	await rm(trace);
});
