// SPDX-License-Identifier: MIT
// drive.mjs CASE ADDRESS CHROMIUM - drives the pages as a reader does; exits 1 with what was wrong.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { whatIsCut } from "./cut.mjs";
import { axeOf, reader, run, settled, show } from "./reader.mjs";
import { steady } from "./steady.mjs";

const [name, address, executablePath] = process.argv.slice(2);
/** Profiles: two of a loop nest; a program with events by address; threads that share lines; a program with structures;
 * four merged. */
const EVENTS = 2, SHARED = 3, FIELDS = 4, MERGED = 5;
const PAGES = ["overview", "treemap", "tables", "source", "chains", "timeline", "evictions", "curves", "histograms", "sharing", "structures", "whatif", "compare"];

const { browser, tab } = await reader(address, executablePath);

/** What pages show beyond their first sight. */
const OPENED = [
	["histograms", `?p=${EVENTS}&of=served`], ["histograms", `?p=${EVENTS}&of=memory_line&level=L2`], ["histograms", "?of=reuse"],
	["curves", "?by=object"], ["tables", `?p=${EVENTS}&by=object,file,line&sort=waste`], ["evictions", "?evictor=b&victim=a"],
	["source", "?line=5"], ["treemap", "?at=0"], ["compare", "?by=file&sort=loads"],
	["compare", `?a=0&b=${FIELDS}`], ["timeline", "?by=line&metric=ratio&at=9"],
	["sharing", `?p=${SHARED}`], ["sharing", `?p=${SHARED}&by=thread`], ["structures", `?p=${FIELDS}`], ["whatif", `?p=${FIELDS}`], ["overview", `?p=${SHARED}`],
	["overview", `?p=${MERGED}`], ["overview", `?p=${MERGED}&input=2.nmp&level=L2`], ["tables", `?p=${MERGED}&input=0.nmp&by=object,file,line`],
	["source", `?p=${MERGED}&input=2.nmp&line=13`], ["treemap", `?p=${MERGED}&input=2.nmp`],
];
const ALL = [...PAGES.map((view) => [view, ""]), ...OPENED];

/** Each page where it shows names; the profile has no call chains. */
const NAMED = [...PAGES.slice(0, 7).filter((view) => view !== "chains").map((view) => [view, ""]), ["curves", "?by=object"],
	["histograms", `?p=${EVENTS}&of=served`], ["sharing", `?p=${SHARED}`], ["structures", `?p=${FIELDS}`], ["compare", ""]];

/** Where a page leads by Enter, and what the address then has. */
const OPENED_BY_ENTER = [
	["treemap", "", ".chart a", "at=0"],
	["tables", "", "th button:has-text('loads')", "sort=loads"],
	["tables", `?p=${EVENTS}&by=object,line&mine=0&small=1`, ".paging button:has-text('Next')", "offset=100"],
	["source", "", ".line-number a", "line="],
	["histograms", `?p=${EVENTS}&of=served`, "button:has-text('Closer')", "from="],
];

/** The rows of the CSV that the page saves: different ones. */
async function savedRows(page) {
	await page.click("#save summary");
	const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save button:has-text('CSV')")]);
	const lines = (await readFile(await download.path())).toString().split("\r\n");
	assert.equal(lines.pop(), ""); // behind the end of the last line
	assert.equal(new Set(lines).size, lines.length);
	return lines.slice(1);
}

async function everyPage(theme) {
	for (const width of [1280, 390]) {
		const { page, faults, context } = await tab({ theme, width });
		const axe = await axeOf(page);
		for (const [view, query] of ALL) {
			await show(page, view, query);
			const where = `${view}${query}, ${theme}, ${width}`;
			assert.equal(await page.getAttribute("html", "data-theme"), theme, where);
			assert.deepEqual(await whatIsCut(page), [], where);
			assert.deepEqual(await axe(), [], where);
		}
		assert.deepEqual(faults, []);
		await context.close();
	}
}

const cases = {
	every_page: () => everyPage("light"),
	every_page_dark: () => everyPage("dark"),

	async parts() {
		const { page, context } = await tab();
		await show(page, "histograms", `?p=${EVENTS}&of=served`);
		const places = Number((await page.innerText(".paging [role=status]")).replace(/\D/g, ""));
		assert.ok(places > 512, `${places} lines`);
		const shown = () => page.$$eval(".paging input", (inputs) => inputs.map(({ value }) => Number(value)));
		assert.deepEqual(await shown(), [0, places - 1]);
		await page.click("button:has-text('Closer')");
		await page.waitForFunction(() => location.hash.includes("from="));
		await settled(page, "histograms");
		const [from, to] = await shown();
		assert.ok(Math.abs(to - from + 1 - places / 2) <= 1, `${from} to ${to} of ${places}`);
		await page.fill(".paging label:has-text('to') input", String(from + 99));
		await page.keyboard.press("Enter");
		await page.waitForFunction((end) => location.hash.includes(`to=${end}`), from + 99);
		await settled(page, "histograms");
		const one = await page.evaluate(() => document.querySelector(".chart rect title").textContent);
		assert.match(one, new RegExp(`^line ${from.toLocaleString("en")}, from 0x`)); // a bin for each line
		const other = await context.newPage();
		await other.goto(page.url());
		await settled(other, "histograms");
		assert.equal(await other.innerText("#page"), await page.innerText("#page"));
		for (let n = 0; n < 20 && await page.isEnabled("button:has-text('Wider')"); n++) {
			await page.click("button:has-text('Wider')");
			await settled(page, "histograms");
		}
		assert.deepEqual(await shown(), [0, places - 1]);
	},

	async all_rows() {
		const { page } = await tab();
		await show(page, "tables", `?p=${EVENTS}&by=object,file,line&mine=0&small=1`);
		const total = Number((await page.innerText(".paging [role=status]")).match(/of ([\d,]+)/)[1].replace(",", ""));
		assert.ok(total > 150, `${total} rows`);
		assert.equal((await savedRows(page)).length, total);
		await show(page, "sharing", `?p=${SHARED}`);
		const lines = await savedRows(page);
		assert.ok(lines.length > 1000, `${lines.length} lines`); // in more than one answer
	},

	async links() {
		const { page, context } = await tab();
		await show(page, "tables");
		await page.selectOption("label:has-text('By') select", "function");
		await page.selectOption("label:has-text('Level') select", "L2");
		await page.click("th button:has-text('cold')");
		await settled(page, "tables");
		const rows = await page.innerText("tbody");
		assert.match(page.url(), /by=function/);
		assert.match(page.url(), /level=L2/);
		const other = await context.newPage();
		await other.goto(page.url());
		await settled(other, "tables");
		assert.equal(await other.innerText("tbody"), rows);
		await page.goBack();
		await page.waitForFunction(() => !location.hash.includes("sort=cold"));
	},

	async first_page() {
		const { page, faults } = await tab();
		await settled(page, "overview");
		assert.match(await page.title(), /^Overview – containers – nearmiss$/);
		assert.match(await page.innerText(".ran"), /containers.* · \d{4}-\d\d-\d\d \d\d:\d\d UTC · /);
		assert.match(await page.innerText("#page"), /Miss ratio/);
		await page.click("summary:has-text('About')");
		assert.doesNotMatch(await page.innerText("dl.facts"), /_|\d{9}\n/); // no raw keys, no seconds since 1970
		const texts = await page.locator(".cards").first().locator(".sentence").allInnerTexts();
		assert.ok(texts.length > 0);
		assert.equal(new Set(texts).size, texts.length);
		await page.waitForSelector(".card .excerpt code");
		const row = page.locator("table:has(caption:has-text('Objects and lines')) tbody tr").first();
		const [object, line] = [await row.locator("td").nth(0).innerText(), await row.locator("td").nth(1).innerText()];
		assert.ok(await page.locator(`.card:has(h3:has-text(${JSON.stringify(object)}))`).count(), object); // a word on the first row
		await row.locator("td a").nth(1).click();
		await settled(page, "source");
		await page.waitForSelector(`.popover h2:has-text("${line}")`);
		await page.goBack();
		await settled(page, "overview");
		await row.locator("td a").nth(0).click();
		await settled(page, "tables");
		assert.ok((await page.innerText("tbody")).includes(object));
		await show(page, "tables", "?small=1");
		const mine = await page.innerText("[role=status]");
		await page.uncheck("label:has-text('Mine only') input");
		await page.waitForFunction((text) => document.querySelector("[role=status]").innerText !== text, mine);
		const count = (text) => Number(text.match(/of ([0-9,]+)/)[1].replaceAll(",", ""));
		assert.ok(count(await page.innerText("[role=status]")) > 2 * count(mine)); // the loader and the start of libraries
		await page.fill("input[type=search]", object.slice(0, 5)); // a live filter
		await page.waitForFunction((text) => document.querySelector("tbody").innerText.split("\n").every((each) => !each.startsWith("lib")), object);
		assert.deepEqual(faults, []);
	},

	async every_link() {
		const { page, context } = await tab();
		for (const [view, query] of ALL) {
			await show(page, view, query);
			const other = await context.newPage();
			await other.goto(page.url());
			await settled(other, view);
			const shown = (one) => one.evaluate(() => document.getElementById("page").innerHTML);
			assert.equal(await shown(other), await shown(page), `${view}${query}`);
			await other.close();
		}
	},

	async timeline() {
		const { page, context } = await tab();
		await show(page, "timeline");
		const interval = async () => Number((await page.innerText("#page [role=status]")).match(/^Interval (\d+) of/)[1]);
		const last = Number((await page.innerText("#page [role=status]")).match(/of (\d+)/)[1]);
		const dominates = () => page.innerText("tbody tr:first-child");
		const press = async (key) => {
			await page.focus("[role=application]");
			await page.keyboard.press(key);
			await settled(page, "timeline");
		};
		assert.equal(await interval(), 1);
		assert.match(await dominates(), /matrix\s+order\.nest:13/);
		await press("ArrowRight");
		assert.equal(await interval(), 2);
		await press("End");
		assert.equal(await interval(), last);
		assert.match(await dominates(), /matrix\s+order\.nest:18/); // summed down the columns
		const other = await context.newPage();
		await other.goto(page.url());
		await settled(other, "timeline");
		assert.equal(await other.innerText("#page"), await page.innerText("#page"));
		const { x, y, width } = await page.locator(".timeline").boundingBox();
		await page.mouse.move(x + width / 4, y + 60);
		await steady(page);
		assert.ok(await interval() < last / 2 && page.url().includes(`at=${last - 1}`)); // looked at, not chosen
		await page.mouse.click(x + width / 4, y + 60);
		await page.mouse.move(x, y - 20);
		await settled(page, "timeline");
		assert.ok(await interval() < last / 2 && !page.url().includes(`at=${last - 1}`));
		for (const [label, value, shown] of [["Show", "ratio", /L1d: at most [\d.]+ % of the references miss/], ["A strip", "line", /order\.nest:13/], ["Level", "L2", /L2: misses by/]]) {
			await page.selectOption(`label:has-text('${label}') select`, value);
			await settled(page, "timeline");
			assert.match(await page.textContent(".timeline"), shown);
		}
		await press("End");
		await page.keyboard.press("Enter");
		await settled(page, "source");
		assert.match(page.url(), /line=18&level=L2/);
	},

	async ranks() {
		const { page, faults, context } = await tab();
		const cells = page.locator(".ranks [role=option]");
		const misses = async () => Number((await page.innerText("#page .ranks + [role=status]")).match(/: ([\d,]+) misses/)[1].replaceAll(",", ""));
		const chosen = () => page.innerText(".ranks [aria-selected=true]");
		const axe = await axeOf(page);
		await show(page, "tables");
		await page.waitForSelector(".ranks");
		assert.deepEqual(await cells.allInnerTexts(), ["All", "2", "0", "1", "3"]); // those that behave alike together
		assert.deepEqual(await page.$$eval(".ranks [role=group]", (groups) => groups.map((group) => group.getAttribute("aria-label"))),
			["unlike the others", "3 alike"]);
		assert.equal(await chosen(), "All");
		const whole = await page.innerText("tbody");
		await page.focus(".ranks [aria-selected=true]");
		await page.keyboard.press("ArrowRight");
		await page.keyboard.press("Enter");
		await page.waitForFunction(() => location.hash.includes("input=2.nmp"));
		await settled(page, "tables");
		assert.equal(await chosen(), "2");
		const one = await page.innerText("tbody");
		assert.notEqual(one, whole);
		assert.match(one, new RegExp(`^matrix\\s+${(await misses()).toLocaleString("en")}\\s`));
		assert.equal(await page.locator("th:has-text('evictions')").count(), 0);
		const other = await context.newPage();
		await other.goto(page.url());
		await settled(other, "tables");
		await other.waitForSelector(".ranks");
		assert.equal(await other.innerText("#page"), await page.innerText("#page"));
		await page.goBack();
		await page.waitForFunction((text) => document.querySelector("tbody")?.innerText === text, whole);
		await page.goForward();
		await page.waitForFunction((text) => document.querySelector("tbody")?.innerText === text, one);
		for (const view of ["overview", "treemap", "source"]) { // the rank stays
			await page.click(`nav a:has-text('${view === "treemap" ? "Tree map" : view[0].toUpperCase() + view.slice(1)}')`);
			await settled(page, view);
			await page.waitForSelector(".ranks [aria-selected=true]:has-text('2')");
			assert.equal(await page.locator("#page .failed").count(), 0, view);
			assert.ok((await page.textContent("#page")).includes(view === "source" ? "order.nest" : "matrix"), view);
			assert.deepEqual(await axe(), [], view);
			assert.deepEqual(await whatIsCut(page), [], view);
		}
		for (const view of ["timeline", "evictions", "curves", "histograms", "sharing", "structures", "whatif"]) {
			await show(page, view, "?input=2.nmp");
			assert.match(await page.innerText("#page"), /a merged profile does not hold this by rank/, view);
		}
		await page.click("text=Show all together");
		await page.waitForFunction(() => !location.hash.includes("input="));
		assert.deepEqual(faults, []);
	},

	async whatif() {
		const { page, faults, context } = await tab();
		const members = (part) => page.$$eval(`.members >> nth=${part} >> .grip`, (grips) => grips.map(({ textContent }) => textContent.replace("⠿ ", "")));
		const offsets = async () => (await page.locator(".member > .fine").allInnerTexts()).map((text) => Number(text.match(/^at (\d+),/)[1]));
		const grip = (name) => page.getByRole("button", { name, exact: true });
		const changed = async (part) => {
			await page.waitForFunction((text) => location.hash.includes(text), part);
			await settled(page, "whatif");
		};
		const predict = async () => {
			await page.click("button:has-text('Predict misses')");
			await page.waitForSelector(".verdict");
			await settled(page, "whatif");
			return page.$$eval("[aria-label='Predicted misses'] tbody tr", (rows) => rows.map((row) =>
				[...row.cells].map((cell) => cell.title.replaceAll(",", "") || cell.textContent)));
		};
		const wanted = (candidate) => JSON.parse(process.env.PREDICTED)[candidate].map((level) => level.map(String));
		const axe = await axeOf(page);
		await show(page, "whatif");
		assert.equal(await page.locator("nav a.lacking:has-text('What if')").count(), 0);
		assert.deepEqual(await members(0), ["price", "customer", "count", "address", "state"]);
		assert.ok(await page.isDisabled("button:has-text('Predict misses')"));

		await grip("count").dragTo(grip("customer"), { targetPosition: { x: 10, y: 1 } }); // by mouse
		await changed("layout=0.2.1.3.4_");
		await grip("state").focus();
		await page.keyboard.press("ArrowUp");
		await changed("layout=0.2.1.4.3_");
		await page.keyboard.press("ArrowUp"); // it has kept the focus
		await changed("layout=0.2.4.1.3_");
		assert.deepEqual(await members(0), ["price", "count", "state", "customer", "address"]);
		assert.deepEqual(await offsets(), [0, 8, 16, 24, 96]);
		assert.match(await page.innerText(".board [role=status]"), /^state: place 3 of 5/);
		const first = await predict();
		assert.deepEqual(first.map(([level, before, after]) => [level, before, after]), wanted("order"));
		assert.match(await page.innerText(".verdict"), /of L3 are predicted instead of .*−\d+\.\d %/);
		await page.click("summary:has-text('As Markdown')");
		const markdown = await page.inputValue("textarea");
		assert.match(markdown, /^### struct order: reorder struct order: price, count, state\n/);
		assert.match(markdown, new RegExp(`\\|L1d\\|${Number(first[0][1]).toLocaleString("en")}\\|${Number(first[0][2]).toLocaleString("en")}\\|`));
		assert.match(markdown, /\|state\|16\|8\|160\|/);
		assert.match(markdown, /--apply 'reorder struct order: price, count, state'/);

		for (const name of ["customer", "address"]) { // into a second part, by key and by button
			if (name === "customer") await grip(name).press("ArrowRight");
			else await page.click(`[aria-label='Move ${name} to the second part']`);
			await page.waitForSelector(`.members >> nth=1 >> text=${name}`);
			await settled(page, "whatif");
		}
		assert.deepEqual(await members(0), ["price", "count", "state"]);
		assert.deepEqual(await offsets(), [0, 8, 16, 0, 72]);
		assert.equal(await page.locator(".verdict").count(), 0); // it was of the layout before
		assert.deepEqual((await predict()).map(([level, before, after]) => [level, before, after]), wanted("split"));
		assert.deepEqual(await axe(), []);
		const other = await context.newPage();
		await other.goto(page.url());
		await other.waitForSelector(".verdict");
		await settled(other, "whatif");
		assert.equal(await other.innerText(".board .parts"), await page.innerText(".board .parts"));
		await page.goBack();
		await page.waitForSelector(".members >> nth=0 >> text=address");
		assert.deepEqual(faults, []);
	},

	async whatif_without_trace() {
		const { page } = await tab();
		await show(page, "whatif");
		const link = page.locator("nav a:has-text('What if')");
		const inFile = address.startsWith("file:");
		assert.match(await link.getAttribute("class"), /lacking/);
		assert.match(await link.getAttribute("title"), inFile ? /need nearmiss view/ : /record --trace run\.nmt -- \S*fault-cold 2/);
		assert.match(await page.innerText("#page"), inFile ? /Predictions need nearmiss view/ : /nearmiss record --trace run\.nmt -- /);
		assert.equal(await page.locator("button:has-text('Predict misses')").count(), 0);
		await page.locator(".grip >> nth=1").press("ArrowUp");
		await page.waitForFunction(() => location.hash.includes("layout=1.0.2.3.4_"));
		await settled(page, "whatif");
		assert.match(await page.textContent(".chart"), /customer/);
	},

	async changes() {
		const { page } = await tab();
		await show(page, "compare");
		assert.match(await page.innerText(".verdict"), /^No effect/);
		assert.equal(await page.locator("caption:has-text('What changed most')").count(), 0);
		await show(page, "compare", "?b=2&by=line");
		assert.match(await page.innerText(".verdict"), /^Misses of L1d fall by .* order\.nest:19/);
		const rows = page.locator("[aria-label='What changed most'] tbody tr");
		assert.match(await rows.first().innerText(), /^order\.nest:19\s.*\swas order\.nest:18\s+160k\s+10,000\s+-150k/s);
		await rows.first().locator("a").click();
		await settled(page, "source");
		assert.match(page.url(), /p=2&.*line=19/);
		await show(page, "compare", "?a=2&b=0&by=line&sort=misses");
		assert.match(await rows.first().innerText(), /^order\.nest:18\s.*\s\+150k/s);
	},

	async file() {
		for (const view of PAGES) { // each is the first that is opened
			const { page, faults, context } = await tab({ at: `#/${view}` });
			await settled(page, view);
			assert.equal(await page.locator(".failed").count(), 0, view);
			assert.ok((await page.innerText("#page")).length > 100, view);
			assert.deepEqual(faults, [], view);
			await context.close();
		}
	},

	async saving() {
		const { page } = await tab();
		for (const [view, query] of ALL) {
			await show(page, view, query);
			for (const format of ["SVG", "PNG", "CSV"]) {
				if (format === "CSV" && ["structures", "sharing", "whatif", "chains"].includes(view) && !query) continue; // a nest has none
				await page.click("#save summary");
				const [download] = await Promise.all([page.waitForEvent("download"), page.click(`#save button:has-text("${format}")`)]);
				const bytes = await readFile(await download.path());
				const where = `${view}${query} as ${format}`;
				if (format === "PNG") assert.equal(bytes.subarray(1, 4).toString(), "PNG", where);
				else if (format === "CSV") assert.ok(bytes.toString().split("\r\n").length > 2, where);
				else {
					const texts = await page.evaluate((svg) => {
						const read = new DOMParser().parseFromString(svg, "image/svg+xml");
						return read.querySelector("parsererror") ? null : read.querySelectorAll("text").length;
					}, bytes.toString());
					assert.ok(texts > 5, where);
				}
			}
		}
	},

	async keyboard() {
		const { page } = await tab();
		await settled(page, "overview");
		await page.keyboard.press("3");
		await settled(page, "tables");
		await page.keyboard.press("/");
		await page.keyboard.type("nothing has this name");
		await page.keyboard.press("Enter");
		await page.waitForSelector("text=No rows");
		await page.evaluate(() => document.activeElement.blur());
		await page.keyboard.press("t");
		assert.equal(await page.getAttribute("html", "data-theme"), "dark");
		await page.keyboard.press("?");
		await page.waitForSelector("dialog[open]");
		await page.keyboard.press("Escape");
		await show(page, "evictions");
		await page.focus("[role=application]");
		await page.keyboard.press("ArrowRight");
		await page.keyboard.press("Enter");
		await page.waitForFunction(() => location.hash.includes("evictor="));
		await page.keyboard.press("1");
		await settled(page, PAGES[0]);
		for (const view of PAGES.slice(1)) {
			await page.keyboard.press("]");
			await settled(page, view);
		}
		for (const [view, query, control, expected] of OPENED_BY_ENTER) {
			await show(page, view, query);
			await page.focus(control);
			await page.keyboard.press("Enter");
			await page.waitForFunction((part) => location.hash.includes(part), expected);
			await settled(page, view);
		}
		await page.keyboard.press("s");
		const [download] = await Promise.all([page.waitForEvent("download"),
			(async () => { await page.keyboard.press("Tab"); await page.keyboard.press("Enter"); })()]);
		assert.match(download.suggestedFilename(), /\.svg$/);
	},

	async long_names() {
		const { page } = await tab();
		const shown = "heap std::map<…>::operator[](…) (program)";
		for (const [view, within] of [["overview", "tbody td"], ["tables", "tbody td"], ["compare", "tbody td"]]) {
			await show(page, view);
			const cell = page.locator(within, { hasText: shown }).first();
			assert.match(await cell.locator("[title]").first().getAttribute("title"), /basic_string<char, .* const&\) \(program\)$/, view);
		}
	},

	async hostile_names() {
		const { page, faults } = await tab();
		for (const [view, query] of NAMED) {
			await show(page, view, query);
			assert.equal(await page.locator("#page script").count(), 0, view);
			assert.notEqual(await page.title(), "run", view);
			const text = await page.textContent("#page");
			assert.match(text, /<script>document\.title='run'<\/script>"'&\u202e\u2067/, `${view}: ${text}`);
			assert.deepEqual(await whatIsCut(page), [], view);
		}
		await show(page, "tables");
		assert.match(await page.innerText("tbody"), /<script>document\.title='run'<\/script>"'&/);
		assert.deepEqual(faults, []);
	},
};

await run(cases, name, browser);
