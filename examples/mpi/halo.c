/* SPDX-License-Identifier: MIT
 *
 * halo.c - particles on a row of ranks, which exchange the edges of their cells: mpicc -g -O1 halo.c; halo N [RANK]
 * has N particles on each rank, and twice as many on RANK.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct particle {
	double x, v;
	long cell;
};

int main(int argc, char **argv)
{
	int rank, ranks;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	long n = atol(argv[1]) * (argc > 2 && rank == atoi(argv[2]) ? 2 : 1);
	struct particle *particles = calloc(n, sizeof *particles);
	double *grid = calloc(4096 + 2, sizeof *grid), sum = 0, all;

	for (long i = 0; i < n; i++)
		particles[i].cell = 1 + i * 7919 % 4096, particles[i].v = 1;
	for (int step = 0; step < 4; step++) {
		for (long i = 0; i < n; i++)
			particles[i].x += particles[i].v, grid[particles[i].cell] += 1;
		int up = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL, down = rank ? rank - 1 : MPI_PROC_NULL;
		MPI_Sendrecv(&grid[4096], 1, MPI_DOUBLE, up, 0, &grid[0], 1, MPI_DOUBLE, down, 0,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Sendrecv(&grid[1], 1, MPI_DOUBLE, down, 0, &grid[4097], 1, MPI_DOUBLE, up, 0,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	for (int i = 0; i < 4098; i++)
		sum += grid[i];
	MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (!rank)
		printf("%g\n", all);
	free(grid);
	free(particles);
	MPI_Finalize();
	return 0;
}
