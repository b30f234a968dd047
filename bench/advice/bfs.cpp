/* SPDX-License-Identifier: MIT
 *
 * bfs.cpp - breadth-first searches in a graph of adjacency lists.  Fault: a vertex is a large structure, and its neighbours
 * lie at random places.  Repaired: distances are an array of their own, and neighbours are numbers in one array.
 */
#include <cstdio>
#include <random>
#include <string>
#include <vector>

struct Vertex {
	std::string name;
	double x = 0, y = 0;
	int distance = -1;
	std::vector<int> neighbours;
};

enum { VERTICES = 60000, DEGREE = 6, SEARCHES = 4 };

int main()
{
	std::mt19937 random(1);
	std::vector<Vertex> graph(VERTICES);
	long sum = 0;

	for (auto &v : graph)
		for (int k = 0; k < DEGREE; k++)
			v.neighbours.push_back(int(random() % VERTICES));
#ifdef REPAIRED
	std::vector<int> neighbours, distance(VERTICES);
	for (auto &v : graph)
		neighbours.insert(neighbours.end(), v.neighbours.begin(), v.neighbours.end());
#endif
	for (int search = 0; search < SEARCHES; search++) {
		std::vector<int> queue{int(random() % VERTICES)};
#ifdef REPAIRED
		for (auto &d : distance)
			d = -1;
		distance[queue[0]] = 0;
		for (size_t i = 0; i < queue.size(); i++)
			for (int k = 0; k < DEGREE; k++) {
				int other = neighbours[queue[i] * DEGREE + k];
				if (distance[other] < 0) {
					distance[other] = distance[queue[i]] + 1;
					queue.push_back(other);
				}
			}
		sum += distance[queue.back()];
#else
		for (auto &v : graph)
			v.distance = -1;
		graph[queue[0]].distance = 0;
		for (size_t i = 0; i < queue.size(); i++)
			for (int other : graph[queue[i]].neighbours)
				if (graph[other].distance < 0) {
					graph[other].distance = graph[queue[i]].distance + 1;
					queue.push_back(other);
				}
		sum += graph[queue.back()].distance;
#endif
	}
	std::printf("%ld\n", sum);
}
