// SPDX-License-Identifier: MIT
// groups.tsx - the fields of a structure in groups that are used together, and the split that takes the first group apart.
import type { Structure } from "../answers";
import { href } from "../router";
import { fieldsOf, transformations, written, type Candidate } from "../whatif/layout";

/** Two fields belong together if so much of the visits to either use both. */
const TOGETHER = 2 / 3;

/** Numbers of fields, by group; those with most accesses first. Fields that are not used have none. */
export function groupsOf({ fields, affinity }: Structure): number[][] {
	const left = new Set(fields.flatMap(({ sampled }, n) => (sampled > 0 ? [n] : [])));
	const groups: number[][] = [];
	for (const first of left) {
		const group = [first];
		left.delete(first);
		for (const one of group) { // it grows
			for (const other of left) {
				if ((affinity[one]?.[other] ?? 0) < TOGETHER) continue;
				group.push(other);
				left.delete(other);
			}
		}
		groups.push(group.sort((a, b) => a - b));
	}
	const all = (group: number[]) => group.reduce((sum, n) => sum + (fields[n]?.sampled ?? 0), 0);
	return groups.sort((a, b) => all(b) - all(a));
}

/** The first group's members, and the others in a second part; null: all are used together, or are in one member. */
function split(structure: Structure, first: number[] | undefined): Candidate | null {
	const names = new Set(first?.map((n) => structure.fields[n]?.name));
	const parts: Candidate["parts"] = [[], []];
	const isFirst = (n: number) => fieldsOf(structure, structure.members[n] as (typeof structure.members)[0]).some(({ name }) => names.has(name));
	structure.members.forEach((_, n) => parts[isFirst(n) ? 0 : 1].push(n));
	return parts.every((part) => part.length > 0) ? { parts, way: "parallel" } : null;
}

export function Groups({ structure, profile }: { structure: Structure; profile: string }) {
	const groups = groupsOf(structure);
	const candidate = groups.length > 1 ? split(structure, groups[0]) : null;
	return (
		<>
			<ul aria-label="Groups of fields" class="groups">
				{groups.map((group) => <li>{group.map((n) => structure.fields[n]?.name).join(", ")}</li>)}
			</ul>
			{candidate && (
				<p>
					<button type="button" onClick={() => navigator.clipboard?.writeText(transformations(structure, candidate))}>Copy the split</button>{" "}
					<a href={href("whatif", { p: profile, type: structure.type, layout: written(candidate) })}>What if the first group were apart</a>
				</p>
			)}
		</>
	);
}
