// SPDX-License-Identifier: MIT
// server.ts - answers what the pages ask of the debugger (docs/format/view.md) from the run that this file holds.  What a file
// cannot know is refused with the command that knows it.
import type { Played, State } from "../types";
import { Breakpoints, quoted, type Body } from "./breakpoints";
import { conditionOf, type Condition } from "./condition";
import { NotRecorded, Recording } from "./recording";
import { evicted, runBack, runOn, type Found, type Stop } from "./search";
import { cursorOf, gridOf, memoryOf, slotOf, slotsOf, stateOf, type Sets } from "./state";
import { STATISTICS_BY, statistics, strip, type By } from "./sums";

const LIMIT_MS = 1000, MOST_LIMIT_MS = 10000, MOST_MOMENTS = 64;

/** The parameters of a question, from its query or its body. */
class Question {
	constructor(private readonly query: URLSearchParams, readonly body: Body) {}

	text(name: string): string | null {
		const value = this.body[name];
		return typeof value === "string" ? value : value === undefined ? this.query.get(name) : null;
	}

	number(name: string, otherwise: number): number {
		const value = this.body[name] ?? this.query.get(name);
		if (value === null || value === undefined) return otherwise;
		const number = typeof value === "number" ? value : typeof value === "string" && value.trim() ? Number(value) : NaN;
		if (!Number.isInteger(number)) throw new Error(`"${name}" must be a number`);
		return number;
	}
}

type Answer = (question: Question) => unknown;

class RecordedServer {
	private readonly breakpoints: Breakpoints;
	/** What breakpoints have left to skip where time ended a run to them; nothing once the moment has moved. */
	private leftToSkip = new Map<number, number>();

	constructor(private readonly run: Recording) {
		this.breakpoints = new Breakpoints(this.isNest);
	}

	private get isNest(): boolean {
		return this.run.description.session.kind === "nest";
	}

	readonly answers: Record<string, Answer> = {
		"GET session": () => ({
			...this.run.description.session,
			recorded: [this.run.main, ...this.run.tapes.filter((tape) => tape !== this.run.main)]
				.map(({ from, first, to }) => ({ from, first, to })),
		}),
		"GET state": () => stateOf(this.run, null),
		"POST step": (question) => {
			const { position } = this.run.now;
			const to = position + question.number("count", 1);
			return this.goTo(Math.min(this.run.total, Math.max(0, to)));
		},
		"POST goto": (question) => {
			const position = question.number("position", -1);
			if (position < 0) throw new Error('"position" must be a number from 0 to the last reference');
			return this.goTo(Math.min(this.run.total, position));
		},
		"POST run": (question) => this.runUntil(question),
		"POST play": (question) => this.play(question),
		"GET grid": (question) => gridOf(this.run, this.sets(question), question.number("cells", 0)),
		"GET memory": (question) => {
			const bands = question.number("bands", 40);
			const bins = question.number("bins", 512);
			if (bands < 1 || bands > 200 || bins < 1 || bins > 2048)
				throw new Error('"bands" goes from 1 to 200, "bins" to 2048');
			return memoryOf(this.run, this.sets(question), bands, bins);
		},
		"GET evicted": (question) => evicted(this.run, this.sets(question), question.number("address", 0)),
		"GET strip": (question) => {
			const from = question.number("from", 0);
			const to = question.number("to", this.run.total);
			const bins = question.number("bins", 512);
			if (from < 0 || to > this.run.total || from >= to || bins < 1 || bins > 2048)
				throw new Error('positions must go up, and "bins" goes to 2048');
			return strip(this.run, from, to, bins);
		},
		"GET statistics": (question) => {
			const by = (question.text("by") ?? "total") as By;
			if (!STATISTICS_BY.includes(by)) throw new Error('"by" is total, object, reference, line or set');
			const from = question.number("from", 0);
			const to = question.number("to", this.run.now.position);
			if (from < 0 || from > to || to > this.run.total)
				throw new Error("positions must go up from 0 to the last reference");
			return statistics(this.run, this.level(question), by, from, to);
		},
		"GET breakpoints": () => this.listed(),
		"POST breakpoints": (question) => {
			const id = question.number("id", 0);
			const { cache, level } = this.run.description.levels[this.level(question)]!;
			if (id) this.breakpoints.enable(id, question.body["enabled"]);
			else this.breakpoints.add(question.body, cache, level);
			return this.listed();
		},
		"DELETE breakpoints": (question) => {
			this.breakpoints.remove(question.number("id", 0));
			return this.listed();
		},
		"POST nest": () => {
			throw new NotRecorded("This file holds one run: " +
				`\`nearmiss view ${this.run.description.session.source}\` runs it with other parameters and addresses.`);
		},
	};

	private listed() {
		return { breakpoints: this.breakpoints.list.map((one) => ({ ...one })) };
	}

	/** The level that `cache` and `level` name; without a name the first of data. */
	private level(question: Question): number {
		const cache = question.number("cache", 0);
		const name = question.text("level");
		const found = this.run.description.levels.findIndex((level) =>
			level.cache === cache && (name !== null ? level.level === name || level.name === name : level.data));
		if (found < 0) throw new Error("there is no such cache or level");
		return found;
	}

	private sets(question: Question): Sets {
		const level = this.level(question);
		const { sets } = this.run.description.levels[level]!;
		const core = question.number("core", 0);
		const from = question.number("set_from", 0);
		const to = question.number("set_to", sets);
		if (core < 0 || core >= this.run.description.session.cores || from < 0 || to < from)
			throw new Error("there is no such core, or there are no such sets");
		return { level, core, from: Math.min(from, sets), to: Math.min(to, sets) };
	}

	private move(position: number): Promise<boolean> {
		if (position !== this.run.now.position) this.leftToSkip.clear();
		return this.run.goTo(position);
	}

	/** Elsewhere than asked, if that is not recorded: `recorded`. */
	private async goTo(position: number): Promise<State> {
		const isThere = await this.move(position);
		return stateOf(this.run, !isThere ? "recorded" : position === this.run.total ? "end" : position ? null : "start");
	}

	private async play(question: Question): Promise<{ moments: Played[] }> {
		const count = question.number("count", 1);
		const by = question.number("by", 1);
		if (count < 1 || count > MOST_MOMENTS || by < 1)
			throw new Error(`"count" goes from 1 to ${MOST_MOMENTS}, "by" from 1`);
		const panes = ((question.body["panes"] ?? []) as Body[]).map((pane) => this.sets(new Question(new URLSearchParams(), pane)));
		const moments: Played[] = [];
		for (let i = 0; i < count && this.run.now.position < this.run.tape.to; i++) {
			const before = panes.map((sets) => slotsOf(this.run, sets).clone());
			await this.move(Math.min(this.run.tape.to, this.run.now.position + by));
			moments.push({
				state: stateOf(this.run, this.run.now.position === this.run.total ? "end" : null),
				grids: panes.map((sets, pane) => {
					const slots = slotsOf(this.run, sets);
					const changes: Played["grids"][number]["changes"] = [];
					for (let slot = sets.from * slots.ways; slot < sets.to * slots.ways; slot++)
						if (!slots.isSame(slot, before[pane]!)) changes.push([slot - sets.from * slots.ways, slotOf(this.run, slots, slot)]);
					return { cursor: cursorOf(this.run, sets), changes };
				}),
			});
		}
		return { moments };
	}

	/** The expression that a run goes on until; null: breakpoints. */
	private until(question: Question): string | null {
		const until = question.text("until");
		const object = question.text("object");
		const set = question.number("set", -1);
		if (until === null || until === "breakpoint") return null;
		if (until === "miss") return "miss";
		if (until === "eviction") return object !== null ? `evicted == ${quoted(object)}` : "evicted == evicted";
		if (until === "visit" && set >= 0) return `set == ${set}`;
		if (until === "visit" && object !== null) return `object == ${quoted(object)}`;
		const condition = question.text("condition");
		if (until === "condition" && condition !== null) return condition;
		throw new Error('"until" is miss, breakpoint, eviction, visit (with set or object) or condition');
	}

	private stops(until: string | null, level: number, backwards: boolean): Stop[] {
		const stop = (condition: Condition, at: number, id: number, skip: number): Stop => ({ condition, level: at, id, skip });
		if (until !== null) return [stop(conditionOf(until, this.isNest), level, 0, 0)];
		return this.breakpoints.list.filter(({ enabled }) => enabled).map(({ id, cache, level: name, skip }) =>
			stop(this.breakpoints.conditionOf(id),
				this.run.description.levels.findIndex((one) => one.cache === cache && one.level === name), id,
				backwards ? 0 : this.leftToSkip.get(id) ?? skip));
	}

	private async runUntil(question: Question): Promise<State> {
		const level = this.level(question);
		const until = this.until(question);
		const backwards = question.body["backwards"] === true;
		const limit = Math.min(MOST_LIMIT_MS, Math.max(1, question.number("limit_ms", LIMIT_MS)));
		const stops = this.stops(until, level, backwards);
		const found = await (backwards ? runBack : runOn)(this.run, stops, limit);
		await this.move(found.position);
		const goesOn = found.reason === "limit" && until === null && !backwards;
		this.leftToSkip = new Map(goesOn ? stops.map(({ id, skip }) => [id, skip]) : []);
		const stopped = this.breakpoints.list.find(({ id }) => id === found.id);
		if (stopped) stopped.hits++;
		return stateOf(this.run, reasonOf(found, until, backwards), found.id || null);
	}
}

function reasonOf({ reason }: Found, until: string | null, backwards: boolean): string {
	if (reason === "match" && until === null) return "breakpoint";
	return reason === "end" && backwards ? "start" : reason;
}

let server: Promise<RecordedServer> | undefined;
let last: Promise<unknown> = Promise.resolve();

/** The answer to METHOD /api/d/PATH. One question is answered after the other: an answer may have to unpack more of the run,
 * and no other must see that half done. */
export function answerRecorded(method: string, path: string, query: string, body: unknown): Promise<unknown> {
	const answered = last.then(() => answer(method, path, query, body));
	last = answered.catch(() => {});
	return answered;
}

async function answer(method: string, path: string, query: string, body: unknown): Promise<unknown> {
	server ??= Recording.open().then((run) => new RecordedServer(run));
	const found = (await server).answers[`${method} ${path}`];
	if (!found) throw new Error("the debugger has no answer of this name");
	return found(new Question(new URLSearchParams(query), (body ?? {}) as Body));
}
