// SPDX-License-Identifier: MIT
// lacking.tsx - in place of what a profile does not hold: what it is, and the command that records it.
import { type Lack } from "../needs";

export function Lacking({ of: { text, command } }: { of: Lack }) {
	return (
		<div class="lack">
			<p>{text}</p>
			{command && <pre tabIndex={0}>{command}</pre>}
		</div>
	);
}
