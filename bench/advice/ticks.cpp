/* SPDX-License-Identifier: MIT
 *
 * ticks.cpp - statistics of trades.  Fault: the members of a trade are in an order that needs 40 bytes for 21.
 * Repaired: from the largest to the smallest.
 */
#include <cstdio>
#include <vector>

struct Trade {
#ifdef REPAIRED
	double price;
	long quantity;
	char side, venue, flag;
#else
	char side;
	double price;
	char venue;
	long quantity;
	char flag;
#endif
};

int main()
{
	std::vector<Trade> trades(150000);
	double turnover = 0;
	long special = 0;

	for (size_t i = 0; i < trades.size(); i++) {
		trades[i].price = double(i % 100);
		trades[i].quantity = long(i % 17);
		trades[i].side = i % 2;
		trades[i].venue = i % 3;
		trades[i].flag = i % 5;
	}
	for (int pass = 0; pass < 10; pass++)
		for (const auto &t : trades) {
			turnover += t.price * double(t.quantity) * (t.side ? 1 : -1);
			special += t.venue == pass && t.flag;
		}
	std::printf("%g %ld\n", turnover, special);
}
