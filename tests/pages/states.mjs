// SPDX-License-Identifier: MIT
// states.mjs CASE ADDRESS CHROMIUM SERVER - what pages say where something is missing or slow; exits 1 with what was wrong.
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { axeOf, reader, run, settled, show } from "./reader.mjs";

const [name, address, executablePath, server] = process.argv.slice(2);
const { browser, tab } = await reader(address, executablePath);
const PAGES = ["overview", "treemap", "tables", "source", "timeline", "evictions", "curves", "histograms", "sharing", "structures", "chains"];

/** Each table of the page, as the texts of its columns. */
const columnsOf = (page) => page.$$eval("main table", (tables) => tables.map((table) => ({
	name: table.caption?.textContent ?? "",
	columns: [...table.tHead.rows[0].cells].map((head, n) => ({
		heading: head.textContent,
		isNumber: head.classList.contains("number"),
		cells: [...table.querySelectorAll("tbody tr, tfoot tr")].map((row) => row.cells[n]?.querySelector(".value")?.textContent ?? ""),
	})),
})));

const WAYS = { // a number of a column may be zero or none in each of them
	short: /^[-+]?\d+(\.\d+)?[kMGT]?$/, whole: /^[-+]?\d{1,3}(,\d{3})*$/, real: /^[-+]?\d+(\.\d+)?$/,
	percent: /^[-+]?[\d.]+ %$/, bytes: /^[-+]?[\d.]+ ([KMGT]i)?B$/,
};

const cases = {
	async server_gone() {
		const { page } = await tab();
		await settled(page, "overview");
		const shown = await page.innerText(".verdict");
		assert.equal(await page.locator(".gone").count(), 0);
		process.kill(Number(server), "SIGTERM");
		for (const view of PAGES.slice(1)) {
			await page.evaluate((hash) => { location.hash = hash; }, `#/${view}`);
			await page.waitForSelector(`#page[data-view=${view}] .gone`);
			assert.match(await page.innerText(".gone"), /nearmiss view has ended.*Start it again/, view);
		}
		await page.keyboard.press("?"); // keys still work
		await page.waitForSelector("dialog[open]");
		assert.ok(shown.length > 10);
	},

	async absent() {
		const { page, faults } = await tab();
		const axe = await axeOf(page);
		const says = async (hash, text) => {
			await page.evaluate((to) => { location.hash = to; }, hash);
			await page.waitForFunction((wanted) => document.querySelector("#page").innerText.includes(wanted), text);
			assert.deepEqual(await axe(), [], hash);
		};
		await says("#/overveiw", "There is no page “overveiw”");
		assert.match(await page.title(), /^No such page/);
		assert.equal(await page.locator("nav [aria-current]").count(), 0);
		await page.click("#page a");
		await settled(page, "overview");
		await says("#/tables?p=7", "profile 7");
		await page.click("#page a");
		await settled(page, "tables");
		await says("#/%E0%A4%A", "There is no page");
		await says("#/compare", "nearmiss view BEFORE.nmp AFTER.nmp");
		await says("#/source?file=nowhere.c", "no file nowhere.c");
		await show(page, "source");
		const file = await page.inputValue("#page select");
		const last = await page.locator(".listing .line-number").last().innerText();
		await says(`#/source?file=${encodeURIComponent(file)}&line=999999`, `There is no line 999,999`);
		for (const row of await page.$$(".listing tr[id]")) { // a line without counts is led to, too
			const line = (await row.getAttribute("id")).slice("line-".length);
			if (await row.$("a") || Number(line) < Number(last) / 2) continue;
			await show(page, "source", `?file=${encodeURIComponent(file)}&line=${line}`);
			const [box, at] = [await page.locator(".listing").boundingBox(), await page.locator(`#line-${line}`).boundingBox()];
			assert.ok(at.y >= box.y && at.y + at.height <= box.y + box.height, line);
			break;
		}
		await show(page, "tables", "?level=L9"); // which nothing has
		assert.ok(await page.locator("tbody tr").count() > 0);
		assert.deepEqual(faults, []);
	},

	async slow() {
		const { page, faults } = await tab({ at: "#/overview" });
		let holds = true;
		await settled(page, "overview");
		await page.route("**/api/p/0/table*", async (route) => {
			while (holds)
				await pause(20);
			await route.continue();
		});
		await page.evaluate(() => { location.hash = "#/tables"; });
		await page.waitForSelector(".waiting:has-text('Loading')");
		await page.waitForSelector(".waiting:has-text('This takes a while')");
		assert.match(await page.innerText(".waiting"), /\d s$/);
		holds = false;
		await page.waitForSelector("tbody tr");
		assert.equal(await page.locator(".waiting").count(), 0);
		assert.deepEqual(faults, []);
	},

	async busy() {
		const { page, faults } = await tab({ at: "#/about" });
		let holds = true;
		await page.route("**/api/p/0/overview*", async (route) => {
			while (holds)
				await pause(20);
			await route.continue();
		});
		for (const view of ["treemap", "tables", "source", "evictions", "structures"]) {
			await page.evaluate((name) => { location.hash = `#/${name}`; }, view);
			await page.waitForSelector(`#page[data-view=${view}] .waiting, #page[data-view=${view}] [aria-busy=true]`);
			holds = false;
			await settled(page, view);
			holds = true;
			assert.equal(await page.locator(".waiting").count(), 0, view);
		}
		assert.deepEqual(faults, []);
	},

	async level() {
		const { page, context } = await tab();
		const level = () => page.inputValue("label:has-text('Level') select");
		await settled(page, "overview");
		assert.match(await page.innerText(".verdict"), /mostly L2 misses/);
		const links = await page.$$eval("nav a:not(.lacking)", (all) => all.map((one) => one.getAttribute("href").match(/^#\/(\w+)/)[1]));
		const ofOneLevel = links.filter((one) => ["treemap", "tables", "source", "evictions", "structures"].includes(one));
		assert.ok(ofOneLevel.length >= 4, links.join());
		for (const view of ofOneLevel) {
			await page.click(`nav a[href^='#/${view}']`);
			await settled(page, view);
			assert.equal(await level(), "L2", view);
			assert.doesNotMatch(page.url(), /level=/, view); // it was not chosen
		}
		await page.click("nav a[href^='#/tables']");
		await settled(page, "tables");
		await page.selectOption("label:has-text('Level') select", "L1d");
		await settled(page, "tables");
		await page.click("tbody tr a"); // to the lines of an object, and on to the source
		await page.waitForFunction(() => location.hash.includes("by="));
		await settled(page, "tables");
		assert.equal(await level(), "L1d");
		await page.click("tbody tr a");
		await settled(page, "source");
		assert.equal(await level(), "L1d");
		await page.click("nav a[href^='#/evictions']");
		await settled(page, "evictions");
		assert.equal(await level(), "L1d");
		const other = await context.newPage();
		await other.goto(page.url());
		await settled(other, "evictions");
		assert.equal(await other.inputValue("label:has-text('Level') select"), "L1d");
		for (let n = 0; n < 4; n++) await page.goBack(); // back to where it was not chosen
		await settled(page, "tables");
		assert.equal(await level(), "L2");
	},

	async phone() {
		const { page } = await tab({ width: 390 });
		let tables = 0;
		for (const view of PAGES) {
			await show(page, view);
			for (const table of await page.$$("main .scroll:has(> table tbody td.first)")) {
				tables++;
				const caption = await table.getAttribute("aria-label");
				for (const part of [0, 0.5, 1]) {
					const hidden = await table.evaluate((box, part) => {
						box.scrollLeft = part * (box.scrollWidth - box.clientWidth);
						const place = box.getBoundingClientRect();
						return [...box.querySelector("tbody tr").querySelectorAll(".first, .main")].filter((cell) => {
							const { left, right } = cell.getBoundingClientRect();
							return left < place.left - 1 || right > place.right + 1;
						}).map((cell) => cell.textContent);
					}, part);
					assert.deepEqual(hidden, [], `${view}, ${caption}, at ${part}`);
				}
				const overlap = await table.evaluate((box) => {
					const [first, main] = ["first", "main"].map((name) => box.querySelector(`tbody .${name}`)?.getBoundingClientRect());
					return main ? first.right - main.left : 0;
				});
				assert.ok(overlap < 1, `${view}, ${caption}: ${overlap} pixels`);
			}
		}
		assert.ok(tables >= 6, `${tables} tables`);
	},

	async numbers() {
		const { page } = await tab();
		let columns = 0;
		for (const [view, query] of [["overview", ""], ["tables", ""], ["tables", "?by=object,file,line&mine=0"], ["tables", "?by=function"], ["evictions", ""],
			["source", ""]]) {
			await show(page, view, query);
			for (const table of await columnsOf(page)) {
				for (const { heading, isNumber, cells } of table.columns) {
					const numbers = cells.filter((cell) => cell !== "" && cell !== "–");
					if (!isNumber || numbers.length < 2) continue;
					columns++;
					assert.ok(Object.values(WAYS).some((way) => numbers.every((cell) => way.test(cell))), `${view}, ${heading}: ${numbers.join(" ")}`);
				}
			}
		}
		assert.ok(columns > 20, `${columns} columns`);
	},
};

await run(cases, name, browser);
