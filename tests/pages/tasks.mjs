// SPDX-License-Identifier: MIT
// tasks.mjs CASE ADDRESS CHROMIUM - does what a reader came for, and counts the clicks; exits 1 with what was wrong.
import assert from "node:assert/strict";
import { whatIsCut } from "./cut.mjs";
import { axeOf, reader, run, settled, show } from "./reader.mjs";

const [name, address, executablePath] = process.argv.slice(2);
const { browser, tab } = await reader(address, executablePath);

/** Clicks that a task takes at most, from the page that opens first. */
const MOST_CLICKS = 3;

/** Clicks each place in turn, which leads to a page, and says how many there were. */
async function clicks(page, ...steps) {
	for (const [place, view] of steps) {
		await page.locator(place).first().click();
		await settled(page, view);
	}
	assert.ok(steps.length <= MOST_CLICKS);
	return steps.length;
}

const ROW = "table:has(caption:has-text('Objects and lines')) tbody tr";

const cases = {
	async worst_structure_to_its_line() {
		const { page, faults } = await tab();
		await settled(page, "overview");
		const line = await page.locator(`${ROW} >> nth=0 >> td >> nth=1`).innerText();
		assert.equal(await clicks(page, [`${ROW} td:nth-child(2) a`, "source"]), 1);
		assert.equal(await page.innerText(".popover h2"), line);
		assert.match(await page.innerText(".listing tr.open"), new RegExp(`^${line.split(":")[1]}\\s`));
		assert.deepEqual(faults, []);
	},

	async who_evicts_it() {
		const { page } = await tab();
		await settled(page, "overview");
		await clicks(page, [`${ROW} td:nth-child(2) a`, "source"]);
		await page.waitForSelector("[aria-label='Who evicts what this line loaded'] tbody tr");
		const evictor = await page.locator("[aria-label='Who evicts what this line loaded'] tbody td >> nth=0").innerText();
		await clicks(page, ["[aria-label='Who evicts what this line loaded'] tbody a", "evictions"]); // the second
		assert.ok((await page.innerText("h2")).startsWith(`${evictor} evicts `));
		assert.ok(await page.locator("[aria-label='Lines of code'] tbody tr").count() > 0);
	},

	async which_field_to_move() {
		const { page } = await tab();
		await settled(page, "overview");
		const card = page.locator(".card:has-text('orders')").first();
		assert.match(await card.innerText(), /(price and count|count and state) lie 80 bytes apart[^]*struct \{ long int price; long int count; long int state; \}/i); // without a click
		await clicks(page, ["nav a:has-text('What if')", "whatif"]);
		assert.match(await page.innerText(".members"), /price[^]*customer/);
	},

	async lines_of_a_field() {
		const { page, faults } = await tab();
		await settled(page, "overview");
		const axe = await axeOf(page);
		await clicks(page, ["nav a:has-text('Structures')", "structures"], ["[aria-label=Fields] a:text-is('price')", "structures"]);
		const misses = async (place, nth) => page.locator(place).first().locator(`td:nth-child(${nth})`).getAttribute("title");
		const first = "[aria-label='Lines that access price'] tbody tr";
		await page.waitForSelector(first);
		assert.ok(await page.locator(".card:has-text('orders') button:has-text('Copy the layout')").count() > 0);
		assert.match(await page.locator(first).first().innerText(), /^cold\.c:\d+\s/);
		const all = Number((await misses("[aria-label=Fields] tr:has-text('price')", 6)).replaceAll(",", ""));
		let sum = 0;
		for (const text of await page.locator(`${first} td:last-child`).evaluateAll((cells) => cells.map(({ title }) => title)))
			sum += Number(text.replaceAll(",", ""));
		assert.equal(sum, all);
		assert.deepEqual(await axe(), []);
		await clicks(page, [`${first} a`, "source"]);
		assert.match(await page.innerText(".popover h2"), /^cold\.c:\d+$/);
		assert.deepEqual(faults, []);
	},

	async fields_by_loop() {
		const { page, faults } = await tab();
		await show(page, "structures", "?type=struct+body");
		const groups = await page.locator("[aria-label='Groups of fields'] li").allInnerTexts();
		assert.deepEqual(groups.sort(), ["mass, heat, light, age", "x, y, dx, dy"]);
		await page.evaluate(() => { navigator.clipboard.writeText = async (text) => { window.copied = text; }; });
		await page.click("button:has-text('Copy the split')");
		assert.match(await page.evaluate(() => window.copied), /^split struct body hot\((x, y, dx, dy|mass, heat, light, age)\) parallel$/);
		await clicks(page, ["text=What if the first group were apart", "whatif"]);
		assert.match(decodeURIComponent(page.url()), /layout=(0\.1\.2\.3_4|4\.5\.6\.7_0)/);
		assert.deepEqual(faults, []);
	},

	async is_sharing_false() {
		const { page, faults } = await tab();
		await settled(page, "overview");
		const axe = await axeOf(page);
		assert.equal(await clicks(page, ["nav a:has-text('Sharing')", "sharing"]), 1);
		assert.match(await page.innerText(".verdict"), /^False sharing: 100 % of [\d,]+ coherence misses/);
		const card = page.locator(".card.shared").first();
		assert.match(await card.locator("h2").innerText(), /^parts.*: false sharing$/);
		assert.match(await card.locator(".repair").innerText(), /^Repair: Pad struct part \(56 bytes\) to 64.*alignas\(64\).* instead of/);
		const threads = await card.locator("[aria-label^='Accesses to line'] tbody td:nth-child(2)").allInnerTexts();
		assert.equal(new Set(threads).size, 2, threads.join());
		const lines = await card.locator("[aria-label^='Accesses to line'] tbody td:nth-child(1) a").allInnerTexts();
		assert.ok(lines.length >= 4 && lines.every((line) => /^sharing\.c:4\d$/.test(line)), lines.join());
		const figures = async (nth) => (await page.locator(`[aria-label='Contended lines'] tbody td:nth-child(${nth})`).allInnerTexts());
		const headings = await page.locator("[aria-label='Contended lines'] th").allInnerTexts();
		assert.ok((await figures(headings.indexOf("misses") + 1)).every((misses) => misses !== "0"));
		assert.match(await page.innerText("[aria-label='Contended lines'] tfoot"), /^\d+ more, each below 1 %/);
		for (const by of ["object", "field", "function", "thread", "core"]) {
			await show(page, "sharing", `?by=${by}`);
			assert.ok(await page.locator("[aria-label='Contended lines'] tbody tr").count() > 0, by);
		}
		assert.deepEqual(await axe(), []);
		await show(page, "sharing", "?p=1");
		assert.match(await page.innerText(".verdict"), /^Hardly any sharing: \d+ of [\d,]+ misses/);
		await show(page, "sharing", "?p=2");
		assert.match(await page.innerText(".lack pre"), /^nearmiss record --cores=4 -- /);
		await page.setViewportSize({ width: 390, height: 844 });
		await show(page, "sharing");
		assert.deepEqual(await whatIsCut(page), []);
		assert.deepEqual(faults, []);
	},

	async what_changed() {
		const { page } = await tab();
		await settled(page, "overview");
		assert.equal(await clicks(page, ["nav a:has-text('Compare')", "compare"]), 1);
		assert.match(await page.innerText(".verdict"), /fall by .*largest change is/);
		const row = await page.locator("[aria-label='What changed most'] tbody tr").first().innerText();
		assert.match(row, /cold\.c:\d+/);
		await clicks(page, ["[aria-label='What changed most'] tbody a", "source"]); // the second
		assert.match(await page.innerText(".popover h2"), /^cold\.c:\d+$/);
	},

	async search() {
		const { page, faults } = await tab();
		await settled(page, "overview");
		const axe = await axeOf(page);
		const find = async (typed, first) => {
			await page.keyboard.press("Control+k");
			await page.waitForSelector("dialog.search[open]");
			await page.keyboard.type(typed);
			await page.waitForFunction((text) => document.querySelector("#finds li[aria-selected=true]")?.innerText.includes(text), first);
		};
		const leads = async (typed, first, view, part) => {
			await find(typed, first);
			await page.keyboard.press("Enter");
			await page.waitForFunction((text) => decodeURIComponent(location.hash).includes(text), part);
			await settled(page, view);
			assert.equal(await page.locator("dialog[open]").count(), 0);
		};
		await leads("sum_vec", "sum_vector", "tables", "by=function");
		assert.match(await page.innerText("tbody"), /sum_vector/);
		await leads("containers.cpp file", "containers.cpp", "source", "containers.cpp");
		await leads("object table", "table", "tables", "by=object");
		assert.match(await page.innerText("tbody"), /table/);
		await leads("go evic", "Go to Evictions", "evictions", "#/evictions");
		await page.goBack();
		await settled(page, "tables");
		let release;
		const held = new Promise((resolve) => { release = resolve; });
		await page.route("**/names*", (route) => held.then(() => route.continue()));
		await page.keyboard.press("Control+k");
		await page.waitForSelector("dialog.search[open]");
		await page.keyboard.type("sum_vec");
		await page.keyboard.press("Enter"); // before the answer
		release();
		await page.waitForFunction(() => location.hash.includes("by=function"));
		await settled(page, "tables");
		await page.unroute("**/names*");
		await find("light", "Light or dark");
		assert.deepEqual(await axe(), []);
		await page.keyboard.press("Enter");
		assert.equal(await page.getAttribute("html", "data-theme"), "dark");
		await find("vector", "");
		await page.keyboard.press("ArrowDown");
		assert.equal(await page.getAttribute("#finds [aria-selected=true]", "id"), "find-1");
		await page.keyboard.press("Control+a");
		await page.keyboard.type("nothing has this name");
		await page.waitForSelector("text=Nothing has this name.");
		await page.keyboard.press("Escape");
		await page.waitForFunction(() => !document.querySelector("dialog"));
		await show(page, "source"); // which has no filter
		await page.keyboard.press("/");
		await page.waitForSelector("dialog.search[open]");
		await page.keyboard.press("Escape");
		await page.waitForFunction(() => !document.querySelector("dialog"));
		await page.keyboard.press("?");
		assert.match(await page.innerText("dialog[open]"), /Ctrl K\s+search for a name or a command/);
		assert.deepEqual(faults, []);
	},

	async chains() {
		const { page, faults } = await tab();
		await show(page, "chains");
		const axe = await axeOf(page);
		const said = () => page.innerText("#page [role=status]");
		const misses = async () => Number((await said()).match(/: ([\d,]+) misses/)[1].replaceAll(",", ""));
		const titles = () => page.locator(".icicle title").allTextContents();
		const leads = async (part) => {
			await page.waitForFunction((text) => location.hash.includes(text), part);
			await settled(page, "chains");
		};
		const press = async (...keys) => {
			await page.focus("[role=application]");
			for (const key of keys) await page.keyboard.press(key);
		};
		const all = await misses();
		assert.match(await said(), /^All: .* \(100 %\)$/);
		await press("ArrowDown");
		assert.match(await said(), /^v \(containers\.cpp:56\): /); // the vector has the most lines
		const ofVector = await misses();
		await press("ArrowDown");
		assert.match(await said(), /^containers\.cpp:\d+: /);
		const line = await misses();
		await press("ArrowRight"); // v is filled by one line and summed by another
		assert.match(await said(), /^containers\.cpp:\d+: /);
		assert.equal(line + await misses(), ofVector);
		await press("ArrowLeft", "ArrowDown");
		assert.match(await said(), /^(sum_vector|main).* \(from /);
		await press("ArrowUp", "Enter");
		await leads("at=0.0");
		assert.match(await page.innerText(".path"), /^All › v \(containers.cpp:56\) › containers\.cpp:\d+: /);
		await press("Backspace");
		await page.waitForFunction(() => location.hash.endsWith("at=0"));
		await page.goBack();
		await leads("at=0.0");
		await page.click(".path a >> nth=0");
		await page.waitForFunction(() => !location.hash.includes("at="));
		await settled(page, "chains");

		await page.selectOption("label:has-text('From') select", "call");
		await leads("by=call");
		assert.equal(await misses(), all);
		const inwards = await titles();
		assert.ok(inwards.findIndex((title) => title.startsWith("main ")) < inwards.findIndex((title) => title.startsWith("sum_vector(")));
		assert.ok(inwards.some((title) => title.startsWith("Each below 1 %: ")));
		await page.fill("input[type=search]", "SUM_VECTOR");
		await leads("filter=SUM_VECTOR");
		assert.ok(Math.abs(await misses() - 62501) < 10); // the lines of 1,000,000 ints
		assert.ok((await titles()).every((title) => !title.startsWith("sum_strided")));
		await page.click(".icicle g:has(title:text-matches('^sum_vector'))");
		await leads("at=");
		await press("ArrowDown");
		assert.match(await said(), /^containers\.cpp:\d+: 62,50\d misses/);
		assert.deepEqual(await axe(), []);
		await clicks(page, ["text=Show the line in the source", "source"]);
		assert.match(await page.innerText(".listing tr.open"), /sum \+= x; \/\/ @vector/);
		assert.match(await page.innerText("section[aria-label='Call chains']"), /100 %: sum_vector.* \(containers\.cpp:61\) < main/);
		await clicks(page, ["section[aria-label='Call chains'] a", "source"]); // to the call
		assert.match(await page.innerText(".listing tr.open"), /std::printf/);
		await page.setViewportSize({ width: 390, height: 844 });
		await show(page, "chains", "?filter=nothing%20has%20this%20name");
		assert.match(await page.innerText("#page"), /No chain has this name/);
		await show(page, "chains");
		assert.deepEqual(await whatIsCut(page), []);
		assert.deepEqual(await axe(), []);
		assert.deepEqual(faults, []);
	},

	async small_rows() {
		const { page, faults } = await tab();
		await show(page, "tables", "?by=object&mine=0");
		const misses = async () => (await page.$$eval("tbody td:nth-child(3)", (cells) => cells.map(({ title }) => Number(title.replaceAll(",", "")))));
		const all = () => page.innerText("tfoot tr:last-child");
		const [large, sums] = [await misses(), await all()];
		const others = Number((await page.innerText("tfoot")).match(/^([\d,]+) more, each below 1 %/)[1].replaceAll(",", ""));
		await page.check("label:has-text('Rows below 1 %') input");
		await page.waitForFunction(() => location.hash.includes("small=1"));
		await settled(page, "tables");
		const rows = Number((await page.innerText(".paging [role=status]")).match(/of ([\d,]+)/)[1].replaceAll(",", ""));
		assert.equal(rows, large.length + others);
		assert.equal(await all(), sums);
		assert.deepEqual((await misses()).slice(0, large.length), large);
		assert.ok((await misses()).slice(large.length).every((count) => count < large.at(-1)));
		await show(page, "tables", "?by=object&mine=0&filter=.dynsym");
		assert.ok(await page.locator("tbody tr").count() > 0); // what is named is shown
		assert.deepEqual(faults, []);
	},

	async tables_of_a_file() {
		const { page, faults } = await tab();
		await show(page, "tables", "?small=1");
		const column = (n) => page.$$eval(`tbody td:nth-child(${n})`, (cells) => cells.map(({ title, innerText }) => title || innerText));
		const numbers = async (n) => (await column(n)).map((text) => Number(text.replaceAll(",", "")));
		const names = await column(1);
		assert.deepEqual(await numbers(3), (await numbers(3)).sort((a, b) => b - a));
		await page.click("th:nth-child(3) button"); // the least first
		await page.waitForFunction(() => location.hash.includes("order=asc"));
		await settled(page, "tables");
		assert.deepEqual(await numbers(3), (await numbers(3)).sort((a, b) => a - b));
		await page.click("th:nth-child(1) button");
		await page.waitForFunction(() => location.hash.includes("sort=object"));
		await settled(page, "tables");
		assert.deepEqual((await column(1)).sort(), names.sort());
		await page.fill("input[type=search]", "CONTAINERS.cpp:5");
		await page.waitForFunction((count) => document.querySelectorAll("tbody tr").length < count, names.length);
		assert.deepEqual((await column(1)).sort(), names.filter((text) => text.includes("containers.cpp:5")).sort());
		await page.click("tbody tr a"); // to its lines
		await page.waitForFunction(() => location.hash.includes("by=object%2Cfile%2Cline"));
		await settled(page, "tables");
		assert.equal(await page.locator(".failed").count(), 0);
		assert.match(await page.innerText("tbody"), /containers\.cpp/);
		await page.click("tbody tr a");
		await settled(page, "source");
		assert.equal(await page.locator(".failed").count(), 0);
		assert.deepEqual(faults, []);
	},

	async evictions_of_mine() {
		const { page } = await tab();
		await show(page, "evictions");
		const objects = () => page.locator(".heatmap title").allTextContents();
		const count = async () => Number((await page.innerText("main .answer > .fine")).match(/^([\d,]+) evictions/)[1].replaceAll(",", ""));
		const [mine, named] = [await count(), (await objects()).join()];
		assert.doesNotMatch(named, /\.so/);
		assert.match(named, /others, each below 1 %/);
		assert.match(await page.innerText("tfoot"), /^[\d,]+ more pairs/);
		await page.uncheck("label:has-text('Mine only') input");
		await page.waitForFunction(() => location.hash.includes("mine=0"));
		await settled(page, "evictions");
		assert.ok(await count() > mine);
	},
};

await run(cases, name, browser);
