/* SPDX-License-Identifier: MIT
 *
 * churn.c - many allocations and releases of many sizes: messages that wait, are split, grow and go.
 *
 * Arguments: messages that are alive, turns.
 */
#include <string.h>

#include "lots.h"

struct message {
	struct message *reply;
	uint32_t bytes;
	char text[];
};

/* Mostly small: 8 to 200 bytes, some of a few thousand, few of a hundred thousand. */
static uint32_t draw_size(void)
{
	uint32_t lot = draw_below(1000);

	if (lot < 900)
		return 8 + draw_below(192);
	return lot < 998 ? 200 + draw_below(4000) : 4000 + draw_below(100000);
}

static struct message *write_message(struct message *reply)
{
	uint32_t bytes = draw_size();
	struct message *m = (struct message *)need(malloc(sizeof *m + bytes));

	m->reply = reply;
	m->bytes = bytes;
	memset(m->text, (int)bytes, bytes < 64 ? bytes : 64);
	return m;
}

static void drop(struct message *m)
{
	while (m) {
		struct message *next = m->reply;

		free(m);
		m = next;
	}
}

static struct message *grow(struct message *m)
{
	uint32_t bytes = m->bytes + m->bytes / 2;

	m = (struct message *)need(realloc(m, sizeof *m + bytes));
	memset(m->text + m->bytes, 1, (bytes - m->bytes) & 63);
	m->bytes = bytes;
	return m;
}

static uint64_t read_text(const struct message *m)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < m->bytes && i < 256; i++)
		sum += (uint8_t)m->text[i] & 3u;
	return sum;
}

int main(int argc, char **argv)
{
	uint32_t count = (uint32_t)argument(argc, argv, 1);
	struct message **box = (struct message **)need(calloc(count, sizeof(struct message *)));
	uint64_t sum = 0;

	for (long turns = argument(argc, argv, 2); turns; turns--) {
		struct message **m = &box[draw_below(count)];

		switch (*m ? draw_below(8) : 0) {
		case 0:
		case 1: *m = write_message(*m); break;
		case 2: *m = (*m)->bytes < 4096 ? grow(*m) : *m; break;
		case 3:
		case 4: sum += read_text(*m); break;
		case 5: sum += (*m)->reply ? (*m)->reply->bytes : 1; break;
		default: drop(*m); *m = NULL;
		}
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
