/* SPDX-License-Identifier: MIT
 *
 * cold.c - records of which three fields are used all the time and the rest hardly ever: each visit loads
 * three lines. REPAIRED: the fields that are used together lie side by side, apart from the rest.
 */
#include <stdio.h>
#include <stdlib.h>

enum { ORDERS = 40000 };

#ifdef REPAIRED
struct order {
	long price, count, state;
};
struct details {
	char customer[72], address[72];
};
static struct details *details;
#else
struct order {
	long price;
	char customer[72];
	long count;
	char address[72];
	long state;
};
#endif

static struct order *orders;

static void make(void)
{
	orders = calloc(ORDERS, sizeof *orders);
#ifdef REPAIRED
	details = calloc(ORDERS, sizeof *details);
#endif
	for (int i = 0; i < ORDERS; i++) {
		orders[i].price = i % 100;
		orders[i].count = i % 7;
	}
}

static const char *customer(int i)
{
#ifdef REPAIRED
	return details[i].customer;
#else
	return orders[i].customer;
#endif
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;
	long sum = 0;

	make();
	for (int round = 0; round < rounds; round++)
		for (int i = 0; i < ORDERS; i++) {
			struct order *order = &orders[i];

			sum += order->price * order->count;
			order->state = sum;
		}
	printf("%ld%s\n", sum, customer(ORDERS - 1));
	return 0;
}
