// SPDX-License-Identifier: MIT
// frames.mjs ADDRESS CHROMIUM [SPEED] - runs the debugger of the address for 5 seconds at so many references a second (1000), and
// prints frames a second, how often the moment that is shown changed, and the milliseconds of the longest of 100 frames; before it,
// the frames of an empty page, which this machine has at most.
import { createRequire } from "node:module";

const { chromium } = createRequire(new URL("../web/package.json", import.meta.url))("playwright-core");
const [address, executablePath, speed = "1000"] = process.argv.slice(2);
const SECONDS = 5;

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });

async function print(name) {
	const { frames, moments, spans } = await page.evaluate((seconds) => new Promise((resolve) => {
		const spans = [];
		let moments = 0, shown = "", last = performance.now();
		const end = last + seconds * 1000;
		const frame = () => {
			const now = performance.now();
			spans.push(now - last);
			last = now;
			const value = document.querySelector(".scrubber input")?.value ?? "";
			if (value !== shown) moments++;
			shown = value;
			if (now < end) requestAnimationFrame(frame);
			else resolve({ frames: spans.length, moments, spans });
		};
		requestAnimationFrame(frame);
	}), SECONDS);
	spans.sort((a, b) => a - b);
	console.log(`${name}: ${(frames / SECONDS).toFixed(1)} frames/s, ${(moments / SECONDS).toFixed(1)} moments/s, ` +
		`99 % of frames within ${spans[Math.floor(spans.length * 0.99)].toFixed(0)} ms`);
}

await print("empty page");
await page.goto(address);
await page.waitForSelector(".debugger .cache canvas");
await page.selectOption("text=speed >> select", speed);
await page.click("text=Run");
await print("debugger");
await browser.close();
