/* SPDX-License-Identifier: MIT
 *
 * longchains.cpp - library functions whose chains of inlined calls, with the arguments of their templates, are
 * longer than any text.
 */
#include <algorithm>
#include <string>
#include <vector>

int main()
{
	std::vector<std::string> words;

	for (unsigned i = 0; i < 20000; i++)
		words.push_back(std::to_string(i * 7919u % 20011u));
	std::stable_sort(words.rbegin(), words.rend()); /* @sorted */
	return words[0].size() > 5;
}
