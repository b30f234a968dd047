// SPDX-License-Identifier: MIT
//
// paths.cpp - a graph of C++ containers: Dijkstra's shortest paths and a spanning tree by Kruskal.
//
// Arguments: vertices, edges for each.
#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <unordered_map>
#include <vector>

#include "lots.h"

namespace
{

struct Edge {
	uint32_t to;
	int length;
};

struct Graph {
	std::vector<std::vector<Edge>> adjacent;

	Graph(uint32_t count, long edges) : adjacent(count)
	{
		for (long i = 0; i < edges; i++) {
			uint32_t a = draw_below(count), b = draw_below(count);
			int length = 1 + static_cast<int>(draw_below(1000));

			adjacent[a].push_back({b, length});
			adjacent[b].push_back({a, length});
		}
	}
};

long sum_of_distances(const Graph &graph, uint32_t start)
{
	using Item = std::pair<long, uint32_t>;
	std::priority_queue<Item, std::vector<Item>, std::greater<Item>> queue;
	std::unordered_map<uint32_t, long> done;

	queue.push({0, start});
	while (!queue.empty()) {
		auto [distance, vertex] = queue.top();

		queue.pop();
		if (!done.insert({vertex, distance}).second)
			continue;
		for (const Edge &e : graph.adjacent[vertex])
			if (!done.count(e.to))
				queue.push({distance + e.length, e.to});
	}
	return std::accumulate(done.begin(), done.end(), 0L,
			       [](long sum, const auto &item) { return sum + item.second; });
}

class Parts
{
	std::vector<uint32_t> parent;

      public:
	explicit Parts(uint32_t count) : parent(count) { std::iota(parent.begin(), parent.end(), 0u); }

	uint32_t find(uint32_t v)
	{
		while (parent[v] != v)
			v = parent[v] = parent[parent[v]];
		return v;
	}

	bool join(uint32_t a, uint32_t b)
	{
		a = find(a);
		b = find(b);
		parent[a] = b;
		return a != b;
	}
};

long spanning_tree(const Graph &graph)
{
	struct Link {
		int length;
		uint32_t from, to;
	};
	std::vector<Link> links;
	Parts parts(static_cast<uint32_t>(graph.adjacent.size()));
	long sum = 0;

	for (uint32_t v = 0; v < graph.adjacent.size(); v++)
		for (const Edge &e : graph.adjacent[v])
			if (v < e.to)
				links.push_back({e.length, v, e.to});
	std::sort(links.begin(), links.end(),
		  [](const Link &a, const Link &b) { return a.length < b.length; });
	for (const Link &l : links)
		if (parts.join(l.from, l.to))
			sum += l.length;
	return sum;
}

} // namespace

int main(int argc, char **argv)
{
	auto count = static_cast<uint32_t>(argument(argc, argv, 1));
	Graph graph(count, argument(argc, argv, 2) * count);

	printf("%ld %ld\n", sum_of_distances(graph, 0), spanning_tree(graph));
	return 0;
}
