// SPDX-License-Identifier: MIT
//
// containers.cpp - an order book of C++ containers: map, unordered_map, vector of unique_ptr, list, strings.
//
// Arguments: customers, orders.
#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "lots.h"

namespace
{

struct Customer {
	std::string name;
	std::list<int> open;
	long paid = 0;
};

struct Order {
	uint32_t customer;
	int price;
	virtual long value() const { return price; }
	virtual ~Order() = default;
	Order(uint32_t customer, int price) : customer(customer), price(price) {}
};

struct LargeOrder : Order {
	std::vector<int> items;

	LargeOrder(uint32_t customer, int price) : Order(customer, price), items(8 + draw_below(16), price) {}
	long value() const override
	{
		long sum = 0;

		for (int item : items)
			sum += item;
		return sum;
	}
};

std::string name_of(uint32_t n) { return "customer number " + std::to_string(n * 2654435761u); }

class Book
{
	std::map<std::string, std::unique_ptr<Customer>> by_name;
	std::vector<Customer *> customers;
	std::unordered_map<int, std::unique_ptr<Order>> orders;
	std::multimap<int, int> by_price;

      public:
	explicit Book(uint32_t count)
	{
		for (uint32_t i = 0; i < count; i++) {
			auto &c = by_name[name_of(i)] = std::make_unique<Customer>();

			c->name = name_of(i);
			customers.push_back(c.get());
		}
	}

	void place(int id)
	{
		uint32_t customer = draw_below(static_cast<uint32_t>(customers.size()));
		int price = static_cast<int>(draw_below(100000));

		orders[id] = id % 4 ? std::make_unique<Order>(customer, price)
				    : std::make_unique<LargeOrder>(customer, price);
		by_price.insert({price, id});
		by_name[name_of(customer)]->open.push_back(id);
	}

	// The cheapest order is paid.
	void settle()
	{
		auto first = by_price.begin();
		auto order = orders.find(first->second);
		Customer *c = customers[order->second->customer];

		c->paid += order->second->value();
		c->open.remove(first->second);
		orders.erase(order);
		by_price.erase(first);
	}

	long paid() const
	{
		long sum = 0;

		for (const auto &[name, customer] : by_name)
			sum += customer->paid + static_cast<long>(name.size() + customer->open.size());
		return sum;
	}
};

} // namespace

int main(int argc, char **argv)
{
	Book book(static_cast<uint32_t>(argument(argc, argv, 1)));
	long orders = argument(argc, argv, 2);

	for (int id = 0; id < orders; id++) {
		book.place(id);
		if (id % 3 == 2)
			book.settle();
	}
	printf("%ld\n", book.paid());
	return 0;
}
