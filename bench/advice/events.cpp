/* SPDX-License-Identifier: MIT
 *
 * events.cpp - a simulation takes events from a priority queue.  Fault: the heap holds whole events of 96 bytes and moves
 * them at each step.  Repaired: it holds times and numbers of events.
 */
#include <cstdio>
#include <queue>
#include <random>
#include <vector>

struct Event {
	double time;
	int kind;
	double payload[10];
	bool operator<(const Event &other) const { return time > other.time; }
};

struct Entry {
	double time;
	int event;
	bool operator<(const Entry &other) const { return time > other.time; }
};

enum { WAITING = 40000, STEPS = 80000 };

int main()
{
	std::mt19937 random(1);
	double now = 0;
#ifdef REPAIRED
	std::vector<Event> events(WAITING);
	std::priority_queue<Entry> queue;
	for (int i = 0; i < WAITING; i++)
		queue.push({double(random() % 1000000), i});
	for (int i = 0; i < STEPS; i++) {
		Entry e = queue.top();
		queue.pop();
		now = e.time;
		events[e.event].payload[0] += 1;
		queue.push({now + double(random() % 1000000), e.event});
	}
#else
	std::priority_queue<Event> queue;
	for (int i = 0; i < WAITING; i++)
		queue.push({double(random() % 1000000), i, {}});
	for (int i = 0; i < STEPS; i++) {
		Event e = queue.top();
		queue.pop();
		now = e.time;
		e.payload[0] += 1;
		e.time = now + double(random() % 1000000);
		queue.push(e);
	}
#endif
	std::printf("%g\n", now);
}
