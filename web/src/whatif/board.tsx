// SPDX-License-Identifier: MIT
// board.tsx - the members of each part in a list, to be moved by mouse, by keys, or by buttons.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Structure } from "../answers";
import { full, short } from "../common/format";
import { fieldsOf, holes, moved, written, type Candidate, type Part, type Placed } from "./layout";

export const keys: [string, string][] = [
	["↑ and ↓", "move the field up or down"],
	["→ and ←", "move the field to the second part, or back"],
];

interface Dragged {
	number: number;
	/** Where it would be dropped: before this place of the part. */
	part: 0 | 1;
	place: number;
}

export interface BoardProps {
	structure: Structure;
	candidate: Candidate;
	parts: Part[];
	onChange: (candidate: Candidate) => void;
}

type Move = (number: number, part: 0 | 1, place: number) => void;

const useOf = (structure: Structure, { member }: Placed) =>
	fieldsOf(structure, member).reduce((sum, { reads, writes, misses }) => ({ uses: sum.uses + reads + writes, misses: sum.misses + misses }), { uses: 0, misses: 0 });

/** A field, which moves by its buttons, or by keys on its grip. */
function Member({ structure, placed, part, place, onMove }: { structure: Structure; placed: Placed; part: 0 | 1; place: number; onMove: Move }) {
	const { number, member, offset } = placed;
	const { uses, misses } = useOf(structure, placed);
	const keyed = (event: KeyboardEvent) => {
		const to = { ArrowUp: [part, place - 1], ArrowDown: [part, place + 1], ArrowRight: [1, Infinity], ArrowLeft: [0, Infinity] }[event.key];
		if (!to || event.ctrlKey || event.altKey || event.metaKey) return;
		event.preventDefault();
		if (to[0] !== part || event.key === "ArrowUp" || event.key === "ArrowDown") onMove(number, to[0] as 0 | 1, to[1] as number);
	};
	return (
		<>
			<button type="button" class="grip" id={`member-${number}`} aria-describedby="board-help" onKeyDown={keyed}>
				<span aria-hidden="true">⠿ </span>{member.name}
			</button>
			<span class="fine">{`at ${offset}, ${full(member.size)} bytes, ${short(uses)} uses, ${short(misses)} misses`}</span>
			<span class="moves">
				<button type="button" id={`member-${number}-up`} aria-label={`Move ${member.name} up`} onClick={() => onMove(number, part, place - 1)}>↑</button>
				<button type="button" id={`member-${number}-down`} aria-label={`Move ${member.name} down`} onClick={() => onMove(number, part, place + 1)}>↓</button>
				<button type="button" id={`member-${number}-part`} aria-label={part ? `Move ${member.name} back` : `Move ${member.name} to the second part`}
					onClick={() => onMove(number, part ? 0 : 1, Infinity)}>{part ? "←" : "→"}</button>
			</span>
		</>
	);
}

interface ListProps extends Omit<BoardProps, "onChange"> {
	part: 0 | 1;
	dragged: Dragged | null;
	onDrag: (dragged: Dragged | null) => void;
	onDrop: () => void;
	onMove: Move;
}

/** A part's fields, with the holes between them, to be dragged and dropped. */
function MemberList({ structure, candidate, parts, part, dragged, onDrag, onDrop, onMove }: ListProps) {
	const shown = parts[part];
	const gaps = new Map(shown ? holes(shown) : []);
	const gap = (at: number) => gaps.has(at) && <li class="hole" key={`hole ${at}`}>{`${full(gaps.get(at) ?? 0)} bytes unused`}</li>;
	return (
		<ol class={dragged ? "members open" : "members"} aria-label={part ? "Second part" : structure.type}
			onDragOver={(event) => {
				if (!dragged) return;
				event.preventDefault();
				if (!(event.target as Element).closest(".member")) onDrag({ ...dragged, part, place: candidate.parts[part].length });
			}}
			onDrop={(event) => { event.preventDefault(); onDrop(); }}>
			{gap(0)}
			{shown?.members.map((placed, place) => {
				const { number, member, offset } = placed;
				const target = dragged?.part === part && (dragged.place === place ? " before" : dragged.place === place + 1 ? " after" : "");
				return [
					<li key={number} class={`member${target || ""}`} draggable
						onDragStart={(event) => { event.dataTransfer?.setData("text/plain", member.name); onDrag({ number, part, place }); }}
						onDragEnd={() => onDrag(null)}
						onDragOver={(event) => {
							if (!dragged) return;
							const { top, height } = event.currentTarget.getBoundingClientRect();
							onDrag({ ...dragged, part, place: event.clientY < top + height / 2 ? place : place + 1 });
						}}>
						<Member structure={structure} placed={placed} part={part} place={place} onMove={onMove} />
					</li>,
					gap(offset + member.size),
				];
			})}
			{!shown && <li class="hole">Drop fields here to split them off.</li>}
		</ol>
	);
}

export function Board({ structure, candidate, parts, onChange }: BoardProps) {
	const [dragged, setDragged] = useState<Dragged | null>(null);
	const [said, setSaid] = useState("");
	const toFocus = useRef<{ id: string; candidate: string } | null>(null);
	const move = (number: number, part: 0 | 1, place: number) => {
		const next = moved(candidate, number, part, place);
		const name = structure.members[number]?.name ?? "";
		if (!next) {
			setSaid(`${name} stays where it is.`);
			return;
		}
		const id = document.activeElement?.id ?? "";
		toFocus.current = { id: id.startsWith("member-") ? id : `member-${number}`, candidate: written(next) };
		setSaid(`${name}: place ${next.parts[part].indexOf(number) + 1} of ${next.parts[part].length}${part ? " in the second part" : ""}.`);
		onChange(next);
	};
	useEffect(() => { // a moved element has lost the focus
		if (toFocus.current?.candidate !== written(candidate)) return;
		document.getElementById(toFocus.current.id)?.focus();
		toFocus.current = null;
	});
	const drop = () => {
		if (dragged) {
			const from = candidate.parts[dragged.part].indexOf(dragged.number);
			move(dragged.number, dragged.part, from >= 0 && from < dragged.place ? dragged.place - 1 : dragged.place);
		}
		setDragged(null);
	};
	const list = (part: 0 | 1) =>
		<MemberList structure={structure} candidate={candidate} parts={parts} part={part} dragged={dragged} onDrag={setDragged} onDrop={drop} onMove={move} />;
	return (
		<div class="board">
			<p class="fine" id="board-help">Drag a field, or move it by the arrow keys: ↑ and ↓ in its part, → to the second part, ← back.</p>
			<p class="hidden" role="status">{said}</p>
			<div class="parts">{list(0)}{list(1)}</div>
		</div>
	);
}
