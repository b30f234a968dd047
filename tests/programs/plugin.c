/* SPDX-License-Identifier: MIT
 *
 * plugin.c - a library that loader.c opens and closes; its table is walked once per call.
 */
enum { LINES = 1024 };

static _Alignas(64) int plugin_table[LINES * 16];

int plugin_work(void);
int plugin_work(void)
{
	int sum = 0;

	for (int i = 0; i < LINES; i++)
		sum += plugin_table[i * 16]++; /* @plugin */
	return sum;
}
