// SPDX-License-Identifier: MIT
// build.mjs FOLDER [DEPFILE] - bundles the pages into FOLDER: index.html, app.js and app.css.  DEPFILE tells ninja what
// they were made of.
import { build } from "esbuild";
import { copyFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const source = join(dirname(fileURLToPath(import.meta.url)), "src");
const [folder, depfile] = process.argv.slice(2);
if (!folder) {
	console.error("build.mjs: name the folder to build in");
	process.exit(2);
}

const { metafile } = await build({
	entryPoints: { app: join(source, "main.tsx") },
	bundle: true,
	metafile: true,
	minify: true,
	format: "iife",
	target: "es2021",
	legalComments: "eof",
	logLevel: "warning",
	outdir: folder,
});
await copyFile(join(source, "index.html"), join(folder, "index.html"));
if (depfile) {
	const inputs = Object.keys(metafile.inputs).map((path) => resolve(path).replace(/ /g, "\\ "));
	await writeFile(depfile, `${join(folder, "index.html")}: ${inputs.join(" ")}\n`);
}
