// SPDX-License-Identifier: MIT
//
// parts.cpp - containers whose header blocks and elements one line allocates.
#include <cstdio>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

struct point {
	double x, y, z;
};

int main()
{
	double sum = 0;
	std::vector<std::vector<double>> rows(2000, std::vector<double>(100));
	std::vector<std::vector<std::vector<float>>> cube(
	    40, std::vector<std::vector<float>>(40, std::vector<float>(50)));
	std::unordered_map<int, point> hash;
	std::deque<point> queue(5000);
	std::vector<std::string> words;

	for (int i = 0; i < 5000; i++)
		hash[i].x = i;
	for (int i = 0; i < 2000; i++)
		words.push_back(std::string(60, 'x'));
	for (int i = 0; i < 2000; i++)
		sum += rows[i][i % 100] + words[i][3];
	for (int i = 0; i < 5000; i++)
		sum += hash[i].x + queue[i].y + cube[i % 40][i % 31][i % 50];
	printf("%f\n", sum);
}
