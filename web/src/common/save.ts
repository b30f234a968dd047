// SPDX-License-Identifier: MIT
// save.ts - saves what a page shows as SVG, PNG or CSV.
import { isSelfContained } from "../api";
import { csv, currentSheet } from "./csv";
import { drawing } from "./draw";

export type Format = "svg" | "png" | "csv";

export function download(name: string, blob: Blob): void {
	const link = document.createElement("a");
	link.download = name;
	link.href = URL.createObjectURL(blob);
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function svgBlob(element: Element): Blob {
	return new Blob([new XMLSerializer().serializeToString(drawing(element))], { type: "image/svg+xml" });
}

async function pngBlob(element: Element): Promise<Blob> {
	const image = new Image();
	const address = URL.createObjectURL(svgBlob(element));
	try {
		image.src = address;
		await image.decode();
		const canvas = document.createElement("canvas");
		const scale = Math.min(2, 8192 / Math.max(image.width, image.height));
		canvas.width = image.width * scale;
		canvas.height = image.height * scale;
		canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
		return await new Promise((resolve, reject) =>
			canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("The picture is too large."))), "image/png"),
		);
	} finally {
		URL.revokeObjectURL(address);
	}
}

/** Saves the element, or all rows of the page's table (of a self-contained file, those that it holds), under the page's name. */
export async function save(format: Format, name: string, element: Element): Promise<void> {
	if (format === "csv") {
		const sheet = currentSheet();
		if (!sheet) throw new Error("There are no figures here to save.");
		const rows = sheet.all && !isSelfContained() ? await sheet.all() : sheet.rows;
		download(`${name}.csv`, new Blob([csv({ ...sheet, rows })], { type: "text/csv;charset=utf-8" }));
		return;
	}
	download(`${name}.${format}`, format === "svg" ? svgBlob(element) : await pngBlob(element));
}
