// SPDX-License-Identifier: MIT
//
// sat.cpp - looks for a solution of random clauses of three literals, with two watched literals in each
// clause and clauses that are learned from conflicts.
//
// After Een and Sorensson, "An Extensible SAT-solver" (2003), sections 4.2 to 4.4, with heap-allocated
// clauses. Arguments: variables, clauses, conflicts after which it gives up.
#include <algorithm>
#include <memory>
#include <vector>

#include "lots.h"

namespace
{

using Literal = int; // 2 * variable, and 1 if negated

struct Clause {
	std::vector<Literal> literals;
};

class Solver
{
	std::vector<std::unique_ptr<Clause>> clauses;
	std::vector<std::vector<Clause *>> watches; // by the literal that becomes false
	std::vector<signed char> value;             // by variable: 0 unknown, 1, -1
	std::vector<Clause *> reason;
	std::vector<int> level;
	std::vector<double> activity;
	std::vector<char> seen;
	std::vector<Literal> trail;
	std::vector<size_t> decisions;
	size_t propagated = 0;
	double bump = 1;

	int value_of(Literal l) const { return l & 1 ? -value[l >> 1] : value[l >> 1]; }

	void assign(Literal l, Clause *why)
	{
		value[l >> 1] = l & 1 ? -1 : 1;
		reason[l >> 1] = why;
		level[l >> 1] = static_cast<int>(decisions.size());
		trail.push_back(l);
	}

	// Visits the clauses that watch a literal which is false now; a conflicting one, or null.
	Clause *visit_watchers(Literal falsified)
	{
		std::vector<Clause *> watchers;
		Clause *conflict = nullptr;

		watchers.swap(watches[falsified]);
		for (Clause *c : watchers) {
			auto &l = c->literals;

			if (conflict) {
				watches[falsified].push_back(c);
				continue;
			}
			if (l[0] == falsified)
				std::swap(l[0], l[1]);
			auto free = value_of(l[0]) > 0
					? l.end()
					: std::find_if(l.begin() + 2, l.end(),
						       [this](Literal x) { return value_of(x) >= 0; });
			if (value_of(l[0]) <= 0 && free != l.end()) {
				std::swap(l[1], *free);
				watches[l[1]].push_back(c);
				continue;
			}
			watches[falsified].push_back(c);
			if (value_of(l[0]) < 0)
				conflict = c;
			else if (!value_of(l[0]))
				assign(l[0], c);
		}
		return conflict;
	}

	Clause *propagate()
	{
		Clause *conflict = nullptr;

		while (!conflict && propagated < trail.size())
			conflict = visit_watchers(trail[propagated++] ^ 1);
		return conflict;
	}

	// The first unique implication point: what is learned from a conflict.
	std::vector<Literal> analyze(const Clause *conflict)
	{
		std::vector<Literal> learned{0};
		size_t at = trail.size();
		int open = 0;
		Literal l = -1;

		do {
			for (Literal q : conflict->literals) {
				if (q == l || seen[q >> 1] || !level[q >> 1])
					continue;
				seen[q >> 1] = 1;
				activity[q >> 1] += bump;
				if (level[q >> 1] == static_cast<int>(decisions.size()))
					open++;
				else
					learned.push_back(q);
			}
			while (!seen[trail[--at] >> 1])
				;
			l = trail[at];
			conflict = reason[l >> 1];
			seen[l >> 1] = 0;
		} while (--open > 0);
		learned[0] = l ^ 1;
		for (Literal q : learned)
			seen[q >> 1] = 0;
		bump *= 1.05;
		return learned;
	}

	void back_to(size_t depth)
	{
		if (decisions.size() <= depth)
			return;
		while (trail.size() > decisions[depth]) {
			value[trail.back() >> 1] = 0;
			trail.pop_back();
		}
		decisions.resize(depth);
		propagated = trail.size();
	}

	void learn(std::vector<Literal> l)
	{
		auto deepest = std::max_element(l.begin() + 1, l.end(), [this](Literal a, Literal b) {
			return level[a >> 1] < level[b >> 1];
		});
		Literal first = l[0];

		if (deepest == l.end()) {
			back_to(0);
			assign(first, nullptr);
			return;
		}
		std::iter_swap(l.begin() + 1, deepest);
		back_to(static_cast<size_t>(level[l[1] >> 1]));
		assign(first, add(std::move(l)));
	}

	// The most active of some variables without a value; -1: all have one.
	Literal choose() const
	{
		const size_t n = value.size();
		size_t from = draw_below(static_cast<uint32_t>(n)), best = n;

		for (size_t i = 0, found = 0; i < n && found < 64; i++) {
			size_t v = (from + i) % n;

			if (value[v])
				continue;
			found++;
			if (best == n || activity[v] > activity[best])
				best = v;
		}
		return best == n ? -1 : static_cast<Literal>(2 * best + draw_below(2));
	}

      public:
	explicit Solver(size_t variables)
	    : watches(2 * variables), value(variables), reason(variables), level(variables),
	      activity(variables), seen(variables)
	{
	}

	Clause *add(std::vector<Literal> literals)
	{
		clauses.push_back(std::make_unique<Clause>(Clause{std::move(literals)}));
		Clause *c = clauses.back().get();

		watches[c->literals[0]].push_back(c);
		watches[c->literals[1]].push_back(c);
		return c;
	}

	// 1: solved; 0: there is no solution; -1: too many conflicts.
	int solve(long conflicts)
	{
		for (;;) {
			if (const Clause *conflict = propagate()) {
				if (decisions.empty())
					return 0;
				if (!conflicts--)
					return -1;
				learn(analyze(conflict));
				continue;
			}
			Literal next = choose();
			if (next < 0)
				return 1;
			decisions.push_back(trail.size());
			assign(next, nullptr);
		}
	}
};

} // namespace

int main(int argc, char **argv)
{
	auto variables = static_cast<uint32_t>(argument(argc, argv, 1));
	Solver solver(variables);

	for (long n = argument(argc, argv, 2); n; n--) {
		uint32_t a = draw_below(variables), b = (a + 1 + draw_below(variables / 3)) % variables;
		uint32_t c = (b + 1 + draw_below(variables / 3)) % variables;

		solver.add({static_cast<Literal>(2 * a + draw_below(2)),
			    static_cast<Literal>(2 * b + draw_below(2)),
			    static_cast<Literal>(2 * c + draw_below(2))});
	}
	printf("%d\n", solver.solve(argument(argc, argv, 3)));
	return 0;
}
