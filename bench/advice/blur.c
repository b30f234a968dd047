/* SPDX-License-Identifier: MIT
 *
 * blur.c - blurs an image down its columns.  Fault: the inner loop goes from row to row.  Repaired: along the row.
 */
#include <stdio.h>

enum { WIDTH = 3000, HEIGHT = 1000 };
static unsigned char image[HEIGHT][WIDTH], blurred[HEIGHT][WIDTH];

static void blur(void)
{
#ifdef REPAIRED
	for (int y = 1; y < HEIGHT - 1; y++)
		for (int x = 0; x < WIDTH; x++)
#else
	for (int x = 0; x < WIDTH; x++)
		for (int y = 1; y < HEIGHT - 1; y++)
#endif
			blurred[y][x] =
			    (unsigned char)((image[y - 1][x] + 2 * image[y][x] + image[y + 1][x]) / 4);
}

int main(void)
{
	for (int y = 0; y < HEIGHT; y++)
		for (int x = 0; x < WIDTH; x++)
			image[y][x] = (unsigned char)(x * y);
	blur();
	return printf("%d\n", blurred[100][100]) < 0;
}
