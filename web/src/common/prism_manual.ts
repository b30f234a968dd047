// SPDX-License-Identifier: MIT
// prism_manual.ts - keeps Prism from going over the page by itself.  To be imported before it.
(globalThis as { Prism?: unknown }).Prism = { manual: true };
export {};
