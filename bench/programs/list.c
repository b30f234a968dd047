/* SPDX-License-Identifier: MIT
 *
 * list.c - many linked lists of small blocks: a hospital's waiting rooms, from which patients move on.
 *
 * Arguments: number of lists, blocks at the start, rounds. In each round some blocks of each list are seen,
 * moved to the end of another list, freed, or made anew.
 */
#include "lots.h"

struct patient {
	struct patient *next;
	int id, waited, level;
};

struct room {
	struct patient *first, **last;
	long seen;
};

static struct patient *admit(int id)
{
	struct patient *p = (struct patient *)need(malloc(sizeof *p));

	*p = (struct patient){NULL, id, 0, (int)draw_below(8)};
	return p;
}

static void enter(struct room *room, struct patient *p)
{
	p->next = NULL;
	*room->last = p;
	room->last = &p->next;
}

/* Takes out whom `link` names. */
static struct patient *leave(struct room *room, struct patient **link)
{
	struct patient *p = *link;

	*link = p->next;
	if (room->last == &p->next)
		room->last = link;
	return p;
}

static void visit(struct room *rooms, uint32_t count, struct room *room, int *next_id)
{
	struct patient **link = &room->first;

	while (*link) {
		struct patient *p = *link;

		room->seen += ++p->waited & p->level;
		if ((p->id ^ p->waited * 31) % 16) {
			link = &p->next;
			continue;
		}
		leave(room, link);
		if (p->waited > 3 && p->level < 4) {
			free(p);
			p = admit((*next_id)++);
		}
		enter(&rooms[draw_below(count)], p);
		if (p->next == NULL && room->last == &p->next) /* it came back to this room: enough of it */
			break;
	}
}

int main(int argc, char **argv)
{
	uint32_t count = (uint32_t)argument(argc, argv, 1);
	int blocks = (int)argument(argc, argv, 2);
	struct room *rooms = (struct room *)need(calloc(count, sizeof *rooms));
	int next_id = 0;
	long seen = 0;

	for (uint32_t i = 0; i < count; i++)
		rooms[i].last = &rooms[i].first;
	while (next_id < blocks)
		enter(&rooms[draw_below(count)], admit(next_id++));
	for (long rounds = argument(argc, argv, 3); rounds; rounds--)
		for (uint32_t i = 0; i < count; i++)
			visit(rooms, count, &rooms[i], &next_id);
	for (uint32_t i = 0; i < count; i++)
		seen += rooms[i].seen;
	printf("%d %ld\n", next_id, seen);
	return 0;
}
