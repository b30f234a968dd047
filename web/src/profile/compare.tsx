// SPDX-License-Identifier: MIT
// compare.tsx - two profiles side by side: their levels, and where a count changed most.
import type { Cell, Column, OverviewAnswer, TableAnswer } from "../answers";
import { getAll } from "../api";
import { Answer, useAnswer } from "../common/answer";
import { Choice, LevelChoice, plain, useLevel } from "../common/choice";
import { useSheet } from "../common/csv";
import { profileName } from "../common/format";
import { Table } from "../common/table";
import type { PageProps } from "../views";

type CompareAnswer = Pick<TableAnswer, "columns" | "rows" | "sums" | "total_rows"> & { metric: string };

/** The levels that both simulated. */
function levelRows(a: OverviewAnswer, b: OverviewAnswer) {
	return a.levels.flatMap((before) => {
		const after = b.levels.find(({ level }) => level === before.level);
		return after ? [[before.level, before.misses, after.misses, before.mpki, after.mpki, before.bytes, after.bytes]] : [];
	});
}

const number = (key: string, heading: string, unit = "count"): Column => ({ key, heading, unit, kind: "number" });
const levelColumns: Column[] = [
	{ key: "level", heading: "Level", kind: "text" },
	number("misses_a", "Misses before"), number("misses_b", "after"),
	number("mpki_a", "MPKI before"), number("mpki_b", "after"),
	number("bytes_a", "Loaded before", "bytes"), number("bytes_b", "after", "bytes"),
];

export function Compare(props: PageProps) {
	const { session, params, set } = props;
	const { level, levels } = useLevel(props);
	const [a, b] = [params["a"] ?? "0", params["b"] ?? "1"];
	const by = params["by"] ?? "object";
	const metric = params["metric"] ?? "misses";
	const before = useAnswer<OverviewAnswer>(`/api/p/${a}/overview`);
	const after = useAnswer<OverviewAnswer>(`/api/p/${b}/overview`);
	const query = { a, b, by, metric: params["metric"], level: params["level"] };
	const asked = useAnswer<CompareAnswer>("/api/compare", query);
	const profiles = session.profiles.map(({ n, file }) => ({ value: String(n), title: profileName(file) }));
	const sums = asked.answer && [...Array<null>(asked.answer.columns.length - 3).fill(null), ...asked.answer.sums];
	useSheet(asked.answer && {
		headings: asked.answer.columns.map(({ key }) => key),
		rows: asked.answer.rows,
		all: () => getAll<Cell[]>("/api/compare", query),
	});
	return (
		<>
			<div class="controls">
				<Choice label="Before" value={a} options={profiles} onChange={(value) => set({ a: value })} />
				<Choice label="After" value={b} options={profiles} onChange={(value) => set({ b: value })} />
				<Choice label="By" value={by} options={plain(["object", "function", "file", "line", "thread"])} onChange={(value) => set({ by: value })} />
				<Choice label="Count" value={metric} options={plain(["misses", "loads", "conflict", "capacity", "cold", "loaded_bytes"])} onChange={(value) => set({ metric: value })} />
				<LevelChoice level={level} levels={levels} set={set} />
			</div>
			<h2>Levels</h2>
			<Answer of={before}>
				{(first) => (
					<Answer of={after}>
						{(second) => <Table caption="Levels of both profiles" columns={levelColumns} rows={levelRows(first, second)} />}
					</Answer>
				)}
			</Answer>
			<h2>What changed most</h2>
			<Answer of={asked}>
				{(answer) => <Table caption="What changed most" columns={answer.columns} rows={answer.rows} most={100} sums={sums ?? undefined} />}
			</Answer>
		</>
	);
}
