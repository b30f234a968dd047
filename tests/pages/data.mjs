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
				assert.deepEqual(await axe(), [], where);
				assert.deepEqual(await whatIsCut(page), [], where);
			}
		}
		assert.deepEqual(faults, []);
		if (process.env.COMMANDS) await writeFile(process.env.COMMANDS, [...commands].join("\n"));
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
