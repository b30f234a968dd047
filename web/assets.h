// SPDX-License-Identifier: MIT
//
// assets.h - the files of the pages, embedded in the command.  Without Node at build time there are none.
#pragma once

#include <stddef.h>

struct nm_asset {
	const char *name; // index.html, app.js, app.css, engine.wasm
	const char *type; // of the content, as HTTP names it
	const unsigned char *bytes;
	size_t n_bytes;
};

extern const struct nm_asset nm_assets[];
extern const size_t nm_n_assets;
