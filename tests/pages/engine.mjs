// SPDX-License-Identifier: MIT
// engine.mjs NEARMISS EXAMPLES CHROMIUM ANNOTATED - the debugger in one file: its answers must be those of the server, number by
// number, at random moments of nests and traces; and its page is driven from disk.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { whatIsCut } from "./cut.mjs";
import { PATIENCE_MS } from "./reader.mjs";
import { steady } from "./steady.mjs";
import { options as bundling, worker } from "../../web/build.mjs";

const web = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium } = web("playwright-core");
const { build } = web("esbuild");
const [nearmiss, examples, executablePath, annotated] = process.argv.slice(2);
if (!executablePath) {
	console.log("engine: skipped: chromium is not installed");
	process.exit(77);
}
let browser, folder, questions;

before(async () => {
	browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
	folder = await mkdtemp(join(tmpdir(), "nearmiss-engine-"));
	// The page's own way to ask, once more, to ask from here.
	const source = fileURLToPath(new URL("../../web/src/api.ts", import.meta.url));
	const { define } = await worker();
	const bundle = await build({ ...bundling, minify: false, define, entryPoints: [source], write: false, globalName: "nearmissApi" });
	questions = bundle.outputFiles[0].text.replace(/^(\s*"use strict";)?\s*var nearmissApi/, "globalThis.nearmissApi");
});
after(async () => {
	await browser.close();
	await rm(folder, { recursive: true });
});

const example = (name) => resolve(examples, name);

function writeFileOf(input, options) {
	const path = join(folder, "debugger.html");
	execFileSync(nearmiss, ["view", "--html", path, ...options, input], { stdio: ["ignore", "inherit", "pipe"] });
	return path;
}

/** Runs `check` with the page of a file. */
async function opened(path, check, hash = "") {
	const context = await browser.newContext({ acceptDownloads: true });
	context.setDefaultTimeout(PATIENCE_MS);
	try {
		const page = await context.newPage();
		const faults = [];
		page.on("pageerror", (error) => faults.push(error.message));
		page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
		await page.goto(`file://${path}#/debugger${hash}`);
		await page.waitForSelector(".debugger");
		await check(page);
		assert.deepEqual(faults, []);
	} finally {
		await context.close();
	}
}

/** Runs `check` with a way to ask the server. */
async function served(input, options, check) {
	const server = spawn(nearmiss, ["view", "--no-browser", ...options, input], { stdio: ["ignore", "pipe", "inherit"] });
	const context = await browser.newContext();
	context.setDefaultTimeout(PATIENCE_MS);
	try {
		const address = await new Promise((resolve, reject) => {
			createInterface(server.stdout).once("line", resolve);
			server.once("exit", (status) => reject(new Error(`nearmiss view ends with ${status}`)));
		});
		const page = await context.newPage();
		await page.goto(address);
		await check(askerOf(page));
	} finally {
		await context.close();
		server.kill();
	}
}

/** Asks many things in a page at once, in order; an answer that is refused is { error }. */
function askerOf(page) {
	const ready = page.evaluate(questions);
	return async (...asked) => {
		await ready;
		return page.evaluate(async (list) => {
			const { get, post, remove } = globalThis.nearmissApi;
			const answers = [];
			for (const [verb, name, content] of list) {
				const ask = { GET: get, POST: post, DELETE: remove }[verb];
				answers.push(await ask(`/api/d/${name}`, content).catch((error) => ({ error: error.message })));
			}
			return answers;
		}, asked);
	};
}

/** Numbers that follow from a seed. */
function random(seed) {
	let state = seed;
	return (below) => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return Math.floor((state / 2 ** 32) * below);
	};
}

const BY = ["total", "object", "reference", "set", "line"];

/** What is asked of one moment: of each cache what it holds and the sums, and who evicted some of its lines. */
function questionsOf(session, position, pick) {
	const caches = session.caches.flatMap(({ levels }, cache) => levels.flatMap(({ level, private: own }) =>
		Array.from({ length: own ? session.cores : 1 }, (_, core) => ({ cache, level, core }))));
	const address = () => {
		const { low, end } = session.objects[pick(session.objects.length)];
		return low + pick(end - low);
	};
	return caches.flatMap((of) => [
		["GET", "grid", of], ["GET", "grid", { ...of, cells: 7 }], ["GET", "memory", { ...of, bins: 19 }], ["GET", "memory", { ...of, bands: 2, bins: 3 }],
		...Array.from({ length: 4 }, () => ["GET", "evicted", { ...of, address: address() }]),
		...BY.map((by) => ["GET", "statistics", { ...of, by, from: pick(position + 1), to: position }]),
	]);
}

const RUNS = [{ until: "miss" }, { until: "miss", backwards: true }, { until: "eviction" }, { until: "visit", set: 3 },
	{ until: "condition", condition: "miss && write || evicted != object && hit" }, { until: "eviction", backwards: true }];

/** Then it goes on: where to, what runs by, and a step back. */
function movesOf(session, i, pick) {
	const panes = session.caches.map(({ levels: [{ level }] }, cache) => ({ cache, level, core: 0, set_from: 0, set_to: 8 }));
	return [
		["POST", "run", { ...RUNS[i % RUNS.length], limit_ms: 10000 }],
		["POST", "play", { count: 3, by: 1 + pick(9), panes }],
		["POST", "step", { count: -2 }],
	];
}

/** Breakpoints of each kind about what the run has, some with a level, a condition, or matches to skip. */
function breakpointsOf({ kind, total, objects, caches }, pick) {
	const { name, low, end } = objects[pick(objects.length)];
	const cache = pick(caches.length);
	const { level, sets } = caches[cache].levels[pick(caches[cache].levels.length)];
	const kinds = [
		{ kind: "reference", position: 1 + pick(total) }, { kind: "object", object: name }, { kind: "line", line: 11 + pick(11) },
		{ kind: "section", object: name, from: 1 }, { kind: "section", address_from: low, address_to: low + pick(end - low) },
		{ kind: "cache", set_from: pick(sets), set_to: sets - 1, way: 0 }, { kind: "evicts", victim: name }, { kind: "evicts" },
		{ kind: "conflict" }, { kind: "conflict", object: name }, { kind: "false_sharing" }, { kind: "false_sharing", object: name },
		{ kind: "condition", condition: "miss" }, { kind: "condition", condition: "!hit && (thread % 2 == 0 || write)" },
		{ kind: "condition", condition: `class == cold || set * 2 + way > ${sets} && size - 4 <= 4` },
		...(kind === "nest" ? [{ kind: "loops", loops: { i: 1 } }] : []),
	];
	return kinds.map((one, i) => ({
		...one, ...(i % 2 ? { cache, level } : {}), ...(pick(4) ? {} : { condition: one.condition ?? "write" }), skip: pick(2) * pick(9),
	}));
}

const RUN_ON = ["POST", "run", { until: "breakpoint", limit_ms: 10000 }];
const RUN_BACK = ["POST", "run", { until: "breakpoint", backwards: true, limit_ms: 10000 }];

/** Each breakpoint is added, run to, switched off and on, and removed; then all of them hold together. */
function stopsOf(session, pick) {
	const added = breakpointsOf(session, pick);
	const runs = [["POST", "goto", { position: pick(session.total) }], RUN_ON, RUN_ON, RUN_ON, RUN_BACK];
	return [
		...added.flatMap((one, i) => [
			["POST", "breakpoints", one], ...runs, ["POST", "breakpoints", { id: i + 1, enabled: false }], RUN_ON, RUN_BACK,
			["POST", "breakpoints", { id: i + 1, enabled: true }], RUN_ON, ["DELETE", "breakpoints", { id: i + 1 }],
		]),
		...added.map((one) => ["POST", "breakpoints", one]), ...runs, RUN_ON, ["GET", "breakpoints"],
	];
}

/** A nest runs with other parameters and addresses; a trace cannot. */
function changesOf({ parameters, objects: [{ name, low }] }, pick) {
	const changed = Object.fromEntries(Object.entries(parameters).map(([of, value]) => [of, value - pick(3)]));
	return [["POST", "nest", { parameters: changed, pads: { [name]: 64 * pick(9) }, bases: { [name]: low + 4096 } }],
		["GET", "session"], ["GET", "strip", { bins: 9 }], ["GET", "statistics", {}], ["POST", "nest", { bases: { [name]: -1 } }],
		["POST", "nest", {}]];
}

/** Breakpoints that are refused. */
const WRONG = [
	{ kind: "condition" }, { kind: "no such" }, { kind: "object" }, { kind: "line", line: "one" }, { kind: "loops", loops: {} },
	{ kind: "conflict", level: "L9" }, { id: 9999, enabled: true }, { kind: "object", object: `a"b'c` },
	...["miss &&", "(miss", "miss write", "'name", "1x", "", "nothing == 1", "(".repeat(40) + "1", "a".repeat(300)]
		.map((condition) => ({ kind: "condition", condition })),
].map((one) => ["POST", "breakpoints", one]);

/** Asks the server and the file the same at the same moments. */
async function compare(input, options, moments) {
	const path = writeFileOf(input, options);
	await opened(path, async (page) => served(input, options, async (server) => {
		const file = askerOf(page);
		const [session] = await server(["GET", "session"]);
		assert.deepEqual(await file(["GET", "session"]), [session]);
		const pick = random(1);
		for (let i = 0; i < moments; i++) {
			const position = i ? pick(session.total + 1) : session.total;
			const asked = [["POST", "goto", { position }], ["GET", "strip", { bins: 100 }], ...questionsOf(session, position, pick),
				...movesOf(session, i, pick), ...(i ? changesOf(session, pick) : [...WRONG, ...stopsOf(session, pick)])];
			const [told, known] = [await file(...asked), await server(...asked)];
			asked.forEach((question, k) => assert.deepEqual(told[k], known[k], `${JSON.stringify(question)} at ${position}`));
		}
	}));
}

test("a nest in two caches", () => compare(example("interference.nest"),
	["-c", "L1d=8K,1,32", "-c", "L1d=8K,1,32,sets=253"], 4));

test("a nest in caches of other policies, with prefetching and inclusion", () => compare(example("blocked.nest"),
	["-s", "N=64", "-c", "L1d=1K,2,32,policy=random,prefetch=next:L2=4K,4,64,policy=tree-plru,inclusion=inclusive",
		"-c", "L1d=1K,2,64:L2=4K,4,64,inclusion=exclusive", "-c", "L1d=1K,2,64,write=through"], 4));

test("a nest that reads a file of values", () => compare(example("sparse.nest"), ["-c", "L1d=1K,2,32", "--to", "9000"], 2));

// ---- traces ----

const HOSTILE = "<script>document.title='run'</script>\"'&\u202e\u0007";

/** Threads write to words of one line by turns, and read lines of their own. */
async function sharingTrace(rounds, name = "counters") {
	const path = join(folder, "sharing.csv");
	const rows = ["addr,rw,size,thread,object,function,file,line"];
	for (let i = 0; i < rounds; i++)
		for (const thread of [1, 2, 3]) {
			rows.push(`${0x10000 + 8 * thread},${i % 3 ? "w" : "r"},8,${thread},${name},count,count.c,${10 + thread}`);
			rows.push(`${0x20000 + 4096 * thread + 60 * (i % 40)},r,8,${thread},input,count,count.c,20`);
			rows.push(`${0x30000 + 64 * (i * thread % 100)},w,4,${thread},shared,count,count.c,21`);
		}
	await writeFile(path, rows.join("\n") + "\n");
	return path;
}

test("a trace of threads on several cores", async () => compare(await sharingTrace(300),
	["--cores", "3", "--quantum", "1", "-c", "L1d=512,2,64:L2=2K,4,64:L3=8K,full,64"], 4));

test("a trace of threads on one core, in two caches", async () => compare(await sharingTrace(100),
	["-c", "L1d=512,2,64", "-c", "L1d=512,2,64,policy=fifo:L2=2K,4,128,sector=64"], 4));

test("a trace of ten references", async () => {
	const path = join(folder, "ten.csv");
	await writeFile(path, "addr,rw,size\n" + Array.from({ length: 10 }, (_, i) => `${4096 + 32 * i},w,4\n`).join(""));
	await compare(path, ["-c", "L1d=512,2,64"], 4);
});

test("a recorded program that is not measured everywhere", async () => {
	const path = join(folder, "annotated.nmt");
	execFileSync(nearmiss, ["record", "-q", "--trace", path, "-o", join(folder, "annotated.nmp"), "--", annotated],
		{ stdio: ["ignore", "ignore", "inherit"] });
	await compare(path, ["--from", "165000", "-c", "L1d=1K,2,64:L2=16K,4,64"], 2);
});

for (const name of ["list.lackey", "list.din"])
	test(`a trace of another tool, ${name}`, () => compare(example(`../tests/data/import/${name}`), ["-c", "L1d=1K,2,64"], 2));

test("matches are skipped through a whole run, whatever its limits of time", async () => {
	const path = writeFileOf(await sharingTrace(20000), ["--cores", "3", "--quantum", "1", "-c", "L1d=512,2,64"]);
	await opened(path, async (page) => {
		const file = askerOf(page);
		const run = (limit_ms) => ["POST", "run", { until: "breakpoint", limit_ms }];
		const skipping = { kind: "condition", condition: "write", skip: 80000 };
		const [, , known] = await file(["POST", "goto", { position: 0 }], ["POST", "breakpoints", skipping], run(10000));
		assert.equal(known.stopped_by, "breakpoint");
		let [, state] = await file(["POST", "goto", { position: 0 }], run(1));
		assert.equal(state.stopped_by, "limit");
		while (state.stopped_by === "limit") [state] = await file(run(1));
		assert.equal(state.position, known.position);
		const [there, , , again] = await file(["POST", "goto", { position: 0 }], run(1), ["POST", "goto", { position: 0 }], run(10000));
		assert.deepEqual([there.position, again.position], [0, known.position]);  // a run that is left begins anew
		await page.selectOption(".breakpoints form select", "condition");
		await page.fill(".breakpoints [name=condition]", "thread == 9");
		await page.fill(".breakpoints [name=skip]", "3");
		await page.click(".breakpoints form button");
		await page.waitForSelector("text=/skips 3 matches/");
		await page.click("text=Next breakpoint");
		await page.click("text=Start");  // ends the search
		await at(page, 0);
		await page.waitForSelector(".transport >> text=Run");
		await page.waitForTimeout(500);
		assert.equal(await position(page), 0);
	});
});

// ---- the page, from disk ----

const position = (page) => page.inputValue(".scrubber input").then(Number);

async function at(page, expected) {
	const text = expected ? `${expected.toLocaleString("en")} of` : "None yet";
	await page.waitForFunction((start) => document.querySelector(".moment > p, .moment dd").textContent.startsWith(start), text);
}

async function goTo(page, to) {
	await page.fill(".scrubber input", String(to));
	await page.press(".scrubber input", "Enter");
	await at(page, to);
}

/** The pixels of the grid, and the text beside it. */
const look = (page) => page.evaluate(() => [[...document.querySelectorAll(".cache canvas")].map((one) => one.toDataURL()),
	document.querySelector(".moment").innerText, document.querySelector(".effects").innerText, document.querySelector(".statistics table").innerText]);

/** What is seen once the page stands still. */
async function sight(page) {
	await steady(page);
	return look(page);
}

async function stopAt(page, kind, fields) {
	await goTo(page, 0);
	await page.selectOption(".breakpoints form select", kind);
	for (const field of await page.$$(".breakpoints form input")) await field.fill("");
	for (const [name, value] of Object.entries(fields)) await page.fill(`.breakpoints [name=${name}]`, String(value));
	await page.click(".breakpoints form button");
	await page.waitForSelector(".breakpoints li");
	await page.click("text=Next breakpoint");
	await page.waitForSelector("text=/Stopped by breakpoint/");
	const there = await position(page);
	await page.click(".breakpoints li button");
	await page.waitForFunction(() => document.querySelectorAll(".breakpoints li").length === 0);
	return there;
}

// Where each kind of breakpoint must stop first: three references an iteration, j fastest.
const KINDS = [
	["reference", { position: 77 }, 77], ["reference", { reference: "Y(j,i)" }, 2], ["line", { line: 14 }, 1], ["object", { object: "Y" }, 2],
	["section", { object: "Y", from: 200, to: 210 }, 602], ["loops", { loops: "i=3, j=7" }, 3 * (300 + 7) + 1],
	["cache", { set_from: 5, set_to: 5 }, null], ["evicts", { evictor: "Y", victim: "X" }, 266], ["conflict", {}, null],
	["condition", { condition: "miss && write" }, null],
];

test("the page steps, stops, tells who evicted a line, and has links", async () => {
	const path = writeFileOf(example("interference.nest"), ["-c", "L1d=8K,1,32"]);
	await opened(path, async (page) => {
		await goTo(page, 2402);
		const before = await sight(page);
		await page.click("text=Step >> nth=1");
		await at(page, 2403);
		assert.notDeepEqual(await sight(page), before);
		await page.click("text=Step back");
		await at(page, 2402);
		assert.deepEqual(await sight(page), before);
		for (const [kind, fields, expected] of KINDS) {
			const there = await stopAt(page, kind, fields);
			assert.ok(expected === null ? there > 0 : there === expected, `${kind} stops at ${there}`);
		}
		await stopAt(page, "conflict", {});
		await page.click("text=Who evicted this line?");
		await page.waitForSelector(".story");
		assert.match(await page.textContent(".story"), /evicted by [XY]/);
		await goTo(page, 0);
		await page.click("text=Next miss");
		await at(page, 1);
		await page.selectOption("text=speed >> select", "1000");
		await page.click("text=Run");
		await page.waitForFunction(() => Number(document.querySelector(".scrubber input").value) > 500);
		await page.click("text=Pause");
		await page.click("text=End");
		await at(page, 30000);
		assert.match(await page.textContent(".statistics table"), /1,251/);  // as the paper counts
		await goTo(page, 2402);
		await page.waitForURL(/position=2402/);
		await page.reload();
		await page.waitForSelector(".debugger");
		await at(page, 2402);
		assert.deepEqual(await sight(page), before);
		await page.fill("[aria-label='padding of X']", "4096");
		await page.press("[aria-label='padding of X']", "Enter");
		await page.waitForURL(/pad.*4096|4096.*pad/);
		assert.notDeepEqual(await sight(page), before);
	});
});

test("names of programs are shown as text", async () => {
	const path = writeFileOf(await sharingTrace(5, HOSTILE.replaceAll('"', "").replaceAll(",", "")), ["-c", "L1d=512,2,64"]);
	await opened(path, async (page) => {
		await page.click("text=End");
		await at(page, 45);
		assert.equal(await page.locator("#page script").count(), 0);
		assert.notEqual(await page.title(), "run");
		assert.match(await page.textContent(".debugger"), /<script>document\.title='run'<\/script>/);
		await stopAt(page, "object", { object: "input" });
	});
	assert.ok((await stat(path)).size < 10 << 20);
});

test("an address that changes while the file is opened", async () => {
	const path = writeFileOf(await sharingTrace(20000), ["--cores", "3", "-c", "L1d=512,2,64"]);
	const page = await browser.newPage();
	await page.goto(`file://${path}`);
	await page.evaluate(() => { location.hash = "#/debugger?position=100000"; });
	await page.waitForFunction(() => document.querySelector(".failed, .moment dd"));
	await at(page, 100000);
	await page.close();
});

test("fits both widths and themes, and axe finds no serious fault", async () => {
	const axe = await readFile(web.resolve("axe-core/axe.min.js"), "utf8");
	const path = writeFileOf(example("interference.nest"), ["-c", "L1d=8K,1,32"]);
	await opened(path, async (page) => {
		await page.evaluate(axe);
		for (const colorScheme of ["light", "dark"]) for (const width of [1280, 390]) {
			await page.emulateMedia({ colorScheme });
			await page.setViewportSize({ width, height: 844 });
			await page.waitForSelector(`html[data-theme=${colorScheme}]`);
			const where = `${colorScheme}, ${width}`;
			await steady(page);
			assert.deepEqual(await whatIsCut(page), [], where);
			const { violations } = await page.evaluate(() => globalThis.axe.run());
			const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
			assert.deepEqual(serious.map(({ id, nodes }) => `${id}: ${nodes[0].html}`), [], where);
		}
	});
});
