// SPDX-License-Identifier: MIT
// build.mjs FOLDER [DEPFILE] - bundles the pages into FOLDER: index.html, app.js and app.css.  DEPFILE tells ninja what
// they were made of.
import { build } from "esbuild";
import { appendFile, copyFile, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const source = join(dirname(fileURLToPath(import.meta.url)), "src");

/** How all scripts are bundled. */
export const options = { bundle: true, metafile: true, minify: true, format: "iife", target: "es2021", legalComments: "eof", logLevel: "warning" };

/** The debugger's worker, as the text that the pages start it from. */
export async function worker() {
	const entry = join(source, "debugger/engine/worker.ts");
	const { outputFiles, metafile } = await build({ ...options, entryPoints: [entry], write: false });
	return { define: { ENGINE_WORKER: JSON.stringify(outputFiles[0].text) }, inputs: Object.keys(metafile.inputs) };
}

/** What the debugger's engine has from elsewhere. */
const ENGINE = `The WebAssembly module has code of wasi-libc (CC0-1.0), of musl in it (MIT; Copyright © 2005-2020 Rich Felker, et al.), of
cloudlibc (BSD-2-Clause; Copyright (c) 2015-2017 Nuxi, https://nuxi.nl/) and of LLVM's compiler-rt (Apache-2.0 WITH LLVM-exception).`;

/** The licences of the packages that the inputs are from, as a comment. */
async function notices(inputs) {
	const packages = new Set(inputs.map((path) => /^(.*node_modules\/[^/]+)\//.exec(resolve(path))?.[1]).filter(Boolean));
	const texts = await Promise.all([...packages].map((path) => readFile(join(path, "LICENSE"), "utf8")));
	return `\n/*\n${[...new Set(texts.map((text) => text.trim())), ENGINE].join("\n\n").replaceAll("*/", "* /")}\n*/\n`;
}

async function bundle(folder, depfile) {
	const { define, inputs } = await worker();
	const { metafile } = await build({ ...options, define, entryPoints: { app: join(source, "main.tsx") }, outdir: folder });
	await appendFile(join(folder, "app.js"), await notices(Object.keys(metafile.inputs)));
	await copyFile(join(source, "index.html"), join(folder, "index.html"));
	if (depfile) {
		const all = [...inputs, ...Object.keys(metafile.inputs)].map((path) => resolve(path).replace(/ /g, "\\ "));
		await writeFile(depfile, `${join(folder, "index.html")}: ${all.join(" ")}\n`);
	}
}

const [script, folder, depfile] = process.argv.slice(1);
if (resolve(script) === fileURLToPath(import.meta.url)) {
	if (!folder) {
		console.error("build.mjs: name the folder to build in");
		process.exit(2);
	}
	await bundle(folder, depfile);
}
