// SPDX-License-Identifier: MIT
// data.mjs CASE ADDRESS CHROMIUM - what the pages make of default recordings; exits 1 with what was wrong.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { axeOf, reader, run, settled, show } from "./reader.mjs";
import { whatIsCut } from "./cut.mjs";

const [name, address, executablePath] = process.argv.slice(2);
const { browser, tab } = await reader(address, executablePath);

/** A tab that also collects requests that fail. */
async function strictTab() {
	const opened = await tab();
	opened.page.on("response", (response) => response.status() >= 400 && opened.faults.push(`${response.status()} ${response.url()}`));
	return opened;
}

/** The pages in the navigation, and whether each is greyed. */
const listed = (page) => page.$$eval("nav a", (links) => links.map((link) => ({
	view: link.getAttribute("href").match(/^#\/(\w+)/)[1], title: link.title, lacks: link.classList.contains("lacking"),
})));

const cases = {
	async needs() {
		const { page, faults } = await strictTab();
		const axe = await axeOf(page);
		const commands = new Set();
		for (const profile of [0, 1]) {
			await show(page, "overview", `?p=${profile}`);
			const pages = await listed(page);
			assert.ok(pages.filter(({ lacks }) => lacks).map(({ view }) => view).join().match(/curves,.*sharing,.*whatif/));
			for (const { view, title, lacks } of pages) {
				await show(page, view, `?p=${profile}`);
				const where = `${view}, profile ${profile}`;
				if (lacks) await page.waitForSelector(".lack pre"); // also behind an answer
				assert.equal(await page.locator(".failed").count(), 0, where);
				const shown = await page.locator(".lack pre").allInnerTexts();
				assert.equal(shown.length, lacks ? 1 : 0, where);
				for (const command of shown) assert.ok(title.endsWith(command), `${where}: ${title}`);
				if (profile === 0) shown.forEach((command) => commands.add(command));
				if (profile === 0) assert.deepEqual(await axe(), [], where);
				assert.deepEqual(await whatIsCut(page), [], where);
			}
		}
		assert.deepEqual(faults, []);
		if (process.env.COMMANDS) await writeFile(process.env.COMMANDS, [...commands].join("\n"));
	},

	async programs() {
		const { page, faults } = await strictTab();
		for (const [profile, program] of ["gcc", "sqlite3"].entries()) {
			await show(page, "overview", `?p=${profile}`);
			assert.equal(await page.title(), `Overview – ${program} – nearmiss`);
			assert.match(await page.innerText(".ran"), new RegExp(`^${program} .* · \\d{4}-\\d\\d-\\d\\d`));
			assert.ok((await page.innerText(".verdict")).length > 20, program);
			const said = (await page.locator(".card .sentence").allInnerTexts()).filter(Boolean); // without those that are folded
			assert.equal(new Set(said).size, said.length, program); // no text twice
			const row = page.locator("table:has(caption:has-text('Objects and lines')) tbody tr").first();
			const object = await row.locator("td:nth-child(1) a").innerText();
			await row.locator("td:nth-child(1) a").click();
			await settled(page, "tables");
			assert.ok((await page.innerText("tbody")).includes(object), `${program}: ${object}`);

			for (const { view, lacks } of await listed(page)) {
				await show(page, view, `?p=${profile}`);
				assert.equal(await page.locator(".failed").count(), 0, `${program}: ${view}`);
				assert.equal(await page.locator(".lack pre").count(), lacks ? 1 : 0, `${program}: ${view}`);
				assert.deepEqual(await whatIsCut(page), [], `${program}: ${view}`);
			}
			await show(page, "tables", `?p=${profile}&mine=0`);
			const column = 1 + (await page.locator("th").allInnerTexts()).findIndex((text) => text.startsWith("misses"));
			const misses = await page.$$eval(`tbody td:nth-child(${column})`, (cells) => cells.map(({ title }) => Number(title.replaceAll(",", ""))));
			assert.ok(misses.length > 1 && misses.length <= 100 && misses.every((count) => count > 0), `${program}: ${misses}`);
			assert.match(await page.innerText("tfoot"), /more, each below 1 %/);
			await page.keyboard.press("Control+k");
			await page.waitForSelector("dialog.search[open]");
			await page.keyboard.type("alloc function");
			await page.waitForSelector("#finds li:has-text('alloc')");
			await page.keyboard.press("Enter");
			await page.waitForFunction(() => location.hash.includes("by=function"));
			await settled(page, "tables");
			assert.match(await page.innerText("tbody"), /alloc/);
		}
		assert.deepEqual(faults, []);
	},

	async needs_met() {
		const { page, faults } = await strictTab();
		await settled(page, "overview");
		for (const { view, lacks } of await listed(page)) {
			await show(page, view);
			assert.ok(!lacks && await page.locator(".failed, .lack").count() === 0, view);
		}
		assert.deepEqual(faults, []);
	},
};

await run(cases, name, browser);
