// SPDX-License-Identifier: MIT
// main.tsx - asks what there is to see, and shows it.
import { render, type VNode } from "preact";
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
	const show = (page: VNode) => {
		app.replaceChildren(); // "Loading", which stands in the page until this script runs
		render(page, app);
	};
	get<Session>("/api/session").then(
		(session) => show(<Shell session={session} />),
		(error: Error) => show(<p class="failed" role="alert">{error.message}</p>),
	);
}

startTheme();
start();  // what the page shows stands before this script; the run of a file behind it is still being read
