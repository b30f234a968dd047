// SPDX-License-Identifier: MIT
//
// pools.cpp - memory that pools hand out: an arena of allocated chunks, slots of an array, a mapping.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>

// clang-format off
enum { ITEMS = 4000, REUSED = 1000, CHUNK = 1 << 16, SLOTS = 3000 };

struct word { long letters[3]; word *next; };
struct place { double x, y; };
struct slot { long value[4]; };

class Arena {
	char *chunks[64] = {};
	int count = 0;
	std::size_t used = CHUNK;
	void *start(std::size_t bytes);

public:
	void *take(std::size_t bytes);
	void release();
};

/* Layered: called for the first piece of each chunk. Its piece is the one that `take` returns. */
__attribute__((noipa)) void *Arena::start(std::size_t bytes)
{ // @start
	chunks[count++] = static_cast<char *>(std::malloc(CHUNK)); // @chunk
	used = bytes;
	return chunks[count - 1];
}

__attribute__((noipa)) void *Arena::take(std::size_t bytes)
{
	if (used + bytes > CHUNK)
		return start(bytes);
	used += bytes;
	return chunks[count - 1] + used - bytes;
}

__attribute__((noipa)) void Arena::release()
{
	while (count > 0)
		std::free(chunks[--count]);
	used = CHUNK;
}

static slot slots[SLOTS];
static int slots_used;

__attribute__((noipa)) static slot *new_slot()
{
	slot *s = &slots[slots_used++];

	asm volatile("" : "+r"(s));
	return s;
}

static char *region;

static int region_used[2];

__attribute__((noipa)) static void *from_region(int kind, int bytes)
{
	char *piece = region + kind * (1 << 20) + region_used[kind];

	region_used[kind] += bytes;
	asm volatile("" : "+r"(piece));
	return piece;
}

int main()
{
	static word *words[ITEMS];
	static place *places[ITEMS];
	static slot *first[SLOTS];
	static long *keys[ITEMS];
	Arena arena;
	long sum = 0;

	region = static_cast<char *>(mmap(nullptr, 2 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	for (int i = 0; i < ITEMS; i++) {
		words[i] = static_cast<word *>(arena.take(sizeof(word)));    // @word
		words[i]->letters[0] = i;
		places[i] = static_cast<place *>(arena.take(sizeof(place))); // @place
		places[i]->x = i;
		keys[i] = static_cast<long *>(from_region(i & 1, 64));       // @key
		*keys[i] = i;
	}
	for (int i = 0; i < SLOTS; i++) {
		first[i] = new_slot(); // @slot
		first[i]->value[0] = i;
	}
	for (int i = 0; i < ITEMS; i++)
		sum += words[i]->letters[0] + static_cast<long>(places[i]->x) + *keys[i] + first[i % SLOTS]->value[0];
	region_used[0] = region_used[1] = 0;
	for (int i = 0; i < REUSED; i++) {
		long *again = static_cast<long *>(from_region(0, 40)); // @again
		*again = i;
		sum += *again;
	}
	arena.release();
	long *after = static_cast<long *>(std::malloc(CHUNK)); // @after
	for (int i = 0; i < CHUNK / 8; i++)
		after[i] = i;
	std::printf("%ld\n", sum + after[100]);
	std::free(after);
}
