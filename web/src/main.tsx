// SPDX-License-Identifier: MIT
// main.tsx - asks what there is to see, and shows it.
import { render } from "preact";
import type { Session } from "./answers";
import { get } from "./api";
import { startTheme } from "./common/theme";
import { Shell } from "./shell";
import "./style/theme.css";
import "./style/layout.css";
import "./style/parts.css";

function start(): void {
	const app = document.getElementById("app");
	if (!app) throw new Error("index.html has no element of id app");
	get<Session>("/api/session").then(
		(session) => render(<Shell session={session} />, app),
		(error: Error) => render(<p class="failed" role="alert">{error.message}</p>, app),
	);
}

startTheme();
if (document.readyState === "loading") addEventListener("DOMContentLoaded", start);
else start();
