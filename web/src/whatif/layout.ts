// SPDX-License-Identifier: MIT
// layout.ts - a candidate layout of a structure: its members in an order, some of them in a second part.  Members are placed
// as a C compiler does it, with the alignments that src/whatif/element_map.c gives them.
import type { Field, Member, Structure } from "../answers";

/** How the second part is found: an array beside the first one, or a pointer in each element. */
export type Way = "parallel" | "pointer";

/** Numbers of members: those of the structure itself, and those of the second part. */
export interface Candidate {
	parts: [number[], number[]];
	way: Way;
}

export interface Placed {
	member: Member;
	number: number;
	/** In the part. */
	offset: number;
}

export interface Part {
	members: Placed[];
	size: number;
	/** The offset of the pointer to the second part. */
	pointer: number | null;
}

const POINTER = 8;

const isAscending = (numbers: number[]) => numbers.every((number, at) => at === 0 || number > (numbers[at - 1] as number));

export const asRecorded = (structure: Structure): Candidate => ({ parts: [structure.members.map((_, n) => n), []], way: "parallel" });

export const isAsRecorded = ({ parts: [own, other] }: Candidate) => other.length === 0 && isAscending(own);

/** "2.0_1": written in an address. */
export const written = (candidate: Candidate) => candidate.parts.map((part) => part.join(".")).join("_");

/** The candidate of an address; as recorded if it is none of this structure. */
export function read(structure: Structure, text: string | undefined, way: string | undefined): Candidate {
	const [own = [], other = [], ...more] = (text ?? "").split("_").map((part) => part.split(".").filter(Boolean).map(Number));
	const all = [...own, ...other].sort((a, b) => a - b);
	const fits = !more.length && own.length > 0 && all.length === structure.members.length && all.every((number, at) => number === at);
	return fits ? { parts: [own, other], way: way === "pointer" ? "pointer" : "parallel" } : asRecorded(structure);
}

/** The member moves to a place of a part; null if nothing would be left of the structure, or nothing moves. */
export function moved(candidate: Candidate, number: number, part: 0 | 1, place: number): Candidate | null {
	const rest = candidate.parts.map((numbers) => numbers.filter((one) => one !== number)) as Candidate["parts"];
	const at = Math.max(0, Math.min(place, rest[part].length));
	rest[part] = [...rest[part].slice(0, at), number, ...rest[part].slice(at)];
	const next = { ...candidate, parts: rest };
	return rest[0].length === 0 || written(next) === written(candidate) ? null : next;
}

const roundUp = (value: number, multiple: number) => Math.ceil(value / multiple) * multiple;

function pack(structure: Structure, numbers: number[], hasPointer: boolean): Part {
	let [end, align] = [0, 1];
	const members = numbers.map((number) => {
		const member = structure.members[number] as Member;
		const offset = roundUp(end, member.align);
		end = offset + member.size;
		align = Math.max(align, member.align);
		return { member, number, offset };
	});
	const pointer = hasPointer ? roundUp(end, POINTER) : null;
	if (pointer !== null) [end, align] = [pointer + POINTER, Math.max(align, POINTER)];
	return { members, size: roundUp(end, align), pointer };
}

/** The parts with their members in place. */
export function place(structure: Structure, candidate: Candidate): Part[] {
	if (isAsRecorded(candidate))
		return [{ members: structure.members.map((member, number) => ({ member, number, offset: member.offset })), size: structure.size, pointer: null }];
	const [own, other] = candidate.parts;
	return other.length === 0
		? [pack(structure, own, false)]
		: [pack(structure, own, candidate.way === "pointer"), pack(structure, other, false)];
}

/** Runs of bytes that hold nothing: [offset, bytes]. */
export function holes({ members, size, pointer }: Part): [number, number][] {
	const held = members.map(({ offset, member }) => [offset, offset + member.size] as const);
	if (pointer !== null) held.push([pointer, pointer + POINTER]);
	const found: [number, number][] = [];
	let end = 0;
	for (const [from, to] of [...held, [size, size] as const]) {
		if (from > end) found.push([end, from - end]);
		end = Math.max(end, to);
	}
	return found;
}

/** The fields of a member. */
export const fieldsOf = (structure: Structure, { offset, size }: Member): Field[] =>
	structure.fields.filter((field) => field.offset >= offset && field.offset < offset + Math.max(1, size));

/** The name that a transformation takes: of members that overlap, the first one's. */
const nameOf = (structure: Structure) => (number: number) => (structure.members[number]?.name ?? "").split("|")[0] as string;

/** The candidate as `nearmiss whatif --apply` takes it; "" as recorded. */
export function transformations(structure: Structure, candidate: Candidate): string {
	const [own, other] = candidate.parts;
	const all = [...own, ...other];
	const lines: string[] = [];
	if (!isAscending(own) || !isAscending(other)) {
		let named = all.length; // the rest follows in its order anyway
		while (named > 0 && isAscending(all.slice(named - 1))) named--;
		lines.push(`reorder ${structure.type}: ${all.slice(0, Math.max(1, named)).map(nameOf(structure)).join(", ")}`);
	}
	if (other.length > 0)
		lines.push(`split ${structure.type} hot(${own.map(nameOf(structure)).join(", ")}) ${candidate.way === "pointer" ? "by pointer" : "parallel"}`);
	return lines.join("; ");
}
