/* SPDX-License-Identifier: MIT
 *
 * scan.c - an in-memory database: a table by rows and one by columns, scanned, joined by a hash, and grouped.
 *
 * Arguments: rows, scans.
 */
#include "lots.h"

struct row { /* a table by rows */
	uint32_t id, customer, item, day;
	int64_t price;
	char note[40];
};

struct columns { /* the same by columns */
	uint32_t *customer, *item, *day;
	int64_t *price;
};

struct join { /* open addressing: customer -> region */
	uint32_t mask, *key, *region;
};

static void *column(uint32_t rows, size_t bytes) { return need(calloc(rows, bytes)); }

static struct columns split(const struct row *rows, uint32_t n)
{
	struct columns c = {(uint32_t *)column(n, 4), (uint32_t *)column(n, 4), (uint32_t *)column(n, 4),
			    (int64_t *)column(n, 8)};

	for (uint32_t i = 0; i < n; i++) {
		c.customer[i] = rows[i].customer;
		c.item[i] = rows[i].item;
		c.day[i] = rows[i].day;
		c.price[i] = rows[i].price;
	}
	return c;
}

static uint32_t slot_of(const struct join *j, uint32_t customer)
{
	uint32_t slot = customer * 2654435761u & j->mask;

	while (j->key[slot] && j->key[slot] != customer + 1)
		slot = (slot + 1) & j->mask;
	return slot;
}

static struct join make_join(uint32_t customers)
{
	struct join j = {1, NULL, NULL};

	while (j.mask < 2 * customers)
		j.mask = j.mask * 2 + 1;
	j.key = (uint32_t *)column(j.mask + 1, 4);
	j.region = (uint32_t *)column(j.mask + 1, 4);
	for (uint32_t c = 0; c < customers; c++) {
		uint32_t slot = slot_of(&j, c);

		j.key[slot] = c + 1;
		j.region[slot] = draw_below(64);
	}
	return j;
}

static int64_t scan_rows(const struct row *rows, uint32_t n, uint32_t day)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		if (rows[i].day < day)
			sum += rows[i].price;
	return sum;
}

static int64_t scan_columns(const struct columns *c, uint32_t n, uint32_t day)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		if (c->day[i] < day)
			sum += c->price[i];
	return sum;
}

static int64_t join_and_group(const struct columns *c, uint32_t n, const struct join *j, uint32_t day)
{
	int64_t sums[64] = {0}, best = 0;

	for (uint32_t i = 0; i < n; i++)
		if (c->day[i] >= day)
			sums[j->region[slot_of(j, c->customer[i])]] += c->price[i];
	for (int i = 0; i < 64; i++)
		best = sums[i] > best ? sums[i] : best;
	return best;
}

int main(int argc, char **argv)
{
	uint32_t n = (uint32_t)argument(argc, argv, 1), customers = n / 2;
	struct row *rows = (struct row *)column(n, sizeof *rows);
	struct join j = make_join(customers);
	struct columns c;
	int64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		rows[i] = (struct row){
		    i, draw_below(customers), draw_below(1000), draw_below(365), draw_below(9999), ""};
	c = split(rows, n);
	for (long scans = argument(argc, argv, 2); scans; scans--) {
		sum += scan_rows(rows, n, draw_below(365)) - scan_columns(&c, n, draw_below(365));
		sum += join_and_group(&c, n, &j, draw_below(365));
	}
	printf("%lld\n", (long long)sum);
	return 0;
}
