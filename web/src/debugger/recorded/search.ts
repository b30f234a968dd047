// SPDX-License-Identifier: MIT
// search.ts - runs of a recorded run until something holds, forward and back, and who made a line leave.
import type { Evicted } from "../types";
import type { Condition, Frame, Named, Value } from "./condition";
import { effectAt, HIT, leaves, victimOf, type Moment } from "./moment";
import { NotRecorded, type Recording } from "./recording";
import { departed, placeOf, referenceAt, slotOf, slotsOf, type Sets } from "./state";
import type { Tape } from "./tape";

/** What a run stops at; `id` 0: no breakpoint. A run counts `skip` down: matches that do not stop it. */
export interface Stop { condition: Condition; level: number; id: number; skip: number }

export interface Found { position: number; reason: "match" | "limit" | "end" | "recorded"; id: number }

const PATIENCE = 1024;  // references between two looks at the clock

/** What conditions ask of the last reference of a moment, at a level. */
function frameOf(run: Recording, tape: Tape, moment: Moment, level: number): Frame {
	const { position, effects } = moment;
	const chunk = tape.chunkAt(position - 1);
	const i = position - 1 - chunk.from;
	const key = chunk.keys[i]!;
	const shape = chunk.shapes[i]!;
	const effect = shape & 2 ? null : effectAt(effects, level);  // what is not measured stops no run
	const values: Record<Named, () => Value> = {
		position: () => position,
		address: () => chunk.addresses[i]!,
		size: () => shape >> 2,
		write: () => shape & 1,
		thread: () => run.description.keys.thread[key]!,
		object: () => run.objectOf(key),
		function: () => run.functionOf(key),
		file: () => run.fileOf(key),
		line: () => run.description.keys.line[key] || null,
		element: () => run.elementOf({ key, address: chunk.addresses[i]! }),
		set: () => effect && effect.set,
		way: () => effect && effect.way,
		hit: () => (effect && effect.kind === HIT ? 1 : 0),
		miss: () => (effect && effect.kind !== HIT ? 1 : 0),
		class: () => (effect && effect.class ? effect.class : null),
		evicted: () => {
			const victim = effect && victimOf(effects, effects.indexOf(effect));
			return victim ? run.objectOf(victim.key) : null;
		},
		false_sharing: () => (effect && effect.falseSharing ? 1 : 0),
	};
	return { value: (name) => values[name](), loop: (name) => chunk.loopsAt(i)[name] ?? null };
}

/** The first stop that holds and was skipped often enough. */
function matching(run: Recording, tape: Tape, moment: Moment, stops: Stop[]): Stop | null {
	for (const stop of stops) {
		if (!stop.condition(frameOf(run, tape, moment, stop.level))) continue;
		if (!stop.skip) return stop;
		stop.skip--;
	}
	return null;
}

export async function runOn(run: Recording, stops: Stop[], limitMs: number): Promise<Found> {
	const { tape } = run;
	const deadline = performance.now() + limitMs;
	await tape.load(run.now.position);
	const moment = tape.at(run.now.position);
	for (let steps = 1; moment.position < tape.to; steps++) {
		await tape.load(moment.position + 1);
		tape.step(moment);
		const stop = matching(run, tape, moment, stops);
		if (stop) return { position: moment.position, reason: "match", id: stop.id };
		if (steps % PATIENCE === 0 && performance.now() > deadline && moment.position < tape.to)
			return { position: moment.position, reason: "limit", id: 0 };
	}
	return { position: tape.to, reason: tape.to === run.total ? "end" : "recorded", id: 0 };
}

/** To the last match before the position: piece by piece, from the latest. */
export async function runBack(run: Recording, stops: Stop[], limitMs: number): Promise<Found> {
	const { tape } = run;
	const deadline = performance.now() + limitMs;
	await tape.load(run.now.position);
	for (let end = run.now.position - 1; end > tape.from;) {
		const begin = tape.nearestTo(end - 1);
		const moment = tape.at(begin);
		let found: Found | null = null;
		while (moment.position < end) {
			tape.step(moment);
			const stop = matching(run, tape, moment, stops);
			if (stop) found = { position: moment.position, reason: "match", id: stop.id };
		}
		if (found) return found;
		if (performance.now() > deadline && begin > tape.from) return { position: begin, reason: "limit", id: 0 };
		end = begin;
	}
	return { position: tape.first, reason: tape.from ? "recorded" : "end", id: 0 };
}

/** Who made the line around an address leave, before the moment that is looked at, and before it came back. */
export async function evicted(run: Recording, sets: Sets, address: number): Promise<Evicted> {
	const { tape, now } = run;
	const { unit } = run.description.levels[sets.level]!;
	const line = Math.floor(address / unit) * unit;
	const slots = slotsOf(run, sets);
	const slot = slots.slotOf(line);
	const resident = slot >= 0 && slotOf(run, slots, slot);
	const before = resident ? Math.max(0, resident.loaded_at - 1) : now.position;
	const at = tape.departed(sets.level, sets.core, line, before);
	const asksEarlier = !at && tape.from > 0 && before > 0;
	const row = asksEarlier ? await tape.departedEarlier(sets.level, sets.core, line) : null;
	const earlier = row?.[3];
	if (asksEarlier && (!row || (earlier && earlier.evicted_at! > before)))
		throw new NotRecorded(`It left before reference ${tape.first}, where this file begins, or was never there: ${run.hint}`);
	const left = at ? tape.at(at).effects.find((effect) => leaves(effect.kind) && effect.level === sets.level && effect.line === line &&
		(!effect.core || effect.core === 1 + sets.core)) : null;
	return {
		is: resident ? "resident" : at || earlier ? "evicted" : "never",
		...(resident ? {
			set: Math.floor(slot / slots.ways), way: slot % slots.ways, slot: resident, loaded_at: placeOf(run, resident.loaded_at),
			last_used: placeOf(run, resident.last_used),
		} : {}),
		...(left ? { evicted: departed(run, left), evictor: referenceAt(run, at), evicted_at: at } : earlier ?? {}),
	} as Evicted;
}
