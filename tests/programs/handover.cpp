/* SPDX-License-Identifier: MIT
 *
 * handover.cpp - handover.c with C++: half of the rounds by std::mutex and std::condition_variable, half by
 * std::atomic.
 */
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

enum { ROUNDS = 200 };

alignas(64) static volatile long data;
alignas(64) static std::atomic<int> turn;
alignas(64) static std::mutex mutex;
static std::condition_variable changed;
static int locked_turn;
alignas(64) static long sum;

static void wait_for(int wanted, bool by_lock)
{
	if (by_lock) {
		std::unique_lock<std::mutex> lock(mutex);

		changed.wait(lock, [=] { return locked_turn == wanted; });
	} else {
		while (turn.load() != wanted)
			std::this_thread::yield();
	}
}

static void pass_on(int next)
{
	{
		std::lock_guard<std::mutex> lock(mutex);

		locked_turn = next;
	}
	turn.store(next);
	changed.notify_all();
}

static void write()
{
	for (int i = 0; i < ROUNDS; i++) {
		wait_for(2 * i, i % 2);
		data = i;
		pass_on(2 * i + 1);
	}
}

static void read()
{
	for (int i = 0; i < ROUNDS; i++) {
		wait_for(2 * i + 1, i % 2);
		sum = sum + data;
		pass_on(2 * i + 2);
	}
}

int main()
{
	std::thread reader(read);

	write();
	reader.join();
	return sum != (long)ROUNDS * (ROUNDS - 1) / 2;
}
