// SPDX-License-Identifier: MIT
// scrubber.tsx - the strip of the whole trace; a click or a drag on it goes there, and so does a number.
import { useRef } from "preact/hooks";
import { full } from "../../common/format";
import { Drawing } from "../draw/drawing";
import { drawStrip, toPosition } from "../draw/strip";
import type { Watch } from "../watch";

const HEIGHT = 40;

export function Scrubber({ watch }: { watch: Watch }) {
	const dragging = useRef(false);
	const strip = watch.strip;
	const state = watch.state!;
	if (!strip) return null;
	const { interval } = watch.view;
	const window = interval ? { from: Math.max(0, state.position - interval), to: state.position } : null;
	const colours = { ground: "transparent", misses: "#d55e00", position: "#0072b2", window: "#0072b2" };
	const seek = (event: MouseEvent) => {
		const canvas = event.currentTarget as HTMLCanvasElement;
		void watch.goTo(toPosition(strip, event.offsetX, canvas.clientWidth));
	};
	return (
		<div class="scrubber">
			<Drawing name="misses-over-the-trace" saves={false} height={() => HEIGHT}
				label={`Misses over the trace; now at reference ${state.position} of ${state.total}`}
				draw={(surface, width, height) =>
					drawStrip(surface, strip, state.position, window, width, height, colours)}
				pointer={{
					onPointerDown: (event) => { dragging.current = true; seek(event); },
					onPointerMove: (event) => { if (dragging.current && !watch.busy) seek(event); },
					onPointerUp: (event) => { dragging.current = false; seek(event); },
					onPointerLeave: () => { dragging.current = false; },
				}} />
			<label>at <input type="number" min={0} max={state.total} value={state.position}
				onChange={(event) => void watch.goTo(Number(event.currentTarget.value))} /></label>
			<span class="fine">of {full(state.total)} references</span>
		</div>
	);
}
