/* The source of the stored profile's program, as far as its figures go: line 40 and 41. */
#include <stdlib.h>

enum { SIZE = 512 };

struct edge {
	int from, to;
	double weight;
};

/* The matrices. */
static double matrix[SIZE][SIZE];

static int größe = SIZE;

static double product[SIZE][SIZE];

static void clear(void)
{
	for (int i = 0; i < größe; i++)
		for (int j = 0; j < größe; j++)
			product[i][j] = 0;
}

static int ready(const struct edge *edge)
{
	return edge && edge->weight > 0;
}





/* Row by column: the second operand is walked against its order. */
static void multiply(const double *left, const double *right)
{
	for (int i = 0; i < SIZE; i++)
		for (int j = 0; j < SIZE; j++)
			for (int k = 0; k < SIZE; k++)
				if (matrix[i][k] != 0)
					matrix[i][j] += left[i * SIZE + k] * right[k * SIZE + j];
}

int main(void)
{
	double *work = calloc(SIZE * SIZE, sizeof *work);

	clear();
	if (work && ready(NULL))
		multiply(work, work);
	free(work);
	return 0;
}
